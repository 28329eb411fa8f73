/* SPDX-License-Identifier: MIT */
/**
 * What a ring holds besides complete packets, for a drain whose core has ended, or whose patience
 * has. C99.
 */
#ifndef TRACER_REST_H
#define TRACER_REST_H

#include "drain.h"

enum tracer_rest {
	TRACER_REST_NOTHING,
	TRACER_REST_EVENTS, /* a packet that ends behind the last event */
	/*
	 * one of no events, which says that one is lost: which was begun and not ended cannot be
	 * told
	 */
	TRACER_REST_TORN,
};

/**
 * The content of the packet that is being filled, once all before it were read: copied to @packet,
 * which has room for one. Its timestamp_end is to be filled in.
 */
enum tracer_rest tracer_drain_rest(const struct tracer_drain *d, void *packet);

/**
 * Whether packets behind the next one are complete or begun, and it is not complete.
 * tracer_drain_pass() leaves it out for good.
 */
int tracer_drain_waits(const struct tracer_drain *d);

#endif
