/* SPDX-License-Identifier: MIT */
/**
 * Random packets there and back: encoded, framed or not, sent on a line, sampled, and decoded
 * again. For tests and benchmarks.
 */
#ifndef SWO_ROUND_H
#define SWO_ROUND_H

#include "decode/itm.h"
#include "decode/manchester.h"
#include "decode/tpiu.h"
#include "decode/uart.h"

#define SWO_ROUND_PACKETS 60
#define SWO_ROUND_BYTES 4096

struct swo_round {
	char why[120]; /* how the decoded packets differ from those sent */
	/* private */
	struct itm_packet sent[SWO_ROUND_PACKETS], got[4 * SWO_ROUND_PACKETS];
	uint8_t bytes[SWO_ROUND_BYTES], line[SWO_ROUND_BYTES], itm[SWO_ROUND_BYTES];
	size_t n_line, n_itm;
	double phase;
	struct uart uart;
	struct manchester manchester;
	struct tpiu tpiu;
	struct itm decoder;
	bool of_manchester;
};

/**
 * NRZ or Manchester, with or without frames, with the rate given or found, from 3 ticks a bit on:
 * as @seed draws it. False: a packet is lost, invented or changed.
 */
bool swo_round(struct swo_round *w, uint64_t seed);

#endif
