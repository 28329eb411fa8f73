/* SPDX-License-Identifier: MIT */
/*
 * Compiles types to programs. Each scope of each class is compiled twice: in full, for reading the
 * fields, and reduced to what finding the end of the event needs.
 */
#include "store/ctf/internal.h"
#include "store/ctf/machine.h"
#include "store/ctf/wire.h"

#include <coeval/store.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATES_MAX 64

/* A named field that lengths and tags may refer to. */
struct node {
	const char *name;
	struct program *program;
	uint32_t op; /* index, for scalars */
	const struct cvl_type *type;
	struct node *up, *first, *last, *next;
};

struct compiler {
	struct cvl_trace *trace;
	struct program *program;
	struct op *op; /* the one that is being compiled; room for so many: */
	uint32_t capacity;
	struct arena nodes;            /* until all is compiled */
	struct node *root[CVL_SCOPES]; /* of the visible scopes */
	struct node *here;
	struct stream_class *stream;
	enum cvl_scope scope;
	/* no event header field names a clock: `timestamp` is of the stream's */
	bool unmapped;
	unsigned depth;
	/* of CTF 2: bits from a byte's beginning, -1: unknown; the byte order of what ends there, -1: of no one */
	struct place {
		int bit, order;
	} place, after_packet_header, after_header;
	uint32_t total;     /* ops of all programs */
	uint32_t looked_at; /* types, for clocks */
	struct cvl_error *err;
	int code;
};

static int fail(struct compiler *c, enum cvl_code code, const struct cvl_type *t, const char *what,
		const char *name)
{
	uint64_t offset = t ? t->declared_at : CVL_NO_OFFSET;

	if (!c->code)
		c->code = cvl_fail(c->err, code, offset, "%s:%" PRIu64 ": %s%s%s%s",
				   c->trace->metadata_path, offset, what, name ? " '" : "",
				   name ? name : "", name ? "'" : "");
	return c->code;
}

static struct op *emit(struct compiler *c, enum op_code code, const char *name,
		       const struct cvl_type *t)
{
	struct program *prog = c->program;
	struct op *op;

	if (c->code)
		return NULL;
	if (++c->total > CTF_OPS_TOTAL) {
		fail(c, CVL_E_LIMIT, t, "the layouts have too many fields", NULL);
		return NULL;
	}
	if (prog->n == c->capacity) {
		uint32_t more = c->capacity ? 2 * c->capacity : 8;
		struct op *grown;

		if (more > 2 * CTF_OPS_MAX) {
			fail(c, CVL_E_LIMIT, t, "the layout has too many fields", NULL);
			return NULL;
		}
		grown = realloc(c->op, more * sizeof(*grown));
		if (!grown) {
			fail(c, CVL_E_NOMEM, t, "out of memory", NULL);
			return NULL;
		}
		prog->op = c->op = grown;
		c->capacity = more;
	}
	op = &prog->op[prog->n++];
	*op = (struct op){
		.code = (uint8_t)code, .slot = NO_SLOT, .from = NO_SLOT, .name = name, .type = t
	};
	if (t && code != OP_END && code != OP_NEXT)
		op->align_mask = t->align - 1;
	return op;
}

/* ---- references ---- */

static struct node *child_named(const struct node *n, const char *name, size_t len)
{
	for (struct node *f = n->first; f; f = f->next)
		if (f->name && strlen(f->name) == len && !memcmp(f->name, name, len))
			return f;
	return NULL;
}

static struct node *follow(struct node *n, const char *path)
{
	while (n && *path) {
		size_t len = strcspn(path, ".");

		n = child_named(n, path, len);
		path += len + (path[len] == '.');
	}
	return n;
}

static struct node *find_field(struct compiler *c, const char *path)
{
	static const struct {
		const char *prefix;
		enum cvl_scope scope;
	} absolute[] = {
		{ "trace.packet.header.", CVL_SCOPE_PACKET_HEADER },
		{ "stream.packet.context.", CVL_SCOPE_PACKET_CONTEXT },
		{ "stream.event.header.", CVL_SCOPE_EVENT_HEADER },
		{ "stream.event.context.", CVL_SCOPE_STREAM_CONTEXT },
		{ "event.context.", CVL_SCOPE_EVENT_CONTEXT },
		{ "event.fields.", CVL_SCOPE_FIELDS },
	};
	size_t len = strcspn(path, ".");

	for (size_t i = 0; i < sizeof(absolute) / sizeof(*absolute); i++)
		if (!strncmp(path, absolute[i].prefix, strlen(absolute[i].prefix)))
			return c->root[absolute[i].scope] ?
				       follow(c->root[absolute[i].scope],
					      path + strlen(absolute[i].prefix)) :
				       NULL;
	for (struct node *n = c->here; n; n = n->up)
		if (child_named(n, path, len))
			return follow(n, path);
	for (int s = (int)c->scope - 1; s >= 0; s--)
		if (c->root[s] && child_named(c->root[s], path, len))
			return follow(c->root[s], path);
	return NULL;
}

/* The value of @n is to be in @slot. */
static void use_slot(struct compiler *c, const struct node *n, uint16_t slot)
{
	if (c->stream && n->program == &c->stream->header && c->program != n->program)
		c->stream->shape = HEADER_GENERAL; /* the fast path fills no slots */
	n->program->op[n->op].slot = slot;
}

/* ---- references of CTF 2 ---- */

static bool is_struct(const struct node *n)
{
	return n->type && n->type->kind == CVL_TYPE_STRUCT;
}

static bool is_around(const struct compiler *c, const struct node *n)
{
	for (const struct node *h = c->here; h; h = h->up)
		if (h == n)
			return true;
	return false;
}

/* The fields that one refers to: several where the way leads through a variant. */
struct candidates {
	struct node *node[CANDIDATES_MAX];
	size_t n;
	/* too many; not in all options of a variant; in an array or optional field that the user is not in */
	bool unclear;
};

/* Follow @n names of @path from @from, of which members may be arrays, optional fields and variants. */
static void follow_location(const struct compiler *c, struct node *from, const char *const *path,
			    uint32_t n, struct candidates *found)
{
	uint32_t with = 0;

	if (is_struct(from)) {
		struct node *m = n ? child_named(from, path[0], strlen(path[0])) : NULL;

		if (m)
			follow_location(c, m, path + 1, n - 1, found);
		return;
	}
	if (from->program && !n) {
		if (found->n < CANDIDATES_MAX)
			found->node[found->n++] = from;
		else
			found->unclear = true;
		return;
	}
	if (is_around(c, from)) { /* of a variant: the option at hand, which is the last so far */
		if (from->last)
			follow_location(c, from->last, path, n, found);
		return;
	}
	if (from->type->kind != CVL_TYPE_VARIANT) {
		found->unclear = found->unclear || from->first;
		return;
	}
	for (struct node *o = from->first; o; o = o->next) {
		const size_t before = found->n;

		follow_location(c, o, path, n, found);
		with += found->n > before;
	}
	/* where one has no such field, what the last event had would be taken for it */
	found->unclear = found->unclear || with < from->type->n;
}

static void find_location(const struct compiler *c, const struct cvl_location *l,
			  struct candidates *found)
{
	struct node *from = l->origin >= 0 ? c->root[l->origin] : c->here;
	unsigned up = l->up;

	*found = (struct candidates){ 0 };
	if (l->origin > (int)c->scope)
		return;
	while (l->origin < 0 && from && (!is_struct(from) || up)) {
		up -= is_struct(from);
		from = from->up;
	}
	if (from)
		follow_location(c, from, l->path, l->n, found);
}

static void put_location(char *text, size_t size, const struct cvl_location *l)
{
	size_t n = 0;

	*text = '\0';
	for (uint32_t i = 0; i < l->n && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%s", i ? "." : "", l->path[i]);
}

/* A slot that all the fields have that @user refers to by its location. */
static uint16_t slot_at(struct compiler *c, const struct cvl_type *user,
			const struct cvl_type **type)
{
	struct candidates found;
	uint16_t slot = NO_SLOT;
	char text[200];

	find_location(c, user->location, &found);
	put_location(text, sizeof(text), user->location);
	if (!found.n || found.unclear) {
		fail(c, CVL_E_UNKNOWN_ID, user,
		     found.unclear ? "not clear which field is meant by" :
				     "no field comes before this at",
		     text);
		return NO_SLOT;
	}
	*type = found.node[0]->type;
	for (size_t i = 0; i < found.n; i++) {
		const struct node *n = found.node[i];
		const struct op *op = &n->program->op[n->op];

		if (n->type->kind == CVL_TYPE_FLOAT || n->type->is_signed != (*type)->is_signed ||
		    n->type->boolean != (*type)->boolean ||
		    (user->kind == CVL_TYPE_SEQUENCE && (n->type->is_signed || n->type->boolean))) {
			fail(c, CVL_E_RANGE, user, "the fields are not of one kind at", text);
			return NO_SLOT;
		}
		if (slot != NO_SLOT && op->slot != NO_SLOT && op->slot != slot) {
			fail(c, CVL_E_UNSUPPORTED, user,
			     "others refer to some of the fields only that are at", text);
			return NO_SLOT;
		}
		slot = op->slot != NO_SLOT ? op->slot : slot;
	}
	if (slot == NO_SLOT && c->trace->n_slots < CTF_SLOTS_MAX)
		slot = (uint16_t)c->trace->n_slots++;
	if (slot == NO_SLOT)
		fail(c, CVL_E_LIMIT, user, "too many lengths and tags", NULL);
	for (size_t i = 0; i < found.n; i++)
		use_slot(c, found.node[i], slot);
	return slot;
}

/* Slot for the value of the field at @path, allocated on first use. */
static uint16_t slot_of(struct compiler *c, const struct cvl_type *user, bool tag, const char *path,
			const struct cvl_type **type)
{
	struct node *n = path ? find_field(c, path) : NULL;
	uint16_t slot;

	if (user->location)
		return slot_at(c, user, type);
	if (!n || !n->program) {
		fail(c, path && n ? CVL_E_RANGE : CVL_E_UNKNOWN_ID, user,
		     tag ? "the tag of a variant must be an enumeration declared before it, not" :
			   "the length of a sequence must be an unsigned integer declared before it, not",
		     path ? path : "(none)");
		return NO_SLOT;
	}
	if (tag ? n->type->kind != CVL_TYPE_ENUM :
		  (n->type->kind != CVL_TYPE_INT && n->type->kind != CVL_TYPE_ENUM) ||
			    n->type->is_signed) {
		fail(c, CVL_E_RANGE, user,
		     tag ? "the tag of a variant must be an enumeration, not" :
			   "the length of a sequence must be an unsigned integer, not",
		     path);
		return NO_SLOT;
	}
	*type = n->type;
	slot = n->program->op[n->op].slot;
	if (slot == NO_SLOT) {
		if (c->trace->n_slots >= CTF_SLOTS_MAX) {
			fail(c, CVL_E_LIMIT, user, "too many lengths and tags", NULL);
			return NO_SLOT;
		}
		slot = (uint16_t)c->trace->n_slots++;
	}
	use_slot(c, n, slot);
	return slot;
}

/* ---- full programs ---- */

static struct node *enter(struct compiler *c, const char *name, const struct cvl_type *t)
{
	struct node *n = arena_alloc(&c->nodes, sizeof(*n));

	if (!n) {
		fail(c, CVL_E_NOMEM, t, "out of memory", NULL);
		return NULL;
	}
	n->name = name;
	n->type = t;
	n->up = c->here;
	if (c->here) {
		if (c->here->last)
			c->here->last->next = n;
		else
			c->here->first = n;
		c->here->last = n;
	}
	return n;
}

uint32_t layout_roles(const struct cvl_trace *trace, enum cvl_scope scope, const char *name,
		      const struct cvl_type *t)
{
	static const struct {
		enum cvl_scope scope;
		const char *name;
		enum op_role role;
	} roles[] = {
		{ CVL_SCOPE_PACKET_HEADER, "magic", ROLE_MAGIC },
		{ CVL_SCOPE_PACKET_HEADER, "stream_id", ROLE_STREAM_ID },
		{ CVL_SCOPE_PACKET_CONTEXT, "packet_size", ROLE_PACKET_SIZE },
		{ CVL_SCOPE_PACKET_CONTEXT, "content_size", ROLE_CONTENT_SIZE },
		{ CVL_SCOPE_PACKET_CONTEXT, "timestamp_begin", ROLE_BEGIN },
		{ CVL_SCOPE_PACKET_CONTEXT, "timestamp_end", ROLE_PACKET_END },
		{ CVL_SCOPE_PACKET_CONTEXT, "events_discarded", ROLE_DISCARDED },
		{ CVL_SCOPE_PACKET_CONTEXT, "packet_seq_num", ROLE_SEQUENCE },
		{ CVL_SCOPE_EVENT_HEADER, "id", ROLE_EVENT_ID },
	};

	if (trace->json && !trace->exported)
		return t->roles;
	if (!name || (t->kind != CVL_TYPE_INT && t->kind != CVL_TYPE_ENUM))
		return 0;
	if (trace->exported &&
	    !strncmp(cvl_plain_name(name), CVL_EXPORT_FIELD, strlen(CVL_EXPORT_FIELD)))
		return 1u << ROLE_EXPORT;
	if (trace->json)
		return t->roles;
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles) && !t->is_signed; i++)
		if (scope == roles[i].scope && !strcmp(name, roles[i].name))
			return 1u << roles[i].role;
	return 0;
}

bool cvl_trace_shows(const struct cvl_trace *trace, enum cvl_scope scope, const char *name,
		     const struct cvl_type *type)
{
	return !layout_roles(trace, scope, name, type);
}

static int shown_clock(const struct cvl_type *t)
{
	return t->kind == CVL_TYPE_ENUM ? t->elem->clock : t->clock;
}

/* Whether header field @name is the event's own timestamp. */
static bool is_stamp(const char *name, const struct cvl_type *t, bool unmapped)
{
	if (t->kind != CVL_TYPE_INT && t->kind != CVL_TYPE_ENUM)
		return false;
	if (t->roles)
		return t->roles >> ROLE_STAMP & 1;
	return unmapped ? name && !strcmp(name, "timestamp") : shown_clock(t) >= 0;
}

static void compile_type(struct compiler *c, const char *name, const struct cvl_type *t);

static void align_place(struct compiler *c, const struct cvl_type *t)
{
	const int mask = t->align >= 8 ? 7 : (int)t->align - 1;

	if (t->align >= 8)
		c->place.bit = 0;
	else if (c->place.bit >= 0)
		c->place.bit = (c->place.bit + mask) & ~mask & 7;
}

/* Two numbers that meet inside a byte are of one byte order. */
static void check_order(struct compiler *c, const char *name, const struct cvl_type *t)
{
	align_place(c, t);
	if (c->place.bit > 0 && c->place.order >= 0 && c->place.order != t->big_endian)
		fail(c, CVL_E_MISMATCH, t,
		     "the field before this one ends inside a byte and has another byte order:",
		     name);
	if (c->place.bit >= 0)
		c->place.bit = (c->place.bit + (int)t->size) & 7;
	c->place.order = t->big_endian;
}

static void compile_scalar(struct compiler *c, enum op_code code, const char *name,
			   const struct cvl_type *t)
{
	struct node *n = enter(c, name, t);
	struct op *op = emit(c, code, name, t);

	if (!n || !op)
		return;
	if (c->trace->json && !t->variable)
		check_order(c, name, t);
	else
		c->place = (struct place){ 0, -1 };
	n->program = c->program;
	n->op = c->program->n - 1;
	op->bits = t->size;
	if (t->kind == CVL_TYPE_FLOAT)
		return;
	if (code == OP_INT && t->align >= 8 &&
	    (t->size == 8 || t->size == 16 || t->size == 32 || t->size == 64))
		op->bits8 = (uint8_t)(t->size / 8);
	op->roles = (uint16_t)layout_roles(c->trace, c->scope, name, t);
	op->clocked = (shown_clock(t) >= 0 &&
		       !(op->roles & (1u << ROLE_PACKET_END | 1u << ROLE_BEGIN))) ||
		      (c->scope == CVL_SCOPE_EVENT_HEADER && is_stamp(name, t, c->unmapped));
	if (c->scope == CVL_SCOPE_PACKET_CONTEXT && op->roles >> ROLE_STAMP & 1)
		op->roles |= 1u << ROLE_BEGIN;
}

static void compile_struct(struct compiler *c, const char *name, const struct cvl_type *t)
{
	struct node *n = enter(c, name, t);

	emit(c, OP_BEGIN, name, t);
	align_place(c, t);
	c->here = n;
	for (uint32_t i = 0; i < t->n && !c->code; i++)
		compile_type(c, t->member[i].name, t->member[i].type);
	c->here = n ? n->up : NULL;
	emit(c, OP_END, NULL, t);
}

static void compile_array(struct compiler *c, const char *name, const struct cvl_type *t)
{
	const struct cvl_type *length;
	struct op *op;
	struct node *n;
	uint32_t loop, body;
	bool seq = t->kind == CVL_TYPE_SEQUENCE;
	uint16_t from = seq ? slot_of(c, t, false, t->ref, &length) : NO_SLOT;

	if (t->text) {
		op = emit(c, seq ? OP_TEXT_SEQ : OP_TEXT, name, t);
		if (op) {
			op->from = from;
			op->count = t->length;
			op->align_mask |= 7; /* characters are whole bytes */
		}
		c->place = (struct place){ 0, -1 };
		return;
	}
	op = emit(c, seq ? OP_LOOP_SEQ : OP_LOOP, name, t);
	if (!op)
		return;
	op->from = from;
	op->count = t->length;
	if (c->trace->json)
		op->roles = (uint16_t)t->roles;
	else if (c->scope == CVL_SCOPE_PACKET_HEADER && name && !strcmp(name, "uuid") && !seq &&
		 t->length == 16 && t->elem->kind == CVL_TYPE_INT && t->elem->size == 8)
		op->roles = 1u << ROLE_UUID;
	loop = c->program->n - 1;
	body = c->program->n;
	n = enter(c, c->trace->json ? name : NULL, t); /* TSDL has no way into arrays */
	c->here = n;
	c->place = (struct place){ -1, -1 }; /* after another element, too */
	compile_type(c, NULL, t->elem);
	c->place = (struct place){ -1, -1 };
	c->here = n ? n->up : NULL;
	op = emit(c, OP_NEXT, NULL, t);
	if (!op)
		return;
	op->target = body;
	c->program->op[loop].target = c->program->n;
	emit(c, OP_END, NULL, t);
}

static bool option_takes(const char *option, const char *label)
{
	return !strcmp(option, label) || !strcmp(cvl_plain_name(option), label);
}

/* Whether the ranges of @t are of numbers that its selector can have. */
static bool ranges_fit(struct compiler *c, const struct cvl_type *t,
		       const struct cvl_type *selector)
{
	for (uint32_t i = 0; i < t->n_ranges; i++) {
		const struct cvl_range *r = &t->range[i];

		if (selector->is_signed ? r->is_signed || (r->low >= 0 && r->high >= 0) :
					  !r->is_signed)
			continue;
		fail(c, CVL_E_RANGE, t, "the range is outside the values of the selector", NULL);
		return false;
	}
	return true;
}

/* The field of an optional one: by its name, without more around it. */
static void compile_optional(struct compiler *c, const char *name, const struct cvl_type *t)
{
	const struct cvl_type *selector = NULL;
	const uint16_t from = slot_of(c, t, true, NULL, &selector);
	struct op *op = emit(c, OP_CHOOSE, name, t);
	const uint32_t choose = c->program->n - 1;
	const uint32_t n = t->n_ranges ? t->n_ranges : 1;
	struct choice *choice = arena_alloc(&c->trace->arena, n * sizeof(*choice));
	struct node *node = enter(c, name, t);

	if (!op || !choice || !node) {
		fail(c, CVL_E_NOMEM, t, "out of memory", NULL);
		return;
	}
	if (selector->boolean == (t->n_ranges > 0)) {
		fail(c, CVL_E_RANGE, t,
		     "an optional field has ranges unless its selector is a boolean", NULL);
		return;
	}
	if (!ranges_fit(c, t, selector))
		return;
	op->from = from;
	choice[0] = (struct choice){ 1, -1, choose + 1, 0 }; /* any but 0 */
	for (uint32_t i = 0; i < t->n_ranges; i++)
		choice[i] = (struct choice){ t->range[i].low, t->range[i].high, choose + 1, 0 };
	c->here = node;
	compile_type(c, name, t->elem);
	c->here = node->up;
	c->place = (struct place){ -1, -1 };
	if (c->code)
		return;
	op = &c->program->op[choose];
	op->choice = choice;
	op->count = n;
	op->bits8 = selector->is_signed;
	op->target = c->program->n;
}

/* A variant of CTF 2, whose options tell their ranges. */
static uint32_t choices_by_range(const struct cvl_type *t, uint32_t option, uint32_t target,
				 struct choice *choice)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_ranges; i++)
		if (t->range[i].option == option)
			choice[n++] = (struct choice){ t->range[i].low, t->range[i].high, target,
						       option };
	return n;
}

static uint32_t choices_by_label(const struct cvl_type *t, const struct cvl_type *tag,
				 uint32_t option, uint32_t target, struct choice *choice,
				 uint32_t room)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < tag->n && n < room; k++)
		if (option_takes(t->member[option].name, tag->label[k].name))
			choice[n++] = (struct choice){ tag->label[k].low, tag->label[k].high,
						       target, option };
	return n;
}

static void compile_variant(struct compiler *c, const char *name, const struct cvl_type *t)
{
	const struct cvl_type *tag = NULL;
	uint16_t from = slot_of(c, t, true, t->ref, &tag);
	struct op *op = emit(c, OP_CHOOSE, name, t);
	uint32_t choose = c->program->n - 1, n_choices = 0, room;
	struct choice *choice;
	struct place before;
	uint32_t *jump;
	struct node *n;

	if (!op)
		return;
	op->from = from;
	if (t->location && !ranges_fit(c, t, tag))
		return;
	room = t->location ? t->n_ranges : tag->n;
	choice = arena_alloc(&c->trace->arena, (room + 1) * sizeof(*choice));
	jump = arena_alloc(&c->trace->arena, t->n * sizeof(*jump));
	if (!choice || !jump) {
		fail(c, CVL_E_NOMEM, t, "out of memory", NULL);
		return;
	}
	n = enter(c, name, t);
	c->here = n;
	before = c->place;
	for (uint32_t i = 0; i < t->n && !c->code; i++) {
		n_choices += t->location ?
				     choices_by_range(t, i, c->program->n, choice + n_choices) :
				     choices_by_label(t, tag, i, c->program->n, choice + n_choices,
						      room - n_choices);
		c->place = before;
		compile_type(c, t->member[i].name, t->member[i].type);
		jump[i] = c->program->n;
		emit(c, OP_JUMP, NULL, NULL);
	}
	c->here = n ? n->up : NULL;
	c->place = (struct place){ -1, -1 };
	if (c->code)
		return;
	for (uint32_t i = 0; i < t->n; i++)
		c->program->op[jump[i]].target = c->program->n;
	op = &c->program->op[choose];
	op->choice = choice;
	op->count = n_choices;
	op->bits8 = tag->is_signed;
	emit(c, OP_END, NULL, t);
}

static void compile_type(struct compiler *c, const char *name, const struct cvl_type *t)
{
	if (c->code)
		return;
	if (++c->depth > CTF_DEPTH_MAX) {
		fail(c, CVL_E_LIMIT, t, "types nested too deep", NULL);
		return;
	}
	switch (t->kind) {
	case CVL_TYPE_INT:
	case CVL_TYPE_ENUM:
		compile_scalar(c,
			       t->variable ? OP_VARINT :
			       t->reversed ? OP_TURNED :
					     OP_INT,
			       name, t);
		break;
	case CVL_TYPE_FLOAT: compile_scalar(c, t->reversed ? OP_TURNED : OP_FLOAT, name, t); break;
	case CVL_TYPE_STRING:
		emit(c, OP_STRING, name, t);
		c->place = (struct place){ 0, -1 };
		break;
	case CVL_TYPE_STRUCT: compile_struct(c, name, t); break;
	case CVL_TYPE_VARIANT: compile_variant(c, name, t); break;
	case CVL_TYPE_OPTIONAL: compile_optional(c, name, t); break;
	case CVL_TYPE_ARRAY:
	case CVL_TYPE_SEQUENCE: compile_array(c, name, t); break;
	}
	c->depth--;
}

/* Compile the struct @t as scope @scope; the scopes before it stay visible. */
static void compile_scope(struct compiler *c, enum cvl_scope scope, const struct cvl_type *t,
			  struct program *program)
{
	c->program = program;
	program->op = c->op;
	c->scope = scope;
	c->here = NULL;
	c->root[scope] = NULL;
	if (t) {
		struct node *root = enter(c, NULL, t);

		c->root[scope] = root;
		c->here = root;
		emit(c, OP_BEGIN, NULL, t);
		align_place(c, t);
		for (uint32_t i = 0; i < t->n && !c->code; i++)
			compile_type(c, t->member[i].name, t->member[i].type);
		emit(c, OP_END, NULL, t);
		c->here = NULL;
	}
	emit(c, OP_STOP, NULL, NULL);
	program->op = arena_alloc(&c->trace->arena, program->n * sizeof(*program->op));
	if (program->op)
		memcpy(program->op, c->op, program->n * sizeof(*program->op));
	else
		fail(c, CVL_E_NOMEM, t, "out of memory", NULL);
}

/* ---- reduced programs ---- */

/* Names of fields, by their address. */
struct names {
	const char *const *name;
	size_t n;
};

static bool is_among(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (name && names->name[i] == name)
			return true;
	return false;
}

/* The skip that replaces an op whose value is not requested; false if the op must stay. */
static bool as_advance(const struct op *op, const struct names *wanted, struct op *advance)
{
	if (is_among(wanted, op->name))
		return false;
	*advance = (struct op){
		.code = OP_ADVANCE, .slot = NO_SLOT, .from = NO_SLOT, .align_mask = op->align_mask
	};
	switch (op->code) {
	case OP_INT:
	case OP_TURNED:
		if (op->slot != NO_SLOT || op->clocked || op->roles & ~(1u << ROLE_EXPORT))
			return false;
		advance->bits = op->bits;
		return true;
	case OP_FLOAT: advance->bits = op->bits; return true;
	case OP_TEXT:
		if (op->count > UINT64_MAX / 8)
			return false;
		advance->bits = op->count * 8;
		return true;
	case OP_BEGIN: return true;
	case OP_END: advance->align_mask = 0; return true;
	default: return false;
	}
}

/* Two skips in a row become one if the second's alignment divides the first's. */
static bool merge_advance(struct op *a, const struct op *b)
{
	uint64_t bits;

	if (a->code != OP_ADVANCE || b->align_mask > a->align_mask)
		return false;
	if (__builtin_add_overflow(a->bits, b->align_mask, &bits))
		return false;
	bits &= ~(uint64_t)b->align_mask;
	return !__builtin_add_overflow(bits, b->bits, &a->bits);
}

/* A loop whose body is one skip becomes one skip. @loop is its op, the body the last op of @out. */
static bool collapse_loop(struct program *out, uint32_t loop)
{
	struct op *op = &out->op[loop], *body = &out->op[out->n - 1];
	uint64_t stride, total;

	if (out->n != loop + 2 || body->code != OP_ADVANCE)
		return false;
	stride = (body->bits + body->align_mask) & ~(uint64_t)body->align_mask;
	if (stride < body->bits)
		return false;
	if (op->code == OP_LOOP) {
		if (op->count && (__builtin_mul_overflow(stride, op->count - 1, &total) ||
				  __builtin_add_overflow(total, body->bits, &total)))
			return false;
		op->bits = op->count ? total : 0;
		op->code = OP_ADVANCE;
	} else {
		if (stride != body->bits)
			return false;
		op->bits = stride;
		op->code = OP_SKIP_SEQ;
	}
	out->n--;
	return true;
}

static int reduce(struct arena *arena, const struct program *full, const struct names *wanted,
		  struct program *out, struct cvl_error *err)
{
	uint32_t *index = calloc(full->n + 1, sizeof(*index));
	bool *leader = calloc(full->n + 1, sizeof(*leader));
	uint32_t loops[CTF_DEPTH_MAX + 1], n_loops = 0;
	bool merge = false; /* never across a jump target */

	out->op = arena_alloc(arena, full->n * sizeof(*out->op));
	out->n = 0;
	if (!index || !leader || !out->op) {
		free(index);
		free(leader);
		return cvl_no_memory(err);
	}
	for (uint32_t i = 0; i < full->n; i++) {
		const struct op *op = &full->op[i];

		if (op->code == OP_LOOP || op->code == OP_LOOP_SEQ || op->code == OP_NEXT ||
		    op->code == OP_JUMP)
			leader[op->target] = true;
		for (uint64_t k = 0; op->code == OP_CHOOSE && k < op->count; k++)
			leader[op->choice[k].target] = true;
		if (op->code == OP_CHOOSE && op->target)
			leader[op->target] = true;
	}
	for (uint32_t i = 0; i < full->n; i++) {
		const struct op *op = &full->op[i];
		struct op advance;

		if (leader[i])
			merge = false;
		index[i] = out->n;
		if (as_advance(op, wanted, &advance)) {
			if (!advance.align_mask && !advance.bits)
				continue;
			if (merge && merge_advance(&out->op[out->n - 1], &advance))
				continue;
			out->op[out->n++] = advance;
			merge = true;
			continue;
		}
		merge = false;
		if (op->code == OP_NEXT) {
			uint32_t loop = loops[--n_loops];

			if (collapse_loop(out, loop)) {

				merge = out->op[loop].code == OP_ADVANCE && !leader[i + 1];
				index[i] = out->n;
				continue;
			}
		}
		if (op->code == OP_LOOP || op->code == OP_LOOP_SEQ)
			loops[n_loops++] = out->n;
		out->op[out->n++] = *op;
	}
	for (uint32_t i = 0; i < out->n; i++) {
		struct op *op = &out->op[i];

		if (op->code == OP_LOOP || op->code == OP_LOOP_SEQ || op->code == OP_NEXT ||
		    op->code == OP_JUMP)
			op->target = index[op->target];
		if (op->code == OP_CHOOSE && op->count) {
			struct choice *copy = arena_alloc(arena, op->count * sizeof(*copy));

			if (!copy) {
				out->n = 0;
				break;
			}
			memcpy(copy, op->choice, op->count * sizeof(*copy));
			for (uint64_t k = 0; k < op->count; k++)
				copy[k].target = index[copy[k].target];
			op->choice = copy;
			op->target = op->target ? index[op->target] : 0;
		}
	}
	free(index);
	free(leader);
	return out->n ? 0 : cvl_no_memory(err);
}

/* Whether @p can be run by machine_take(). */
static bool is_plain(const struct program *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct op *op = &p->op[i];

		if (op->clocked || op->roles ||
		    (op->code != OP_ADVANCE && op->code != OP_INT && op->code != OP_STRING &&
		     op->code != OP_TEXT && op->code != OP_STOP) ||
		    ((op->code == OP_STRING || op->code == OP_TEXT) &&
		     op->type->encoding != CVL_UTF8))
			return false;
	}
	return true;
}

/* Number the fields of @wanted in @p, from 1. */
static void number(struct program *p, const struct names *wanted)
{
	for (uint32_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < wanted->n; k++)
			if (p->op[i].name == wanted->name[k])
				p->op[i].target = (uint32_t)k + 1;
}

/* Leave out what follows the last field of @wanted; it stays where there are jumps. Whether there is one. */
static bool cut_rest(struct program *p, const struct names *wanted)
{
	uint32_t last = 0;
	bool jumps = false;

	for (uint32_t i = 0; i < p->n; i++) {
		const unsigned code = p->op[i].code;

		jumps = jumps || code == OP_LOOP || code == OP_LOOP_SEQ || code == OP_CHOOSE;
		if (is_among(wanted, p->op[i].name))
			last = i + 1;
	}
	if (last && !jumps)
		p->op[last] = p->op[p->n - 1]; /* OP_STOP */
	return last;
}

struct some_set *some_set_new(void)
{
	return calloc(1, sizeof(struct some_set));
}

void some_set_free(struct some_set *set)
{
	if (!set)
		return;
	arena_free(&set->arena);
	free(set);
}

int layout_some(struct some_fields **out, struct some_set *set, const struct cvl_trace *trace,
		size_t class, const char *const *name, size_t n, const bool in[CVL_SCOPES],
		struct cvl_error *err)
{
	const struct event_class *e = trace->event[class];
	const struct names none = { 0 };
	struct names wanted[CVL_SCOPES];
	struct some_fields *f = arena_alloc(&set->arena, sizeof(*f));
	bool needed = false;
	int rc = f ? 0 : cvl_no_memory(err);

	for (int s = 0; s < CVL_SCOPES; s++)
		wanted[s] = in[s] ? (struct names){ name, n } : none;
	if (f)
		*f = (struct some_fields){ .plain = true };
	/* of a scope nothing is needed, if nothing that follows it is */
	for (int s = CVL_SCOPES; s-- > CVL_SCOPE_STREAM_CONTEXT && !rc;) {
		if (!e->pub.type[s])
			continue;
		rc = reduce(&set->arena, &e->full[s], &wanted[s], &f->program[s], err);
		if (rc || needed)
			continue;
		needed = cut_rest(&f->program[s], &wanted[s]);
		if (!needed)
			f->program[s].n = 0;
	}
	for (int s = CVL_SCOPE_STREAM_CONTEXT; s < CVL_SCOPES && !rc; s++)
		f->plain = f->plain && is_plain(&f->program[s]);
	for (int s = CVL_SCOPE_STREAM_CONTEXT; s < CVL_SCOPES && !rc; s++)
		if (f->plain)
			number(&f->program[s], &wanted[s]);
	if (!rc && in[CVL_SCOPE_PACKET_CONTEXT] && e->stream->packet_context)
		rc = reduce(&set->arena, &e->stream->context, &wanted[CVL_SCOPE_PACKET_CONTEXT],
			    &f->program[CVL_SCOPE_PACKET_CONTEXT], err);
	*out = rc ? NULL : f;
	return rc;
}

/* ---- the whole trace ---- */

/*
 * The byte-aligned little-endian headers of lttng-tools and our own writer are recognised by their
 * shape, so that reading them needs no program.
 */
/* Whether option @i of variant @v is chosen by low to high of its tag @id, the member before it. */
static bool option_is(const struct cvl_type *id, const struct cvl_type *v, uint32_t i, int64_t low,
		      int64_t high)
{
	const struct cvl_location *l = v->location;

	if (l)
		return v->n_ranges == 2 && v->range[i].option == i && v->range[i].low == low &&
		       v->range[i].high == high && l->n == 1 && !l->up &&
		       (l->origin < 0 || l->origin == CVL_SCOPE_EVENT_HEADER) &&
		       !strcmp(l->path[0], "id");
	return id->kind == CVL_TYPE_ENUM && id->n == 2 && v->ref && !strcmp(v->ref, "id") &&
	       !strcmp(id->label[i].name, v->member[i].name) && id->label[i].low == low &&
	       id->label[i].high == high;
}

/* Whether field @t of a header is the unsigned little-endian id or timestamp that it must be. */
static bool header_field(const struct cvl_type *t, bool json, bool is_id, unsigned size,
			 unsigned align)
{
	const bool stamp = json ? t->roles == 1u << ROLE_STAMP : t->clock >= 0;
	const bool id = json ? t->roles == 1u << ROLE_EVENT_ID : t->clock < 0;

	return (is_id ? id : stamp) && !t->is_signed && !t->big_endian && !t->variable &&
	       !t->reversed && t->size == size && t->align == align;
}

static enum header_shape shape_of(const struct cvl_type *h, bool json)
{
	const struct cvl_type *id, *v, *small, *large;
	unsigned bits;

	if (!h || h->n != 2 || h->align != 8)
		return HEADER_GENERAL;
	id = h->member[0].type;
	v = h->member[1].type;
	if (strcmp(h->member[0].name, "id") || v->kind != CVL_TYPE_VARIANT || v->n != 2 ||
	    (id->kind != CVL_TYPE_ENUM && id->kind != CVL_TYPE_INT) ||
	    (id->size != 5 && id->size != 16) ||
	    !header_field(id, json, true, id->size, id->size == 5 ? 1 : 8))
		return HEADER_GENERAL;
	bits = id->size;
	if (!option_is(id, v, 0, 0, (1 << bits) - 2) ||
	    !option_is(id, v, 1, (1 << bits) - 1, (1 << bits) - 1))
		return HEADER_GENERAL;
	small = v->member[0].type;
	large = v->member[1].type;
	if (small->kind != CVL_TYPE_STRUCT || small->n != 1 || large->kind != CVL_TYPE_STRUCT ||
	    small->align != (bits == 5 ? 1u : 8u) || large->align != 8 || large->n != 2 ||
	    (!json && strcmp(large->member[0].name, "id") != 0))
		return HEADER_GENERAL;
	for (int i = 0; i < 3; i++) {
		const struct cvl_type *t = i ? large->member[i - 1].type : small->member[0].type;
		const unsigned size = i == 2 ? 64 : i == 1 ? 32 : 32 - (bits == 5 ? 5 : 0);

		if (t->kind != CVL_TYPE_INT ||
		    !header_field(t, json, i == 1, size, i == 0 && bits == 5 ? 1 : 8))
			return HEADER_GENERAL;
	}
	return bits == 5 ? HEADER_COMPACT : HEADER_LARGE;
}

/* ---- clocks ---- */

/* Whether to look at @t, too: types that hold others twice, and so on, may be too many. */
static bool goes_on(struct compiler *c, const struct cvl_type *t, unsigned depth)
{
	if (c->code || !t || depth > CTF_DEPTH_MAX)
		return false;
	if (++c->looked_at <= CTF_OPS_TOTAL)
		return true;
	fail(c, CVL_E_LIMIT, t, "the layouts have too many fields", NULL);
	return false;
}

static int clock_in(struct compiler *c, const struct cvl_type *t, unsigned depth)
{
	int clock = -1;

	if (!goes_on(c, t, depth))
		return -1;
	if (t->kind == CVL_TYPE_INT)
		return t->clock;
	if (t->elem)
		return clock_in(c, t->elem, depth + 1);
	for (uint32_t i = 0; i < t->n && t->member && clock < 0; i++)
		clock = clock_in(c, t->member[i].type, depth + 1);
	return clock;
}

/* Numeric member @name of struct @t, at any depth. */
static const struct cvl_type *member_named(struct compiler *c, const struct cvl_type *t,
					   const char *name, unsigned depth)
{
	const struct cvl_type *found = NULL;

	if (!goes_on(c, t, depth))
		return NULL;
	for (uint32_t i = 0; t->member && i < t->n && !found; i++) {
		const struct cvl_type *m = t->member[i].type;

		if (m->kind == CVL_TYPE_STRUCT || m->kind == CVL_TYPE_VARIANT)
			found = member_named(c, m, name, depth + 1);
		else if (!strcmp(t->member[i].name, name) &&
			 (m->kind == CVL_TYPE_INT || m->kind == CVL_TYPE_ENUM))
			found = m;
	}
	return found;
}

/* Bits of the widest timestamp in event header @t; sets *@varies where one is of variable length. */
static unsigned stamp_bits(struct compiler *c, const struct cvl_type *t, unsigned depth,
			   bool *varies)
{
	unsigned bits = 0;

	if (!goes_on(c, t, depth))
		return 0;
	for (uint32_t i = 0; t->member && i < t->n; i++) {
		const struct cvl_type *m = t->member[i].type;
		const bool stamp = is_stamp(t->member[i].name, m, c->unmapped);
		const unsigned of = stamp ? m->size : stamp_bits(c, m, depth + 1, varies);

		*varies = *varies || (stamp && m->variable);
		bits = of > bits ? of : bits;
	}
	return bits;
}

/*
 * Clock of stream @s: the one its fields name. If none does but some fields have the names of
 * timestamps: the only clock declared, or, if none is declared, one of nanoseconds, as in
 * babeltrace2.
 */
static void find_named_clock(struct compiler *c, struct stream_class *s)
{
	struct cvl_trace *trace = c->trace;
	const struct cvl_type *stamp;
	const char *name = "timestamp";

	s->clock = clock_in(c, s->event_header, 0);
	c->unmapped = s->clock < 0;
	if (s->clock < 0)
		s->clock = clock_in(c, s->packet_context, 0);
	if (s->clock < 0) {
		stamp = member_named(c, s->event_header, name, 0);
		if (!stamp)
			stamp = member_named(c, s->packet_context, name = "timestamp_begin", 0);
		if (!stamp)
			stamp = member_named(c, s->packet_context, name = "timestamp_end", 0);
		if (!stamp)
			return;
		if (trace->n_clocks > 1) {
			fail(c, CVL_E_MISMATCH, stamp,
			     "several clocks are declared, but none is mapped to", name);
			return;
		}
		if (!trace->n_clocks) {
			trace->clock = arena_alloc(&trace->arena, sizeof(*trace->clock));
			if (!trace->clock) {
				fail(c, CVL_E_NOMEM, stamp, "out of memory", NULL);
				return;
			}
			trace->clock[trace->n_clocks++] = (struct cvl_clock_class){
				.name = "", .rate_hz = 1000000000, .implied = true
			};
		}
		s->clock = 0;
	}
}

/* Clock of stream @s, and its timestamps. CTF 2 states it. */
static void find_clock(struct compiler *c, struct stream_class *s)
{
	bool varies = false;

	c->unmapped = false;
	if (!c->trace->json)
		find_named_clock(c, s);
	if (s->clock < 0)
		return;
	s->stamp_bits = stamp_bits(c, s->event_header, 0, &varies);
	c->trace->clock[s->clock].variable = c->trace->clock[s->clock].variable || varies;
}

static enum cvl_kind kind_of(const struct event_class *e)
{
	static const struct {
		const char *name;
		enum cvl_kind kind;
	} kinds[] = {
		{ "edge", CVL_EDGE },     { "levels", CVL_EDGE }, { "sample", CVL_SAMPLE },
		{ "beacon", CVL_BEACON }, { "pulse", CVL_PULSE }, { "message", CVL_MESSAGE },
		{ "gap", CVL_GAP },       { "begin", CVL_BEGIN }, { "end", CVL_END },
		{ "slip", CVL_SLIP },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(e->pub.name, kinds[i].name))
			return kinds[i].kind;
	return CVL_EVENT;
}

/* Adds the size of a scope to @bits if it is fixed and in whole bytes, else false. */
static bool simple_size(const struct program *p, uint64_t *bits)
{
	const struct op *op = p->op;

	if (op->code == OP_STOP)
		return true;
	if (op->code != OP_ADVANCE || op->align_mask > 7 || op->bits % 8 || op[1].code != OP_STOP)
		return false;
	return !__builtin_add_overflow(*bits, op->bits, bits);
}

/* Bytes of the bound that our exporter puts right after the header; else 0. */
static uint8_t begins_bounded(const struct event_class *e)
{
	const struct cvl_type *context = e->pub.type[CVL_SCOPE_STREAM_CONTEXT], *first;

	if (!context || !context->n || strcmp(context->member[0].name, CVL_EXPORT_FIELD "bound_ns"))
		return 0;
	first = context->member[0].type;
	return first->kind == CVL_TYPE_INT && first->size == 64 && first->align == 8 &&
			       !first->big_endian && !first->variable && !first->reversed ?
		       8 :
		       0;
}

/* Bytes of the half-width that our writer puts first in an event's fields; 0 if there is none. */
static uint8_t begins_bracketed(const struct event_class *e)
{
	const struct cvl_type *fields = e->pub.type[CVL_SCOPE_FIELDS], *first;

	if (!fields || !fields->n || e->pub.type[CVL_SCOPE_STREAM_CONTEXT] ||
	    e->pub.type[CVL_SCOPE_EVENT_CONTEXT] ||
	    strcmp(cvl_plain_name(fields->member[0].name), CVL_HALF_WIDTH))
		return 0;
	first = fields->member[0].type;
	if (first->kind != CVL_TYPE_INT || (first->size != 64 && first->size != 32) ||
	    first->align != 8 || first->is_signed || first->big_endian)
		return 0;
	return (uint8_t)(first->size / 8);
}

static bool ends_masked(const struct event_class *e)
{
	const struct cvl_type *fields = e->pub.type[CVL_SCOPE_FIELDS];

	return fields && fields->n && !strcmp(fields->member[fields->n - 1].name, WIRE_UNKNOWN);
}

/* A compact header with the stream's clock, and whole bytes of levels. */
static bool only_levels(const struct event_class *e)
{
	return e->stream->shape == HEADER_COMPACT && e->stream->clock >= 0 && e->simple &&
	       !e->bracketed && !e->masked && e->simple_bits && e->simple_bits <= 64 &&
	       e->simple_bits % 8 == 0;
}

static int finish_event(struct cvl_trace *trace, struct event_class *e, struct cvl_error *err)
{
	e->simple = true;
	for (int s = CVL_SCOPE_STREAM_CONTEXT; s < CVL_SCOPES; s++) {
		int rc = reduce(&trace->arena, &e->full[s], &(struct names){ 0 }, &e->skip[s], err);

		if (rc)
			return rc;
		e->simple = e->simple && simple_size(&e->skip[s], &e->simple_bits);
	}
	e->simple = e->simple && e->simple_bits < UINT32_MAX;
	if (trace->exported) {
		if (e->pub.id == WIRE_EXPORT_GAP && !strcmp(e->pub.name, "gap"))
			e->pub.kind = CVL_GAP;
		e->bracketed = begins_bounded(e);
		e->bare = e->bracketed && e->pub.type[CVL_SCOPE_STREAM_CONTEXT]->n == 1;
	}
	trace->bracketed = trace->bracketed || e->bracketed > 0;
	if (!trace->ours)
		return 0;
	e->pub.kind = kind_of(e);
	if (e->pub.kind == CVL_EVENT || e->pub.kind == CVL_EDGE)
		e->bracketed = begins_bracketed(e);
	e->masked = e->pub.kind == CVL_EDGE && ends_masked(e);
	trace->bracketed = trace->bracketed || e->bracketed > 0;
	if (e->pub.kind == CVL_EDGE && e->pub.id == WIRE_EDGE && only_levels(e))
		e->stream->edge = e;
	return 0;
}

static int compile_all(struct cvl_trace *trace, struct cvl_error *err)
{
	struct compiler c = { .trace = trace, .err = err, .place = { 0, -1 } };

	compile_scope(&c, CVL_SCOPE_PACKET_HEADER, trace->packet_header, &trace->header);
	c.after_packet_header = c.place;
	for (struct stream_class *s = trace->streams; s && !c.code; s = s->next) {
		c.stream = s;
		find_clock(&c, s);
		c.place = c.after_packet_header;
		compile_scope(&c, CVL_SCOPE_PACKET_CONTEXT, s->packet_context, &s->context);
		c.place = (struct place){ -1, -1 }; /* after any event */
		compile_scope(&c, CVL_SCOPE_EVENT_HEADER, s->event_header, &s->header);
		c.after_header = c.place;
		s->shape = shape_of(s->event_header, trace->json);
		for (uint32_t i = 0; i < s->n_events && !c.code; i++) {
			struct event_class *e = s->event[i];

			/*
			 * its lengths may come from scopes of the event, so each event has a copy
			 */
			c.place = c.after_header;
			compile_scope(&c, CVL_SCOPE_STREAM_CONTEXT, s->event_context,
				      &e->full[CVL_SCOPE_STREAM_CONTEXT]);
			compile_scope(&c, CVL_SCOPE_EVENT_CONTEXT,
				      e->pub.type[CVL_SCOPE_EVENT_CONTEXT],
				      &e->full[CVL_SCOPE_EVENT_CONTEXT]);
			compile_scope(&c, CVL_SCOPE_FIELDS, e->pub.type[CVL_SCOPE_FIELDS],
				      &e->full[CVL_SCOPE_FIELDS]);
			c.root[CVL_SCOPE_EVENT_CONTEXT] = c.root[CVL_SCOPE_FIELDS] = NULL;
			e->pub.clock = s->clock;
		}
	}
	arena_free(&c.nodes);
	free(c.op);
	return c.code;
}

/* Whether skipping the event's fields changes nothing but the position and what lengths refer to. */
static bool only_skips(const struct event_class *e)
{
	for (int s = CVL_SCOPE_STREAM_CONTEXT; s < CVL_SCOPES; s++)
		for (uint32_t i = 0; i < e->skip[s].n; i++)
			if (e->skip[s].op[i].clocked || e->skip[s].op[i].roles)
				return false;
	return true;
}

/* Events of stream class @s by id. */
static int list_quick(struct cvl_trace *trace, struct stream_class *s, struct cvl_error *err)
{
	if (s->shape == HEADER_GENERAL || s->clock < 0)
		return 0;
	s->quick = arena_alloc(&trace->arena, QUICK_EVENTS * sizeof(*s->quick));
	if (!s->quick)
		return cvl_no_memory(err);
	for (uint32_t i = 0; i < s->n_events; i++) {
		const struct event_class *e = s->event[i];

		if (e->pub.id < QUICK_EVENTS && e->pub.kind == CVL_EVENT && !e->bracketed &&
		    only_skips(e))
			s->quick[e->pub.id] =
				(struct quick_event){ e, e->simple ? (uint32_t)e->simple_bits : 0 };
	}
	return 0;
}

int layout_compile(struct cvl_trace *trace, struct cvl_error *err)
{
	int rc = compile_all(trace, err);

	for (uint32_t i = 0; i < trace->n_events && !rc; i++)
		rc = finish_event(trace, trace->event[i], err);
	for (struct stream_class *s = trace->streams; s && !rc; s = s->next)
		rc = list_quick(trace, s, err);
	return rc;
}
