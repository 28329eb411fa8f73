/* SPDX-License-Identifier: MIT */
#include "contents.h"
#include "decodes.h"

#include <limits.h>
#include <string.h>

enum { OPT_SWO = 256, OPT_UART, OPT_ELF, OPT_PORT, OPT_METADATA, OPT_JSON };

static const struct option options[] = {
	{ "swo", required_argument, NULL, OPT_SWO },
	{ "uart", required_argument, NULL, OPT_UART },
	{ "elf", required_argument, NULL, OPT_ELF },
	{ "port", required_argument, NULL, OPT_PORT },
	{ "metadata", required_argument, NULL, OPT_METADATA },
	{ "clock", required_argument, NULL, 'c' },
	{ "json", no_argument, NULL, OPT_JSON },
	CLI_HELP_OPTION,
	{ 0 },
};

/* What a tracer wrote to @port, of the clock called @clock or of all that have ports. */
static int decode_port(struct cvl_session *s, unsigned port, const char *metadata,
		       const char *clock, const struct cvl_report *report, struct cvl_error *err)
{
	const size_t n = cvl_session_clocks(s);
	struct progress progress;
	bool found = false;
	int rc = 0;

	progress_init(&progress, "decoding");
	for (size_t i = 0; i < n && !rc; i++) {
		if ((clock && strcmp(cvl_session_clock(s, i)->name, clock) != 0) ||
		    !cvl_decode_has_ports(s, i))
			continue;
		found = true;
		rc = cvl_decode_port(s, i, port, metadata, report,
				     &(struct cvl_progress){ progress_show, &progress }, err);
		progress_clear(&progress);
	}
	if (!rc && !found)
		rc = cvl_fail(
			err, CVL_E_MISSING, CVL_NO_OFFSET,
			"%s: no clock is the trace of an ITM; decode a line by --swo, or import its bytes",
			cvl_session_path(s));
	return rc;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	const char *elf = NULL, *clock = NULL, *metadata = NULL;
	unsigned port = UINT_MAX;
	struct decodes decodes = { .n = 0 };
	struct contents told = { .first = 0 };
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
		case OPT_PORT:
			rc = strcmp(optarg, "0") ? cli_number(verb, "--port", optarg, 255, &port) :
						   (int)(port = 0);
			break;
		case OPT_METADATA: metadata = optarg; break;
		case 'c': clock = optarg; break;
		case OPT_JSON: told.json = true; break;
		default: return cli_option(c, verb);
		}
	}
	if (rc)
		return rc;
	if (optind + 1 != argc)
		return cli_usage(verb, "name one session");
	if (!decodes.n && port == UINT_MAX)
		return cli_usage(verb,
				 "say what to decode: --swo LINE, --uart LINE or --port NUMBER");
	if ((port == UINT_MAX) != !metadata)
		return cli_usage(verb, "--port and --metadata go together");
	/* It must be there: cvl_session_create() would make it. */
	rc = cvl_session_open(&session, argv[optind], &problems.report, &err);
	if (rc)
		return cli_fail(&err);
	cvl_session_close(session);
	rc = cvl_session_create(&session, argv[optind], &err);
	if (rc)
		return cli_fail(&err);
	rc = decodes_run(&decodes, session, 0, clock, elf, &problems.report, &err);
	told.first = cvl_session_clocks(session) - decodes.made;
	if (!rc && metadata)
		rc = decode_port(session, port, metadata, clock, &problems.report, &err);
	if (!rc)
		rc = contents_print(session, &told, &err);
	cvl_session_close(session);
	return cli_end(rc, &err, &problems);
}

const struct verb verb_decode = {
	.name = "decode",
	.what = "decode lines of a capture: SWO trace, serial text; on the clock of its edges",
	.usage = "decode SESSION --swo LINE|--uart LINE|--port N ... [OPTIONS]",
	.help = DECODES_HELP
	"      --port N           packets that firmware/lib/tracer wrote to this stimulus port of an ITM\n"
	"      --metadata FILE    of the traced program, for --port\n"
	"  -c, --clock NAME       only on this clock (default: on all that have the line)\n"
	"      --json             print what came of it as JSON\n"
	"\n"
	"What comes of it is another trace of the same clock, called CLOCK-LINE; the edges stay as they are.\n"
	"Decoded again, a line's former trace is replaced. What was on a port is a clock of its own, CLOCK-portN.\n"
	"\n"
	"Example:\n"
	"  coeval decode s/ --swo SWO:8M:tpiu --elf firmware.elf\n",
	.run = run,
};
