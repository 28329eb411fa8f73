/* SPDX-License-Identifier: MIT */
/*
 * The use case of Bertauld and Dagenais, section 6.2: an image cut into parts, which slaves filter.
 */
#include "master.h"

#include "link.h"
#include "sobel.h"

#include <string.h>

#define WIDTH 1024u
#define HEIGHT 1024u
#define PATIENCE_NS 20000000000u

/* Rings, a gradient, and a little noise. */
static void draw(uint8_t *image, uint32_t frame)
{
	uint32_t noise = frame + 1;

	for (uint32_t y = 0; y < HEIGHT; y++)
		for (uint32_t x = 0; x < WIDTH; x++) {
			uint32_t dx = x - WIDTH / 2, dy = y - HEIGHT / 2 + 8 * frame;

			noise = noise * 1664525u + 1013904223u;
			image[y * WIDTH + x] = (uint8_t)(((dx * dx + dy * dy) >> 5 & 128u) +
							 (x >> 3) + (noise >> 29));
		}
}

static uint32_t ask_for_memory(struct master *m, uint16_t frame, uint32_t bytes)
{
	struct message q = { .kind = MEMORY, .frame = frame, .arg = { bytes } };
	uint32_t at;

	trace_request_memory_begin(&m->tracer, bytes);
	master_send(m, 0, &q);
	at = master_wait(m, MEMORY, &q, PATIENCE_NS) == 0 ? q.arg[0] : 0;
	trace_request_memory_end(&m->tracer, at);
	return at;
}

static void cut(struct master *m, uint16_t frame, uint32_t in, uint32_t out, const unsigned *worker,
		unsigned workers)
{
	trace_cut_begin(&m->tracer, frame);
	for (unsigned i = 0; i < workers; i++) {
		uint32_t first = HEIGHT * i / workers;
		struct message q = { .kind = FILTER,
				     .frame = frame,
				     .arg = { in, out, WIDTH, HEIGHT, first,
					      HEIGHT * (i + 1) / workers - first } };

		master_send(m, worker[i], &q);
	}
	trace_cut_end(&m->tracer, frame);
}

/* As soon as slaves 1 and 2 are at their parts, something more urgent comes up between the two. */
static void interrupt_two(struct master *m, uint16_t frame, uint64_t ns)
{
	const uint64_t from = link_now();

	for (unsigned i = 1; i <= 2; i++)
		while (tracersync_load(&m->slave[i].station->at_work) != frame + 1u &&
		       link_now() - from < 100000000)
			link_sleep(100000);
	for (unsigned i = 1; i <= 2; i++) {
		struct message q = { .kind = TALK,
				     .frame = frame,
				     .arg = { i == 1, (uint32_t)(ns / 40) } };

		master_interrupt(m, i, &q);
	}
}

uint64_t master_frame(struct master *m, uint16_t frame, uint64_t talk_ns)
{
	static uint8_t image[WIDTH * HEIGHT], mine[WIDTH * HEIGHT];
	unsigned worker[SLAVES_MAX], workers = 0, answers = 0;
	uint64_t from, took;
	uint32_t in, out;

	for (unsigned i = 0; i < m->slaves; i++)
		if (!m->slave[i].is_lost)
			worker[workers++] = i;
	draw(image, frame);
	from = link_now();
	trace_frame_begin(&m->tracer, frame);
	in = ask_for_memory(m, frame, WIDTH * HEIGHT);
	out = in ? ask_for_memory(m, frame, WIDTH * HEIGHT) : 0;
	if (out) {
		memcpy(m->shared + in, image, sizeof(image));
		cut(m, frame, in, out, worker, workers);
		if (talk_ns)
			interrupt_two(m, frame, talk_ns);
		trace_gather_begin(&m->tracer, frame);
		for (struct message q; answers < workers; answers++)
			if (master_wait(m, FILTER, &q, PATIENCE_NS) < 0)
				break;
		trace_gather_end(&m->tracer, frame);
	}
	trace_frame_end(&m->tracer, frame);
	took = link_now() - from;
	if (!out || answers < workers)
		return 0;
	sobel(mine, image, WIDTH, HEIGHT, 0, HEIGHT);
	return memcmp(mine, m->shared + out, sizeof(mine)) ? 0 : took;
}
