/* SPDX-License-Identifier: MIT */
/** Rows of the group `ett`: event timestamping with one clock. */
#ifndef BENCH_ETT_H
#define BENCH_ETT_H

#include "bench.h"

/** The bare-metal kernel's loop, in an emulator. */
int ett_kernel(const struct bench *b);
/** The polling loop on this machine, against a writer whose times are known. */
int ett_poll(const struct bench *b);
/** Importing what the kernel saved. */
int ett_import_image(const struct bench *b);

#endif
