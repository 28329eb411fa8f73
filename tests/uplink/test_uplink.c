/* SPDX-License-Identifier: MIT */
/* What two ends of an uplink promise, over a carrier that does not. */
#include "uplink/protocol.h"
#include "uplink_world.h"

#include <coeval/verify.h>

#include "uplink/packet.h"

static const struct loop_faults bad = {
	.lose = 0.02,
	.refuse = 0.02,
	.silent = 0.02,
	.repeat = 0.05,
	.reorder = 0.05,
	.deaf = 0.1,
	.cut = 0.002,
	.forget = 0.002,
	.damage = 0.01,
};

static void assert_sound(const char *session)
{
	struct cvl_verify *v = NULL;
	struct cvl_error err;

	const struct cvl_verify_opts opts = { 0 };

	if (cvl_verify_session(&v, session, &opts, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < v->n; i++)
		if (v->part[i].problems)
			fail_msg("%s: %s", session, v->part[i].problem[0]);
	cvl_verify_free(v);
}

/* ---- what arrives ---- */

static void everything_arrives_as_it_was(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, "plain", 3, 1, &(struct loop_faults){ 0 });
	for (int i = 0; i < 100; i++) {
		for (size_t k = 0; k < w.n; k++)
			write_some(&w, &w.node[k], 1 + draw_below(&w.draw, 200));
		step(&w, 20);
	}
	settle(&w);
	for (size_t k = 0; k < w.n; k++)
		assert_same_streams(&w, &w.node[k]);
	assert_int_equal(w.told, 0);
	world_end(&w);
	assert_sound(w.path);
}

/* Somebody writes, and anybody may crash: the collector once in @often steps, for some @away of them. */
static void stumble(struct world *w, unsigned often, unsigned away)
{
	struct world_node *n = &w->node[draw_below(&w->draw, w->n)];

	if (n->writer && draw_below(&w->draw, 3))
		write_some(w, n, 1 + draw_below(&w->draw, 100));
	if (!draw_below(&w->draw, 40))
		kill_sender(n);
	else if (!n->sender)
		start_sender(w, n);
	if (!draw_below(&w->draw, 80)) {
		kill_capture(n);
		start_capture(n);
	}
	if (!draw_below(&w->draw, often))
		kill_collector(w);
	else if (!w->spool && !draw_below(&w->draw, away))
		start_collector(w);
	step(w, 1 + (int)draw_below(&w->draw, 100));
}

/*
 * Loss, repetition, disorder, damage, crashes of either side at any step, and of the carrier: what the
 * collector has is what the nodes have, byte for byte.
 */
static void nothing_is_lost_or_stored_twice(void **state)
{
	const unsigned rounds = tier(2, 5, 100), steps = tier(700, 1500, 2500);

	(void)state;
	for (unsigned round = 0; round < rounds; round++) {
		struct world w;
		char name[32];

		snprintf(name, sizeof(name), "faults%u", round);
		world_begin(&w, name, 4, 100 + round, &bad);
		for (unsigned i = 0; i < steps; i++)
			stumble(&w, 30, 1);
		settle(&w);
		for (size_t k = 0; k < w.n; k++)
			assert_same_streams(&w, &w.node[k]);
		world_end(&w);
		assert_sound(w.path);
	}
}

/* ---- what is kept ---- */

/* Whether a stream is as it was written, but for packets that stand for freed ones. Returns their bytes. */
static uint64_t gone_from(const char *session, const struct world_node *n)
{
	uint64_t gone = 0, at = 0;
	struct packet p;
	size_t size;
	char *now = stream_of(session, n->name, &size);

	assert_int_equal(size, n->n_written);
	for (; at < size; at += p.bytes) {
		assert_int_equal(packet_read(PACKET_OURS, now + at, size - at, &p), 1);
		assert_true(p.bytes <= size - at);
		if (p.here == p.bytes)
			assert_memory_equal(now + at, n->written + at, p.bytes);
		else
			gone += p.bytes;
	}
	free(now);
	return gone;
}

static void what_is_stored_is_freed(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, "keep", 2, 9, &(struct loop_faults){ 0 });
	for (size_t k = 0; k < w.n; k++)
		kill_sender(&w.node[k]);
	w.keep = 100000;
	for (size_t k = 0; k < w.n; k++)
		start_sender(&w, &w.node[k]);
	for (int i = 0; i < 200; i++) {
		for (size_t k = 0; k < w.n; k++)
			write_some(&w, &w.node[k], 400);
		if (i % 50 == 25) { /* it goes on after what was freed */
			kill_capture(&w.node[0]);
			start_capture(&w.node[0]);
		}
		step(&w, 20);
		step(&w, 20);
	}
	settle(&w);
	for (size_t k = 0; k < w.n; k++) {
		const uint64_t gone = gone_from(w.node[k].path, &w.node[k]);

		assert_int_equal(gone_from(w.path, &w.node[k]), 0);
		assert_in_range(w.node[k].n_written - gone, 1, w.keep);
		assert_true(w.node[k].n_written > 4 * w.keep);
		assert_sound(w.node[k].path);
	}
	assert_int_equal(w.told, 0);
	world_end(&w);
	assert_int_equal(w.node[0].lost + w.node[1].lost, 0);
	assert_sound(w.path);
}

/* Packets go that somebody is about to read. */
static void who_reads_meanwhile_sees_a_gap(void **state)
{
	struct cvl_stream_opts opts = { .batch = 100 };
	struct cvl_report report;
	struct cvl_trace *trace;
	struct cvl_stream *stream;
	struct cvl_batch batch;
	struct cvl_error err;
	unsigned gaps = 0, after = 0;
	char path[500];
	struct world w;
	int rc;

	(void)state;
	world_begin(&w, "meanwhile", 1, 10, &(struct loop_faults){ 0 });
	for (int i = 0; i < 50; i++)
		write_some(&w, &w.node[0], 100);
	report = w.report;
	opts.report = &report;
	snprintf(path, sizeof(path), "%s/traces/%s", w.node[0].path, w.node[0].name);
	assert_int_equal(cvl_trace_open(&trace, path, NULL, &err), 0);
	assert_int_equal(cvl_stream_open(&stream, trace, 0, &opts, &err), 0);
	assert_int_equal(cvl_stream_next(stream, &batch, &err), 1);
	assert_int_equal(outgoing_look(w.node[0].out, true, &err), 0);
	assert_true(outgoing_free(w.node[0].out, 0, UINT64_MAX, 15000, &err) > 0);
	while ((rc = cvl_stream_next(stream, &batch, &err)) > 0)
		for (size_t i = 0; i < batch.n; i++) {
			gaps += batch.kind[i] == CVL_GAP;
			after += gaps && batch.kind[i] == CVL_EDGE;
			if (batch.kind[i] == CVL_GAP)
				assert_int_equal(batch.cls[i], CVL_GAP_FREED);
		}
	assert_int_equal(rc, 0);
	assert_int_equal(gaps, 1);
	assert_true(after > 100);
	assert_int_equal(w.told, 0);
	cvl_stream_close(stream);
	cvl_trace_close(trace);
	world_end(&w);
}

/* With all faults, and a collector that is away for long: what is not there is a gap on both sides, and was told. */
static void what_is_freed_unstored_is_a_gap(void **state)
{
	const unsigned rounds = tier(2, 5, 100);
	uint64_t all_gone = 0;

	(void)state;
	for (unsigned round = 0; round < rounds; round++) {
		uint64_t gone = 0, lost = 0;
		struct world w;
		char name[32];

		snprintf(name, sizeof(name), "gaps%u", round);
		world_begin(&w, name, 3, 300 + round, &bad);
		for (size_t k = 0; k < w.n; k++)
			kill_sender(&w.node[k]);
		w.keep = 5000;
		for (unsigned i = 0; i < tier(700, 1500, 2500); i++)
			stumble(&w, 60, 30);
		settle(&w);
		for (size_t k = 0; k < w.n; k++) {
			gone_from(w.node[k].path, &w.node[k]);
			gone += gone_from(w.path, &w.node[k]);
			assert_sound(w.node[k].path);
		}
		world_end(&w);
		for (size_t k = 0; k < w.n; k++)
			lost += w.node[k].lost;
		assert_true(gone <= lost);
		all_gone += gone;
		assert_sound(w.path);
	}
	assert_true(all_gone > 0);
}

/* ---- traps, each once met ---- */

/* The carrier has no room, and nobody makes any: how often is it tried? */
static void a_full_carrier_is_not_stormed(void **state)
{
	struct sender_state s;
	struct world w;

	(void)state;
	world_begin(&w, "storm", 1, 2, &(struct loop_faults){ 0 });
	for (int i = 0; i < 20; i++) {
		write_some(&w, &w.node[0], 10);
		step(&w, 50);
	}
	loop_set(w.loop, &(struct loop_faults){ .bytes_max = 1 });
	for (int i = 0; i < 3000; i++) { /* 30 s */
		if (i % 10 == 0)
			write_some(&w, &w.node[0], 50);
		step(&w, 10);
	}
	sender_state(w.node[0].sender, &s);
	assert_in_range(s.refused, 5, 70);
	assert_non_null(strstr(w.last, "no room"));
	settle(&w);
	assert_same_streams(&w, &w.node[0]);
	world_end(&w);
}

/* Whoever was away long finds a full carrier, and it is emptied though nothing comes. */
static void a_full_carrier_is_emptied(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, "full", 2, 3, &(struct loop_faults){ .bytes_max = 600000 });
	for (int i = 0; i < 40; i++) {
		for (size_t k = 0; k < w.n; k++)
			write_some(&w, &w.node[k], 10);
		step(&w, 50);
	}
	kill_collector(&w);
	for (int i = 0; i < 200; i++) {
		for (size_t k = 0; k < w.n; k++)
			write_some(&w, &w.node[k], 3000);
		step(&w, 50);
	}
	assert_true(loop_held(w.loop) > 0);
	start_collector(&w);
	for (int i = 0; i < 400; i++)
		step(&w, 50);
	assert_int_equal(loop_held(w.loop), 0);
	settle(&w);
	for (size_t k = 0; k < w.n; k++)
		assert_same_streams(&w, &w.node[k]);
	world_end(&w);
}

/* Its numbers go back, and what was confirmed is gone. */
static void numbers_of_the_carrier_may_go_back(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, "back", 3, 4, &(struct loop_faults){ .forget = 0.1 });
	for (int i = 0; i < 500; i++) {
		write_some(&w, &w.node[draw_below(&w.draw, w.n)], 50);
		if (i % 100 == 50)
			kill_collector(&w);
		if (i % 100 == 90)
			start_collector(&w);
		step(&w, 30);
	}
	settle(&w);
	for (size_t k = 0; k < w.n; k++)
		assert_same_streams(&w, &w.node[k]);
	world_end(&w);
}

static void cut_stream(const struct world_node *n, uint64_t size)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/traces/%s/stream", n->path, n->name);
	assert_int_equal(truncate(path, (off_t)size), 0);
}

/* What a node's machine loses with its power was never sent. */
static void what_is_not_durable_does_not_leave(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, "power", 1, 5, &(struct loop_faults){ 0 });
	for (int k = 0; k < 20; k++) {
		struct world_node *n = &w.node[0];

		for (int i = 0; i < 20; i++) {
			write_some(&w, n, 100);
			step(&w, 20);
		}
		for (uint64_t more = draw_below(&w.draw, 3); more--;)
			write_some(&w, n, 100); /* not handed out yet */
		kill_sender(n);
		kill_capture(n);
		cut_stream(n, n->durable + draw_below(&w.draw, 50));
		start_capture(n);
		start_sender(&w, n);
	}
	settle(&w);
	assert_same_streams(&w, &w.node[0]);
	assert_int_equal(spool_traces(w.spool), 1);
	assert_int_equal(spool_trace(w.spool, 0)->conflicts, 0);
	world_end(&w);
}

/* A disk that lies loses what it said it had; the numbers come again with other packets. */
static void packets_that_contradict_stored_ones_are_kept_apart(void **state)
{
	for (unsigned late = 0; late < 2; late++) {
		struct world w;
		char name[16], *all, *first, *second;
		size_t n_all, n_first, n_second;
		struct world_node *n;
		uint64_t before;

		(void)state;
		snprintf(name, sizeof(name), "lies%u", late);
		world_begin(&w, name, 1, 6 + late, &(struct loop_faults){ 0 });
		n = &w.node[0];
		for (int i = 0; i < 20; i++) {
			write_some(&w, n, 100);
			step(&w, 50);
		}
		before = n->durable;
		for (int i = 0; i < 5; i++) {
			write_some(&w, n, 100);
			step(&w, 50);
		}
		kill_sender(n);
		kill_capture(n);
		cut_stream(n, before);
		start_capture(n);
		/* what is sent again begins only when there is more than the collector has, or at once */
		for (int i = 0; i < 20; i++) {
			if (!late && i == 0)
				start_sender(&w, n);
			write_some(&w, n, 120);
			step(&w, 50);
		}
		settle(&w);
		assert_int_equal(spool_traces(w.spool), 2);
		assert_string_equal(spool_trace(w.spool, 1)->name, "n01-2");
		assert_true(w.told > 0);
		/* both are there: what came first, and all that differs */
		all = stream_of(n->path, n->name, &n_all);
		first = stream_of(w.path, "n01", &n_first);
		second = stream_of(w.path, "n01-2", &n_second);
		assert_true(n_first > before);
		assert_memory_equal(all, first, before);
		assert_int_equal(before + n_second, n_all);
		assert_memory_equal(all + before, second, n_second);
		free(all);
		free(first);
		free(second);
		world_end(&w);
	}
}

/* A collector's machine loses what it had not synced, and has told nobody that it has it. */
static void what_is_told_is_durable(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, "collector-power", 2, 8, &(struct loop_faults){ 0 });
	for (int k = 0; k < 20; k++) {
		uint64_t synced[2] = { 0 };

		for (int i = 0; i < 20; i++) {
			for (size_t m = 0; m < w.n; m++)
				write_some(&w, &w.node[m], 100);
			step(&w, 10);
		}
		for (size_t m = 0; m < spool_traces(w.spool); m++)
			synced[m] = spool_trace(w.spool, m)->synced;
		kill_collector(&w);
		for (size_t m = 0; m < w.n; m++) {
			char path[600];
			struct stat st;
			uint64_t torn;

			snprintf(path, sizeof(path), "%s/traces/%s/stream", w.path, w.node[m].name);
			if (stat(path, &st) || (uint64_t)st.st_size <= synced[m])
				continue;
			/* some of it is there, some is zeros */
			torn = synced[m] + draw_below(&w.draw, (uint64_t)st.st_size - synced[m]);
			assert_int_equal(truncate(path, (off_t)torn), 0);
			assert_int_equal(truncate(path, st.st_size), 0);
		}
		start_collector(&w);
	}
	settle(&w);
	for (size_t m = 0; m < w.n; m++)
		assert_same_streams(&w, &w.node[m]);
	world_end(&w);
	assert_sound(w.path);
}

/* What a collector stored last may still be in the carrier for the next one, of a node that has ended since. */
static void a_node_that_ended_is_not_waited_for(void **state)
{
	struct collector_state s = { 0 };
	struct carrier_event e;
	struct carrier *late;
	struct world w;

	(void)state;
	world_begin(&w, "late", 1, 9, &(struct loop_faults){ 0 });
	write_some(&w, &w.node[0], 100);
	settle(&w);
	kill_sender(&w.node[0]);
	kill_collector(&w);
	late = loop_open(w.loop, "n01");
	assert_non_null(late);
	while (carrier_next(late, &e))
		;
	assert_true(carrier_send(late, "n01", "again", 5, 1));
	start_collector(&w);
	for (int i = 0; i < 100 && !s.ended; i++) {
		step(&w, 50);
		collector_state(w.collector, &s);
	}
	assert_int_equal(s.messages, 1);
	assert_true(s.ended);
	carrier_close(late);
	world_end(&w);
}

/* What comes once more needs no room, and is not said to be lost. */
static void what_is_stored_needs_no_room(void **state)
{
	struct collector_state s;
	struct carrier_event e;
	struct carrier *late;
	struct uplink_head *head;
	struct world w;
	char *stream, *message;
	size_t n;

	(void)state;
	world_begin(&w, "again", 1, 12, &(struct loop_faults){ 0 });
	write_some(&w, &w.node[0], 100);
	settle(&w);
	kill_sender(&w.node[0]);
	kill_collector(&w);
	stream = stream_of(w.path, "n01", &n);
	message = malloc(sizeof(*head) + n);
	assert_non_null(message);
	memcpy(message + sizeof(*head), stream, n);
	w.quota = n + 1;
	start_collector(&w);
	head = (struct uplink_head *)message;
	uplink_seal(head, UPLINK_PACKETS, spool_trace(w.spool, 0)->id, 0, n, stream, n);
	late = loop_open(w.loop, "n01");
	assert_non_null(late);
	while (carrier_next(late, &e))
		;
	assert_true(carrier_send(late, "n01", message, sizeof(*head) + n, 1));
	for (int i = 0; i < 10; i++)
		step(&w, 50);
	collector_state(w.collector, &s);
	assert_int_equal(s.messages, 1);
	assert_int_equal(s.refused, 0);
	assert_true(s.again > 0);
	carrier_close(late);
	free(stream);
	free(message);
	world_end(&w);
}

/* Of a node that another collector has stored the carrier may hold the last messages alone. */
static void what_was_left_behind_is_not_waited_for(void **state)
{
	const uint8_t of_nobody[16] = { 7 };
	struct {
		struct uplink_head head;
		uint8_t packet[100];
	} left = { .packet = { 1 } };
	struct collector_state s = { 0 };
	struct carrier_event e;
	struct carrier *late;
	struct world w;

	(void)state;
	world_begin(&w, "left", 1, 10, &(struct loop_faults){ 0 });
	late = loop_open(w.loop, "n09");
	assert_non_null(late);
	while (carrier_next(late, &e))
		;
	uplink_seal(&left.head, UPLINK_PACKETS, of_nobody, 5000, sizeof(left.packet), left.packet,
		    sizeof(left.packet));
	assert_true(carrier_send(late, "n09", &left, sizeof(left), 1));
	write_some(&w, &w.node[0], 100);
	settle(&w);
	collector_state(w.collector, &s);
	assert_int_equal(s.holes, 1);
	carrier_close(late);
	world_end(&w);
}

/* A node says but once that it ends. */
static void an_end_that_was_not_heard_is_not_waited_for(void **state)
{
	struct collector_state s = { 0 };
	struct world w;

	(void)state;
	world_begin(&w, "unheard", 1, 11, &(struct loop_faults){ 0 });
	write_some(&w, &w.node[0], 100);
	for (int i = 0; i < 120; i++)
		step(&w, 10);
	assert_int_equal(spool_traces(w.spool), 1);
	end_capture(&w.node[0]);
	for (int i = 0; i < 50 && spool_trace(w.spool, 0)->open; i++)
		step(&w, 10);
	assert_false(spool_trace(w.spool, 0)->open);
	collector_state(w.collector, &s);
	assert_false(s.ended);
	kill_sender(&w.node[0]);
	for (int i = 0; i < 1000 && !s.ended; i++) {
		step(&w, 50);
		collector_state(w.collector, &s);
	}
	assert_true(s.ended);
	assert_same_streams(&w, &w.node[0]);
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_arrives_as_it_was),
		cmocka_unit_test(nothing_is_lost_or_stored_twice),
		cmocka_unit_test(what_is_stored_is_freed),
		cmocka_unit_test(who_reads_meanwhile_sees_a_gap),
		cmocka_unit_test(what_is_freed_unstored_is_a_gap),
		cmocka_unit_test(a_full_carrier_is_not_stormed),
		cmocka_unit_test(a_full_carrier_is_emptied),
		cmocka_unit_test(numbers_of_the_carrier_may_go_back),
		cmocka_unit_test(what_is_not_durable_does_not_leave),
		cmocka_unit_test(packets_that_contradict_stored_ones_are_kept_apart),
		cmocka_unit_test(what_is_told_is_durable),
		cmocka_unit_test(a_node_that_ended_is_not_waited_for),
		cmocka_unit_test(what_is_stored_needs_no_room),
		cmocka_unit_test(what_was_left_behind_is_not_waited_for),
		cmocka_unit_test(an_end_that_was_not_heard_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
