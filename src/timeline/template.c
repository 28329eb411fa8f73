/* SPDX-License-Identifier: MIT */
#include "timeline/fields.h"

#include "store/ctf/machine.h"

#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#define TEXT 40                           /* of a step; what is longer takes several */
#define ROOM (TEXT + 16 + CVL_OUT_NUMBER) /* that a step needs at most, but for strings */
#define SEPARATOR(json) ((json) ? 1 : 2)  /* bytes of what the first text begins with */

enum step_code {
	STEP_END,
	STEP_TEXT, /* nothing but its text */
	STEP_SIGNED,
	STEP_UNSIGNED,
	STEP_HEX,
	STEP_NUMBER, /* integers and enumerations of other kinds */
	STEP_FLOAT,
	STEP_STRING,
	STEP_CHARS,
	STEP_CHARS_SEQ,
	STEP_ARRAY, /* of the number that the next step is about */
	STEP_SKIP,  /* a number that is not shown */
};

struct step {
	uint8_t code;
	uint8_t n; /* bytes of text before it */
	uint32_t align_mask;
	const struct op *op;
	char text[TEXT + SEPARATOR(false)]; /* the rest is copied, too */
};

struct fields_template {
	bool json;
	size_t n;
	struct step step[];
};

/* ---- making one ---- */

#define DEPTH_MAX 16
#define STEPS_MAX 1000

struct maker {
	struct fields_template *t;
	size_t room;
	char text[TEXT]; /* pending, before the next step */
	size_t n_text;
	uint32_t align_mask; /* pending, too */
	bool json, no_memory, unable;
	unsigned depth;
	unsigned members[DEPTH_MAX];
};

static struct step *add(struct maker *m, enum step_code code, const struct op *op)
{
	struct fields_template *grown = m->t;
	struct step *st;

	if (!grown || grown->n == m->room) {
		const size_t n = grown ? grown->n : 0;

		m->room = m->room ? 2 * m->room : 16;
		grown = realloc(m->t, sizeof(*grown) + m->room * sizeof(*st));
		if (!grown || m->room > STEPS_MAX) {
			m->no_memory = !grown;
			m->unable = true;
			m->t = grown ? grown : m->t;
			return NULL;
		}
		m->t = grown;
		m->t->n = n;
	}
	st = &m->t->step[m->t->n++];
	*st = (struct step){ .code = (uint8_t)code, .n = (uint8_t)m->n_text, .op = op };
	memcpy(st->text, m->text, m->n_text);
	st->align_mask = m->align_mask | (op ? op->align_mask : 0);
	m->n_text = 0;
	m->align_mask = 0;
	return st;
}

static void add_text(struct maker *m, const char *s)
{
	const uint32_t mask = m->align_mask;

	for (; *s && !m->unable; s++) {
		if (m->n_text == TEXT) {
			m->align_mask = 0;
			add(m, STEP_TEXT, NULL);
			m->align_mask = mask;
		}
		m->text[m->n_text++] = *s;
	}
}

/* What comes before member @name of the innermost struct. */
static void lead(struct maker *m, const char *name)
{
	unsigned *before = &m->members[m->depth - 1];
	const bool comma = (*before)++ || (m->json && m->depth == 1);

	if (!name) {
		m->unable = true;
		return;
	}
	name = cvl_plain_name(name);
	for (const char *c = name; *c; c++) /* as identifiers are */
		m->unable = m->unable || *c <= ' ' || *c > '~' || *c == '"' || *c == '\\';
	if (comma)
		add_text(m, ",");
	add_text(m, m->json ? "\"" : " ");
	add_text(m, name);
	add_text(m, m->json ? "\":" : " = ");
}

static enum step_code code_of(const struct maker *m, const struct op *op)
{
	const struct cvl_type *t = op->type;

	if (t->kind != CVL_TYPE_INT || t->boolean || t->flags ||
	    (!m->json && t->base != 10 && t->base != 16))
		return STEP_NUMBER;
	if (!m->json && t->base == 16)
		return STEP_HEX;
	return t->is_signed ? STEP_SIGNED : STEP_UNSIGNED;
}

static void begin_struct(struct maker *m, const struct op *op)
{
	m->align_mask |= op->align_mask;
	if (m->depth)
		lead(m, op->name);
	if (m->depth || !m->json)
		add_text(m, m->depth ? "{" : ", {");
	if (m->depth == DEPTH_MAX) {
		m->unable = true;
		return;
	}
	m->members[m->depth++] = 0;
}

/* An array of numbers at @op. Returns its last op. */
static const struct op *add_array(struct maker *m, const struct op *op)
{
	const struct op *elem = op + 1;

	if (op->roles || elem->code != OP_INT || elem->roles || elem->slot != NO_SLOT ||
	    elem->clocked || elem[1].code != OP_NEXT || elem[2].code != OP_END) {
		m->unable = true;
		return op;
	}
	lead(m, op->name);
	add_text(m, "[");
	add(m, STEP_ARRAY, op);
	add(m, code_of(m, elem), elem);
	add_text(m, m->json ? "]" : " ]");
	return elem + 2;
}

static void add_program(struct maker *m, const struct program *p)
{
	for (const struct op *op = p->op; op->code != OP_STOP && !m->unable; op++) {
		switch ((enum op_code)op->code) {
		case OP_BEGIN: begin_struct(m, op); break;
		case OP_END:
			m->align_mask |= op->align_mask;
			m->depth--;
			if (m->depth || !m->json)
				add_text(m, m->json ? "}" : " }");
			break;
		case OP_INT:
			if (!op->roles)
				lead(m, op->name);
			add(m, op->roles ? STEP_SKIP : code_of(m, op), op);
			break;
		case OP_FLOAT:
			lead(m, op->name);
			add(m, STEP_FLOAT, op);
			break;
		case OP_STRING:
			m->unable = op->type->encoding;
			lead(m, op->name);
			add(m, STEP_STRING, op);
			break;
		case OP_TEXT:
		case OP_TEXT_SEQ:
			m->unable = op->type->encoding;
			lead(m, op->name);
			add(m, op->code == OP_TEXT ? STEP_CHARS : STEP_CHARS_SEQ, op);
			break;
		case OP_LOOP:
		case OP_LOOP_SEQ: op = add_array(m, op); break;
		default: m->unable = true;
		}
	}
}

int template_new(struct fields_template **out, const struct cvl_trace *trace, size_t class,
		 bool json)
{
	const struct event_class *e = trace->event[class];
	struct maker m = { .json = json, .unable = e->bare };

	for (int sc = CVL_SCOPE_STREAM_CONTEXT; sc < CVL_SCOPES && !m.unable; sc++)
		if (e->pub.type[sc])
			add_program(&m, &e->full[sc]);
	if (!m.unable)
		add(&m, STEP_END, NULL);
	/* what the first text begins with may be left out */
	if (!m.unable && m.t->step[0].n < SEPARATOR(json))
		m.unable = true;
	*out = m.unable ? NULL : m.t;
	if (m.unable)
		free(m.t);
	else
		m.t->json = json;
	return m.no_memory ? CVL_E_NOMEM : 0;
}

void template_free(struct fields_template *t)
{
	free(t);
}

/* ---- using it ---- */

/* A number of @op's type at @w. */
INLINE char *put_number(struct cvl_out *o, bool json, enum step_code code, const struct op *op,
			uint64_t v, char *w)
{
	const struct cvl_value value = { .type = op->type, .u = v };

	switch (code) {
	case STEP_SIGNED: return cvl_text_i64(w, (int64_t)v);
	case STEP_UNSIGNED: return cvl_text_u64(w, v);
	case STEP_HEX: return fields_hex(w, op->type, v);
	default:
		cvl_out_to(o, w);
		json ? cvl_value_json(o, &value) : cvl_value_text(o, &value);
		return cvl_out_room(o, ROOM);
	}
}

INLINE char *put_string(struct cvl_out *o, bool json, const char *s, size_t n, char *w)
{
	cvl_out_to(o, w);
	json ? cvl_out_json(o, s, n) : cvl_out_quoted(o, s, n);
	return o->buf + o->n;
}

INLINE char *room(struct cvl_out *o, char *w)
{
	if ((size_t)(o->buf + CVL_OUT_BYTES - w) >= ROOM)
		return w;
	cvl_out_to(o, w);
	return cvl_out_room(o, ROOM);
}

/* @count numbers, as @st says. NULL: they run past the end. */
INLINE char *put_array(struct cvl_out *o, bool json, const struct step *st, struct machine *m,
		       uint64_t count, char *w)
{
	for (uint64_t k = 0; k < count; k++) {
		uint64_t v;

		m->pos = (m->pos + st->align_mask) & ~(uint64_t)st->align_mask;
		if (m->pos > m->end || !machine_int(m, st->op, m->pos, m->end, &v))
			return NULL;
		m->pos += st->op->bits;
		w = room(o, w);
		*w = ',';
		w += k > 0;
		if (!json) {
			memcpy(w, " [", 2);
			w = cvl_text_u64(w + 2, k);
			memcpy(w, "] = ", 4);
			w += 4;
		}
		w = put_number(o, json, (enum step_code)st->code, st->op, v, w);
	}
	return w;
}

INLINE int put(const struct fields_template *t, bool json, bool first, struct cvl_out *o,
	       struct machine *m)
{
	size_t skip = first ? SEPARATOR(json) : 0;
	char *w = cvl_out_room(o, ROOM);

	for (const struct step *st = t->step;; st++, w = room(o, w)) {
		const struct op *op = st->op;
		struct cvl_value value;
		uint64_t v, count;
		const char *s;

		memcpy(w, st->text + skip, TEXT);
		w += st->n - skip;
		skip = 0;
		m->pos = (m->pos + st->align_mask) & ~(uint64_t)st->align_mask;
		if (m->pos > m->end)
			goto cut;
		s = (const char *)m->bytes + m->pos / 8;
		switch ((enum step_code)st->code) {
		case STEP_END: cvl_out_to(o, w); return 0;
		case STEP_TEXT: break;
		case STEP_SIGNED:
		case STEP_UNSIGNED:
		case STEP_HEX:
		case STEP_NUMBER:
		case STEP_SKIP:
			if (!machine_int(m, op, m->pos, m->end, &v))
				goto cut;
			m->pos += op->bits;
			if (op->slot != NO_SLOT)
				m->slot[op->slot] = v;
			if (st->code != STEP_SKIP)
				w = put_number(o, json, (enum step_code)st->code, op, v, w);
			break;
		case STEP_FLOAT:
			if (op->bits > m->end - m->pos)
				goto cut;
			value.type = op->type;
			value.f = machine_float(machine_bits(m->bytes, m->pos, (unsigned)op->bits,
							     op->type->big_endian),
						(unsigned)op->bits);
			m->pos += op->bits;
			cvl_out_to(o, w);
			json ? cvl_value_json(o, &value) : cvl_value_text(o, &value);
			w = o->buf + o->n;
			break;
		case STEP_STRING: {
			const char *nul = memchr(s, 0, (size_t)((m->end - m->pos) / 8));

			if (!nul)
				goto cut;
			w = put_string(o, json, s, (size_t)(nul - s), w);
			m->pos += ((uint64_t)(nul - s) + 1) * 8;
			break;
		}
		case STEP_CHARS:
		case STEP_CHARS_SEQ:
			count = st->code == STEP_CHARS ? op->count : m->slot[op->from];
			if (count > (m->end - m->pos) / 8)
				goto cut;
			w = put_string(o, json, s, strnlen(s, (size_t)count), w);
			m->pos += count * 8;
			break;
		case STEP_ARRAY:
			count = op->code == OP_LOOP ? op->count : m->slot[op->from];
			w = put_array(o, json, ++st, m, count, w);
			if (!w)
				return CVL_E_TRUNCATED;
			break;
		}
	}
cut:
	cvl_out_to(o, w);
	return CVL_E_TRUNCATED;
}

int template_put(const struct fields_template *t, bool first, struct cvl_out *o,
		 struct cvl_stream *stream, const struct cvl_batch *batch, size_t i,
		 struct cvl_error *err)
{
	uint64_t slot[stream_slots(stream) + 1], role[ROLES];
	struct machine m = { .slot = slot, .role = role };
	int rc = stream_fields(stream, batch, i, &m);

	if (!rc)
		rc = t->json ? put(t, true, first, o, &m) : put(t, false, first, o, &m);
	return rc ? stream_fields_fail(stream, batch, &m, rc, err) : 0;
}
