/* SPDX-License-Identifier: MIT */
/**
 * The way to the chip's registers: the processor's own loads and stores on a target, the model of
 * sim/devices/dwt.h on a host. Library and ports use nothing else, so that all of them run in
 * tests.
 */
#ifndef COEVAL_SWOTRACE_BUS_H
#define COEVAL_SWOTRACE_BUS_H

#include <stdint.h>

struct swo_bus {
	void *ctx; /* the first argument of both */
	uint32_t (*read)(void *ctx, uint32_t address);
	void (*write)(void *ctx, uint32_t address, uint32_t value);
};

static inline uint32_t swo_read(const struct swo_bus *b, uint32_t address)
{
	return b->read(b->ctx, address);
}

static inline void swo_write(const struct swo_bus *b, uint32_t address, uint32_t value)
{
	b->write(b->ctx, address, value);
}

/** Set the bits of @mask to those of @value. */
static inline void swo_change(const struct swo_bus *b, uint32_t address, uint32_t mask,
			      uint32_t value)
{
	swo_write(b, address, (swo_read(b, address) & ~mask) | value);
}

#endif
