/* SPDX-License-Identifier: MIT */
/* NAME = VALUE; of TSDL. */
#include "store/ctf/tsdl.h"

#include <inttypes.h>
#include <string.h>

void tsdl_append_path(char *out, size_t size, const char *s, size_t n)
{
	size_t len = strlen(out);

	if (n > size - 1 - len)
		n = size - 1 - len;
	memcpy(out + len, s, n);
	out[len + n] = '\0';
}

const char *tsdl_parse_path(struct tsdl_parser *p, char *buf, size_t size)
{
	buf[0] = '\0';
	for (;;) {
		if (p->tok.kind != T_NAME)
			return tsdl_bad(p, CVL_E_SYNTAX, p->tok.offset, "expected a name");
		if (strlen(buf) + p->tok.len + 2 > size)
			return tsdl_bad(p, CVL_E_LIMIT, p->tok.offset, "path too long");
		tsdl_append_path(buf, size, p->tok.s, p->tok.len);
		tsdl_next(p);
		if (tsdl_is_punct(p, P_ARROW))
			p->tok.punct = '.';
		if (!tsdl_accept(p, '.'))
			return buf;
		tsdl_append_path(buf, size, ".", 1);
	}
}

bool tsdl_parse_attribute(struct tsdl_parser *p, struct tsdl_attribute *a)
{
	char path[256];

	*a = (struct tsdl_attribute){ .offset = p->tok.offset };
	if (p->tok.kind == T_TEXT) { /* env keys may be quoted */
		tsdl_append_path(a->name, sizeof(a->name), p->tok.s, p->tok.len);
		tsdl_next(p);
	} else if (!tsdl_parse_path(p, a->name, sizeof(a->name))) {
		return false;
	}
	if (tsdl_accept(p, P_ASSIGN_TYPE)) {
		a->kind = A_TYPE;
		a->type = tsdl_parse_type(p);
		return a->type != NULL;
	}
	if (!tsdl_expect(p, '='))
		return false;
	while (tsdl_is_punct(p, '-') || tsdl_is_punct(p, '+')) {
		a->negative ^= tsdl_is_punct(p, '-');
		tsdl_next(p);
	}
	if (p->tok.kind == T_INT) {
		a->kind = A_INT;
		a->num = p->tok.num;
		if (a->negative && a->num > (uint64_t)INT64_MAX + 1)
			return tsdl_bad(p, CVL_E_RANGE, p->tok.offset,
					"number does not fit in 64 bits");
		tsdl_next(p);
	} else if (p->tok.kind == T_TEXT) {
		a->kind = A_TEXT;
		a->text = tsdl_take_text(p);
	} else {
		a->kind = A_TEXT;
		if (!tsdl_parse_path(p, path, sizeof(path)))
			return false;
		a->text = arena_text(&p->trace->arena, path, strlen(path));
	}
	return !p->code;
}

bool tsdl_attribute_is(const struct tsdl_attribute *a, const char *name)
{
	return !strcmp(a->name, name);
}

uint64_t tsdl_attribute_uint(struct tsdl_parser *p, const struct tsdl_attribute *a, uint64_t max)
{
	if (a->kind != A_INT || a->negative || a->num > max) {
		tsdl_bad(p, CVL_E_RANGE, a->offset, "'%s' must be a number up to %" PRIu64, a->name,
			 max);
		return 0;
	}
	return a->num;
}

const char *tsdl_attribute_text(struct tsdl_parser *p, const struct tsdl_attribute *a)
{
	if (a->kind != A_TEXT)
		return tsdl_bad(p, CVL_E_SYNTAX, a->offset, "'%s' must be a string", a->name);
	return a->text;
}

bool tsdl_attribute_bool(struct tsdl_parser *p, const struct tsdl_attribute *a)
{
	if (a->kind == A_INT)
		return a->num != 0;
	if (a->kind == A_TEXT) {
		if (!strcasecmp(a->text, "true"))
			return true;
		if (!strcasecmp(a->text, "false"))
			return false;
	}
	tsdl_bad(p, CVL_E_SYNTAX, a->offset, "'%s' must be true or false", a->name);
	return false;
}

/* 1 big, 0 little, -1 the trace's own. */
int tsdl_attribute_order(struct tsdl_parser *p, const struct tsdl_attribute *a)
{
	if (a->kind == A_TEXT) {
		if (!strcmp(a->text, "be") || !strcmp(a->text, "network"))
			return 1;
		if (!strcmp(a->text, "le"))
			return 0;
		if (!strcmp(a->text, "native"))
			return -1;
	}
	tsdl_bad(p, CVL_E_SYNTAX, a->offset, "byte order must be le, be, network or native");
	return -1;
}

uint8_t tsdl_attribute_base(struct tsdl_parser *p, const struct tsdl_attribute *a)
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
	tsdl_bad(p, CVL_E_RANGE, a->offset, "base must be 2, 8, 10 or 16");
	return 10;
}

uint32_t tsdl_attribute_align(struct tsdl_parser *p, const struct tsdl_attribute *a)
{
	uint64_t v = tsdl_attribute_uint(p, a, 1u << 20);

	if (!v || (v & (v - 1))) {
		tsdl_bad(p, CVL_E_RANGE, a->offset, "alignment must be a power of two");
		return 1;
	}
	return (uint32_t)v;
}
