/* SPDX-License-Identifier: MIT */
/*
 * sigrok sessions (.sr): a zip archive with the entries `version`, `metadata`, the samples of the
 * lines in `logic-1` or chunks `logic-1-1`, `logic-1-2`, ..., and readings in `analog-1-N-K`.
 */
#include <stdlib.h>
#include <string.h>

#include "beacons.h"
#include "importers.h"
#include "input.h"
#include "store/samples.h"
#include "core/text.h"
#include "sr_analog.h"
#include "sr_internal.h"
#include "sr_zip.h"

#define READ_BYTES 65536

struct sr {
	const struct cvl_import_opts *opts;
	struct sr_zip zip;
	struct sr_meta meta;
	struct sr_stream logic;
	struct sr_analog *analog;
	struct cvl_beacons *beacons;
	struct cvl_samples *samples;
	uint64_t rate_hz;
	size_t n_lines;
	unsigned char buf[READ_BYTES];
};

static int sr_probe(const uint8_t *head, size_t n, const char *path)
{
	const char *dot = path ? strrchr(path, '.') : NULL;

	if (n < 4 || memcmp(head, "PK\3\4", 4))
		return 0;
	return dot && !strcmp(dot, ".sr") ? 90 : 40;
}

static int check_version(struct sr *r, struct cvl_error *err)
{
	char *text;
	size_t n;
	int rc;

	rc = cvl_sr_read_small(&r->zip, "version", &text, &n, err);
	if (rc)
		return rc;
	n = strspn(text, "0123456789");
	if ((text[0] != '1' && text[0] != '2') || n != 1 || text[1 + strspn(text + 1, " \r\n")])
		rc = cvl_fail(err, CVL_E_UNSUPPORTED, 0, "%s:version: neither 1 nor 2",
			      r->zip.name);
	free(text);
	return rc;
}

static int read_meta(struct sr *r, struct cvl_error *err)
{
	char name[CVL_ERROR_TEXT];
	char *text;
	size_t n;
	int rc;

	rc = cvl_sr_read_small(&r->zip, "metadata", &text, &n, err);
	if (rc)
		return rc;
	snprintf(name, sizeof(name), "%s:metadata", r->zip.name);
	rc = cvl_sr_meta_parse(&r->meta, text, n, name, r->opts, err);
	free(text);
	return rc;
}

/* Check whether the capture that the metadata describes can be imported. */
static int check_meta(struct sr *r, struct cvl_error *err)
{
	const struct sr_meta *m = &r->meta;
	const char *name = r->zip.name;

	r->rate_hz = r->opts->rate_hz ? r->opts->rate_hz : m->rate_hz;
	if (!r->rate_hz)
		return cvl_hint(err, CVL_HINT_RATE,
				cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
					 "%s:metadata: no samplerate", name));
	if (!r->logic.last) {
		if (m->n_analog)
			return 0;
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET, "%s:%s: missing", name,
				r->logic.prefix);
	}
	if (!m->unit)
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET, "%s:metadata: no unitsize",
				name);
	if (!m->n_probes && !m->probes)
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s:metadata: no total probes and no probe names", name);
	if (!m->n_probes && m->probes > CVL_LINES_MAX)
		return cvl_fail(err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
				"%s:metadata: more than %d lines", name, CVL_LINES_MAX);
	r->n_lines = m->n_probes ? m->n_probes : (size_t)m->probes;
	if (r->n_lines > 8 * m->unit)
		return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET,
				"%s:metadata: unitsize %u cannot hold %zu lines", name, m->unit,
				r->n_lines);
	return 0;
}

static int open_clock(struct sr *r, struct cvl_input *in, struct cvl_session *s,
		      struct cvl_error *err)
{
	char clock[128];
	const char *channels[SR_ANALOG_MAX];
	const struct cvl_origin origin = { .format = "sr", .path = cvl_input_origin(in) };
	const struct cvl_store_desc desc = {
		.clock = clock,
		.node = r->opts->node,
		.rate_hz = r->rate_hz,
		.resolution = 1,
		.lines = (const char *const *)r->meta.probe,
		.n_lines = r->n_lines,
		.channels = channels,
		.n_channels = r->meta.n_analog,
	};
	int rc;

	cvl_input_clock_name(in, r->opts, clock, sizeof(clock));
	for (size_t i = 0; i < r->meta.n_analog; i++)
		channels[i] = r->meta.analog[i].name;
	rc = cvl_samples_open(&r->samples, s, &desc, &origin, r->n_lines ? r->meta.unit : 1, err);
	if (rc)
		return rc;
	if (r->beacons)
		cvl_samples_side(r->samples, cvl_beacons_side(r->beacons));
	if (r->analog)
		cvl_samples_side(r->samples, cvl_sr_analog_side(r->analog));
	return 0;
}

static int read_logic(struct sr *r, struct cvl_error *err)
{
	char name[CVL_ERROR_TEXT];
	ssize_t n;
	int rc;

	while ((n = cvl_sr_stream_read(&r->logic, r->buf, sizeof(r->buf), err)) > 0) {
		rc = cvl_samples_feed(r->samples, r->buf, (size_t)n, err);
		if (rc)
			return rc;
	}
	if (n < 0)
		return (int)n;
	if (r->logic.hole)
		return cvl_samples_gap(r->samples, CVL_GAP_PACKETS, CVL_LOST_UNKNOWN, err);
	snprintf(name, sizeof(name), "%s:%s", r->zip.name, r->logic.entry);
	return cvl_samples_tail(r->samples, name, r->logic.got, r->opts, err);
}

/* Check that the lines and the analog channels end at the same tick. */
static int check_ends(const struct sr *r, struct cvl_error *err)
{
	struct cvl_error problem;

	if (!r->analog || !r->n_lines || r->logic.hole ||
	    cvl_sr_analog_count(r->analog) >= r->logic.size / r->meta.unit)
		return 0;
	cvl_fail(&problem, CVL_E_TRUNCATED, CVL_NO_OFFSET,
		 "%s: the analog channels end before the lines", r->zip.name);
	if (r->opts->strict) {
		if (err)
			*err = problem;
		return problem.code;
	}
	cvl_tell(r->opts->report, &problem);
	return 0;
}

static int sr_open(struct sr *r, struct cvl_input *in, struct cvl_error *err)
{
	const unsigned char *head;
	ssize_t n = cvl_input_peek(in, 4, &head, err);
	int rc;

	if (n < 0)
		return (int)n;
	if (n < 4 || memcmp(head, "PK\3\4", 4))
		return cvl_fail(err, n < 4 ? CVL_E_TRUNCATED : CVL_E_MAGIC, 0,
				"%s: not a sigrok session: not a zip archive", cvl_input_name(in));
	rc = cvl_sr_zip_open(&r->zip, in, r->opts, err);
	if (!rc)
		rc = check_version(r, err);
	if (!rc)
		rc = read_meta(r, err);
	if (!rc)
		rc = cvl_sr_stream_open(&r->logic, &r->zip,
					r->meta.capture ? r->meta.capture : "logic-1", err);
	if (!rc)
		rc = check_meta(r, err);
	if (!rc)
		rc = cvl_names_fill(r->meta.probe, r->n_lines, r->opts->names, err);
	if (!rc)
		rc = cvl_sr_analog_open(&r->analog, &r->zip, &r->meta, err);
	if (!rc && r->opts->beacons)
		rc = cvl_beacons_open(&r->beacons, r->opts, err);
	return rc;
}

static int sr_import(struct cvl_input *in, struct cvl_session *s,
		     const struct cvl_import_opts *opts, struct cvl_error *err)
{
	struct sr *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return cvl_no_memory(err);
	r->opts = opts;
	rc = sr_open(r, in, err);
	if (!rc)
		rc = open_clock(r, in, s, err);
	if (!rc && r->n_lines)
		rc = read_logic(r, err);
	rc = cvl_samples_close(r->samples, rc, err);
	if (!rc)
		rc = check_ends(r, err);
	cvl_beacons_close(r->beacons);
	cvl_sr_analog_close(r->analog);
	cvl_sr_stream_close(&r->logic);
	cvl_sr_zip_close(&r->zip);
	cvl_sr_meta_free(&r->meta);
	free(r);
	return rc;
}

static const struct cvl_option sr_options[] = {
	{ "node", "NAME", "name of the node and its clock (default: from the file's name)" },
	{ "rate", "HZ", "sampling rate, if the file has none" },
	{ "names", "A,B,...", "names of the lines" },
	{ "beacons", "FILE", "CSV `tick,sender,seq`: beacons heard during the capture" },
	{ 0 },
};

const struct cvl_importer cvl_import_sr = {
	.name = "sr",
	.what = "sigrok session file (PulseView, sigrok-cli)",
	.options = sr_options,
	.probe = sr_probe,
	.import = sr_import,
};
