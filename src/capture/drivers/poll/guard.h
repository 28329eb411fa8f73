/* SPDX-License-Identifier: MIT */
/**
 * A loop on memory that may go away: a file that is made shorter while it is mapped, a device that
 * is unplugged.
 */
#ifndef DRIVERS_POLL_GUARD_H
#define DRIVERS_POLL_GUARD_H

#include "capture/drivers/poll/loop.h"

/**
 * poll_loop_run(). False: the memory went away, and the loop ended there: nothing of it is known
 * since @l->safe, and
 * @l->stats lacks its end. Takes SIGBUS for the time; those of other threads have the effect that
 * they had before.
 */
bool poll_guard_run(struct poll_loop *l);

#endif
