/* SPDX-License-Identifier: MIT */
/** Runs the programs of layout.c over the bytes of one packet. */
#ifndef CTF_MACHINE_H
#define CTF_MACHINE_H

#include <endian.h>
#include <string.h>

#include "store/ctf/internal.h"

/** State of decoding one packet. Positions are bits from the start of the packet. */
struct machine {
	const uint8_t *bytes;
	uint64_t pos, end;
	uint64_t *slot; /* values that lengths and tags refer to; n_slots of the trace */
	uint64_t clock; /* last value of the stream's clock */
	uint64_t *role; /* ROLES values */
	uint32_t has;   /* one bit per role seen */
};

/** Advance the clock by the low @bits of a new reading: a narrow counter wraps forward. */
static inline void machine_clock(struct machine *m, uint64_t value, unsigned bits)
{
	uint64_t mask;

	if (bits >= 64) {
		m->clock = value;
		return;
	}
	mask = ((uint64_t)1 << bits) - 1;
	m->clock += (value - m->clock) & mask;
}

/** Read an integer of @bits at bit @pos of @bytes; the caller has checked that it is inside. */
uint64_t machine_bits(const uint8_t *bytes, uint64_t pos, unsigned bits, bool big_endian);

/** The integer of @op at bit @pos. False if it would pass @end. */
static inline __attribute__((always_inline)) bool
machine_int(const struct machine *m, const struct op *op, uint64_t pos, uint64_t end, uint64_t *v)
{
	const unsigned bits = (unsigned)op->bits, rest = 64 - bits;
	const bool be = op->type->big_endian;

	/* most are whole bytes with data after them in the packet: one path for all sizes */
	if (op->bits8 && end - pos >= 64) {
		memcpy(v, m->bytes + pos / 8, 8);
		*v = be ? be64toh(*v) : le64toh(*v) << rest;
	} else if (bits <= end - pos) {
		*v = machine_bits(m->bytes, pos, bits, be) << rest;
	} else {
		return false;
	}
	*v = op->type->is_signed ? (uint64_t)((int64_t)*v >> rest) : *v >> rest;
	return true;
}

/** The double of a float's @bits, 32 or 64. */
static inline double machine_float(uint64_t v, unsigned bits)
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

/**
 * Run @program from m->pos, passing each field to @visitor (or NULL). Returns 0, CVL_E_TRUNCATED if
 * a field would pass m->end, CVL_E_RANGE for a tag without an option, CVL_E_LIMIT for loops that do
 * not advance. m->pos is where it stopped.
 */
int machine_run(struct machine *m, const struct program *program,
		const struct cvl_visitor *visitor);

/**
 * The same of a program of some fields that is plain: their values, by the number that each has, from 1 (0: it
 * is not wanted); @taken: one bit for each. An array of characters ends at a zero.
 */
int machine_take(struct machine *m, const struct program *program, struct cvl_value *value,
		 uint64_t *taken);

/* ---- of streams: the fields of record @i of @batch, for which cvl_stream_class() has a class ---- */

/** How many slots that takes. */
size_t stream_slots(const struct cvl_stream *s);
/**
 * Set @m, which has slots and roles, to where the event's first scope begins. Returns 0, or as
 * machine_run().
 */
int stream_fields(const struct cvl_stream *s, const struct cvl_batch *batch, size_t i,
		  struct machine *m);
/** Fields cannot be decoded at m->pos: fills @err and returns @rc. */
int stream_fields_fail(const struct cvl_stream *s, const struct cvl_batch *batch,
		       const struct machine *m, int rc, struct cvl_error *err);

/* ---- some fields of an event class alone ---- */

struct some_fields;
/** Owns some_fields. NULL: out of memory. */
struct some_set;
struct some_set *some_set_new(void);
void some_set_free(struct some_set *set);

/**
 * Those of event class @class of @trace called @name, given by the addresses that its types have them at, in
 * the scopes @in; @set owns them. CVL_E_NOMEM.
 */
int layout_some(struct some_fields **out, struct some_set *set, const struct cvl_trace *trace,
		size_t class, const char *const *name, size_t n, const bool in[CVL_SCOPES],
		struct cvl_error *err);

/** Whether stream_take() can read them. */
bool some_plain(const struct some_fields *f);
/** Their values but for those in the packet's context, in the order of their names; bits of those @taken. */
int stream_take(const struct cvl_stream *s, const struct cvl_batch *batch, size_t i,
		const struct some_fields *f, struct cvl_value *value, uint64_t *taken);
/**
 * As cvl_stream_visit(), but of the fields @f, and maybe of others; structs do not begin or end.
 * @context: also of those in the packet's context.
 */
int stream_visit_some(struct cvl_stream *s, const struct cvl_batch *batch, size_t i,
		      const struct some_fields *f, bool context, const struct cvl_visitor *visitor,
		      struct cvl_error *err);

#endif
