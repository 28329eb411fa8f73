/* SPDX-License-Identifier: MIT */
/**
 * Model of an FX2LP analyzer as USB sees it: bare until firmware is loaded, then as
 * firmware/lib/wire/fx2_wire.h says.
 *
 * Time is counted in sampling periods, called ticks, from the first FX2_START on. It advances only
 * by samples that the host takes, by losses that were ordered, and by fx2_device_skip(): so a busy
 * host makes nothing overflow.
 */
#ifndef SIM_FX2_DEVICE_H
#define SIM_FX2_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fx2_device;

/**
 * The lines at @n ticks from @first on: a byte each, or two (low one first) if more than
 * 8 lines are sampled.
 */
typedef void fx2_levels_fn(void *ctx, uint64_t first, size_t n, uint8_t *out);

struct fx2_device_opts {
	uint16_t vendor, product; /* while bare; 0: 04b4:8613 */
	const char *serial;       /* of our firmware; NULL: none. Copied */
	unsigned lines;           /* that it has: 8 or 16; 0: 16 */
	bool loaded;              /* our firmware already runs */
	uint64_t seed;            /* of behaviour that varies between real devices */
	fx2_levels_fn *levels;
	void *ctx;
};

/** NULL: out of memory. */
struct fx2_device *fx2_device_new(const struct fx2_device_opts *opts);
void fx2_device_free(struct fx2_device *d);

/** Possible faults. @at: from this tick on; @n: see each. */
enum fx2_trouble {
	/* the buffers are full, @n ticks are lost (at the end of the packet with that tick) */
	FX2_OVERFLOW,
	FX2_STALL,       /* the endpoint stalls until its halt is cleared */
	FX2_BABBLE,      /* one transfer gets more than was asked for */
	FX2_SILENT,      /* nothing more until the next FX2_START */
	FX2_SPURIOUS,    /* a short packet without any loss */
	FX2_COUNT_OFF,   /* the next loss record claims @n samples that never came */
	FX2_DROP,        /* @n packets get lost without a trace */
	FX2_WRONG_MAGIC, /* from now on; so are the following */
	FX2_WRONG_VERSION,
	FX2_SHORT_ANSWERS, /* every answer is half as long as it should be */
	FX2_NO_START,      /* FX2_START stalls */
	FX2_NO_RENUMBER,   /* loaded firmware never shows up */
};

/** Order trouble. Any number, in any order. */
void fx2_device_trouble(struct fx2_device *d, enum fx2_trouble what, uint64_t at, uint64_t n);

/** Device descriptor and configuration, as sysfs shows them. Returns their length, at most 256. */
size_t fx2_device_descriptors(const struct fx2_device *d, uint8_t out[256]);
uint16_t fx2_device_vendor(const struct fx2_device *d);
uint16_t fx2_device_product(const struct fx2_device *d);
const char *fx2_device_serial(const struct fx2_device *d);

/** A control transfer. Returns the bytes of @data that were read or written, or -1: it stalls. */
int fx2_device_control(struct fx2_device *d, uint8_t type, uint8_t request, uint16_t value,
		       uint16_t index, uint8_t *data, uint16_t length);

enum fx2_bulk {
	FX2_BULK_FULL,  /* *got is all that was asked for */
	FX2_BULK_SHORT, /* ended by a short packet */
	FX2_BULK_NAK,   /* nothing more for now; *got so far */
	FX2_BULK_STALLED,
	FX2_BULK_BABBLED,
};

/** What the endpoint gives a transfer of @n bytes, whole packets. */
enum fx2_bulk fx2_device_bulk(struct fx2_device *d, uint8_t *buf, size_t n, size_t *got);
/** CLEAR_FEATURE(ENDPOINT_HALT). */
void fx2_device_clear_halt(struct fx2_device *d);

/** True once after firmware was loaded: it leaves the bus, and comes back as another. */
bool fx2_device_renumbers(struct fx2_device *d);
/** Power loss: bare again. */
void fx2_device_unplug(struct fx2_device *d);

bool fx2_device_running(const struct fx2_device *d);
uint64_t fx2_device_rate(const struct fx2_device *d); /* of the last FX2_START; 0: none yet */
unsigned fx2_device_unit(const struct fx2_device *d);
/** How often it was started. */
unsigned fx2_device_starts(const struct fx2_device *d);
/** The next tick. */
uint64_t fx2_device_tick(const struct fx2_device *d);
/** Advance time to @tick without any sample, unless it is later already: before FX2_START. */
void fx2_device_skip(struct fx2_device *d, uint64_t tick);

#endif
