/* SPDX-License-Identifier: MIT */
/**
 * The one writer of TSDL: of what our traces are, and of what any trace's fields are when they are
 * copied.
 *
 * The store goes on with a trace only if its metadata are what they would be now: what is put here
 * never changes.
 */
#ifndef TSDL_PUT_H
#define TSDL_PUT_H

#include <stdio.h>

#include <coeval/ctf.h>

/* ---- parts of metadata ---- */

/** @s in quotes. */
void tsdl_put_text(FILE *f, const char *s);

struct tsdl_int {
	unsigned size, align;  /* bits */
	const char *is_signed; /* "true", "false" or NULL: not said */
	unsigned base;         /* 0: not said */
	const char *clock;     /* that it is mapped to, or NULL */
};

/** "integer { ... }" */
void tsdl_put_int(FILE *f, const struct tsdl_int *i);

/** That integer by the name @name. */
void tsdl_put_alias(FILE *f, const char *name, const struct tsdl_int *i);

/**
 * uint8_t to int64_t, @extra called @name, double; and the trace with its packet header: magic,
 * UUID, stream.
 */
void tsdl_put_trace(FILE *f, const char *name, const struct tsdl_int *extra,
		    const uint8_t uuid[16]);

/** A line of `env`, whose name is @name, followed by @number unless that is negative. */
void tsdl_put_env(FILE *f, const char *name, int number, const char *text);

/** A clock of @rate_hz whose tick 0 is at @unix_ns. */
void tsdl_put_clock(FILE *f, const char *name, const char *description, uint64_t rate_hz,
		    int64_t unix_ns);

/** "stream {" and the usual members of its packets' context, with timestamps of type @stamp. */
void tsdl_put_stream(FILE *f, size_t id, const char *stamp);

/** "event {" and what it is called. */
void tsdl_put_event(FILE *f, size_t stream, uint32_t id, const char *name);

/* ---- types ---- */

/*
 * Types of a trace for a copy of its fields in whole little-endian bytes: names, scopes, sizes and
 * labels stay.
 *
 * So do references: the length of a sequence and the tag of a variant are where they were. Those in
 * a scope that is not copied (a header, sizes of a packet) are written in front of the sequence or
 * variant, under a name that begins with TSDL_OWN.
 */

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
 * Whether sequence or variant @t has a 32-bit length or option number of ours in front. Known when
 * all that uses it was put once: put everything twice.
 */
bool tsdl_is_own(const struct tsdl_put *p, const struct cvl_type *t);

void tsdl_put_free(struct tsdl_put *p);

#endif
