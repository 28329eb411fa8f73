/* SPDX-License-Identifier: MIT */
#include "contents.h"
#include "decodes.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	OPT_NAMES = 256,
	OPT_CLOCK_RATE,
	OPT_LINES,
	OPT_UNIT,
	OPT_BEACONS,
	OPT_LINK,
	OPT_STRICT,
	OPT_SWO,
	OPT_UART,
	OPT_ELF,
	OPT_STREAM,
	OPT_PRESCALER,
	OPT_START,
	OPT_DRIFT,
	OPT_COUNTER,
	OPT_JSON
};

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "format", required_argument, NULL, 'f' },
	{ "node", required_argument, NULL, 'n' },
	{ "rate", required_argument, NULL, 'r' },
	{ "clock-rate", required_argument, NULL, OPT_CLOCK_RATE },
	{ "channels", required_argument, NULL, 'c' },
	{ "unit-size", required_argument, NULL, OPT_UNIT },
	{ "names", required_argument, NULL, OPT_NAMES },
	{ "lines", required_argument, NULL, OPT_LINES },
	{ "beacons", required_argument, NULL, OPT_BEACONS },
	{ "swo", required_argument, NULL, OPT_SWO },
	{ "uart", required_argument, NULL, OPT_UART },
	{ "stream", required_argument, NULL, OPT_STREAM },
	{ "ts-prescaler", required_argument, NULL, OPT_PRESCALER },
	{ "elf", required_argument, NULL, OPT_ELF },
	{ "start", required_argument, NULL, OPT_START },
	{ "drift", required_argument, NULL, OPT_DRIFT },
	{ "counter", required_argument, NULL, OPT_COUNTER },
	{ "link", no_argument, NULL, OPT_LINK },
	{ "strict", no_argument, NULL, OPT_STRICT },
	{ "json", no_argument, NULL, OPT_JSON },
	CLI_HELP_OPTION,
	{ 0 },
};

/* Digits of a date and time, UTC: "2026-01-31T12:00:00.5Z" to ns since 1970. False: it is none. */
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
static int parse_start(const struct verb *verb, char *text, struct cvl_clock_facts *facts)
{
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
			      "--start takes a time and how sure it is, such as 2026-01-31T12:00:00Z+-100ms or "
			      "1769860800.5+-20ms");
}

static int parse_drift(const struct verb *verb, const char *text, double *ppm)
{
	char *end;

	*ppm = strtod(text, &end);
	if (*end || end == text || !(*ppm > 0 && *ppm < 100000))
		return cli_usage(verb, "--drift takes parts per million, such as 50, not '%s'",
				 text);
	return 0;
}

static int parse_counter(const struct verb *verb, const char *text, enum cvl_counter *counter)
{
	for (int k = CVL_COUNTER; k <= CVL_SETTABLE; k++)
		if (!strcmp(text, cvl_counter_name((enum cvl_counter)k))) {
			*counter = (enum cvl_counter)k;
			return 0;
		}
	return cli_usage(verb, "--counter is counter, monotonic or settable, not '%s'", text);
}

/* --lines may come again: one list of all. */
static int add_globs(char *list, size_t size, const struct verb *verb, const char *more)
{
	size_t n = strlen(list);

	if (!*more || strlen(more) + n + 2 > size)
		return cli_usage(verb, "--lines takes names such as clk,top.bus*, not '%.40s'",
				 more);
	snprintf(list + n, size - n, "%s%s", n ? "," : "", more);
	return 0;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct cvl_import_opts opts = { 0 };
	struct cvl_session *session;
	const char *output = "session", *format = NULL;
	char lines[4096] = "";
	struct decodes decodes = { .n = 0 };
	struct problems problems;
	struct progress progress;
	struct cvl_error err;
	struct contents told = { .what = "input" };
	int c, rc;

	problems_init(&problems);
	while ((c = getopt_long(argc, argv, "o:f:n:r:c:h", options, NULL)) != -1) {
		rc = 0;
		switch (c) {
		case 'o': output = optarg; break;
		case 'f': format = optarg; break;
		case 'n': opts.node = optarg; break;
		case 'r':
			if (cvl_rate_parse(optarg, &opts.rate_hz))
				rc = cli_usage(verb,
					       "--rate takes a rate such as 8M or 32768, not '%s'",
					       optarg);
			break;
		case OPT_CLOCK_RATE:
			if (cvl_rate_parse(optarg, &opts.clock_rate_hz))
				rc = cli_usage(
					verb,
					"--clock-rate takes a rate such as 32768 or 64M, not '%s'",
					optarg);
			break;
		case 'c':
			rc = cli_number(verb, "--channels", optarg, CVL_LINES_MAX, &opts.channels);
			break;
		case OPT_UNIT:
			rc = cli_number(verb, "--unit-size", optarg, 8, &opts.unit_size);
			break;
		case OPT_NAMES: opts.names = optarg; break;
		case OPT_LINES:
			rc = add_globs(lines, sizeof(lines), verb, optarg);
			opts.lines = lines;
			break;
		case OPT_BEACONS: opts.beacons = optarg; break;
		case OPT_SWO: rc = decodes_add(&decodes, verb, CVL_PROTOCOL_SWO, optarg); break;
		case OPT_UART: rc = decodes_add(&decodes, verb, CVL_PROTOCOL_UART, optarg); break;
		case OPT_STREAM:
			rc = cli_number(verb, "--stream", optarg, 111, &opts.stream);
			break;
		case OPT_PRESCALER:
			rc = cli_number(verb, "--ts-prescaler", optarg, 64, &opts.prescaler);
			if (!rc && opts.prescaler != 1 && opts.prescaler != 4 &&
			    opts.prescaler != 16 && opts.prescaler != 64)
				rc = cli_usage(verb, "--ts-prescaler is 1, 4, 16 or 64");
			break;
		case OPT_ELF: opts.elf = optarg; break;
		case OPT_START: rc = parse_start(verb, optarg, &opts.facts); break;
		case OPT_DRIFT: rc = parse_drift(verb, optarg, &opts.facts.drift_ppm); break;
		case OPT_COUNTER: rc = parse_counter(verb, optarg, &opts.facts.counter); break;
		case OPT_LINK: opts.link = true; break;
		case OPT_STRICT: opts.strict = true; break;
		case OPT_JSON: told.json = true; break;
		default: return cli_option(c, verb);
		}
		if (rc)
			return rc;
	}
	if (optind == argc)
		return cli_usage(verb, "name what to import");
	if (format && !cvl_importer_find(format))
		return cli_usage(verb, "there is no format '%s'", format);
	rc = cvl_session_create(&session, output, &err);
	if (rc)
		return cli_fail(&err);
	progress_init(&progress, "");
	told.first = cvl_session_clocks(session);
	told.n = (size_t)(argc - optind);
	opts.report = &problems.report;
	opts.progress = (struct cvl_progress){ progress_show, &progress };
	for (int i = optind; i < argc && !rc; i++) {
		progress_init(&progress, argv[i]);
		rc = cvl_import(session, argv[i], format, &opts, &err);
		progress_clear(&progress);
	}
	if (!rc)
		rc = decodes_run(&decodes, session, told.first, NULL, opts.elf, &problems.report,
				 &err);
	if (!rc)
		rc = contents_print(session, &told, &err);
	cvl_session_close(session);
	return cli_end(rc, &err, &problems);
}

const struct verb verb_import = {
	.name = "import",
	.what = "bring captures into a session, each on a clock of its own",
	.usage = "import [-o SESSION] [OPTIONS] FILE|DIR|- ...",
	.help = "  -o, --output SESSION   directory of the session, made or added to (default: session)\n"
		"  -f, --format FORMAT    ctf, sr, raw, vcd, csv, flocklab, itm, tpiu or swo (default: found out)\n"
		"  -n, --node NAME        name of the node or observer (default: from file or trace)\n"
		"  -r, --rate HZ          sampling rate of raw samples; resolution of CSV times; rate that\n"
		"                         an ITM's timestamps count at (8M, 1.5k)\n"
		"      --clock-rate HZ    rate of the timestamps of a CTF trace that declares no clock\n"
		"                         (default: 1G, as if they were nanoseconds)\n"
		"  -c, --channels N       lines in each raw sample, 1 to 64\n"
		"      --unit-size N      bytes of a raw sample (default: as few as hold the channels)\n"
		"      --names A,B,...    names of the lines\n"
		"      --lines GLOB,...   only these lines and vectors of a VCD, or columns of a CSV, by name or its\n"
		"                         last part; 'bus[3]' is a bit of a vector as a line; may come again\n"
		"      --beacons FILE     CSV `tick,sender,seq`: beacons heard during a raw capture\n" DECODES_HELP
		"      --stream N         the ITM's stream in TPIU frames (default: 1)\n"
		"      --ts-prescaler N   cycles that a local timestamp of an ITM counts: 1, 4, 16 or 64\n"
		"      --start TIME[+-S]  when the capture began (UTC, or seconds since 1970), within S: tells which\n"
		"                         pulses it heard\n"
		"      --drift PPM        how far the clock's rate can be off (default: analyzers 1000, others 200)\n"
		"      --counter KIND     counter, monotonic or settable: whether somebody may have set the clock\n"
		"      --link             point at CTF traces instead of copying them\n"
		"      --strict           stop at damage instead of recording a gap\n"
		"      --json             print what came in as JSON\n"
		"\n"
		"Examples:\n"
		"  coeval import -o s/ scp_src/ scp_dest/\n"
		"  sigrok-cli -d fx2lafw -c samplerate=8m --time 10s -O binary | \\\n"
		"    coeval import -o s/ --format raw --channels 8 --rate 8M --node desk -\n",
	.run = run,
};
