/* SPDX-License-Identifier: MIT */
/** Devices as printed by `coeval doctor` and `coeval doctor devices`. */
#ifndef CLI_DEVICES_H
#define CLI_DEVICES_H

#include <coeval/capture.h>

#include "cli.h"
#include "json.h"

void devices_json(struct js *j, const char *key, const struct cvl_devices *l);

#endif
