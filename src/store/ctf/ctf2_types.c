/* SPDX-License-Identifier: MIT */
/* Field classes of CTF 2, and of the release candidates of its specification, as types. */
#include "store/ctf/ctf2.h"

#include <inttypes.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

const char *const ctf2_origins[CVL_SCOPES] = {
	[CVL_SCOPE_PACKET_HEADER] = "packet-header",
	[CVL_SCOPE_PACKET_CONTEXT] = "packet-context",
	[CVL_SCOPE_EVENT_HEADER] = "event-record-header",
	[CVL_SCOPE_STREAM_CONTEXT] = "event-record-common-context",
	[CVL_SCOPE_EVENT_CONTEXT] = "event-record-specific-context",
	[CVL_SCOPE_FIELDS] = "event-record-payload",
};

static struct cvl_type *new_type(struct ctf2 *p, const struct json_tree *j, enum cvl_type_kind kind,
				 uint32_t align)
{
	struct cvl_type *t = ctf2_need_memory(p, sizeof(*t));

	if (t)
		*t = (struct cvl_type){ .kind = kind,
					.align = align,
					.base = 10,
					.clock = -1,
					.declared_at = j->offset };
	return t;
}

static uint32_t alignment(struct ctf2 *p, const struct json_tree *j, uint32_t otherwise)
{
	const uint64_t v = ctf2_uint(p, j, otherwise, 1u << 20);

	if (!v || v & (v - 1)) {
		ctf2_bad(p, CVL_E_RANGE, j, "an alignment is a power of two");
		return 1;
	}
	return (uint32_t)v;
}

/* One of the @n texts @choice, by number; -1: none. */
static int choice(struct ctf2 *p, const struct json_tree *j, const char *const *texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(j->text, texts[i]))
			return (int)i;
	ctf2_bad(p, CVL_E_SYNTAX, j, "unknown value '%s'", j->text);
	return -1;
}

/* ---- ranges ---- */

static bool take_bound(struct ctf2 *p, const struct json_tree *j, bool is_signed, int64_t *out)
{
	if (j->kind != TREE_INT)
		return ctf2_bad(p, CVL_E_SYNTAX, j, "an integer is expected");
	if (is_signed ? !j->negative && j->num > INT64_MAX : j->negative)
		return ctf2_bad(p, CVL_E_RANGE, j, "the number does not fit the field");
	*out = (int64_t)j->num;
	return true;
}

/* A pair [low, high]. */
static bool take_range(struct ctf2 *p, const struct json_tree *j, bool is_signed, int64_t *low,
		       int64_t *high)
{
	if (j->kind != TREE_ARRAY || j->n != 2)
		return ctf2_bad(p, CVL_E_SYNTAX, j, "a range is an array of two integers");
	if (!take_bound(p, j->first, is_signed, low) ||
	    !take_bound(p, j->first->next, is_signed, high))
		return false;
	if (is_signed ? *high < *low : (uint64_t)*high < (uint64_t)*low)
		return ctf2_bad(p, CVL_E_RANGE, j, "the range ends before it begins");
	return true;
}

/* Names with their ranges, as labels of @t. */
static void take_labels(struct ctf2 *p, const struct json_tree *j, struct cvl_type *t)
{
	struct cvl_label *label;
	size_t n = 0;

	for (const struct json_tree *m = j->first; m; m = m->next) {
		if (m->kind != TREE_ARRAY || !m->n)
			ctf2_bad(p, CVL_E_SYNTAX, m, "an array of ranges is expected");
		n += m->n;
	}
	if (n > CTF_MEMBERS_MAX)
		ctf2_bad(p, CVL_E_LIMIT, j, "more than %d ranges", CTF_MEMBERS_MAX);
	t->label = label = p->code ? NULL : ctf2_need_memory(p, (n + 1) * sizeof(*label));
	for (const struct json_tree *m = j->first; m && label; m = m->next)
		for (const struct json_tree *r = m->first; r && label; r = r->next) {
			label->name = m->key;
			if (!take_range(p, r, t->is_signed, &label->low, &label->high))
				label = NULL;
			else
				label++, t->n++;
		}
}

/* Ranges of option @option are added to those of @t, for which there is room. */
static void add_ranges(struct ctf2 *p, const struct json_tree *j, struct cvl_type *t,
		       struct cvl_range *room, uint32_t option)
{
	for (const struct json_tree *r = j->first; r && !p->code; r = r->next) {
		struct cvl_range *to = &room[t->n_ranges];
		/* the selector may be signed, which is known later: as it is written */
		const bool is_signed = r->kind == TREE_ARRAY && r->first && r->first->negative;

		to->option = option;
		to->is_signed = is_signed;
		if (take_range(p, r, is_signed, &to->low, &to->high))
			t->n_ranges++;
	}
}

/*
 * A name as TSDL has it: of one that begins with an underscore that is not the one that TSDL puts before
 * names.
 */
static const char *member_name(struct ctf2 *p, const char *name)
{
	char *copy;

	if (*name != '_')
		return name;
	copy = ctf2_need_memory(p, strlen(name) + 2);
	if (copy) {
		copy[0] = '_';
		strcpy(copy + 1, name);
	}
	return copy;
}

/* ---- locations ---- */

static const struct cvl_location *location(struct ctf2 *p, const struct json_tree *j)
{
	static const struct ctf2_property properties[] = { { "origin", CTF2_TEXT, false },
							   { "path", CTF2_ARRAY, true } };
	struct cvl_location *l = ctf2_need_memory(p, sizeof(*l));
	const struct json_tree *got[2], *item;
	const char **path;

	if (!l)
		return NULL;
	l->origin = -1;
	if (j->kind == TREE_ARRAY) { /* of a release candidate: the origin comes first */
		item = j->first;
		if (item && item->kind == TREE_TEXT)
			l->origin = choice(p, item, ctf2_origins, CVL_SCOPES);
		item = item ? item->next : NULL;
		path = ctf2_need_memory(p, (j->n + 1) * sizeof(*path));
	} else {
		if (!ctf2_take(p, j, properties, 2, got))
			return NULL;
		if (got[0])
			l->origin = choice(p, got[0], ctf2_origins, CVL_SCOPES);
		item = got[1]->first;
		path = ctf2_need_memory(p, (got[1]->n + 1) * sizeof(*path));
	}
	if (!path || p->code)
		return NULL;
	l->path = path;
	for (; item; item = item->next) {
		if (item->kind == TREE_TEXT)
			path[l->n++] = member_name(p, item->text);
		else if (item->kind != TREE_NULL)
			return ctf2_bad(p, CVL_E_SYNTAX, item, "a string or null is expected");
		else if (!item->next)
			return ctf2_bad(p, CVL_E_SYNTAX, item,
					"a path ends with the name of a field");
		else if (l->n)
			l->n--;
		else
			l->up++;
	}
	if (!l->n)
		return ctf2_bad(p, CVL_E_SYNTAX, j, "a path without a name");
	if (l->origin >= 0 && l->up)
		return ctf2_bad(p, CVL_E_SYNTAX, j, "the path goes above its origin");
	return l;
}

/* ---- numbers ---- */

static const struct {
	const char *name;
	uint32_t role;
} roles[] = {
	{ "packet-magic-number", 1u << ROLE_MAGIC },
	{ "metadata-stream-uuid", 1u << ROLE_UUID },
	{ "data-stream-class-id", 1u << ROLE_STREAM_ID },
	{ "data-stream-id", 1u << ROLE_INSTANCE },
	{ "packet-total-length", 1u << ROLE_PACKET_SIZE },
	{ "packet-content-length", 1u << ROLE_CONTENT_SIZE },
	{ "default-clock-timestamp", 1u << ROLE_STAMP },
	{ "packet-end-default-clock-timestamp", 1u << ROLE_PACKET_END },
	{ "discarded-event-record-counter-snapshot", 1u << ROLE_DISCARDED },
	{ "packet-sequence-number", 1u << ROLE_SEQUENCE },
	{ "event-record-class-id", 1u << ROLE_EVENT_ID },
};

static uint32_t take_roles(struct ctf2 *p, const struct json_tree *j)
{
	uint32_t all = 0;

	for (const struct json_tree *r = j ? j->first : NULL; r; r = r->next) {
		size_t i = 0;

		while (i < LENGTH(roles) &&
		       (r->kind != TREE_TEXT || strcmp(r->text, roles[i].name) != 0))
			i++;
		if (i == LENGTH(roles))
			ctf2_bad(p, CVL_E_SYNTAX, r, "not a role");
		else
			all |= roles[i].role;
	}
	return all;
}

/* How bits follow each other: byte order, and whether they are the other way round in the value. */
static void take_order(struct ctf2 *p, const struct json_tree *byte, const struct json_tree *bit,
		       struct cvl_type *t)
{
	static const char *const bytes[] = { "little-endian", "big-endian" };
	static const char *const bits[] = { "first-to-last", "last-to-first" };

	t->big_endian = choice(p, byte, bytes, 2) == 1;
	t->reversed = bit && (choice(p, bit, bits, 2) == 1) != t->big_endian;
}

static uint8_t take_base(struct ctf2 *p, const struct json_tree *j, uint8_t otherwise)
{
	const uint64_t base = ctf2_uint(p, j, otherwise, 16);

	if (base != 2 && base != 8 && base != 10 && base != 16)
		ctf2_bad(p, CVL_E_RANGE, j, "a base is 2, 8, 10 or 16");
	return (uint8_t)base;
}

/* An integer with names for some of its values. */
static const struct cvl_type *as_enum(struct ctf2 *p, const struct json_tree *j,
				      const struct cvl_type *of, const struct json_tree *mappings)
{
	struct cvl_type *t = ctf2_need_memory(p, sizeof(*t));

	if (!t)
		return NULL;
	*t = *of;
	t->kind = CVL_TYPE_ENUM;
	t->elem = of;
	t->declared_at = j->offset;
	take_labels(p, mappings, t);
	return t;
}

enum { IS_SIGNED = 1, IS_ENUM = 2, IS_BOOL = 4, IS_BITS = 8, IS_FLOAT = 16 };

/* What integers of both lengths may have; NULL: it has not. */
static const struct cvl_type *integer(struct ctf2 *p, const struct json_tree *j, struct cvl_type *t,
				      unsigned what, const struct json_tree *base,
				      const struct json_tree *mappings,
				      const struct json_tree *its_roles)
{
	t->base = take_base(p, base, t->base);
	t->roles = take_roles(p, its_roles);
	if (what & IS_ENUM && !mappings)
		return ctf2_bad(p, CVL_E_MISSING, j, "property 'mappings' is missing");
	if (p->code)
		return NULL;
	return mappings && mappings->n ? as_enum(p, j, t, mappings) : t;
}

/* Length, byte order, bit order and alignment of @t are @got[1] to @got[4]. */
static bool take_fixed(struct ctf2 *p, const struct json_tree *const *got, struct cvl_type *t)
{
	t->size = (uint32_t)ctf2_uint(p, got[1], 0, 64);
	if (!t->size)
		return ctf2_bad(p, CVL_E_RANGE, got[1], "only 1 to 64 bits can be read");
	take_order(p, got[2], got[3], t);
	t->align = alignment(p, got[4], 1);
	return !p->code;
}

static const struct cvl_type *fixed_number(struct ctf2 *p, const struct json_tree *j, unsigned what)
{
	static const struct ctf2_property properties[] = {
		{ "type", CTF2_TEXT, true },
		{ "length", CTF2_INT, true },
		{ "byte-order", CTF2_TEXT, true },
		{ "bit-order", CTF2_TEXT, false },
		{ "alignment", CTF2_INT, false },
		/* of integers */
		{ "preferred-display-base", CTF2_INT, false },
		{ "mappings", CTF2_OBJECT, false },
		/* of unsigned ones */
		{ "roles", CTF2_ARRAY, false },
	};
	const size_t n = what & (IS_BITS | IS_BOOL | IS_FLOAT) ? 5 : what & IS_SIGNED ? 7 : 8;
	struct cvl_type *t = new_type(p, j, what & IS_FLOAT ? CVL_TYPE_FLOAT : CVL_TYPE_INT, 1);
	const struct json_tree *got[8] = { NULL };

	if (!t || !ctf2_take(p, j, properties, n, got) || !take_fixed(p, got, t))
		return NULL;
	t->is_signed = what & IS_SIGNED;
	t->boolean = what & IS_BOOL;
	t->base = what & IS_BITS ? 16 : 10;
	if (what & IS_FLOAT && t->size != 32 && t->size != 64)
		return ctf2_bad(p, CVL_E_UNSUPPORTED, got[1],
				"only 32 and 64-bit IEEE floats can be read");
	return integer(p, j, t, what, got[5], got[6], got[7]);
}

static const struct cvl_type *variable_number(struct ctf2 *p, const struct json_tree *j,
					      unsigned what)
{
	static const struct ctf2_property properties[] = {
		{ "type", CTF2_TEXT, true },
		{ "preferred-display-base", CTF2_INT, false },
		{ "mappings", CTF2_OBJECT, false },
		{ "roles", CTF2_ARRAY, false }, /* of unsigned ones */
	};
	struct cvl_type *t = new_type(p, j, CVL_TYPE_INT, 8);
	const struct json_tree *got[4] = { NULL };

	if (!t || !ctf2_take(p, j, properties, what & IS_SIGNED ? 3 : 4, got))
		return NULL;
	t->is_signed = what & IS_SIGNED;
	t->variable = true;
	t->size = 64;
	return integer(p, j, t, what, got[1], got[2], got[3]);
}

static const struct cvl_type *bit_map(struct ctf2 *p, const struct json_tree *j, unsigned how)
{
	static const struct ctf2_property properties[] = {
		{ "type", CTF2_TEXT, true },       { "length", CTF2_INT, true },
		{ "byte-order", CTF2_TEXT, true }, { "bit-order", CTF2_TEXT, false },
		{ "alignment", CTF2_INT, false },  { "flags", CTF2_OBJECT, true },
	};
	struct cvl_type *t = new_type(p, j, CVL_TYPE_INT, 1);
	const struct json_tree *got[6];

	(void)how;
	if (!t || !ctf2_take(p, j, properties, 6, got) || !take_fixed(p, got, t))
		return NULL;
	t->flags = true;
	t->base = 16;
	take_labels(p, got[5], t);
	if (!t->n)
		ctf2_bad(p, CVL_E_MISSING, got[5], "at least one flag is expected");
	for (uint32_t i = 0; i < t->n && !p->code; i++)
		if ((uint64_t)t->label[i].high >= t->size)
			ctf2_bad(p, CVL_E_RANGE, got[5], "a flag of a bit that it does not have");
	return p->code ? NULL : t;
}

/* ---- texts and bytes ---- */

enum { IN_PLACE = 0, TO_NUL = 1, BY_FIELD = 2 };

static const struct cvl_type *text(struct ctf2 *p, const struct json_tree *j, unsigned how)
{
	static const struct ctf2_property properties[] = {
		{ "type", CTF2_TEXT, true },
		{ "encoding", CTF2_TEXT, false },
		{ "length", CTF2_INT, true },
	};
	static const struct ctf2_property by_field[] = {
		{ "type", CTF2_TEXT, true },
		{ "encoding", CTF2_TEXT, false },
		{ "length-field-location", CTF2_OBJECT | CTF2_ARRAY, true },
	};
	static const char *const encodings[] = {
		[CVL_UTF8] = "utf-8",       [CVL_UTF16BE] = "utf-16be", [CVL_UTF16LE] = "utf-16le",
		[CVL_UTF32BE] = "utf-32be", [CVL_UTF32LE] = "utf-32le",
	};
	struct cvl_type *t = new_type(p, j,
				      how == TO_NUL   ? CVL_TYPE_STRING :
				      how == BY_FIELD ? CVL_TYPE_SEQUENCE :
							CVL_TYPE_ARRAY,
				      8);
	struct cvl_type *character = new_type(p, j, CVL_TYPE_INT, 8);
	const struct json_tree *got[3] = { NULL };

	if (!t || !character ||
	    !ctf2_take(p, j, how == BY_FIELD ? by_field : properties, how == TO_NUL ? 2 : 3, got))
		return NULL;
	t->text = character->text = true;
	character->size = 8;
	if (got[1]) {
		const int encoding = choice(p, got[1], encodings, LENGTH(encodings));

		t->encoding = encoding < 0 ? 0 : (uint8_t)encoding;
	}
	if (how != TO_NUL)
		t->elem = character;
	if (how == BY_FIELD)
		t->location = location(p, got[2]);
	if (how == IN_PLACE)
		t->length = ctf2_uint(p, got[2], 0, UINT64_MAX / 64);
	return p->code ? NULL : t;
}

static const struct cvl_type *blob(struct ctf2 *p, const struct json_tree *j, unsigned how)
{
	static const struct ctf2_property in_place[] = {
		{ "type", CTF2_TEXT, true },
		{ "media-type", CTF2_TEXT, false },
		{ "length", CTF2_INT, true },
		{ "roles", CTF2_ARRAY, false },
	};
	static const struct ctf2_property by_field[] = {
		{ "type", CTF2_TEXT, true },
		{ "media-type", CTF2_TEXT, false },
		{ "length-field-location", CTF2_OBJECT | CTF2_ARRAY, true },
	};
	struct cvl_type *t =
		new_type(p, j, how == BY_FIELD ? CVL_TYPE_SEQUENCE : CVL_TYPE_ARRAY, 8);
	struct cvl_type *byte = new_type(p, j, CVL_TYPE_INT, 8);
	const struct json_tree *got[4] = { NULL };

	if (!t || !byte ||
	    !ctf2_take(p, j, how == BY_FIELD ? by_field : in_place, how == BY_FIELD ? 3 : 4, got))
		return NULL;
	byte->size = 8;
	byte->base = 16;
	t->elem = byte;
	if (how == BY_FIELD)
		t->location = location(p, got[2]);
	else
		t->length = ctf2_uint(p, got[2], 0, UINT64_MAX / 64);
	t->roles = take_roles(p, got[3]);
	if (t->roles && (t->roles != 1u << ROLE_UUID || t->length != 16))
		return ctf2_bad(p, CVL_E_SYNTAX, got[3],
				"of a BLOB only one of 16 bytes has a role, metadata-stream-uuid");
	return p->code ? NULL : t;
}

/* ---- what consists of others ---- */

static const struct cvl_type *structure(struct ctf2 *p, const struct json_tree *j, unsigned how)
{
	static const struct ctf2_property properties[] = {
		{ "type", CTF2_TEXT, true },
		{ "member-classes", CTF2_ARRAY, false },
		{ "minimum-alignment", CTF2_INT, false },
	};
	static const struct ctf2_property of_member[] = {
		{ "name", CTF2_TEXT, true },
		{ "field-class", CTF2_TEXT | CTF2_OBJECT, true },
	};
	struct cvl_type *t = new_type(p, j, CVL_TYPE_STRUCT, 1);
	const struct json_tree *got[3], *in[2];
	struct cvl_member *member;

	(void)how;
	if (!t || !ctf2_take(p, j, properties, 3, got))
		return NULL;
	t->align = alignment(p, got[2], 1);
	if (got[1] && got[1]->n > CTF_MEMBERS_MAX)
		return ctf2_bad(p, CVL_E_LIMIT, got[1], "more than %d members", CTF_MEMBERS_MAX);
	t->member = member = ctf2_need_memory(p, ((got[1] ? got[1]->n : 0) + 1) * sizeof(*member));
	if (!member)
		return NULL;
	for (const struct json_tree *m = got[1] ? got[1]->first : NULL; m; m = m->next) {
		if (!ctf2_take(p, m, of_member, 2, in))
			return NULL;
		member->type = ctf2_type(p, in[1]);
		member->name = member_name(p, in[0]->text);
		if (!member->type || !member->name)
			return NULL;
		for (uint32_t i = 0; i < t->n; i++)
			if (!strcmp(t->member[i].name, member->name))
				return ctf2_bad(p, CVL_E_SYNTAX, in[0], "'%s' is there already",
						in[0]->text);
		t->align = member->type->align > t->align ? member->type->align : t->align;
		member++;
		t->n++;
	}
	return p->code ? NULL : t;
}

static const struct cvl_type *array(struct ctf2 *p, const struct json_tree *j, unsigned how)
{
	static const struct ctf2_property in_place[] = {
		{ "type", CTF2_TEXT, true },
		{ "element-field-class", CTF2_TEXT | CTF2_OBJECT, true },
		{ "minimum-alignment", CTF2_INT, false },
		{ "length", CTF2_INT, true },
	};
	static const struct ctf2_property by_field[] = {
		{ "type", CTF2_TEXT, true },
		{ "element-field-class", CTF2_TEXT | CTF2_OBJECT, true },
		{ "minimum-alignment", CTF2_INT, false },
		{ "length-field-location", CTF2_OBJECT | CTF2_ARRAY, true },
	};
	struct cvl_type *t =
		new_type(p, j, how == BY_FIELD ? CVL_TYPE_SEQUENCE : CVL_TYPE_ARRAY, 1);
	const struct json_tree *got[4];

	if (!t || !ctf2_take(p, j, how == BY_FIELD ? by_field : in_place, 4, got))
		return NULL;
	t->elem = ctf2_type(p, got[1]);
	t->align = alignment(p, got[2], 1);
	if (how == BY_FIELD)
		t->location = location(p, got[3]);
	else
		t->length = ctf2_uint(p, got[3], 0, UINT64_MAX);
	if (p->code)
		return NULL;
	t->align = t->elem->align > t->align ? t->elem->align : t->align;
	return t;
}

static const struct cvl_type *optional(struct ctf2 *p, const struct json_tree *j, unsigned how)
{
	static const struct ctf2_property properties[] = {
		{ "type", CTF2_TEXT, true },
		{ "field-class", CTF2_TEXT | CTF2_OBJECT, true },
		{ "selector-field-location", CTF2_OBJECT | CTF2_ARRAY, true },
		{ "selector-field-ranges", CTF2_ARRAY, false },
	};
	struct cvl_type *t = new_type(p, j, CVL_TYPE_OPTIONAL, 1);
	const struct json_tree *got[4];
	struct cvl_range *range;

	(void)how;
	if (!t || !ctf2_take(p, j, properties, 4, got))
		return NULL;
	t->elem = ctf2_type(p, got[1]);
	t->location = location(p, got[2]);
	t->range = range = ctf2_need_memory(p, ((got[3] ? got[3]->n : 0) + 1) * sizeof(*range));
	if (range && got[3])
		add_ranges(p, got[3], t, range, 0);
	return p->code ? NULL : t;
}

static const struct cvl_type *variant(struct ctf2 *p, const struct json_tree *j, unsigned how)
{
	static const struct ctf2_property properties[] = {
		{ "type", CTF2_TEXT, true },
		{ "options", CTF2_ARRAY, true },
		{ "selector-field-location", CTF2_OBJECT | CTF2_ARRAY, true },
	};
	static const struct ctf2_property of_option[] = {
		{ "name", CTF2_TEXT, false },
		{ "field-class", CTF2_TEXT | CTF2_OBJECT, true },
		{ "selector-field-ranges", CTF2_ARRAY, true },
	};
	struct cvl_type *t = new_type(p, j, CVL_TYPE_VARIANT, 1);
	const struct json_tree *got[3], *in[3];
	struct cvl_member *member;
	struct cvl_range *range;
	size_t ranges = 0;

	(void)how;
	if (!t || !ctf2_take(p, j, properties, 3, got))
		return NULL;
	if (!got[1]->n || got[1]->n > CTF_MEMBERS_MAX)
		return ctf2_bad(p, CVL_E_RANGE, got[1], "1 to %d options are expected",
				CTF_MEMBERS_MAX);
	t->location = location(p, got[2]);
	for (const struct json_tree *o = got[1]->first; o; o = o->next) {
		const struct json_tree *r = o->kind == TREE_OBJECT ?
						    json_tree_member(o, "selector-field-ranges") :
						    NULL;

		ranges += r ? r->n : 0;
	}
	t->member = member = ctf2_need_memory(p, got[1]->n * sizeof(*member));
	t->range = range = ctf2_need_memory(p, (ranges + 1) * sizeof(*range));
	for (const struct json_tree *o = got[1]->first; o && !p->code; o = o->next) {
		if (!ctf2_take(p, o, of_option, 3, in))
			return NULL;
		if (!in[2]->n)
			return ctf2_bad(p, CVL_E_MISSING, in[2], "at least one range is expected");
		add_ranges(p, in[2], t, range, t->n);
		member->type = ctf2_type(p, in[1]);
		member->name = in[0] ? member_name(p, in[0]->text) : "";
		if (!member->type || !member->name)
			return NULL;
		for (uint32_t i = 0; in[0] && i < t->n; i++)
			if (!strcmp(t->member[i].name, member->name))
				return ctf2_bad(p, CVL_E_SYNTAX, in[0], "'%s' is there already",
						in[0]->text);
		member++;
		t->n++;
	}
	return p->code ? NULL : t;
}

/* ---- any ---- */

static const struct cvl_type *aliased(struct ctf2 *p, const struct json_tree *j)
{
	const struct ctf2_alias *a = *ctf2_alias(p, j->text);

	return a ? a->type :
		   ctf2_bad(p, CVL_E_UNKNOWN_ID, j, "no field class is called '%s' before this",
			    j->text);
}

const struct cvl_type *ctf2_type(struct ctf2 *p, const struct json_tree *j)
{
	static const struct {
		const char *type;
		const struct cvl_type *(*read)(struct ctf2 *p, const struct json_tree *j,
					       unsigned how);
		unsigned how;
	} classes[] = {
		{ "fixed-length-bit-array", fixed_number, IS_BITS },
		{ "fixed-length-bit-map", bit_map, 0 },
		{ "fixed-length-boolean", fixed_number, IS_BOOL },
		{ "fixed-length-unsigned-integer", fixed_number, 0 },
		{ "fixed-length-signed-integer", fixed_number, IS_SIGNED },
		{ "fixed-length-floating-point-number", fixed_number, IS_FLOAT },
		{ "variable-length-unsigned-integer", variable_number, 0 },
		{ "variable-length-signed-integer", variable_number, IS_SIGNED },
		{ "null-terminated-string", text, TO_NUL },
		{ "static-length-string", text, IN_PLACE },
		{ "dynamic-length-string", text, BY_FIELD },
		{ "static-length-blob", blob, IN_PLACE },
		{ "dynamic-length-blob", blob, BY_FIELD },
		{ "structure", structure, 0 },
		{ "static-length-array", array, IN_PLACE },
		{ "dynamic-length-array", array, BY_FIELD },
		{ "optional", optional, 0 },
		{ "variant", variant, 0 },
		/* of release candidates */
		{ "fixed-length-unsigned-enumeration", fixed_number, IS_ENUM },
		{ "fixed-length-signed-enumeration", fixed_number, IS_ENUM | IS_SIGNED },
		{ "variable-length-unsigned-enumeration", variable_number, IS_ENUM },
		{ "variable-length-signed-enumeration", variable_number, IS_ENUM | IS_SIGNED },
	};
	const struct json_tree *type;
	const struct cvl_type *t = NULL;

	if (p->code)
		return NULL;
	if (j->kind == TREE_TEXT)
		return aliased(p, j);
	type = j->kind == TREE_OBJECT ? json_tree_member(j, "type") : NULL;
	if (!type || type->kind != TREE_TEXT)
		return ctf2_bad(p, CVL_E_MISSING, j,
				"a field class has a 'type', which is a string");
	if (++p->depth > CTF_DEPTH_MAX)
		return ctf2_bad(p, CVL_E_LIMIT, j, "field classes nested deeper than %d",
				CTF_DEPTH_MAX);
	for (size_t i = 0; i < LENGTH(classes); i++)
		if (!strcmp(type->text, classes[i].type)) {
			t = classes[i].read(p, j, classes[i].how);
			p->depth--;
			return p->code ? NULL : t;
		}
	return ctf2_bad(p, CVL_E_SYNTAX, type, "'%s' is no type of field classes", type->text);
}

/* ---- scopes ---- */

static uint32_t roles_of(enum cvl_scope scope, bool has_clock)
{
	switch (scope) {
	case CVL_SCOPE_PACKET_HEADER:
		return 1u << ROLE_MAGIC | 1u << ROLE_UUID | 1u << ROLE_STREAM_ID |
		       1u << ROLE_INSTANCE;
	case CVL_SCOPE_PACKET_CONTEXT:
		return 1u << ROLE_PACKET_SIZE | 1u << ROLE_CONTENT_SIZE | 1u << ROLE_DISCARDED |
		       1u << ROLE_SEQUENCE |
		       (has_clock ? 1u << ROLE_STAMP | 1u << ROLE_PACKET_END : 0);
	case CVL_SCOPE_EVENT_HEADER:
		return 1u << ROLE_EVENT_ID | (has_clock ? 1u << ROLE_STAMP : 0);
	default: return 0;
	}
}

/* What else may be why a field cannot have the role. */
static const char *without(uint32_t role)
{
	switch (role) {
	case 1u << ROLE_STAMP:
	case 1u << ROLE_PACKET_END: return ", or the data stream class has no clock";
	case 1u << ROLE_UUID: return ", or the preamble has no UUID";
	case 1u << ROLE_MAGIC: return ": it is the first member, an unsigned integer of 32 bits";
	default: return "";
	}
}

/* Whether no field of @t has a role that is not in @allowed. */
static bool check_roles(struct ctf2 *p, const struct cvl_type *t, uint32_t allowed,
			const struct json_tree *j)
{
	if (++p->checked > CTF_OPS_TOTAL || ++p->depth > 2 * CTF_DEPTH_MAX)
		return ctf2_bad(p, CVL_E_LIMIT, j, "the layouts have too many fields");
	for (size_t i = 0; i < LENGTH(roles); i++)
		if (t->roles & ~allowed & roles[i].role)
			return ctf2_bad(p, CVL_E_SYNTAX, j, "the role '%s' is not for this place%s",
					roles[i].name, without(roles[i].role));
	for (uint32_t i = 0; t->member && i < t->n; i++)
		if (!check_roles(p, t->member[i].type, allowed, j))
			return false;
	if (t->elem && t->kind != CVL_TYPE_ENUM && !check_roles(p, t->elem, allowed, j))
		return false;
	p->depth--;
	return true;
}

const struct cvl_type *ctf2_scope(struct ctf2 *p, const struct json_tree *j, enum cvl_scope scope,
				  bool has_clock)
{
	const struct cvl_type *t = j ? ctf2_type(p, j) : NULL;
	uint32_t allowed = roles_of(scope, has_clock);

	if (!t)
		return NULL;
	if (t->kind != CVL_TYPE_STRUCT)
		return ctf2_bad(p, CVL_E_SYNTAX, j, "a structure is expected");
	if (!p->trace->has_uuid)
		allowed &= ~(1u << ROLE_UUID);
	for (uint32_t i = 0; i < t->n; i++) {
		const struct cvl_type *m = t->member[i].type;

		if (i || m->kind > CVL_TYPE_ENUM || m->size != 32 || m->variable)
			allowed &= ~(1u << ROLE_MAGIC); /* that is the first, of 32 bits */
		if (!check_roles(p, m, allowed, j))
			return NULL;
	}
	return t;
}
