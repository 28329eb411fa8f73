/* SPDX-License-Identifier: MIT */
/*
 * Headerless samples, as dumped by analyzers: little-endian units of 1 to 8 bytes, bit 0 is the
 * first line. The text line that sigrok-cli puts first is understood.
 */
#include <string.h>

#include "beacons.h"
#include "importers.h"
#include "input.h"
#include "store/samples.h"
#include "core/text.h"

#define META "META samplerate:"

/* Skip the initial line of sigrok-cli, if present; its rate goes to @rate_hz if that is 0. */
static int skip_meta(struct cvl_input *in, uint64_t *rate_hz, struct cvl_error *err)
{
	const size_t len = strlen(META);
	const unsigned char *head;
	char *line;
	uint64_t offset, hz;
	size_t n;
	bool ended;
	ssize_t have = cvl_input_peek(in, len, &head, err);
	int rc;

	if (have < 0)
		return (int)have;
	if ((size_t)have < len || memcmp(head, META, len))
		return 0;
	rc = cvl_input_line(in, &line, &n, &offset, &ended, err);
	if (rc < 0)
		return rc;
	if (cvl_rate_parse(line + len + strspn(line + len, " "), &hz))
		return cvl_fail(err, CVL_E_SYNTAX, offset + len, "%s: `" META "` without a rate",
				cvl_input_name(in));
	if (!*rate_hz)
		*rate_hz = hz;
	return 0;
}

static int check(const struct cvl_input *in, const struct cvl_import_opts *opts, uint64_t rate_hz,
		 unsigned *unit, struct cvl_error *err)
{
	const char *name = cvl_input_name(in);

	if (!opts->channels || !rate_hz)
		return cvl_hint(err, CVL_HINT_CHANNELS_RATE,
				cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					 "%s: raw samples need a rate and a number of channels",
					 name));
	if (opts->channels > CVL_LINES_MAX)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: at most %d channels", name,
				CVL_LINES_MAX);
	*unit = opts->unit_size;
	if (!*unit)
		for (*unit = 1; *unit * 8 < opts->channels; *unit *= 2)
			;
	if (*unit > 8 || *unit * 8 < opts->channels)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"%s: samples of %u bytes cannot hold %u channels (1 to 8 bytes)",
				name, *unit, opts->channels);
	return 0;
}

static int feed(struct cvl_input *in, struct cvl_samples *samples,
		const struct cvl_import_opts *opts, struct cvl_error *err)
{
	const unsigned char *bytes;
	ssize_t n;
	int rc;

	while ((n = cvl_input_peek(in, 1, &bytes, err)) > 0) {
		rc = cvl_samples_feed(samples, bytes, (size_t)n, err);
		if (rc)
			return rc;
		cvl_input_skip(in, (size_t)n);
	}
	if (n < 0)
		return (int)n;
	return cvl_samples_tail(samples, cvl_input_name(in), cvl_input_offset(in), opts, err);
}

static int raw_import(struct cvl_input *in, struct cvl_session *s,
		      const struct cvl_import_opts *opts, struct cvl_error *err)
{
	char clock[128];
	char *names[CVL_LINES_MAX] = { NULL };
	const struct cvl_origin origin = { .format = "raw", .path = cvl_input_origin(in) };
	struct cvl_store_desc desc = {
		.clock = clock,
		.node = opts->node,
		.rate_hz = opts->rate_hz,
		.resolution = 1,
		.lines = (const char *const *)names,
		.n_lines = opts->channels,
	};
	struct cvl_samples *samples = NULL;
	struct cvl_beacons *beacons = NULL;
	const unsigned char *bytes;
	unsigned unit = 0;
	ssize_t n;
	int rc;

	rc = skip_meta(in, &desc.rate_hz, err);
	if (!rc)
		rc = check(in, opts, desc.rate_hz, &unit, err);
	if (rc)
		return rc;
	n = cvl_input_peek(in, unit, &bytes, err);
	if (n < 0)
		return (int)n;
	if ((size_t)n < unit)
		return cvl_fail(err, CVL_E_TRUNCATED, cvl_input_offset(in),
				"%s: no complete sample", cvl_input_name(in));
	rc = cvl_names_fill(names, desc.n_lines, opts->names, err);
	if (!rc && opts->beacons)
		rc = cvl_beacons_open(&beacons, opts, err);
	cvl_input_clock_name(in, opts, clock, sizeof(clock));
	if (!rc)
		rc = cvl_samples_open(&samples, s, &desc, &origin, unit, err);
	if (!rc && beacons)
		cvl_samples_side(samples, cvl_beacons_side(beacons));
	if (!rc)
		rc = feed(in, samples, opts, err);
	rc = cvl_samples_close(samples, rc, err);
	cvl_beacons_close(beacons);
	cvl_names_free(names, desc.n_lines);
	return rc;
}

static const struct cvl_option raw_options[] = {
	{ "node", "NAME", "name of the node and its clock (default: from the file's name)" },
	{ "rate", "HZ", "sampling rate; required" },
	{ "channels", "N", "lines in each sample; required" },
	{ "unit-size", "N", "bytes per sample (default: as few as hold the lines)" },
	{ "names", "A,B,...", "names of the lines" },
	{ "beacons", "FILE", "CSV `tick,sender,seq`: beacons heard during the capture" },
	{ 0 },
};

const struct cvl_importer cvl_import_raw = {
	.name = "raw",
	.what = "headerless samples, also from sigrok-cli -O binary",
	.options = raw_options,
	.import = raw_import,
};
