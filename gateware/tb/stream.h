/* SPDX-License-Identifier: MIT */
/** Packets with their times put together, for the benches: all that is told is checked, what must not be ends the program. */
#ifndef TRACELAB_STREAM_H
#define TRACELAB_STREAM_H

#include "link.h"

struct stamped {
	uint64_t time;
	unsigned lines, id;
	unsigned
		after_loss; /* the first event after so many losses in all, 0: not one that follows a loss */
};

struct sample {
	unsigned value, bad;
	uint64_t number; /* from the start of power on */
};

struct stream {
	struct stamped *events, *acted;
	struct sample *samples;
	size_t n_events, n_acted, n_samples;
	struct {
		uint64_t since, count;
	} * losses; /* of events */
	size_t n_losses;
	uint64_t lost[2];               /* events, others */
	unsigned unit;                  /* cycles of a count of time */
	size_t samples_wrong;           /* whose number does not fit start, period and losses */
	size_t n_other_losses, slipped; /* samples between a loss and its RESUME */
	size_t power_starts, power_resumes;
	uint64_t power_start, power_stop;
	uint64_t pps[64];
	size_t n_pps, n_clock;
};

/** What @link has read since its start. */
void stream_read(struct stream *s, const struct link *link);
void stream_free(struct stream *s);

/** Edges of line 0 as they are made: it turns over every @gap cycles until there are @n; at[] says when each did. */
struct edges {
	uint64_t next, gap, n, done;
	uint64_t *at;
};
void edges_step(void *ctx, struct tl_sim *sim, uint64_t cycle);

/** From @from on @n edges more. */
void edges_more(struct edges *e, uint64_t from, uint64_t gap, uint64_t n);

/**
 * Hold all events, but for the first, against the edges: each is there, at its time and with its level, or counted as lost.
 * Returns how many there are before the first loss.
 */
uint64_t stream_account(const struct stream *s, const struct edges *edges);

void losses(double full_s);
void bad_hosts(void);
void pulses(void);

#endif
