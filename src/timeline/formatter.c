/* SPDX-License-Identifier: MIT */
/* Records as text and as JSON. */
#include "timeline/formatter.h"

#include <coeval/select.h>

#include "core/jobs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* More threads would wait for the one that merges. */
#define USEFUL 8

/* ---- begin and end ---- */

static void forget_class(struct record_class *c)
{
	free(c->lead);
	template_free(c->fields);
	*c = (struct record_class){ 0 };
}

/* Classes belong to a timeline; the last levels of lines are kept. */
static void drop_classes(struct cvl_formatter *f)
{
	for (size_t i = 0; i < f->n_streams; i++) {
		struct stream *st = &f->stream[i];

		for (size_t k = 0; k < st->n_classes && !st->shared; k++)
			forget_class(&st->class[k]);
		if (!st->shared)
			free(st->class);
		st->class = NULL;
		st->n_classes = 0;
	}
}

int cvl_formatter_begin(struct cvl_formatter *f, struct cvl_timeline *tl,
			struct cvl_selection *selection, struct cvl_error *err)
{
	const size_t clocks = cvl_session_clocks(cvl_timeline_session(tl));
	size_t n = cvl_timeline_streams(tl);

	for (size_t i = 0; i < f->n_parts; i++) {
		int rc = cvl_formatter_begin(f->part[i].f, tl, selection, err);

		if (rc)
			return rc;
	}
	drop_classes(f);
	f->tl = tl;
	f->selection = selection;
	f->edges = false;
	free(f->cursor);
	f->cursor = calloc(clocks + 1, sizeof(*f->cursor));
	if (!f->cursor)
		return cvl_no_memory(err);
	f->epoch = cvl_session_epoch(cvl_timeline_session(tl));
	if (n > f->n_streams) {
		struct stream *grown = reallocarray(f->stream, n, sizeof(*grown));

		if (!grown)
			return cvl_no_memory(err);
		memset(grown + f->n_streams, 0, (n - f->n_streams) * sizeof(*grown));
		f->stream = grown;
		f->n_streams = n;
	}
	for (size_t i = 0; i < n; i++) {
		const struct cvl_trace *trace = cvl_timeline_trace(tl, i);
		struct stream *st = &f->stream[i];

		st->cache.packet = UINT64_MAX;
		f->edges = f->edges || cvl_timeline_lines(tl, i);
		st->shared =
			i && trace == cvl_timeline_trace(tl, i - 1) && cvl_trace_clocks(trace) < 2;
		st->n_classes = cvl_trace_events(trace) + CVL_KINDS + 1;
		st->class = st->shared ? st[-1].class : calloc(st->n_classes, sizeof(*st->class));
		if (!st->class)
			return cvl_no_memory(err);
	}
	return 0;
}

int cvl_formatter_open(struct cvl_formatter **out, const struct cvl_format *format,
		       struct cvl_error *err)
{
	struct cvl_formatter *f = *out = calloc(1, sizeof(*f));

	if (!f)
		return cvl_no_memory(err);
	f->format = *format;
	if (!f->format.jobs) {
		const unsigned processors = jobs_processors();

		f->format.jobs = processors < USEFUL ? processors : USEFUL;
	}
	return 0;
}

void cvl_formatter_close(struct cvl_formatter *f)
{
	if (!f)
		return;
	formatter_close_parts(f);
	drop_classes(f);
	free(f->stream);
	free(f->cursor);
	free(f);
}

/* ---- the current record ---- */

/* Make record @i the current one. False if it is nothing new. */
static bool take(struct cvl_formatter *f, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	struct cvl_levels *l = &f->stream[sl->stream].levels, before = *l;
	bool state = b->flags[i] & CVL_STATE;

	f->sl = sl;
	f->i = i;
	if (b->kind[i] != CVL_EDGE)
		return true;
	/* lines that changed, or became known or unknown; all, if nothing was known */
	f->lines = cvl_levels_take(l, b, i) | (before.known ^ l->known);
	if (state || !before.known)
		f->lines = UINT64_MAX;
	return !state || before.known != l->known || before.now != b->value[i];
}

static bool selected(const struct cvl_formatter *f, const struct cvl_slice *sl, size_t i)
{
	struct cvl_match m;

	return !f->selection || (cvl_select_match(f->selection, sl, i, &m) &&
				 m.happened | m.ended | (m.found & m.in));
}

static void json_name(struct cvl_out *o, const char *key, const char *name)
{
	cvl_out_text(o, key);
	cvl_out_json(o, name, strlen(name));
}

/* `node name: `, or members from "node" to "name". */
static int make_lead(struct cvl_formatter *f, struct record_class *c, bool json)
{
	const struct cvl_clock *clock =
		cvl_session_clock(cvl_timeline_session(f->tl), f->sl->clock);
	const char *name = cvl_record_name(f->tl, f->sl, f->i);
	struct cvl_out *o = &f->made;

	cvl_out_init(o, -1, "");
	if (json) {
		json_name(o, ",\"node\":", clock->node);
		json_name(o, ",\"clock\":", clock->clock);
		if (clock->epoch > 1) {
			cvl_out_text(o, ",\"epoch\":");
			cvl_out_u64(o, clock->epoch);
		}
		cvl_out_text(o, ",\"kind\":\"");
		cvl_out_text(o, cvl_kind_name((enum cvl_kind)f->sl->batch->kind[f->i]));
		json_name(o, "\",\"name\":", name);
	} else {
		cvl_out_name(o, clock->node);
		cvl_out_char(o, ' ');
		cvl_out_name(o, name);
		cvl_out_text(o, ": ");
	}
	c->lead = calloc(1, o->n + CVL_OUT_SLACK);
	if (!c->lead)
		return CVL_E_NOMEM;
	memcpy(c->lead, o->buf, o->n);
	c->n = o->n;
	c->json = json;
	return 0;
}

/* Of the current record. NULL when out of memory. */
static const struct record_class *class_of(struct cvl_formatter *f, bool json)
{
	const struct cvl_batch *b = f->sl->batch;
	struct stream *st = &f->stream[f->sl->stream];
	const size_t classes = st->n_classes - CVL_KINDS - 1;
	const uint8_t kind = b->kind[f->i];
	const bool fields = kind == CVL_EVENT || kind == CVL_BEGIN || kind == CVL_END;
	const size_t at = fields                                         ? b->cls[f->i] :
			  kind == CVL_EDGE && b->flags[f->i] & CVL_STATE ? classes + CVL_KINDS :
									   classes + kind;
	struct record_class *c = &st->class[at];

	if (c->lead && c->json == json)
		return c;
	forget_class(c);
	if (make_lead(f, c, json) ||
	    (fields &&
	     template_new(&c->fields, cvl_timeline_trace(f->tl, f->sl->stream), at, json)))
		return NULL;
	return c;
}

/* ---- text ---- */

static void levels_text(struct cvl_formatter *f, struct cvl_out *o)
{
	const struct cvl_batch *b = f->sl->batch;
	size_t n = cvl_timeline_lines(f->tl, f->sl->stream);
	bool first = true;
	char buf[24];

	cvl_out_char(o, '{');
	for (size_t l = 0; l < n; l++) {
		if (!(f->lines >> l & 1))
			continue;
		cvl_out_text(o, first ? " " : ", ");
		cvl_out_name(o, cvl_timeline_line(f->tl, f->sl->stream, l, buf));
		cvl_out_text(o, b->aux[f->i] >> l & 1   ? " = x" :
				b->value[f->i] >> l & 1 ? " = 1" :
							  " = 0");
		first = false;
	}
	cvl_out_text(o, " }");
}

static void gap_text(struct cvl_formatter *f, struct cvl_out *o)
{
	const struct cvl_batch *b = f->sl->batch;
	char text[CVL_TIME_TEXT];

	cvl_out_text(o, "{ why = ");
	cvl_out_text(o, cvl_gap_name((enum cvl_gap)b->cls[f->i]));
	cvl_out_text(o, ", lost = ");
	if (b->value[f->i] == CVL_LOST_UNKNOWN)
		cvl_out_text(o, "unknown");
	else
		cvl_out_u64(o, b->value[f->i]);
	cvl_out_text(o, ", until = ");
	if (b->aux[f->i] == CVL_TICK_UNKNOWN) {
		cvl_out_text(o, "unknown");
	} else {
		cvl_time_text(text, cvl_map_time(cvl_timeline_map(f->tl, f->sl->clock),
						 (struct cvl_tick){ b->aux[f->i] }, NULL));
		cvl_out_text(o, text);
	}
	cvl_out_text(o, " }");
}

/* `node name: { fields }` */
static int record_text(struct cvl_formatter *f, struct cvl_out *o, struct cvl_error *err)
{
	const struct cvl_batch *b = f->sl->batch;
	const struct record_class *class = class_of(f, false);
	const size_t i = f->i, stream = f->sl->stream;
	char buf[24];
	int rc = 0;

	if (!class)
		return cvl_no_memory(err);
	cvl_out_slack(o, class->lead, class->n);
	switch ((enum cvl_kind)b->kind[i]) {
	case CVL_EDGE: levels_text(f, o); break;
	case CVL_SAMPLE:
		cvl_out_text(o, "{ ");
		cvl_out_name(o, cvl_timeline_channel(f->tl, stream, b->cls[i], buf));
		cvl_out_text(o, " = ");
		cvl_out_double(o, cvl_sample(b->value[i]));
		cvl_out_text(o, " }");
		break;
	case CVL_BEACON:
		cvl_out_printf(o, "{ sender = %u, seq = %llu }", b->cls[i],
			       (unsigned long long)b->value[i]);
		break;
	case CVL_PULSE: cvl_out_printf(o, "{ channel = %u }", b->cls[i]); break;
	case CVL_MESSAGE:
		cvl_out_printf(o, "{ direction = %s, key = %llu }", b->cls[i] ? "received" : "sent",
			       (unsigned long long)b->value[i]);
		break;
	case CVL_GAP: gap_text(f, o); break;
	case CVL_SLIP:
		cvl_out_printf(o, "{ from_tick = %llu, half_width = %llu }",
			       (unsigned long long)b->aux[i], (unsigned long long)b->value[i]);
		break;
	default:
		rc = fields_put(o, false, cvl_timeline_stream(f->tl, stream), b, i,
				&f->stream[stream].cache, class->fields, err);
	}
	if (b->flags[i] & CVL_LATE)
		cvl_out_text(o, "  (out of order)");
	return rc;
}

/* Date and time of day, with @between in the middle. */
static void put_utc(struct cvl_formatter *f, struct cvl_out *o, char between)
{
	int64_t ns = cvl_add_sat(f->sl->time[f->i].ns, f->epoch), seconds = ns / 1000000000,
		part = ns % 1000000000, day;

	if (part < 0) {
		part += 1000000000;
		seconds--;
	}
	day = seconds / 86400 - (seconds % 86400 < 0);
	if (day != f->day_number || !f->day[0]) {
		time_t at = (time_t)(day * 86400);
		struct tm tm;

		f->day_number = day;
		strftime(f->day, sizeof(f->day), "%Y-%m-%d", gmtime_r(&at, &tm));
	}
	seconds -= day * 86400;
	cvl_out_printf(o, "%s%c%02d:%02d:%02d.%09lld", f->day, between, (int)(seconds / 3600),
		       (int)(seconds / 60 % 60), (int)(seconds % 60), (long long)part);
}

/* ---- JSON ---- */

static void number_or_null(struct cvl_out *o, const char *key, uint64_t v, bool known)
{
	cvl_out_text(o, key);
	if (known)
		cvl_out_u64(o, v);
	else
		cvl_out_text(o, "null");
}

static void edge_json(struct cvl_formatter *f, struct cvl_out *o)
{
	const struct cvl_batch *b = f->sl->batch;
	size_t n = cvl_timeline_lines(f->tl, f->sl->stream);
	const char *between = "";
	char buf[24];

	cvl_out_text(o, ",\"lines\":{");
	for (size_t l = 0; l < n; l++) {
		if (!(f->lines >> l & 1))
			continue;
		json_name(o, between, cvl_timeline_line(f->tl, f->sl->stream, l, buf));
		cvl_out_text(o, b->aux[f->i] >> l & 1   ? ":null" :
				b->value[f->i] >> l & 1 ? ":1" :
							  ":0");
		between = ",";
	}
	cvl_out_char(o, '}');
}

/* Values that depend on the kind of record. */
static int own_json(struct cvl_formatter *f, struct cvl_out *o, const struct record_class *class,
		    struct cvl_error *err)
{
	const struct cvl_batch *b = f->sl->batch;
	const size_t i = f->i, stream = f->sl->stream;
	double sample;
	char buf[24];

	switch ((enum cvl_kind)b->kind[i]) {
	case CVL_EDGE: edge_json(f, o); break;
	case CVL_SAMPLE:
		sample = cvl_sample(b->value[i]);
		json_name(o, ",\"channel\":", cvl_timeline_channel(f->tl, stream, b->cls[i], buf));
		cvl_out_text(o, ",\"value\":");
		if (sample - sample != 0) /* JSON has neither infinity nor NaN */
			cvl_out_text(o, "null");
		else
			cvl_out_double(o, sample);
		break;
	case CVL_BEACON:
		cvl_out_printf(o, ",\"sender\":%u,\"seq\":%llu", b->cls[i],
			       (unsigned long long)b->value[i]);
		break;
	case CVL_PULSE: cvl_out_printf(o, ",\"channel\":%u", b->cls[i]); break;
	case CVL_MESSAGE:
		cvl_out_printf(o, ",\"direction\":\"%s\",\"key\":%llu",
			       b->cls[i] ? "received" : "sent", (unsigned long long)b->value[i]);
		break;
	case CVL_GAP:
		cvl_out_printf(o, ",\"why\":\"%s\"", cvl_gap_name((enum cvl_gap)b->cls[i]));
		number_or_null(o, ",\"lost\":", b->value[i], b->value[i] != CVL_LOST_UNKNOWN);
		number_or_null(o, ",\"to_tick\":", b->aux[i], b->aux[i] != CVL_TICK_UNKNOWN);
		break;
	case CVL_SLIP:
		cvl_out_printf(o, ",\"from_tick\":%llu,\"half_width_ticks\":%llu",
			       (unsigned long long)b->aux[i], (unsigned long long)b->value[i]);
		break;
	default:
		cvl_out_text(o, ",\"fields\":");
		return fields_put(o, true, cvl_timeline_stream(f->tl, stream), b, i,
				  &f->stream[stream].cache, class->fields, err);
	}
	return 0;
}

static int record_json(struct cvl_formatter *f, struct cvl_out *o, struct cvl_error *err)
{
	const struct cvl_slice *sl = f->sl;
	const struct record_class *class = class_of(f, true);
	const bool utc = f->format.utc;
	int64_t bound = timeline_bound(f->tl, &f->cursor[sl->clock], sl, f->i);
	int rc;

	if (!class)
		return cvl_no_memory(err);
	cvl_out_text(o, "{\"t_ns\":");
	cvl_out_i64(o, utc ? cvl_add_sat(sl->time[f->i].ns, f->epoch) : sl->time[f->i].ns);
	if (utc) {
		cvl_out_text(o, ",\"utc\":\"");
		put_utc(f, o, 'T');
		cvl_out_text(o, "Z\"");
	}
	number_or_null(o, ",\"bound_ns\":", (uint64_t)bound, bound != CVL_BOUND_UNKNOWN);
	cvl_out_text(o, ",\"bound\":\"");
	cvl_out_text(o, cvl_bound_kind_name(cvl_timeline_bound_kind(f->tl, sl->clock)));
	cvl_out_text(o, "\",\"tick\":");
	cvl_out_u64(o, sl->batch->tick[f->i].count);
	cvl_out_slack(o, class->lead, class->n);
	if (sl->batch->flags[f->i] & CVL_LATE)
		cvl_out_text(o, ",\"late\":true");
	rc = own_json(f, o, class, err);
	cvl_out_char(o, '}');
	return rc;
}

/* ---- lines ---- */

static int line_text(struct cvl_formatter *f, struct cvl_out *o, struct cvl_error *err)
{
	const struct cvl_slice *sl = f->sl;
	char text[CVL_TIME_TEXT];

	cvl_out_char(o, '[');
	if (f->format.ticks)
		cvl_out_u64(o, sl->batch->tick[f->i].count);
	else if (f->format.utc)
		put_utc(f, o, ' ');
	else
		cvl_out_time(o, sl->time[f->i], 15);
	if (f->format.bounds) {
		size_t n = cvl_bound_text(text,
					  timeline_bound(f->tl, &f->cursor[sl->clock], sl, f->i));

		cvl_out_text(o, " +-");
		for (; n < 8; n++)
			cvl_out_char(o, ' ');
		cvl_out_text(o, text);
	}
	cvl_out_text(o, "] ");
	return record_text(f, o, err);
}

int formatter_write(struct cvl_formatter *f, struct cvl_out *o, const struct cvl_slice *sl,
		    struct cvl_error *err)
{
	int rc = 0;

	for (size_t i = sl->begin; i < sl->end && !rc; i++) {
		const bool news = take(f, sl, i);

		if (!selected(f, sl, i) || !news)
			continue;
		rc = f->format.json ? record_json(f, o, err) : line_text(f, o, err);
		cvl_out_char(o, '\n');
	}
	return rc;
}

void formatter_pass(struct cvl_formatter *f, const struct cvl_slice *sl)
{
	for (size_t i = sl->begin; i < sl->end; i++)
		if (sl->batch->kind[i] == CVL_EDGE)
			cvl_levels_take(&f->stream[sl->stream].levels, sl->batch, i);
}
