/* SPDX-License-Identifier: MIT */
/**
 * A simulated system of nine cores, each with a clock of its own, and what is true of it: a master
 * has an image filtered by eight slaves, several times. The master asks slave0 for memory, sends
 * each slave its part, and collects the answers. Once, on two slaves, a task X of higher priority
 * preempts the filter, and its two instances exchange messages. Include after cmocka.h and
 * test_draw.h.
 */
#ifndef CALLS_WORLD_H
#define CALLS_WORLD_H

#include <coeval/store.h>
#include <coeval/sync.h>

#define WORLD_SLAVES 8
#define WORLD_HZ 10000000u
#define WORLD_MS INT64_C(1000000)

static const char world_match[] = "name: queue\n"
				  "send: { event: msg_send, key: [queue, number] }\n"
				  "receive: { event: msg_recv, key: [queue, number] }\n";

struct calls_world {
	/* the truth */
	unsigned runs, bad_run, a, b; /* the slaves that task X runs on */
	int64_t x_ns;                 /* for how long */
	int64_t process_ns[16];       /* of each run on the master, true time */
	int64_t main_ns[16][WORLD_SLAVES];
	uint64_t spans, messages;
	/* how it is made */
	struct draw d;
	struct cvl_session *s;
	uint64_t number;
	struct world_core {
		struct cvl_writer *w;
		int64_t offset_ns;
		double rate; /* ticks it counts in one of nominal */
		int64_t now; /* true time */
		int task_switch, msg_send, msg_recv;
		int begin[5], end[5];
		uint64_t last_tick;
	} core[WORLD_SLAVES + 1];
};

enum { WORLD_PROCESS, WORLD_RECEIVE, WORLD_MAIN, WORLD_SOBEL, WORLD_ALLOC };

static inline void world_ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

static inline void world_put(struct world_core *k, int64_t ns, int class,
			     const union cvl_store_value *v)
{
	struct cvl_error err;
	double ticks = (double)(ns + k->offset_ns) * k->rate * WORLD_HZ / 1e9;

	k->last_tick = (uint64_t)ticks;
	world_ok(cvl_writer_event(k->w, (struct cvl_tick){ k->last_tick }, class, v, &err), &err);
}

static inline void world_open(struct calls_world *w, unsigned i)
{
	static const char *const names[] = { "process_image", "receive", "main", "sobel_row",
					     "allocate" };
	static const struct cvl_origin origin = { .format = "simulated", .path = "-" };
	const struct cvl_store_field task[] = { { "task", CVL_STORE_STRING },
						{ "blocked", CVL_STORE_U64 } };
	const struct cvl_store_field key[] = { { "queue", CVL_STORE_U64 },
					       { "number", CVL_STORE_U64 } };
	struct world_core *k = &w->core[i];
	struct cvl_error err;
	char name[40];
	const struct cvl_store_desc desc = { .clock = name, .rate_hz = WORLD_HZ };

	snprintf(name, sizeof(name), i ? "slave%u" : "master", i - 1);
	k->offset_ns = i ? (int64_t)draw_below(&w->d, 50000000) : 0;
	k->rate = 1 + (i ? (double)draw_below(&w->d, 100) - 50 : 0) * 1e-6;
	world_ok(cvl_session_add(w->s, &desc, &origin, &k->w, &err), &err);
	k->task_switch = cvl_writer_declare(k->w, "task_switch", task, 2, &err);
	k->msg_send = cvl_writer_declare(k->w, "msg_send", key, 2, &err);
	k->msg_recv = cvl_writer_declare(k->w, "msg_recv", key, 2, &err);
	for (int e = 0; e < 5; e++) {
		snprintf(name, sizeof(name), "%s_begin", names[e]);
		k->begin[e] = cvl_writer_declare(k->w, name, NULL, 0, &err);
		snprintf(name, sizeof(name), "%s_end", names[e]);
		k->end[e] = cvl_writer_declare(k->w, name, NULL, 0, &err);
	}
}

static inline void world_begin(struct calls_world *w, struct world_core *k, int what)
{
	world_put(k, k->now, k->begin[what], NULL);
	w->spans++;
}

static inline void world_end(struct world_core *k, int what)
{
	world_put(k, k->now, k->end[what], NULL);
}

/* @blocked: the one before could not go on. */
static inline void world_switch(struct world_core *k, const char *task, bool blocked)
{
	const union cvl_store_value v[] = { { .s = task }, { .u = blocked } };

	world_put(k, k->now, k->task_switch, v);
}

struct world_mail {
	uint64_t queue, number;
	int64_t arrives;
};

static inline struct world_mail world_send(struct calls_world *w, struct world_core *k,
					   unsigned queue)
{
	struct world_mail m = { queue, w->number++, 0 };
	const union cvl_store_value v[] = { { .u = m.queue }, { .u = m.number } };

	world_put(k, k->now, k->msg_send, v);
	m.arrives = k->now + 5000 + (int64_t)draw_below(&w->d, 20000);
	w->messages++;
	return m;
}

/* Wait for @m, or take it. */
static inline void world_get(struct world_core *k, const struct world_mail *m)
{
	const union cvl_store_value v[] = { { .u = m->queue }, { .u = m->number } };

	if (k->now < m->arrives)
		k->now = m->arrives;
	world_put(k, k->now, k->msg_recv, v);
}

/*
 * Task X on both slaves, exchanging messages until its time is over: it begins when @from says, on
 * either.
 */
static inline void world_preempt(struct calls_world *w, const int64_t from[2])
{
	struct world_core *a = &w->core[1 + w->a], *b = &w->core[1 + w->b];
	struct world_mail m;

	a->now = from[0];
	b->now = from[1];
	world_switch(a, "X", false);
	world_switch(b, "X", false);
	for (int i = 0; i < 5; i++) {
		a->now += w->x_ns / 12;
		m = world_send(w, a, 100 + w->b);
		world_get(b, &m);
		b->now += w->x_ns / 16;
		m = world_send(w, b, 100 + w->a);
		world_get(a, &m);
	}
	a->now = from[0] + w->x_ns;
	b->now = from[1] + w->x_ns;
	world_switch(a, "worker", true);
	world_switch(b, "worker", true);
}

/* The filter's rows on one slave; where task X comes in, its row is cut in two. */
static inline void world_rows(struct calls_world *w, unsigned slave, int from, int to, int64_t row)
{
	struct world_core *k = &w->core[1 + slave];

	for (int r = from; r < to; r++) {
		world_begin(w, k, WORLD_SOBEL);
		k->now += row + (int64_t)draw_below(&w->d, 200000);
		world_end(k, WORLD_SOBEL);
	}
}

static inline void world_run(struct calls_world *w, unsigned run)
{
	struct world_core *m = &w->core[0];
	struct world_mail mail, back[WORLD_SLAVES];
	int64_t began, row = 11800000, cut[2] = { 0, 0 };

	m->now += 20 * WORLD_MS;
	began = m->now;
	world_begin(w, m, WORLD_PROCESS);
	mail = world_send(w, m, 0);
	if (w->core[1].now < mail.arrives)
		w->core[1].now = mail.arrives;
	world_switch(&w->core[1], "worker", true);
	w->core[1].now += 2000;
	world_get(&w->core[1], &mail);
	world_begin(w, &w->core[1], WORLD_ALLOC);
	w->core[1].now += 2 * WORLD_MS;
	world_end(&w->core[1], WORLD_ALLOC);
	mail = world_send(w, &w->core[1], 50);
	world_switch(&w->core[1], "idle", true);
	m->now += 10000;
	world_begin(w, m, WORLD_RECEIVE);
	world_get(m, &mail);
	world_end(m, WORLD_RECEIVE);
	for (unsigned i = 0; i < WORLD_SLAVES; i++) {
		struct world_core *k = &w->core[1 + i];

		m->now += 50000;
		mail = world_send(w, m, i);
		if (k->now < mail.arrives)
			k->now = mail.arrives;
		world_switch(k, "worker", true);
		k->now += 2000;
		world_get(k, &mail);
		w->main_ns[run][i] = k->now;
		world_begin(w, k, WORLD_MAIN);
		world_rows(w, i, 0, 3, row);
		if (run == w->bad_run && (i == w->a || i == w->b)) {
			world_begin(w, k, WORLD_SOBEL);
			k->now += row / 2;
			cut[i == w->b] = k->now;
		}
	}
	if (run == w->bad_run)
		world_preempt(w, cut);
	for (unsigned i = 0; i < WORLD_SLAVES; i++) {
		struct world_core *k = &w->core[1 + i];
		bool bad = run == w->bad_run && (i == w->a || i == w->b);

		if (bad) {
			k->now += row / 2;
			world_end(k, WORLD_SOBEL);
		}
		world_rows(w, i, bad ? 4 : 3, 8, row);
		world_end(k, WORLD_MAIN);
		w->main_ns[run][i] = k->now - w->main_ns[run][i];
		k->now += 1000;
		back[i] = world_send(w, k, 51 + i);
		k->now += 3000;
		world_switch(k, "idle", true);
	}
	for (unsigned i = 0; i < WORLD_SLAVES; i++) {
		m->now += 20000;
		world_begin(w, m, WORLD_RECEIVE);
		world_get(m, &back[i]);
		world_end(m, WORLD_RECEIVE);
	}
	m->now += 1000000;
	world_end(m, WORLD_PROCESS);
	w->process_ns[run] = m->now - began;
}

/** Write the session @path, and tie its clocks by the messages; @rules gets the matching rule. */
static inline void calls_world_make(struct calls_world *w, uint64_t test, const char *path,
				    const char *rules)
{
	const struct cvl_sync_opts opts = { .match = &rules, .n_match = 1, .reference = "master" };
	struct cvl_sync *sync;
	struct cvl_error err;
	FILE *f = fopen(rules, "w");

	*w = (struct calls_world){ .d = draw_begin(test) };
	w->runs = 4;
	w->bad_run = 1 + (unsigned)draw_below(&w->d, w->runs - 1);
	w->a = (unsigned)draw_below(&w->d, WORLD_SLAVES);
	w->b = (w->a + 1 + (unsigned)draw_below(&w->d, WORLD_SLAVES - 1)) % WORLD_SLAVES;
	w->x_ns = (150 + (int64_t)draw_below(&w->d, 200)) * WORLD_MS;
	assert_non_null(f);
	fputs(world_match, f);
	fclose(f);
	world_ok(cvl_session_create(&w->s, path, &err), &err);
	for (unsigned i = 0; i <= WORLD_SLAVES; i++)
		world_open(w, i);
	for (unsigned i = 1; i <= WORLD_SLAVES; i++) {
		w->core[i].now = 1000000;
		world_switch(&w->core[i], "idle", true);
	}
	for (unsigned run = 0; run < w->runs; run++)
		world_run(w, run);
	for (unsigned i = 0; i <= WORLD_SLAVES; i++)
		world_ok(cvl_session_finish(w->s, w->core[i].w,
					    (struct cvl_tick){ w->core[i].last_tick }, &err),
			 &err);
	world_ok(cvl_sync_run(&sync, w->s, &opts, &err), &err);
	world_ok(cvl_sync_save(sync, w->s, &err), &err);
	cvl_sync_free(sync);
	cvl_session_close(w->s);
}

#endif
