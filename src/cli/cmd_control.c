/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <coeval/capture.h>

#include <stdlib.h>
#include <string.h>

static int run(int argc, char **argv, const struct verb *verb)
{
	char line[200] = "";
	struct operands operands;
	struct cvl_error err;
	char *answer;
	bool refused;
	int rc = options_read(verb, NULL, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	for (int i = 1; i < operands.n; i++) {
		size_t n = strlen(line);

		if (n + strlen(operands.v[i]) + 2 > sizeof(line))
			return cli_usage(verb, "the command is too long");
		snprintf(line + n, sizeof(line) - n, "%s%s", n ? " " : "", operands.v[i]);
	}
	answer = cvl_capture_ask(operands.v[0], line, &err);
	if (!answer)
		return cli_fail(&err);
	printf("%s\n", answer);
	refused = !strncmp(answer, "{\"error\"", 8);
	free(answer);
	rc = cli_flush();
	return rc ? rc : refused;
}

extern const struct verb control_act;

static const struct verb *const parts[] = { &control_act, NULL };

const struct verb verb_control = {
	.name = "control",
	.group = VERB_HARDWARE,
	.what = "steer a capture that was started with --control",
	.operands = "SOCKET prepare|start|stop|status [WHEN...]",
	.parts = parts,
	.notes =
		"  prepare         find devices, load firmware, make the session: a start then takes ms\n"
		"  start [WHEN]    at once, at a Unix time in seconds, or after +SECONDS\n"
		"  stop            end the capture and finish the session\n"
		"  status          how it stands\n"
		"\n"
		"Answers are JSON, in one line. Exit status 1: the command was refused.\n",
	.examples = "  coeval control /run/coeval/n07/control start +2\n"
		    "  coeval control /run/coeval/n07/control status\n",
	.run = run,
};
