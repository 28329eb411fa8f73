/* SPDX-License-Identifier: MIT */
/** Saving an image. Functions return NULL or what is wrong. */
#ifndef ETT_SAVE_H
#define ETT_SAVE_H

#include "machine.h"

/** To disk @number, if it is marked as ours; *@saved: blocks that are on it. */
const char *save_disk(struct ett_image *im, const struct timer *t, int number, uint64_t *saved);
const char *save_serial(struct ett_image *im, const struct timer *t);

#endif
