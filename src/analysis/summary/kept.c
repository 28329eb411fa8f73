/* SPDX-License-Identifier: MIT */
#include "analysis/summary/kept.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "store/derived.h"
#include "store/jsonfile.h"

#define COUNTS "counts.json"
#define FILE_KIND "coeval_counts"
#define VERSION 1

static bool stamp_of(const struct cvl_timeline *tl, size_t i, char text[DERIVED_STAMP])
{
	return derived_stamp(cvl_trace_path(cvl_timeline_trace(tl, i)),
			     cvl_timeline_stream_name(tl, i), text);
}

/* ---- writing ---- */

static json_t *list_of(const uint64_t *v, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer((json_int_t)v[i]));
	return list;
}

static json_t *clock_json(const struct cvl_summary_clock *c, const struct kept_ticks *t)
{
	const uint64_t counts[] = {
		c->records, c->late, c->gaps, c->lost, c->any, t->first, t->last
	};
	uint64_t why[2 * CVL_GAPS];

	for (int i = 0; i < CVL_GAPS; i++) {
		why[2 * i] = c->why[i].gaps;
		why[2 * i + 1] = c->why[i].lost;
	}
	return json_pack("{s:s, s:o, s:o, s:o}", "name", c->clock->name, "counts",
			 list_of(counts, sizeof(counts) / sizeof(*counts)), "kinds",
			 list_of(c->kinds, CVL_KINDS), "gaps", list_of(why, 2 * CVL_GAPS));
}

static json_t *stream_json(const struct cvl_timeline *tl, const struct cvl_summary *sum, size_t i,
			   const struct kept_events *e)
{
	const struct cvl_stream_stats *s = &sum->stream[i].stats;
	const uint64_t counts[] = { s->records, s->packets, s->gaps,     s->lost,
				    s->late,    s->bytes,   s->end.count };
	const struct cvl_summary_clock *c = sum->stream[i].clock;
	char state[DERIVED_STAMP];

	if (!stamp_of(tl, i, state))
		return NULL;
	return json_pack("{s:s, s:s, s:I, s:o, s:o}", "name", sum->stream[i].name, "file", state,
			 "clock", (json_int_t)(c ? c - sum->clock : -1), "counts",
			 list_of(counts, sizeof(counts) / sizeof(*counts)), "events",
			 list_of(e->count, e->n));
}

void kept_save(const struct cvl_timeline *tl, const struct cvl_summary *sum,
	       const struct kept_ticks *ticks, const struct kept_events *events)
{
	json_t *clocks = json_array(), *streams = json_array();
	char path[CVL_PATH_MAX];

	for (size_t i = 0; i < sum->n_clocks; i++)
		json_array_append_new(clocks, clock_json(&sum->clock[i], &ticks[i]));
	for (size_t i = 0; i < sum->n_streams; i++)
		json_array_append_new(streams, stream_json(tl, sum, i, &events[i]));
	if (json_array_size(clocks) == sum->n_clocks &&
	    json_array_size(streams) == sum->n_streams &&
	    derived_path(sum->session, COUNTS, true, path)) {
		jsonfile_write(path,
			       json_pack("{s:i, s:s, s:s, s:O, s:O}", FILE_KIND, VERSION, "by",
					 COEVAL_VERSION, "session", cvl_session_uuid(sum->session),
					 "clocks", clocks, "streams", streams),
			       0, NULL);
	}
	json_decref(clocks);
	json_decref(streams);
}

/* ---- reading ---- */

static bool take_list(const json_t *list, uint64_t *v, size_t n)
{
	if (json_array_size(list) != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		const json_t *j = json_array_get(list, i);

		if (!json_is_integer(j))
			return false;
		v[i] = (uint64_t)json_integer_value(j);
	}
	return true;
}

static bool take_clock(const json_t *j, struct cvl_summary_clock *c, struct kept_ticks *t)
{
	const char *name = json_string_value(json_object_get(j, "name"));
	uint64_t counts[7], why[2 * CVL_GAPS];

	if (!name || strcmp(name, c->clock->name) != 0 ||
	    !take_list(json_object_get(j, "counts"), counts, 7) ||
	    !take_list(json_object_get(j, "kinds"), c->kinds, CVL_KINDS) ||
	    !take_list(json_object_get(j, "gaps"), why, 2 * CVL_GAPS))
		return false;
	c->records = counts[0];
	c->late = counts[1];
	c->gaps = counts[2];
	c->lost = counts[3];
	c->any = counts[4] != 0;
	*t = (struct kept_ticks){ counts[5], counts[6] };
	for (int i = 0; i < CVL_GAPS; i++)
		c->why[i] = (struct cvl_summary_gaps){ why[2 * i], why[2 * i + 1] };
	return true;
}

static bool take_stream(const json_t *j, const struct cvl_timeline *tl, struct cvl_summary *sum,
			size_t i, struct kept_events *e)
{
	const char *name = json_string_value(json_object_get(j, "name"));
	const char *file = json_string_value(json_object_get(j, "file"));
	const json_int_t clock = json_integer_value(json_object_get(j, "clock"));
	struct cvl_summary_stream *s = &sum->stream[i];
	uint64_t counts[7];
	char state[DERIVED_STAMP];

	if (!name || !file || strcmp(name, s->name) != 0 || !stamp_of(tl, i, state) ||
	    strcmp(file, state) != 0 || clock < -1 || clock >= (json_int_t)sum->n_clocks ||
	    !take_list(json_object_get(j, "counts"), counts, 7) ||
	    !take_list(json_object_get(j, "events"), e->count, e->n))
		return false;
	s->clock = clock < 0 ? NULL : &sum->clock[clock];
	s->stats = (struct cvl_stream_stats){ .records = counts[0],
					      .packets = counts[1],
					      .gaps = counts[2],
					      .lost = counts[3],
					      .late = counts[4],
					      .bytes = counts[5],
					      .position = counts[5],
					      .end = { counts[6] } };
	return true;
}

bool kept_load(const struct cvl_timeline *tl, struct cvl_summary *sum, struct kept_ticks *ticks,
	       struct kept_events *events)
{
	const char *uuid = cvl_session_uuid(sum->session), *of, *by;
	const json_t *clocks, *streams;
	char path[CVL_PATH_MAX];
	json_t *root = derived_path(sum->session, COUNTS, false, path) ?
			       jsonfile_read(path, FILE_KIND, VERSION, NULL) :
			       NULL;
	bool good;

	clocks = json_object_get(root, "clocks");
	streams = json_object_get(root, "streams");
	of = json_string_value(json_object_get(root, "session"));
	by = json_string_value(json_object_get(root, "by"));
	good = of && by && !strcmp(of, uuid) && !strcmp(by, COEVAL_VERSION) &&
	       json_array_size(clocks) == sum->n_clocks &&
	       json_array_size(streams) == sum->n_streams;
	for (size_t i = 0; i < sum->n_clocks && good; i++)
		good = take_clock(json_array_get(clocks, i), &sum->clock[i], &ticks[i]);
	for (size_t i = 0; i < sum->n_streams && good; i++)
		good = take_stream(json_array_get(streams, i), tl, sum, i, &events[i]);
	json_decref(root);
	return good;
}
