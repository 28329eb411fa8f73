/* SPDX-License-Identifier: MIT */
/*
 * What the hooks of this folder trace. Include it in the file of your own tracepoints:
 *
 *     #include "rtos/points.h"
 *     TRACEPOINT(mine, (u32, value))
 */
TRACEPOINT(task_create, (u32, task), (str, name))
TRACEPOINT(task_name, (u32, task), (str, name))
TRACEPOINT(task_delete, (u32, task))
TRACEPOINT(task_switch, (u32, prev), (u8, blocked), (u32, next))
TRACEPOINT(task_ready, (u32, task), (u8, inside))
TRACEPOINT(task_blocks, (u8, on), (u32, object))
TRACEPOINT(isr_enter, (u8, irq))
TRACEPOINT(isr_exit, (u8, irq))
TRACEPOINT(queue_send, (u32, object))
TRACEPOINT(queue_receive, (u32, object))
TRACEPOINT(heap_alloc, (u32, address), (u32, bytes))
TRACEPOINT(heap_free, (u32, address), (u32, bytes))
