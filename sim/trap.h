/* SPDX-License-Identifier: MIT */
/**
 * Worlds made to mislead: captures started by hand, pulses with bursts of noise and long pauses,
 * keys that wrap, packets that are forwarded, clocks that are stepped, rates beyond the stated
 * limit. Each is drawn from a seed, with its truth.
 */
#ifndef SIM_TRAP_H
#define SIM_TRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/sync.h>

#define TRAP_CLOCKS 4

/** What ties the clocks of a world. */
enum trap_ties {
	TRAP_PULSES,
	TRAP_PULSES_CLAIMS, /* captures that state their start, with a bound */
	TRAP_REFERENCES,    /* the same, each with its own reference */
	TRAP_PULSES_BEACONS,
	TRAP_PULSES_ALIGN,
	TRAP_PULSES_MESSAGES,
	TRAP_MESSAGES, /* keys that are never reused */
	TRAP_WRAPS,    /* reused keys, without any claim */
	TRAP_WRAPS_CLAIMS,
	TRAP_HOPS, /* packets that are forwarded under the same key */
	TRAP_TIES
};

extern const char *const trap_names[TRAP_TIES];

struct trap_clock {
	uint64_t rate_hz;
	double off;     /* rate, ns a ns */
	double start_s; /* true time at tick 0 */
	double end_s;
	double step_at_s, step_s; /* 0: none */
};

struct trap {
	enum trap_ties ties;
	uint64_t seed;
	size_t n;
	struct trap_clock clock[TRAP_CLOCKS];
	bool decidable;  /* by how the world was made, every clock can be tied */
	bool disturbed;  /* noise, pauses, steps, rates beyond the stated limit */
	double period_s; /* of its pulses, or 0 */
	char rules[400]; /* of its messages, as YAML; "" none */
	bool align;
	/* how far each clock's reference may be off, 99.9 % of the time; 0: there is one */
	double reference_s;
	int64_t stated_period_ns; /* may be wrong */
};

/** Draw the world of @seed and record it as the session @path. */
int trap_make(struct trap *w, uint64_t seed, enum trap_ties ties, const char *path,
	      struct cvl_error *err);

/** Tick that clock @i shows at true time @t_s. */
struct cvl_tick trap_tick(const struct trap *w, size_t i, double t_s);

#endif
