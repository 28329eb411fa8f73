/* SPDX-License-Identifier: MIT */
/* Value Change Dump (IEEE 1364-2005, clause 18): waves, with event classes as events. */
#include "export/exporters.h"
#include "export/waves.h"

#include <coeval/out.h>

#include <ctype.h>
#include <stdlib.h>

struct vcd {
	struct cvl_out out;
	struct cvl_timeline *tl;
	const char *path;
	bool opened;
};

/* Identifier @n in VCD's printable base 94. */
static void put_id(struct cvl_out *o, unsigned n)
{
	do {
		cvl_out_char(o, (char)('!' + n % 94));
		n /= 94;
	} while (n--);
}

/* VCD names end at whitespace. */
static void put_name(struct cvl_out *o, const char *s)
{
	for (; *s; s++)
		cvl_out_char(o, isgraph((unsigned char)*s) && *s != '$' ? *s : '_');
}

static int vcd_open(void *ctx, int64_t zero, struct cvl_error *err)
{
	struct vcd *v = ctx;
	const struct cvl_sync *sync = cvl_timeline_sync(v->tl);
	char text[CVL_TIME_TEXT];
	int rc = cvl_out_open(&v->out, v->path, err);

	if (rc)
		return rc;
	v->opened = true;
	cvl_time_text(text, (struct cvl_time){ zero });
	cvl_out_printf(&v->out,
		       "$version coeval " COEVAL_VERSION
		       " $end\n$comment timeline: %s%s; 0 here is %s s there $end\n",
		       sync ? "reference " : "not synchronised", sync ? sync->reference : "", text);
	cvl_out_text(&v->out, "$timescale 1 ns $end\n");
	return 0;
}

static void vcd_scope(void *ctx, const char *name)
{
	struct vcd *v = ctx;

	if (!name) {
		cvl_out_text(&v->out, "$upscope $end\n");
		return;
	}
	cvl_out_text(&v->out, "$scope module ");
	put_name(&v->out, name);
	cvl_out_text(&v->out, " $end\n");
}

static void vcd_var(void *ctx, enum waves_type type, unsigned id, const char *name)
{
	static const char *const types[] = { "wire 1", "real 64", "event 1" };
	struct vcd *v = ctx;

	cvl_out_printf(&v->out, "$var %s ", types[type]);
	put_id(&v->out, id);
	cvl_out_char(&v->out, ' ');
	put_name(&v->out, name);
	cvl_out_text(&v->out, " $end\n");
}

static void vcd_initial(void *ctx, bool end)
{
	struct vcd *v = ctx;

	cvl_out_text(&v->out, end ? "$end\n" : "$enddefinitions $end\n#0\n$dumpvars\n");
}

static void vcd_time(void *ctx, int64_t t)
{
	struct vcd *v = ctx;

	cvl_out_char(&v->out, '#');
	cvl_out_u64(&v->out, (uint64_t)t);
	cvl_out_char(&v->out, '\n');
}

static void vcd_bit(void *ctx, unsigned id, char level)
{
	struct vcd *v = ctx;

	cvl_out_char(&v->out, level);
	put_id(&v->out, id);
	cvl_out_char(&v->out, '\n');
}

static void vcd_real(void *ctx, unsigned id, double value)
{
	struct vcd *v = ctx;

	cvl_out_printf(&v->out, "r%.17g ", value);
	put_id(&v->out, id);
	cvl_out_char(&v->out, '\n');
}

static int vcd_event(void *ctx, unsigned id, const struct cvl_slice *slice, size_t i,
		     struct cvl_error *err)
{
	(void)slice, (void)i, (void)err;
	vcd_bit(ctx, id, '1');
	return 0;
}

static bool vcd_stopped(const void *ctx)
{
	const struct vcd *v = ctx;

	return v->out.error || v->out.closed;
}

static int export_vcd(struct cvl_timeline *tl, const char *path, struct cvl_error *err)
{
	static const struct waves_format format = {
		.open = vcd_open,
		.scope = vcd_scope,
		.var = vcd_var,
		.initial = vcd_initial,
		.time = vcd_time,
		.bit = vcd_bit,
		.real = vcd_real,
		.event = vcd_event,
		.stopped = vcd_stopped,
		.kinds = 1 << CVL_BEACON,
	};
	struct vcd *v = calloc(1, sizeof(*v));
	int rc;

	if (!v)
		return cvl_no_memory(err);
	v->tl = tl;
	v->path = path;
	rc = waves_write(&format, v, tl, err);
	if (v->opened)
		rc = rc ? (cvl_out_close(&v->out, NULL), rc) : cvl_out_close(&v->out, err);
	free(v);
	return rc;
}

const struct cvl_exporter cvl_export_vcd = {
	.name = "vcd",
	.what = "Value Change Dump, for GTKWave and Surfer",
	.suffix = ".vcd",
	.write = export_vcd,
};
