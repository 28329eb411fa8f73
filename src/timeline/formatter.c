/* SPDX-License-Identifier: MIT */
/* Records as text and as JSON. */
#include "timeline/fields.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Text before the fields of a class, made once: "node name: ". */
struct prefix {
	char *text; /* NULL until it is needed */
	size_t n;
};

struct stream {
	struct fields_cache cache;
	struct cvl_levels levels; /* last seen */
	struct prefix *prefix; /* of event classes, then of other kinds, then of restated levels */
	size_t n_prefixes;
};

/* Streams take turns in them, so that many streams need no more memory. */
#define PREFIX_SETS 64

struct cvl_formatter {
	struct cvl_timeline *tl;
	int64_t epoch;
	struct fields_prefix *set[PREFIX_SETS];
	struct stream *stream;
	size_t n_streams;
	/* the current record */
	const struct cvl_slice *sl;
	size_t i;
	uint64_t lines; /* of an edge: shown */
	char day[16];   /* date of the last record, UTC */
	int64_t day_number;
};

/* ---- begin and end ---- */

/* Prefixes belong to a timeline; the last levels of lines are kept. */
static void drop_prefixes(struct cvl_formatter *f)
{
	for (size_t i = 0; i < f->n_streams; i++) {
		for (size_t k = 0; k < f->stream[i].n_prefixes; k++)
			free(f->stream[i].prefix[k].text);
		free(f->stream[i].prefix);
		f->stream[i].prefix = NULL;
		f->stream[i].n_prefixes = 0;
	}
}

int cvl_formatter_continue(struct cvl_formatter *f, struct cvl_timeline *tl, struct cvl_error *err)
{
	size_t n = cvl_timeline_streams(tl);

	drop_prefixes(f);
	f->tl = tl;
	f->epoch = cvl_session_epoch(cvl_timeline_session(tl));
	if (n > f->n_streams) {
		struct stream *grown = reallocarray(f->stream, n, sizeof(*grown));

		if (!grown)
			return cvl_no_memory(err);
		memset(grown + f->n_streams, 0, (n - f->n_streams) * sizeof(*grown));
		f->stream = grown;
		f->n_streams = n;
	}
	for (size_t i = 0; i < n && i < PREFIX_SETS; i++) {
		free(f->set[i]);
		f->set[i] = calloc(FIELDS_PREFIXES, sizeof(*f->set[i]));
		if (!f->set[i])
			return cvl_no_memory(err);
	}
	for (size_t i = 0; i < n; i++) {
		struct stream *st = &f->stream[i];
		size_t prefixes = cvl_trace_events(cvl_timeline_trace(tl, i)) + CVL_KINDS + 1;

		memset(&st->cache, 0, sizeof(st->cache));
		st->cache.prefix = f->set[i % PREFIX_SETS];
		st->prefix = calloc(prefixes, sizeof(*st->prefix));
		if (!st->prefix)
			return cvl_no_memory(err);
		st->n_prefixes = prefixes;
	}
	return 0;
}

int cvl_formatter_open(struct cvl_formatter **out, struct cvl_timeline *tl, struct cvl_error *err)
{
	int rc;

	*out = calloc(1, sizeof(**out));
	if (!*out)
		return cvl_no_memory(err);
	rc = cvl_formatter_continue(*out, tl, err);
	if (rc) {
		cvl_formatter_close(*out);
		*out = NULL;
	}
	return rc;
}

void cvl_formatter_close(struct cvl_formatter *f)
{
	if (!f)
		return;
	drop_prefixes(f);
	for (size_t i = 0; i < PREFIX_SETS; i++)
		free(f->set[i]);
	free(f->stream);
	free(f);
}

/* ---- the current record ---- */

bool cvl_formatter_next(struct cvl_formatter *f, const struct cvl_slice *sl, size_t i)
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

/* NULL when out of memory. */
static const struct prefix *prefix_of(struct cvl_formatter *f)
{
	const struct cvl_batch *b = f->sl->batch;
	struct stream *st = &f->stream[f->sl->stream];
	size_t classes = st->n_prefixes - CVL_KINDS - 1, at = classes + b->kind[f->i];
	const char *node, *name;
	struct prefix *prefix;

	if (b->kind[f->i] == CVL_EVENT || b->kind[f->i] == CVL_BEGIN || b->kind[f->i] == CVL_END)
		at = b->cls[f->i];
	else if (b->kind[f->i] == CVL_EDGE && b->flags[f->i] & CVL_STATE)
		at = classes + CVL_KINDS;
	prefix = &st->prefix[at];
	if (prefix->text)
		return prefix;
	node = cvl_session_clock(cvl_timeline_session(f->tl), f->sl->clock)->node;
	name = cvl_record_name(f->tl, f->sl, f->i);
	prefix->text = calloc(1, 4 * (strlen(node) + strlen(name)) + 4 + CVL_OUT_SLACK);
	if (!prefix->text)
		return NULL;
	cvl_text_name(prefix->text, node);
	strcat(prefix->text, " ");
	cvl_text_name(prefix->text + strlen(prefix->text), name);
	strcat(prefix->text, ": ");
	prefix->n = strlen(prefix->text);
	return prefix;
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

int cvl_formatter_text(struct cvl_formatter *f, struct cvl_out *o, struct cvl_error *err)
{
	const struct cvl_batch *b = f->sl->batch;
	const struct prefix *prefix = prefix_of(f);
	const size_t i = f->i, stream = f->sl->stream;
	char buf[24];
	int rc = 0;

	if (!prefix)
		return cvl_no_memory(err);
	cvl_out_slack(o, prefix->text, prefix->n);
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
		rc = fields_text(o, cvl_timeline_stream(f->tl, stream), b, i,
				 &f->stream[stream].cache, err);
	}
	if (b->flags[i] & CVL_LATE)
		cvl_out_text(o, "  (out of order)");
	return rc;
}

void cvl_formatter_utc(struct cvl_formatter *f, struct cvl_out *o, char between)
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

static void json_name(struct cvl_out *o, const char *key, const char *name)
{
	cvl_out_text(o, key);
	cvl_out_json(o, name, strlen(name));
}

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
static int own_json(struct cvl_formatter *f, struct cvl_out *o, struct cvl_error *err)
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
		return cvl_fields_json(o, cvl_timeline_stream(f->tl, stream), b, i, err);
	}
	return 0;
}

int cvl_formatter_json(struct cvl_formatter *f, struct cvl_out *o, bool utc, struct cvl_error *err)
{
	const struct cvl_slice *sl = f->sl;
	const struct cvl_clock *clock = cvl_session_clock(cvl_timeline_session(f->tl), sl->clock);
	int64_t bound = cvl_timeline_bound(f->tl, sl, f->i);
	int rc;

	cvl_out_text(o, "{\"t_ns\":");
	cvl_out_i64(o, utc ? cvl_add_sat(sl->time[f->i].ns, f->epoch) : sl->time[f->i].ns);
	if (utc) {
		cvl_out_text(o, ",\"utc\":\"");
		cvl_formatter_utc(f, o, 'T');
		cvl_out_text(o, "Z\"");
	}
	number_or_null(o, ",\"bound_ns\":", (uint64_t)bound, bound != CVL_BOUND_UNKNOWN);
	cvl_out_text(o, ",\"bound\":\"");
	cvl_out_text(o, cvl_bound_kind_name(cvl_timeline_bound_kind(f->tl, sl->clock)));
	cvl_out_text(o, "\",\"tick\":");
	cvl_out_u64(o, sl->batch->tick[f->i].count);
	json_name(o, ",\"node\":", clock->node);
	json_name(o, ",\"clock\":", clock->clock);
	if (clock->epoch > 1) {
		cvl_out_text(o, ",\"epoch\":");
		cvl_out_u64(o, clock->epoch);
	}
	cvl_out_text(o, ",\"kind\":\"");
	cvl_out_text(o, cvl_kind_name((enum cvl_kind)sl->batch->kind[f->i]));
	json_name(o, "\",\"name\":", cvl_record_name(f->tl, sl, f->i));
	if (sl->batch->flags[f->i] & CVL_LATE)
		cvl_out_text(o, ",\"late\":true");
	rc = own_json(f, o, err);
	cvl_out_char(o, '}');
	return rc;
}
