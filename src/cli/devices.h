/* SPDX-License-Identifier: MIT */
/** Devices as printed by `coeval doctor` and `coeval doctor devices`. */
#ifndef CLI_DEVICES_H
#define CLI_DEVICES_H

#include <coeval/capture.h>

#include "cli.h"

/** An array; all lines but the first begin with @indent. */
void devices_json(struct cvl_out *o, const struct cvl_devices *l, const char *indent);

#endif
