/* SPDX-License-Identifier: MIT */
/** Devices as `coeval doctor` and `coeval doctor devices` tell them. */
#ifndef CLI_DEVICES_H
#define CLI_DEVICES_H

#include <coeval/capture.h>

#include "cli.h"

/** An array, whose lines begin with @indent but for the first. */
void devices_json(struct cvl_out *o, const struct cvl_devices *l, const char *indent);

#endif
