/* SPDX-License-Identifier: MIT */
#include "contents.h"
#include "decodes.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINES_MAX 4096

struct request {
	struct cvl_import_opts opts;
	struct decodes decodes;
	const char *output, *format;
	char lines[LINES_MAX];
	struct contents told;
};

/* Digits of a date and time, UTC: "2026-01-31T12:00:00.5Z" to ns since 1970. False: not a date. */
static bool read_date(const char *text, int64_t *unix_ns)
{
	struct tm tm = { 0 };
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	int64_t ns = 0, digit = 100000000;

	if (end && *end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++, digit /= 10)
			ns += (*end - '0') * digit;
	if (!end || (strcmp(end, "Z") && *end))
		return false;
	*unix_ns = (int64_t)timegm(&tm) * 1000000000 + ns;
	return true;
}

/* TIME[+-S]: UTC as a date, or seconds since 1970. */
static int take_start(const struct verb *verb, void *to, char *text)
{
	struct cvl_clock_facts *facts = &((struct request *)to)->opts.facts;
	char *bound = strstr(text, "+-");
	bool good = true;

	if (bound) {
		*bound = '\0';
		bound += 2;
		good = !cvl_duration_parse(bound, &facts->start_bound_ns) &&
		       facts->start_bound_ns > 0;
	}
	if (!read_date(text, &facts->start_unix_ns))
		good = good && !cvl_duration_parse(text, &facts->start_unix_ns) &&
		       facts->start_unix_ns > 0;
	return good ? 0 :
		      cli_usage(
			      verb,
			      "--start takes a time and its error, such as 2026-01-31T12:00:00Z+-100ms or "
			      "1769860800.5+-20ms");
}

static int take_drift(const struct verb *verb, void *to, char *text)
{
	double *ppm = &((struct request *)to)->opts.facts.drift_ppm;
	char *end;

	*ppm = strtod(text, &end);
	if (*end || end == text || !(*ppm > 0 && *ppm < 100000))
		return cli_usage(verb, "--drift takes parts per million, such as 50, not '%s'",
				 text);
	return 0;
}

static int take_counter(const struct verb *verb, void *to, char *text)
{
	struct request *r = to;

	for (int k = CVL_COUNTER; k <= CVL_SETTABLE; k++)
		if (!strcmp(text, cvl_counter_name((enum cvl_counter)k))) {
			r->opts.facts.counter = (enum cvl_counter)k;
			return 0;
		}
	return cli_usage(verb, "--counter takes counter, monotonic or settable, not '%s'", text);
}

static int take_prescaler(const struct verb *verb, void *to, char *text)
{
	static const char *const known[] = { "1", "4", "16", "64" };
	struct request *r = to;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(text, known[i])) {
			r->opts.prescaler = 1u << (2 * i);
			return 0;
		}
	return cli_usage(verb, "--ts-prescaler takes 1, 4, 16 or 64, not '%s'", text);
}

/* May be repeated: all go into one list. */
static int take_lines(const struct verb *verb, void *to, char *more)
{
	struct request *r = to;
	size_t n = strlen(r->lines);

	if (!*more || strlen(more) + n + 2 > sizeof(r->lines))
		return cli_usage(verb, "--lines takes names such as clk,top.bus*, not '%.40s'",
				 more);
	snprintf(r->lines + n, sizeof(r->lines) - n, "%s%s", n ? "," : "", more);
	r->opts.lines = r->lines;
	return 0;
}

static const char *format_name(size_t i)
{
	return cvl_importers[i] ? cvl_importers[i]->name : NULL;
}

static bool format(size_t i, struct verb_member *m)
{
	const struct cvl_importer *f = cvl_importers[i];

	if (f)
		*m = (struct verb_member){ f->name, f->what, f->options };
	return f;
}

static const struct verb_members formats = { "Formats (--format)", format };

static const char *const counters[] = { "counter", "monotonic", "settable", NULL };

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "output", 'o', "SESSION", OPTION_DIR, AT(output),
	  "directory of the session, made or added to (default: session)" },
	{ "format", 'f', "FORMAT", OPTION_WORD, AT(format),
	  "the format (default: recognised; itm, tpiu and swo have to be named)",
	  .word = format_name },
	{ "node", 'n', "NAME", OPTION_TEXT, AT(opts.node),
	  "name of the node or observer (default: from the file or trace)" },
	{ .kind = OPTION_HEADING, .what = "What formats need" },
	{ "rate", 'r', "HZ", OPTION_RATE, AT(opts.rate_hz),
	  "sampling rate of raw samples; resolution of CSV times; rate that an ITM's timestamps count at (8M, 1.5k)" },
	{ "clock-rate", 0, "HZ", OPTION_RATE, AT(opts.clock_rate_hz),
	  "rate of the timestamps of a CTF trace that declares no clock (default: 1G)" },
	{ "channels", 'c', "N", OPTION_NUMBER, AT(opts.channels), "lines in each raw sample", 1,
	  CVL_LINES_MAX },
	{ "unit-size", 0, "N", OPTION_NUMBER, AT(opts.unit_size),
	  "bytes of a raw sample (default: as few as hold the channels)", 1, 8 },
	{ "names", 0, "A,B,...", OPTION_TEXT, AT(opts.names), "names of the lines" },
	{ "lines", 0, "GLOB,...", OPTION_TEXT, 0,
	  "only these lines and vectors of a VCD, or columns of a CSV, by name or its last part; 'bus[3]' is a bit of a vector as a line; may be repeated",
	  .take = take_lines },
	{ "beacons", 0, "FILE", OPTION_FILE, AT(opts.beacons),
	  "CSV `tick,sender,seq`: beacons heard during a raw capture" },
	{ "stream", 0, "N", OPTION_NUMBER, AT(opts.stream),
	  "the ITM's stream in TPIU frames (default: 1)", 1, 111 },
	{ "ts-prescaler", 0, "N", OPTION_TEXT, 0,
	  "cycles that a local timestamp of an ITM counts: 1, 4, 16 or 64",
	  .take = take_prescaler },
	{ "link", 0, NULL, OPTION_FLAG, AT(opts.link),
	  "point at CTF traces instead of copying them" },
	{ .kind = OPTION_HEADING, .what = "Lines to decode" },
	DECODES_OPTIONS(AT(decodes)),
	{ .kind = OPTION_HEADING, .what = "What is known about the clock" },
	{ "start", 0, "TIME[+-ERROR]", OPTION_TEXT, 0,
	  "when the capture began (UTC, or seconds since 1970), within ERROR: tells which pulses it heard",
	  .take = take_start },
	{ "drift", 0, "PPM", OPTION_TEXT, 0,
	  "how far the clock's rate can be off (default: analyzers 1000, others 200)",
	  .take = take_drift },
	{ "counter", 0, "KIND", OPTION_TEXT, 0,
	  "counter, monotonic or settable: whether somebody may have set the clock",
	  .words = counters, .take = take_counter },
	{ "disorder", 0, "TIME", OPTION_DURATION, AT(opts.facts.disorder_ns),
	  "by how much its records may be out of order (default: as found, up to 10 s; of CTF traces 0)",
	  .least = 1, .most = INT64_MAX },
	{ .kind = OPTION_HEADING, .what = "Output" },
	JOBS_OPTION(AT(opts.jobs)),
	STRICT_OPTION(AT(opts.strict)),
	JSON_OPTION(AT(told.json)),
	{ 0 },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .output = "session", .told = { .what = "input" } };
	struct operands operands;
	struct cvl_session *session;
	struct problems problems;
	struct progress progress;
	struct cvl_error err;
	char doing[40];
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	problems_init(&problems);
	r.opts.elf = r.decodes.elf;
	rc = cvl_session_create(&session, r.output, &err);
	if (rc)
		return cli_fail(&err);
	snprintf(doing, sizeof(doing), "%d files", operands.n);
	progress_init(&progress, operands.n > 1 ? doing : operands.v[0]);
	r.told.first = cvl_session_clocks(session);
	r.told.n = (size_t)operands.n;
	r.opts.report = &problems.report;
	r.opts.progress = (struct cvl_progress){ progress_show, &progress };
	rc = cvl_import_all(session, (const char *const *)operands.v, (size_t)operands.n, r.format,
			    &r.opts, &err);
	progress_clear(&progress);
	if (!rc)
		rc = decodes_run(&r.decodes, session, r.told.first, NULL, &problems.report, &err);
	if (!rc)
		rc = contents_print(session, &r.told, &err);
	cvl_session_close(session);
	return cli_end(rc, &err, &problems);
}

const struct verb verb_import = {
	.name = "import",
	.group = VERB_GET,
	.what = "bring captures into a session, each on a clock of its own",
	.operands = "FILE|DIR|-...",
	.options = options,
	.members = &formats,
	.examples = "  coeval import -o s/ scp_src/ scp_dest/\n"
		    "  sigrok-cli -d fx2lafw -c samplerate=8m --time 10s -O binary |\n"
		    "    coeval import -o s/ --format raw --channels 8 --rate 8M --node desk -\n",
	.run = run,
};
