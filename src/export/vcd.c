/* SPDX-License-Identifier: MIT */
/*
 * Value Change Dump (IEEE 1364-2005, clause 18): lines as wires, channels as reals, event classes
 * as events. A gap sets the lines of its clock to x until they are known again, and raises a wire
 * called gap.
 */
#include "export/exporters.h"
#include "timeline/survey.h"

#include <coeval/out.h>

#include <ctype.h>
#include <stdlib.h>

struct vcd_stream {
	unsigned line, channel, event, beacon, gap; /* first identifier of each kind */
	struct cvl_levels levels;
	bool in_gap;
	int64_t gap_until;
};

struct vcd {
	struct cvl_out out;
	struct cvl_timeline *tl;
	struct survey survey;
	struct vcd_stream *stream;
	unsigned next_id;
	unsigned gaps_open; /* with a known end */
	int64_t now;        /* last time written, from the file's zero */
	bool began;
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

static void put_var(struct vcd *v, const char *type, unsigned size, unsigned id, const char *name)
{
	cvl_out_printf(&v->out, "$var %s %u ", type, size);
	put_id(&v->out, id);
	cvl_out_char(&v->out, ' ');
	put_name(&v->out, name);
	cvl_out_text(&v->out, " $end\n");
}

static void put_stream_vars(struct vcd *v, size_t i)
{
	const struct survey_stream *st = &v->survey.stream[i];
	const struct cvl_trace *trace = cvl_timeline_trace(v->tl, i);
	struct vcd_stream *s = &v->stream[i];
	char buf[24];

	s->line = v->next_id;
	for (size_t l = 0; l < st->lines; l++)
		put_var(v, "wire", 1, v->next_id++, cvl_timeline_line(v->tl, i, l, buf));
	s->channel = v->next_id;
	for (size_t c = 0; c < st->channels; c++)
		put_var(v, "real", 64, v->next_id++, cvl_timeline_channel(v->tl, i, c, buf));
	s->event = v->next_id;
	for (size_t c = 0; c < cvl_trace_events(trace); c++)
		if (st->used[c])
			put_var(v, "event", 1, v->next_id + (unsigned)c,
				cvl_trace_event(trace, c)->name);
	v->next_id += (unsigned)cvl_trace_events(trace);
	s->beacon = v->next_id;
	if (st->has_kind[CVL_BEACON])
		put_var(v, "event", 1, v->next_id++, "beacon");
	s->gap = v->next_id;
	if (st->has_kind[CVL_GAP])
		put_var(v, "wire", 1, v->next_id++, "gap");
}

static void put_header(struct vcd *v, int64_t zero)
{
	struct cvl_session *session = cvl_timeline_session(v->tl);
	const struct cvl_sync *sync = cvl_timeline_sync(v->tl);
	char text[CVL_TIME_TEXT];

	cvl_time_text(text, (struct cvl_time){ zero });
	cvl_out_printf(&v->out,
		       "$version coeval " COEVAL_VERSION
		       " $end\n$comment timeline: %s%s; 0 here is %s s there $end\n",
		       sync ? "reference " : "not synchronised", sync ? sync->reference : "", text);
	cvl_out_text(&v->out, "$timescale 1 ns $end\n");
	for (size_t c = 0; c < cvl_session_clocks(session); c++) {
		bool open = false;

		for (size_t i = 0; i < v->survey.n; i++) {
			if (v->survey.stream[i].clock != (int)c)
				continue;
			if (!open) {
				cvl_out_text(&v->out, "$scope module ");
				put_name(&v->out, cvl_session_clock(session, c)->name);
				cvl_out_text(&v->out, " $end\n");
			}
			open = true;
			put_stream_vars(v, i);
		}
		if (open)
			cvl_out_text(&v->out, "$upscope $end\n");
	}
	cvl_out_text(&v->out, "$enddefinitions $end\n");
}

static char level_of(const struct cvl_levels *l, unsigned line)
{
	if (!(l->known >> line & 1))
		return 'x';
	return l->now >> line & 1 ? '1' : '0';
}

static void put_bit(struct vcd *v, char level, unsigned id)
{
	cvl_out_char(&v->out, level);
	put_id(&v->out, id);
	cvl_out_char(&v->out, '\n');
}

static void put_stamp(struct vcd *v, int64_t t)
{
	if (v->began && t <= v->now)
		return;
	v->began = true;
	v->now = t;
	cvl_out_char(&v->out, '#');
	cvl_out_u64(&v->out, (uint64_t)t);
	cvl_out_char(&v->out, '\n');
}

/* End gaps whose known end has been reached. */
static void end_gaps(struct vcd *v, int64_t t)
{
	for (;;) {
		struct vcd_stream *first = NULL;

		for (size_t i = 0; i < v->survey.n; i++)
			if (v->stream[i].in_gap && v->stream[i].gap_until <= t &&
			    (!first || v->stream[i].gap_until < first->gap_until))
				first = &v->stream[i];
		if (!first)
			return;
		put_stamp(v, first->gap_until);
		put_bit(v, '0', first->gap);
		first->in_gap = false;
		v->gaps_open--;
	}
}

static void put_dumpvars(struct vcd *v)
{
	put_stamp(v, 0);
	cvl_out_text(&v->out, "$dumpvars\n");
	for (size_t i = 0; i < v->survey.n; i++) {
		const struct survey_stream *st = &v->survey.stream[i];
		struct vcd_stream *s = &v->stream[i];

		if (st->clock < 0)
			continue;
		s->levels = (struct cvl_levels){ st->levels, st->has_levels ? ~st->unknown : 0 };
		for (unsigned l = 0; l < st->lines; l++)
			put_bit(v, level_of(&s->levels, l), s->line + l);
		if (st->has_kind[CVL_GAP])
			put_bit(v, '0', s->gap);
	}
	cvl_out_text(&v->out, "$end\n");
}

static void put_edge(struct vcd *v, const struct cvl_slice *sl, size_t i, int64_t t)
{
	struct vcd_stream *s = &v->stream[sl->stream];
	uint64_t known = s->levels.known, changed = cvl_levels_take(&s->levels, sl->batch, i);
	size_t lines = v->survey.stream[sl->stream].lines;

	changed |= known ^ s->levels.known;
	if (lines < 64)
		changed &= ((uint64_t)1 << lines) - 1;
	if (changed)
		put_stamp(v, t);
	for (; changed; changed &= changed - 1) {
		unsigned l = (unsigned)__builtin_ctzll(changed);

		put_bit(v, level_of(&s->levels, l), s->line + l);
	}
}

static void put_gap(struct vcd *v, const struct cvl_slice *sl, size_t i, int64_t t, int64_t zero)
{
	struct vcd_stream *s = &v->stream[sl->stream];
	uint64_t to = sl->batch->aux[i];

	put_stamp(v, t);
	for (unsigned l = 0; l < v->survey.stream[sl->stream].lines; l++)
		put_bit(v, 'x', s->line + l);
	s->levels.known = 0;
	put_bit(v, '1', s->gap);
	v->gaps_open += !s->in_gap;
	s->in_gap = true;
	s->gap_until = INT64_MAX;
	if (to != CVL_TICK_UNKNOWN)
		s->gap_until = cvl_map_time(cvl_timeline_map(v->tl, sl->clock),
					    (struct cvl_tick){ to }, NULL)
				       .ns -
			       zero;
}

static void put_record(struct vcd *v, const struct cvl_slice *sl, size_t i, int64_t zero)
{
	const struct cvl_batch *b = sl->batch;
	struct vcd_stream *s = &v->stream[sl->stream];
	int64_t t = sl->time[i].ns - zero;

	if (v->gaps_open)
		end_gaps(v, t);
	switch ((enum cvl_kind)b->kind[i]) {
	case CVL_EDGE: put_edge(v, sl, i, t); return;
	case CVL_GAP: put_gap(v, sl, i, t, zero); return;
	case CVL_SAMPLE:
		if (b->cls[i] >= v->survey.stream[sl->stream].channels)
			return;
		put_stamp(v, t);
		cvl_out_printf(&v->out, "r%.17g ", cvl_sample(b->value[i]));
		put_id(&v->out, s->channel + b->cls[i]);
		cvl_out_char(&v->out, '\n');
		return;
	case CVL_BEACON:
		put_stamp(v, t);
		put_bit(v, '1', s->beacon);
		return;
	case CVL_PULSE:
	case CVL_MESSAGE:
	case CVL_SLIP: return;
	default: put_stamp(v, t); put_bit(v, '1', s->event + b->cls[i]);
	}
}

static int export_vcd(struct cvl_timeline *tl, const char *path, struct cvl_error *err)
{
	struct vcd *v = calloc(1, sizeof(*v));
	struct cvl_block block;
	struct cvl_slice slice;
	int64_t zero;
	int rc;

	if (!v)
		return cvl_no_memory(err);
	v->tl = tl;
	rc = survey_run(&v->survey, tl, err);
	if (rc)
		goto out;
	v->stream = calloc(v->survey.n + 1, sizeof(*v->stream));
	rc = v->stream ? cvl_out_open(&v->out, path, err) : cvl_no_memory(err);
	if (rc)
		goto out;
	/* VCD knows no time before 0 */
	zero = v->survey.any && v->survey.first.ns < 0 ? v->survey.first.ns : 0;
	put_header(v, zero);
	put_dumpvars(v);
	while (!v->out.error && !v->out.closed && (rc = cvl_timeline_next(tl, &block, err)) > 0)
		while (cvl_block_take(&block, &slice))
			for (size_t i = slice.begin; i < slice.end; i++)
				put_record(v, &slice, i, zero);
	if (v->gaps_open)
		end_gaps(v, INT64_MAX - 1);
	rc = rc < 0 ? (cvl_out_close(&v->out, NULL), rc) : cvl_out_close(&v->out, err);
out:
	free(v->stream);
	survey_free(&v->survey);
	free(v);
	return rc;
}

const struct cvl_exporter cvl_export_vcd = {
	.name = "vcd",
	.what = "Value Change Dump, for GTKWave and Surfer",
	.suffix = ".vcd",
	.write = export_vcd,
};
