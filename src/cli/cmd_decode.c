/* SPDX-License-Identifier: MIT */
#include "cli/decodes.h"

enum { OPT_SWO = 256, OPT_UART, OPT_ELF };

static const struct option options[] = {
	{ "swo", required_argument, NULL, OPT_SWO },
	{ "uart", required_argument, NULL, OPT_UART },
	{ "elf", required_argument, NULL, OPT_ELF },
	{ "clock", required_argument, NULL, 'c' },
	CLI_HELP_OPTION,
	{ 0 },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	const char *elf = NULL, *clock = NULL;
	struct decodes decodes = { .n = 0 };
	struct cvl_session *session;
	struct problems problems;
	struct cvl_error err;
	int c, rc = 0;

	problems_init(&problems);
	while (!rc && (c = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		switch (c) {
		case OPT_SWO: rc = decodes_add(&decodes, verb, CVL_PROTOCOL_SWO, optarg); break;
		case OPT_UART: rc = decodes_add(&decodes, verb, CVL_PROTOCOL_UART, optarg); break;
		case OPT_ELF: elf = optarg; break;
		case 'c': clock = optarg; break;
		default: return cli_option(c, verb);
		}
	}
	if (rc)
		return rc;
	if (optind + 1 != argc)
		return cli_usage(verb, "name one session");
	if (!decodes.n)
		return cli_usage(verb, "say what to decode: --swo LINE or --uart LINE");
	/* It must be there: cvl_session_create() would make it. */
	rc = cvl_session_open(&session, argv[optind], &problems.report, &err);
	if (rc)
		return cli_fail(&err);
	cvl_session_close(session);
	rc = cvl_session_create(&session, argv[optind], &err);
	if (rc)
		return cli_fail(&err);
	rc = decodes_run(&decodes, session, 0, clock, elf, &problems.report, &err);
	cvl_session_close(session);
	return cli_end(rc, &err, &problems);
}

const struct verb verb_decode = {
	.name = "decode",
	.what = "decode lines of a capture: SWO trace, serial text; on the clock of its edges",
	.usage = "decode SESSION --swo LINE|--uart LINE ... [OPTIONS]",
	.help = DECODES_HELP
	"  -c, --clock NAME       only on this clock (default: on all that have the line)\n"
	"\n"
	"What comes of it is another trace of the same clock, called CLOCK-LINE; the edges stay as they are.\n"
	"Decoded again, a line's former trace is replaced.\n"
	"\n"
	"Example:\n"
	"  coeval decode s/ --swo SWO:8M:tpiu --elf firmware.elf\n",
	.run = run,
};
