/* SPDX-License-Identifier: MIT */
/*
 * After A, B comes (or never comes) within a time. Role 0 is A, 1 is B. Each A waits until B
 * certainly came, or can no longer come. One B may answer several A.
 */
#include "analysis/check/internal.h"

static bool forbids(const struct monitor *m)
{
	return m->rule->kind == CHECK_THEN_NOT;
}

/* No B can come within its time any more. @late: the B that showed it, or NULL. */
static void resolve(struct check *c, struct monitor *m, struct pending *p, const struct occ *late)
{
	struct source *b = &c->source[m->source[1]];
	int64_t until = cvl_add_sat(p->a.ns, cvl_add_sat(m->rule->max, m->reach));

	if (!p->maybe && !p->lossy && !b->blind && !source_reaches(c, b, until))
		p->lossy = p->cut = true;
	if (p->maybe)
		case_unknown(c, m, CVL_CHECK_BOUNDS, &p->a, &p->b);
	else if (p->lossy)
		case_unknown(c, m, p->cut ? CVL_CHECK_CUT : CVL_CHECK_LOSS, &p->a, NULL);
	else if (forbids(m))
		case_held(m);
	else
		case_violated(c, m, late ? CVL_CHECK_TOO_LONG : CVL_CHECK_NONE_CAME, &p->a, late);
}

static void expire(struct check *c, struct monitor *m, int64_t now, const struct occ *late)
{
	int64_t wait = cvl_add_sat(m->rule->max, m->reach);

	while (m->a.n) {
		struct pending *p = queue_first(&m->a);

		if (cvl_add_sat(p->a.ns, wait) >= now)
			return;
		resolve(c, m, p, late);
		queue_pop(&m->a);
	}
}

static int64_t furthest(const struct check *c, const struct occ *o)
{
	return cvl_add_sat(o->ns, cvl_add_sat(o->capture, c->hi[o->clock]));
}

/*
 * Whether an earlier B already answers @a; stored in m->last. Of those that do so only because of
 * their bounds the one that reaches furthest is enough.
 */
static enum tri earlier(struct check *c, struct monitor *m, const struct occ *a, int64_t from)
{
	enum tri best = NO;

	if (m->rule->min >= 0)
		return occ_within(c, a, &m->last, m->rule->min, m->rule->max);
	while (m->b.n && ((struct occ *)queue_first(&m->b))->ns < cvl_add_sat(a->ns, from))
		queue_pop(&m->b);
	for (size_t i = 0; i < m->b.n && best != YES; i++) {
		const struct occ *b = queue_at(&m->b, i);
		enum tri t = occ_within(c, a, b, m->rule->min, m->rule->max);

		if (t > best) {
			best = t;
			m->last = *b;
		}
	}
	return best;
}

static void remember(struct check *c, struct monitor *m, const struct occ *b)
{
	struct occ *slot;

	if (m->rule->min < 0) {
		int64_t from = cvl_add_sat(m->rule->min, -m->reach);

		while (m->b.n && ((struct occ *)queue_first(&m->b))->ns < cvl_add_sat(b->ns, from))
			queue_pop(&m->b);
		if (m->b.n == CHECK_PENDING_MAX) { /* one is dropped, as if lost */
			m->last_loss = *(struct occ *)queue_first(&m->b);
			m->lost = true;
			queue_pop(&m->b);
		}
		slot = queue_push(c, &m->b);
		if (slot)
			*slot = *b;
	} else if (!m->has_last || furthest(c, b) >= furthest(c, &m->last)) {
		m->last = *b;
	}
	m->has_last = true;
}

static void trigger(struct check *c, struct monitor *m, const struct occ *a)
{
	const struct source *b = &c->source[m->source[1]];
	int64_t reach = m->reach, first;
	struct pending *p;
	enum tri answered = NO;

	if (reach == CVL_BOUND_UNKNOWN) {
		case_unknown(c, m, CVL_CHECK_BOUNDS, a, NULL);
		return;
	}
	expire(c, m, a->ns, NULL);
	if (m->has_last)
		answered = earlier(c, m, a, cvl_add_sat(m->rule->min, -reach));
	if (answered == YES) {
		if (forbids(m))
			case_violated(c, m, CVL_CHECK_HAPPENED, a, &m->last);
		else
			case_held(m);
		return;
	}
	p = queue_push(c, &m->a);
	if (!p) {
		case_unknown(c, m, CVL_CHECK_CROWDED, a, NULL);
		return;
	}
	p->a = *a;
	p->maybe = answered == MAYBE;
	if (p->maybe)
		p->b = m->last;
	first = cvl_add_sat(a->ns, m->rule->min < 0 ? m->rule->min : 0);
	p->lossy = b->blind || (m->lost && m->last_loss.ns >= cvl_add_sat(first, -reach));
	p->cut = p->lossy && (b->blind ? !b->began : m->lost_by_start);
}

/* Whether @p is settled by @b; else it keeps waiting. */
static bool settled(struct check *c, struct monitor *m, struct pending *p, const struct occ *b,
		    int64_t reach)
{
	enum tri t = occ_within(c, &p->a, b, m->rule->min, m->rule->max);

	if (t == YES) {
		if (forbids(m))
			case_violated(c, m, CVL_CHECK_HAPPENED, &p->a, b);
		else
			case_held(m);
		return true;
	}
	if (t == MAYBE) {
		p->maybe = true;
		p->b = *b;
	}
	if (t == MAYBE || cvl_add_sat(b->ns, -m->rule->max) <= cvl_add_sat(p->a.ns, reach))
		return false;
	resolve(c, m, p, b);
	return true;
}

static void answer(struct check *c, struct monitor *m, const struct occ *b)
{
	int64_t reach = m->reach, soon = cvl_add_sat(b->ns, reach);
	size_t kept = 0;

	for (size_t i = 0; i < m->a.n; i++) {
		struct pending *p = queue_at(&m->a, i);

		if (m->rule->min > 0 && soon < cvl_add_sat(p->a.ns, m->rule->min)) {
			if (kept == i)
				return; /* too soon for this one, and for those after it */
		} else if (settled(c, m, p, b, reach)) {
			continue;
		}
		if (kept != i)
			*(struct pending *)queue_at(&m->a, kept) = *p;
		kept++;
	}
	m->a.n = kept;
}

void after_event(struct check *c, struct monitor *m, size_t role, const struct occ *o)
{
	if (!role) {
		trigger(c, m, o);
		return;
	}
	if (m->a.n)
		answer(c, m, o);
	remember(c, m, o);
}

void after_dark(struct check *c, struct monitor *m, size_t role, const struct occ *from)
{
	if (!role) {
		case_unknown(c, m, CVL_CHECK_LOSS, from, NULL);
		return;
	}
	expire(c, m, from->ns, NULL);
	for (size_t i = 0; i < m->a.n; i++)
		((struct pending *)queue_at(&m->a, i))->lossy = true;
}

void after_light(struct check *c, struct monitor *m, size_t role, const struct occ *at, bool first)
{
	(void)c;
	if (!role)
		return;
	m->last_loss = *at;
	m->lost = true;
	m->lost_by_start = first;
}

void after_end(struct check *c, struct monitor *m)
{
	for (; m->a.n; queue_pop(&m->a))
		resolve(c, m, queue_first(&m->a), NULL);
}
