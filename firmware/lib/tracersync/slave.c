/* SPDX-License-Identifier: MIT */
#include "slave.h"

void tracersync_slave_init(struct tracersync_slave *s, struct tracersync_page *page, uint16_t id,
			   struct tracer *tracer, tracersync_trace *send, tracersync_trace *receive)
{
	*s = (struct tracersync_slave){
		.page = page, .tracer = tracer, .send = send, .receive = receive, .id = id
	};
	s->boot = tracersync_load(&page->boot) + 1u;
	tracersync_store(&page->magic, 0);
	tracersync_fence();
	tracersync_store(&page->id, id);
	s->last = tracersync_load(&page->request);
	tracersync_store(&page->boot, s->boot);
	tracersync_fence();
	tracersync_store(&page->magic, TRACERSYNC_MAGIC);
}

enum tracersync_answer tracersync_slave_answer(struct tracersync_slave *s)
{
	struct tracersync_page *page = s->page;
	const uint32_t n = tracersync_load(&page->request);
	uint32_t was;

	if (tracersync_load(&page->boot) != s->boot) {
		tracersync_store(&page->twins, tracersync_load(&page->twins) + 1u);
		return TRACERSYNC_TWIN;
	}
	/* one who interrupts may take it in between */
	do {
		was = port_begin(&s->last);
		if (n == was)
			return TRACERSYNC_IDLE;
		if (n & 1u || (int32_t)(n - was) < 0) {
			tracersync_store(&page->refused, tracersync_load(&page->refused) + 1u);
			return TRACERSYNC_REFUSED;
		}
	} while (!port_end(&s->last, was, n));
	tracersync_fence();
	s->receive(s->tracer, s->id, n);
	s->send(s->tracer, s->id, n + 1u);
	tracersync_fence();
	tracersync_store(&page->answer, n + 1u);
	return TRACERSYNC_ANSWERED;
}
