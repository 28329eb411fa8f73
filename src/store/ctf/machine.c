/* SPDX-License-Identifier: MIT */
#include "store/ctf/machine.h"

#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"

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

/* Use integer @v of @bits, signed or not, for the reader itself. */
static __attribute__((noinline)) void use_int(struct machine *m, const struct op *op, uint64_t v,
					      uint64_t bits)
{
	v = v << (64 - bits) >> (64 - bits);
	if (op->clocked)
		machine_clock(m, v, (unsigned)bits);
	for (unsigned left = op->roles; left; left &= left - 1) {
		const unsigned role = (unsigned)__builtin_ctz(left);

		m->role[role] = role == ROLE_PACKET_END && bits < 64 ? ahead(m, v, bits) : v;
		m->has |= 1u << role;
		if (role == ROLE_BEGIN)
			machine_clock(m, v, (unsigned)bits);
	}
}

/*
 * LEB128: 7 bits a byte, the least first, the last without bit 7. Returns its bytes, up to 10 of which the
 * last has what is left of 64 bits; 0: it is longer, or passes @end.
 */
static unsigned take_varint(const uint8_t *bytes, uint64_t pos, uint64_t end, bool is_signed,
			    uint64_t *v)
{
	const uint8_t *p = bytes + pos / 8;
	unsigned n = 0;

	*v = 0;
	do {
		if (n == 10 || end - pos < 8 * ((uint64_t)n + 1))
			return 0;
		*v |= (uint64_t)(p[n] & 0x7f) << 7 * n;
	} while (p[n++] & 0x80);
	if (n == 10)
		return (is_signed ? !p[9] || p[9] == 0x7f : p[9] == 1) ? n : 0;
	if (is_signed && p[n - 1] & 0x40)
		*v |= UINT64_MAX << 7 * n;
	return n;
}

/* Bits of a field, the other way round. */
static uint64_t turned(const uint8_t *bytes, uint64_t pos, const struct op *op)
{
	const unsigned bits = (unsigned)op->bits;
	uint64_t v = machine_bits(bytes, pos, bits, op->type->big_endian), out = 0;

	for (unsigned i = 0; i < bits; i++)
		out |= (v >> i & 1) << (bits - 1 - i);
	return op->type->is_signed ? (uint64_t)((int64_t)(out << (64 - bits)) >> (64 - bits)) : out;
}

/* ---- texts ---- */

static unsigned unit_of(uint8_t encoding)
{
	return encoding == CVL_UTF8 ? 1 : encoding <= CVL_UTF16LE ? 2 : 4;
}

/* Bytes of the text at @s before its end, a zero unit; @n if it has none. */
static size_t text_bytes(const uint8_t *s, size_t n, uint8_t encoding)
{
	const unsigned unit = unit_of(encoding);

	if (unit == 1)
		return strnlen((const char *)s, n);
	for (size_t i = 0; i + unit <= n; i += unit)
		if (!(s[i] | s[i + 1]) && (unit == 2 || !(s[i + 2] | s[i + 3])))
			return i;
	return n;
}

/* The character at @s, of which so many bytes are used; what is none is U+FFFD. */
static uint32_t take_character(const uint8_t *s, size_t n, uint8_t encoding, size_t *used)
{
	const bool be = encoding == CVL_UTF16BE || encoding == CVL_UTF32BE;
	uint32_t c, low;

	if (unit_of(encoding) == 4) {
		*used = n < 4 ? n : 4;
		c = n < 4 ? 0xfffd :
		    be ? (uint32_t)s[0] << 24 | (uint32_t)s[1] << 16 | (uint32_t)s[2] << 8 | s[3] :
			 (uint32_t)s[3] << 24 | (uint32_t)s[2] << 16 | (uint32_t)s[1] << 8 | s[0];
		return c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c;
	}
	*used = n < 2 ? n : 2;
	if (n < 2)
		return 0xfffd;
	c = (uint32_t)(be ? s[0] << 8 | s[1] : s[1] << 8 | s[0]);
	if (c < 0xd800 || c >= 0xe000)
		return c;
	low = n < 4 ? 0 : (uint32_t)(be ? s[2] << 8 | s[3] : s[3] << 8 | s[2]);
	if (c >= 0xdc00 || low < 0xdc00 || low >= 0xe000)
		return 0xfffd;
	*used = 4;
	return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

/* Tell a text of units of 2 or 4 bytes, as UTF-8 that is valid during the call. */
static __attribute__((noinline)) int tell_wide(const struct cvl_visitor *visitor,
					       const struct op *op, const uint8_t *s, size_t n)
{
	/* 2 bytes may become 3 */
	char *text = malloc(n + n / 2 + 4);
	struct cvl_value value = { .type = op->type, .s = { text, 0 } };

	if (!text)
		return CVL_E_NOMEM;
	for (size_t i = 0, used; i < n; i += used)
		value.s.len += utf8_put(text + value.s.len,
					take_character(s + i, n - i, op->type->encoding, &used));
	visitor->value(visitor->ctx, op->name, &value);
	free(text);
	return 0;
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
			if (op->clocked | op->roles)
				use_int(m, op, v, op->bits);
			if (op->slot != NO_SLOT)
				m->slot[op->slot] = v;
			value.u = v;
			if (!op->roles) /* the reader's own fields are not fields of the record */
				tell(visitor, op, &value);
			break;
		case OP_VARINT: {
			const unsigned n = take_varint(m->bytes, pos, end, op->type->is_signed, &v);

			if (!n)
				goto out;
			pos += 8 * (uint64_t)n;
			if (op->clocked | op->roles)
				use_int(m, op, v, n < 10 ? 7 * n : 64);
			if (op->slot != NO_SLOT)
				m->slot[op->slot] = v;
			value.u = v;
			if (!op->roles)
				tell(visitor, op, &value);
			break;
		}
		case OP_TURNED:
			if (op->bits > end - pos)
				goto out;
			v = turned(m->bytes, pos, op);
			pos += op->bits;
			if (op->clocked | op->roles)
				use_int(m, op, v, op->bits);
			if (op->slot != NO_SLOT)
				m->slot[op->slot] = v;
			value.u = v;
			if (op->type->kind == CVL_TYPE_FLOAT)
				value.f = machine_float(v, (unsigned)op->bits);
			if (!op->roles)
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
			const uint8_t *s = m->bytes + pos / 8;
			const size_t left = (size_t)((end - pos) / 8);
			const unsigned unit = unit_of(op->type->encoding);
			const size_t n = left ? text_bytes(s, left, op->type->encoding) : 0;

			if (left - n < unit)
				goto out;
			pos += ((uint64_t)n + unit) * 8;
			value.s.text = (const char *)s;
			value.s.len = n;
			if (unit == 1) {
				tell(visitor, op, &value);
			} else if (visitor && tell_wide(visitor, op, s, n)) {
				rc = CVL_E_NOMEM;
				goto out;
			}
			break;
		}
		case OP_TEXT_SEQ:
		case OP_TEXT:
			count = op->code == OP_TEXT ? op->count : m->slot[op->from];
			if (count > UINT64_MAX / 8 || count * 8 > end - pos)
				goto out;
			value.s.text = (const char *)m->bytes + pos / 8;
			value.s.len =
				text_bytes(m->bytes + pos / 8, (size_t)count, op->type->encoding);
			if (op->type->encoding == CVL_UTF8) {
				tell(visitor, op, &value);
			} else if (visitor &&
				   tell_wide(visitor, op, m->bytes + pos / 8, value.s.len)) {
				rc = CVL_E_NOMEM;
				goto out;
			}
			pos += count * 8;
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
			if (op->roles >> ROLE_UUID & 1 && end - pos >= 128) {
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

			if (!c && !op->target) {
				rc = CVL_E_RANGE;
				goto out;
			}
			if (visitor && op->target && visitor->optional)
				visitor->optional(visitor->ctx, op->name, op->type, c);
			if (visitor && !op->target)
				visitor->begin(visitor->ctx, op->name, op->type, c->option);
			op = program->op + (c ? c->target : op->target) - 1;
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

int machine_take(struct machine *m, const struct program *program, struct cvl_value *value,
		 uint64_t *taken)
{
	const uint64_t end = m->end;
	uint64_t pos = m->pos;

	for (const struct op *op = program->op;; op++) {
		struct cvl_value got = { .type = op->type };
		const char *s;
		uint64_t v;
		size_t n;

		pos = (pos + op->align_mask) & ~(uint64_t)op->align_mask;
		m->pos = pos;
		if (pos > end)
			return CVL_E_TRUNCATED;
		switch ((enum op_code)op->code) {
		case OP_INT:
			if (!machine_int(m, op, pos, end, &v))
				return CVL_E_TRUNCATED;
			if (op->slot != NO_SLOT)
				m->slot[op->slot] = v;
			pos += op->bits;
			got.u = v;
			break;
		case OP_STRING:
			s = (const char *)m->bytes + pos / 8;
			n = strnlen(s, (size_t)((end - pos) / 8));
			if (n == (end - pos) / 8)
				return CVL_E_TRUNCATED;
			pos += ((uint64_t)n + 1) * 8;
			got.s.text = s;
			got.s.len = n;
			break;
		case OP_TEXT:
			if (op->count > (end - pos) / 8)
				return CVL_E_TRUNCATED;
			s = (const char *)m->bytes + pos / 8;
			pos += op->count * 8;
			got.s.text = s;
			got.s.len = strnlen(s, (size_t)op->count);
			break;
		case OP_ADVANCE:
			if (op->bits > end - pos)
				return CVL_E_TRUNCATED;
			pos += op->bits;
			continue;
		default: return 0;
		}
		/* the first of each counts */
		if (!op->target || *taken >> (op->target - 1) & 1)
			continue;
		value[op->target - 1] = got;
		*taken |= (uint64_t)1 << (op->target - 1);
	}
}
