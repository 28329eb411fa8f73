/* SPDX-License-Identifier: MIT */
/*
 * Rules in which one record is two sides. At an edge of a line one state ends and the other begins,
 * so the answer to "never A rises while A is high" would depend on a convention only; and an edge
 * that is two steps of an order has no place in it. Both are refused.
 */
#include "analysis/check/internal.h"

static bool both(const struct check_rule *r, const struct feed *a, const struct feed *b)
{
	return r->kind == CHECK_NEVER || (a->rise && b->rise) || (a->fall && b->fall);
}

static bool of_line(const struct check *c, const struct monitor *m, size_t i)
{
	return c->source[m->source[i]].meaning->of_lines;
}

/* Whether a change of one line may be phrase @i and phrase @k. */
static bool share(const struct check *c, const struct monitor *m, size_t i, size_t k)
{
	const struct source *s = &c->source[m->source[i]];

	for (size_t n = 0; n < s->n_streams; n++) {
		const struct feeds *f = &c->stream[s->stream[n]].line;

		for (size_t x = 0; x < f->n; x++) {
			if (f->feed[x].source != m->source[i])
				continue;
			for (size_t y = f->first[f->feed[x].what];
			     y < f->first[f->feed[x].what + 1]; y++)
				if (f->feed[y].source == m->source[k] &&
				    both(m->rule, &f->feed[x], &f->feed[y]))
					return true;
		}
	}
	return false;
}

static int refuse(const struct check *c, const struct monitor *m, size_t i, size_t k,
		  struct cvl_error *err)
{
	const struct check_phrase *p = &m->rule->phrase[k];

	if (m->rule->kind == CHECK_NEVER)
		return check_fail(
			c, p, err,
			"'%.80s' is of the same line of %s, whose edges are where its states begin and end; name another line, or say `other.` if other nodes are meant",
			m->rule->phrase[i].text, c->source[m->source[k]].node);
	return check_fail(c, p, err,
			  "one edge may be this and '%.80s': there is no order between the two",
			  m->rule->phrase[i].text);
}

int check_same(const struct check *c, struct cvl_error *err)
{
	for (size_t n = 0; n < c->n_monitors; n++) {
		const struct monitor *m = &c->monitor[n];

		if (m->rule->kind != CHECK_NEVER && m->rule->kind != CHECK_ORDER)
			continue;
		for (size_t k = 1; k < m->rule->n_phrases; k++)
			for (size_t i = 0; i < k; i++)
				if (of_line(c, m, i) && of_line(c, m, k) && share(c, m, i, k))
					return refuse(c, m, i, k, err);
	}
	return 0;
}
