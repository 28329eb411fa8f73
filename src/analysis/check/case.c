/* SPDX-License-Identifier: MIT */
/* What came of a case, and queues of those that are pending. */
#include <stdlib.h>
#include <string.h>

#include "analysis/check/internal.h"

const char *check_verdict_name(enum check_verdict v)
{
	static const char *const names[] = { "holds", "violated", "cannot tell", "not tried" };

	return names[v];
}

void case_held(struct monitor *m)
{
	m->result->held++;
}

static void fill(struct check *c, const struct monitor *m, struct check_case *out,
		 enum check_reason why, const struct occ *a, const struct occ *b)
{
	const struct source *from = &c->source[m->source[0]];

	*out = (struct check_case){ .reason = why, .from = from->node, .step = -1, .before = -1 };
	if (m->rule->n_phrases == 2 && m->rule->kind != CHECK_ORDER)
		out->to = c->source[m->source[1]].node;
	out->time.ns = a->ns;
	out->bound = occ_own_bound(c, a);
	if (b) {
		out->has_value = true;
		out->value = b->ns - a->ns;
		out->value_bound = occ_bound(c, a, b);
	}
}

void case_violated(struct check *c, struct monitor *m, enum check_reason why, const struct occ *a,
		   const struct occ *b)
{
	struct check_result *r = m->result;

	if (r->violated < CHECK_CASES_MAX)
		fill(c, m, &r->first_violated[r->violated], why, a, b);
	r->violated++;
	r->why[why]++;
}

void case_unknown(struct check *c, struct monitor *m, enum check_reason why, const struct occ *a,
		  const struct occ *b)
{
	struct check_result *r = m->result;

	if (r->unknown < CHECK_CASES_MAX)
		fill(c, m, &r->first_unknown[r->unknown], why, a, b);
	r->unknown++;
	r->why[why]++;
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
