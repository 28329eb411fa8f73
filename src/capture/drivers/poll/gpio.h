/* SPDX-License-Identifier: MIT */
/**
 * Lines of a Linux GPIO chip by its character device, version 2
 * (Documentation/userspace-api/gpio/chardev.rst): the kernel stamps edges in their interrupt, on
 * CLOCK_MONOTONIC.
 *
 * A stamp is never early. How late it is has no bound: the user states one.
 */
#ifndef DRIVERS_POLL_GPIO_H
#define DRIVERS_POLL_GPIO_H

#include <linux/gpio.h>

#include "capture/drivers/poll/source.h"

/** Ask for the lines of @s; s->fd yields their edges. CVL_E_ENV. */
int poll_gpio_open(struct poll_source *s, struct cvl_error *err);

/** Their current levels, bit 0 the first. 0 or an errno. */
int poll_gpio_levels(const struct poll_source *s, uint64_t *levels);

/** Turns edges into what a loop would see. */
struct poll_gpio {
	const struct poll_source *source;
	uint64_t levels, last; /* of the lines, of the clock */
	uint64_t began; /* the levels were read after this: they include what was stamped before */
	uint64_t sure;  /* they do not include what is stamped after this */
	uint32_t seqno; /* of the last event: the kernel counts from 1 */
};

/** Most records an event makes: a loss, and a change. */
#define POLL_GPIO_MADE 2

/** Number of records in @out that event @e makes: 0 if it is of none of our lines. */
unsigned poll_gpio_event(struct poll_gpio *g, const struct gpio_v2_line_event *e,
			 struct poll_seen out[POLL_GPIO_MADE]);

#endif
