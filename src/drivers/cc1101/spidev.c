/* SPDX-License-Identifier: MIT */
/* The bus of a radio, and the devices that there are. */
#include "drivers/cc1101/spi.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "drivers/spidev.h"

/* Bursts without pauses: at most 6.5 MHz (SWRS061I, table 22). Wires of a breadboard want less. */
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
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	rc = spidev_open(&d->fd, path, SPEED_HZ, err);
	if (rc) {
		free(d);
		return rc;
	}
	bus = (struct cc1101_bus){ bus_transfer, spidev_wait, spidev_close, d };
	return cc1101_open_bus(r, &bus, path, profile, err);
}

int cc1101_list(const char *dir, void (*row)(void *ctx, const struct device_row *row), void *ctx,
		struct cvl_error *err)
{
	char path[300], advice[256];
	DIR *d = opendir(dir);
	struct dirent *e;
	size_t n = 0;

	if (!d)
		return cvl_fail_errno(err, "look into", dir);
	while ((e = readdir(d))) {
		struct device_row r = { .where = path,
					.what = "SPI device, where a CC1101 may be",
					.state = "ready",
					.advice = "" };

		if (strncmp(e->d_name, "spidev", 6) != 0 ||
		    snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) >= (int)sizeof(path))
			continue;
		if (access(path, R_OK | W_OK)) {
			spidev_permission(path, advice, sizeof(advice));
			r.state = "no permission";
			r.advice = advice;
		}
		row(ctx, &r);
		n++;
	}
	closedir(d);
	if (!n)
		row(ctx,
		    &(struct device_row){
			    .where = "spidev*",
			    .what = "no SPI device, which a CC1101 could be wired to",
			    .state = "not found",
			    .advice =
				    "only for beacons by radio: switch SPI on (on a Raspberry Pi: "
				    "dtparam=spi=on in config.txt), then look again" });
	return 0;
}
