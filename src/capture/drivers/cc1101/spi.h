/* SPDX-License-Identifier: MIT */
/**
 * A CC1101 that receives beacons, on Linux' spidev or on anything else that moves SPI bytes.
 *
 * One thread uses a radio. The radio's line (GDO0) goes to the analyzer and is not read here.
 */
#ifndef DRIVERS_CC1101_SPI_H
#define DRIVERS_CC1101_SPI_H

#include <coeval/error.h>

#include "capture/drivers/cc1101/packet.h"
#include "capture/drivers/driver.h"
#include "radio/cc1101_config.h"

/** How to reach the chip. */
struct cc1101_bus {
	/**
	 * One transaction: chip select, @n bytes both ways, chip select. 0, or negative with errno
	 * set.
	 */
	int (*transfer)(void *ctx, const uint8_t *tx, uint8_t *rx, size_t n);
	void (*wait)(void *ctx, unsigned us);
	void (*close)(void *ctx); /* or NULL */
	void *ctx;
};

struct cc1101_counters {
	struct packet_counters packets;
	uint64_t drains;
	uint64_t restarts; /* the chip was not receiving and was restarted */
	uint64_t calibrations;
	uint64_t unsteady; /* status reads that had to be repeated (SWRZ020) */
};

struct cc1101;

/**
 * Open "spidev0.0" or "/dev/spidev0.0", reset the chip there, write @profile and begin to receive.
 * Fails with CVL_E_ENV if no such device, permission or radio is there, saying what to do;
 * CVL_E_UNSUPPORTED if the chip cannot do what @profile says.
 */
int cc1101_open(struct cc1101 **r, const char *device, const struct cc1101_profile *profile,
		struct cvl_error *err);

/**
 * The same on @bus, which is closed with the radio, also on failure; @where names it in messages.
 */
int cc1101_open_bus(struct cc1101 **r, const struct cc1101_bus *bus, const char *where,
		    const struct cc1101_profile *profile, struct cvl_error *err);

/**
 * Read all packets that have arrived, oldest first, into @list of @max (CC1101_DRAIN_MOST is always
 * enough). Waits for a packet that is being received, at most its time on the air. Returns the
 * number of beacons, or a negative code.
 *
 * To be called when the line has risen; also once after sampling has begun, and every few seconds
 * without a rise, since a line that is high cannot rise.
 */
int cc1101_drain(struct cc1101 *r, struct beacon_heard *list, size_t max, struct cvl_error *err);

/** Two FIFOs full of the shortest packet: one already there, one received while it is read. */
#define CC1101_DRAIN_MOST 18

void cc1101_counters(const struct cc1101 *r, struct cc1101_counters *counters);

/** The registers as computed and written. */
const struct cc1101_config *cc1101_config_of(const struct cc1101 *r);

/** Two senders are using the id of @sender. */
bool cc1101_twins(const struct cc1101 *r, uint16_t sender);

void cc1101_close(struct cc1101 *r);

/**
 * A row for each SPI device that a radio may be wired to, or one that says there is none, for
 * `coeval doctor devices`. @dir is "/dev".
 */
int cc1101_list(const char *dir, void (*row)(void *ctx, const struct cvl_device *row), void *ctx,
		struct cvl_error *err);

#endif
