/* SPDX-License-Identifier: MIT */
/* Compiled with the program's tracepoints: -DTRACER_POINTS='"my_points.h"', which includes rtos/points.h. */
#include "rtos.h"

#include "tracer/points.h"

static struct tracer *volatile ring[RTOS_CORES];
static struct {
	uint32_t task;
	uint8_t blocked;
} out[RTOS_CORES];

void rtos_start(unsigned core, struct tracer *t)
{
	ring[core] = t;
}

void rtos_create(unsigned core, uint32_t task, const char *name)
{
	if (ring[core])
		trace_task_create(ring[core], task, name);
}

void rtos_name(unsigned core, uint32_t task, const char *name)
{
	if (ring[core])
		trace_task_name(ring[core], task, name);
}

void rtos_delete(unsigned core, uint32_t task)
{
	if (ring[core])
		trace_task_delete(ring[core], task);
}

void rtos_out(unsigned core, uint32_t task, uint8_t blocked)
{
	out[core].task = task;
	out[core].blocked = blocked;
}

void rtos_in(unsigned core, uint32_t task)
{
	if (task != out[core].task && ring[core])
		trace_task_switch(ring[core], out[core].task, out[core].blocked, task);
	out[core].task = task;
	out[core].blocked = 0;
}

void rtos_ready(unsigned core, uint32_t task)
{
	if (ring[core])
		trace_task_ready(ring[core], task, rtos_exception());
}

void rtos_blocks(unsigned core, enum rtos_on on, uint32_t object)
{
	if (ring[core])
		trace_task_blocks(ring[core], (uint8_t)on, object);
}

void rtos_isr(unsigned core, uint8_t irq, int enters)
{
	if (!ring[core])
		return;
	if (enters)
		trace_isr_enter(ring[core], irq);
	else
		trace_isr_exit(ring[core], irq);
}

void rtos_queue(unsigned core, uint32_t object, int sends)
{
	if (!ring[core])
		return;
	if (sends)
		trace_queue_send(ring[core], object);
	else
		trace_queue_receive(ring[core], object);
}

void rtos_heap(unsigned core, uint32_t address, uint32_t bytes, int allocates)
{
	if (!ring[core])
		return;
	if (allocates)
		trace_heap_alloc(ring[core], address, bytes);
	else
		trace_heap_free(ring[core], address, bytes);
}
