/* SPDX-License-Identifier: MIT */
/*
 * The master: a Linux process that has slaves filter images, and exchanges with them all the while
 * so that their clocks can be tied.
 *
 *   master DIRECTORY SLAVES [frames=6] [busy=4] [rate=20] [reset=SLAVE] [die=SLAVE]
 *
 * In the directory are the memory that all share (shared), the master's ring (ring) and the sockets
 * of the bells. What is known of the slaves' clocks is printed as lines "truth SLAVE BOOT TICKS
 * EARLY LATE".
 */
#include "master.h"

#include "link.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define MASTER_RING_BYTES 0x80000u
#define START_NS 20000000000u
#define LATE_NS 3000000000u /* a slave after the others */

#define PATIENCE_NS 2000000000u
#define COMPARE_NS 1500000000u
#define SILENT_NS 1000000000u /* who says nothing for so long is not there */

/* ---- what tracersync asks ---- */

static uint64_t now(void *ctx)
{
	(void)ctx;
	return link_now();
}

static void ring(void *ctx, unsigned slave)
{
	link_ring(((struct master *)ctx)->slave[slave].bell);
}

/*
 * Short round trips come from looking without a pause; a slave that is busy may need the processor.
 */
static void pause_between(void *ctx, uint64_t waited_ns)
{
	(void)ctx;
	if (waited_ns > 300000)
		link_sleep(50000);
	else if (waited_ns > 100000)
		sched_yield();
}

static void tell(void *ctx, unsigned slave, enum tracersync_news news)
{
	(void)ctx;
	if (news != TRACERSYNC_TIMEOUT)
		fprintf(stderr, "slave %u: %s\n", slave, tracersync_news_text(news));
}

/* The synchronisation daemon: a thread that shares the master's ring. */
static void *tie(void *ctx)
{
	struct master *m = ctx;

	while (!m->done) {
		uint64_t next = tracersync_master_work(&m->sync);

		link_sleep(next < 10000000 ? next : 10000000);
	}
	return NULL;
}

/* ---- messages ---- */

static void put(struct master *m, unsigned to, struct queue *q, uint16_t number,
		struct message *message)
{
	if (!queue_send(&m->tracer, q, number, message)) {
		fprintf(stderr, "slave %u: its queue is full\n", to);
		m->slave[to].is_lost = 1;
	}
	link_ring(m->slave[to].bell);
}

void master_send(struct master *m, unsigned to, struct message *message)
{
	put(m, to, &m->slave[to].station->in, QUEUE_IN(to), message);
}

void master_interrupt(struct master *m, unsigned to, struct message *message)
{
	put(m, to, &m->slave[to].station->urgent, QUEUE_URGENT(to), message);
}

int master_wait(struct master *m, enum message_kind kind, struct message *answer,
		uint64_t patience_ns)
{
	const uint64_t from = link_now();

	while (link_now() - from < patience_ns) {
		for (unsigned i = 0; i < m->slaves; i++)
			if (queue_receive(&m->tracer, &m->slave[i].station->out, QUEUE_OUT(i),
					  answer) &&
			    answer->kind == kind)
				return (int)i;
		link_sleep(100000);
	}
	return -1;
}

/* ---- the truth ---- */

int master_compare(struct master *m, unsigned slave, struct compared *c)
{
	struct compare *a = &m->slave[slave].station->compare;
	struct message q = { .kind = COMPARE };
	uint64_t from;
	uint32_t ask = tracersync_load(&a->answer);

	*c = (struct compared){ .late_ns = UINT64_MAX };
	tracersync_store(&a->ask, ask);
	master_send(m, slave, &q);
	from = link_now();
	while (c->late_ns - c->early_ns > 1000 &&
	       link_now() - from < (c->early_ns ? COMPARE_NS : SILENT_NS)) {
		uint64_t early = link_now(), late;

		tracersync_fence();
		tracersync_store(&a->ask, ++ask);
		do {
			tracersync_fence();
			late = link_now();
		} while (tracersync_load(&a->answer) != ask && late - early < SILENT_NS);
		tracersync_fence();
		late = link_now();
		if (tracersync_load(&a->answer) == ask && late - early < c->late_ns - c->early_ns)
			*c = (struct compared){ (uint64_t)a->ticks[1] << 32 | a->ticks[0], early,
						late };
	}
	tracersync_store(&a->ask, UINT32_MAX);
	while (c->early_ns) {
		int who = master_wait(m, COMPARE, &q, PATIENCE_NS);

		if (who < 0 || who == (int)slave)
			return who >= 0;
	}
	return 0;
}

static void print_truth(struct master *m)
{
	for (unsigned i = 0; i < m->slaves; i++) {
		struct compared c;

		if (!m->slave[i].is_lost && master_compare(m, i, &c))
			printf("truth %u %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", i,
			       m->peer[i].boot, c.ticks, c.early_ns, c.late_ns);
		link_sleep(20000000);
	}
	fflush(stdout);
}

/* ---- beginning ---- */

static uint64_t tracer_clock(void *ctx)
{
	(void)ctx;
	return link_now();
}

static void begin_tracing(struct master *m, const char *directory)
{
	const struct tracer_config config = { .platform = { .clock64 = tracer_clock },
					      .mode = TRACE_STREAM,
					      .packet_log2 = 12,
					      .packets = 64,
					      .rate_hz = 1000000000 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/ring", directory);
	if (tracer_init(&m->tracer, link_map(path, MASTER_RING_BYTES), MASTER_RING_BYTES, &config,
			&tracer_layout)) {
		fprintf(stderr, "the tracer was refused its ring\n");
		exit(4);
	}
}

/* Events stay in the ring until they are read; wait for that. */
static void wait_for_drain(struct master *m)
{
	const uint64_t from = link_now();

	trace_hello(&m->tracer);
	tracer_flush(&m->tracer);
	while (!tracersync_load(&m->tracer.ring->consumed)) {
		if (link_now() - from > START_NS) {
			fprintf(stderr,
				"no reader for the traces; start one with coeval capture --driver shm\n");
			exit(4);
		}
		link_sleep(5000000);
	}
}

static int has_begun(const struct master *m, unsigned slave)
{
	return tracersync_load(&m->peer[slave].page->magic) == TRACERSYNC_MAGIC;
}

static void wait_for_slaves(struct master *m)
{
	uint64_t until = link_now() + START_NS;
	unsigned there = 0, before = 0;

	while (there < m->slaves && link_now() < until) {
		link_sleep(5000000);
		there = 0;
		for (unsigned i = 0; i < m->slaves; i++)
			there += has_begun(m, i) != 0;
		if (there > before)
			until = link_now() + LATE_NS;
		before = there;
	}
	for (unsigned i = 0; i < m->slaves; i++) {
		m->slave[i].is_lost = !has_begun(m, i);
		if (m->slave[i].is_lost)
			fprintf(stderr, "slave %u: %s\n", i,
				tracersync_news_text(TRACERSYNC_ABSENT));
	}
}

/* ---- what goes wrong when asked to ---- */

struct plan {
	unsigned frames, busy, rate, reset, die;
};

/* Tell a slave to restart, and wait until it has. */
static void reset_slave(struct master *m, unsigned slave)
{
	struct message q = { .kind = RESET };
	const uint32_t boot = m->peer[slave].boot;
	const uint64_t from = link_now();

	master_send(m, slave, &q);
	while (*(volatile uint32_t *)&m->peer[slave].boot == boot && link_now() - from < START_NS)
		link_sleep(10000000);
	link_sleep(1000000000);
}

static void kill_slave(struct master *m, unsigned slave)
{
	struct message q = { .kind = DIE };

	m->slave[slave].is_lost = 1;
	master_send(m, slave, &q);
	link_sleep(1000000000);
}

/* ---- all of it ---- */

static int work(struct master *m, const struct plan *p)
{
	uint64_t sum = 0, took;
	unsigned bad = 0, quiet = 0;

	link_sleep(200000000);
	print_truth(m);
	for (unsigned i = 0; i < p->frames; i++) {
		int busy = p->busy && i + 1 >= p->busy && quiet;

		if (i == p->frames / 2 && p->reset < m->slaves)
			reset_slave(m, p->reset);
		if (i == p->frames / 2 && p->die < m->slaves)
			kill_slave(m, p->die);
		took = master_frame(m, (uint16_t)i, busy ? 5 * sum / quiet / 2 : 0);
		printf("frame %u %.1f ms%s%s\n", i, (double)took / 1e6,
		       busy ? ", slaves 1 and 2 talk" : "", took ? "" : " WRONG");
		bad += !took;
		quiet += !busy;
		sum += busy ? 0 : took;
		link_sleep(100000000);
	}
	print_truth(m);
	link_sleep(200000000);
	return bad ? 1 : 0;
}

static int setting(const char *text, const char *name, unsigned *value)
{
	size_t n = strlen(name);

	if (strncmp(text, name, n) != 0 || text[n] != '=')
		return 0;
	*value = (unsigned)strtoul(text + n + 1, NULL, 10);
	return 1;
}

int main(int argc, char **argv)
{
	static struct master m;
	struct plan p = { .frames = 6, .busy = 5, .rate = 20, .reset = -1u, .die = -1u };
	char path[4096];
	pthread_t daemon;
	int bad;

	m.slaves = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	for (int i = 3; i < argc; i++)
		if (!setting(argv[i], "frames", &p.frames) && !setting(argv[i], "busy", &p.busy) &&
		    !setting(argv[i], "rate", &p.rate) && !setting(argv[i], "reset", &p.reset) &&
		    !setting(argv[i], "die", &p.die))
			m.slaves = 0;
	if (!m.slaves || m.slaves > SLAVES_MAX || !p.rate) {
		fprintf(stderr,
			"usage: %s DIRECTORY SLAVES [frames=6] [busy=5] [rate=20] "
			"[reset=SLAVE] [die=SLAVE]\n",
			argv[0]);
		return 2;
	}
	snprintf(path, sizeof(path), "%s/shared", argv[1]);
	m.shared = link_map(path, SHARED_BYTES);
	begin_tracing(&m, argv[1]);
	for (unsigned i = 0; i < m.slaves; i++) {
		m.slave[i].station = (struct station *)(void *)(m.shared + STATION(i));
		m.slave[i].bell = link_bell(argv[1], i);
		m.peer[i] = (struct tracersync_peer){ .page = &m.slave[i].station->sync,
						      .id = (uint16_t)i };
	}
	m.sync = (struct tracersync_master){ .peer = m.peer,
					     .peers = m.slaves,
					     .tracer = &m.tracer,
					     .send = trace_tracer_sync_send,
					     .receive = trace_tracer_sync_receive,
					     .now_ns = now,
					     .interrupt = ring,
					     .wait = pause_between,
					     .tell = tell,
					     .ctx = &m,
					     .period_ns = 1000000000u / p.rate,
					     .timeout_ns = 200000000,
					     .patience = 5 };
	tracersync_master_init(&m.sync);
	wait_for_slaves(&m);
	wait_for_drain(&m);
	if (pthread_create(&daemon, NULL, tie, &m)) {
		fprintf(stderr, "no thread for the exchanges\n");
		return 4;
	}
	bad = work(&m, &p);
	m.done = 1;
	pthread_join(daemon, NULL);
	for (unsigned i = 0; i < m.slaves; i++)
		printf("exchanges %u %" PRIu64 "\n", i, m.peer[i].done);
	return bad;
}
