/* SPDX-License-Identifier: MIT */
/* The bus of a radio, and listing the devices. */
#include "capture/drivers/cc1101/spi.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "capture/drivers/spidev.h"

/* Bursts without pauses: at most 6.5 MHz (SWRS061I, table 22). Breadboard wires need less. */
#define SPEED_HZ 4000000

struct spidev {
	int fd;
};

static int bus_transfer(void *ctx, const uint8_t *tx, uint8_t *rx, size_t n)
{
	return spidev_transfer(((struct spidev *)ctx)->fd, SPEED_HZ, tx, rx, n);
}

static void spidev_wait(void *ctx, unsigned us)
{
	const struct timespec t = { us / 1000000, (long)(us % 1000000) * 1000 };

	(void)ctx;
	nanosleep(&t, NULL);
}

static void spidev_close(void *ctx)
{
	struct spidev *d = ctx;

	close(d->fd);
	free(d);
}

int cc1101_open(struct cc1101 **r, const char *device, const struct cc1101_profile *profile,
		struct cvl_error *err)
{
	struct cc1101_bus bus;
	char path[SPIDEV_PATH];
	struct spidev *d;
	int rc = spidev_path(path, device, err);

	*r = NULL;
	if (rc)
		return rc;
	d = malloc(sizeof(*d));
	if (!d)
		return cvl_no_memory(err);
	rc = spidev_open(&d->fd, path, SPEED_HZ, err);
	if (rc) {
		free(d);
		return rc;
	}
	bus = (struct cc1101_bus){ bus_transfer, spidev_wait, spidev_close, d };
	return cc1101_open_bus(r, &bus, path, profile, err);
}

int cc1101_list(const char *dir, void (*row)(void *ctx, const struct cvl_device *row), void *ctx,
		struct cvl_error *err)
{
	static const struct spidev_use radio = {
		.may_be = "SPI device, where a CC1101 may be",
		.ready = "",
		.none = "no SPI device, which a CC1101 could be wired to",
		.advice = "only for beacons by radio: switch SPI on (on a Raspberry Pi: "
			  "dtparam=spi=on in config.txt), then look again",
	};

	return spidev_list(dir, &radio, row, ctx, err);
}
