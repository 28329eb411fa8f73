/* SPDX-License-Identifier: MIT */
/**
 * A loop on memory that may disappear: a file truncated while it is mapped, a device that is
 * unplugged.
 */
#ifndef DRIVERS_POLL_GUARD_H
#define DRIVERS_POLL_GUARD_H

#include "capture/drivers/poll/loop.h"

/**
 * poll_loop_run(). False: the memory disappeared, and the loop ended there: nothing is known since
 * @l->safe, and @l->stats lacks its end. Handles SIGBUS meanwhile; those of other threads have
 * their former effect.
 */
bool poll_guard_run(struct poll_loop *l);

#endif
