/* SPDX-License-Identifier: MIT */
/** A visitor that touches all that it is shown; ctx: uint64_t[2], a sum and how deep it is. */
#ifndef FUZZ_VISITOR_H
#define FUZZ_VISITOR_H

#include <stdlib.h>

#include <coeval/ctf.h>

/* Touches all bytes that a value names. */
static inline void fuzz_value(void *ctx, const char *name, const struct cvl_value *v)
{
	uint64_t *sum = ctx;

	(void)name;
	if (v->type->kind <= CVL_TYPE_ENUM)
		*sum += v->u;
	else
		for (size_t i = 0; i < v->s.len; i++)
			*sum += (uint8_t)v->s.text[i];
}

static inline void fuzz_begin(void *ctx, const char *name, const struct cvl_type *type, uint64_t n)
{
	int64_t *depth = (int64_t *)ctx + 1;

	(void)name, (void)type, (void)n;
	++*depth;
}

static inline void fuzz_end(void *ctx, const struct cvl_type *type)
{
	int64_t *depth = (int64_t *)ctx + 1;

	(void)type;
	if (--*depth < 0)
		abort();
}

#endif
