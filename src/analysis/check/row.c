/* SPDX-License-Identifier: MIT */
/* Rules about sequences: stays of a line, periods, counts in a window, order. */
#include "analysis/check/internal.h"

static const struct occ *end_of(const struct check *c, const struct monitor *m)
{
	return &c->source[m->source[0]].end;
}

/* ---- state ---- */

static void too_long_or_short(struct check *c, struct monitor *m, const struct occ *a,
			      const struct occ *b, enum tri t)
{
	if (t == YES)
		case_held(m);
	else if (t == MAYBE)
		case_unknown(c, m, CVL_CHECK_BOUNDS, a, b);
	else
		case_violated(c, m,
			      occ_within(c, a, b, m->rule->min, INT64_MAX) == NO ?
				      CVL_CHECK_TOO_SHORT :
				      CVL_CHECK_TOO_LONG,
			      a, b);
}

/* A stay that was only partly observed. */
static void partly(struct check *c, struct monitor *m, const struct occ *a, const struct occ *b,
		   enum cvl_check_reason why)
{
	if (m->rule->max != INT64_MAX && occ_within(c, a, b, INT64_MIN, m->rule->max) == NO)
		case_violated(c, m, CVL_CHECK_TOO_LONG, a, b);
	else if (m->rule->max == INT64_MAX && occ_within(c, a, b, m->rule->min, INT64_MAX) == YES)
		case_held(m);
	else
		case_unknown(c, m, why, a, b);
}

static void stay(struct check *c, struct monitor *m, const struct occ *o, bool level)
{
	if (level == m->open)
		return;
	if (level) {
		m->last = *o;
		m->start_seen = true;
	} else if (m->start_seen) {
		too_long_or_short(c, m, &m->last, o,
				  occ_within(c, &m->last, o, m->rule->min, m->rule->max));
	} else {
		partly(c, m, &m->last, o, m->lost ? CVL_CHECK_LOSS : CVL_CHECK_CUT);
	}
	m->open = level;
}

/* ---- every ---- */

static void period(struct check *c, struct monitor *m, const struct occ *o)
{
	if (m->has_last)
		too_long_or_short(c, m, &m->last, o,
				  occ_within(c, &m->last, o, m->rule->min, m->rule->max));
	m->last = *o;
	m->has_last = !c->source[m->source[0]].blind; /* else one may be lost in between */
}

/* ---- count ---- */

static void count(struct check *c, struct monitor *m, const struct occ *o)
{
	struct occ *slot;
	enum tri t = NO;

	if (m->a.n == m->rule->count) {
		struct occ *oldest = queue_first(&m->a);

		t = occ_within(c, oldest, o, INT64_MIN, m->rule->max - 1);
		if (t == YES)
			case_violated(c, m, CVL_CHECK_TOO_MANY, oldest, o);
		else if (t == MAYBE)
			case_unknown(c, m, CVL_CHECK_BOUNDS, oldest, o);
		queue_pop(&m->a);
	}
	if (t == NO && m->lost &&
	    (c->source[m->source[0]].blind ||
	     occ_within(c, &m->last_loss, o, INT64_MIN, m->rule->max - 1) != NO))
		case_unknown(c, m, CVL_CHECK_LOSS, o, NULL);
	else if (t == NO)
		case_held(m);
	slot = queue_push(c, &m->a);
	if (slot)
		*slot = *o;
}

/* ---- order ---- */

/* What the next case is about. */
static void say_steps(struct monitor *m, int step, int before)
{
	m->event = m->rule->phrase[step].text;
	m->after = m->rule->phrase[before].text;
}

/*
 * Close the first @n waiting: one with a certain place, or several with an uncertain order among
 * themselves.
 */
static void close_cluster(struct check *c, struct monitor *m, size_t n)
{
	const struct ordered *first = queue_first(&m->a);
	int steps = (int)m->rule->n_phrases, step = first->step;

	if (n > 1) {
		say_steps(m, ((struct ordered *)queue_at(&m->a, 1))->step, step);
		case_unknown(c, m, CVL_CHECK_BOUNDS, &first->o, NULL);
		step = -1;
	} else if (m->step >= 0) {
		if (step == (m->step + 1) % steps) {
			case_held(m);
		} else {
			say_steps(m, step, m->step);
			case_violated(c, m, CVL_CHECK_WRONG_ORDER, &first->o, NULL);
		}
	}
	m->step = step;
	while (n--)
		queue_pop(&m->a);
}

/* Judge what no event from @now on can precede. */
static void settle(struct check *c, struct monitor *m, int64_t now, int64_t reach)
{
	while (m->a.n) {
		const struct ordered *last = queue_first(&m->a);
		size_t n = 1;

		while (last->linked && n < m->a.n)
			last = queue_at(&m->a, n++);
		if (cvl_add_sat(last->o.ns, reach) >= now)
			return;
		close_cluster(c, m, n);
	}
}

static void close_all(struct check *c, struct monitor *m)
{
	settle(c, m, INT64_MAX, -1);
}

static bool all_captured(struct check *c, struct monitor *m, const struct occ *o)
{
	for (size_t i = 0; i < m->rule->n_phrases && !m->ended; i++)
		if (!source_reaches(c, &c->source[m->source[i]], o->ns)) {
			close_all(c, m);
			case_unknown(c, m, CVL_CHECK_CUT, o, NULL);
			m->ended = true;
		}
	return !m->ended;
}

static void step(struct check *c, struct monitor *m, size_t role, const struct occ *o)
{
	int64_t reach = m->reach;
	struct ordered *slot;
	size_t i;

	if (!all_captured(c, m, o))
		return;
	if (reach == CVL_BOUND_UNKNOWN) {
		case_unknown(c, m, CVL_CHECK_BOUNDS, o, NULL);
		return;
	}
	settle(c, m, o->ns, reach);
	for (i = 0; i < m->a.n; i++)
		if (occ_before(c, &((struct ordered *)queue_at(&m->a, i))->o, o) != YES)
			break;
	for (; i < m->a.n; i++)
		((struct ordered *)queue_at(&m->a, i))->linked = true;
	slot = queue_push(c, &m->a);
	if (!slot) {
		close_all(c, m);
		case_unknown(c, m, CVL_CHECK_CROWDED, o, NULL);
		m->step = -1;
		return;
	}
	*slot = (struct ordered){ .o = *o, .step = (int)role };
}

/* ---- all of them ---- */

void row_event(struct check *c, struct monitor *m, enum check_kind kind, size_t role,
	       const struct occ *o, bool level)
{
	switch (kind) {
	case CHECK_STATE: stay(c, m, o, level); break;
	case CHECK_EVERY: period(c, m, o); break;
	case CHECK_COUNT: count(c, m, o); break;
	default: step(c, m, role, o);
	}
}

void row_dark(struct check *c, struct monitor *m, size_t role, const struct occ *from)
{
	(void)role;
	if (m->rule->kind == CHECK_STATE && m->open) {
		partly(c, m, &m->last, from, CVL_CHECK_LOSS);
	} else {
		if (m->rule->kind == CHECK_ORDER)
			close_all(c, m);
		case_unknown(c, m, CVL_CHECK_LOSS, from, NULL);
	}
	m->open = m->has_last = false;
	m->step = -1;
	m->lost = true;
	m->last_loss = *from;
}

void row_light(struct check *c, struct monitor *m, const struct occ *at, bool level)
{
	(void)c;
	if (m->lost)
		m->last_loss = *at;
	if (m->rule->kind != CHECK_STATE || !level)
		return;
	m->open = true;
	m->start_seen = false;
	m->last = *at;
}

void row_end(struct check *c, struct monitor *m)
{
	const struct occ *end = end_of(c, m);

	if (m->rule->kind == CHECK_ORDER)
		close_all(c, m);
	if (m->rule->kind == CHECK_STATE && m->open)
		partly(c, m, &m->last, end, CVL_CHECK_CUT);
	/* a period that stopped */
	if (m->rule->kind == CHECK_EVERY && m->has_last &&
	    occ_within(c, &m->last, end, INT64_MIN, m->rule->max) == NO)
		case_violated(c, m, CVL_CHECK_NONE_CAME, &m->last, NULL);
}
