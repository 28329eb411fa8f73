/* SPDX-License-Identifier: MIT */
#include "view/messages.h"

#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>
#include <coeval/sync.h>
#include "sync/match.h"
#include "sync/rules_json.h"

#define MESSAGES_MAX 1000000

struct search {
	struct messages *m;
	struct cvl_timeline *tl;
	struct matcher *matcher;
	uint32_t *first; /* stream -> number of classes of those before */
	size_t n;        /* streams */
};

static struct message_end end_of(const struct search *s, uint32_t who, uint32_t clock,
				 uint64_t tick)
{
	size_t stream = s->n - 1;

	while (stream && s->first[stream] > who)
		stream--;
	return (struct message_end){ (uint32_t)stream, who - s->first[stream], clock, tick };
}

static int see(struct search *s, const struct cvl_slice *sl, struct cvl_error *err)
{
	for (size_t i = sl->begin; i < sl->end; i++) {
		const uint32_t class = sl->batch->cls[i];
		struct match_end end[MATCH_ROLES_MAX];
		int n;

		if (sl->batch->kind[i] != CVL_EVENT ||
		    !matcher_wants(s->matcher, sl->stream, class))
			continue;
		n = matcher_see(s->matcher, sl, i, s->first[sl->stream] + class, end, err);
		if (n < 0)
			return n;
		for (int k = 0; k < n; k++) {
			const struct match_end *e = &end[k];

			if (!e->complete)
				continue;
			if (s->m->n >= MESSAGES_MAX)
				return cvl_fail(
					err, CVL_E_LIMIT, CVL_NO_OFFSET,
					"more than %d messages: those received later are not drawn",
					MESSAGES_MAX);
			if (cvl_room(&s->m->list, s->m->n, &s->m->room, sizeof(*s->m->list)))
				return cvl_no_memory(err);
			s->m->list[s->m->n++] =
				(struct message){ e->sent_ns,
						  end_of(s, e->sender, e->from, e->sent),
						  end_of(s, e->receiver, e->to, e->received) };
		}
	}
	return 0;
}

static int search(struct search *s, struct cvl_error *err)
{
	struct cvl_block block;
	struct cvl_slice slice;
	uint32_t classes = 0;
	int rc = 0;

	s->n = cvl_timeline_streams(s->tl);
	s->first = calloc(s->n + 1, sizeof(*s->first));
	if (!s->first)
		return cvl_no_memory(err);
	for (size_t i = 0; i < s->n; i++) {
		s->first[i] = classes;
		classes += (uint32_t)cvl_trace_events(cvl_timeline_trace(s->tl, i));
	}
	while (!rc && (rc = cvl_timeline_next(s->tl, &block, err)) > 0)
		for (rc = 0; !rc && cvl_block_take(&block, &slice);)
			rc = see(s, &slice, err);
	return rc;
}

static int by_sent(const void *a, const void *b)
{
	const int64_t x = ((const struct message *)a)->sent_ns,
		      y = ((const struct message *)b)->sent_ns;

	return (x > y) - (x < y);
}

/* They need no memory while nobody looks. */
static void lay_down(struct messages *m)
{
	if (!m->n || spill_room(&m->block, m->n * sizeof(*m->list)))
		return;
	memcpy(m->block.at, m->list, m->n * sizeof(*m->list));
	free(m->list);
	m->list = m->block.at;
	m->room = 0;
	messages_rest(m);
}

int messages_find(struct messages *m, struct cvl_timeline *tl, struct cvl_error *err)
{
	const struct cvl_sync *sync = cvl_timeline_sync(tl);
	struct search s = { .m = m, .tl = tl };
	struct rule_set rules = { 0 };
	int rc = sync ? rules_recall(&rules, sync->settings, err) : 0;

	if (!rc && rules.n)
		rc = matcher_new(&s.matcher, tl, &rules, err);
	if (!rc && s.matcher)
		rc = search(&s, err);
	matcher_free(s.matcher);
	rules_free(&rules);
	free(s.first);
	if (m->n)
		qsort(m->list, m->n, sizeof(*m->list), by_sent);
	lay_down(m);
	return rc;
}

void messages_rest(const struct messages *m)
{
	spill_rest(&m->block);
}

void messages_free(struct messages *m)
{
	if (!m->block.at)
		free(m->list);
	spill_free(&m->block);
	*m = (struct messages){ 0 };
}
