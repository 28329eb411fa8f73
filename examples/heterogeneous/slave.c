/* SPDX-License-Identifier: MIT */
/*
 * A slave: a main task that waits for messages, and an urgent one that runs in an interrupt and to
 * its end. The idle task is what the processor does while the main one waits.
 */
#define TRACER_POINTS "slave_points.h"
#include "tracer/points.h"

#include "board.h"
#include "queue.h"
#include "sobel.h"
#include "tracersync/slave.h"

#define PACKET_LOG2 10
#define PACKETS 64
#define FLUSH_BELLS 4
/* What a word of a talk is thought about. */
#define THOUGHT 500000u

int main(void);

static struct tracer tracer;
static struct tracersync_slave sync;
static struct station *station;
static uint8_t *shared;
static uint32_t id, pool = POOL;
static volatile enum trace_task task;
static struct queue *heard; /* what the other one says */
static uint32_t thought, bells;

/* ---- the clock: wrong by what the card says ---- */

static int64_t rate; /* in 2^-32 */
static uint32_t phase;

#ifdef BOARD_M4
static uint32_t now(void *ctx)
{
	uint32_t ticks = board_ticks();

	(void)ctx;
	return phase + ticks + (uint32_t)((int64_t)ticks * rate >> 32);
}
#else
static uint64_t now(void *ctx)
{
	uint64_t ticks = board_ticks();

	(void)ctx;
	return phase + ticks + (uint64_t)((int64_t)ticks * rate >> 32);
}
#endif

/* ---- interrupts ---- */

static void run(enum trace_task next)
{
	enum trace_task prev = task;

	task = next;
	/* the urgent one interrupts; all others are left when they have nothing more to do */
	trace_task_switch(&tracer, prev, next, next != trace_task_urgent);
}

void bell(void)
{
	if (tracersync_slave_answer(&sync) == TRACERSYNC_TWIN)
		board_die();
	tracer_keep_time(&tracer);
	/* a partly filled packet would be lost when this slave restarts */
	if (++bells % FLUSH_BELLS == 0)
		tracer_flush(&tracer);
	if (queue_waits(&station->urgent))
		board_urgent();
}

static int word_came(void)
{
	return queue_waits(heard);
}

static void think(void)
{
	for (uint32_t i = 0; i < THOUGHT; i++)
		thought = thought * 1664525u + 1013904223u;
}

/* The two speak by turns, until the one who began has had enough. */
static void talk(const struct message *m)
{
	const uint32_t other = m->arg[0] ? id + 1u : id - 1u;
	const board_tick from = board_ticks();
	struct station *s = (struct station *)(void *)(shared + STATION(other));
	struct message word = { .kind = WORD, .frame = m->frame };
	uint16_t words = 0;
	int mine = m->arg[0] != 0;

	heard = &s->link;
	trace_talk_begin(&tracer, m->frame);
	for (;;) {
		if (mine) {
			think();
			word.arg[0] = m->arg[0] && board_ticks() - from >= m->arg[1];
			queue_send(&tracer, &station->link, QUEUE_LINK(id), &word);
			board_ring();
			words++;
			if (word.arg[0])
				break;
		}
		board_wait(word_came);
		queue_receive(&tracer, heard, QUEUE_LINK(other), &word);
		if (word.arg[0])
			break;
		mine = 1;
	}
	trace_talk_end(&tracer, m->frame, words);
}

void urgent(void)
{
	const enum trace_task before = task;
	struct message m;

	run(trace_task_urgent);
	while (queue_receive(&tracer, &station->urgent, QUEUE_URGENT(id), &m))
		talk(&m);
	run(before);
}

/* ---- the main task ---- */

static int message_came(void)
{
	return queue_waits(&station->in);
}

static void give_memory(struct message *m)
{
	uint32_t bytes = (m->arg[0] + 4095u) & ~4095u;

	trace_memory_begin(&tracer, m->arg[0]);
	if (bytes > POOL_END - pool)
		pool = POOL;
	m->arg[0] = pool;
	pool += bytes;
	trace_memory_end(&tracer, m->arg[0]);
}

static void filter(const struct message *m)
{
	trace_filter_begin(&tracer, m->frame, (uint16_t)m->arg[4], (uint16_t)m->arg[5]);
	tracersync_store(&station->at_work, m->frame + 1u);
	sobel(shared + m->arg[1], shared + m->arg[0], m->arg[2], m->arg[3], m->arg[4], m->arg[5]);
	tracersync_store(&station->at_work, 0);
	trace_filter_end(&tracer, m->frame);
}

static void compare(void)
{
	struct compare *c = &station->compare;
	uint32_t answered = tracersync_load(&c->answer), ask;

	while ((ask = tracersync_load(&c->ask)) != UINT32_MAX) {
		uint64_t ticks;

		if (ask == answered)
			continue;
		tracersync_fence();
		ticks = board_ticks();
		tracersync_store(&c->ticks[0], (uint32_t)ticks);
		tracersync_store(&c->ticks[1], (uint32_t)(ticks >> 32));
		tracersync_fence();
		tracersync_store(&c->answer, ask);
		answered = ask;
	}
}

static void die(void)
{
	struct tracer_slot torn;

	tracer_begin(&tracer, 96, trace_id_filter_begin, &torn);
	board_die();
}

static void obey(struct message *m)
{
	switch (m->kind) {
	case MEMORY: give_memory(m); break;
	case FILTER: filter(m); break;
	case COMPARE: compare(); break;
	case RESET: board_reset(); break;
	case DIE: die(); break;
	default: return;
	}
	queue_send(&tracer, &station->out, QUEUE_OUT(id), m);
}

static enum tracer_refusal begin_tracing(void)
{
	const struct tracer_config config = {
#ifdef BOARD_M4
		.platform = { .clock32 = now },
#else
		.platform = { .clock64 = now },
#endif
		.mode = TRACE_STREAM,
		.packet_log2 = PACKET_LOG2,
		.packets = PACKETS,
		.core = (uint16_t)id,
		.rate_hz = BOARD_HZ,
	};

	return tracer_init(&tracer, shared + RING(id), RING_BYTES, &config, &tracer_layout);
}

int main(void)
{
	const volatile struct card *card = board_card();

	shared = board_shared();
	id = card->id;
	if (id >= SLAVES_MAX)
		board_die();
	station = (struct station *)(void *)(shared + STATION(id));
	rate = (int64_t)card->rate_ppb * 4294967296 / 1000000000;
	phase = card->phase;
	/* what was sent to the one before this is not for this one */
	station->in.received = station->in.sent;
	station->urgent.received = station->urgent.sent;
	board_init();
	if (begin_tracing())
		board_die();
	tracersync_slave_init(&sync, &station->sync, (uint16_t)id, &tracer, trace_tracer_sync_send,
			      trace_tracer_sync_receive);
	board_listen();
	for (;;) {
		struct message m;

		board_wait(message_came);
		run(trace_task_main);
		while (queue_receive(&tracer, &station->in, QUEUE_IN(id), &m))
			obey(&m);
		run(trace_task_idle);
	}
}
