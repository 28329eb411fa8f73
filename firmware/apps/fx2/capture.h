/* SPDX-License-Identifier: MIT */
/**
 * A capture: from FX2_START to the packet that ends the stream, with the losses in between (see
 * fx2_wire.h, "Loss").
 *
 * There is one, as there is one sampling engine.
 */
#ifndef FX2_CAPTURE_H
#define FX2_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/fx2_wire.h"

/** No capture, no records, nothing waiting for the host. */
void capture_reset(void);

/**
 * Begin, and discard any earlier capture with its unsent data. False: invalid @settings.
 */
bool capture_start(const struct fx2_settings *settings);

/** Stop sampling; capture_poll() sends the rest. */
void capture_stop(void);

/** To be called repeatedly. */
void capture_poll(void);

void capture_status(struct fx2_status *status);

/** Take the oldest record. False: there is none. */
bool capture_loss(struct fx2_loss *loss);

#endif
