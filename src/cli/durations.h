/* SPDX-License-Identifier: MIT */
/** How durations are shown: figures with their bounds, and a histogram. */
#ifndef CLI_DURATIONS_H
#define CLI_DURATIONS_H

#include <coeval/durations.h>

#include "json.h"

/** Tables of @d; nothing if it is empty. */
void durations_text(struct cvl_out *o, const struct cvl_durations *d);

/** As members of the open object. */
void durations_json(struct js *j, const struct cvl_durations *d);

#endif
