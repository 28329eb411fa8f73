/* SPDX-License-Identifier: MIT */
#include "capture/drivers/spidev.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/spi/spidev.h>

int spidev_path(char path[SPIDEV_PATH], const char *device, struct cvl_error *err)
{
	if (snprintf(path, SPIDEV_PATH, "%s%s", strchr(device, '/') ? "" : "/dev/", device) >=
	    SPIDEV_PATH)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "too long a name of a device");
	return 0;
}

void spidev_permission(const char *path, char *out, size_t n)
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
		return cvl_hint(
			err, CVL_HINT_DEVICES,
			cvl_fail(
				err, CVL_E_ENV, CVL_NO_OFFSET,
				"%s: no such SPI device: switch SPI on (Raspberry Pi: dtparam=spi=on in "
				"config.txt; else an overlay such as spi0-1cs) and start again",
				path));
	case EACCES:
	case EPERM:
		spidev_permission(path, what, sizeof(what));
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: no permission: %s", path, what);
	default: return cvl_fail_errno(err, "open", path);
	}
}

int spidev_open(int *fd, const char *path, uint32_t speed_hz, struct cvl_error *err)
{
	uint8_t mode = SPI_MODE_0, bits = 8;

	*fd = open(path, O_RDWR | O_CLOEXEC);
	if (*fd < 0)
		return cannot_open(path, err);
	if (ioctl(*fd, SPI_IOC_WR_MODE, &mode) < 0 ||
	    ioctl(*fd, SPI_IOC_WR_BITS_PER_WORD, &bits) < 0 ||
	    ioctl(*fd, SPI_IOC_WR_MAX_SPEED_HZ, &speed_hz) < 0) {
		int why = errno;

		close(*fd);
		*fd = -1;
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: this is no SPI device, or it cannot do mode 0 with 8 bits (%s)", path,
			strerror(why));
	}
	return 0;
}

int spidev_transfer(int fd, uint32_t speed_hz, const uint8_t *tx, uint8_t *rx, size_t n)
{
	struct spi_ioc_transfer t = {
		.tx_buf = (uintptr_t)tx,
		.rx_buf = (uintptr_t)rx,
		.len = (uint32_t)n,
		.speed_hz = speed_hz,
		.bits_per_word = 8,
	};

	return ioctl(fd, SPI_IOC_MESSAGE(1), &t) < 0 ? -1 : 0;
}

int spidev_list(const char *dir, const struct spidev_use *use,
		void (*row)(void *ctx, const struct cvl_device *row), void *ctx,
		struct cvl_error *err)
{
	char path[300], advice[256];
	DIR *d = opendir(dir);
	struct dirent *e;
	size_t n = 0;

	if (!d)
		return cvl_fail_errno(err, "look into", dir);
	while ((e = readdir(d))) {
		struct cvl_device r = {
			.where = path, .what = use->may_be, .state = "ready", .advice = use->ready
		};

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
		row(ctx, &(struct cvl_device){ .where = "spidev*",
					       .what = use->none,
					       .state = "not found",
					       .advice = use->advice });
	return 0;
}
