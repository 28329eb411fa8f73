/* SPDX-License-Identifier: MIT */
/* Notes and saved views, and words of events. */
#include "view/answers_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <coeval/annotations.h>
#include <coeval/fields.h>

#include "core/out_keep.h"
#include "timeline/live.h"

#define SEARCHED_MOST 500000 /* events of one answer */
#define WORDS_MOST 400       /* bytes that are looked for */

/* ---- notes ---- */

uint64_t notes_changed(const struct model *m)
{
	char path[CVL_PATH_MAX];
	struct stat st;

	if (!cvl_path_join(path, cvl_session_path(m->session), "annotations.json") ||
	    stat(path, &st))
		return 0;
	return (uint64_t)st.st_ctim.tv_sec % 1000000 * 1000000000 + (uint64_t)st.st_ctim.tv_nsec;
}

static int64_t time_of(const struct model *m, int clock, struct cvl_tick tick)
{
	return cvl_map_time(cvl_timeline_map(m->tl, (size_t)clock), tick, NULL).ns;
}

int put_notes(struct model *m, const struct view_query *q, struct cvl_out *o, struct cvl_error *err)
{
	struct cvl_annotations all;
	int rc = cvl_annotations_load(&all, m->session, err);

	(void)q;
	if (rc)
		return rc;
	cvl_out_text(o, "{\"annotations\":[");
	for (size_t i = 0; i < all.n; i++) {
		const struct cvl_annotation *a = &all.list[i];
		const int clock = cvl_session_find(m->session, a->clock);

		put_element(o);
		cvl_out_char(o, '{');
		put_number(o, "id", (int64_t)a->id);
		put_text(o, "text", a->text);
		put_text(o, "clock", a->clock);
		put_text(o, "look", a->look);
		put_number(o, "from", clock < 0 ? 0 : time_of(m, clock, a->begin));
		put_number(o, "to", clock < 0 ? 0 : time_of(m, clock, a->end));
		cvl_out_char(o, '}');
	}
	cvl_out_text(o, "]}");
	cvl_annotations_free(&all);
	return 0;
}

static int add_note(struct model *m, const struct view_query *q, struct cvl_error *err)
{
	const char *text = q->get(q->ctx, "text"), *look = q->get(q->ctx, "look");
	const struct cvl_map *map;
	struct cvl_annotation a = { 0 };
	int64_t from, to;
	uint64_t clock;
	int rc = ask_number(q, "clock", cvl_session_clocks(m->session), &clock, err);

	rc = rc ? rc : ask_time(q, "from", &from, err);
	rc = rc ? rc : ask_time(q, "to", &to, err);
	if (rc)
		return rc;
	if (!text || !*text)
		return ask_bad("text", err);
	map = cvl_timeline_map(m->tl, clock);
	a.text = (char *)(uintptr_t)text;
	a.look = (char *)(uintptr_t)(look ? look : "");
	a.clock = (char *)(uintptr_t)cvl_session_clock(m->session, clock)->name;
	a.begin = cvl_map_tick(map, (struct cvl_time){ from });
	a.end = cvl_map_tick(map, (struct cvl_time){ to });
	return cvl_annotations_add(m->session, &a, err);
}

int put_note(struct model *m, const struct view_query *q, struct cvl_out *o, struct cvl_error *err)
{
	uint64_t id;
	int rc;

	if (m->read_only)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"this view is read-only: nothing can be noted");
	if (!q->changes)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "notes are made by POST");
	if (q->get(q->ctx, "drop")) {
		rc = ask_number(q, "drop", INT64_MAX, &id, err);
		rc = rc ? rc : cvl_annotations_drop(m->session, id, err);
	} else {
		rc = add_note(m, q, err);
	}
	return rc ? rc : put_notes(m, q, o, err);
}

/* ---- words of events ---- */

struct search {
	const char *words;
	struct cvl_out *text; /* of one event */
	uint64_t n;           /* events that were looked at */
	bool found;
	size_t stream, clock;
	uint32_t class;
	uint64_t tick;
	int64_t at; /* ns, of the last that was looked at */
};

static bool has_words(struct search *s, struct cvl_stream *stream, const struct cvl_batch *b,
		      size_t i)
{
	struct cvl_out *o = s->text;
	bool has;

	out_keep(o, false);
	has = !cvl_fields_text(o, stream, b, i, NULL);
	cvl_out_char(o, '\0');
	cvl_out_drain(o);
	has = has && !o->error && strcasestr(o->kept, s->words);
	free(o->kept);
	o->kept = NULL;
	return has;
}

static void look(struct search *s, struct cvl_timeline *tl, const struct cvl_slice *sl)
{
	const struct cvl_batch *b = sl->batch;

	for (size_t i = sl->begin; i < sl->end && !s->found; i++) {
		if (b->kind[i] != CVL_EVENT && b->kind[i] != CVL_BEGIN)
			continue;
		s->n++;
		s->at = sl->time[i].ns;
		if (!has_words(s, cvl_timeline_stream(tl, sl->stream), b, i))
			continue;
		s->found = true;
		s->stream = sl->stream;
		s->clock = sl->clock;
		s->class = b->cls[i];
		s->tick = b->tick[i].count;
	}
}

static int search(struct search *s, struct model *m, int64_t from, struct cvl_error *err)
{
	const struct cvl_timeline_opts opts = { .has_from = true, .from = { from } };
	struct cvl_timeline *tl;
	struct cvl_block block;
	struct cvl_slice slice;
	int rc = timeline_open_tied(&tl, m->session, &opts, m->live ? live_copy(m->live) : NULL,
				    err);

	if (rc)
		return rc;
	while (!s->found && s->n < SEARCHED_MOST && (rc = cvl_timeline_next(tl, &block, err)) > 0)
		while (!s->found && cvl_block_take(&block, &slice))
			look(s, tl, &slice);
	if (s->found)
		s->stream = model_stream(m, s->stream);
	cvl_timeline_close(tl);
	return rc < 0 ? rc : rc > 0 && !s->found;
}

int put_search(struct model *m, const struct view_query *q, struct cvl_out *o,
	       struct cvl_error *err)
{
	struct search s = { .words = q->get(q->ctx, "words"), .text = malloc(sizeof(*s.text)) };
	int64_t from;
	int rc = ask_time(q, "from", &from, err);

	if (!rc && (!s.words || !*s.words || strlen(s.words) > WORDS_MOST))
		rc = ask_bad("words", err);
	if (!rc && !s.text)
		rc = cvl_no_memory(err);
	rc = rc ? rc : search(&s, m, from, err);
	free(s.text);
	if (rc < 0)
		return rc;
	if (s.found)
		cvl_out_printf(o, "{\"hit\":[%zu,%u,%.0f]}", s.stream, s.class,
			       (double)(int64_t)(s.tick - model_base(m, s.clock)));
	else if (rc) /* to be continued after the last */
		cvl_out_printf(o, "{\"hit\":null,\"more\":%lld}",
			       (long long)(s.at > from ? s.at : from + 1));
	else
		cvl_out_text(o, "{\"hit\":null}");
	return 0;
}
