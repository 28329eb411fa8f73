/* SPDX-License-Identifier: MIT */
/* Rules about one thing after the other: stays of a line, periods, counts in a window, order. */
#include "analysis/check_internal.h"

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
		case_unknown(c, m, CHECK_BOUNDS, a, b);
	else
		case_violated(c, m,
			      occ_within(c, a, b, m->rule->min, INT64_MAX) == NO ? CHECK_TOO_SHORT :
										   CHECK_TOO_LONG,
			      a, b);
}

/* A stay of which only this much was seen. */
static void partly(struct check *c, struct monitor *m, const struct occ *a, const struct occ *b,
		   enum check_reason why)
{
	if (m->rule->max != INT64_MAX && occ_within(c, a, b, INT64_MIN, m->rule->max) == NO)
		case_violated(c, m, CHECK_TOO_LONG, a, b);
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
		partly(c, m, &m->last, o, m->lost ? CHECK_LOSS : CHECK_CUT);
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
		struct occ *oldest = queue_at(&m->a, 0);

		t = occ_within(c, oldest, o, INT64_MIN, m->rule->max - 1);
		if (t == YES)
			case_violated(c, m, CHECK_TOO_MANY, oldest, o);
		else if (t == MAYBE)
			case_unknown(c, m, CHECK_BOUNDS, oldest, o);
		queue_pop(&m->a);
	}
	if (t == NO && m->lost &&
	    (c->source[m->source[0]].blind ||
	     occ_within(c, &m->last_loss, o, INT64_MIN, m->rule->max - 1) != NO))
		case_unknown(c, m, CHECK_LOSS, o, NULL);
	else if (t == NO)
		case_held(m);
	slot = queue_push(c, &m->a);
	if (slot)
		*slot = *o;
}

/* ---- order ---- */

static void say_steps(struct check_case *first, uint64_t n, int step, int before)
{
	if (n <= CHECK_CASES_MAX) {
		first[n - 1].step = step;
		first[n - 1].before = before;
	}
}

/* What waits in m->a are events whose order among themselves cannot be told. */
static void close_cluster(struct check *c, struct monitor *m)
{
	const struct occ *o;
	int n = (int)m->rule->n_phrases, step;

	if (!m->a.n)
		return;
	o = queue_at(&m->a, 0);
	step = *(int *)queue_at(&m->b, 0);
	if (m->a.n > 1) {
		case_unknown(c, m, CHECK_BOUNDS, o, NULL);
		say_steps(m->result->first_unknown, m->result->unknown, *(int *)queue_at(&m->b, 1),
			  step);
		step = -1;
	} else if (m->step >= 0) {
		if (step == (m->step + 1) % n) {
			case_held(m);
		} else {
			case_violated(c, m, CHECK_WRONG_ORDER, o, NULL);
			say_steps(m->result->first_violated, m->result->violated, step, m->step);
		}
	}
	m->step = step;
	while (m->a.n) {
		queue_pop(&m->a);
		queue_pop(&m->b);
	}
}

static void step(struct check *c, struct monitor *m, size_t role, const struct occ *o)
{
	struct occ *slot;
	int *which;

	for (size_t i = 0; i < m->a.n; i++)
		if (occ_before(c, queue_at(&m->a, i), o) != YES)
			goto join;
	close_cluster(c, m);
join:
	slot = queue_push(c, &m->a);
	which = slot ? queue_push(c, &m->b) : NULL;
	if (which) {
		*slot = *o;
		*which = (int)role;
		return;
	}
	if (slot)
		m->a.n--;
	case_unknown(c, m, CHECK_CROWDED, o, NULL);
}

/* ---- all of them ---- */

void row_event(struct check *c, struct monitor *m, size_t role, const struct occ *o, bool level)
{
	switch (m->rule->kind) {
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
		partly(c, m, &m->last, from, CHECK_LOSS);
	} else {
		if (m->rule->kind == CHECK_ORDER)
			close_cluster(c, m);
		case_unknown(c, m, CHECK_LOSS, from, NULL);
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
		close_cluster(c, m);
	if (m->rule->kind == CHECK_STATE && m->open)
		partly(c, m, &m->last, end, CHECK_CUT);
	/* one that stopped */
	if (m->rule->kind == CHECK_EVERY && m->has_last &&
	    occ_within(c, &m->last, end, INT64_MIN, m->rule->max) == NO)
		case_violated(c, m, CHECK_NONE_CAME, &m->last, NULL);
}
