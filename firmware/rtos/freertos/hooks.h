/* SPDX-License-Identifier: MIT */
/**
 * Hooks for FreeRTOS 10.4 to 11. At the end of FreeRTOSConfig.h, for C alone:
 *
 *     #define configUSE_TRACE_FACILITY 1
 *     #ifndef __ASSEMBLER__
 *     #include "rtos/freertos/hooks.h"
 *     #endif
 *
 * The macros are expanded in tasks.c, queue.c and the heap, where the kernel's own names are in
 * reach. A task's number is its uxTCBNumber, which is never used again.
 *
 * Whether a task that stops could go on is asked of the list that it is in: the hooks that announce
 * waits do not come for all of them (of V11 none comes for waits without a limit).
 */
#ifndef RTOS_FREERTOS_HOOKS_H
#define RTOS_FREERTOS_HOOKS_H

#include "../rtos.h"

#if RTOS_CORES > 1
#define RTOS_CORE ((unsigned)portGET_CORE_ID())
#else
#define RTOS_CORE 0u
#endif

#define RTOS_NUMBER(t) ((uint32_t)(t)->uxTCBNumber)
#define RTOS_ADDRESS(p) ((uint32_t)(uintptr_t)(p))
#define RTOS_IS_READY(t) \
	(listLIST_ITEM_CONTAINER(&(t)->xStateListItem) == &pxReadyTasksLists[(t)->uxPriority])

#define traceTASK_CREATE(t) rtos_create(RTOS_CORE, RTOS_NUMBER(t), (t)->pcTaskName)
#define traceTASK_DELETE(t) rtos_delete(RTOS_CORE, RTOS_NUMBER(t))
#define traceTASK_SWITCHED_OUT() \
	rtos_out(RTOS_CORE, RTOS_NUMBER(pxCurrentTCB), (uint8_t)!RTOS_IS_READY(pxCurrentTCB))
#define traceTASK_SWITCHED_IN() rtos_in(RTOS_CORE, RTOS_NUMBER(pxCurrentTCB))
#define traceMOVED_TASK_TO_READY_STATE(t) rtos_ready(RTOS_CORE, RTOS_NUMBER(t))

#define traceTASK_DELAY() rtos_blocks(RTOS_CORE, RTOS_DELAY, 0)
#define traceTASK_DELAY_UNTIL(x) rtos_blocks(RTOS_CORE, RTOS_DELAY, 0)
#define traceBLOCKING_ON_QUEUE_SEND(q) RTOS_BLOCKS_ON_QUEUE(q)
#define traceBLOCKING_ON_QUEUE_RECEIVE(q) RTOS_BLOCKS_ON_QUEUE(q)
#define traceBLOCKING_ON_QUEUE_PEEK(q) RTOS_BLOCKS_ON_QUEUE(q)
/* ucQueueType: 0 a queue, 1 a mutex, 2 and 3 semaphores, 4 a recursive mutex */
#define RTOS_BLOCKS_ON_QUEUE(q)                                                       \
	rtos_blocks(RTOS_CORE,                                                        \
		    (q)->ucQueueType == 1 || (q)->ucQueueType == 4 ? RTOS_MUTEX :     \
		    (q)->ucQueueType == 2 || (q)->ucQueueType == 3 ? RTOS_SEMAPHORE : \
								     RTOS_QUEUE,      \
		    RTOS_ADDRESS(q))
#define traceBLOCKING_ON_STREAM_BUFFER_SEND(b) rtos_blocks(RTOS_CORE, RTOS_STREAM, RTOS_ADDRESS(b))
#define traceBLOCKING_ON_STREAM_BUFFER_RECEIVE(b) \
	rtos_blocks(RTOS_CORE, RTOS_STREAM, RTOS_ADDRESS(b))
#define traceTASK_NOTIFY_TAKE_BLOCK(index) rtos_blocks(RTOS_CORE, RTOS_NOTIFICATION, 0)
#define traceTASK_NOTIFY_WAIT_BLOCK(index) rtos_blocks(RTOS_CORE, RTOS_NOTIFICATION, 0)
#define traceEVENT_GROUP_WAIT_BITS_BLOCK(e, bits) \
	rtos_blocks(RTOS_CORE, RTOS_EVENT, RTOS_ADDRESS(e))
#define traceEVENT_GROUP_SYNC_BLOCK(e, set, bits) \
	rtos_blocks(RTOS_CORE, RTOS_EVENT, RTOS_ADDRESS(e))

#define traceQUEUE_SEND(q) rtos_queue(RTOS_CORE, RTOS_ADDRESS(q), 1)
#define traceQUEUE_SEND_FROM_ISR(q) rtos_queue(RTOS_CORE, RTOS_ADDRESS(q), 1)
#define traceQUEUE_RECEIVE(q) rtos_queue(RTOS_CORE, RTOS_ADDRESS(q), 0)
#define traceQUEUE_RECEIVE_FROM_ISR(q) rtos_queue(RTOS_CORE, RTOS_ADDRESS(q), 0)

#define traceMALLOC(p, size) rtos_heap(RTOS_CORE, RTOS_ADDRESS(p), (uint32_t)(size), 1)
#define traceFREE(p, size) rtos_heap(RTOS_CORE, RTOS_ADDRESS(p), (uint32_t)(size), 0)

/* V11 calls these in its own handlers. In yours: RTOS_ISR_ENTER() first, RTOS_ISR_EXIT() last. */
#define traceISR_ENTER() RTOS_ISR_ENTER()
#define traceISR_EXIT() RTOS_ISR_EXIT()
#define traceISR_EXIT_TO_SCHEDULER() RTOS_ISR_EXIT()

#define RTOS_ISR_ENTER() rtos_isr(RTOS_CORE, rtos_exception(), 1)
#define RTOS_ISR_EXIT() rtos_isr(RTOS_CORE, rtos_exception(), 0)

#endif
