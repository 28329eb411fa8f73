/* SPDX-License-Identifier: MIT */
/**
 * Where the poll driver reads lines, as the user says it:
 *
 *   shm:PATH[@OFFSET]       memory that a program on this machine writes: a file, /dev/shm/NAME
 *   mmio:PATH[@OFFSET]      registers: /dev/gpiomem, /dev/mem, a resource of a PCI device
 *   ioport:ADDRESS          a byte of the I/O space: the data register of a parallel port is at
 *                           0x378
 *   gpiochip:PATH           edges that the kernel stamps: /dev/gpiochip0, with lines=3+4
 *
 * then, each behind a comma: width=BYTES, mask=BITS, cpu=N, prio=1..99, gap=TIME, reverse;
 * lines=A+B, latency=TIME.
 */
#ifndef DRIVERS_POLL_SOURCE_H
#define DRIVERS_POLL_SOURCE_H

#include <coeval/error.h>

#include "capture/drivers/driver.h"
#include "capture/drivers/poll/loop.h"

enum poll_source_kind { POLL_SHM, POLL_MMIO, POLL_IOPORT, POLL_GPIOCHIP };

#define POLL_PATH_MAX 256
#define POLL_GPIO_MAX 64

struct poll_source {
	enum poll_source_kind kind;
	char text[POLL_PATH_MAX + 32]; /* as given, without what follows a comma */
	char path[POLL_PATH_MAX];
	uint64_t offset; /* or the port */
	unsigned width;  /* bytes */
	uint64_t mask;
	bool reverse; /* the parallel port's data lines are inputs */
	int cpu;      /* -1: to be chosen */
	int priority; /* 0: not real-time */
	int64_t gap_ns;
	int64_t latency_ns; /* gpiochip: how late a stamp may be */
	uint32_t gpio[POLL_GPIO_MAX];
	unsigned n_gpio;
	/* open: */
	int fd;
	void *map;
	size_t mapped;
	struct poll_lines lines;
};

/** Read @text. CVL_E_USAGE says what is wrong. */
int poll_source_parse(struct poll_source *s, const char *text, struct cvl_error *err);

/** CVL_E_ENV, with what to do; CVL_E_IO. */
int poll_source_open(struct poll_source *s, struct cvl_error *err);
void poll_source_close(struct poll_source *s);

/** Number of its lines. */
unsigned poll_source_lines(const struct poll_source *s);

/** A row for each suitable device of this machine, for `coeval doctor devices`. */
int poll_source_list(void (*row)(void *ctx, const struct cvl_device *row), void *ctx,
		     struct cvl_error *err);

#endif
