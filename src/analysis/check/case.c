/* SPDX-License-Identifier: MIT */
/* Results of cases, and queues of pending ones. */
#include <stdlib.h>
#include <string.h>

#include "analysis/check/internal.h"

const char *cvl_check_verdict_name(enum cvl_check_verdict v)
{
	static const char *const names[] = { "holds", "violated", "cannot tell", "not tried" };

	return names[v];
}

static const struct {
	const char *name, *text;
} reasons[CVL_CHECK_REASONS] = {
	[CVL_CHECK_BOUNDS] = { "bounds", "the bounds are too wide to say" },
	[CVL_CHECK_LOSS] = { "gap", "a gap may hide it" },
	[CVL_CHECK_CUT] = { "capture ends", "the capture begins or ends in it" },
	[CVL_CHECK_LATE] = { "out of order", "a record came out of order" },
	[CVL_CHECK_CROWDED] = { "too crowded", "more at once than are kept" },
	[CVL_CHECK_TOO_SHORT] = { "too short", "too short" },
	[CVL_CHECK_TOO_LONG] = { "too long", "too long" },
	[CVL_CHECK_NONE_CAME] = { "none came", "none came" },
	[CVL_CHECK_HAPPENED] = { "it came", "it came" },
	[CVL_CHECK_OVERLAP] = { "both at once", "both at once" },
	[CVL_CHECK_WRONG_ORDER] = { "order", "wrong order" },
	[CVL_CHECK_TOO_MANY] = { "too many", "one too many" },
};

const char *cvl_check_reason_name(enum cvl_check_reason r)
{
	return reasons[r].name;
}

const char *cvl_check_reason_text(enum cvl_check_reason r)
{
	return reasons[r].text;
}

void case_held(struct monitor *m)
{
	m->result->held++;
}

static void fill(struct check *c, const struct monitor *m, struct cvl_check_case *out,
		 enum cvl_check_reason why, const struct occ *a, const struct occ *b)
{
	const struct source *from = &c->source[m->source[0]];

	*out = (struct cvl_check_case){ .reason = why, .from = from->node };
	if (m->rule->n_phrases == 2 && m->rule->kind != CHECK_ORDER)
		out->to = c->source[m->source[1]].node;
	out->time.ns = a->ns;
	out->bound_ns = occ_own_bound(c, a);
	if (b) {
		out->has_value = true;
		out->value_ns = b->ns - a->ns;
		out->value_bound_ns = occ_bound(c, a, b);
	}
	out->event = m->event;
	out->after = m->after;
}

/* The @n-th of its verdict. */
static void tell(struct check *c, struct monitor *m, struct cvl_check_case first[], uint64_t n,
		 enum cvl_check_reason why, const struct occ *a, const struct occ *b)
{
	struct cvl_check_case one;

	m->result->why[why]++;
	if (n < CVL_CHECK_CASES_MAX || c->opts.put) {
		fill(c, m, &one, why, a, b);
		if (n < CVL_CHECK_CASES_MAX)
			first[n] = one;
		if (c->opts.put)
			c->opts.put(c->opts.ctx, m->result, first == m->result->first_violated,
				    &one);
	}
	m->event = m->after = NULL;
}

void case_violated(struct check *c, struct monitor *m, enum cvl_check_reason why,
		   const struct occ *a, const struct occ *b)
{
	tell(c, m, m->result->first_violated, m->result->violated++, why, a, b);
	c->violated = true;
}

void case_unknown(struct check *c, struct monitor *m, enum cvl_check_reason why,
		  const struct occ *a, const struct occ *b)
{
	tell(c, m, m->result->first_unknown, m->result->unknown++, why, a, b);
}

/* ---- queues ---- */

bool queue_grow(struct check *c, struct queue *q)
{
	size_t room = q->room ? 2 * q->room : 4;
	char *grown = room > CHECK_PENDING_MAX ? NULL : malloc(room * q->size);

	if (!grown) {
		c->nomem |= room <= CHECK_PENDING_MAX;
		return false;
	}
	for (size_t i = 0; i < q->n; i++)
		memcpy(grown + i * q->size, queue_at(q, i), q->size);
	free(q->item);
	q->item = grown;
	q->head = 0;
	q->room = room;
	return true;
}
