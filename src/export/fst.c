/* SPDX-License-Identifier: MIT */
/*
 * FST: waves, with event classes and marks as strings, which hold their fields, and the bounds of
 * each clock.
 */
#include "export/changes.h"
#include "export/exporters.h"
#include "export/fst_file.h"
#include "export/waves.h"

#include "core/out_keep.h"

#include <coeval/fields.h>

#include <inttypes.h>
#include <stdlib.h>

#define TEXT_MAX 4096
#define CUT "..."

struct fst_export {
	struct cvl_timeline *tl;
	const char *path;
	struct fst *f;
	bool any;            /* variables */
	struct cvl_out text; /* in memory */
	uint64_t cut;        /* texts longer than that */
};

static int begin(void *ctx, int64_t zero, struct cvl_error *err)
{
	struct fst_export *x = ctx;

	return fst_open(&x->f, x->path, zero, err);
}

static void scope(void *ctx, const char *name)
{
	const struct fst_export *x = ctx;

	fst_scope(x->f, name);
}

static void var(void *ctx, enum waves_type type, unsigned id, const char *name)
{
	static const enum fst_type types[] = { FST_BIT, FST_REAL, FST_TEXT };
	struct fst_export *x = ctx;

	(void)id;
	fst_var(x->f, types[type], name);
	x->any = true;
}

static void initial(void *ctx, bool end)
{
	const struct fst_export *x = ctx;

	if (end)
		fst_begin(x->f);
	else if (!x->any) /* readers refuse a file without variables */
		fst_var(x->f, FST_BIT, "empty");
}

static void at(void *ctx, int64_t t)
{
	const struct fst_export *x = ctx;

	fst_time(x->f, (uint64_t)t);
}

static void bit(void *ctx, unsigned id, char level)
{
	const struct fst_export *x = ctx;

	fst_bit(x->f, id, level);
}

static void real(void *ctx, unsigned id, double v)
{
	const struct fst_export *x = ctx;

	fst_real(x->f, id, v);
}

static int describe(struct cvl_out *o, const struct cvl_timeline *tl, const struct cvl_slice *sl,
		    size_t i, struct cvl_error *err)
{
	const struct cvl_batch *b = sl->batch;

	switch ((enum cvl_kind)b->kind[i]) {
	case CVL_BEACON:
		cvl_out_printf(o, "sender %" PRIu32 ", seq %" PRIu64, b->cls[i], b->value[i]);
		return 0;
	case CVL_PULSE: cvl_out_printf(o, "channel %" PRIu32, b->cls[i]); return 0;
	case CVL_MESSAGE:
		cvl_out_printf(o, "%s, key %" PRIu64, b->cls[i] ? "received" : "sent", b->value[i]);
		return 0;
	case CVL_SLIP: cvl_out_printf(o, "half-width %" PRIu64 " ticks", b->value[i]); return 0;
	default: return cvl_fields_text(o, cvl_timeline_stream(tl, sl->stream), b, i, err);
	}
}

static int event(void *ctx, unsigned id, const struct cvl_slice *slice, size_t i,
		 struct cvl_error *err)
{
	struct fst_export *x = ctx;
	struct cvl_out *o = &x->text;
	size_t n = TEXT_MAX - strlen(CUT);
	char text[TEXT_MAX];
	int rc;

	o->n = o->n_kept = 0;
	rc = describe(o, x->tl, slice, i, err);
	if (!o->n_kept && o->n <= TEXT_MAX) {
		fst_text(x->f, id, o->buf, o->n);
		return rc;
	}
	if (o->n_kept)
		cvl_out_drain(o);
	if (o->error)
		return cvl_no_memory(err);
	memcpy(text, o->n_kept ? o->kept : o->buf, TEXT_MAX);
	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--; /* within a character */
	memcpy(text + n, CUT, strlen(CUT));
	fst_text(x->f, id, text, n + strlen(CUT));
	x->cut++;
	return rc;
}

static bool stopped(const void *ctx)
{
	const struct fst_export *x = ctx;

	return fst_failed(x->f);
}

static int export_fst(struct cvl_timeline *tl, const char *path, struct cvl_error *err)
{
	static const struct waves_format format = {
		.open = begin,
		.scope = scope,
		.var = var,
		.initial = initial,
		.time = at,
		.bit = bit,
		.real = real,
		.event = event,
		.stopped = stopped,
		.kinds = 1 << CVL_BEACON | 1 << CVL_PULSE | 1 << CVL_MESSAGE | 1 << CVL_SLIP,
		.bounds = true,
	};
	struct fst_export *x;
	int rc, closed = 0;

	if (!path || !strcmp(path, "-"))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"an FST file cannot be written to standard output: its header is "
				"completed at the end; name a file with -o");
	x = calloc(1, sizeof(*x));
	if (!x)
		return cvl_no_memory(err);
	x->tl = tl;
	x->path = path;
	out_keep(&x->text, false);
	rc = waves_write(&format, x, tl, err);
	if (x->f)
		closed = fst_close(x->f, rc ? NULL : err);
	if (!rc && x->cut)
		changes_tell(tl, "FST: %" PRIu64 " texts of events are cut to %d bytes", x->cut,
			     TEXT_MAX);
	free(x->text.kept);
	free(x);
	return rc ? rc : closed;
}

const struct cvl_exporter cvl_export_fst = {
	.name = "fst",
	.what = "FST, for GTKWave and Surfer, compressed",
	.suffix = ".fst",
	.write = export_fst,
};
