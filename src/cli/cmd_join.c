/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <string.h>
#include <unistd.h>

enum { OPT_LINK = 256 };

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "link", no_argument, NULL, OPT_LINK },
	CLI_HELP_OPTION,
	{ 0 },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	const char *output = "session";
	struct cvl_session *to, *from;
	struct problems problems;
	struct cvl_error err;
	bool link = false;
	size_t clocks = 0;
	struct cvl_out out;
	int c, rc;

	problems_init(&problems);
	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		switch (c) {
		case 'o': output = optarg; break;
		case OPT_LINK: link = true; break;
		default: return cli_option(c, verb);
		}
	}
	if (optind == argc)
		return cli_usage(verb, "name the sessions to join");
	rc = cvl_session_create(&to, output, &err);
	if (rc)
		return cli_fail(&err);
	for (int i = optind; i < argc && !rc; i++) {
		rc = cvl_session_open(&from, argv[i], &problems.report, &err);
		if (rc)
			break;
		rc = cvl_session_join(to, from, link, NULL, &err);
		clocks += cvl_session_clocks(from);
		cvl_session_close(from);
	}
	cvl_session_close(to);
	if (!rc) {
		cvl_out_init(&out, STDOUT_FILENO, "standard output");
		cvl_out_printf(&out, "%s: ", output);
		cli_count(&out, clocks, "clock");
		cvl_out_text(&out, " of ");
		cli_count(&out, (uint64_t)(argc - optind), "session");
		cvl_out_char(&out, '\n');
		rc = cvl_out_close(&out, &err);
	}
	return cli_end(rc, &err, &problems);
}

const struct verb verb_join = {
	.name = "join",
	.what = "put the sessions of several observers into one",
	.usage = "join [-o SESSION] SESSION ...",
	.help = "  -o, --output SESSION   directory of the session, made or added to (default: session)\n"
		"      --link             point at the traces instead of copying them\n"
		"\n"
		"Clock maps are not taken along: `coeval sync` ties all clocks anew.\n"
		"\n"
		"Example:\n"
		"  coeval join n01/ n02/ n03/ -o all/ && coeval sync all/\n",
	.run = run,
};
