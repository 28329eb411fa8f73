/* SPDX-License-Identifier: MIT */
/**
 * Workloads: pieces of work of a known kind, all run in the same way, to measure what a processor
 * spends on them.
 *
 * Portable C99. Nothing allocates, nothing prints. What they compute ends in a volatile object and
 * passes through values that the compiler cannot know, so that it can neither remove the work nor
 * do it beforehand.
 */
#ifndef COEVAL_WORKLOADS_WORKLOAD_H
#define COEVAL_WORKLOADS_WORKLOAD_H

#include <stdint.h>

/**
 * What workloads that are more than computing need of a board. A function that is not there is
 * NULL.
 */
struct workload_io {
	void *ctx; /* the first argument of all */

	/**
	 * Take the bus at a clock of at most @hz, exchange @n bytes, give the bus back. Returns 0,
	 * or -1 if the bus failed.
	 */
	int (*spi)(void *ctx, uint32_t hz, const uint8_t *out, uint8_t *in, unsigned n);

	/** Sleep (the processor's clock stopped if it can) for @ms. */
	void (*sleep_ms)(void *ctx, uint32_t ms);
};

enum workload_result {
	WORKLOAD_OK = 0,
	/* it computed something wrong: the chip is run too fast, or memory is damaged */
	WORKLOAD_WRONG = -1,
	WORKLOAD_CANNOT = -2, /* the board has not what it needs */
};

struct workload {
	const char *name; /* letters, digits, '-', '_' */
	const char *what;
	/**
	 * Work @iterations times. @arg: what w->arg says, or of no meaning. Returns an enum
	 * workload_result.
	 */
	int (*run)(const struct workload_io *io, uint32_t iterations, uint32_t arg);
	const char *arg; /* what @arg is, "spi_hz", or NULL */
	uint32_t default_arg;
};

/** The workloads of this folder. The list is ended by a workload without name. */
extern const struct workload workloads_synthetic[];

/** The one called @name in @lists, which is ended by NULL; NULL if there is none. */
const struct workload *workload_find(const struct workload *const *lists, const char *name);

#endif
