/* SPDX-License-Identifier: MIT */
/** Shared by the files of the TSDL parser: tsdl_lex.c, tsdl_types.c, tsdl_attributes.c, tsdl.c. */
#ifndef STORE_CTF_TSDL_H
#define STORE_CTF_TSDL_H

#include "store/ctf/internal.h"

enum tok_kind { T_END, T_NAME, T_INT, T_TEXT, T_PUNCT };

/* Punctuation of more than one character. */
enum { P_ASSIGN_TYPE = 256, P_DOTS, P_ARROW };

struct tsdl_token {
	enum tok_kind kind;
	int punct;
	const char *s; /* of a name or text (decoded) */
	size_t len;
	uint64_t num;
	size_t offset;
};

/* A type and what is filled in later. The list is in order of declaration. */
struct type {
	struct cvl_type pub;
	bool native_order;
	const char *clock_name;
	struct type *next;
};

struct tsdl_symbol {
	const char *name; /* "uint8_t", "unsigned long", "struct foo" */
	const struct cvl_type *type;
	const struct tsdl_scope *scope;
	struct tsdl_symbol **bucket, *shadowed; /* newest first, so that the innermost is found */
	struct tsdl_symbol *next;               /* in its scope, newest first */
};

struct tsdl_scope {
	struct tsdl_symbol *symbols;
	struct tsdl_scope *up;
};

#define BUCKETS_MIN 64
/* About how many bytes a declaration takes. */
#define BYTES_A_BUCKET 32

struct tsdl_parser {
	struct cvl_trace *trace;
	const char *text, *name;
	size_t n, pos;
	struct tsdl_token tok;
	struct tsdl_scope *scope;
	struct type *types;
	struct tsdl_symbol **bucket;
	size_t n_buckets; /* a power of two that grows with the text */
	unsigned depth;
	bool trace_seen;
	struct cvl_error *err;
	int code;
};

struct tsdl_attribute {
	char name[64]; /* "packet.header", "byte_order" */
	size_t offset;
	enum { A_INT, A_TEXT, A_TYPE } kind;
	uint64_t num;
	bool negative;
	const char *text; /* of a string, or a path such as clock.x.value */
	const struct cvl_type *type;
};

/* ---- tsdl_lex.c ---- */

/** The first error stays. Always returns NULL, so that callers can `return tsdl_bad(...)`. */
void *tsdl_bad(struct tsdl_parser *p, enum cvl_code code, size_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void *tsdl_need_memory(struct tsdl_parser *p, size_t n);
void tsdl_next(struct tsdl_parser *p);
bool tsdl_is_punct(const struct tsdl_parser *p, int c);
bool tsdl_is_name(const struct tsdl_parser *p, const char *name);
bool tsdl_accept(struct tsdl_parser *p, int c);
bool tsdl_expect(struct tsdl_parser *p, int c);
char *tsdl_take_text(struct tsdl_parser *p);
char *tsdl_take_name(struct tsdl_parser *p);

/* ---- tsdl_types.c ---- */

void tsdl_leave_scope(struct tsdl_parser *p);
bool tsdl_parse_alias(struct tsdl_parser *p);
bool tsdl_parse_typedef(struct tsdl_parser *p);
const struct cvl_type *tsdl_parse_type(struct tsdl_parser *p);

/* ---- tsdl_attributes.c ---- */

void tsdl_append_path(char *out, size_t size, const char *s, size_t n);
const char *tsdl_parse_path(struct tsdl_parser *p, char *buf, size_t size);
bool tsdl_parse_attribute(struct tsdl_parser *p, struct tsdl_attribute *a);
bool tsdl_attribute_is(const struct tsdl_attribute *a, const char *name);
uint64_t tsdl_attribute_uint(struct tsdl_parser *p, const struct tsdl_attribute *a, uint64_t max);
const char *tsdl_attribute_text(struct tsdl_parser *p, const struct tsdl_attribute *a);
bool tsdl_attribute_bool(struct tsdl_parser *p, const struct tsdl_attribute *a);
/** 1 big, 0 little, -1 the trace's own. */
int tsdl_attribute_order(struct tsdl_parser *p, const struct tsdl_attribute *a);
uint8_t tsdl_attribute_base(struct tsdl_parser *p, const struct tsdl_attribute *a);
uint32_t tsdl_attribute_align(struct tsdl_parser *p, const struct tsdl_attribute *a);

#endif
