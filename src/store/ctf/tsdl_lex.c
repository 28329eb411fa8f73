/* SPDX-License-Identifier: MIT */
/* Tokens of TSDL. */
#include "store/ctf/tsdl.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The first error stays. Always returns NULL, so that callers can `return tsdl_bad(...)`. */
void *tsdl_bad(struct tsdl_parser *p, enum cvl_code code, size_t offset, const char *fmt, ...)
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

void *tsdl_need_memory(struct tsdl_parser *p, size_t n)
{
	void *m = p->code ? NULL : arena_alloc(&p->trace->arena, n);

	if (!m)
		tsdl_bad(p, CVL_E_NOMEM, p->pos, "out of memory");
	return m;
}

static bool skip_space(struct tsdl_parser *p)
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
				tsdl_bad(p, CVL_E_TRUNCATED, p->pos, "unterminated comment");
				return false;
			}
			p->pos = (size_t)(end - p->text) + 2;
		} else {
			break;
		}
	}
	return true;
}

static void lex_number(struct tsdl_parser *p)
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
			tsdl_bad(p, CVL_E_RANGE, p->pos, "number does not fit in 64 bits");
			return;
		}
		digits = true;
	}
	while (s < end && (*s == 'u' || *s == 'U' || *s == 'l' || *s == 'L'))
		s++;
	if (!digits || (s < end && (isalnum((unsigned char)*s) || *s == '_'))) {
		tsdl_bad(p, CVL_E_SYNTAX, p->pos, "malformed number");
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

static void lex_text(struct tsdl_parser *p, char quote)
{
	const char *s = p->text + p->pos + 1, *end = p->text + p->n;
	const char *close = s;
	char *out;
	size_t n = 0;

	while (close < end && *close != quote)
		close += *close == '\\' && close + 1 < end ? 2 : 1;
	if (close >= end) {
		tsdl_bad(p, CVL_E_TRUNCATED, p->pos, "unterminated string");
		return;
	}
	out = tsdl_need_memory(p, (size_t)(close - s) + 1);
	if (!out)
		return;
	while (s < close) {
		int c = (unsigned char)*s++;

		if (c == '\n') /* only as an escape */
			c = 0;
		if (c == '\\')
			c = escape_value(&s, close);
		if (c <= 0) {
			tsdl_bad(p, CVL_E_SYNTAX, (size_t)(s - 1 - p->text),
				 "character not allowed in a string");
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

void tsdl_next(struct tsdl_parser *p)
{
	const char *s;
	size_t left;

	p->tok = (struct tsdl_token){ .kind = T_END };
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
			tsdl_bad(p, CVL_E_SYNTAX, p->pos, "unexpected byte 0x%02x",
				 (unsigned char)*s);
			return;
		}
		p->tok.punct = *s;
		p->pos++;
	}
}

bool tsdl_is_punct(const struct tsdl_parser *p, int c)
{
	return p->tok.kind == T_PUNCT && p->tok.punct == c;
}

bool tsdl_is_name(const struct tsdl_parser *p, const char *name)
{
	return p->tok.kind == T_NAME && strlen(name) == p->tok.len &&
	       !memcmp(p->tok.s, name, p->tok.len);
}

bool tsdl_accept(struct tsdl_parser *p, int c)
{
	if (!tsdl_is_punct(p, c))
		return false;
	tsdl_next(p);
	return true;
}

bool tsdl_expect(struct tsdl_parser *p, int c)
{
	if (tsdl_accept(p, c))
		return true;
	if (p->tok.kind == T_END)
		tsdl_bad(p, CVL_E_TRUNCATED, p->pos, "unexpected end of file, expected '%s%c'",
			 c == P_ASSIGN_TYPE ? ":" : "", c == P_ASSIGN_TYPE ? '=' : c);
	else
		tsdl_bad(p, CVL_E_SYNTAX, p->tok.offset, "expected '%s%c'",
			 c == P_ASSIGN_TYPE ? ":" : "", c == P_ASSIGN_TYPE ? '=' : c);
	return false;
}

char *tsdl_take_text(struct tsdl_parser *p)
{
	char *s = arena_text(&p->trace->arena, p->tok.s, p->tok.len);

	if (!s)
		return tsdl_bad(p, CVL_E_NOMEM, p->tok.offset, "out of memory");
	tsdl_next(p);
	return s;
}

char *tsdl_take_name(struct tsdl_parser *p)
{
	if (p->tok.kind != T_NAME)
		return tsdl_bad(p, p->tok.kind == T_END ? CVL_E_TRUNCATED : CVL_E_SYNTAX,
				p->tok.kind == T_END ? p->pos : p->tok.offset, "expected a name");
	return tsdl_take_text(p);
}
