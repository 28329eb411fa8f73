/* SPDX-License-Identifier: MIT */
/*
 * One row per change: time_s,bound_ns,clock,kind,name,value,detail. The bound is empty if unknown.
 * Quoting follows RFC 4180.
 */
#include "export/exporters.h"
#include <coeval/fields.h>

#include <coeval/out.h>

#include <math.h>
#include <stdlib.h>

struct csv {
	struct cvl_out out, detail;
	struct cvl_timeline *tl;
	struct cvl_levels *levels; /* one per stream */
};

static void lead(struct csv *c, const struct cvl_slice *sl, size_t i, const char *kind,
		 const char *name)
{
	const char *clock = cvl_session_clock(cvl_timeline_session(c->tl), sl->clock)->name;
	int64_t bound = cvl_timeline_bound(c->tl, sl, i);

	cvl_out_time(&c->out, sl->time[i], 0);
	cvl_out_char(&c->out, ',');
	if (bound != CVL_BOUND_UNKNOWN)
		cvl_out_i64(&c->out, bound);
	cvl_out_char(&c->out, ',');
	cvl_out_csv(&c->out, clock, strlen(clock));
	cvl_out_char(&c->out, ',');
	cvl_out_text(&c->out, kind);
	cvl_out_char(&c->out, ',');
	cvl_out_csv(&c->out, name, strlen(name));
	cvl_out_char(&c->out, ',');
}

static void put_edge(struct csv *c, const struct cvl_slice *sl, size_t i)
{
	struct cvl_levels *levels = &c->levels[sl->stream];
	uint64_t known = levels->known, changed = cvl_levels_take(levels, sl->batch, i);
	uint64_t stated = known ^ levels->known; /* and no edge */
	bool first = !known;
	size_t n = (size_t)cvl_trace_env_number(cvl_timeline_trace(c->tl, sl->stream), "lines");
	char buf[24];

	for (size_t l = 0; l < n && l < CVL_LINES_MAX; l++) {
		if (!first && !((changed | stated) >> l & 1))
			continue;
		lead(c, sl, i, changed >> l & 1 ? "edge" : "level",
		     cvl_timeline_line(c->tl, sl->stream, l, buf));
		if (levels->known >> l & 1)
			cvl_out_char(&c->out, levels->now >> l & 1 ? '1' : '0');
		cvl_out_text(&c->out, ",\n");
	}
}

static void put_gap(struct csv *c, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	struct cvl_time until;

	lead(c, sl, i, "gap", cvl_gap_name((enum cvl_gap)b->cls[i]));
	if (b->value[i] != CVL_LOST_UNKNOWN)
		cvl_out_u64(&c->out, b->value[i]);
	cvl_out_text(&c->out, ",until ");
	if (b->aux[i] == CVL_TICK_UNKNOWN) {
		cvl_out_text(&c->out, "unknown");
	} else {
		until = cvl_map_time(cvl_timeline_map(c->tl, sl->clock),
				     (struct cvl_tick){ b->aux[i] }, NULL);
		cvl_out_time(&c->out, until, 0);
	}
	cvl_out_char(&c->out, '\n');
	c->levels[sl->stream].known = 0; /* the lines may have changed meanwhile */
}

static int put_event(struct csv *c, const struct cvl_slice *sl, size_t i, struct cvl_error *err)
{
	struct cvl_stream *stream = cvl_timeline_stream(c->tl, sl->stream);
	int rc;

	lead(c, sl, i, cvl_kind_name((enum cvl_kind)sl->batch->kind[i]),
	     cvl_stream_class(stream, sl->batch, i)->name);
	cvl_out_char(&c->out, ',');
	cvl_out_init(&c->detail, -1, "");
	rc = cvl_fields_text(&c->detail, stream, sl->batch, i, err);
	if (c->detail.error) /* it did not fit in the buffer */
		cvl_out_text(&c->out, "(fields longer than 64 KiB are left out)");
	else
		cvl_out_csv(&c->out, c->detail.buf, c->detail.n);
	cvl_out_char(&c->out, '\n');
	return rc;
}

static int put_record(struct csv *c, const struct cvl_slice *sl, size_t i, struct cvl_error *err)
{
	const struct cvl_batch *b = sl->batch;
	char buf[24];

	switch ((enum cvl_kind)b->kind[i]) {
	case CVL_EDGE: put_edge(c, sl, i); return 0;
	case CVL_GAP: put_gap(c, sl, i); return 0;
	case CVL_SAMPLE:
		lead(c, sl, i, "sample", cvl_timeline_channel(c->tl, sl->stream, b->cls[i], buf));
		if (!isnan(cvl_sample(b->value[i])))
			cvl_out_double(&c->out, cvl_sample(b->value[i]));
		cvl_out_text(&c->out, ",\n");
		return 0;
	case CVL_BEACON:
		lead(c, sl, i, "beacon", "beacon");
		cvl_out_printf(&c->out, "%llu,sender %u\n", (unsigned long long)b->value[i],
			       b->cls[i]);
		return 0;
	case CVL_PULSE:
		lead(c, sl, i, "pulse", "pulse");
		cvl_out_printf(&c->out, "%u,\n", b->cls[i]);
		return 0;
	case CVL_MESSAGE:
		lead(c, sl, i, "message", b->cls[i] ? "received" : "sent");
		cvl_out_printf(&c->out, "%llu,\n", (unsigned long long)b->value[i]);
		return 0;
	case CVL_SLIP:
		lead(c, sl, i, "slip", "slip");
		cvl_out_printf(&c->out, "%llu,half-width in ticks\n",
			       (unsigned long long)b->value[i]);
		return 0;
	default: return put_event(c, sl, i, err);
	}
}

static int export_csv(struct cvl_timeline *tl, const char *path, struct cvl_error *err)
{
	struct csv *c = calloc(1, sizeof(*c));
	size_t n = cvl_timeline_streams(tl);
	struct cvl_block block;
	struct cvl_slice slice;
	int rc;

	if (c) {
		c->tl = tl;
		c->levels = calloc(n + 1, sizeof(*c->levels));
	}
	if (!c || !c->levels)
		rc = cvl_no_memory(err);
	else
		rc = cvl_out_open(&c->out, path, err);
	if (rc)
		goto out;
	cvl_out_text(&c->out, "time_s,bound_ns,clock,kind,name,value,detail\n");
	while (!c->out.error && !c->out.closed && (rc = cvl_timeline_next(tl, &block, err)) > 0)
		while (rc >= 0 && cvl_block_take(&block, &slice))
			for (size_t i = slice.begin; i < slice.end && rc >= 0; i++)
				rc = put_record(c, &slice, i, err);
	rc = rc < 0 ? (cvl_out_close(&c->out, NULL), rc) : cvl_out_close(&c->out, err);
out:
	if (c)
		free(c->levels);
	free(c);
	return rc;
}

const struct cvl_exporter cvl_export_csv = {
	.name = "csv",
	.what = "one row per change, for spreadsheets and scripts",
	.suffix = ".csv",
	.write = export_csv,
};
