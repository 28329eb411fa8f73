/* SPDX-License-Identifier: MIT */
/**
 * The sending side of SWO, simulated: packets to bytes, bytes to TPIU frames, bytes to changes of
 * the line. The inverse of src/decode/, for the register model, tests and benchmarks.
 */
#ifndef SWO_ENCODE_H
#define SWO_ENCODE_H

#include "decode/itm.h"

#define SWO_PACKET_MAX 16

/**
 * Write packet @p. @page: of the encoder, begun as 0; a port on another page has its page packet
 * put in front. Returns the number of bytes, up to SWO_PACKET_MAX. ITM_BAD writes nothing.
 */
size_t swo_put_packet(uint32_t *page, const struct itm_packet *p, uint8_t out[SWO_PACKET_MAX]);

/** The formatter: collects bytes of streams into frames. */
struct swo_tpiu {
	uint8_t stream; /* in effect at the end of what was collected */
	uint8_t n, frame[16];
};

void swo_tpiu_init(struct swo_tpiu *t);
/**
 * Take a byte of @stream (1 to 111); full frames are appended to @out (up to 32 bytes). Returns how
 * many bytes were.
 */
size_t swo_tpiu_put(struct swo_tpiu *t, uint8_t stream, uint8_t byte, uint8_t out[32]);
/** Fill up the frame in hand with the null stream. Returns 0 or 16. */
size_t swo_tpiu_flush(struct swo_tpiu *t, uint8_t out[16]);
/** A full synchronisation: only between frames. Returns 4. */
size_t swo_tpiu_sync(uint8_t out[4]);

/** Called for each change of the line. @time in the line's own unit. */
typedef void swo_edge_fn(void *ctx, double time, bool level);

struct swo_line {
	bool manchester;
	double bit;  /* length of a bit, in the unit of times */
	double free; /* when the line will be free: idle from then on */
	bool level;
	swo_edge_fn *edge;
	void *ctx;
};

/** The line idles: high in NRZ, low in Manchester. Reports no change. */
void swo_line_init(struct swo_line *l, bool manchester, double bit, swo_edge_fn *edge, void *ctx);
/**
 * Send @n bytes, not before @when and not before the line is free. In Manchester mode they are one
 * packet: one start bit, and an end. Returns when the line is free again.
 */
double swo_line_send(struct swo_line *l, double when, const uint8_t *bytes, size_t n);

#endif
