/* SPDX-License-Identifier: MIT */
#include "show.h"

#include <coeval/out.h>
#include "timeline/fields.h"
#include "timeline/survey.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What is the same for all records of a class, worked out once. */
struct lead {
	char *text; /* what stands between time and fields: "] node name: "; NULL until it is needed */
	size_t n;
	const char *name;
	bool wanted; /* by --event */
};

/* One a stream. */
struct shown {
	struct fields_cache packet;
	struct cvl_levels levels; /* last seen */
	struct lead
		*lead; /* of the event classes, then of the other kinds, then of restated levels */
	size_t n_leads;
};

struct show {
	struct cvl_out out;
	struct cvl_timeline *tl;
	struct show_style style;
	int64_t epoch;
	struct shown *stream;
	size_t n_streams;
	char day[16]; /* date of the last absolute time */
	int64_t day_number;
};

/* ---- what a record is ---- */

/* NULL when out of memory. */
static const struct lead *lead_of(struct show *s, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	const struct cvl_event_class *class;
	struct shown *st = &s->stream[sl->stream];
	size_t classes = st->n_leads - CVL_KINDS - 1, at = classes + b->kind[i];
	struct lead *lead;
	const char *node;

	if (b->kind[i] == CVL_EVENT || b->kind[i] == CVL_BEGIN || b->kind[i] == CVL_END)
		at = b->cls[i];
	else if (b->kind[i] == CVL_EDGE && b->flags[i] & CVL_STATE)
		at = classes + CVL_KINDS;
	lead = &st->lead[at];
	if (lead->text)
		return lead;
	class = cvl_stream_class(cvl_timeline_stream(s->tl, sl->stream), b, i);
	lead->name = class                     ? class->name :
		     at == classes + CVL_KINDS ? "levels" :
						 cvl_kind_name((enum cvl_kind)b->kind[i]);
	lead->wanted = !s->style.event || !fnmatch(s->style.event, lead->name, 0);
	node = cvl_session_clock(cvl_timeline_session(s->tl), sl->clock)->node;
	lead->text = calloc(1, 4 * (strlen(node) + strlen(lead->name)) + 6 + CVL_OUT_SLACK);
	if (!lead->text)
		return NULL;
	strcpy(lead->text, "] ");
	cvl_text_name(lead->text + 2, node);
	strcat(lead->text, " ");
	cvl_text_name(lead->text + strlen(lead->text), lead->name);
	strcat(lead->text, ": ");
	lead->n = strlen(lead->text);
	return lead;
}

static size_t lines_of(const struct show *s, size_t stream)
{
	uint64_t n = cvl_trace_env_number(cvl_timeline_trace(s->tl, stream), "lines");

	return n > CVL_LINES_MAX ? CVL_LINES_MAX : (size_t)n;
}

/* Lines that an EDGE is shown with: those that changed, or became known or unknown; where nothing was known, all. */
static uint64_t shown_lines(const struct show *s, const struct cvl_slice *sl, size_t i)
{
	struct cvl_levels l = s->stream[sl->stream].levels;
	uint64_t known = l.known, changed = cvl_levels_take(&l, sl->batch, i);

	if (sl->batch->flags[i] & CVL_STATE || !known)
		return UINT64_MAX;
	return changed | (known ^ l.known);
}

/* ---- text ---- */

static void put_levels_text(struct show *s, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	uint64_t changed = shown_lines(s, sl, i);
	size_t n = lines_of(s, sl->stream);
	bool first = true;
	char buf[24];

	cvl_out_char(&s->out, '{');
	for (size_t l = 0; l < n; l++) {
		if (!(changed >> l & 1))
			continue;
		cvl_out_text(&s->out, first ? " " : ", ");
		cvl_out_name(&s->out, survey_line(s->tl, sl->stream, l, buf));
		cvl_out_text(&s->out, b->aux[i] >> l & 1   ? " = x" :
				      b->value[i] >> l & 1 ? " = 1" :
							     " = 0");
		first = false;
	}
	cvl_out_text(&s->out, " }");
}

static void put_gap_text(struct show *s, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	char text[CVL_TIME_TEXT];

	cvl_out_text(&s->out, "{ why = ");
	cvl_out_text(&s->out, cvl_gap_name((enum cvl_gap)b->cls[i]));
	cvl_out_text(&s->out, ", lost = ");
	if (b->value[i] == CVL_LOST_UNKNOWN)
		cvl_out_text(&s->out, "unknown");
	else
		cvl_out_u64(&s->out, b->value[i]);
	cvl_out_text(&s->out, ", until = ");
	if (b->aux[i] == CVL_TICK_UNKNOWN) {
		cvl_out_text(&s->out, "unknown");
	} else {
		cvl_time_text(text, cvl_map_time(cvl_timeline_map(s->tl, sl->clock),
						 (struct cvl_tick){ b->aux[i] }, NULL));
		cvl_out_text(&s->out, text);
	}
	cvl_out_text(&s->out, " }");
}

static int put_fields_text(struct show *s, const struct cvl_slice *sl, size_t i,
			   struct cvl_error *err)
{
	const struct cvl_batch *b = sl->batch;
	char buf[24];

	switch ((enum cvl_kind)b->kind[i]) {
	case CVL_EDGE: put_levels_text(s, sl, i); return 0;
	case CVL_SAMPLE:
		cvl_out_text(&s->out, "{ ");
		cvl_out_name(&s->out, survey_channel(s->tl, sl->stream, b->cls[i], buf));
		cvl_out_text(&s->out, " = ");
		cvl_out_double(&s->out, survey_sample(b->value[i]));
		cvl_out_text(&s->out, " }");
		return 0;
	case CVL_BEACON:
		cvl_out_printf(&s->out, "{ sender = %u, seq = %llu }", b->cls[i],
			       (unsigned long long)b->value[i]);
		return 0;
	case CVL_PULSE: cvl_out_printf(&s->out, "{ channel = %u }", b->cls[i]); return 0;
	case CVL_MESSAGE:
		cvl_out_printf(&s->out, "{ direction = %s, key = %llu }",
			       b->cls[i] ? "received" : "sent", (unsigned long long)b->value[i]);
		return 0;
	case CVL_GAP: put_gap_text(s, sl, i); return 0;
	case CVL_SLIP:
		cvl_out_printf(&s->out, "{ from_tick = %llu, half_width = %llu }",
			       (unsigned long long)b->aux[i], (unsigned long long)b->value[i]);
		return 0;
	default:
		return fields_text(&s->out, cvl_timeline_stream(s->tl, sl->stream), b, i,
				   &s->stream[sl->stream].packet, err);
	}
}

/* Date and time of day in UTC; the date is worked out once a day. */
static void put_absolute(struct show *s, struct cvl_time t, char between)
{
	int64_t ns = cvl_add_sat(t.ns, s->epoch), seconds = ns / 1000000000, part = ns % 1000000000,
		day;

	if (part < 0) {
		part += 1000000000;
		seconds--;
	}
	day = seconds / 86400 - (seconds % 86400 < 0);
	if (day != s->day_number || !s->day[0]) {
		time_t at = (time_t)(day * 86400);
		struct tm tm;

		s->day_number = day;
		strftime(s->day, sizeof(s->day), "%Y-%m-%d", gmtime_r(&at, &tm));
	}
	seconds -= day * 86400;
	cvl_out_printf(&s->out, "%s%c%02d:%02d:%02d.%09lld", s->day, between, (int)(seconds / 3600),
		       (int)(seconds / 60 % 60), (int)(seconds % 60), (long long)part);
}

static int put_text(struct show *s, const struct cvl_slice *sl, size_t i, const struct lead *lead,
		    struct cvl_error *err)
{
	char text[CVL_TIME_TEXT];
	int rc;

	cvl_out_char(&s->out, '[');
	if (s->style.ticks)
		cvl_out_u64(&s->out, sl->batch->tick[i].count);
	else if (s->style.absolute)
		put_absolute(s, sl->time[i], ' ');
	else
		cvl_out_time(&s->out, sl->time[i], 15);
	if (s->style.bounds) {
		size_t n = cvl_bound_text(text, cvl_timeline_bound(s->tl, sl, i));

		cvl_out_text(&s->out, " +-");
		for (; n < 8; n++)
			cvl_out_char(&s->out, ' ');
		cvl_out_text(&s->out, text);
	}
	cvl_out_slack(&s->out, lead->text, lead->n);
	rc = put_fields_text(s, sl, i, err);
	if (sl->batch->flags[i] & CVL_LATE)
		cvl_out_text(&s->out, "  (out of order)");
	cvl_out_char(&s->out, '\n');
	return rc;
}

/* ---- JSON lines ---- */

static void put_edge_json(struct show *s, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	uint64_t changed = shown_lines(s, sl, i);
	size_t n = lines_of(s, sl->stream), put = 0;
	char buf[24];

	cvl_out_text(&s->out, ",\"lines\":{");
	for (size_t l = 0; l < n; l++) {
		const char *name;

		if (!(changed >> l & 1))
			continue;
		if (put++)
			cvl_out_char(&s->out, ',');
		name = survey_line(s->tl, sl->stream, l, buf);
		cvl_out_json(&s->out, name, strlen(name));
		cvl_out_text(&s->out, b->aux[i] >> l & 1   ? ":null" :
				      b->value[i] >> l & 1 ? ":1" :
							     ":0");
	}
	cvl_out_char(&s->out, '}');
}

static void put_number_or_null(struct cvl_out *o, const char *key, uint64_t v, bool known)
{
	cvl_out_text(o, key);
	if (known)
		cvl_out_u64(o, v);
	else
		cvl_out_text(o, "null");
}

static int put_own_json(struct show *s, const struct cvl_slice *sl, size_t i, struct cvl_error *err)
{
	const struct cvl_batch *b = sl->batch;
	const char *name;
	char buf[24];
	int rc = 0;

	switch ((enum cvl_kind)b->kind[i]) {
	case CVL_EDGE: put_edge_json(s, sl, i); break;
	case CVL_SAMPLE:
		name = survey_channel(s->tl, sl->stream, b->cls[i], buf);
		cvl_out_text(&s->out, ",\"channel\":");
		cvl_out_json(&s->out, name, strlen(name));
		cvl_out_text(&s->out, ",\"value\":");
		if (survey_sample(b->value[i]) - survey_sample(b->value[i]) != 0)
			cvl_out_text(&s->out, "null");
		else
			cvl_out_double(&s->out, survey_sample(b->value[i]));
		break;
	case CVL_BEACON:
		cvl_out_printf(&s->out, ",\"sender\":%u,\"seq\":%llu", b->cls[i],
			       (unsigned long long)b->value[i]);
		break;
	case CVL_PULSE: cvl_out_printf(&s->out, ",\"channel\":%u", b->cls[i]); break;
	case CVL_MESSAGE:
		cvl_out_printf(&s->out, ",\"direction\":\"%s\",\"key\":%llu",
			       b->cls[i] ? "received" : "sent", (unsigned long long)b->value[i]);
		break;
	case CVL_GAP:
		cvl_out_printf(&s->out, ",\"why\":\"%s\"", cvl_gap_name((enum cvl_gap)b->cls[i]));
		put_number_or_null(&s->out, ",\"lost\":", b->value[i],
				   b->value[i] != CVL_LOST_UNKNOWN);
		put_number_or_null(&s->out, ",\"to_tick\":", b->aux[i],
				   b->aux[i] != CVL_TICK_UNKNOWN);
		break;
	case CVL_SLIP:
		cvl_out_printf(&s->out, ",\"from_tick\":%llu,\"half_width_ticks\":%llu",
			       (unsigned long long)b->aux[i], (unsigned long long)b->value[i]);
		break;
	default:
		cvl_out_text(&s->out, ",\"fields\":");
		rc = fields_json(&s->out, cvl_timeline_stream(s->tl, sl->stream), b, i, err);
	}
	return rc;
}

static int put_json(struct show *s, const struct cvl_slice *sl, size_t i, const struct lead *lead,
		    struct cvl_error *err)
{
	const struct cvl_clock *clock = cvl_session_clock(cvl_timeline_session(s->tl), sl->clock);
	int64_t bound = cvl_timeline_bound(s->tl, sl, i);
	int rc;

	cvl_out_text(&s->out, "{\"t_ns\":");
	if (s->style.absolute) {
		cvl_out_i64(&s->out, cvl_add_sat(sl->time[i].ns, s->epoch));
		cvl_out_text(&s->out, ",\"utc\":\"");
		put_absolute(s, sl->time[i], 'T');
		cvl_out_text(&s->out, "Z\"");
	} else {
		cvl_out_i64(&s->out, sl->time[i].ns);
	}
	put_number_or_null(&s->out, ",\"bound_ns\":", (uint64_t)bound, bound != CVL_BOUND_UNKNOWN);
	cvl_out_text(&s->out, ",\"bound\":\"");
	cvl_out_text(&s->out, cvl_bound_kind_name(cvl_timeline_bound_kind(s->tl, sl->clock)));
	cvl_out_text(&s->out, "\",\"tick\":");
	cvl_out_u64(&s->out, sl->batch->tick[i].count);
	cvl_out_text(&s->out, ",\"node\":");
	cvl_out_json(&s->out, clock->node, strlen(clock->node));
	cvl_out_text(&s->out, ",\"clock\":");
	cvl_out_json(&s->out, clock->name, strlen(clock->name));
	cvl_out_text(&s->out, ",\"kind\":\"");
	cvl_out_text(&s->out, cvl_kind_name((enum cvl_kind)sl->batch->kind[i]));
	cvl_out_text(&s->out, "\",\"name\":");
	cvl_out_json(&s->out, lead->name, strlen(lead->name));
	if (sl->batch->flags[i] & CVL_LATE)
		cvl_out_text(&s->out, ",\"late\":true");
	rc = put_own_json(s, sl, i, err);
	cvl_out_text(&s->out, "}\n");
	return rc;
}

/* ---- all of it ---- */

static bool unchanged(const struct show *s, const struct cvl_slice *sl, size_t i)
{
	/* packets restate the levels for whoever begins there; only the first says something new */
	const struct cvl_levels *l = &s->stream[sl->stream].levels;

	return sl->batch->flags[i] & CVL_STATE && l->known == ~sl->batch->aux[i] &&
	       l->now == sl->batch->value[i];
}

static int show_slice(struct show *s, const struct cvl_slice *sl, struct cvl_error *err)
{
	for (size_t i = sl->begin; i < sl->end; i++) {
		bool edge = sl->batch->kind[i] == CVL_EDGE;
		const struct lead *lead = lead_of(s, sl, i);
		int rc = 0;

		if (!lead)
			return cvl_no_memory(err);
		if (lead->wanted && (!edge || !unchanged(s, sl, i)))
			rc = s->style.json ? put_json(s, sl, i, lead, err) :
					     put_text(s, sl, i, lead, err);
		if (rc)
			return rc;
		if (edge)
			cvl_levels_take(&s->stream[sl->stream].levels, sl->batch, i);
	}
	return 0;
}

/* Leads belong to a timeline; what the lines last showed stays. */
static void drop_leads(struct show *s)
{
	for (size_t i = 0; i < s->n_streams; i++) {
		for (size_t k = 0; k < s->stream[i].n_leads; k++)
			free(s->stream[i].lead[k].text);
		free(s->stream[i].lead);
		s->stream[i].lead = NULL;
		s->stream[i].n_leads = 0;
	}
}

static int prepare(struct show *s, struct cvl_error *err)
{
	size_t n = cvl_timeline_streams(s->tl);
	struct shown *grown;

	drop_leads(s);
	if (n > s->n_streams) {
		grown = realloc(s->stream, n * sizeof(*grown));
		if (!grown)
			return cvl_no_memory(err);
		memset(grown + s->n_streams, 0, (n - s->n_streams) * sizeof(*grown));
		s->stream = grown;
		s->n_streams = n;
	}
	for (size_t i = 0; i < n; i++) {
		struct shown *st = &s->stream[i];
		size_t leads = cvl_trace_events(cvl_timeline_trace(s->tl, i)) + CVL_KINDS + 1;

		memset(&st->packet, 0, sizeof(st->packet));
		st->lead = calloc(leads, sizeof(*st->lead));
		if (!st->lead)
			return cvl_no_memory(err);
		st->n_leads = leads;
	}
	return 0;
}

struct show *show_new(const struct show_style *style)
{
	struct show *s = calloc(1, sizeof(*s));

	if (s) {
		s->style = *style;
		cvl_out_init(&s->out, STDOUT_FILENO, "standard output");
	}
	return s;
}

void show_free(struct show *s)
{
	if (!s)
		return;
	drop_leads(s);
	free(s->stream);
	free(s);
}

bool show_is_over(const struct show *s)
{
	return s->out.closed || s->out.error;
}

static int show_all(struct show *s, struct cvl_error *err)
{
	struct cvl_slice slice;
	int rc = prepare(s, err);

	if (rc)
		return rc;
	while ((rc = cvl_timeline_next(s->tl, &slice, err)) > 0) {
		rc = show_slice(s, &slice, err);
		if (rc || show_is_over(s))
			break;
	}
	if (rc >= 0)
		rc = cvl_out_flush(&s->out, err);
	else
		cvl_out_flush(&s->out, NULL);
	return rc;
}

int show_records(struct show *s, struct cvl_session *session, const struct cvl_timeline_opts *opts,
		 struct cvl_error *err)
{
	int rc;

	s->epoch = cvl_session_epoch(session);
	if (s->style.absolute && !s->epoch)
		return cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"%s: no clock of it has a date and time of day; leave out --absolute",
			cvl_session_path(session));
	rc = cvl_timeline_open(&s->tl, session, opts, err);
	if (!rc)
		rc = show_all(s, err);
	cvl_timeline_close(s->tl);
	s->tl = NULL;
	return rc;
}
