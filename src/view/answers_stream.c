/* SPDX-License-Identifier: MIT */
#include "view/answers_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/fields.h>

#include "core/out_keep.h"
#include "lod/blocks.h"
#include "store/stored.h"

/* Of one answer, at most; what is more is asked for by a coarser level. */
#define CELLS_MAX 65536
#define RECORDS_MAX 50000

/* ---- cells ---- */

struct cells {
	struct cvl_out *o;
	uint64_t next, n;
	size_t channels;
	unsigned char *bytes; /* room for one */
	size_t room;
};

static int put_cell(void *ctx, const struct cvl_lod_cell *cell)
{
	struct cells *c = ctx;
	const size_t need = lod_cell_room(cell);

	if (c->n++ >= CELLS_MAX)
		return CVL_E_LIMIT;
	if (need > c->room) {
		unsigned char *grown = realloc(c->bytes, need);

		if (!grown)
			return CVL_E_NOMEM;
		c->bytes = grown;
		c->room = need;
	}
	cvl_out_bytes(c->o, (const char *)c->bytes,
		      (size_t)(lod_cell_put(c->bytes, cell, cell->bucket - c->next, c->channels) -
			       c->bytes));
	c->next = cell->bucket;
	return 0;
}

/* What holds at the begin, which is known last, comes before the cells. */
static int put_range(const struct model_stream *s, unsigned level, uint64_t from, uint64_t to,
		     uint64_t base, struct cvl_out *o, struct cvl_out *body, struct cvl_error *err)
{
	struct cells c = { .o = body, .next = from };
	struct cvl_lod_begin begin;
	unsigned char head[40], *w = head;
	int rc;

	for (uint32_t i = 0; i < cvl_lod_tracks(s->lod); i++)
		c.channels += cvl_lod_track(s->lod, i).of == CVL_LOD_CHANNEL;
	rc = cvl_lod_read(s->lod, level, from, to, &begin, put_cell, &c, err);
	free(c.bytes);
	if (rc)
		return rc == CVL_E_LIMIT ? ask_bad("to", err) : rc;
	w = lod_number_put(w, begin.levels.now);
	w = lod_number_put(w, begin.levels.known);
	w = lod_number_put(w, begin.gap_until > base ? begin.gap_until - base : 0);
	cvl_out_bytes(o, (const char *)head, (size_t)(w - head));
	out_join(o, body);
	return o->error || body->error ? cvl_no_memory(err) : 0;
}

int put_cells(struct model *m, const struct view_query *q, struct cvl_out *o, struct cvl_error *err)
{
	struct model_stream *s;
	struct cvl_out *body;
	uint64_t level, from, to, base;
	int rc = ask_stream(m, q, &s, err);

	rc = rc ? rc : ask_number(q, "level", 26, &level, err);
	rc = rc ? rc : ask_number(q, "from", UINT64_C(1) << 53, &from, err);
	rc = rc ? rc : ask_number(q, "to", UINT64_C(1) << 53, &to, err);
	if (rc)
		return rc;
	if (to < from)
		return ask_bad("to", err);
	body = malloc(sizeof(*body));
	if (!body)
		return cvl_no_memory(err);
	out_keep(body, false);
	base = model_base(m, s->clock);
	rc = put_range(s, (unsigned)level, from + (base >> 2 * level), to + (base >> 2 * level),
		       base, o, body, err);
	free(body->kept);
	free(body);
	return rc;
}

/* ---- records ---- */

static void put_record(const struct model *m, const struct model_stream *s, struct cvl_out *o,
		       struct cvl_stream *stream, const struct cvl_batch *b, size_t i,
		       uint64_t base)
{
	const struct cvl_slice slice = { .clock = s->clock, .batch = b, .begin = i, .end = i + 1 };
	const struct cvl_bound bound = cvl_timeline_bound_parts(m->tl, &slice, i);

	cvl_out_printf(o, "[%.0f,\"%s\",%" PRId64 ",%" PRId64,
		       (double)(int64_t)(b->tick[i].count - base),
		       b->flags[i] & CVL_STATE ? "state" : cvl_kind_name(b->kind[i]),
		       told_bound(cvl_bound_total(bound)), bound.capture);
	switch (b->kind[i]) {
	case CVL_EDGE:
		cvl_out_printf(o, ",%u,%u,%u,%u", (unsigned)b->value[i],
			       (unsigned)(b->value[i] >> 32), (unsigned)b->aux[i],
			       (unsigned)(b->aux[i] >> 32));
		break;
	case CVL_GAP:
		cvl_out_printf(o, ",\"%s\",%.0f,%.0f", cvl_gap_name(b->cls[i]),
			       b->aux[i] == CVL_TICK_UNKNOWN ? -1.0 :
							       (double)(int64_t)(b->aux[i] - base),
			       b->value[i] == CVL_LOST_UNKNOWN ? -1.0 : (double)b->value[i]);
		break;
	case CVL_EVENT:
	case CVL_BEGIN:
	case CVL_END: {
		struct cvl_out *text = malloc(sizeof(*text));
		bool good = text;

		cvl_out_printf(o, ",%u,", b->cls[i]);
		if (good) {
			out_keep(text, false);
			good = !cvl_fields_text(text, stream, b, i, NULL);
			cvl_out_drain(text);
		}
		if (good && !text->error)
			cvl_out_json(o, text->n_kept ? text->kept : "", text->n_kept);
		else
			cvl_out_text(o, "\"?\"");
		if (text)
			free(text->kept);
		free(text);
		break;
	}
	case CVL_SAMPLE: {
		double v;

		memcpy(&v, &b->value[i], sizeof(v));
		cvl_out_printf(o, ",%u,", b->cls[i]);
		if (v - v == 0)
			cvl_out_double(o, v);
		else
			cvl_out_text(o, "null");
		break;
	}
	default: cvl_out_printf(o, ",%u,%.0f", b->cls[i], (double)b->value[i]);
	}
	cvl_out_char(o, ']');
}

int put_records(struct model *m, const struct view_query *q, struct cvl_out *o,
		struct cvl_error *err)
{
	struct cvl_stream_opts opts;
	struct cvl_stream *stream;
	struct model_stream *s;
	struct cvl_batch b;
	struct cvl_levels levels = { 0 }, begin = { 0 };
	uint64_t from, to, base, n = 0;
	bool more = false;
	int rc = ask_stream(m, q, &s, err);

	rc = rc ? rc : ask_number(q, "from", UINT64_C(1) << 53, &from, err);
	rc = rc ? rc : ask_number(q, "to", UINT64_C(1) << 53, &to, err);
	if (rc)
		return rc;
	base = model_base(m, s->clock);
	opts = session_stream_opts(m->session, s->of, cvl_trace_stream_name(s->trace, s->number));
	opts.from.count = base + from;
	opts.to.count = base + to + 1;
	rc = cvl_stream_open(&stream, s->trace, s->number, &opts, err);
	if (rc)
		return rc;
	cvl_out_text(o, "{\"records\":[");
	while (!more && (rc = cvl_stream_next(stream, &b, err)) > 0)
		for (size_t i = 0; i < b.n && !more; i++) {
			if (b.kind[i] == CVL_EDGE && !(b.flags[i] & CVL_LATE))
				cvl_levels_take(&levels, &b, i);
			else if (b.kind[i] == CVL_GAP)
				levels.known = 0;
			if (b.tick[i].count < base + from)
				begin = levels;
			if (b.tick[i].count < base + from || b.tick[i].count > base + to)
				continue;
			put_element(o);
			put_record(m, s, o, stream, &b, i, base);
			more = ++n >= RECORDS_MAX;
		}
	cvl_out_printf(o, "],\"begin\":[%u,%u,%u,%u],\"more\":%s}", (unsigned)begin.now,
		       (unsigned)(begin.now >> 32), (unsigned)begin.known,
		       (unsigned)(begin.known >> 32), more ? "true" : "false");
	cvl_stream_close(stream);
	return rc < 0 ? rc : 0;
}
