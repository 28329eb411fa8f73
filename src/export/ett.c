/* SPDX-License-Identifier: MIT */
/*
 * The text of the Event Timestamping Tool's fextract (Martins and Casimiro, DI/FCUL TR-00-4,
 * 3.3.2): one line per event: its time in ns, its code and its probe. Every event that has a probe
 * and a code is written. A line cannot hold a bracket: the time is its middle. Nor can it hold a
 * gap: the number left out is reported.
 */
#include "export/changes.h"
#include "export/exporters.h"

#include <coeval/timeline.h>

#include <inttypes.h>
#include <string.h>

#include <coeval/out.h>

struct ett_text {
	struct cvl_out out;
	uint64_t gaps, events;
};

struct found {
	bool probe, code;
	uint64_t probe_value, code_value;
};

static void value(void *ctx, const char *name, const struct cvl_value *v)
{
	struct found *f = ctx;

	if (!name || v->type->kind != CVL_TYPE_INT)
		return;
	name = cvl_plain_name(name);
	if (!strcmp(name, "probe")) {
		f->probe = true;
		f->probe_value = v->u;
	} else if (!strcmp(name, "code")) {
		f->code = true;
		f->code_value = v->u;
	}
}

static void begin(void *ctx, const char *name, const struct cvl_type *type, uint64_t n)
{
	(void)ctx;
	(void)name;
	(void)type;
	(void)n;
}

static void end(void *ctx, const struct cvl_type *type)
{
	(void)ctx;
	(void)type;
}

static bool scope(void *ctx, enum cvl_scope which)
{
	(void)ctx;
	return which == CVL_SCOPE_FIELDS;
}

static int put(struct ett_text *t, struct cvl_timeline *tl, const struct cvl_slice *sl, size_t i,
	       struct cvl_error *err)
{
	struct found f = { 0 };
	const struct cvl_visitor visitor = { value, begin, end, scope, &f, NULL };
	int rc;

	if (sl->batch->kind[i] == CVL_GAP)
		t->gaps++;
	if (sl->batch->kind[i] != CVL_EVENT)
		return 0;
	rc = cvl_stream_visit(cvl_timeline_stream(tl, sl->stream), sl->batch, i, &visitor, err);
	if (rc || !f.probe || !f.code)
		return rc;
	t->events++;
	cvl_out_i64(&t->out, sl->time[i].ns);
	cvl_out_char(&t->out, ' ');
	cvl_out_u64(&t->out, f.code_value);
	cvl_out_char(&t->out, ' ');
	cvl_out_u64(&t->out, f.probe_value);
	cvl_out_char(&t->out, '\n');
	return 0;
}

static int export_ett(struct cvl_timeline *tl, const char *path, struct cvl_error *err)
{
	struct ett_text t = { .gaps = 0 };
	struct cvl_block block;
	struct cvl_slice slice;
	int rc = cvl_out_open(&t.out, path, err);

	if (rc)
		return rc;
	while (!t.out.error && !t.out.closed && (rc = cvl_timeline_next(tl, &block, err)) > 0)
		while (rc >= 0 && cvl_block_take(&block, &slice))
			for (size_t i = slice.begin; i < slice.end && rc >= 0; i++)
				rc = put(&t, tl, &slice, i, err);
	if (rc >= 0 && t.gaps)
		changes_tell(tl, "ett-text has no gaps: %" PRIu64 " of them left out", t.gaps);
	if (rc >= 0 && !t.events && !t.out.error && !t.out.closed)
		rc = cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
			      "no event has a probe and a code, and ett-text holds nothing else");
	return rc < 0 ? (cvl_out_close(&t.out, NULL), rc) : cvl_out_close(&t.out, err);
}

const struct cvl_exporter cvl_export_ett = {
	.name = "ett-text",
	.what = "the event timestamping tool's text: ns, code, probe",
	.suffix = ".txt",
	.write = export_ett,
};
