/* SPDX-License-Identifier: MIT */
/** Linux' spidev: a device on a host's SPI bus, mode 0 with 8 bits a word. */
#ifndef DRIVERS_SPIDEV_H
#define DRIVERS_SPIDEV_H

#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

#include "capture/drivers/driver.h"

#define SPIDEV_PATH 256

/** The path of @device: "spidev0.0" is in /dev. CVL_E_USAGE: too long. */
int spidev_path(char path[SPIDEV_PATH], const char *device, struct cvl_error *err);

/** Open @path. CVL_E_ENV, with what to do. */
int spidev_open(int *fd, const char *path, uint32_t speed_hz, struct cvl_error *err);

/** Exchange @n bytes under one chip select; @tx NULL: zeros. Non-zero: failed, see errno. */
int spidev_transfer(int fd, uint32_t speed_hz, const uint8_t *tx, uint8_t *rx, size_t n);

/** How to get permission for @path. */
void spidev_permission(const char *path, char *out, size_t n);

/** A device that may be wired to SPI, for the rows of `coeval doctor devices`. */
struct spidev_use {
	const char *may_be;
	const char *ready; /* what to do with a usable one, or "" */
	const char *none, *advice;
};

/** A row for each SPI device in @dir ("/dev"), or one that says there is none. */
int spidev_list(const char *dir, const struct spidev_use *use,
		void (*row)(void *ctx, const struct cvl_device *row), void *ctx,
		struct cvl_error *err);

#endif
