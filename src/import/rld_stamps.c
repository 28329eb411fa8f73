/* SPDX-License-Identifier: MIT */
#include "rld_stamps.h"

#include <coeval/record.h>

/* 2.048 MHz * 49: ticks in which a nominal second of samples is taken. */
#define TICKS_A_NOMINAL_SECOND 100352000u
#define TICK_NS 10
#define JITTER_NS 1000000
/*
 * A timestamp off by less than this relative to its neighbour does not mean that samples are
 * missing.
 */
#define JUMP_NS 10000000
/* Some 1400 years. */
#define TICK_MAX ((uint64_t)1 << 62)

uint64_t rld_tick(const struct rld_stamps *s, uint64_t position)
{
	unsigned __int128 t = (unsigned __int128)position * TICKS_A_NOMINAL_SECOND / s->rate;

	return t > TICK_MAX ? CVL_TICK_UNKNOWN : (uint64_t)t;
}

uint64_t rld_step(const struct rld_stamps *s)
{
	return (TICKS_A_NOMINAL_SECOND + s->rate - 1) / s->rate;
}

uint64_t rld_slack(const struct rld_stamps *s)
{
	int64_t ns = s->jitter_ns > JITTER_NS ? s->jitter_ns : JITTER_NS;

	return 2 * (uint64_t)ns / TICK_NS + rld_step(s);
}

enum rld_jump rld_stamps_block(struct rld_stamps *s, int64_t mono_ns, uint64_t *lost,
			       int64_t *back_ns)
{
	const uint64_t at = rld_tick(s, s->position), was = rld_tick(s, s->mono_position);
	__int128 block = (__int128)s->block * TICKS_A_NOMINAL_SECOND / s->rate * TICK_NS;
	__int128 limit = block / 2 > JUMP_NS ? block / 2 : JUMP_NS;
	__int128 late = (__int128)mono_ns - s->mono_ns - (__int128)(at - was) * TICK_NS;
	__int128 missing;
	enum rld_jump jump = RLD_STEADY;

	*lost = 0;
	*back_ns = 0;
	if (s->begun && late >= limit) {
		missing =
			(2 * late * s->rate / ((__int128)TICKS_A_NOMINAL_SECOND * TICK_NS) + 1) / 2;
		if (missing > (__int128)(TICK_MAX / TICKS_A_NOMINAL_SECOND) ||
		    rld_tick(s, s->position + (uint64_t)missing) == CVL_TICK_UNKNOWN)
			return RLD_FAR;
		*lost = (uint64_t)missing;
		s->position += *lost;
		jump = *lost ? RLD_LOST : RLD_STEADY;
	} else if (s->begun && late <= -limit) {
		*back_ns = (int64_t)(late < -INT64_MAX ? INT64_MAX : -late);
		jump = RLD_BACK;
	} else if (s->begun) {
		int64_t off = (int64_t)(late < 0 ? -late : late);

		s->jitter_ns = off > s->jitter_ns ? off : s->jitter_ns;
	}
	s->begun = true;
	s->mono_ns = mono_ns;
	s->mono_position = s->position;
	return jump;
}
