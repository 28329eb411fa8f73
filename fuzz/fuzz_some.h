/* SPDX-License-Identifier: MIT */
/** Some fields of an event, read alone, are what they are among all of them. */
#ifndef FUZZ_SOME_H
#define FUZZ_SOME_H

#include <stdlib.h>
#include <string.h>

#include "store/ctf/machine.h"

#define SOME_MAX 8

struct fuzz_seen {
	const char *name[SOME_MAX];
	size_t n;
	struct cvl_value value[SOME_MAX]; /* the first of each name */
	char text[SOME_MAX][32];          /* its begin */
	uint64_t has;
};

static inline void fuzz_see(void *ctx, const char *name, const struct cvl_value *v)
{
	struct fuzz_seen *seen = ctx;

	for (size_t i = 0; i < seen->n; i++) {
		if (seen->name[i] != name || seen->has >> i & 1)
			continue;
		seen->has |= (uint64_t)1 << i;
		seen->value[i] = *v;
		if (v->type->kind > CVL_TYPE_ENUM && v->type->kind != CVL_TYPE_FLOAT)
			memcpy(seen->text[i], v->s.text,
			       v->s.len < sizeof(seen->text[i]) ? v->s.len : sizeof(seen->text[i]));
	}
}

static inline void fuzz_no_begin(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	(void)ctx, (void)name, (void)t, (void)n;
}

static inline void fuzz_no_end(void *ctx, const struct cvl_type *t)
{
	(void)ctx, (void)t;
}

static inline void fuzz_same(const struct fuzz_seen *all, const struct fuzz_seen *some)
{
	if (all->has != some->has)
		abort();
	for (size_t i = 0; i < all->n; i++) {
		const struct cvl_value *a = &all->value[i], *b = &some->value[i];

		if (!(all->has >> i & 1))
			continue;
		if (a->type != b->type)
			abort();
		if (a->type->kind <= CVL_TYPE_ENUM || a->type->kind == CVL_TYPE_FLOAT) {
			if (memcmp(&a->u, &b->u, sizeof(a->u)) != 0)
				abort();
		} else if (a->s.len != b->s.len ||
			   memcmp(all->text[i], some->text[i], sizeof(all->text[i])) != 0) {
			abort();
		}
	}
}

/* Members of the scopes of event @i, chosen by the bits of @draw. */
static inline void fuzz_some(struct cvl_stream *s, const struct cvl_trace *trace,
			     const struct cvl_batch *b, size_t i, uint64_t draw)
{
	const struct cvl_event_class *class = cvl_stream_class(s, b, i);
	struct fuzz_seen all = { .n = 0 }, some, taken;
	const struct cvl_visitor see = { .value = fuzz_see,
					 .begin = fuzz_no_begin,
					 .end = fuzz_no_end,
					 .ctx = &all },
				 see_some = { .value = fuzz_see,
					      .begin = fuzz_no_begin,
					      .end = fuzz_no_end,
					      .ctx = &some };
	const bool in[CVL_SCOPES] = { [CVL_SCOPE_STREAM_CONTEXT] = true,
				      [CVL_SCOPE_EVENT_CONTEXT] = true,
				      [CVL_SCOPE_FIELDS] = true };
	struct some_set *set = some_set_new();
	struct some_fields *fields;

	if (!set)
		abort();
	for (int sc = CVL_SCOPE_STREAM_CONTEXT; class && sc < CVL_SCOPES; sc++) {
		const struct cvl_type *t = class->type[sc];

		for (uint32_t k = 0;
		     t && t->kind == CVL_TYPE_STRUCT && k < t->n && all.n < SOME_MAX;
		     k++, draw = draw >> 1 | draw << 63)
			if (draw & 1)
				all.name[all.n++] = t->member[k].name;
	}
	if (!all.n) {
		some_set_free(set);
		return;
	}
	some = taken = all;
	if (layout_some(&fields, set, trace, b->cls[i], all.name, all.n, in, NULL) ||
	    cvl_stream_visit(s, b, i, &see, NULL) ||
	    stream_visit_some(s, b, i, fields, draw >> 1 & 1, &see_some, NULL))
		abort();
	fuzz_same(&all, &some);
	if (some_plain(fields)) {
		if (stream_take(s, b, i, fields, taken.value, &taken.has))
			abort();
		for (size_t k = 0; k < taken.n; k++)
			if (taken.has >> k & 1 && taken.value[k].type->kind > CVL_TYPE_ENUM &&
			    taken.value[k].type->kind != CVL_TYPE_FLOAT)
				memcpy(taken.text[k], taken.value[k].s.text,
				       taken.value[k].s.len < 32 ? taken.value[k].s.len : 32);
		fuzz_same(&all, &taken);
	}
	some_set_free(set);
}

#endif
