/* SPDX-License-Identifier: MIT */
#include "waveform.h"

/*
 * A descriptor (EZ-USB TRM, "GPIF waveform descriptors") has a byte of each row for states 0 to 6;
 * state 7 is idle:
 *   0-6    of a delay state its length in cycles, where 0 means 256;
 *          of a decision state where to go: bits 5-3 if the condition holds, bits 2-0 if not
 *   8-14   opcode: bit 1 takes a sample into the FIFO, bit 0 makes it a decision state, which lasts
 *          one cycle
 *   16-22  levels of the control outputs: none is used
 *   24-30  condition: bits 7-6 the function (0: and), bits 5-3 and 2-0 its two terms
 */
#define OPCODE 8
#define LOGIC 24

#define IDLE 7
#define OPCODE_DECIDE 0x01
#define OPCODE_SAMPLE 0x02
/* Term 6 is the FIFO's flag that EP2GPIFFLGSEL selects: full. */
#define IF_FULL (6 << 3 | 6)

static void sample(uint8_t *waveform, uint8_t state, uint8_t next)
{
	waveform[state] = (uint8_t)(IDLE << 3 | next);
	waveform[OPCODE + state] = OPCODE_SAMPLE | OPCODE_DECIDE;
	waveform[LOGIC + state] = IF_FULL;
}

void waveform_build(uint16_t divisor, uint8_t waveform[FX2_WAVEFORM])
{
	uint16_t rest = divisor - 1;
	uint8_t state, i;

	for (i = 0; i < FX2_WAVEFORM; i++)
		waveform[i] = 0;

	if (rest == 0) {
		/*
		 * Two states in turn: one that went on to itself would only wait for its condition,
		 * unless its re-execute bit is set, and that bit is error-prone.
		 */
		sample(waveform, 0, 1);
		sample(waveform, 1, 0);
		return;
	}
	for (state = 0; rest > 0; state++) {
		uint16_t length = rest > 256 ? 256 : rest;

		waveform[state] = (uint8_t)length;
		rest -= length;
	}
	sample(waveform, state, 0);
}
