/* SPDX-License-Identifier: MIT */
#include "contents.h"
#include "decodes.h"

#include <limits.h>
#include <string.h>

struct request {
	struct decodes decodes;
	unsigned port;
	const char *metadata, *clock;
	struct contents told;
};

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	DECODES_OPTIONS(AT(decodes)),
	{ "port", 0, "N", OPTION_NUMBER, AT(port),
	  "packets that firmware/lib/tracer wrote to this stimulus port of an ITM", 0, 255 },
	{ "metadata", 0, "FILE", OPTION_FILE, AT(metadata), "of the traced program, for --port" },
	{ "clock", 'c', "NAME", OPTION_CLOCK, AT(clock),
	  "only on this clock (default: on all that have the line)" },
	JSON_OPTION(AT(told.json)),
	{ 0 },
};

/* What a tracer wrote to @port, of clock @clock or of all with ports. */
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
	struct request r = { .port = UINT_MAX };
	struct operands operands;
	struct cvl_session *session;
	struct problems problems;
	struct cvl_error err;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	problems_init(&problems);
	if (!r.decodes.n && r.port == UINT_MAX)
		return cli_usage(verb,
				 "say what to decode: --swo LINE, --uart LINE or --port NUMBER");
	if ((r.port == UINT_MAX) != !r.metadata)
		return cli_usage(verb, "--port and --metadata go together");
	rc = cli_change(&session, operands.v[0], &problems.report, &err);
	if (rc)
		return cli_fail(&err);
	rc = decodes_run(&r.decodes, session, 0, r.clock, &problems.report, &err);
	r.told.first = cvl_session_clocks(session) - r.decodes.made;
	if (!rc && r.metadata)
		rc = decode_port(session, r.port, r.metadata, r.clock, &problems.report, &err);
	if (!rc)
		rc = contents_print(session, &r.told, &err);
	cvl_session_close(session);
	return cli_end(rc, &err, &problems);
}

const struct verb verb_decode = {
	.name = "decode",
	.group = VERB_GET,
	.what = "decode lines of a capture: SWO trace, serial text",
	.operands = "SESSION",
	.options = options,
	.notes =
		"The result is another trace of the same clock, named CLOCK-LINE; the edges are kept. Decoding a line again replaces its former trace. The data of a port become a clock of its own, CLOCK-portN.\n",
	.examples = "  coeval decode s/ --swo SWO:8M:tpiu --elf firmware.elf\n",
	.run = run,
};
