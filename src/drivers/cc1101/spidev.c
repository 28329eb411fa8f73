/* SPDX-License-Identifier: MIT */
/* Linux' spidev: the bus of a radio, and the devices that there are. */
#include "drivers/cc1101/spi.h"

#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <linux/spi/spidev.h>

/* Bursts without pauses: at most 6.5 MHz (SWRS061I, table 22). Wires of a breadboard want less. */
#define SPEED_HZ 4000000

struct spidev {
	int fd;
};

static int spidev_transfer(void *ctx, const uint8_t *tx, uint8_t *rx, size_t n)
{
	struct spidev *d = ctx;
	struct spi_ioc_transfer t = {
		.tx_buf = (uintptr_t)tx,
		.rx_buf = (uintptr_t)rx,
		.len = (uint32_t)n,
		.speed_hz = SPEED_HZ,
		.bits_per_word = 8,
	};

	return ioctl(d->fd, SPI_IOC_MESSAGE(1), &t) < 0 ? -1 : 0;
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

static void permission(const char *path, char *out, size_t n)
{
	struct stat st;
	struct group *g = NULL;

	if (!stat(path, &st) && st.st_gid != 0 && st.st_mode & S_IWGRP)
		g = getgrgid(st.st_gid);
	if (g)
		snprintf(out, n, "join the group %s (sudo usermod -aG %s $USER) and log in again",
			 g->gr_name, g->gr_name);
	else
		snprintf(
			out, n,
			"let a group use it, by a udev rule: SUBSYSTEM==\"spidev\", GROUP=\"spi\", "
			"MODE=\"0660\"");
}

static int cannot_open(const char *path, struct cvl_error *err)
{
	char what[256];

	switch (errno) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: no such SPI device: switch SPI on (Raspberry Pi: dtparam=spi=on in "
			"config.txt; else an overlay such as spi0-1cs) and start again; "
			"`coeval devices` lists what is there",
			path);
	case EACCES:
	case EPERM:
		permission(path, what, sizeof(what));
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: no permission: %s", path, what);
	default: return cvl_fail_errno(err, "cannot open", path);
	}
}

int cc1101_open(struct cc1101 **r, const char *device, const struct cc1101_profile *profile,
		struct cvl_error *err)
{
	uint8_t mode = SPI_MODE_0, bits = 8;
	uint32_t speed = SPEED_HZ;
	struct cc1101_bus bus;
	struct spidev *d;
	char path[256];

	*r = NULL;
	if (snprintf(path, sizeof(path), "%s%s", strchr(device, '/') ? "" : "/dev/", device) >=
	    (int)sizeof(path))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "too long a name of a device");
	d = malloc(sizeof(*d));
	if (!d)
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	d->fd = open(path, O_RDWR | O_CLOEXEC);
	if (d->fd < 0) {
		free(d);
		return cannot_open(path, err);
	}
	if (ioctl(d->fd, SPI_IOC_WR_MODE, &mode) < 0 ||
	    ioctl(d->fd, SPI_IOC_WR_BITS_PER_WORD, &bits) < 0 ||
	    ioctl(d->fd, SPI_IOC_WR_MAX_SPEED_HZ, &speed) < 0) {
		int why = errno;

		spidev_close(d);
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: this is no SPI device, or it cannot do mode 0 with 8 bits (%s)", path,
			strerror(why));
	}
	bus = (struct cc1101_bus){ spidev_transfer, spidev_wait, spidev_close, d };
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
			permission(path, advice, sizeof(advice));
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
