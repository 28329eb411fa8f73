/* SPDX-License-Identifier: MIT */
/** For the build, which prints how large things are. */
#ifndef TRACER_SIZES_H
#define TRACER_SIZES_H

#include "tracer.h"

void event_hash(struct tracer *t, uint32_t value);
void event_pi(struct tracer *t, uint32_t value);
void event_sort(struct tracer *t, uint8_t depth, uint32_t elements);
void event_done(struct tracer *t, uint16_t what);

extern char ram_tracer[], ram_ring[];

#endif
