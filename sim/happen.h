/* SPDX-License-Identifier: MIT */
/** What happens in a world, before it is recorded. */
#ifndef SIM_HAPPEN_H
#define SIM_HAPPEN_H

#include "sim/oscillator.h"
#include "sim/reference.h"
#include "sim/world_keys.h"

enum happening_kind { HAPPEN_EDGE, HAPPEN_BEACON, HAPPEN_SENT, HAPPEN_RECEIVED };

/** Something that a clock stamps, at a true time in ns. */
struct happening {
	double t, stored; /* stored: when, of a capture that is out of order */
	uint8_t kind;
	uint8_t line, level; /* of an edge */
	uint32_t who;        /* sender of a beacon, other clock of a message */
	uint64_t number;     /* of a beacon or message; of an edge, when recorded: all levels */
};

struct happenings {
	struct happening *at; /* by time */
	size_t n, capacity;
};

/** One clock of the world. */
struct world_clock {
	char name[WORLD_MEMBER];
	const struct world_clocks *group;
	size_t index;
	double start; /* true time at which its capture begins */
};

/** A beacon as it was sent. */
struct sent_beacon {
	double t;
	uint64_t number;
};

struct sent_message {
	double sent, received;
	uint32_t from, to;
	bool lost;
};

/** Shared by all clocks. */
struct world_air {
	const struct world *w;
	struct world_clock *clock;
	size_t n_clocks;
	struct {
		struct sent_beacon *beacon;
		size_t n;
	} sender[WORLD_LIST];
	struct reference reference[WORLD_LIST]; /* of each of the world's pulses */
	struct sent_message *message;
	size_t n_messages, cap_messages;
};

/** Draw what is sent. Fails with CVL_E_NOMEM; freed by air_free() in any case. */
int air_make(struct world_air *air, const struct world *w, struct cvl_error *err);
void air_free(struct world_air *air);

/** Names of a clock's lines, bit 0 first; at most 64. They belong to the world or are constants. */
size_t clock_lines(const struct world_air *air, const struct world_clock *c, const char **line);

/**
 * What clock @c has counted at true time @t since its capture began; before that it is negative.
 */
double clock_counts(const struct world_clock *c, const struct oscillator *o, double t);

/** First sample at which it sees what happens at @t. */
uint64_t clock_stamp(const struct world_clock *c, const struct oscillator *o, double t);

/**
 * Everything that clock @c stamps. Fails with CVL_E_NOMEM; h->at is freed by the caller in any
 * case.
 */
int clock_happenings(struct happenings *h, const struct world_air *air, const struct world_clock *c,
		     struct cvl_error *err);

#endif
