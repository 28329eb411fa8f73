/* SPDX-License-Identifier: MIT */
/*
 * What tests know of the FX2LP from its manual, and share: its sampling engine (GPIF), which runs a
 * waveform's bytes.
 */
#ifndef TESTS_FX2_MODEL_H
#define TESTS_FX2_MODEL_H

#include <stdbool.h>
#include <stdint.h>

struct gpif {
	const uint8_t *waveform;
	unsigned state;      /* 7: idle */
	unsigned long clock; /* cycles of the interface's clock */
};

/*
 * Run to the next sample. @full: the FIFO's flag is up. Returns its cycle, or -1 if the engine went
 * idle without one. A waveform that does neither in 5000 cycles gives -2.
 */
static inline long gpif_next(struct gpif *g, bool full)
{
	const unsigned long limit = g->clock + 5000;

	while (g->clock < limit) {
		const uint8_t *w = g->waveform;
		const unsigned s = g->state;

		if (s == 7)
			return -1;
		if (!(w[8 + s] & 1)) {
			/*
			 * A delay; its length 0 is 256. Such a state never samples in these
			 * waveforms.
			 */
			g->clock += w[s] ? w[s] : 256;
			g->state = s + 1;
			if (w[8 + s] & 2)
				return -2;
			continue;
		}
		/* A decision: terms 6 and 6, joined by "and", are the flag. */
		if (w[24 + s] != (0 << 6 | 6 << 3 | 6))
			return -2;
		g->state = full ? w[s] >> 3 & 7 : w[s] & 7;
		g->clock++;
		if (w[8 + s] & 2 && !full)
			return (long)g->clock;
	}
	return -2;
}

/*
 * Whether @waveform samples every @divisor cycles, from the first sample on, and ends where the
 * FIFO is full.
 */
static inline bool gpif_is_regular(const uint8_t *waveform, unsigned divisor)
{
	struct gpif g = { .waveform = waveform };

	for (long i = 1; i <= 9; i++) {
		/* One cycle more before the first: none is lost to starting. */
		if (gpif_next(&g, false) != i * (long)divisor)
			return false;
	}
	return gpif_next(&g, true) == -1 && g.clock == 10ul * divisor;
}

#endif
