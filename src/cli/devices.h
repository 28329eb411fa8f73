/* SPDX-License-Identifier: MIT */
/** Devices as `coeval doctor` and `coeval doctor devices` tell them. */
#ifndef CLI_DEVICES_H
#define CLI_DEVICES_H

#include <coeval/capture.h>

#include "cli.h"
#include "json.h"

void devices_json(struct js *j, const char *key, const struct cvl_devices *l);

#endif
