/* SPDX-License-Identifier: MIT */
#include "ctf/machine.h"

#include <endian.h>
#include <string.h>

/* Elements without any bits that a loop may have before we call it hostile. */
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

static inline uint64_t read_int(const struct machine *m, const struct op *op)
{
	const uint8_t *p = m->bytes + m->pos / 8;
	bool be = op->type->big_endian;
	union {
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
	} v;

	switch (op->bits8) {
	case 1:
		return *p;
	case 2:
		memcpy(&v.u16, p, 2);
		return be ? be16toh(v.u16) : le16toh(v.u16);
	case 4:
		memcpy(&v.u32, p, 4);
		return be ? be32toh(v.u32) : le32toh(v.u32);
	case 8:
		memcpy(&v.u64, p, 8);
		return be ? be64toh(v.u64) : le64toh(v.u64);
	default:
		return machine_bits(m->bytes, m->pos, (unsigned)op->bits, be);
	}
}

static inline uint64_t sign_extend(uint64_t v, unsigned bits)
{
	return bits < 64 ? (uint64_t)((int64_t)(v << (64 - bits)) >> (64 - bits)) : v;
}

static double as_float(uint64_t v, unsigned bits)
{
	uint32_t low = (uint32_t)v;
	float f;
	double d;

	if (bits == 32) {
		memcpy(&f, &low, sizeof(f));
		return (double)f;
	}
	memcpy(&d, &v, sizeof(d));
	return d;
}

static inline bool align_up(struct machine *m, uint32_t mask)
{
	m->pos = (m->pos + mask) & ~(uint64_t)mask;
	return m->pos <= m->end;
}

static inline bool room(const struct machine *m, uint64_t bits)
{
	return m->pos <= m->end && bits <= m->end - m->pos;
}

static const struct choice *choose(const struct op *op, uint64_t tag)
{
	for (uint64_t i = 0; i < op->count; i++) {
		const struct choice *c = &op->choice[i];

		if (op->bits8 ? (int64_t)tag >= c->low && (int64_t)tag <= c->high
			      : tag >= (uint64_t)c->low && tag <= (uint64_t)c->high)
			return c;
	}
	return NULL;
}

/* What the clock will be when its low @bits next show @v. */
static uint64_t ahead(const struct machine *m, uint64_t v, uint64_t bits)
{
	struct machine later = { .clock = m->clock };

	machine_clock(&later, v, (unsigned)bits);
	return later.clock;
}

struct loop {
	uint64_t left, pos;
};

int machine_run(struct machine *m, const struct program *program, const struct cvl_visitor *visitor)
{
	struct loop loops[CTF_DEPTH_MAX + 2];
	unsigned depth = 0;
	uint64_t empty = 0;
	const struct op *op = program->op;

	for (;; op++) {
		uint64_t count = op->count, v;
		struct cvl_value value;

		value.type = op->type;

		if (!align_up(m, op->align_mask))
			return CVL_E_TRUNCATED;
		switch (op->code) {
		case OP_STOP:
			return 0;
		case OP_ADVANCE:
			if (!room(m, op->bits))
				return CVL_E_TRUNCATED;
			m->pos += op->bits;
			break;
		case OP_INT:
			if (!room(m, op->bits))
				return CVL_E_TRUNCATED;
			v = read_int(m, op);
			m->pos += op->bits;
			if (op->clocked)
				machine_clock(m, v, (unsigned)op->bits);
			if (op->role) {
				m->role[op->role] = op->role == ROLE_PACKET_END && op->bits < 64 ? ahead(m, v, op->bits) : v;
				m->has |= 1u << op->role;
				if (op->role == ROLE_BEGIN)
					machine_clock(m, v, (unsigned)op->bits);
			}
			if (op->type->is_signed)
				v = sign_extend(v, (unsigned)op->bits);
			if (op->slot != NO_SLOT)
				m->slot[op->slot] = v;
			if (visitor && !op->role) { /* what is for the reader itself is no field of the record */
				value.u = v;
				visitor->value(visitor->ctx, op->name, &value);
			}
			break;
		case OP_FLOAT:
			if (!room(m, op->bits))
				return CVL_E_TRUNCATED;
			if (visitor) {
				value.f = as_float(machine_bits(m->bytes, m->pos, (unsigned)op->bits,
								op->type->big_endian),
						   (unsigned)op->bits);
				visitor->value(visitor->ctx, op->name, &value);
			}
			m->pos += op->bits;
			break;
		case OP_STRING: {
			const uint8_t *s = m->bytes + m->pos / 8, *nul;
			size_t left = (size_t)((m->end - m->pos) / 8);

			nul = left ? memchr(s, 0, left) : NULL;
			if (!nul)
				return CVL_E_TRUNCATED;
			value.s.text = (const char *)s;
			value.s.len = (size_t)(nul - s);
			m->pos += (value.s.len + 1) * 8;
			if (visitor)
				visitor->value(visitor->ctx, op->name, &value);
			break;
		}
		case OP_TEXT_SEQ:
			count = m->slot[op->from];
			/* fall through */
		case OP_TEXT:
			if (count > UINT64_MAX / 8 || !room(m, count * 8))
				return CVL_E_TRUNCATED;
			value.s.text = (const char *)m->bytes + m->pos / 8;
			value.s.len = strnlen(value.s.text, (size_t)count);
			m->pos += count * 8;
			if (visitor)
				visitor->value(visitor->ctx, op->name, &value);
			break;
		case OP_SKIP_SEQ:
			count = m->slot[op->from];
			if (op->bits && (count > UINT64_MAX / op->bits || !room(m, count * op->bits)))
				return CVL_E_TRUNCATED;
			m->pos += count * op->bits;
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
			count = m->slot[op->from];
			/* fall through */
		case OP_LOOP:
			if (op->role == ROLE_UUID && room(m, 128)) {
				m->role[ROLE_UUID] = m->pos / 8;
				m->has |= 1u << ROLE_UUID;
			}
			if (visitor)
				visitor->begin(visitor->ctx, op->name, op->type, count);
			if (!count) {
				op = program->op + op->target - 1;
				break;
			}
			loops[depth++] = (struct loop){ count - 1, m->pos };
			break;
		case OP_NEXT: {
			struct loop *l = &loops[depth - 1];

			if (m->pos == l->pos && l->left && ++empty > EMPTY_ELEMENTS_MAX)
				return CVL_E_LIMIT;
			l->pos = m->pos;
			if (l->left--)
				op = program->op + op->target - 1;
			else
				depth--;
			break;
		}
		case OP_CHOOSE: {
			const struct choice *c = choose(op, m->slot[op->from]);

			if (!c)
				return CVL_E_RANGE;
			if (visitor)
				visitor->begin(visitor->ctx, op->name, op->type, c->option);
			op = program->op + c->target - 1;
			break;
		}
		case OP_JUMP:
			op = program->op + op->target - 1;
			break;
		}
	}
}
