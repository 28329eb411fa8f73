/* SPDX-License-Identifier: MIT */
/**
 * Types of a trace as TSDL for a copy of its fields in whole little-endian bytes: names, scopes, sizes and labels stay.
 *
 * So do references: the length of a sequence and the tag of a variant are where they were. Those in a scope that is not copied (a header,
 * sizes of a packet) are written in front of the sequence or variant, under a name that begins with TSDL_OWN.
 */
#ifndef TSDL_PUT_H
#define TSDL_PUT_H

#include <stdio.h>

#include <coeval/ctf.h>

/** Fields called so in what we export are no fields of the record. */
#define TSDL_OWN CVL_EXPORT_FIELD

struct tsdl_put {
	FILE *f;
	const struct cvl_trace *trace;
	const struct cvl_event_class *event; /* whose scopes are in sight */
	const struct cvl_type *
		*own; /* sequences and variants with a length or tag of ours in front */
	size_t n_own, room;
	bool no_memory;
};

/** The members of scope @scope of p->event, if it has any. */
void tsdl_put_scope(struct tsdl_put *p, enum cvl_scope scope);

/** Whether a member of it is shown to visitors. */
bool tsdl_has_scope(const struct tsdl_put *p, enum cvl_scope scope);

/**
 * Whether sequence or variant @t has a 32-bit length or option number of ours in front. Known when all that uses it was put once: put
 * everything twice.
 */
bool tsdl_is_own(const struct tsdl_put *p, const struct cvl_type *t);

void tsdl_put_text(FILE *f, const char *s);

void tsdl_put_free(struct tsdl_put *p);

#endif
