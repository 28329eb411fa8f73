/* SPDX-License-Identifier: MIT */
/* Whether the fields of an event are as a phrase wants them. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "analysis/check/internal.h"

#define TEXT_MAX 256

struct look {
	const struct check_phrase *p;
	unsigned met; /* a bit a condition */
};

static bool compare(const struct check_condition *c, double v)
{
	switch (c->op) {
	case CHECK_EQ: return c->is_number && v == c->number;
	case CHECK_NE: return !c->is_number || v != c->number;
	case CHECK_LT: return v < c->number;
	case CHECK_LE: return v <= c->number;
	case CHECK_GT: return v > c->number;
	default: return v >= c->number;
	}
}

static bool compare_text(const struct check_condition *c, const char *text, size_t n)
{
	char buf[TEXT_MAX];
	bool same;

	n = n < sizeof(buf) ? n : sizeof(buf) - 1;
	memcpy(buf, text, n);
	buf[n] = '\0';
	same = !fnmatch(c->text, buf, 0);
	return c->op == CHECK_EQ ? same : c->op == CHECK_NE && !same;
}

/* An enumeration is compared by its label, or by its number. */
static bool compare_label(const struct check_condition *c, const struct cvl_type *t, int64_t v)
{
	bool same = false;

	for (uint32_t i = 0; i < t->n && !same; i++)
		same = v >= t->label[i].low && v <= t->label[i].high &&
		       !fnmatch(c->text, t->label[i].name, 0);
	return c->op == CHECK_EQ ? same : c->op == CHECK_NE && !same;
}

static bool meets(const struct check_condition *c, const struct cvl_value *v)
{
	const struct cvl_type *t = v->type, *number = t->kind == CVL_TYPE_ENUM ? t->elem : t;

	switch (t->kind) {
	case CVL_TYPE_FLOAT: return compare(c, v->f);
	case CVL_TYPE_ENUM:
		if (!c->is_number)
			return compare_label(c, t, v->i);
		/* fall through */
	case CVL_TYPE_INT: return compare(c, number->is_signed ? (double)v->i : (double)v->u);
	default: return compare_text(c, v->s.text, v->s.len);
	}
}

static void value(void *ctx, const char *name, const struct cvl_value *v)
{
	struct look *l = ctx;

	for (size_t i = 0; name && i < l->p->n_conditions; i++)
		if (!strcmp(cvl_plain_name(name), l->p->condition[i].field) &&
		    meets(&l->p->condition[i], v))
			l->met |= 1u << i;
}

static void begin(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	(void)ctx, (void)name, (void)t, (void)n;
}

static void end(void *ctx, const struct cvl_type *t)
{
	(void)ctx, (void)t;
}

bool where_holds(struct cvl_stream *stream, const struct cvl_batch *b, size_t i,
		 const struct check_phrase *p)
{
	struct look l = { .p = p };
	const struct cvl_visitor visitor = { value, begin, end, NULL, &l };

	return !cvl_stream_visit(stream, b, i, &visitor, NULL) &&
	       l.met == (1u << p->n_conditions) - 1;
}
