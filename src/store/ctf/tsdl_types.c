/* SPDX-License-Identifier: MIT */
/* TSDL types and their names. */
#include "store/ctf/tsdl.h"

#include <stdio.h>
#include <string.h>

static struct tsdl_symbol **bucket_of(const struct tsdl_parser *p, const char *name)
{
	return &p->bucket[metadata_hash(0, name) & (p->n_buckets - 1)];
}

static const struct cvl_type *find_symbol(const struct tsdl_parser *p, const char *name)
{
	for (const struct tsdl_symbol *y = *bucket_of(p, name); y; y = y->shadowed)
		if (!strcmp(y->name, name))
			return y->type;
	return NULL;
}

static void add_symbol(struct tsdl_parser *p, const char *name, const struct cvl_type *type,
		       size_t offset)
{
	struct tsdl_symbol **bucket = bucket_of(p, name), *y;

	for (y = *bucket; y; y = y->shadowed)
		if (y->scope == p->scope && !strcmp(y->name, name)) {
			tsdl_bad(p, CVL_E_SYNTAX, offset, "type '%s' is already declared", name);
			return;
		}
	y = tsdl_need_memory(p, sizeof(*y));
	if (!y)
		return;
	*y = (struct tsdl_symbol){ name, type, p->scope, bucket, *bucket, p->scope->symbols };
	*bucket = p->scope->symbols = y;
}

void tsdl_leave_scope(struct tsdl_parser *p)
{
	for (struct tsdl_symbol *y = p->scope->symbols; y; y = y->next)
		*y->bucket = y->shadowed;
	p->scope = p->scope->up;
}

static struct type *new_type(struct tsdl_parser *p, enum cvl_type_kind kind)
{
	struct type *t = tsdl_need_memory(p, sizeof(*t));

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

static const char *clock_of_path(struct tsdl_parser *p, const char *path, size_t offset)
{
	size_t n = strlen(path);

	if (n < 13 || strncmp(path, "clock.", 6) || strcmp(path + n - 6, ".value"))
		return tsdl_bad(p, CVL_E_SYNTAX, offset, "map must be clock.NAME.value");
	return arena_text(&p->trace->arena, path + 6, n - 12);
}

static const struct cvl_type *parse_integer(struct tsdl_parser *p)
{
	struct type *t = new_type(p, CVL_TYPE_INT);
	struct tsdl_attribute a;
	bool aligned = false;

	if (!t || !tsdl_expect(p, '{'))
		return NULL;
	t->native_order = true;
	while (!p->code && !tsdl_accept(p, '}')) {
		if (!tsdl_parse_attribute(p, &a) || !tsdl_expect(p, ';'))
			return NULL;
		if (tsdl_attribute_is(&a, "size")) {
			t->pub.size = (uint32_t)tsdl_attribute_uint(p, &a, 64);
			if (!t->pub.size)
				return tsdl_bad(p, CVL_E_RANGE, a.offset,
						"size must be 1 to 64 bits");
		} else if (tsdl_attribute_is(&a, "align")) {
			t->pub.align = tsdl_attribute_align(p, &a);
			aligned = true;
		} else if (tsdl_attribute_is(&a, "signed")) {
			t->pub.is_signed = tsdl_attribute_bool(p, &a);
		} else if (tsdl_attribute_is(&a, "byte_order")) {
			int order = tsdl_attribute_order(p, &a);

			t->native_order = order < 0;
			t->pub.big_endian = order > 0;
		} else if (tsdl_attribute_is(&a, "base")) {
			t->pub.base = tsdl_attribute_base(p, &a);
		} else if (tsdl_attribute_is(&a, "encoding")) {
			const char *e = tsdl_attribute_text(p, &a);

			t->pub.text = e && strcasecmp(e, "none");
		} else if (tsdl_attribute_is(&a, "map")) {
			const char *path = tsdl_attribute_text(p, &a);

			t->clock_name = path ? clock_of_path(p, path, a.offset) : NULL;
		}
	}
	if (!t->pub.size)
		return tsdl_bad(p, CVL_E_MISSING, t->pub.declared_at, "integer without a size");
	if (!aligned)
		t->pub.align = t->pub.size % 8 ? 1 : 8;
	return p->code ? NULL : &t->pub;
}

static const struct cvl_type *parse_float(struct tsdl_parser *p)
{
	struct type *t = new_type(p, CVL_TYPE_FLOAT);
	uint64_t exponent = 0, mantissa = 0;
	struct tsdl_attribute a;

	if (!t || !tsdl_expect(p, '{'))
		return NULL;
	t->native_order = true;
	t->pub.align = 8;
	while (!p->code && !tsdl_accept(p, '}')) {
		if (!tsdl_parse_attribute(p, &a) || !tsdl_expect(p, ';'))
			return NULL;
		if (tsdl_attribute_is(&a, "exp_dig")) {
			exponent = tsdl_attribute_uint(p, &a, 64);
		} else if (tsdl_attribute_is(&a, "mant_dig")) {
			mantissa = tsdl_attribute_uint(p, &a, 64);
		} else if (tsdl_attribute_is(&a, "align")) {
			t->pub.align = tsdl_attribute_align(p, &a);
		} else if (tsdl_attribute_is(&a, "byte_order")) {
			int order = tsdl_attribute_order(p, &a);

			t->native_order = order < 0;
			t->pub.big_endian = order > 0;
		}
	}
	t->pub.size = (uint32_t)(exponent + mantissa);
	if (!p->code && !(exponent == 8 && mantissa == 24) && !(exponent == 11 && mantissa == 53))
		return tsdl_bad(p, CVL_E_UNSUPPORTED, t->pub.declared_at,
				"only 32 and 64-bit IEEE floats can be read");
	return p->code ? NULL : &t->pub;
}

static const struct cvl_type *parse_string(struct tsdl_parser *p)
{
	struct type *t = new_type(p, CVL_TYPE_STRING);
	struct tsdl_attribute a;

	if (!t)
		return NULL;
	t->pub.align = 8;
	t->pub.text = true;
	if (tsdl_accept(p, '{'))
		while (!p->code && !tsdl_accept(p, '}'))
			if (!tsdl_parse_attribute(p, &a) || !tsdl_expect(p, ';'))
				return NULL;
	return p->code ? NULL : &t->pub;
}

static bool is_c_word(const struct tsdl_parser *p)
{
	static const char *const words[] = { "char",   "short",    "int",      "long",
					     "signed", "unsigned", "float",    "double",
					     "void",   "_Bool",    "_Complex", "_Imaginary" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (tsdl_is_name(p, words[i]))
			return true;
	return false;
}

/* A type name: one name, or a run of C keywords; then pointer stars. */
static bool parse_alias_name(struct tsdl_parser *p, char *out, size_t size)
{
	size_t offset = p->tok.offset;

	out[0] = '\0';
	while (tsdl_is_name(p, "const"))
		tsdl_next(p);
	if (is_c_word(p)) {
		while (!p->code && (is_c_word(p) || tsdl_is_name(p, "const"))) {
			if (!tsdl_is_name(p, "const")) {
				if (out[0])
					tsdl_append_path(out, size, " ", 1);
				tsdl_append_path(out, size, p->tok.s, p->tok.len);
			}
			tsdl_next(p);
		}
	} else {
		if (p->tok.kind != T_NAME) {
			tsdl_bad(p, p->tok.kind == T_END ? CVL_E_TRUNCATED : CVL_E_SYNTAX,
				 p->tok.kind == T_END ? p->pos : offset, "expected a type");
			return false;
		}
		tsdl_append_path(out, size, p->tok.s, p->tok.len);
		tsdl_next(p);
	}
	while (!p->code && (tsdl_is_punct(p, '*') || tsdl_is_name(p, "const"))) {
		if (tsdl_is_punct(p, '*'))
			tsdl_append_path(out, size, " *", 2);
		tsdl_next(p);
	}
	if (strlen(out) + 1 >= size)
		tsdl_bad(p, CVL_E_LIMIT, offset, "type name too long");
	return !p->code;
}

static const struct cvl_type *find_named(struct tsdl_parser *p, const char *kind, const char *name,
					 size_t offset)
{
	char full[300];
	const struct cvl_type *t;

	snprintf(full, sizeof(full), "%s%s%s", kind, *kind ? " " : "", name);
	t = find_symbol(p, full);
	if (!t)
		tsdl_bad(p, CVL_E_UNKNOWN_ID, offset, "type '%s' is not declared", full);
	return t;
}

static void name_type(struct tsdl_parser *p, const char *kind, const char *name,
		      const struct cvl_type *t, size_t offset)
{
	char full[300];
	char *copy;

	snprintf(full, sizeof(full), "%s %s", kind, name);
	copy = arena_text(&p->trace->arena, full, strlen(full));
	if (!copy)
		tsdl_bad(p, CVL_E_NOMEM, offset, "out of memory");
	else
		add_symbol(p, copy, t, offset);
}

/* Lengths after a declarator: innermost last, so that `a[2][3]` is two arrays of three. */
static const struct cvl_type *parse_lengths(struct tsdl_parser *p, const struct cvl_type *elem)
{
	const struct cvl_type *inner;
	struct type *t;
	char path[256];

	if (!tsdl_accept(p, '['))
		return elem;
	if (++p->depth > CTF_DEPTH_MAX)
		return tsdl_bad(p, CVL_E_LIMIT, p->tok.offset, "types nested deeper than %d",
				CTF_DEPTH_MAX);
	t = new_type(p, CVL_TYPE_ARRAY);
	if (!t)
		return NULL;
	if (p->tok.kind == T_INT) {
		t->pub.length = p->tok.num;
		tsdl_next(p);
	} else {
		t->pub.kind = CVL_TYPE_SEQUENCE;
		if (!tsdl_parse_path(p, path, sizeof(path)))
			return NULL;
		t->pub.ref = arena_text(&p->trace->arena, path, strlen(path));
	}
	if (!tsdl_expect(p, ']'))
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

bool tsdl_parse_alias(struct tsdl_parser *p)
{
	const struct cvl_type *t;
	char name[256];
	char *copy;
	size_t offset;

	t = tsdl_parse_type(p);
	if (!t || !tsdl_expect(p, P_ASSIGN_TYPE))
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

bool tsdl_parse_typedef(struct tsdl_parser *p)
{
	const struct cvl_type *base = tsdl_parse_type(p), *t;
	char *name;
	size_t offset;

	if (!base)
		return false;
	do {
		offset = p->tok.offset;
		name = tsdl_take_name(p);
		t = name ? parse_lengths(p, base) : NULL;
		if (!t)
			return false;
		add_symbol(p, name, t, offset);
	} while (tsdl_accept(p, ','));
	return !p->code;
}

/* Members of a struct or variant up to the closing brace. */
static bool parse_members(struct tsdl_parser *p, struct type *t)
{
	struct member_list {
		struct cvl_member m;
		struct member_list *next, *same_hash;
	} *first = NULL, **tail = &first, *bucket[256] = { NULL };
	struct tsdl_scope scope = { .up = p->scope };
	struct cvl_member *all;
	uint32_t n = 0;

	p->scope = &scope;
	while (!p->code && !tsdl_accept(p, '}')) {
		const struct cvl_type *base;

		if (p->tok.kind == T_END) {
			tsdl_bad(p, CVL_E_TRUNCATED, p->pos, "the text ends inside a type");
			break;
		}
		if (tsdl_is_name(p, "typealias")) {
			tsdl_next(p);
			if (tsdl_parse_alias(p))
				tsdl_expect(p, ';');
			continue;
		}
		if (tsdl_is_name(p, "typedef")) {
			tsdl_next(p);
			if (tsdl_parse_typedef(p))
				tsdl_expect(p, ';');
			continue;
		}
		base = tsdl_parse_type(p);
		if (base && tsdl_accept(p, ';')) /* declares a name, not a member */
			continue;
		do {
			struct member_list *l = tsdl_need_memory(p, sizeof(*l));
			size_t offset = p->tok.offset;
			uint32_t hash;

			if (!base || !l)
				break;
			l->m.name = tsdl_take_name(p);
			if (!l->m.name)
				break;
			hash = metadata_hash(0, l->m.name) % 256;
			for (struct member_list *o = bucket[hash]; o; o = o->same_hash)
				if (!strcmp(o->m.name, l->m.name))
					tsdl_bad(p, CVL_E_SYNTAX, offset,
						 "'%s' is already declared", l->m.name);
			l->same_hash = bucket[hash];
			bucket[hash] = l;
			l->m.type = parse_lengths(p, base);
			*tail = l;
			tail = &l->next;
			if (++n > CTF_MEMBERS_MAX)
				tsdl_bad(p, CVL_E_LIMIT, offset, "more than %d members",
					 CTF_MEMBERS_MAX);
		} while (!p->code && tsdl_accept(p, ','));
		if (!p->code)
			tsdl_expect(p, ';');
	}
	tsdl_leave_scope(p);
	all = p->code ? NULL : tsdl_need_memory(p, (n ? n : 1) * sizeof(*all));
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

static const struct cvl_type *parse_struct(struct tsdl_parser *p)
{
	struct type *t;
	char *name = NULL;
	size_t offset = p->tok.offset;

	if (p->tok.kind == T_NAME)
		name = tsdl_take_name(p);
	if (!tsdl_is_punct(p, '{'))
		return name ? find_named(p, "struct", name, offset) :
			      tsdl_bad(p, CVL_E_SYNTAX, p->tok.offset,
				       "expected '{' or the name of a struct");
	tsdl_next(p);
	t = new_type(p, CVL_TYPE_STRUCT);
	if (!t || !parse_members(p, t))
		return NULL;
	if (tsdl_is_name(p, "align")) {
		struct tsdl_attribute a = { .name = "align", .kind = A_INT };

		tsdl_next(p);
		if (!tsdl_expect(p, '('))
			return NULL;
		a.offset = p->tok.offset;
		if (p->tok.kind != T_INT)
			return tsdl_bad(p, CVL_E_SYNTAX, a.offset, "expected an alignment");
		a.num = p->tok.num;
		tsdl_next(p);
		if (tsdl_attribute_align(p, &a) > t->pub.align)
			t->pub.align = (uint32_t)a.num;
		if (!tsdl_expect(p, ')'))
			return NULL;
	}
	if (name)
		name_type(p, "struct", name, &t->pub, offset);
	return p->code ? NULL : &t->pub;
}

static const char *parse_tag(struct tsdl_parser *p)
{
	char path[256];

	if (!tsdl_accept(p, '<'))
		return NULL;
	if (!tsdl_parse_path(p, path, sizeof(path)) || !tsdl_expect(p, '>'))
		return NULL;
	return arena_text(&p->trace->arena, path, strlen(path));
}

static const struct cvl_type *parse_variant(struct tsdl_parser *p)
{
	struct type *t;
	char *name = NULL;
	const char *tag;
	size_t offset = p->tok.offset;

	if (p->tok.kind == T_NAME)
		name = tsdl_take_name(p);
	tag = parse_tag(p);
	if (p->code)
		return NULL;
	t = new_type(p, CVL_TYPE_VARIANT);
	if (!t)
		return NULL;
	if (!tsdl_is_punct(p, '{')) {
		const struct cvl_type *known;

		if (!name)
			return tsdl_bad(p, CVL_E_SYNTAX, p->tok.offset,
					"expected '{' or the name of a variant");
		known = find_named(p, "variant", name, offset);
		if (!known)
			return NULL;
		t->pub = *known;
		t->pub.ref = tag ? tag : known->ref;
		return &t->pub;
	}
	tsdl_next(p);
	if (!parse_members(p, t))
		return NULL;
	t->pub.ref = tag;
	if (!t->pub.n)
		return tsdl_bad(p, CVL_E_RANGE, offset, "variant without options");
	if (name)
		name_type(p, "variant", name, &t->pub, offset);
	return p->code ? NULL : &t->pub;
}

static bool parse_label_value(struct tsdl_parser *p, const struct cvl_type *container, int64_t *out)
{
	bool negative = false;
	size_t offset = p->tok.offset;

	while (tsdl_is_punct(p, '-') || tsdl_is_punct(p, '+')) {
		negative ^= tsdl_is_punct(p, '-');
		tsdl_next(p);
	}
	if (p->tok.kind != T_INT && !(p->tok.kind == T_TEXT && p->tok.len == 1)) {
		tsdl_bad(p, CVL_E_SYNTAX, p->tok.offset, "expected a number");
		return false;
	}
	if (negative ? !container->is_signed || p->tok.num > (uint64_t)INT64_MAX + 1 :
		       container->is_signed && p->tok.num > INT64_MAX) {
		tsdl_bad(p, CVL_E_RANGE, offset, "value does not fit the enumeration's container");
		return false;
	}
	*out = negative ? (int64_t)(0 - p->tok.num) : (int64_t)p->tok.num;
	tsdl_next(p);
	return true;
}

static const struct cvl_type *parse_enum(struct tsdl_parser *p)
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
		name = tsdl_take_name(p);
	if (tsdl_accept(p, ':'))
		container = tsdl_parse_type(p);
	if (p->code)
		return NULL;
	if (!tsdl_is_punct(p, '{'))
		return name && !container ? find_named(p, "enum", name, offset) :
					    tsdl_bad(p, CVL_E_SYNTAX, p->tok.offset,
						     "expected '{' or the name of an enum");
	if (!container)
		container = find_named(p, "", "int", offset);
	if (!container)
		return NULL;
	if (container->kind != CVL_TYPE_INT)
		return tsdl_bad(p, CVL_E_SYNTAX, offset,
				"the container of an enumeration must be an integer");
	t = new_type(p, CVL_TYPE_ENUM);
	if (!t)
		return NULL;
	tsdl_next(p);
	while (!p->code && !tsdl_accept(p, '}')) {
		struct label_list *l = tsdl_need_memory(p, sizeof(*l));
		size_t label_offset = p->tok.offset;

		if (!l)
			return NULL;
		if (p->tok.kind == T_NAME || p->tok.kind == T_TEXT)
			l->l.name = tsdl_take_text(p);
		else
			return tsdl_bad(p, p->tok.kind == T_END ? CVL_E_TRUNCATED : CVL_E_SYNTAX,
					p->tok.kind == T_END ? p->pos : p->tok.offset,
					"expected a label");
		l->l.low = auto_value;
		if (tsdl_accept(p, '=') && !parse_label_value(p, container, &l->l.low))
			return NULL;
		l->l.high = l->l.low;
		if (tsdl_accept(p, P_DOTS) && !parse_label_value(p, container, &l->l.high))
			return NULL;
		if (container->is_signed ? l->l.high < l->l.low :
					   (uint64_t)l->l.high < (uint64_t)l->l.low)
			return tsdl_bad(p, CVL_E_RANGE, label_offset,
					"range ends before it begins");
		auto_value = (int64_t)((uint64_t)l->l.high + 1);
		*tail = l;
		tail = &l->next;
		if (++n > CTF_MEMBERS_MAX)
			return tsdl_bad(p, CVL_E_LIMIT, p->tok.offset, "more than %d labels",
					CTF_MEMBERS_MAX);
		if (!tsdl_accept(p, ',') && !tsdl_is_punct(p, '}'))
			return tsdl_bad(p, CVL_E_SYNTAX, p->tok.offset, "expected ',' or '}'");
	}
	all = tsdl_need_memory(p, (n ? n : 1) * sizeof(*all));
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

const struct cvl_type *tsdl_parse_type(struct tsdl_parser *p)
{
	static const struct {
		const char *word;
		const struct cvl_type *(*parse)(struct tsdl_parser *);
	} kinds[] = {
		{ "integer", parse_integer }, { "floating_point", parse_float },
		{ "string", parse_string },   { "struct", parse_struct },
		{ "variant", parse_variant }, { "enum", parse_enum },
	};
	const struct cvl_type *t = NULL;
	char name[256];
	size_t offset;

	if (++p->depth > CTF_DEPTH_MAX)
		return tsdl_bad(p, CVL_E_LIMIT, p->tok.offset, "types nested deeper than %d",
				CTF_DEPTH_MAX);
	while (tsdl_is_name(p, "const"))
		tsdl_next(p);
	offset = p->tok.offset;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!tsdl_is_name(p, kinds[i].word))
			continue;
		tsdl_next(p);
		t = kinds[i].parse(p);
		p->depth--;
		return t;
	}
	if (parse_alias_name(p, name, sizeof(name)))
		t = find_named(p, "", name, offset);
	p->depth--;
	return t;
}
