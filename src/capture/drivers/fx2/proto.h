/* SPDX-License-Identifier: MIT */
/**
 * The host's side of firmware/lib/wire/fx2_wire.h, without a device: settings for a rate, answers,
 * and what a stream of transfers and loss records means. Pure; nothing is allocated.
 */
#ifndef DRIVERS_FX2_PROTO_H
#define DRIVERS_FX2_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

#include "capture/drivers/driver.h"
#include "wire/fx2_wire.h"

/**
 * High-speed bulk carries 13 packets of 512 bytes a microframe (USB 2.0, 5.8.4): 53 MB/s; hosts
 * reach about 40.
 */
#define FX2_BYTES_MAX 40000000u
/** Above this, four buffers of 512 bytes are full after 85 us without a transfer. */
#define FX2_BYTES_SAFE 24000000u

static inline uint16_t fx2_get16(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t fx2_get32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void fx2_put16(unsigned char *p, uint16_t v)
{
	p[0] = (unsigned char)v;
	p[1] = (unsigned char)(v >> 8);
}

static inline void fx2_put32(unsigned char *p, uint32_t v)
{
	fx2_put16(p, (uint16_t)v);
	fx2_put16(p + 2, (uint16_t)(v >> 16));
}

/**
 * Settings for @rate_hz samples a second of @lines (1 to 16) lines. CVL_E_USAGE: no clock divides
 * to it exactly (the nearest rates that do are named), or the bus cannot carry it. *tight: it can,
 * but hardly.
 */
int fx2_settings_for(struct fx2_settings *settings, uint64_t rate_hz, unsigned lines, bool *tight,
		     struct cvl_error *err);
/** The reverse: samples a second; 0 if no device may be set so. */
uint64_t fx2_settings_rate(const struct fx2_settings *settings);

/** What a device says it is. */
struct fx2_who {
	unsigned version, lines, revision;
};

/**
 * Read the answer of @n bytes to FX2_IDENTIFY. CVL_E_TRUNCATED, CVL_E_MAGIC: not our firmware;
 * CVL_E_UNSUPPORTED: ours, of another version; CVL_E_RANGE: it contradicts the declaration.
 */
int fx2_identity_read(struct fx2_who *who, const void *answer, size_t n, struct cvl_error *err);

/** The stream between two FX2_START. */
struct fx2_stream {
	uint64_t rate_hz;
	unsigned unit;  /* bytes of a sample */
	uint64_t sent;  /* samples received since FX2_START */
	uint64_t run;   /* of them, since sampling was last started */
	uint64_t ticks; /* samples received and missing since FX2_START, as handed on */
	int64_t counts; /* of the timer, from FX2_START to the beginning of the run */
	uint64_t shift; /* samples that the last loss was told off its middle */
	uint32_t began; /* timer at the beginning of the run */
	bool began_known;
	uint32_t losses; /* records taken */
	bool waiting;    /* for a loss record: no transfer may be fed before it */
};

void fx2_stream_init(struct fx2_stream *s, uint64_t rate_hz, unsigned unit);

/** The timer at FX2_START, from struct fx2_status: lets a record be checked, is not needed. */
void fx2_stream_began(struct fx2_stream *s, uint32_t timer);

/**
 * A transfer completed with @n bytes. @is_short: by a packet below FX2_PACKET bytes (a transfer
 * that was cancelled or ran out of time is not; its bytes are as good). Returns how many of its
 * bytes to hand on: all, but half a sample before a loss. After a short one s->waiting is set.
 */
size_t fx2_stream_transfer(struct fx2_stream *s, size_t n, bool is_short);

#define FX2_NOTE 300

/**
 * The loss record that was waited for. Fills @loss; samples that follow are those after it. In
 * @note what is odd about the record, in a sentence, or "". CVL_E_TRUNCATED if @n is not the size
 * of a record; then nothing changes.
 */
int fx2_stream_loss(struct fx2_stream *s, const void *record, size_t n, struct driver_loss *loss,
		    char note[FX2_NOTE], struct cvl_error *err);

/**
 * A transfer's size for about 10 ms at @bytes_per_s, whole packets; and how many to queue for about
 * 400 ms within
 *  @pool bytes (of usbfs, for this device).
 */
size_t fx2_transfer_bytes(uint64_t bytes_per_s);
unsigned fx2_transfer_count(uint64_t bytes_per_s, size_t transfer, uint64_t pool);

#endif
