/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <coeval/capture.h>

#include <stdlib.h>
#include <string.h>

static const struct option options[] = { CLI_HELP_OPTION, { 0 } };

static int run(int argc, char **argv, const struct verb *verb)
{
	char line[200] = "";
	struct cvl_error err;
	char *answer;
	bool refused;
	int c;

	while ((c = getopt_long(argc, argv, "+h", options, NULL)) != -1)
		return cli_option(c, verb);
	if (argc - optind < 2)
		return cli_usage(verb, "name the socket and a command");
	for (int i = optind + 1; i < argc; i++) {
		size_t n = strlen(line);

		if (n + strlen(argv[i]) + 2 > sizeof(line))
			return cli_usage(verb, "the command is too long");
		snprintf(line + n, sizeof(line) - n, "%s%s", n ? " " : "", argv[i]);
	}
	answer = cvl_capture_ask(argv[optind], line, &err);
	if (!answer)
		return cli_fail(&err);
	printf("%s\n", answer);
	refused = !strncmp(answer, "{\"error\"", 8);
	free(answer);
	c = cli_flush();
	return c ? c : refused;
}

const struct verb verb_control = {
	.name = "control",
	.what = "steer a capture that was started with --control",
	.usage = "control SOCKET COMMAND",
	.help = "  prepare         find devices, load firmware, make the session: a start then takes ms\n"
		"  start [WHEN]    at once, at a Unix time in seconds, or after +SECONDS\n"
		"  stop            end the capture and finish the session\n"
		"  status          how it stands\n"
		"\n"
		"Answers are JSON, in one line. Exit status 1: the command was refused.\n"
		"\n"
		"Examples:\n"
		"  coeval control /run/coeval/n07/control start +2\n"
		"  coeval control /run/coeval/n07/control status\n",
	.run = run,
};
