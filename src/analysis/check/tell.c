/* SPDX-License-Identifier: MIT */
/*
 * News are queued until a rule has several: delivered record by record, each would go to another
 * rule than the last one, and branch prediction would fail every time. Rules are independent, and
 * the news of each stay in order, so results do not change.
 */
#include "analysis/check/internal.h"

static void go_dark(struct check *c, struct source *s, const struct occ *from)
{
	if (s->blind++)
		return;
	for (size_t i = 0; i < s->n_listeners; i++) {
		struct monitor *m = &c->monitor[s->listener[i].monitor];
		size_t role = s->listener[i].role;

		switch (m->rule->kind) {
		case CHECK_THEN:
		case CHECK_THEN_NOT: after_dark(c, m, role, from); break;
		case CHECK_NEVER: never_dark(c, m, role, from); break;
		default: row_dark(c, m, role, from);
		}
	}
}

static void tell_inbox(struct check *c, struct inbox *in)
{
	const struct news *n = in->news, *end = n + in->n;
	const struct heard *heard = c->heard;
	struct monitor *m = c->monitor;

	switch (in->kind) {
	case CHECK_THEN:
	case CHECK_THEN_NOT:
		for (; n < end; n++)
			after_event(c, &m[n->monitor], n->role, &heard[n->heard].occ);
		break;
	case CHECK_NEVER:
		for (; n < end; n++)
			never_event(c, &m[n->monitor], n->role, &heard[n->heard].occ, n->level);
		break;
	default:
		for (; n < end; n++)
			row_event(c, &m[n->monitor], in->kind, n->role, &heard[n->heard].occ,
				  n->level);
	}
	in->n = 0;
}

static void empty_inboxes(struct check *c)
{
	for (size_t r = 0; r < c->rules->n; r++)
		tell_inbox(c, &c->inbox[r]);
}

/* The capture of one of the streams of @source may have ended before. */
static void look_for_end(struct check *c, struct source *s, int64_t now)
{
	if (s->ended || source_reaches(c, s, now))
		return;
	empty_inboxes(c);
	s->ended = true;
	go_dark(c, s, &s->end);
}

void tell_all(struct check *c)
{
	for (size_t i = 0; i < c->n_heard; i++) {
		const struct heard *h = &c->heard[i];

		for (const struct target *t = h->first; t < h->end; t++) {
			struct inbox *in = t->in;

			if (t->source != NO_SOURCE)
				look_for_end(c, &c->source[t->source], h->occ.ns);
			if (in->n == CHECK_INBOX)
				tell_inbox(c, in);
			in->news[in->n] = t->news;
			in->news[in->n++].heard = (uint16_t)i;
		}
	}
	empty_inboxes(c);
	c->n_heard = 0;
}

void tell_dark(struct check *c, struct source *s, const struct occ *from)
{
	tell_all(c);
	go_dark(c, s, from);
}

void tell_light(struct check *c, struct source *s, const struct occ *at, bool level)
{
	bool first = !s->began;

	tell_all(c);
	if (--s->blind)
		return;
	s->began = true;
	s->seen = s->seen || level;
	for (size_t i = 0; i < s->n_listeners; i++) {
		struct monitor *m = &c->monitor[s->listener[i].monitor];
		size_t role = s->listener[i].role;

		switch (m->rule->kind) {
		case CHECK_THEN:
		case CHECK_THEN_NOT: after_light(c, m, role, at, first); break;
		case CHECK_NEVER: never_light(c, m, role, at, level, first); break;
		default: row_light(c, m, at, level);
		}
	}
}
