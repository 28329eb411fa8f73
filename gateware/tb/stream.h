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
};

struct stream {
	struct stamped *events, *acted;
	struct sample *samples;
	size_t n_events, n_acted, n_samples;
	struct {
		uint64_t since, count;
	} * losses; /* of events */
	size_t n_losses;
	uint64_t lost[2];     /* events, others */
	size_t samples_wrong; /* whose number does not fit start, period and losses */
	size_t power_starts, power_resumes;
	uint64_t power_start, power_stop;
	uint64_t pps[64];
	size_t n_pps, n_clock;
};

void stream_read(struct stream *s, const uint32_t *packets, size_t n);
void stream_free(struct stream *s);

/**
 * Hold events, but for the first, against @n that were made @gap apart: each is there or counted as lost. Returns how many there
 * are before the first loss.
 */
uint64_t stream_account(const struct stream *s, uint64_t gap, uint64_t n);

void bad_hosts(void);
void pulses(void);

#endif
