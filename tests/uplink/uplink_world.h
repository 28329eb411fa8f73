/* SPDX-License-Identifier: MIT */
/** Nodes that write, senders, a carrier that misbehaves, and a collector, on a clock of their own. */
#ifndef UPLINK_WORLD_H
#define UPLINK_WORLD_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <coeval/files.h>
#include <coeval/session.h>

#include "uplink/collector.h"
#include "uplink/loop.h"
#include "uplink/outgoing.h"
#include "uplink/sender.h"

#include "test_draw.h"
#include "test_scratch.h"

#define NODES_MAX 8

struct world_node {
	char name[32], path[400];
	struct cvl_session *session;
	struct cvl_writer *writer; /* NULL: its capture is dead, or has ended */
	struct outgoing *out;
	struct carrier *carrier;
	struct sender *sender; /* NULL: it is dead */
	uint64_t tick;
	uint64_t durable; /* bytes of its stream that were handed out by then */
	char *written;    /* all that was ever in its stream, while the world keeps less */
	size_t n_written;
	uint64_t freed, lost; /* as its senders said */
	bool ended;
};

struct world {
	struct draw draw;
	struct loop *loop;
	struct world_node node[NODES_MAX]; /* named n01, n02, ... */
	size_t n;
	char path[300];
	struct spool *spool; /* NULL: it is dead */
	struct carrier *carrier;
	struct collector *collector;
	int64_t now;
	unsigned told; /* problems */
	char last[CVL_ERROR_TEXT];
	struct cvl_report report;
	uint64_t quota, keep;
};

static void world_tell(void *ctx, const struct cvl_error *problem)
{
	struct world *w = ctx;

	w->told++;
	memcpy(w->last, problem->text, sizeof(w->last));
}

static const struct cvl_store_desc *node_desc(const struct world_node *n)
{
	static const char *const lines[] = { "A", "B" };
	static struct cvl_store_desc d;

	d = (struct cvl_store_desc){
		.clock = n->name, .rate_hz = 1000000, .lines = lines, .n_lines = 2
	};
	return &d;
}

static void start_capture(struct world_node *n)
{
	struct cvl_error err;
	struct cvl_tick last;

	assert_int_equal(cvl_session_create(&n->session, n->path, &err), 0);
	if (!cvl_session_clocks(n->session))
		assert_int_equal(cvl_session_add(n->session, node_desc(n),
						 &(struct cvl_origin){ "pipe", "-", NULL },
						 &n->writer, &err),
				 0);
	else
		assert_int_equal(
			cvl_session_resume(n->session, 0, node_desc(n), &n->writer, &last, &err),
			0);
}

static void start_sender(struct world *w, struct world_node *n)
{
	struct cvl_error err;
	const struct sender_opts opts = {
		.path = n->path, .seed = draw_u64(&w->draw), .keep = w->keep, .report = &w->report
	};

	assert_int_equal(outgoing_open(&n->out, n->path, &w->report, &err), 0);
	n->carrier = loop_open(w->loop, n->name);
	assert_non_null(n->carrier);
	assert_int_equal(sender_open(&n->sender, n->out, n->carrier, &opts, &err), 0);
}

static void kill_sender(struct world_node *n)
{
	struct sender_state state;

	if (!n->sender)
		return;
	sender_state(n->sender, &state);
	n->freed = state.freed;
	n->lost += state.lost;
	sender_close(n->sender);
	carrier_close(n->carrier);
	outgoing_close(n->out);
	n->sender = NULL;
}

static void kill_capture(struct world_node *n)
{
	if (!n->writer && !n->session)
		return;
	cvl_session_close(n->session); /* abandons its writer */
	n->session = NULL;
	n->writer = NULL;
}

static void start_collector(struct world *w)
{
	struct cvl_error err;
	const struct spool_opts opts = { w->path, w->quota, &w->report };

	if (spool_open(&w->spool, &opts, &err))
		fail_msg("%s", err.text);
	w->carrier = loop_open(w->loop, NULL);
	assert_int_equal(collector_open(&w->collector, w->spool, w->carrier,
					&(struct collector_opts){ .report = &w->report }, &err),
			 0);
}

static void kill_collector(struct world *w)
{
	if (!w->spool)
		return;
	collector_abandon(w->collector);
	carrier_close(w->carrier);
	spool_abandon(w->spool);
	w->spool = NULL;
}

static void world_begin(struct world *w, const char *name, size_t nodes, uint64_t seed,
			const struct loop_faults *faults)
{
	char folder[260];

	*w = (struct world){ .draw = draw_begin(seed), .n = nodes };
	w->report = (struct cvl_report){ world_tell, w };
	w->loop = loop_new(draw_u64(&w->draw), faults);
	assert_non_null(w->loop);
	snprintf(folder, sizeof(folder), "%s/%s", scratch, name);
	assert_int_equal(mkdir(folder, 0777), 0);
	snprintf(w->path, sizeof(w->path), "%s/all", folder);
	for (size_t i = 0; i < nodes; i++) {
		struct world_node *n = &w->node[i];

		snprintf(n->name, sizeof(n->name), "n%02zu", i + 1);
		snprintf(n->path, sizeof(n->path), "%s/n%02zu", folder, i + 1);
		start_capture(n);
		start_sender(w, n);
	}
	start_collector(w);
}

static void world_end(struct world *w)
{
	for (size_t i = 0; i < w->n; i++) {
		kill_sender(&w->node[i]);
		kill_capture(&w->node[i]);
		free(w->node[i].written);
	}
	if (w->spool) {
		collector_close(w->collector);
		carrier_close(w->carrier);
		spool_close(w->spool);
	}
	loop_free(w->loop);
}

static char *stream_of(const char *session, const char *clock, size_t *n)
{
	char path[600];
	struct cvl_error err;
	char *bytes;

	snprintf(path, sizeof(path), "%s/traces/%s/stream", session, clock);
	bytes = cvl_read_whole(path, 1 << 30, n, &err);
	if (!bytes)
		fail_msg("%s", err.text);
	return bytes;
}

/* What came to its stream is remembered: soon it may be freed. */
static void remember(struct world_node *n)
{
	size_t size;
	char *now = stream_of(n->path, n->name, &size);

	assert_true(size >= n->n_written);
	n->written = realloc(n->written, size);
	assert_non_null(n->written);
	memcpy(n->written + n->n_written, now + n->n_written, size - n->n_written);
	n->n_written = size;
	free(now);
}

/* Some edges, and their packet is closed. */
static void write_some(struct world *w, struct world_node *n, size_t edges)
{
	struct cvl_error err;

	for (size_t i = 0; i < edges; i++) {
		const struct cvl_tick tick = { n->tick += 1 + draw_below(&w->draw, 500) };
		const uint64_t levels = draw_below(&w->draw, 4);

		assert_int_equal(cvl_writer_edges(n->writer, &tick, &levels, 1, &err), 0);
	}
	assert_int_equal(cvl_writer_flush(n->writer, &err), 0);
	if (w->keep)
		remember(n);
}

static void end_capture(struct world_node *n)
{
	struct cvl_error err;

	assert_int_equal(
		cvl_session_finish(n->session, n->writer, (struct cvl_tick){ n->tick }, &err), 0);
	n->writer = NULL;
	cvl_session_close(n->session);
	n->session = NULL;
	n->ended = true;
	if (n->written)
		remember(n);
}

/* A while of all that live. */
static void step(struct world *w, int ms)
{
	struct cvl_error err;
	int wait;

	w->now += ms;
	for (size_t i = 0; i < w->n; i++) {
		struct world_node *n = &w->node[i];

		if (!n->sender)
			continue;
		if (outgoing_look(n->out, true, &err) ||
		    sender_work(n->sender, w->now, &wait, &err))
			fail_msg("%s: %s", n->name, err.text);
		if (outgoing_clocks(n->out))
			n->durable = outgoing_clock(n->out, 0)->end;
	}
	if (w->spool && collector_work(w->collector, w->now, &wait, &err))
		fail_msg("collector: %s", err.text);
}

/* Until everything has arrived, without faults any more. */
static void settle(struct world *w)
{
	struct collector_state state = { 0 };
	struct cvl_error err;

	loop_set(w->loop, &(struct loop_faults){ 0 });
	for (size_t i = 0; i < w->n; i++) {
		if (!w->node[i].sender)
			start_sender(w, &w->node[i]);
		if (w->node[i].writer)
			end_capture(&w->node[i]);
	}
	if (!w->spool)
		start_collector(w);
	for (int i = 0; i < 3000 && !state.ended; i++) {
		step(w, 50);
		collector_state(w->collector, &state);
	}
	assert_true(state.ended);
	if (spool_sync(w->spool, &err))
		fail_msg("%s", err.text);
}

static void assert_same_streams(const struct world *w, const struct world_node *n)
{
	size_t here, there;
	char *a = stream_of(n->path, n->name, &here), *b = stream_of(w->path, n->name, &there);

	assert_int_equal(here, there);
	assert_memory_equal(a, b, here);
	free(a);
	free(b);
}

#endif
