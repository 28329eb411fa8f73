/* SPDX-License-Identifier: MIT */
/**
 * Saving an image; Esc stops it. Functions return NULL or what is wrong. *@saved: blocks that are
 * saved.
 */
#ifndef ETT_SAVE_H
#define ETT_SAVE_H

#include "machine.h"

/** To disk @number, if it is marked as ours. */
const char *save_disk(struct ett_image *im, const struct timer *t, int number, uint64_t *saved);
/** By the first serial port. */
const char *save_serial(struct ett_image *im, const struct timer *t, uint64_t *saved);

#endif
