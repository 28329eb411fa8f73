/* SPDX-License-Identifier: MIT */
/*
 * Tasks whose waits are known, for tests of the hooks: what wakes each is said beside it.
 */
#include <FreeRTOS.h>
#include <queue.h>
#include <task.h>

#include "../board.h"

#define TRACER_POINTS "app_points.h"
#include "tracer/points.h"

enum { HI = 1, MID, LO, OWNER, WANTS, CHILD };

static QueueHandle_t queue;
static QueueHandle_t mutex;
static TaskHandle_t notified;

static void job(uint8_t n, uint32_t us)
{
	trace_job_begin(&board_tracer, n);
	board_spin(us);
	trace_job_end(&board_tracer, n);
}

/* The tick. */
static void hi(void *unused)
{
	(void)unused;
	for (;;) {
		job(HI, 1000);
		vTaskDelay(8);
	}
}

/* Always lo, which sends; without a limit. */
static void mid(void *unused)
{
	uint32_t v;

	(void)unused;
	for (;;) {
		xQueueReceive(queue, &v, portMAX_DELAY);
		job(MID, 2000);
	}
}

/* The tick; while it computes, owner gives the mutex that wants takes. */
static void owner(void *unused)
{
	(void)unused;
	for (;;) {
		xQueueSemaphoreTake(mutex, portMAX_DELAY);
		job(OWNER, 4000);
		xQueueGenericSend(mutex, NULL, 0, queueSEND_TO_BACK);
		vTaskDelay(10);
	}
}

/* The tick, or owner, if that has the mutex. */
static void wants(void *unused)
{
	(void)unused;
	for (;;) {
		vTaskDelay(3);
		xQueueSemaphoreTake(mutex, portMAX_DELAY);
		job(WANTS, 500);
		xQueueGenericSend(mutex, NULL, 0, queueSEND_TO_BACK);
	}
}

/* Made by lo, which notifies it; then it ends. */
static void child(void *unused)
{
	(void)unused;
	ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
	job(CHILD, 300);
	vTaskDelete(NULL);
}

/* The tick. */
static void lo(void *unused)
{
	uint32_t v = 1;

	(void)unused;
	for (int i = 0; i < 8; i++) {
		xTaskCreate(child, "child", 256, 0, 2, &notified);
		job(LO, 10000);
		xQueueSend(queue, &v, 0);
		xTaskNotifyGive(notified);
		vTaskDelay(2);
	}
	taskENTER_CRITICAL();
	board_end();
}

int main(void)
{
	if (board_start(&tracer_layout))
		return 1;
	rtos_start(0, &board_tracer);
	queue = xQueueCreate(4, sizeof(uint32_t));
	mutex = xQueueCreateMutex(queueQUEUE_TYPE_MUTEX);
	xTaskCreate(hi, "hi", 256, 0, 4, 0);
	xTaskCreate(wants, "wants", 256, 0, 3, 0);
	xTaskCreate(mid, "mid", 256, 0, 2, 0);
	xTaskCreate(owner, "owner", 256, 0, 1, 0);
	xTaskCreate(lo, "lo", 512, 0, 1, 0);
	vTaskStartScheduler();
	return 0;
}
