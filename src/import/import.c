/* SPDX-License-Identifier: MIT */
#include <coeval/format.h>

#include <stdio.h>
#include <string.h>

#include <coeval/files.h>
#include "importers.h"
#include "input.h"
#include "store/beside.h"
#include "store/stored.h"

/* How much of the input probes may look at. */
#define HEAD_BYTES 65536

static int ctf_import(struct cvl_input *in, struct cvl_session *s,
		      const struct cvl_import_opts *opts, struct cvl_error *err)
{
	(void)s;
	(void)opts;
	return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: a CTF trace is a directory",
			cvl_input_name(in));
}

static const struct cvl_option ctf_options[] = {
	{ "node", "NAME", "name of the node (default: from the trace)" },
	{ "clock-rate", "HZ",
	  "rate of the timestamps of a trace that declares no clock (default: 1G, as if they were nanoseconds)" },
	{ "link", NULL, "link to the trace instead of copying it" },
	{ 0 },
};

const struct cvl_importer cvl_import_ctf = {
	.name = "ctf",
	.what = "Common Trace Format 1.8, a directory",
	.options = ctf_options,
	.import = ctf_import,
};

const struct cvl_importer *const cvl_importers[] = {
	&cvl_import_ctf,
	&cvl_import_sr,
	&cvl_import_vcd,
	&cvl_import_csv,
	&cvl_import_flocklab,
	&cvl_import_flocklab_power,
	&cvl_import_rld,
	&cvl_import_ett,
	&cvl_import_raw,
	&cvl_import_itm,
	&cvl_import_tpiu,
	&cvl_import_swo,
	NULL,
};

const struct cvl_importer *cvl_importer_find(const char *name)
{
	for (size_t i = 0; cvl_importers[i]; i++)
		if (!strcmp(cvl_importers[i]->name, name))
			return cvl_importers[i];
	return NULL;
}

/* "a, b, c": all importers, or those that can detect their format. */
static void list_names(char *out, size_t size, bool probing)
{
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; cvl_importers[i] && len < size; i++)
		if (!probing || cvl_importers[i]->probe)
			len += (size_t)snprintf(out + len, size - len, "%s%s", len ? ", " : "",
						cvl_importers[i]->name);
}

static int unknown_format(const char *format, struct cvl_error *err)
{
	char names[200];

	list_names(names, sizeof(names), false);
	return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "unknown format '%s'; expected one of %s",
			format, names);
}

/* Find the importer that most likely matches the start of the input. */
static int probe(struct cvl_input *in, const char *path, const struct cvl_import_opts *opts,
		 const struct cvl_importer **importer, struct cvl_error *err)
{
	const unsigned char *head;
	char names[200];
	ssize_t n = cvl_input_peek(in, HEAD_BYTES, &head, err);
	int best = 0;

	if (n < 0)
		return (int)n;
	if (n > HEAD_BYTES)
		n = HEAD_BYTES;
	for (size_t i = 0; cvl_importers[i]; i++) {
		const struct cvl_importer *one = cvl_importers[i];
		int sure = one->probe ? one->probe(head, (size_t)n, path) : 0;

		if (sure > best) {
			best = sure;
			*importer = one;
		}
	}
	if (best)
		return 0;
	if (opts->channels) {
		*importer = &cvl_import_raw;
		return 0;
	}
	list_names(names, sizeof(names), true);
	return cvl_hint(err, CVL_HINT_RAW,
			cvl_fail(err, CVL_E_MAGIC, 0, "%s: unknown format; not one of %s",
				 cvl_input_name(in), names));
}

/* Import @in, which is open. */
static int import(struct cvl_session *s, struct cvl_input *in, const char *path, const char *format,
		  const struct cvl_import_opts *opts, struct cvl_error *err)
{
	const struct cvl_importer *importer = format ? cvl_importer_find(format) : NULL;
	const unsigned char *head;
	size_t first = cvl_session_clocks(s);
	char digest[CVL_HASH_TEXT];
	ssize_t n;
	int rc = 0;

	if (format && !importer)
		return unknown_format(format, err);
	cvl_input_progress(in, &opts->progress);
	n = cvl_input_peek(in, 1, &head, err);
	if (n < 0)
		rc = (int)n;
	else if (!n)
		rc = cvl_fail(err, CVL_E_TRUNCATED, 0, "%s: empty file", cvl_input_name(in));
	else if (!importer)
		rc = probe(in, path, opts, &importer, err);
	if (!rc && opts->lines && !importer->selects)
		rc = cvl_hint(
			err, CVL_HINT_LINES,
			cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				 "%s: lines can be selected only from vcd and csv, not from %s",
				 cvl_input_name(in), importer->name));
	if (rc)
		return rc;
	if (importer->in_turn && session_is_beside(s))
		return cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
				"%s: has to be imported after the files before it",
				cvl_input_name(in));
	rc = importer->import(in, s, opts, err);
	cvl_input_digest(in, digest);
	return rc ? rc : session_source(s, first, digest, opts->report, err);
}

static int import_path(struct cvl_session *s, const char *path, const char *format,
		       const struct cvl_import_opts *opts, struct cvl_error *err)
{
	const struct cvl_trace_opts trace = { .node = opts->node,
					      .link = opts->link,
					      .clock_rate_hz = opts->clock_rate_hz,
					      .report = opts->report,
					      .progress = opts->progress };
	struct cvl_input *in;
	int rc;

	if (strcmp(path, "-") && cvl_is_dir(path)) {
		if (format && !cvl_importer_find(format))
			return unknown_format(format, err);
		if (format && strcmp(format, cvl_import_ctf.name) != 0)
			return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					"%s: is a directory; only the format ctf reads directories",
					path);
		return cvl_session_add_trace(s, path, &trace, err);
	}
	rc = cvl_input_open(&in, path, err);
	if (rc)
		return rc;
	rc = import(s, in, path, format, opts, err);
	cvl_input_close(in);
	return rc;
}

/* Apply the stated @facts to every clock imported, from clock @first on. The start is that of a first epoch. */
static int state(struct cvl_session *s, size_t first, const struct cvl_clock_facts *facts,
		 struct cvl_error *err)
{
	static const struct cvl_clock_facts none;
	int rc = 0;

	if (!memcmp(facts, &none, sizeof(none)))
		return 0;
	for (size_t i = first; i < cvl_session_clocks(s) && !rc; i++) {
		struct cvl_clock_facts of = *facts;

		if (cvl_session_clock(s, i)->epoch > 1)
			of.start_unix_ns = of.start_bound_ns = 0;
		rc = cvl_session_state(s, i, &of, err);
	}
	return rc;
}

int cvl_import(struct cvl_session *s, const char *path, const char *format,
	       const struct cvl_import_opts *opts, struct cvl_error *err)
{
	size_t first = cvl_session_clocks(s);
	int rc = import_path(s, path, format, opts, err);

	return rc ? rc : state(s, first, &opts->facts, err);
}

/* Import @in, which is closed. */
static int import_input(struct cvl_session *s, struct cvl_input *in, const char *name,
			const char *format, const struct cvl_import_opts *opts,
			struct cvl_error *err)
{
	size_t first = cvl_session_clocks(s);
	int rc = import(s, in, name, format, opts, err);

	cvl_input_close(in);
	return rc ? rc : state(s, first, &opts->facts, err);
}

int cvl_import_memory(struct cvl_session *s, const char *name, const void *bytes, size_t n,
		      const char *format, const struct cvl_import_opts *opts, struct cvl_error *err)
{
	struct cvl_input *in;
	int rc = cvl_input_memory(&in, bytes, n, name, err);

	return rc ? rc : import_input(s, in, name, format, opts, err);
}

int cvl_import_fd(struct cvl_session *s, const char *name, int fd, const char *format,
		  const struct cvl_import_opts *opts, struct cvl_error *err)
{
	struct cvl_input *in;
	int rc = cvl_input_fd(&in, fd, name, err);

	return rc ? rc : import_input(s, in, name, format, opts, err);
}
