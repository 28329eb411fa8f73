/* SPDX-License-Identifier: MIT */
/**
 * Writes TSDL: the metadata of our own traces, and the types of any trace's fields that are copied.
 *
 * A trace is resumed only if its metadata is what would be written now, so the output of this file
 * must never change.
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
	const char *is_signed; /* "true", "false" or NULL: omitted */
	unsigned base;         /* 0: omitted */
	const char *clock;     /* it is mapped to, or NULL */
};

/** "integer { ... }" */
void tsdl_put_int(FILE *f, const struct tsdl_int *i);

/** A typealias @name of that integer. */
void tsdl_put_alias(FILE *f, const char *name, const struct tsdl_int *i);

/**
 * uint8_t to int64_t, @extra called @name, double; and the trace with its packet header: magic,
 * UUID, stream.
 */
void tsdl_put_trace(FILE *f, const char *name, const struct tsdl_int *extra,
		    const uint8_t uuid[16]);

/** A line of `env` named @name, followed by @number unless negative. */
void tsdl_put_env(FILE *f, const char *name, int number, const char *text);

/** A clock of @rate_hz whose tick 0 is at @unix_ns. */
void tsdl_put_clock(FILE *f, const char *name, const char *description, uint64_t rate_hz,
		    int64_t unix_ns);

/** "stream {" and the usual members of its packets' context, with timestamps of type @stamp. */
void tsdl_put_stream(FILE *f, size_t id, const char *stamp);

/** "event {" and its name, id and stream. */
void tsdl_put_event(FILE *f, size_t stream, uint32_t id, const char *name);

/* ---- types ---- */

/*
 * Types for copying the fields of a trace as whole little-endian bytes. Names, scopes, sizes and
 * labels are kept.
 *
 * So are references to the length of a sequence or the tag of a variant. Lengths and tags in a
 * scope that is not copied (a header, sizes of a packet) are written before the sequence or
 * variant, under a name that begins with TSDL_OWN.
 */

/** Prefix of fields in our exports that are not fields of the record. */
#define TSDL_OWN CVL_EXPORT_FIELD

struct tsdl_put {
	FILE *f;
	const struct cvl_trace *trace;
	const struct cvl_event_class *event; /* whose scopes are visible */
	const struct cvl_type **own; /* sequences and variants preceded by our own length or tag */
	size_t n_own, room;
	bool no_memory;
};

/** Whether the metadata is that of CTF 2. */
bool trace_is_json(const struct cvl_trace *trace);

/** The members of scope @scope of p->event, if it has any. */
void tsdl_put_scope(struct tsdl_put *p, enum cvl_scope scope);

/** Whether the scope has a member that visitors are shown. */
bool tsdl_has_scope(const struct tsdl_put *p, enum cvl_scope scope);

/**
 * Whether sequence or variant @t is preceded by our own 32-bit length or option number. Known only
 * after everything that uses it was written once: write everything twice.
 */
bool tsdl_is_own(const struct tsdl_put *p, const struct cvl_type *t);

void tsdl_put_free(struct tsdl_put *p);

#endif
