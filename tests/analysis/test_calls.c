/* SPDX-License-Identifier: MIT */
/* The machine of calls.h, against what a naive reading of randomly drawn call trees gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/calls/path.h"
#include "test_draw.h"

#define FUNCTIONS 6
#define SPANS_MAX 20000
#define THREADS 3

/* ---- a drawn truth ---- */

struct true_span {
	unsigned thread;
	uint32_t function;
	int64_t begin, end;
	int parent;
	bool seen; /* the machine told it */
};

struct event {
	int64_t at;
	unsigned thread;
	int span; /* -1: the core switches to this thread */
	bool begin;
};

struct truth {
	struct draw d;
	struct true_span *span;
	int n;
	struct event *event;
	size_t n_events;
	int64_t now;
	int left; /* spans that may still be drawn */
};

static void add_event(struct truth *t, struct event e)
{
	t->event[t->n_events++] = e;
}

static void draw_span(struct truth *t, unsigned thread, int parent, int depth)
{
	int me = t->n++;

	t->left--;
	t->now += 1 + (int64_t)draw_below(&t->d, 50);
	t->span[me] = (struct true_span){ .thread = thread,
					  .function = (uint32_t)draw_below(&t->d, FUNCTIONS),
					  .begin = t->now,
					  .parent = parent };
	add_event(t, (struct event){ t->now, thread, me, true });
	while (t->left > 0 && depth < 40 && draw_below(&t->d, 5) > 1)
		draw_span(t, thread, me, depth + 1);
	t->now += 1 + (int64_t)draw_below(&t->d, 50);
	t->span[me].end = t->now;
	add_event(t, (struct event){ t->now, thread, me, false });
}

static void truth_free(struct truth *t)
{
	free(t->span);
	free(t->event);
}

static void truth_make(struct truth *t, uint64_t test, int spans)
{
	*t = (struct truth){ .d = draw_begin(test), .left = spans };
	t->span = calloc(SPANS_MAX, sizeof(*t->span));
	t->event = calloc(4 * SPANS_MAX, sizeof(*t->event));
	while (t->left > 0)
		draw_span(t, 0, -1, 0);
}

/* ---- what the machine tells ---- */

struct told {
	struct cvl_calls_span *span;
	size_t n;
	struct cvl_calls_message message;
};

static void tell_span(void *ctx, const struct cvl_calls_span *s)
{
	struct told *told = ctx;

	assert_true(told->n < 2 * SPANS_MAX);
	told->span[told->n++] = *s;
}

static void tell_message(void *ctx, const struct cvl_calls_message *m)
{
	((struct told *)ctx)->message = *m;
}

static struct cvl_calls_time at(int64_t ns)
{
	return (struct cvl_calls_time){ .ns = ns, .tick = (uint64_t)ns };
}

static struct calls *machine(struct told *told, unsigned threads, uint32_t *core)
{
	const struct calls_sink sink = { .span = tell_span, .message = tell_message, .ctx = told };
	struct calls *c = calls_new(&sink);
	struct cvl_error err;
	uint32_t thread;

	assert_non_null(c);
	told->n = 0;
	told->span = calloc(2 * SPANS_MAX, sizeof(*told->span));
	assert_int_equal(calls_add_core(c, 0, 0, core, &err), 0);
	for (unsigned i = 0; i < threads; i++) {
		assert_int_equal(calls_add_thread(c, 0, *core, "t", at(0), &thread, &err), 0);
		assert_int_equal(thread, i);
	}
	return c;
}

static void push(struct calls *c, const struct truth *t, const struct event *e)
{
	const struct true_span *s = &t->span[e->span];
	struct cvl_error err;

	if (e->begin)
		assert_int_equal(calls_begin(c, e->thread, at(e->at), s->function, 0, &err), 0);
	else
		assert_int_equal(calls_end(c, e->thread, at(e->at), s->function, 0, false, &err),
				 0);
}

static void done(struct calls *c, struct told *told, int64_t now)
{
	calls_finish(c, 0, at(now));
	(void)told;
}

/* The true span that the machine means; spans of one thread never begin at the same time. */
static struct true_span *find(struct truth *t, const struct cvl_calls_span *s)
{
	for (int i = 0; i < t->n; i++)
		if (t->span[i].thread == s->thread && t->span[i].begin == s->begin.ns)
			return &t->span[i];
	return NULL;
}

/* ---- whole trees ---- */

static int64_t children(const struct truth *t, int i)
{
	int64_t ns = 0;

	for (int k = i + 1; k < t->n && t->span[k].begin < t->span[i].end; k++)
		if (t->span[k].parent == i)
			ns += t->span[k].end - t->span[k].begin;
	return ns;
}

static bool outermost(const struct truth *t, int i)
{
	for (int k = t->span[i].parent; k >= 0; k = t->span[k].parent)
		if (t->span[k].function == t->span[i].function)
			return false;
	return true;
}

static void whole_trees_come_out_as_they_are(void **state)
{
	(void)state;
	for (uint64_t round = 0; round < 30; round++) {
		int64_t total[FUNCTIONS] = { 0 }, self[FUNCTIONS] = { 0 };
		uint64_t calls[FUNCTIONS] = { 0 };
		struct told told;
		struct truth t;
		struct calls *c;
		uint32_t core;

		truth_make(&t, 100 + round, 1 + (int)(round * 20));
		c = machine(&told, 1, &core);
		for (size_t i = 0; i < t.n_events; i++)
			push(c, &t, &t.event[i]);
		done(c, &told, t.now);
		assert_int_equal(told.n, t.n);
		for (size_t i = 0; i < told.n; i++) {
			struct true_span *s = find(&t, &told.span[i]);

			assert_non_null(s);
			assert_false(s->seen);
			s->seen = true;
			assert_int_equal(told.span[i].function, s->function);
			assert_int_equal(told.span[i].end.ns, s->end);
			assert_int_equal(told.span[i].marks, 0);
			assert_int_equal(told.span[i].self,
					 s->end - s->begin - children(&t, (int)(s - t.span)));
		}
		for (int i = 0; i < t.n; i++) {
			const struct true_span *s = &t.span[i];

			calls[s->function]++;
			self[s->function] += s->end - s->begin - children(&t, i);
			if (outermost(&t, i))
				total[s->function] += s->end - s->begin;
		}
		for (size_t i = 0; i < calls_costs(c); i++) {
			const struct cvl_calls_cost *k = calls_cost(c, i);

			assert_int_equal(k->calls, calls[k->function]);
			assert_int_equal(k->total, total[k->function]);
			assert_int_equal(k->self, self[k->function]);
			assert_int_equal(k->active, 0);
		}
		free(told.span);
		calls_free(c);
		truth_free(&t);
	}
}

/* ---- losses ---- */

/*
 * Records are lost in stretches reported as gaps. An unmarked span is a true one, and every true
 * one that no gap touches is reported unmarked. No begin that was seen is lost.
 */
static void what_is_not_marked_is_true(void **state)
{
	(void)state;
	for (uint64_t round = 0; round < 60; round++) {
		struct draw d = draw_begin(3000 + round);
		uint64_t begins = 0;
		int64_t hole[64][2];
		size_t holes = 0;
		struct told told;
		struct truth t;
		struct calls *c;
		struct cvl_error err;
		uint32_t core;

		truth_make(&t, 4000 + round, 300);
		c = machine(&told, 1, &core);
		for (size_t i = 0; i < t.n_events; i++) {
			if (holes < 64 && !draw_below(&d, 25)) {
				size_t n = 1 + draw_below(&d, 12);

				hole[holes][0] = t.event[i].at;
				i += n < t.n_events - i ? n - 1 : t.n_events - i - 1;
				hole[holes][1] = t.event[i].at;
				assert_int_equal(calls_gap(c, 0, core, at(hole[holes][0]),
							   at(hole[holes][1]), n, false, &err),
						 0);
				holes++;
				continue;
			}
			begins += t.event[i].begin;
			push(c, &t, &t.event[i]);
		}
		done(c, &told, t.now);
		assert_int_equal(told.n, begins + calls_repairs(c)->lost_entries);
		assert_int_equal(calls_repairs(c)->gaps, holes);
		for (size_t i = 0; i < told.n; i++) {
			struct true_span *s = find(&t, &told.span[i]);

			assert_true(told.span[i].begin.ns <= told.span[i].end.ns);
			if (told.span[i].marks)
				continue;
			assert_non_null(s);
			assert_int_equal(told.span[i].end.ns, s->end);
			assert_int_equal(told.span[i].function, s->function);
			assert_int_equal(told.span[i].self,
					 s->end - s->begin - children(&t, (int)(s - t.span)));
			s->seen = true;
		}
		for (int i = 0; i < t.n; i++) {
			bool touched = false;

			for (size_t h = 0; h < holes; h++)
				touched = touched || (t.span[i].begin <= hole[h][1] &&
						      t.span[i].end >= hole[h][0]);
			assert_true(touched || t.span[i].seen);
		}
		free(told.span);
		calls_free(c);
		truth_free(&t);
	}
}

/*
 * Whatever comes, in whatever order, and lost without a word: nothing runs backwards, and what was
 * begun comes out once.
 */
static void any_events_leave_spans_in_order(void **state)
{
	(void)state;
	for (uint64_t round = 0; round < 40; round++) {
		struct draw d = draw_begin(7000 + round);
		uint64_t begins = 0, ends = 0;
		struct told told;
		uint32_t core, number;
		struct calls *c = machine(&told, THREADS, &core);
		struct cvl_error err;
		int64_t now = 0;

		for (int i = 0; i < 3000; i++) {
			uint32_t thread = (uint32_t)draw_below(&d, THREADS);
			uint32_t function = (uint32_t)draw_below(&d, FUNCTIONS + 1);
			int64_t late = (int64_t)draw_below(&d, 3);

			now += (int64_t)draw_below(&d, 5);
			switch (draw_below(&d, 8)) {
			case 0:
				calls_switch(c, core, thread,
					     (enum cvl_calls_reason)draw_below(&d, 3), at(now),
					     &err);
				break;
			case 1:
				calls_gap(c, 0, draw_below(&d, 2) ? core : CVL_CALLS_NONE, at(now),
					  at(now + late), 1, false, &err);
				break;
			case 2:
				number = (uint32_t)draw_below(&d, THREADS);
				calls_received(c,
					       &(struct cvl_calls_message){ .from = number,
									    .to = thread,
									    .sent = at(now - late),
									    .received = at(now) });
				calls_sign(c, thread, at(now));
				break;
			case 3:
			case 4:
				ends++;
				calls_end(c, thread, at(now - late),
					  function == FUNCTIONS ? CVL_CALLS_NONE : function,
					  draw_below(&d, 2), draw_below(&d, 2), &err);
				break;
			default:
				begins++;
				calls_begin(c, thread, at(now - late), function % FUNCTIONS,
					    draw_below(&d, 2), &err);
				break;
			}
		}
		done(c, &told, now);
		assert_int_equal(told.n, begins + calls_repairs(c)->lost_entries);
		assert_true(calls_repairs(c)->lost_entries <= ends);
		for (size_t i = 0; i < told.n; i++)
			assert_true(told.span[i].begin.ns <= told.span[i].end.ns);
		for (size_t i = 0; i < calls_costs(c); i++)
			assert_int_equal(calls_cost(c, i)->active, 0);
		free(told.span);
		calls_free(c);
	}
}

/* ---- one core, several threads ---- */

static int64_t overlap(int64_t a, int64_t b, int64_t from, int64_t to)
{
	a = a > from ? a : from;
	b = b < to ? b : to;
	return b > a ? b - a : 0;
}

/*
 * Threads take turns; each goes on with its tree when it runs. Thread 0 is idle: whoever did not
 * run meanwhile was blocked. A thread that was out while others ran was preempted if its switch
 * said so, blocked if it said so, and otherwise unknown.
 */
static void preempted_time_is_what_others_ran(void **state)
{
	(void)state;
	for (uint64_t round = 0; round < 30; round++) {
		struct truth tree[THREADS];
		struct {
			unsigned thread;
			int64_t from, to;
			enum cvl_calls_reason reason; /* why the one before stopped */
		} run[2000];
		size_t next[THREADS] = { 0 }, runs = 0;
		struct draw d = draw_begin(5000 + round);
		struct told told;
		uint32_t core;
		struct calls *c = machine(&told, THREADS, &core);
		struct cvl_error err;
		int64_t now = 0;

		calls_thread(c, 0)->idle = true;
		for (unsigned k = 0; k < THREADS; k++)
			truth_make(&tree[k], 6000 + 10 * round + k, k ? 60 : 0);
		for (;;) {
			unsigned k = (unsigned)draw_below(&d, THREADS);
			size_t n = draw_below(&d, 6);
			bool left = false;

			for (unsigned i = 0; i < THREADS; i++)
				left = left || next[i] < tree[i].n_events;
			if (!left || runs == 2000)
				break;
			now += 1 + (int64_t)draw_below(&d, 30);
			if (runs)
				run[runs - 1].to = now;
			run[runs].thread = k;
			run[runs].from = now;
			run[runs].reason = (enum cvl_calls_reason)draw_below(&d, 3);
			assert_int_equal(calls_switch(c, core, k, run[runs].reason, at(now), &err),
					 0);
			for (; n && next[k] < tree[k].n_events; n--) {
				struct event *e = &tree[k].event[next[k]++];
				struct true_span *s = &tree[k].span[e->span];

				now += 1 + (int64_t)draw_below(&d, 30);
				e->at = now;
				e->thread = s->thread = k;
				*(e->begin ? &s->begin : &s->end) = now;
				push(c, &tree[k], e);
			}
			now += 1;
			run[runs++].to = now;
		}
		assert_true(runs < 2000);
		done(c, &told, now);
		for (size_t i = 0; i < told.n; i++) {
			const struct cvl_calls_span *s = &told.span[i];
			struct truth *t = &tree[s->thread];
			const struct true_span *true_span = find(t, s);
			int64_t ran = 0, out[3] = { 0 };
			enum cvl_calls_reason why = CVL_CALLS_REASON_NONE;

			assert_non_null(true_span);
			assert_int_equal(s->end.ns, true_span->end);
			for (size_t k = 0; k < runs; k++) {
				int64_t ns =
					overlap(run[k].from, run[k].to, s->begin.ns, s->end.ns);

				if (run[k].thread == s->thread) {
					ran += ns;
					continue;
				}
				if (k && run[k - 1].thread == s->thread)
					why = run[k].reason;
				out[run[k].thread ? why : CVL_CALLS_REASON_BLOCKED] += ns;
			}
			for (int k = 0; k < t->n; k++) { /* what its children ran is not its own */
				if (t->span[k].parent != (int)(true_span - t->span))
					continue;
				for (size_t j = 0; j < runs; j++)
					if (run[j].thread == s->thread)
						ran -= overlap(run[j].from, run[j].to,
							       t->span[k].begin, t->span[k].end);
			}
			assert_int_equal(s->self, ran);
			assert_int_equal(s->part.blocked, out[CVL_CALLS_REASON_BLOCKED]);
			assert_int_equal(s->part.preempted, out[CVL_CALLS_REASON_PREEMPTED]);
			assert_int_equal(s->part.switched, out[CVL_CALLS_REASON_NONE]);
		}
		for (unsigned k = 0; k < THREADS; k++)
			truth_free(&tree[k]);
		free(told.span);
		calls_free(c);
	}
}

/* ---- single facts ---- */

static void recursion_ten_thousand_deep_is_followed(void **state)
{
	const int deep = 10000;
	struct told told;
	uint32_t core;
	struct calls *c = machine(&told, 1, &core);
	struct cvl_error err;

	(void)state;
	for (int i = 0; i < deep; i++)
		assert_int_equal(calls_begin(c, 0, at(i), 1, 0, &err), 0);
	for (int i = 0; i < deep; i++)
		assert_int_equal(calls_end(c, 0, at(deep + i), 1, 0, false, &err), 0);
	done(c, &told, 2 * deep);
	assert_int_equal(told.n, deep);
	assert_int_equal(told.span[0].depth, deep - 1);
	assert_int_equal(told.span[deep - 1].end.ns - told.span[deep - 1].begin.ns, 2 * deep - 1);
	assert_int_equal(calls_cost(c, 0)->total, 2 * deep - 1); /* once, not for each of them */
	assert_int_equal(calls_repairs(c)->too_deep, 0);
	free(told.span);
	calls_free(c);
}

static void what_is_deeper_is_counted_and_left_out(void **state)
{
	const uint64_t deep = CALLS_DEPTH_MAX + 100;
	const struct calls_sink none = { 0 };
	struct calls *c = calls_new(&none);
	struct cvl_error err;
	uint32_t thread;

	(void)state;
	assert_int_equal(calls_add_thread(c, 0, CVL_CALLS_NONE, NULL, at(0), &thread, &err), 0);
	for (uint64_t i = 0; i < deep; i++)
		assert_int_equal(calls_begin(c, thread, at(1), 1, 0, &err), 0);
	for (uint64_t i = 0; i < deep; i++)
		assert_int_equal(calls_end(c, thread, at(2), 1, 0, false, &err), 0);
	calls_finish(c, 0, at(3));
	assert_int_equal(calls_repairs(c)->too_deep, 100);
	assert_int_equal(calls_thread(c, thread)->spans, CALLS_DEPTH_MAX);
	assert_int_equal(calls_repairs(c)->lost_entries, 0);
	calls_free(c);
}

static void an_exit_without_entry_began_with_the_capture(void **state)
{
	struct told told;
	uint32_t core;
	struct calls *c = machine(&told, 1, &core);
	struct cvl_error err;

	(void)state;
	calls_begin(c, 0, at(10), 1, 0, &err);
	calls_end(c, 0, at(20), 1, 0, false, &err);
	calls_end(c, 0, at(30), 2, 0, false, &err);
	calls_end(c, 0, at(40), CVL_CALLS_NONE, 0, false, &err);
	done(c, &told, 50);
	assert_int_equal(told.n, 3);
	assert_int_equal(told.span[1].begin.ns, 0);
	assert_int_equal(told.span[1].end.ns, 30);
	assert_int_equal(told.span[1].depth, -1); /* around what was known first */
	assert_int_equal(told.span[1].marks, CVL_CALLS_LOST_ENTRY);
	assert_int_equal(told.span[2].depth, -2);
	assert_int_equal(told.span[2].function, CVL_CALLS_NONE);
	assert_int_equal(calls_repairs(c)->lost_entries, 2);
	free(told.span);
	calls_free(c);
}

static void an_exit_lost_in_a_gap_ends_its_span_there(void **state)
{
	struct told told;
	uint32_t core;
	struct calls *c = machine(&told, 1, &core);
	struct cvl_error err;

	(void)state;
	calls_begin(c, 0, at(10), 1, 0, &err);
	calls_begin(c, 0, at(20), 2, 0, &err);
	calls_gap(c, 0, core, at(30), at(40), 1, false, &err);
	calls_end(c, 0, at(60), 1, 0, false, &err);
	done(c, &told, 60);
	assert_int_equal(told.n, 2);
	assert_int_equal(told.span[0].function, 2);
	assert_int_equal(told.span[0].end.ns, 30);
	assert_int_equal(told.span[0].self, 10);
	assert_int_equal(told.span[0].part.hidden, 0);
	assert_int_equal(told.span[0].marks, CVL_CALLS_LOST_EXIT | CVL_CALLS_GAP);
	assert_int_equal(told.span[1].end.ns, 60);
	assert_int_equal(told.span[1].self, 10 + 20); /* before the other, and behind the gap */
	assert_int_equal(told.span[1].part.hidden, 10);
	assert_int_equal(told.span[1].marks, CVL_CALLS_GAP);
	free(told.span);
	calls_free(c);
}

static void a_message_sent_later_than_the_last_sign_of_life_was_waited_for(void **state)
{
	struct told told;
	uint32_t core;
	struct calls *c = machine(&told, 2, &core);
	struct cvl_calls_message m = { .from = 1, .to = 0, .sent = at(50), .received = at(60) };
	struct cvl_error err;

	(void)state;
	calls_begin(c, 0, at(10), 1, 0, &err);
	calls_begin(c, 0, at(20), 2, 0, &err);
	calls_received(c, &m);
	calls_sign(c, 0, at(60));
	assert_int_equal(told.message.wait_from.ns, 20);
	m.received =
		at(70); /* sent before the receiver's last sign of life: it lay there already */
	calls_received(c, &m);
	assert_int_equal(told.message.wait_from.ns, 70);
	calls_end(c, 0, at(90), 2, 0, false, &err);
	calls_end(c, 0, at(100), 1, 0, false, &err);
	done(c, &told, 100);
	assert_int_equal(told.span[0].part.waiting, 40);
	assert_int_equal(told.span[0].self, 30);
	assert_int_equal(told.span[1].part.waiting, 40);
	assert_int_equal(told.span[1].self, 20);
	free(told.span);
	calls_free(c);
}

static void what_is_open_when_its_thread_does_not_run_is_not_itself_at_work(void **state)
{
	struct told told;
	uint32_t core;
	struct calls *c = machine(&told, 2, &core);
	struct cvl_error err;

	(void)state;
	calls_switch(c, core, 0, false, at(0), &err);
	calls_begin(c, 0, at(10), 1, 0, &err);
	calls_switch(c, core, 1, false, at(30), &err);
	done(c, &told, 100);
	assert_int_equal(told.n, 1);
	assert_int_equal(told.span[0].marks, CVL_CALLS_OPEN);
	assert_int_equal(told.span[0].self, 20);
	assert_int_equal(told.span[0].part.switched, 70);
	assert_int_equal(calls_thread(c, 0)->busy, 30);
	assert_int_equal(calls_thread(c, 1)->busy, 70);
	free(told.span);
	calls_free(c);
}

static void overlapping_spans_end_by_their_number(void **state)
{
	struct told told;
	uint32_t core;
	struct calls *c = machine(&told, 1, &core);
	struct cvl_error err;

	(void)state;
	calls_begin(c, 0, at(10), 1, 7, &err);
	calls_begin(c, 0, at(20), 1, 8, &err);
	calls_end(c, 0, at(30), 1, 7, true, &err);
	calls_end(c, 0, at(40), 1, 8, true, &err);
	done(c, &told, 40);
	assert_int_equal(told.n, 2);
	assert_int_equal(told.span[0].begin.ns, 10);
	assert_int_equal(told.span[1].begin.ns, 20);
	assert_int_equal(told.span[0].marks | told.span[1].marks, 0);
	free(told.span);
	calls_free(c);
}

/*
 * What calls itself, or is taken to since an exit was lost, counts once; and what is closed by
 * another, for that alone.
 */
static void what_lies_in_a_made_up_span_is_counted(void **state)
{
	struct told told;
	uint32_t core;
	struct calls *c = machine(&told, 1, &core);
	struct cvl_error err;

	(void)state;
	calls_begin(c, 0, at(0), 2, 0, &err);
	calls_begin(c, 0, at(10), 1, 0, &err); /* it never ends */
	for (int64_t i = 1; i <= 5; i++) {
		calls_begin(c, 0, at(100 * i), 1, 0, &err);
		calls_begin(c, 0, at(100 * i + 10), 1, 0, &err);
		calls_end(c, 0, at(100 * i + 20), 1, 0, false, &err);
		calls_end(c, 0, at(100 * i + 30), 1, 0, false, &err);
	}
	calls_end(c, 0, at(1000), 2, 0, false, &err);
	done(c, &told, 1000);
	for (size_t i = 0; i < calls_costs(c); i++) {
		const struct cvl_calls_cost *k = calls_cost(c, i);

		assert_int_equal(k->total, k->function == 2 ? 1000 : 5 * 30);
		assert_int_equal(k->made_up, k->function == 1);
		assert_int_equal(k->made_up_ns, k->function == 1 ? 990 : 0);
		assert_int_equal(k->self, k->function == 2 ? 10 : 5 * 30);
	}
	free(told.span);
	calls_free(c);
}

static void exits_without_entry_are_in_no_total(void **state)
{
	struct told told;
	uint32_t core;
	struct calls *c = machine(&told, 1, &core);
	struct cvl_error err;

	(void)state;
	for (int64_t i = 1; i <= 100; i++)
		calls_end(c, 0, at(10 * i), 1, 0, false, &err);
	calls_begin(c, 0, at(1100), 1, 0, &err);
	calls_end(c, 0, at(1150), 1, 0, false, &err);
	done(c, &told, 1200);
	assert_int_equal(calls_costs(c), 1);
	assert_int_equal(calls_cost(c, 0)->calls, 101);
	assert_int_equal(calls_cost(c, 0)->total, 50);
	assert_int_equal(calls_cost(c, 0)->made_up, 100);
	free(told.span);
	calls_free(c);
}

/* Records of two cores with one time may come in any order. */
static void a_thread_that_runs_on_another_core_already_does_not_stop(void **state)
{
	struct told told;
	uint32_t core, other, idle;
	struct calls *c = machine(&told, 1, &core);
	struct cvl_error err;

	(void)state;
	calls_add_core(c, 0, 1, &other, &err);
	calls_add_thread(c, 0, core, "idle", at(0), &idle, &err);
	calls_switch(c, core, 0, false, at(0), &err);
	calls_begin(c, 0, at(10), 1, 0, &err);
	calls_switch(c, other, 0, false, at(50), &err);
	calls_switch(c, core, idle, false, at(50), &err);
	calls_end(c, 0, at(100), 1, 0, false, &err);
	done(c, &told, 100);
	assert_int_equal(told.n, 1);
	assert_int_equal(told.span[0].self, 90);
	assert_int_equal(told.span[0].part.preempted + told.span[0].part.blocked, 0);
	assert_int_equal(calls_thread(c, 0)->busy, 100);
	free(told.span);
	calls_free(c);
}

static void a_path_tells_the_innermost_span_however_deep(void **state)
{
	struct cvl_calls_kept kept;
	struct calls_path path;
	struct cvl_calls_span s = { .thread = 0 };
	const struct cvl_calls_thread thread = { .born = { .clock = CVL_CALLS_NONE } };

	(void)state;
	calls_kept_init(&kept, 1000);
	for (int32_t i = 0; i < 300; i++) {
		s.function = (uint32_t)i;
		s.depth = i;
		s.begin = at(i);
		s.end = at(1000000 - i);
		calls_kept_span(&kept, &s);
	}
	assert_int_equal(calls_path_find(&path, &kept, &thread, 0, at(0), at(1000000)), 0);
	assert_int_equal(path.n, 2); /* all that is around it is short, and goes together */
	assert_int_equal(path.step[1].function, 299);
	calls_path_free(&path);
	calls_kept_free(&kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_trees_come_out_as_they_are),
		cmocka_unit_test(what_is_not_marked_is_true),
		cmocka_unit_test(any_events_leave_spans_in_order),
		cmocka_unit_test(preempted_time_is_what_others_ran),
		cmocka_unit_test(recursion_ten_thousand_deep_is_followed),
		cmocka_unit_test(what_is_deeper_is_counted_and_left_out),
		cmocka_unit_test(an_exit_without_entry_began_with_the_capture),
		cmocka_unit_test(an_exit_lost_in_a_gap_ends_its_span_there),
		cmocka_unit_test(a_message_sent_later_than_the_last_sign_of_life_was_waited_for),
		cmocka_unit_test(what_is_open_when_its_thread_does_not_run_is_not_itself_at_work),
		cmocka_unit_test(overlapping_spans_end_by_their_number),
		cmocka_unit_test(what_lies_in_a_made_up_span_is_counted),
		cmocka_unit_test(exits_without_entry_are_in_no_total),
		cmocka_unit_test(a_thread_that_runs_on_another_core_already_does_not_stop),
		cmocka_unit_test(a_path_tells_the_innermost_span_however_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
