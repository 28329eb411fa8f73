/* SPDX-License-Identifier: MIT */
/** Raw samples of lines that seldom change, written in large pieces. */
#ifndef SIM_RUNS_H
#define SIM_RUNS_H

#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

struct run_file {
	int fd;
	const char *path; /* for messages */
	size_t n;
	uint8_t buf[1 << 18];
};

/** @n samples of @level. CVL_E_IO, CVL_E_ENV. */
int runs_put(struct run_file *f, uint8_t level, uint64_t n, struct cvl_error *err);

/** Write what is pending. */
int runs_end(struct run_file *f, struct cvl_error *err);

#endif
