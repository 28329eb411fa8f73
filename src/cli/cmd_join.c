/* SPDX-License-Identifier: MIT */
#include "contents.h"

#include <string.h>
#include <unistd.h>

enum { OPT_LINK = 256, OPT_JSON };

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "link", no_argument, NULL, OPT_LINK },
	{ "json", no_argument, NULL, OPT_JSON },
	CLI_HELP_OPTION,
	{ 0 },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	const char *output = "session";
	struct cvl_session *to, *from;
	struct problems problems;
	struct cvl_error err;
	struct contents told = { .what = "session" };
	struct progress progress;
	bool link = false;
	int c, rc;

	problems_init(&problems);
	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		switch (c) {
		case 'o': output = optarg; break;
		case OPT_LINK: link = true; break;
		case OPT_JSON: told.json = true; break;
		default: return cli_option(c, verb);
		}
	}
	if (optind == argc)
		return cli_usage(verb, "name the sessions to join");
	rc = cvl_session_create(&to, output, &err);
	if (rc)
		return cli_fail(&err);
	told.first = cvl_session_clocks(to);
	told.n = (size_t)(argc - optind);
	for (int i = optind; i < argc && !rc; i++) {
		rc = cvl_session_open(&from, argv[i], &problems.report, &err);
		if (rc)
			break;
		progress_init(&progress, argv[i]);
		rc = cvl_session_join(to, from, link,
				      &(struct cvl_progress){ progress_show, &progress }, &err);
		progress_clear(&progress);
		cvl_session_close(from);
	}
	if (!rc)
		rc = contents_print(to, &told, &err);
	cvl_session_close(to);
	return cli_end(rc, &err, &problems);
}

const struct verb verb_join = {
	.name = "join",
	.what = "put the sessions of several observers into one",
	.usage = "join [-o SESSION] SESSION ...",
	.help = "  -o, --output SESSION   directory of the session, made or added to (default: session)\n"
		"      --link             point at the traces instead of copying them\n"
		"      --json             print what came in as JSON\n"
		"\n"
		"Clock maps are not taken along: `coeval sync` ties all clocks anew.\n"
		"\n"
		"Example:\n"
		"  coeval join n01/ n02/ n03/ -o all/ && coeval sync all/\n",
	.run = run,
};
