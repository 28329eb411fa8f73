/* SPDX-License-Identifier: MIT */
#include "store/ctf/machine.h"

#include <string.h>

/* Zero-bit elements that a loop may have before the trace is rejected. */
#define EMPTY_ELEMENTS_MAX 4096

uint64_t machine_bits(const uint8_t *bytes, uint64_t pos, unsigned bits, bool big_endian)
{
	const uint8_t *p = bytes + pos / 8;
	unsigned shift = (unsigned)(pos % 8), n = (shift + bits + 7) / 8;
	unsigned __int128 v = 0;

	if (big_endian) {
		for (unsigned i = 0; i < n; i++)
			v = v << 8 | p[i];
		v >>= n * 8 - shift - bits;
	} else {
		for (unsigned i = n; i-- > 0;)
			v = v << 8 | p[i];
		v >>= shift;
	}
	return bits == 64 ? (uint64_t)v : (uint64_t)v & (((uint64_t)1 << bits) - 1);
}

static const struct choice *choose(const struct op *op, uint64_t tag)
{
	for (uint64_t i = 0; i < op->count; i++) {
		const struct choice *c = &op->choice[i];

		if (op->bits8 ? (int64_t)tag >= c->low && (int64_t)tag <= c->high :
				tag >= (uint64_t)c->low && tag <= (uint64_t)c->high)
			return c;
	}
	return NULL;
}

/* The clock's value when its low @bits are next equal to @v. */
static uint64_t ahead(const struct machine *m, uint64_t v, uint64_t bits)
{
	struct machine later = { .clock = m->clock };

	machine_clock(&later, v, (unsigned)bits);
	return later.clock;
}

static inline void tell(const struct cvl_visitor *visitor, const struct op *op,
			struct cvl_value *value)
{
	value->type = op->type;
	if (visitor)
		visitor->value(visitor->ctx, op->name, value);
}

/* Use integer @v, signed or not, for the reader itself. */
static __attribute__((noinline)) void use_int(struct machine *m, const struct op *op, uint64_t v)
{
	v = v << (64 - op->bits) >> (64 - op->bits);
	if (op->clocked)
		machine_clock(m, v, (unsigned)op->bits);
	if (!op->role)
		return;
	m->role[op->role] =
		op->role == ROLE_PACKET_END && op->bits < 64 ? ahead(m, v, op->bits) : v;
	m->has |= 1u << op->role;
	if (op->role == ROLE_BEGIN)
		machine_clock(m, v, (unsigned)op->bits);
}

struct loop {
	uint64_t left, pos;
};

/* Compiled twice: with a visitor and without. */
static inline __attribute__((always_inline)) int
run(struct machine *m, const struct program *program, const struct cvl_visitor *visitor)
{
	struct loop loops[CTF_DEPTH_MAX + 2];
	unsigned depth = 0;
	uint64_t empty = 0;
	const struct op *op = program->op;
	const uint64_t end = m->end;
	uint64_t pos = m->pos;
	int rc = CVL_E_TRUNCATED;

	for (;; op++) {
		uint64_t count, v;
		struct cvl_value value;

		pos = (pos + op->align_mask) & ~(uint64_t)op->align_mask;
		if (pos > end)
			goto out;
		switch ((enum op_code)op->code) {
		case OP_STOP: rc = 0; goto out;
		case OP_ADVANCE:
			if (op->bits > end - pos)
				goto out;
			pos += op->bits;
			break;
		case OP_INT:
			if (!machine_int(m, op, pos, end, &v))
				goto out;
			pos += op->bits;
			if (op->clocked | op->role)
				use_int(m, op, v);
			if (op->slot != NO_SLOT)
				m->slot[op->slot] = v;
			value.u = v;
			if (!op->role) /* the reader's own fields are not fields of the record */
				tell(visitor, op, &value);
			break;
		case OP_FLOAT:
			if (op->bits > end - pos)
				goto out;
			value.f = machine_float(machine_bits(m->bytes, pos, (unsigned)op->bits,
							     op->type->big_endian),
						(unsigned)op->bits);
			pos += op->bits;
			tell(visitor, op, &value);
			break;
		case OP_STRING: {
			const uint8_t *s = m->bytes + pos / 8, *nul;
			size_t left = (size_t)((end - pos) / 8);

			nul = left ? memchr(s, 0, left) : NULL;
			if (!nul)
				goto out;
			value.s.text = (const char *)s;
			value.s.len = (size_t)(nul - s);
			pos += (value.s.len + 1) * 8;
			tell(visitor, op, &value);
			break;
		}
		case OP_TEXT_SEQ:
		case OP_TEXT:
			count = op->code == OP_TEXT ? op->count : m->slot[op->from];
			if (count > UINT64_MAX / 8 || count * 8 > end - pos)
				goto out;
			value.s.text = (const char *)m->bytes + pos / 8;
			value.s.len = strnlen(value.s.text, (size_t)count);
			pos += count * 8;
			tell(visitor, op, &value);
			break;
		case OP_SKIP_SEQ:
			count = m->slot[op->from];
			if (op->bits &&
			    (count > UINT64_MAX / op->bits || count * op->bits > end - pos))
				goto out;
			pos += count * op->bits;
			break;
		case OP_BEGIN:
			if (visitor)
				visitor->begin(visitor->ctx, op->name, op->type, op->type->n);
			break;
		case OP_END:
			if (visitor)
				visitor->end(visitor->ctx, op->type);
			break;
		case OP_LOOP_SEQ:
		case OP_LOOP:
			count = op->code == OP_LOOP ? op->count : m->slot[op->from];
			if (op->role == ROLE_UUID && end - pos >= 128) {
				m->role[ROLE_UUID] = pos / 8;
				m->has |= 1u << ROLE_UUID;
			}
			if (visitor)
				visitor->begin(visitor->ctx, op->name, op->type, count);
			if (!count) {
				op = program->op + op->target - 1;
				break;
			}
			loops[depth++] = (struct loop){ count - 1, pos };
			break;
		case OP_NEXT: {
			struct loop *l = &loops[depth - 1];

			if (pos == l->pos && l->left && ++empty > EMPTY_ELEMENTS_MAX) {
				rc = CVL_E_LIMIT;
				goto out;
			}
			l->pos = pos;
			if (l->left--)
				op = program->op + op->target - 1;
			else
				depth--;
			break;
		}
		case OP_CHOOSE: {
			const struct choice *c = choose(op, m->slot[op->from]);

			if (!c) {
				rc = CVL_E_RANGE;
				goto out;
			}
			if (visitor)
				visitor->begin(visitor->ctx, op->name, op->type, c->option);
			op = program->op + c->target - 1;
			break;
		}
		case OP_JUMP: op = program->op + op->target - 1; break;
		}
	}
out:
	m->pos = pos;
	return rc;
}

int machine_run(struct machine *m, const struct program *program, const struct cvl_visitor *visitor)
{
	return visitor ? run(m, program, visitor) : run(m, program, NULL);
}
