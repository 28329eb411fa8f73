/* SPDX-License-Identifier: MIT */
/**
 * The slave's side of tying clocks (page.h). C99, nothing is allocated, no call waits.
 *
 *   #define TRACER_POINTS "my_points.h"     which includes tracersync/points.h
 *   #include "tracer/points.h"
 *   #include "tracersync/slave.h"
 *
 *   tracersync_slave_init(&sync, page, 3, &tracer, trace_tracer_sync_send,
 *   trace_tracer_sync_receive);
 *
 * From then on the interrupt that the master raises calls tracersync_slave_answer(): the earlier in
 * it, the tighter the bound. It may be called from any interrupt and as often as one likes.
 */
#ifndef TRACERSYNC_SLAVE_H
#define TRACERSYNC_SLAVE_H

#include "../tracer/tracer.h"
#include "page.h"

struct tracersync_slave {
	struct tracersync_page *page;
	struct tracer *tracer;
	tracersync_trace *send, *receive;
	volatile uint32_t last; /* number that was taken */
	uint32_t boot;
	uint16_t id;
};

enum tracersync_answer {
	/* no request that was not answered: the interrupt was for something else */
	TRACERSYNC_IDLE,
	TRACERSYNC_ANSWERED,
	TRACERSYNC_REFUSED, /* a number that had been there, or none that a master gives */
	/* another began with this page: two have one id. It is the other's now; stop tracing */
	TRACERSYNC_TWIN
};

/** Begin, after tracer_init(). A request from before is not answered: its interrupt is gone. */
void tracersync_slave_init(struct tracersync_slave *s, struct tracersync_page *page, uint16_t id,
			   struct tracer *tracer, tracersync_trace *send,
			   tracersync_trace *receive);

/** Answer what the master asks, if it does. */
enum tracersync_answer tracersync_slave_answer(struct tracersync_slave *s);

#endif
