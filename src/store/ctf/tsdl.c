/* SPDX-License-Identifier: MIT */
/*
 * TSDL, the metadata language of CTF 1.8 (specification, section 7 and appendix C), by recursive descent.
 * Types are built while parsing; byte order and clocks, which may be declared after their use, are
 * filled in at the end.
 */
#include "store/ctf/internal.h"

#include "core/uuid.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum tok_kind { T_END, T_NAME, T_INT, T_TEXT, T_PUNCT };

/* Punctuation of more than one character. */
enum { P_ASSIGN_TYPE = 256, P_DOTS, P_ARROW };

struct token {
	enum tok_kind kind;
	int punct;
	const char *s; /* of a name or text (decoded) */
	size_t len;
	uint64_t num;
	size_t offset;
};

/* A type, with what is filled in later. The list keeps the order of declaration. */
struct type {
	struct cvl_type pub;
	bool native_order;
	const char *clock_name;
	struct type *next;
};

struct symbol {
	const char *name; /* "uint8_t", "unsigned long", "struct foo" */
	const struct cvl_type *type;
	const struct scope *scope;
	struct symbol **bucket, *shadowed; /* newest first, so that the innermost is found */
	struct symbol *next;               /* in its scope, newest first */
};

struct scope {
	struct symbol *symbols;
	struct scope *up;
};

#define BUCKETS_MIN 64
/* A declaration takes about so many bytes. */
#define BYTES_A_BUCKET 32

struct parser {
	struct cvl_trace *trace;
	const char *text, *name;
	size_t n, pos;
	struct token tok;
	struct scope *scope;
	struct type *types;
	struct symbol **bucket;
	size_t n_buckets; /* a power of two that grows with the text */
	unsigned depth;
	bool trace_seen;
	struct cvl_error *err;
	int code;
};

/* The first error stays. Always returns NULL, so that callers can `return bad(...)`. */
__attribute__((format(printf, 4, 5))) static void *bad(struct parser *p, enum cvl_code code,
						       size_t offset, const char *fmt, ...)
{
	char what[300];
	va_list ap;

	if (p->code)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	p->code = cvl_fail(p->err, code, offset, "%s:%zu: %s", p->name, offset, what);
	return NULL;
}

static void *need_memory(struct parser *p, size_t n)
{
	void *m = p->code ? NULL : arena_alloc(&p->trace->arena, n);

	if (!m)
		bad(p, CVL_E_NOMEM, p->pos, "out of memory");
	return m;
}

/* ---- tokens ---- */

static bool skip_space(struct parser *p)
{
	while (p->pos < p->n) {
		const char *s = p->text + p->pos;
		size_t left = p->n - p->pos;

		if (isspace((unsigned char)*s)) {
			p->pos++;
		} else if (left >= 2 && s[0] == '/' && s[1] == '/') {
			const char *end = memchr(s, '\n', left);

			p->pos = end ? (size_t)(end - p->text) : p->n;
		} else if (left >= 2 && s[0] == '/' && s[1] == '*') {
			const char *end = memmem(s + 2, left - 2, "*/", 2);

			if (!end) {
				bad(p, CVL_E_TRUNCATED, p->pos, "comment without an end");
				return false;
			}
			p->pos = (size_t)(end - p->text) + 2;
		} else {
			break;
		}
	}
	return true;
}

static void lex_number(struct parser *p)
{
	const char *s = p->text + p->pos, *end = p->text + p->n;
	unsigned base = 10;
	uint64_t v = 0;
	bool digits = false;

	if (*s == '0' && s + 1 < end && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
	} else if (*s == '0' && s + 1 < end && (s[1] == 'b' || s[1] == 'B')) {
		base = 2;
		s += 2;
	} else if (*s == '0') {
		base = 8;
	}
	for (; s < end && isalnum((unsigned char)*s); s++) {
		unsigned d = isdigit((unsigned char)*s) ? (unsigned)(*s - '0') :
							  (unsigned)(tolower(*s) - 'a') + 10;

		if (d >= base)
			break;
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v)) {
			bad(p, CVL_E_RANGE, p->pos, "number does not fit 64 bits");
			return;
		}
		digits = true;
	}
	while (s < end && (*s == 'u' || *s == 'U' || *s == 'l' || *s == 'L'))
		s++;
	if (!digits || (s < end && (isalnum((unsigned char)*s) || *s == '_'))) {
		bad(p, CVL_E_SYNTAX, p->pos, "malformed number");
		return;
	}
	p->tok.kind = T_INT;
	p->tok.num = v;
	p->pos = (size_t)(s - p->text);
}

static int escape_value(const char **s, const char *end)
{
	char c = *(*s)++;
	int v = 0;

	switch (c) {
	case 'a': return '\a';
	case 'b': return '\b';
	case 'e': return 27;
	case 'f': return '\f';
	case 'n': return '\n';
	case 'r': return '\r';
	case 't': return '\t';
	case 'v': return '\v';
	case 'x':
		if (*s >= end || !isxdigit((unsigned char)**s))
			return -1;
		for (int i = 0; i < 2 && *s < end && isxdigit((unsigned char)**s); i++, (*s)++)
			v = v * 16 +
			    (isdigit((unsigned char)**s) ? **s - '0' : tolower(**s) - 'a' + 10);
		return v;
	default:
		if (c < '0' || c > '7')
			return (unsigned char)c;
		v = c - '0';
		for (int i = 0; i < 2 && *s < end && **s >= '0' && **s <= '7'; i++, (*s)++)
			v = v * 8 + (**s - '0');
		return v > 255 ? -1 : v;
	}
}

static void lex_text(struct parser *p, char quote)
{
	const char *s = p->text + p->pos + 1, *end = p->text + p->n;
	const char *close = s;
	char *out;
	size_t n = 0;

	while (close < end && *close != quote)
		close += *close == '\\' && close + 1 < end ? 2 : 1;
	if (close >= end) {
		bad(p, CVL_E_TRUNCATED, p->pos, "text without a closing quote");
		return;
	}
	out = need_memory(p, (size_t)(close - s) + 1);
	if (!out)
		return;
	while (s < close) {
		int c = (unsigned char)*s++;

		if (c == '\n') /* only as an escape */
			c = 0;
		if (c == '\\')
			c = escape_value(&s, close);
		if (c <= 0) {
			bad(p, CVL_E_SYNTAX, (size_t)(s - 1 - p->text),
			    "character that text may not hold");
			return;
		}
		out[n++] = (char)c;
	}
	p->tok.kind = T_TEXT;
	p->tok.s = out;
	p->tok.len = n;
	p->tok.num = quote == '\'' && n == 1 ? (unsigned char)out[0] : 0;
	p->pos = (size_t)(close - p->text) + 1;
}

static void next(struct parser *p)
{
	const char *s;
	size_t left;

	p->tok = (struct token){ .kind = T_END };
	if (p->code || !skip_space(p))
		return;
	s = p->text + p->pos;
	left = p->n - p->pos;
	p->tok.offset = p->pos;
	if (!left)
		return;
	if (isdigit((unsigned char)*s)) {
		lex_number(p);
	} else if (isalpha((unsigned char)*s) || *s == '_') {
		size_t len = 1;

		while (len < left && (isalnum((unsigned char)s[len]) || s[len] == '_'))
			len++;
		p->tok.kind = T_NAME;
		p->tok.s = s;
		p->tok.len = len;
		p->pos += len;
	} else if (*s == '"' || *s == '\'') {
		lex_text(p, *s);
	} else {
		static const struct {
			const char *s;
			int punct;
		} longer[] = { { ":=", P_ASSIGN_TYPE }, { "...", P_DOTS }, { "->", P_ARROW } };

		p->tok.kind = T_PUNCT;
		for (size_t i = 0; i < 3; i++) {
			size_t len = strlen(longer[i].s);

			if (left >= len && !memcmp(s, longer[i].s, len)) {
				p->tok.punct = longer[i].punct;
				p->pos += len;
				return;
			}
		}
		if (!strchr("{}[]()<>;:,=.*+-", *s) || !*s) {
			bad(p, CVL_E_SYNTAX, p->pos, "unexpected byte 0x%02x", (unsigned char)*s);
			return;
		}
		p->tok.punct = *s;
		p->pos++;
	}
}

static bool is_punct(const struct parser *p, int c)
{
	return p->tok.kind == T_PUNCT && p->tok.punct == c;
}

static bool is_name(const struct parser *p, const char *name)
{
	return p->tok.kind == T_NAME && strlen(name) == p->tok.len &&
	       !memcmp(p->tok.s, name, p->tok.len);
}

static bool accept(struct parser *p, int c)
{
	if (!is_punct(p, c))
		return false;
	next(p);
	return true;
}

static bool expect(struct parser *p, int c)
{
	if (accept(p, c))
		return true;
	if (p->tok.kind == T_END)
		bad(p, CVL_E_TRUNCATED, p->pos, "the text ends where '%s%c' should be",
		    c == P_ASSIGN_TYPE ? ":" : "", c == P_ASSIGN_TYPE ? '=' : c);
	else
		bad(p, CVL_E_SYNTAX, p->tok.offset, "expected '%s%c'",
		    c == P_ASSIGN_TYPE ? ":" : "", c == P_ASSIGN_TYPE ? '=' : c);
	return false;
}

static char *take_text(struct parser *p)
{
	char *s = arena_text(&p->trace->arena, p->tok.s, p->tok.len);

	if (!s)
		return bad(p, CVL_E_NOMEM, p->tok.offset, "out of memory");
	next(p);
	return s;
}

static char *take_name(struct parser *p)
{
	if (p->tok.kind != T_NAME)
		return bad(p, p->tok.kind == T_END ? CVL_E_TRUNCATED : CVL_E_SYNTAX,
			   p->tok.kind == T_END ? p->pos : p->tok.offset, "expected a name");
	return take_text(p);
}

/* ---- symbols ---- */

/* FNV-1a */
static uint32_t hash_name(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return h;
}

static struct symbol **bucket_of(const struct parser *p, const char *name)
{
	return &p->bucket[hash_name(name) & (p->n_buckets - 1)];
}

static const struct cvl_type *find_symbol(const struct parser *p, const char *name)
{
	for (const struct symbol *y = *bucket_of(p, name); y; y = y->shadowed)
		if (!strcmp(y->name, name))
			return y->type;
	return NULL;
}

static void add_symbol(struct parser *p, const char *name, const struct cvl_type *type,
		       size_t offset)
{
	struct symbol **bucket = bucket_of(p, name), *y;

	for (y = *bucket; y; y = y->shadowed)
		if (y->scope == p->scope && !strcmp(y->name, name)) {
			bad(p, CVL_E_SYNTAX, offset, "type '%s' is declared twice", name);
			return;
		}
	y = need_memory(p, sizeof(*y));
	if (!y)
		return;
	*y = (struct symbol){ name, type, p->scope, bucket, *bucket, p->scope->symbols };
	*bucket = p->scope->symbols = y;
}

static void leave_scope(struct parser *p)
{
	for (struct symbol *y = p->scope->symbols; y; y = y->next)
		*y->bucket = y->shadowed;
	p->scope = p->scope->up;
}

/* ---- values of attributes ---- */

struct attribute {
	char name[64]; /* "packet.header", "byte_order" */
	size_t offset;
	enum { A_INT, A_TEXT, A_TYPE } kind;
	uint64_t num;
	bool negative;
	const char *text; /* of a string, or a path such as clock.x.value */
	const struct cvl_type *type;
};

static const struct cvl_type *parse_type(struct parser *p);

static void append_path(char *out, size_t size, const char *s, size_t n)
{
	size_t len = strlen(out);

	if (n > size - 1 - len)
		n = size - 1 - len;
	memcpy(out + len, s, n);
	out[len + n] = '\0';
}

static const char *parse_path(struct parser *p, char *buf, size_t size)
{
	buf[0] = '\0';
	for (;;) {
		if (p->tok.kind != T_NAME)
			return bad(p, CVL_E_SYNTAX, p->tok.offset, "expected a name");
		if (strlen(buf) + p->tok.len + 2 > size)
			return bad(p, CVL_E_LIMIT, p->tok.offset, "path too long");
		append_path(buf, size, p->tok.s, p->tok.len);
		next(p);
		if (is_punct(p, P_ARROW))
			p->tok.punct = '.';
		if (!accept(p, '.'))
			return buf;
		append_path(buf, size, ".", 1);
	}
}

static bool parse_attribute(struct parser *p, struct attribute *a)
{
	char path[256];

	*a = (struct attribute){ .offset = p->tok.offset };
	if (p->tok.kind == T_TEXT) { /* env keys may be quoted */
		append_path(a->name, sizeof(a->name), p->tok.s, p->tok.len);
		next(p);
	} else if (!parse_path(p, a->name, sizeof(a->name))) {
		return false;
	}
	if (accept(p, P_ASSIGN_TYPE)) {
		a->kind = A_TYPE;
		a->type = parse_type(p);
		return a->type != NULL;
	}
	if (!expect(p, '='))
		return false;
	while (is_punct(p, '-') || is_punct(p, '+')) {
		a->negative ^= is_punct(p, '-');
		next(p);
	}
	if (p->tok.kind == T_INT) {
		a->kind = A_INT;
		a->num = p->tok.num;
		if (a->negative && a->num > (uint64_t)INT64_MAX + 1)
			return bad(p, CVL_E_RANGE, p->tok.offset, "number does not fit 64 bits");
		next(p);
	} else if (p->tok.kind == T_TEXT) {
		a->kind = A_TEXT;
		a->text = take_text(p);
	} else {
		a->kind = A_TEXT;
		if (!parse_path(p, path, sizeof(path)))
			return false;
		a->text = arena_text(&p->trace->arena, path, strlen(path));
	}
	return !p->code;
}

static bool attribute_is(const struct attribute *a, const char *name)
{
	return !strcmp(a->name, name);
}

static uint64_t attribute_uint(struct parser *p, const struct attribute *a, uint64_t max)
{
	if (a->kind != A_INT || a->negative || a->num > max) {
		bad(p, CVL_E_RANGE, a->offset, "'%s' must be a number up to %" PRIu64, a->name,
		    max);
		return 0;
	}
	return a->num;
}

static const char *attribute_text(struct parser *p, const struct attribute *a)
{
	if (a->kind != A_TEXT)
		return bad(p, CVL_E_SYNTAX, a->offset, "'%s' must be a text", a->name);
	return a->text;
}

static bool attribute_bool(struct parser *p, const struct attribute *a)
{
	if (a->kind == A_INT)
		return a->num != 0;
	if (a->kind == A_TEXT) {
		if (!strcasecmp(a->text, "true"))
			return true;
		if (!strcasecmp(a->text, "false"))
			return false;
	}
	bad(p, CVL_E_SYNTAX, a->offset, "'%s' must be true or false", a->name);
	return false;
}

/* 1 big, 0 little, -1 the trace's own. */
static int attribute_order(struct parser *p, const struct attribute *a)
{
	if (a->kind == A_TEXT) {
		if (!strcmp(a->text, "be") || !strcmp(a->text, "network"))
			return 1;
		if (!strcmp(a->text, "le"))
			return 0;
		if (!strcmp(a->text, "native"))
			return -1;
	}
	bad(p, CVL_E_SYNTAX, a->offset, "byte order must be le, be, network or native");
	return -1;
}

static uint8_t attribute_base(struct parser *p, const struct attribute *a)
{
	static const struct {
		const char *name;
		uint8_t base;
	} names[] = {
		{ "decimal", 10 }, { "dec", 10 },         { "d", 10 },    { "i", 10 },
		{ "u", 10 },       { "hexadecimal", 16 }, { "hex", 16 },  { "x", 16 },
		{ "X", 16 },       { "p", 16 },           { "octal", 8 }, { "oct", 8 },
		{ "o", 8 },        { "binary", 2 },       { "bin", 2 },   { "b", 2 },
	};

	if (a->kind == A_INT && (a->num == 2 || a->num == 8 || a->num == 10 || a->num == 16))
		return (uint8_t)a->num;
	for (size_t i = 0; a->kind == A_TEXT && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(a->text, names[i].name))
			return names[i].base;
	bad(p, CVL_E_RANGE, a->offset, "base must be 2, 8, 10 or 16");
	return 10;
}

static uint32_t attribute_align(struct parser *p, const struct attribute *a)
{
	uint64_t v = attribute_uint(p, a, 1u << 20);

	if (!v || (v & (v - 1))) {
		bad(p, CVL_E_RANGE, a->offset, "alignment must be a power of two");
		return 1;
	}
	return (uint32_t)v;
}

/* ---- types ---- */

static struct type *new_type(struct parser *p, enum cvl_type_kind kind)
{
	struct type *t = need_memory(p, sizeof(*t));

	if (!t)
		return NULL;
	t->pub.kind = kind;
	t->pub.align = 1;
	t->pub.base = 10;
	t->pub.clock = -1;
	t->pub.declared_at = p->tok.offset;
	t->next = p->types;
	p->types = t;
	return t;
}

static const char *clock_of_path(struct parser *p, const char *path, size_t offset)
{
	size_t n = strlen(path);

	if (n < 13 || strncmp(path, "clock.", 6) || strcmp(path + n - 6, ".value"))
		return bad(p, CVL_E_SYNTAX, offset, "map must be clock.NAME.value");
	return arena_text(&p->trace->arena, path + 6, n - 12);
}

static const struct cvl_type *parse_integer(struct parser *p)
{
	struct type *t = new_type(p, CVL_TYPE_INT);
	struct attribute a;
	bool aligned = false;

	if (!t || !expect(p, '{'))
		return NULL;
	t->native_order = true;
	while (!p->code && !accept(p, '}')) {
		if (!parse_attribute(p, &a) || !expect(p, ';'))
			return NULL;
		if (attribute_is(&a, "size")) {
			t->pub.size = (uint32_t)attribute_uint(p, &a, 64);
			if (!t->pub.size)
				return bad(p, CVL_E_RANGE, a.offset, "size must be 1 to 64 bits");
		} else if (attribute_is(&a, "align")) {
			t->pub.align = attribute_align(p, &a);
			aligned = true;
		} else if (attribute_is(&a, "signed")) {
			t->pub.is_signed = attribute_bool(p, &a);
		} else if (attribute_is(&a, "byte_order")) {
			int order = attribute_order(p, &a);

			t->native_order = order < 0;
			t->pub.big_endian = order > 0;
		} else if (attribute_is(&a, "base")) {
			t->pub.base = attribute_base(p, &a);
		} else if (attribute_is(&a, "encoding")) {
			const char *e = attribute_text(p, &a);

			t->pub.text = e && strcasecmp(e, "none");
		} else if (attribute_is(&a, "map")) {
			const char *path = attribute_text(p, &a);

			t->clock_name = path ? clock_of_path(p, path, a.offset) : NULL;
		}
	}
	if (!t->pub.size)
		return bad(p, CVL_E_MISSING, t->pub.declared_at, "integer without a size");
	if (!aligned)
		t->pub.align = t->pub.size % 8 ? 1 : 8;
	return p->code ? NULL : &t->pub;
}

static const struct cvl_type *parse_float(struct parser *p)
{
	struct type *t = new_type(p, CVL_TYPE_FLOAT);
	uint64_t exponent = 0, mantissa = 0;
	struct attribute a;

	if (!t || !expect(p, '{'))
		return NULL;
	t->native_order = true;
	t->pub.align = 8;
	while (!p->code && !accept(p, '}')) {
		if (!parse_attribute(p, &a) || !expect(p, ';'))
			return NULL;
		if (attribute_is(&a, "exp_dig")) {
			exponent = attribute_uint(p, &a, 64);
		} else if (attribute_is(&a, "mant_dig")) {
			mantissa = attribute_uint(p, &a, 64);
		} else if (attribute_is(&a, "align")) {
			t->pub.align = attribute_align(p, &a);
		} else if (attribute_is(&a, "byte_order")) {
			int order = attribute_order(p, &a);

			t->native_order = order < 0;
			t->pub.big_endian = order > 0;
		}
	}
	t->pub.size = (uint32_t)(exponent + mantissa);
	if (!p->code && !(exponent == 8 && mantissa == 24) && !(exponent == 11 && mantissa == 53))
		return bad(p, CVL_E_UNSUPPORTED, t->pub.declared_at,
			   "only 32 and 64-bit IEEE floats can be read");
	return p->code ? NULL : &t->pub;
}

static const struct cvl_type *parse_string(struct parser *p)
{
	struct type *t = new_type(p, CVL_TYPE_STRING);
	struct attribute a;

	if (!t)
		return NULL;
	t->pub.align = 8;
	t->pub.text = true;
	if (accept(p, '{'))
		while (!p->code && !accept(p, '}'))
			if (!parse_attribute(p, &a) || !expect(p, ';'))
				return NULL;
	return p->code ? NULL : &t->pub;
}

static bool is_c_word(const struct parser *p)
{
	static const char *const words[] = { "char",   "short",    "int",      "long",
					     "signed", "unsigned", "float",    "double",
					     "void",   "_Bool",    "_Complex", "_Imaginary" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (is_name(p, words[i]))
			return true;
	return false;
}

/* A name of a type: one name, or a run of C's words; then pointer stars. */
static bool parse_alias_name(struct parser *p, char *out, size_t size)
{
	size_t offset = p->tok.offset;

	out[0] = '\0';
	while (is_name(p, "const"))
		next(p);
	if (is_c_word(p)) {
		while (!p->code && (is_c_word(p) || is_name(p, "const"))) {
			if (!is_name(p, "const")) {
				if (out[0])
					append_path(out, size, " ", 1);
				append_path(out, size, p->tok.s, p->tok.len);
			}
			next(p);
		}
	} else {
		if (p->tok.kind != T_NAME) {
			bad(p, p->tok.kind == T_END ? CVL_E_TRUNCATED : CVL_E_SYNTAX,
			    p->tok.kind == T_END ? p->pos : offset, "expected a type");
			return false;
		}
		append_path(out, size, p->tok.s, p->tok.len);
		next(p);
	}
	while (!p->code && (is_punct(p, '*') || is_name(p, "const"))) {
		if (is_punct(p, '*'))
			append_path(out, size, " *", 2);
		next(p);
	}
	if (strlen(out) + 1 >= size)
		bad(p, CVL_E_LIMIT, offset, "type name too long");
	return !p->code;
}

static const struct cvl_type *find_named(struct parser *p, const char *kind, const char *name,
					 size_t offset)
{
	char full[300];
	const struct cvl_type *t;

	snprintf(full, sizeof(full), "%s%s%s", kind, *kind ? " " : "", name);
	t = find_symbol(p, full);
	if (!t)
		bad(p, CVL_E_UNKNOWN_ID, offset, "type '%s' is not declared", full);
	return t;
}

static void name_type(struct parser *p, const char *kind, const char *name,
		      const struct cvl_type *t, size_t offset)
{
	char full[300];
	char *copy;

	snprintf(full, sizeof(full), "%s %s", kind, name);
	copy = arena_text(&p->trace->arena, full, strlen(full));
	if (!copy)
		bad(p, CVL_E_NOMEM, offset, "out of memory");
	else
		add_symbol(p, copy, t, offset);
}

/* Lengths behind a declarator: innermost last, so that `a[2][3]` is two arrays of three. */
static const struct cvl_type *parse_lengths(struct parser *p, const struct cvl_type *elem)
{
	const struct cvl_type *inner;
	struct type *t;
	char path[256];

	if (!accept(p, '['))
		return elem;
	if (++p->depth > CTF_DEPTH_MAX)
		return bad(p, CVL_E_LIMIT, p->tok.offset, "types nested deeper than %d",
			   CTF_DEPTH_MAX);
	t = new_type(p, CVL_TYPE_ARRAY);
	if (!t)
		return NULL;
	if (p->tok.kind == T_INT) {
		t->pub.length = p->tok.num;
		next(p);
	} else {
		t->pub.kind = CVL_TYPE_SEQUENCE;
		if (!parse_path(p, path, sizeof(path)))
			return NULL;
		t->pub.ref = arena_text(&p->trace->arena, path, strlen(path));
	}
	if (!expect(p, ']'))
		return NULL;
	inner = parse_lengths(p, elem);
	p->depth--;
	if (!inner)
		return NULL;
	t->pub.elem = inner;
	t->pub.align = inner->align;
	t->pub.text =
		inner->kind == CVL_TYPE_INT && inner->text && inner->size == 8 && inner->align <= 8;
	return &t->pub;
}

static bool parse_alias(struct parser *p)
{
	const struct cvl_type *t;
	char name[256];
	char *copy;
	size_t offset;

	t = parse_type(p);
	if (!t || !expect(p, P_ASSIGN_TYPE))
		return false;
	offset = p->tok.offset;
	if (!parse_alias_name(p, name, sizeof(name)))
		return false;
	t = parse_lengths(p, t);
	copy = arena_text(&p->trace->arena, name, strlen(name));
	if (!t || !copy)
		return false;
	add_symbol(p, copy, t, offset);
	return !p->code;
}

static bool parse_typedef(struct parser *p)
{
	const struct cvl_type *base = parse_type(p), *t;
	char *name;
	size_t offset;

	if (!base)
		return false;
	do {
		offset = p->tok.offset;
		name = take_name(p);
		t = name ? parse_lengths(p, base) : NULL;
		if (!t)
			return false;
		add_symbol(p, name, t, offset);
	} while (accept(p, ','));
	return !p->code;
}

/* Members of a struct or variant up to the closing brace. */
static bool parse_members(struct parser *p, struct type *t)
{
	struct member_list {
		struct cvl_member m;
		struct member_list *next, *same_hash;
	} *first = NULL, **tail = &first, *bucket[256] = { NULL };
	struct scope scope = { .up = p->scope };
	struct cvl_member *all;
	uint32_t n = 0;

	p->scope = &scope;
	while (!p->code && !accept(p, '}')) {
		const struct cvl_type *base;

		if (p->tok.kind == T_END) {
			bad(p, CVL_E_TRUNCATED, p->pos, "the text ends inside a type");
			break;
		}
		if (is_name(p, "typealias")) {
			next(p);
			if (parse_alias(p))
				expect(p, ';');
			continue;
		}
		if (is_name(p, "typedef")) {
			next(p);
			if (parse_typedef(p))
				expect(p, ';');
			continue;
		}
		base = parse_type(p);
		if (base && accept(p, ';')) /* declares a name, not a member */
			continue;
		do {
			struct member_list *l = need_memory(p, sizeof(*l));
			size_t offset = p->tok.offset;
			uint32_t hash;

			if (!base || !l)
				break;
			l->m.name = take_name(p);
			if (!l->m.name)
				break;
			hash = hash_name(l->m.name) % 256;
			for (struct member_list *o = bucket[hash]; o; o = o->same_hash)
				if (!strcmp(o->m.name, l->m.name))
					bad(p, CVL_E_SYNTAX, offset, "'%s' is declared twice",
					    l->m.name);
			l->same_hash = bucket[hash];
			bucket[hash] = l;
			l->m.type = parse_lengths(p, base);
			*tail = l;
			tail = &l->next;
			if (++n > CTF_MEMBERS_MAX)
				bad(p, CVL_E_LIMIT, offset, "more than %d members",
				    CTF_MEMBERS_MAX);
		} while (!p->code && accept(p, ','));
		if (!p->code)
			expect(p, ';');
	}
	leave_scope(p);
	all = p->code ? NULL : need_memory(p, (n ? n : 1) * sizeof(*all));
	if (!all)
		return false;
	t->pub.member = all;
	t->pub.n = n;
	for (struct member_list *l = first; l; l = l->next) {
		*all++ = l->m;
		if (t->pub.kind == CVL_TYPE_STRUCT && l->m.type->align > t->pub.align)
			t->pub.align = l->m.type->align;
	}
	return true;
}

static const struct cvl_type *parse_struct(struct parser *p)
{
	struct type *t;
	char *name = NULL;
	size_t offset = p->tok.offset;

	if (p->tok.kind == T_NAME)
		name = take_name(p);
	if (!is_punct(p, '{'))
		return name ? find_named(p, "struct", name, offset) :
			      bad(p, CVL_E_SYNTAX, p->tok.offset,
				  "expected '{' or the name of a struct");
	next(p);
	t = new_type(p, CVL_TYPE_STRUCT);
	if (!t || !parse_members(p, t))
		return NULL;
	if (is_name(p, "align")) {
		struct attribute a = { .name = "align", .kind = A_INT };

		next(p);
		if (!expect(p, '('))
			return NULL;
		a.offset = p->tok.offset;
		if (p->tok.kind != T_INT)
			return bad(p, CVL_E_SYNTAX, a.offset, "expected an alignment");
		a.num = p->tok.num;
		next(p);
		if (attribute_align(p, &a) > t->pub.align)
			t->pub.align = (uint32_t)a.num;
		if (!expect(p, ')'))
			return NULL;
	}
	if (name)
		name_type(p, "struct", name, &t->pub, offset);
	return p->code ? NULL : &t->pub;
}

static const char *parse_tag(struct parser *p)
{
	char path[256];

	if (!accept(p, '<'))
		return NULL;
	if (!parse_path(p, path, sizeof(path)) || !expect(p, '>'))
		return NULL;
	return arena_text(&p->trace->arena, path, strlen(path));
}

static const struct cvl_type *parse_variant(struct parser *p)
{
	struct type *t;
	char *name = NULL;
	const char *tag;
	size_t offset = p->tok.offset;

	if (p->tok.kind == T_NAME)
		name = take_name(p);
	tag = parse_tag(p);
	if (p->code)
		return NULL;
	t = new_type(p, CVL_TYPE_VARIANT);
	if (!t)
		return NULL;
	if (!is_punct(p, '{')) {
		const struct cvl_type *known;

		if (!name)
			return bad(p, CVL_E_SYNTAX, p->tok.offset,
				   "expected '{' or the name of a variant");
		known = find_named(p, "variant", name, offset);
		if (!known)
			return NULL;
		t->pub = *known;
		t->pub.ref = tag ? tag : known->ref;
		return &t->pub;
	}
	next(p);
	if (!parse_members(p, t))
		return NULL;
	t->pub.ref = tag;
	if (!t->pub.n)
		return bad(p, CVL_E_RANGE, offset, "variant without options");
	if (name)
		name_type(p, "variant", name, &t->pub, offset);
	return p->code ? NULL : &t->pub;
}

static bool parse_label_value(struct parser *p, const struct cvl_type *container, int64_t *out)
{
	bool negative = false;
	size_t offset = p->tok.offset;

	while (is_punct(p, '-') || is_punct(p, '+')) {
		negative ^= is_punct(p, '-');
		next(p);
	}
	if (p->tok.kind != T_INT && !(p->tok.kind == T_TEXT && p->tok.len == 1)) {
		bad(p, CVL_E_SYNTAX, p->tok.offset, "expected a number");
		return false;
	}
	if (negative ? !container->is_signed || p->tok.num > (uint64_t)INT64_MAX + 1 :
		       container->is_signed && p->tok.num > INT64_MAX) {
		bad(p, CVL_E_RANGE, offset, "value does not fit the container of the enumeration");
		return false;
	}
	*out = negative ? (int64_t)(0 - p->tok.num) : (int64_t)p->tok.num;
	next(p);
	return true;
}

static const struct cvl_type *parse_enum(struct parser *p)
{
	struct label_list {
		struct cvl_label l;
		struct label_list *next;
	} *first = NULL, **tail = &first;
	const struct cvl_type *container = NULL;
	struct cvl_label *all;
	struct type *t;
	char *name = NULL;
	size_t offset = p->tok.offset;
	int64_t auto_value = 0;
	uint32_t n = 0;

	if (p->tok.kind == T_NAME)
		name = take_name(p);
	if (accept(p, ':'))
		container = parse_type(p);
	if (p->code)
		return NULL;
	if (!is_punct(p, '{'))
		return name && !container ? find_named(p, "enum", name, offset) :
					    bad(p, CVL_E_SYNTAX, p->tok.offset,
						"expected '{' or the name of an enum");
	if (!container)
		container = find_named(p, "", "int", offset);
	if (!container)
		return NULL;
	if (container->kind != CVL_TYPE_INT)
		return bad(p, CVL_E_SYNTAX, offset,
			   "the container of an enumeration must be an integer");
	t = new_type(p, CVL_TYPE_ENUM);
	if (!t)
		return NULL;
	next(p);
	while (!p->code && !accept(p, '}')) {
		struct label_list *l = need_memory(p, sizeof(*l));
		size_t label_offset = p->tok.offset;

		if (!l)
			return NULL;
		if (p->tok.kind == T_NAME || p->tok.kind == T_TEXT)
			l->l.name = take_text(p);
		else
			return bad(p, p->tok.kind == T_END ? CVL_E_TRUNCATED : CVL_E_SYNTAX,
				   p->tok.kind == T_END ? p->pos : p->tok.offset,
				   "expected a label");
		l->l.low = auto_value;
		if (accept(p, '=') && !parse_label_value(p, container, &l->l.low))
			return NULL;
		l->l.high = l->l.low;
		if (accept(p, P_DOTS) && !parse_label_value(p, container, &l->l.high))
			return NULL;
		if (container->is_signed ? l->l.high < l->l.low :
					   (uint64_t)l->l.high < (uint64_t)l->l.low)
			return bad(p, CVL_E_RANGE, label_offset, "range that goes back");
		auto_value = (int64_t)((uint64_t)l->l.high + 1);
		*tail = l;
		tail = &l->next;
		if (++n > CTF_MEMBERS_MAX)
			return bad(p, CVL_E_LIMIT, p->tok.offset, "more than %d labels",
				   CTF_MEMBERS_MAX);
		if (!accept(p, ',') && !is_punct(p, '}'))
			return bad(p, CVL_E_SYNTAX, p->tok.offset, "expected ',' or '}'");
	}
	all = need_memory(p, (n ? n : 1) * sizeof(*all));
	if (!all)
		return NULL;
	t->pub.elem = container;
	t->pub.align = container->align;
	t->pub.size = container->size;
	t->pub.is_signed = container->is_signed;
	t->pub.label = all;
	t->pub.n = n;
	for (struct label_list *l = first; l; l = l->next)
		*all++ = l->l;
	if (name)
		name_type(p, "enum", name, &t->pub, offset);
	return p->code ? NULL : &t->pub;
}

static const struct cvl_type *parse_type(struct parser *p)
{
	static const struct {
		const char *word;
		const struct cvl_type *(*parse)(struct parser *);
	} kinds[] = {
		{ "integer", parse_integer }, { "floating_point", parse_float },
		{ "string", parse_string },   { "struct", parse_struct },
		{ "variant", parse_variant }, { "enum", parse_enum },
	};
	const struct cvl_type *t = NULL;
	char name[256];
	size_t offset;

	if (++p->depth > CTF_DEPTH_MAX)
		return bad(p, CVL_E_LIMIT, p->tok.offset, "types nested deeper than %d",
			   CTF_DEPTH_MAX);
	while (is_name(p, "const"))
		next(p);
	offset = p->tok.offset;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!is_name(p, kinds[i].word))
			continue;
		next(p);
		t = kinds[i].parse(p);
		p->depth--;
		return t;
	}
	if (parse_alias_name(p, name, sizeof(name)))
		t = find_named(p, "", name, offset);
	p->depth--;
	return t;
}

/* ---- declarations ---- */

static const struct cvl_type *struct_only(struct parser *p, const struct attribute *a)
{
	if (a->kind != A_TYPE || a->type->kind != CVL_TYPE_STRUCT)
		return bad(p, CVL_E_SYNTAX, a->offset, "'%s' must be a struct", a->name);
	return a->type;
}

struct block {
	uint64_t id, stream_id, major, minor;
	bool has_id, has_stream_id, has_major, has_minor;
	struct cvl_event_class event;
	struct stream_class stream;
	struct cvl_clock_class clock;
};

typedef void block_attribute(struct parser *p, struct block *b, const struct attribute *a);

static void trace_attribute(struct parser *p, struct block *b, const struct attribute *a)
{
	struct cvl_trace *trace = p->trace;

	if (attribute_is(a, "major")) {
		b->major = attribute_uint(p, a, UINT32_MAX);
		b->has_major = true;
		if (b->major != 1)
			bad(p, CVL_E_UNSUPPORTED, a->offset,
			    "this is CTF %" PRIu64 ".x; CTF 1.8 is what can be read", b->major);
	} else if (attribute_is(a, "minor")) {
		b->minor = attribute_uint(p, a, UINT32_MAX);
		b->has_minor = true;
		if (b->minor != 8)
			bad(p, CVL_E_UNSUPPORTED, a->offset,
			    "this is CTF x.%" PRIu64 "; CTF 1.8 is what can be read", b->minor);
	} else if (attribute_is(a, "uuid")) {
		const char *text = attribute_text(p, a);

		if (text && !cvl_uuid_parse(text, trace->uuid))
			bad(p, CVL_E_SYNTAX, a->offset, "'%s' is no UUID", text);
		trace->has_uuid = true;
	} else if (attribute_is(a, "byte_order")) {
		int order = attribute_order(p, a);

		if (order < 0)
			bad(p, CVL_E_SYNTAX, a->offset, "the trace's byte order must be le or be");
		trace->big_endian = order > 0;
		trace->byte_order_known = true;
	} else if (attribute_is(a, "packet.header")) {
		trace->packet_header = struct_only(p, a);
	}
}

static void env_attribute(struct parser *p, struct block *b, const struct attribute *a)
{
	struct env_entry *e = need_memory(p, sizeof(*e));
	char number[24];

	(void)b;
	if (!e || a->kind == A_TYPE)
		return;
	snprintf(number, sizeof(number), "%s%" PRIu64, a->negative ? "-" : "", a->num);
	e->name = arena_text(&p->trace->arena, a->name, strlen(a->name));
	e->value =
		a->kind == A_TEXT ? a->text : arena_text(&p->trace->arena, number, strlen(number));
	e->next = p->trace->env;
	p->trace->env = e;
}

static void clock_attribute(struct parser *p, struct block *b, const struct attribute *a)
{
	struct cvl_clock_class *c = &b->clock;

	if (attribute_is(a, "name")) {
		c->name = attribute_text(p, a);
	} else if (attribute_is(a, "uuid")) {
		c->uuid = attribute_text(p, a);
	} else if (attribute_is(a, "description")) {
		c->description = attribute_text(p, a);
	} else if (attribute_is(a, "freq")) {
		c->rate_hz = attribute_uint(p, a, UINT64_MAX);
		if (!c->rate_hz)
			bad(p, CVL_E_RANGE, a->offset, "clock with a frequency of 0");
	} else if (attribute_is(a, "offset_s")) {
		uint64_t s = a->num;

		if (a->kind != A_INT || s > INT64_MAX / 1000000000)
			bad(p, CVL_E_RANGE, a->offset, "clock offset out of range");
		c->offset_s = a->negative ? -(int64_t)s : (int64_t)s;
	} else if (attribute_is(a, "offset")) {
		if (a->kind != A_INT)
			bad(p, CVL_E_SYNTAX, a->offset, "clock offset must be a number");
		c->offset = a->negative ? 0 - a->num : a->num;
	}
}

static void stream_attribute(struct parser *p, struct block *b, const struct attribute *a)
{
	if (attribute_is(a, "id")) {
		b->id = attribute_uint(p, a, UINT64_MAX);
		b->has_id = true;
	} else if (attribute_is(a, "packet.context")) {
		b->stream.packet_context = struct_only(p, a);
	} else if (attribute_is(a, "event.header")) {
		b->stream.event_header = struct_only(p, a);
	} else if (attribute_is(a, "event.context")) {
		b->stream.event_context = struct_only(p, a);
	}
}

static void event_attribute(struct parser *p, struct block *b, const struct attribute *a)
{
	if (attribute_is(a, "name")) {
		b->event.name = attribute_text(p, a);
	} else if (attribute_is(a, "id")) {
		b->id = attribute_uint(p, a, UINT64_MAX);
		b->has_id = true;
	} else if (attribute_is(a, "stream_id")) {
		b->stream_id = attribute_uint(p, a, UINT64_MAX);
		b->has_stream_id = true;
	} else if (attribute_is(a, "context")) {
		b->event.type[CVL_SCOPE_EVENT_CONTEXT] = struct_only(p, a);
	} else if (attribute_is(a, "fields")) {
		b->event.type[CVL_SCOPE_FIELDS] = struct_only(p, a);
	}
}

static struct stream_class *find_stream(struct parser *p, uint64_t id)
{
	struct stream_class **at = &p->trace->streams;
	unsigned n = 0;

	for (; *at; at = &(*at)->next, n++)
		if ((*at)->id == id)
			return *at;
	if (n >= CTF_STREAMS_MAX)
		return bad(p, CVL_E_LIMIT, p->tok.offset, "more than %d streams", CTF_STREAMS_MAX);
	*at = need_memory(p, sizeof(**at));
	if (*at) {
		(*at)->id = id;
		(*at)->clock = -1;
	}
	return *at;
}

static void finish_trace(struct parser *p, struct block *b, size_t offset)
{
	if (p->trace_seen)
		bad(p, CVL_E_SYNTAX, offset, "a second trace block");
	p->trace_seen = true;
	if (!b->has_major || !b->has_minor)
		bad(p, CVL_E_MISSING, offset, "trace block without major and minor version");
	if (!p->trace->byte_order_known)
		bad(p, CVL_E_MISSING, offset, "trace block without a byte order");
}

static void finish_stream(struct parser *p, struct block *b, size_t offset)
{
	struct stream_class *s = find_stream(p, b->id);

	if (!s)
		return;
	if (s->declared) {
		bad(p, CVL_E_SYNTAX, offset, "stream %" PRIu64 " is declared twice", b->id);
		return;
	}
	s->declared = true;
	s->packet_context = b->stream.packet_context;
	s->event_header = b->stream.event_header;
	s->event_context = b->stream.event_context;
}

static void finish_event(struct parser *p, struct block *b, size_t offset)
{
	struct cvl_trace *trace = p->trace;
	struct stream_class *s = find_stream(p, b->stream_id);
	struct event_class *e = need_memory(p, sizeof(*e));

	if (!s || !e)
		return;
	if (!b->event.name)
		b->event.name = "";
	e->pub = b->event;
	e->declared_at = offset;
	e->pub.id = b->id;
	e->pub.kind = CVL_EVENT;
	e->stream = s;
	e->index = trace->n_events;
	if ((trace->n_events & (trace->n_events - 1)) == 0) { /* grown at powers of two */
		struct event_class **grown = need_memory(
			p, (trace->n_events ? 2 * trace->n_events : 1) * sizeof(*grown));

		if (!grown)
			return;
		if (trace->n_events)
			memcpy(grown, trace->event, trace->n_events * sizeof(*grown));
		trace->event = grown;
	}
	if (trace->n_events >= CTF_OPS_MAX) {
		bad(p, CVL_E_LIMIT, offset, "more than %d event classes", CTF_OPS_MAX);
		return;
	}
	trace->event[trace->n_events++] = e;
}

static void finish_clock(struct parser *p, struct block *b, size_t offset)
{
	struct cvl_trace *trace = p->trace;
	struct cvl_clock_class *grown = need_memory(p, (trace->n_clocks + 1) * sizeof(*grown));

	if (!grown)
		return;
	if (!b->clock.name || !*b->clock.name) {
		bad(p, CVL_E_MISSING, offset, "clock without a name");
		return;
	}
	if (trace->n_clocks >= 256) {
		bad(p, CVL_E_LIMIT, offset, "more than 256 clocks");
		return;
	}
	for (uint32_t i = 0; i < trace->n_clocks; i++)
		if (!strcmp(trace->clock[i].name, b->clock.name))
			bad(p, CVL_E_SYNTAX, offset, "clock '%s' is declared twice", b->clock.name);
	if (trace->n_clocks)
		memcpy(grown, trace->clock, trace->n_clocks * sizeof(*grown));
	if (!b->clock.rate_hz)
		b->clock.rate_hz = 1000000000;
	grown[trace->n_clocks++] = b->clock;
	trace->clock = grown;
}

static void finish_nothing(struct parser *p, struct block *b, size_t offset)
{
	(void)p, (void)b, (void)offset;
}

static void ignore_attribute(struct parser *p, struct block *b, const struct attribute *a)
{
	(void)p, (void)b, (void)a;
}

static bool parse_block(struct parser *p, block_attribute *take,
			void (*finish)(struct parser *, struct block *, size_t))
{
	struct scope scope = { .up = p->scope };
	struct block b = { .stream = { .clock = -1 } };
	size_t offset = p->tok.offset;
	struct attribute a;

	if (!expect(p, '{'))
		return false;
	p->scope = &scope;
	while (!p->code && !accept(p, '}')) {
		if (p->tok.kind == T_END) {
			bad(p, CVL_E_TRUNCATED, p->pos, "the text ends inside a block");
		} else if (is_name(p, "typealias")) {
			next(p);
			parse_alias(p);
		} else if (is_name(p, "typedef")) {
			next(p);
			parse_typedef(p);
		} else if ((is_name(p, "struct") || is_name(p, "enum") || is_name(p, "variant"))) {
			parse_type(p);
		} else if (parse_attribute(p, &a)) {
			take(p, &b, &a);
		}
		if (!p->code)
			expect(p, ';');
	}
	leave_scope(p);
	if (!p->code)
		finish(p, &b, offset);
	return !p->code;
}

static bool parse_declaration(struct parser *p)
{
	static const struct {
		const char *word;
		block_attribute *take;
		void (*finish)(struct parser *, struct block *, size_t);
	} blocks[] = {
		{ "trace", trace_attribute, finish_trace },
		{ "env", env_attribute, finish_nothing },
		{ "clock", clock_attribute, finish_clock },
		{ "stream", stream_attribute, finish_stream },
		{ "event", event_attribute, finish_event },
		{ "callsite", ignore_attribute, finish_nothing },
	};

	if (accept(p, ';'))
		return !p->code;
	if (is_name(p, "typealias")) {
		next(p);
		return parse_alias(p) && expect(p, ';');
	}
	if (is_name(p, "typedef")) {
		next(p);
		return parse_typedef(p) && expect(p, ';');
	}
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		if (!is_name(p, blocks[i].word))
			continue;
		next(p);
		return parse_block(p, blocks[i].take, blocks[i].finish) && expect(p, ';');
	}
	if (is_name(p, "struct") || is_name(p, "enum") || is_name(p, "variant"))
		return parse_type(p) && expect(p, ';');
	bad(p, CVL_E_SYNTAX, p->tok.offset, "expected a declaration");
	return false;
}

/* ---- what may be declared after its use ---- */

static void resolve_types(struct parser *p)
{
	struct cvl_trace *trace = p->trace;

	for (struct type *t = p->types; t; t = t->next) {
		if (t->native_order)
			t->pub.big_endian = trace->big_endian;
		if (!t->clock_name)
			continue;
		for (uint32_t i = 0; i < trace->n_clocks; i++)
			if (!strcmp(trace->clock[i].name, t->clock_name))
				t->pub.clock = (int)i;
		if (t->pub.clock < 0)
			bad(p, CVL_E_UNKNOWN_ID, t->pub.declared_at, "clock '%s' is not declared",
			    t->clock_name);
	}
	for (struct type *t = p->types; t; t = t->next)
		if (t->pub.kind == CVL_TYPE_ENUM)
			t->pub.big_endian = t->pub.elem->big_endian;
}

static int by_stream_and_id(const void *pa, const void *pb)
{
	const struct event_class *a = *(struct event_class *const *)pa,
				 *b = *(struct event_class *const *)pb;

	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->pub.id != b->pub.id)
		return a->pub.id < b->pub.id ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static void resolve_events(struct parser *p)
{
	struct cvl_trace *trace = p->trace;
	struct event_class **sorted = need_memory(p, (trace->n_events + 1) * sizeof(*sorted));

	if (!sorted)
		return;
	if (trace->n_events)
		memcpy(sorted, trace->event, trace->n_events * sizeof(*sorted));
	qsort(sorted, trace->n_events, sizeof(*sorted), by_stream_and_id);
	for (uint32_t i = 0; i < trace->n_events; i++) {
		struct event_class *e = sorted[i];

		if (i && e->stream == sorted[i - 1]->stream && e->pub.id == sorted[i - 1]->pub.id)
			bad(p, CVL_E_SYNTAX, e->declared_at,
			    "event id %" PRIu64 " is declared twice in stream %" PRIu64, e->pub.id,
			    e->stream->id);
		if (!e->stream->n_events++)
			e->stream->event = sorted + i;
		e->pub.type[CVL_SCOPE_PACKET_HEADER] = trace->packet_header;
		e->pub.type[CVL_SCOPE_PACKET_CONTEXT] = e->stream->packet_context;
		e->pub.type[CVL_SCOPE_EVENT_HEADER] = e->stream->event_header;
		e->pub.type[CVL_SCOPE_STREAM_CONTEXT] = e->stream->event_context;
	}
}

int tsdl_parse(struct cvl_trace *trace, const char *text, size_t n, const char *name,
	       struct cvl_error *err)
{
	struct scope root = { 0 };
	struct parser p = {
		.trace = trace,
		.text = text,
		.n = n,
		.name = name,
		.scope = &root,
		.err = err,
	};

	p.n_buckets = BUCKETS_MIN;
	while (p.n_buckets < n / BYTES_A_BUCKET)
		p.n_buckets *= 2;
	p.bucket = need_memory(&p, p.n_buckets * sizeof(*p.bucket));
	next(&p);
	while (!p.code && p.tok.kind != T_END)
		parse_declaration(&p);
	if (!p.code && !p.trace_seen)
		bad(&p, CVL_E_MISSING, n, "no trace block");
	if (!p.code)
		resolve_types(&p);
	if (!p.code)
		resolve_events(&p);
	return p.code;
}
