/* SPDX-License-Identifier: MIT */
/*
 * A never while B. Both are intervals: an event is one without length, and a gap hides one that may
 * or may not exist (a shadow). Two overlap if each begins before the other ends. A pair is judged
 * once the first of the two lies so far back that nothing within the bounds can still meet it.
 */
#include "analysis/check/internal.h"

static bool alone(const struct monitor *m)
{
	return m->rule->n_phrases == 1;
}

static void judge(const struct check *c, struct interval *a, const struct interval *b)
{
	enum tri first = b->open ? YES : occ_before(c, &a->s, &b->e);
	enum tri second = a->open ? YES : occ_before(c, &b->s, &a->e);

	if (first == NO || second == NO)
		return;
	if (first == YES && second == YES && !a->shadow && !b->shadow) {
		if (!a->hit)
			a->at = a->s.ns > b->s.ns ? a->s : b->s;
		a->hit = true;
		return;
	}
	/* what ends near the end of the other's capture is judged by what was captured */
	if (b->cut && (first == MAYBE || second == MAYBE))
		return;
	a->unsure = true;
	if (b->shadow || a->shadow)
		a->lossy = true;
	a->cut = a->cut || (b->shadow && b->cut);
}

static void finish(struct check *c, struct monitor *m, struct interval *a)
{
	if (a->hit)
		case_violated(c, m, CVL_CHECK_OVERLAP, &a->at, NULL);
	else if (a->unsure)
		case_unknown(c, m,
			     !a->lossy ? CVL_CHECK_BOUNDS :
			     a->cut    ? CVL_CHECK_CUT :
					 CVL_CHECK_LOSS,
			     &a->s, NULL);
	else if (!a->shadow)
		case_held(m);
}

static struct interval *newest(struct queue *q)
{
	return q->n ? queue_at(q, q->n - 1) : NULL;
}

static void begin(struct check *c, struct monitor *m, size_t role, const struct occ *o, bool shadow)
{
	struct queue *q = role ? &m->b : &m->a;
	struct interval *i = newest(q);

	if (i && i->open) {
		i->open = false;
		i->e = *o;
	}
	i = queue_push(c, q);
	if (!i) {
		case_unknown(c, m, CVL_CHECK_CROWDED, o, NULL);
		return;
	}
	*i = (struct interval){ .s = *o, .open = true, .shadow = shadow };
}

static void end(struct monitor *m, size_t role, const struct occ *o)
{
	struct interval *i = newest(role ? &m->b : &m->a);

	if (i && i->open) {
		i->open = false;
		i->e = *o;
	}
}

/*
 * A source's capture ends here: its last interval ends, and B is unknown from there on.
 */
static void capture_ended(struct check *c, struct monitor *m, size_t role)
{
	const struct source *src = &c->source[m->source[role]];
	struct interval *i;

	if (src->blind && (!role || src->began))
		return;
	end(m, role, &src->end);
	if (!role)
		return;
	begin(c, m, 1, src->blind ? &OCC_FIRST : &src->end, true);
	i = newest(&m->b);
	if (i)
		i->cut = true;
}

static void look_for_ends(struct check *c, struct monitor *m, int64_t now)
{
	const struct interval *i = newest(&m->a);

	if (i && i->open && !i->shadow && !source_reaches(c, &c->source[m->source[0]], now))
		capture_ended(c, m, 0);
	if (!m->ended && !source_reaches(c, &c->source[m->source[1]], now)) {
		m->ended = true;
		capture_ended(c, m, 1);
	}
}

static bool passed(const struct interval *i, int64_t now, int64_t reach)
{
	return !i->open && cvl_add_sat(i->e.ns, reach) < now;
}

/* Judge and drop what lies too far back from @now to meet anything else. */
static void advance(struct check *c, struct monitor *m, int64_t now)
{
	int64_t reach = m->reach;
	struct interval *i;

	look_for_ends(c, m, now);
	while (m->a.n && passed(i = queue_first(&m->a), now, reach)) {
		for (size_t k = 0; k < m->b.n; k++)
			judge(c, i, queue_at(&m->b, k));
		finish(c, m, i);
		queue_pop(&m->a);
	}
	while (m->b.n && passed(i = queue_first(&m->b), now, reach)) {
		for (size_t k = 0; k < m->a.n; k++)
			judge(c, queue_at(&m->a, k), i);
		queue_pop(&m->b);
	}
}

void never_event(struct check *c, struct monitor *m, size_t role, const struct occ *o, bool level)
{
	bool state = check_is_state(&m->rule->phrase[role]), dark;
	const struct interval *i;

	c->source[m->source[role]].seen |= level;
	if (alone(m)) {
		case_violated(c, m, CVL_CHECK_HAPPENED, o, NULL);
		return;
	}
	if (m->reach == CVL_BOUND_UNKNOWN) {
		if (!role && level)
			case_unknown(c, m, CVL_CHECK_BOUNDS, o, NULL);
		return;
	}
	advance(c, m, o->ns);
	i = newest(role ? &m->b : &m->a);
	dark = !state && i && i->open; /* another of its streams is dark */
	if (level)
		begin(c, m, role, o, false);
	if (!level || !state)
		end(m, role, o);
	if (dark)
		begin(c, m, role, o, true);
}

void never_dark(struct check *c, struct monitor *m, size_t role, const struct occ *from)
{
	if (alone(m)) {
		case_unknown(c, m, CVL_CHECK_LOSS, from, NULL);
		return;
	}
	if (m->reach == CVL_BOUND_UNKNOWN)
		return;
	advance(c, m, from->ns);
	begin(c, m, role, from, true);
}

void never_light(struct check *c, struct monitor *m, size_t role, const struct occ *at, bool level,
		 bool first)
{
	struct interval *i;

	if (alone(m) || m->reach == CVL_BOUND_UNKNOWN)
		return;
	if (first && role) { /* B's earlier state is unknown */
		begin(c, m, role, &OCC_FIRST, true);
		i = newest(&m->b);
		if (i)
			i->cut = true;
	}
	end(m, role, at);
	if (level)
		begin(c, m, role, at, false);
}

void never_end(struct check *c, struct monitor *m)
{
	struct interval *i;

	if (alone(m))
		return;
	capture_ended(c, m, 0);
	if (!m->ended)
		capture_ended(c, m, 1);
	for (; m->a.n; queue_pop(&m->a)) {
		i = queue_first(&m->a);
		for (size_t k = 0; k < m->b.n; k++)
			judge(c, i, queue_at(&m->b, k));
		finish(c, m, i);
	}
}
