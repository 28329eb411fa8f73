/* SPDX-License-Identifier: MIT */
/*
 * The polling loop: against a writer that stamps its stores by the same clock, alone and beside
 * others who want the processor; its bins, its ring, its options, and the kernel's GPIO events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/precision/internal.h"
#include "capture/drivers/poll/clock.h"
#include "capture/drivers/poll/facts.h"
#include "capture/drivers/poll/gpio.h"
#include "capture/drivers/poll/skew.h"
#include "capture/drivers/poll/records.h"
#include "capture/drivers/poll/trial.h"
#include "test_draw.h"
#include "test_scratch.h"

#define STORES 200000

/* ---- honesty ---- */

static void check_trial(uint64_t pause, uint64_t gap)
{
	struct poll_trial t = {
		.stores = STORES, .pause = pause, .gap_ticks = gap, .loop_cpu = -1, .writer_cpu = -1
	};
	struct poll_trial_result r;
	uint64_t steps = 0;

	if (!poll_clock_there())
		skip();
	assert_int_equal(poll_trial_run(&t, &r), 0);
	assert_int_equal(r.met, r.seen);
	assert_int_equal(r.missed, r.excused);
	assert_int_equal(r.claimed, 0);
	assert_int_equal(r.missed + r.seen, STORES);
	assert_int_equal(r.full, 0);
	assert_true(r.seen > 0);
	for (unsigned i = 0; i < POLL_BINS; i++)
		steps += r.stats.step[i].ticks;
	assert_int_equal(steps, r.stats.last - r.stats.first);
	assert_true(r.stats.longest <= r.stats.widest);
}

static void each_store_meets_its_bracket_or_lies_in_a_gap(void **state)
{
	(void)state;
	check_trial(1500, 1200);
}

static void *burn(void *stop)
{
	while (!atomic_load((_Atomic bool *)stop))
		;
	return NULL;
}

static void so_it_does_under_load(void **state)
{
	_Atomic bool stop = false;
	pthread_t thread[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, burn, &stop), 0);
	check_trial(600, 5000);
	check_trial(5000, 2000);
	atomic_store(&stop, true);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

/* ---- bins and ring ---- */

/* ---- two counters ---- */

/*
 * Counters that advance in steps, and of which the second is ahead at times. In thousandths of a
 * tick.
 */
struct counters {
	struct draw *d;
	uint64_t now, step, often; /* of so many exchanges in one */
	int64_t ahead;
};

static uint64_t count_of(const struct counters *c, bool second, bool off)
{
	const uint64_t at = c->now / (1000 * c->step) * c->step;

	return 1000000 + at + (second && off ? (uint64_t)c->ahead : 0);
}

static void go(struct counters *c, uint64_t ticks)
{
	c->now += 1000 * ticks + draw_below(c->d, 1000 * ticks + 1);
}

static void exchange(struct counters *c, struct poll_skew *s, uint64_t flight)
{
	const bool off = !draw_below(c->d, c->often);
	uint64_t ahead = count_of(c, false, off), stamp;

	go(c, flight);
	stamp = count_of(c, true, off);
	go(c, flight);
	poll_skew_add(s, ahead, stamp, count_of(c, false, off));
}

/*
 * Stores by the second processor that the first sees at once: how many miss their brackets by more
 * than @slack.
 */
static uint64_t misses(struct counters *c, uint64_t slack, uint64_t stores, uint64_t *worst)
{
	uint64_t missed = 0;

	for (uint64_t v = 1; v <= stores; v++) {
		const bool off = !draw_below(c->d, c->often);
		struct poll_store store;
		struct poll_seen seen = { .kind = POLL_CHANGE };
		uint64_t by;

		seen.from = count_of(c, false, off);
		go(c, 1); /* as close as the memory lets it: within a step */
		store.before = count_of(c, true, off);
		seen.to = count_of(c, false, off);
		go(c, 100);
		store.after = count_of(c, true, off);
		by = poll_store_off(&store, &seen);
		missed += by > slack;
		*worst = by > *worst ? by : *worst;
	}
	return missed;
}

/*
 * What no exchange shows, as it takes longer than the counters differ by, is less than a step where
 * they are one that is scaled.
 */
static void counters_a_tick_apart_count_in_comparisons(void **state)
{
	struct draw d = draw_begin(90);
	struct counters c = { .d = &d, .step = 26, .often = 3, .ahead = 1 };
	struct poll_skew s;
	uint64_t worst = 0;

	(void)state;
	poll_skew_open(&s);
	assert_true(poll_skew_limit(&s) == UINT64_MAX);
	for (int i = 0; i < 20000; i++)
		exchange(&c, &s, 60);
	s.step = 26;
	assert_int_equal(s.apart, 0);
	assert_true(misses(&c, 0, 100000, &worst) > 0);
	assert_int_equal(worst, 1);
	assert_int_equal(misses(&c, poll_skew_slack(&s), 100000, &worst), 0);
	assert_true(poll_skew_limit(&s) >= 1 && poll_skew_limit(&s) < 300);
}

/*
 * More than an exchange takes is seen in one, however seldom; and what is more than was measured is
 * not let pass.
 */
static void counters_far_apart_are_shown_to_be(void **state)
{
	struct draw d = draw_begin(91);
	struct counters c = { .d = &d, .step = 26, .often = 50 };
	struct poll_skew s, later;
	uint64_t worst = 0;

	(void)state;
	for (int64_t ahead = -1040; ahead <= 1040; ahead += 2080) {
		c.ahead = ahead;
		poll_skew_open(&s);
		for (int i = 0; i < 20000; i++)
			exchange(&c, &s, 60);
		s.step = 26;
		assert_in_range(s.apart, 1040 - 300, 1040);
		assert_true(s.least > s.most); /* not always by as much */
		assert_true(poll_skew_limit(&s) >= 1040);
		poll_skew_open(&later);
		poll_skew_join(&later, &s);
		assert_int_equal(poll_skew_slack(&later), s.apart + 26);
		assert_int_equal(misses(&c, poll_skew_limit(&s) + s.step, 100000, &worst), 0);
	}
	c.ahead = 5000;
	assert_true(misses(&c, poll_skew_slack(&s), 100000, &worst) > 0);
}

static void the_step_of_a_counter_is_found(void **state)
{
	/* step, and what a tick is scaled by, in thousandths */
	static const struct {
		uint64_t step, scale, least, most;
	} cases[] = {
		{ 1, 1000, 1, 1 },       { 2, 1000, 2, 2 },    { 26, 1000, 26, 26 },
		{ 26, 1001, 26, 27 },    { 26, 998, 26, 27 },  { 100, 1000, 100, 100 },
		{ 100, 1003, 100, 102 }, { 33, 1010, 33, 35 },
	};
	static uint64_t reading[4096];
	struct draw d = draw_begin(92);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t now = draw_below(&d, 1000000), step;

		for (size_t k = 0; k < 4096; k++) {
			now += 45 + draw_below(&d, 40) +
			       (draw_below(&d, 100) ? 0 : draw_below(&d, 100000));
			reading[k] = now / cases[i].step * cases[i].step * cases[i].scale / 1000;
		}
		step = poll_skew_step(reading, 4096);
		if (step < cases[i].least || step > cases[i].most)
			fail_msg("case %zu: a step of %" PRIu64, i, step);
	}
	for (size_t k = 0; k < 4096; k++)
		reading[k] = 7;
	assert_int_equal(poll_skew_step(reading, 4096), 1);
	assert_int_equal(poll_skew_step(reading, 0), 1);
}

static uint64_t fake(void *ctx, unsigned side)
{
	_Atomic uint64_t *now = ctx;

	return atomic_fetch_add(now, 3) / 26 * 26 + (side ? 2600 : 0);
}

static void two_threads_measure_what_is_between_them(void **state)
{
	_Atomic uint64_t now = 1000000;
	struct poll_skew_opts o = {
		.cpu = { -1, -1 }, .exchanges = 2000, .ms = 20000, .read = fake, .ctx = &now
	};
	struct poll_skew s;

	(void)state;
	assert_int_equal(poll_skew_measure(&s, &o), 0);
	assert_int_equal(s.exchanges, 2000);
	assert_int_equal(s.step, 26);
	assert_in_range(s.apart, 2600 - 26, 2600);
	o.cpu[1] = CPU_SETSIZE - 1;
	assert_int_not_equal(poll_skew_measure(&s, &o), 0);
}

static void a_number_lies_in_its_bin(void **state)
{
	struct draw d = draw_begin(1);

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t v = draw_size(&d, 64);
		unsigned bin = poll_bin_of(v);

		assert_true(bin < POLL_BINS);
		assert_true(poll_bin_low(bin) <= v);
		assert_true(bin + 1 == POLL_BINS || v < poll_bin_low(bin + 1));
		assert_true(poll_bin_low(bin + 1) - poll_bin_low(bin) <=
				    1 + poll_bin_low(bin) / POLL_FINE ||
			    bin + 1 == POLL_BINS);
	}
}

struct timed {
	struct poll_loop loop;
	_Alignas(64) uint64_t word;
};

static void *run_loop(void *loop)
{
	poll_loop_run(loop);
	return NULL;
}

/* How often it has looked so far, more or less: it counts on meanwhile. */
static uint64_t looks(struct poll_loop *l)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < POLL_BINS; i++)
		n += *(volatile uint64_t *)&l->stats.step[i].count;
	return n;
}

/* What finds no room is counted, and told of when there is some, which is soon. */
static void a_full_ring_is_a_loss_that_is_told(void **state)
{
	struct timed *t = aligned_alloc(64, sizeof(*t));
	uint64_t changes = 0, lost = 0, fulls = 0, last = 0, was = 0;
	struct poll_seen s;
	pthread_t thread;

	(void)state;
	memset(t, 0, sizeof(*t));
	t->loop.ring = calloc(8, sizeof(*t->loop.ring));
	t->loop.size = 8;
	t->loop.gap_ticks = t->loop.asked_ticks = UINT64_MAX;
	t->loop.lines = (struct poll_lines){ .at = &t->word, .width = 8, .mask = UINT64_MAX };
	assert_int_equal(pthread_create(&thread, NULL, run_loop, &t->loop), 0);
	while (!atomic_load(&t->loop.head))
		sched_yield();
	for (uint64_t v = 1; v <= 50; v++) {
		uint64_t since;

		__atomic_store_n(&t->word, v, __ATOMIC_SEQ_CST);
		/*
		 * until the loop has been there: the second look that is counted from here on began
		 * behind the store
		 */
		since = looks(&t->loop);
		while (looks(&t->loop) < since + 2)
			sched_yield();
	}
	/* no end is needed for that, and no further change */
	while (!fulls) {
		const uint64_t safe = atomic_load(&t->loop.safe);

		while (poll_take(&t->loop, &s)) {
			assert_true(s.from >= was);
			changes += s.kind == POLL_CHANGE;
			fulls += s.kind == POLL_FULL;
			lost += s.kind == POLL_FULL ? s.lost : 0;
			assert_true(s.from <= s.to);
			assert_true(s.from >= last);
			last = s.from;
		}
		was = safe;
		sched_yield();
	}
	atomic_store(&t->loop.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(fulls, 1);
	assert_int_equal(changes, 7); /* and the levels at the start */
	assert_int_equal(changes + lost, 50);
	free(t->loop.ring);
	free(t);
}

/* ---- what becomes records ---- */

struct kept {
	struct driver_record r[64];
	char cause[64][16];
	size_t n;
};

static int keep(void *ctx, size_t analyzer, const struct driver_record *r, size_t n,
		struct cvl_error *err)
{
	struct kept *k = ctx;

	(void)analyzer, (void)err;
	for (size_t i = 0; i < n && k->n < 64; i++, k->n++) {
		k->r[k->n] = r[i];
		if (r[i].what == DRIVER_EVENT && r[i].cls == POLL_RECORD_GAP)
			snprintf(k->cause[k->n], sizeof(k->cause[0]), "%s", r[i].field[1].s);
	}
	return 0;
}

static void records_come_in_order_though_gaps_are_told_later(void **state)
{
	struct kept *k = calloc(1, sizeof(*k));
	struct poll_records *t = calloc(1, sizeof(*t));
	const struct driver_sink sink = { .records = keep, .ctx = k };
	struct poll_watch w;
	const struct poll_seen seen[] = {
		{ .kind = POLL_LEVELS, .from = 1000, .to = 1010, .levels = 5 },
		{ .kind = POLL_CHANGE, .from = 2000, .to = 9001, .levels = 4, .changed = 1 },
		{ .kind = POLL_GAP, .from = 2000, .to = 9010, .asked = true, .preempted = 1 },
		{ .kind = POLL_CHANGE, .from = 9001, .to = 9015, .levels = 5, .changed = 1 },
	};
	static const struct {
		uint64_t tick;
		enum driver_what what;
	} told[] = { { 5, DRIVER_LEVELS },  { 1000, DRIVER_GAP },   { 4500, DRIVER_EDGE },
		     { 8008, DRIVER_EDGE }, { 8010, DRIVER_EVENT }, { 8500, DRIVER_NOTHING } };

	(void)state;
	poll_watch_open(&w, "", 0);
	t->sink = &sink;
	t->watch = &w;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(poll_records_seen(t, &seen[i], NULL), 0);
	assert_int_equal(poll_records_until(t, 9500, NULL), 0);
	assert_int_equal(k->n, 6);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(k->r[i].tick, told[i].tick);
		assert_int_equal(k->r[i].what, told[i].what);
	}
	assert_int_equal(k->r[0].levels, 5);
	assert_int_equal(k->r[1].gap.to, 8010);
	assert_true(k->r[1].gap.lines_known);
	/* 3500 before the middle, and 3501 behind it: the greater */
	assert_int_equal(k->r[2].half, 3501);
	assert_int_equal(k->r[2].levels, 4);
	assert_int_equal(k->r[3].half, 7);
	assert_string_equal(k->cause[4], "preempted");
	poll_watch_close(&w);
	free(t);
	free(k);
}

/* What came behind a loss is an edge too: what the lines showed before it was seen. */
static void edges_behind_a_loss_are_edges(void **state)
{
	struct kept *k = calloc(1, sizeof(*k));
	struct poll_records *t = calloc(1, sizeof(*t));
	const struct driver_sink sink = { .records = keep, .ctx = k };
	const struct poll_seen seen[] = {
		{ .kind = POLL_LEVELS, .from = 1000, .to = 1010, .levels = 0 },
		{ .kind = POLL_CHANGE, .from = 2000, .to = 2010, .levels = 1, .changed = 1 },
		{ .kind = POLL_FULL, .from = 2003, .to = 2030, .lost = 3 },
		{ .kind = POLL_CHANGE, .from = 2040, .to = 2050, .levels = 4, .changed = 2 },
	};

	(void)state;
	t->sink = &sink;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(poll_records_seen(t, &seen[i], NULL), 0);
	assert_int_equal(poll_records_until(t, 3000, NULL), 0);
	assert_int_equal(k->n, 6);
	assert_int_equal(k->r[2].what, DRIVER_GAP);
	assert_int_equal(k->r[2].tick, k->r[1].tick); /* not before what is known */
	assert_int_equal(k->r[2].gap.lost, 3);
	assert_false(k->r[2].gap.lines_known);
	assert_int_equal(k->r[3].what, DRIVER_LEVELS);
	assert_int_equal(k->r[3].levels, 6);
	assert_int_equal(k->r[4].what, DRIVER_EDGE);
	assert_int_equal(k->r[4].levels, 4);
	free(t);
	free(k);
}

static void causes_are_told_only_where_known(void **state)
{
	struct poll_watch w;
	char text[POLL_DETAIL];
	struct poll_seen g = { .kind = POLL_GAP, .asked = true };

	(void)state;
	poll_watch_open(&w, "", 4000); /* nothing is counted of it */
	assert_string_equal(poll_cause(&w, &g, text), "unknown");
	g.preempted = 1;
	assert_string_equal(poll_cause(&w, &g, text), "preempted");
	/* it waits for nothing by itself */
	g.slept = 1;
	assert_string_equal(poll_cause(&w, &g, text), "stopped");
	g.faults = 1;
	assert_string_equal(poll_cause(&w, &g, text), "page fault");
	g.moved = true;
	assert_string_equal(poll_cause(&w, &g, text), "migration");
	g = (struct poll_seen){ .kind = POLL_GAP, .preempted = 1 };
	assert_string_equal(poll_cause(&w, &g, text), "unknown");
	poll_watch_close(&w);
}

static void write_text(const char *name, const char *text)
{
	char path[400];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	for (char *p = path + strlen(scratch) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(path, 0700);
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

#define CPUFREQ "sys/devices/system/cpu/cpu3/cpufreq/"

static void what_the_kernel_counts_of_a_processor_is_a_cause(void **state)
{
	struct poll_watch w;
	char text[POLL_DETAIL];
	const struct poll_seen g = { .kind = POLL_GAP, .asked = true };
	const struct poll_seen small = { .kind = POLL_GAP };

	(void)state;
	write_text("proc/stat", "cpu  0 0 0 0 0 0 0 9\ncpu3 0 0 0 0 0 0 0 7\n");
	write_text(CPUFREQ "scaling_cur_freq", "2400000\n");
	poll_watch_open(&w, scratch, 3);
	assert_string_equal(poll_cause(&w, &g, text), "unknown");
	/* it is measured: never twice the same */
	write_text(CPUFREQ "scaling_cur_freq", "2350000\n");
	assert_string_equal(poll_cause(&w, &g, text), "unknown");
	write_text(CPUFREQ "scaling_cur_freq", "800000\n");
	assert_string_equal(poll_cause(&w, &small, text), "unknown");
	assert_string_equal(poll_cause(&w, &g, text), "frequency");
	assert_non_null(strstr(text, "; 2350 MHz, then 800"));
	assert_string_equal(poll_cause(&w, &g, text), "unknown");
	assert_null(strstr(text, "MHz"));
	/* there and back in between */
	write_text(CPUFREQ "stats/total_trans", "0\n");
	assert_string_equal(poll_cause(&w, &g, text), "unknown");
	write_text(CPUFREQ "stats/total_trans", "2\n");
	assert_string_equal(poll_cause(&w, &g, text), "frequency");
	write_text("proc/stat", "cpu  0 0 0 0 0 0 0 9\ncpu3 0 0 0 0 0 0 0 8\n");
	write_text(CPUFREQ "stats/total_trans", "3\n");
	assert_string_equal(poll_cause(&w, &g, text), "steal");
	write_text(CPUFREQ "scaling_cur_freq", "<unknown>\n");
	assert_string_equal(poll_cause(&w, &g, text), "unknown");
	poll_watch_close(&w);
}

/* ---- GPIO ---- */

static void gpio_edges_become_brackets_that_end_at_their_stamps(void **state)
{
	struct poll_source s;
	struct poll_gpio g = { .source = &s, .began = 500, .levels = 2 };
	struct gpio_v2_line_event e = { .timestamp_ns = 200000,
					.id = GPIO_V2_LINE_EVENT_RISING_EDGE,
					.offset = 4,
					.seqno = 1 };
	struct poll_seen out[POLL_GPIO_MADE];

	(void)state;
	assert_int_equal(
		poll_source_parse(&s, "gpiochip:/dev/gpiochip0,lines=4+7,latency=50us", NULL), 0);
	assert_int_equal(poll_gpio_event(&g, &e, out), 1);
	assert_int_equal(out[0].from, 150000);
	assert_int_equal(out[0].to, 200000);
	assert_int_equal(out[0].levels, 3);
	e = (struct gpio_v2_line_event){ .timestamp_ns = 300000,
					 .id = GPIO_V2_LINE_EVENT_FALLING_EDGE,
					 .offset = 7,
					 .seqno = 5 };
	assert_int_equal(poll_gpio_event(&g, &e, out), 2);
	assert_int_equal(out[0].kind, POLL_FULL);
	assert_int_equal(out[0].lost, 3);
	assert_int_equal(out[0].from, 200000);
	assert_int_equal(out[1].levels, 1);
	assert_int_equal(out[1].changed, 2);
	e.offset = 9;
	assert_int_equal(poll_gpio_event(&g, &e, out), 0);
	/* the kernel dropped what came before the first */
	g.seqno = 0;
	e = (struct gpio_v2_line_event){ .timestamp_ns = 400000,
					 .id = GPIO_V2_LINE_EVENT_RISING_EDGE,
					 .offset = 7,
					 .seqno = 3 };
	assert_int_equal(poll_gpio_event(&g, &e, out), 2);
	assert_int_equal(out[0].lost, 2);
	/* while the levels were read: it is in them if they say so */
	g.sure = 500000;
	e.seqno = 4;
	assert_int_equal(poll_gpio_event(&g, &e, out), 0);
	e.seqno = 5;
	e.id = GPIO_V2_LINE_EVENT_FALLING_EDGE;
	assert_int_equal(poll_gpio_event(&g, &e, out), 1);
	assert_int_equal(g.levels, 1);
	/* what is stamped before the levels were read is in them */
	e = (struct gpio_v2_line_event){ .timestamp_ns = 400, .offset = 7, .seqno = 6 };
	assert_int_equal(poll_gpio_event(&g, &e, out), 0);
	assert_int_equal(g.levels, 1);
}

/* ---- what the user says ---- */

static void sources_are_read_or_refused(void **state)
{
	static const char *const good[] = { "shm:/dev/shm/x",
					    "shm:x@8,width=4,mask=0xf,cpu=1,prio=80,gap=5us",
					    "mmio:/dev/gpiomem@0x34", "ioport:0x378,reverse",
					    "gpiochip:/dev/gpiochip0,lines=1" };
	static const char *const bad[] = { "",
					   "shm",
					   "shm:",
					   "usb:x",
					   "shm:x,width=3",
					   "shm:x@3",
					   "shm:x@-1",
					   "shm:x,mask=0",
					   "shm:x,width=1,mask=0x100",
					   "shm:x,prio=100",
					   "shm:x,gap=2s",
					   "shm:x,what=1",
					   "shm:x,",
					   "shm:x,lines=1",
					   "shm:x,latency=1us",
					   "shm:x@0xfffffffffffffff8",
					   "gpiochip:x,lines=1+2+1",
					   "gpiochip:x,lines=1,cpu=0",
					   "shm:x,reverse",
					   "ioport:1000000",
					   "ioport:x",
					   "ioport:0x378,width=2",
					   "gpiochip:x",
					   "gpiochip:x,lines=",
					   "gpiochip:x,lines=1++2",
					   "shm:x,cpu=" };
	struct poll_source s;
	struct cvl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(poll_source_parse(&s, good[i], &err), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(poll_source_parse(&s, bad[i], &err), CVL_E_USAGE);
	assert_int_equal(poll_source_parse(&s, NULL, &err), CVL_E_USAGE);
	assert_int_equal(poll_source_parse(&s, "shm:x,width=4,mask=0x30", &err), 0);
	assert_int_equal(poll_source_lines(&s), 6);
}

static void any_text_is_read_or_refused(void **state)
{
	static const char letters[] =
		"shm:mmioportgpiochip@,=+0x1A-/widthmaskcpupriogaplineslatencyreverse us";
	struct draw d = draw_begin(2);
	struct poll_source s;
	struct cvl_error err;
	char text[64];

	(void)state;
	for (int i = 0; i < 50000; i++) {
		size_t n = draw_below(&d, sizeof(text)), at = 0;

		if (draw_below(&d, 2))
			at = (size_t)snprintf(text, sizeof(text), "%s",
					      draw_below(&d, 2) ? "shm:a," : "gpiochip:a,");
		for (; at < n; at++)
			text[at] = letters[draw_below(&d, sizeof(letters) - 1)];
		text[at < sizeof(text) ? at : sizeof(text) - 1] = '\0';
		if (!poll_source_parse(&s, text, &err))
			assert_true(poll_source_lines(&s) >= 1 && poll_source_lines(&s) <= 64);
	}
}

static void memory_that_is_too_short_is_refused(void **state)
{
	struct poll_source s;
	struct cvl_error err;
	char path[300], text[400];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/short", scratch);
	f = fopen(path, "w");
	fputs("1234567", f);
	fclose(f);
	snprintf(text, sizeof(text), "shm:%s", path);
	assert_int_equal(poll_source_parse(&s, text, &err), 0);
	assert_int_equal(poll_source_open(&s, &err), CVL_E_ENV);
	poll_source_close(&s);
	snprintf(text, sizeof(text), "shm:%s,width=4", path);
	assert_int_equal(poll_source_parse(&s, text, &err), 0);
	assert_int_equal(poll_source_open(&s, &err), 0);
	assert_int_equal(*(const volatile uint8_t *)s.lines.at, '1');
	poll_source_close(&s);
	assert_int_equal(poll_source_parse(&s, "shm:/there/is/none", &err), 0);
	assert_int_equal(poll_source_open(&s, &err), CVL_E_ENV);
	poll_source_close(&s);
}

/* ---- figures ---- */

/* The table of the paper, section 5, had its steps been 45 in a thousand long and 3 the longest. */
static void assurance_is_by_time_and_by_steps(void **state)
{
	static const struct cvl_precision_bin bins[] = { { 1801, 2080, 3, 6240 },
							 { 1500, 1522, 955, 1453510 },
							 { 1523, 1800, 42, 75600 } };
	struct cvl_precision_clock c = { .looped = true, .longest = 2080, .widest = 4000 };
	struct cvl_precision_level l;

	(void)state;
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < 3; i++) {
			assert_int_equal(precision_bin_add(&c.step, &bins[i]), 0);
			assert_int_equal(precision_bin_add(&c.span, &bins[i]), 0);
		}
	assert_int_equal(c.step.n, 3);
	assert_int_equal(c.step.count, 2000);
	l = cvl_precision_at(&c, 0.9);
	assert_int_equal(l.tau, 1522);
	assert_true(l.steps > 0.9549 && l.steps < 0.9551);
	assert_true(l.time > 0.9466 && l.time < 0.9468);
	/* a share of the steps is not one of the time */
	assert_int_equal(cvl_precision_at(&c, 0.955).tau, 1800);
	assert_int_equal(cvl_precision_at(&c, 0.997).tau, 2080);
	l = cvl_precision_at(&c, 1);
	assert_int_equal(l.tau, 2080);
	assert_int_equal(l.bracket, 4000);
	free(c.step.bin);
	free(c.span.bin);
}

static void points_are_read_or_refused(void **state)
{
	static const char *const bad[] = { "",       ":rise",      "a:b=",      "a:=1",
					   "a:b=1,", "a:b=1,,c=2", "a:b=1,rise" };
	struct cvl_selector p;
	struct cvl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(cvl_selector_parse(&p, bad[i], strlen(bad[i]), &err),
				 CVL_E_SYNTAX);
	assert_int_equal(cvl_selector_parse(&p, "D0:fall", 7, &err), 0);
	assert_int_equal(p.when, CVL_WHEN_FALL);
	cvl_selector_free(&p);
	assert_int_equal(cvl_selector_parse(&p, "edge:levels=0x10..", 16, &err), 0);
	assert_int_equal(p.n_conditions, 1);
	assert_string_equal(p.condition[0].field, "levels");
	assert_true(p.condition[0].is_number && p.condition[0].number == 16);
	cvl_selector_free(&p);
	assert_int_equal(cvl_selector_parse(&p, "event:probe=2,code=3", 20, &err), 0);
	assert_int_equal(p.n_conditions, 2);
	assert_string_equal(p.condition[1].field, "code");
	assert_true(p.condition[1].number == 3);
	cvl_selector_free(&p);
}

static void lists_of_processors_are_read(void **state)
{
	(void)state;
	assert_true(facts_in_list("0-3,8", 2));
	assert_true(facts_in_list("0-3,8", 8));
	assert_false(facts_in_list("0-3,8", 4));
	assert_false(facts_in_list("", 0));
	assert_false(facts_in_list("\n", 0));
}

static void an_isolated_processor_is_best(void **state)
{
	unsigned others;

	(void)state;
	write_text("sys/devices/system/cpu/online", "0-3,6\n");
	write_text("sys/devices/system/cpu/isolated", "\n");
	assert_int_equal(facts_best_cpu(scratch, &others), 6);
	assert_int_equal(others, 4);
	write_text("sys/devices/system/cpu/isolated", "2-3\n");
	assert_int_equal(facts_best_cpu(scratch, &others), 2);
	assert_int_equal(others, 4);
	assert_int_equal(facts_best_cpu("/there/is/none", &others), 0);
	assert_int_equal(others, 0);
}

/*
 * Each span is a gap: they are reported in parts, in order, and nothing is said to be over that may
 * still come.
 */
static void gaps_that_never_end_are_told_in_parts(void **state)
{
	struct timed *t = aligned_alloc(64, sizeof(*t));
	uint64_t safe, last = 0, end = 0;
	unsigned parts = 0;
	struct poll_seen s;
	pthread_t thread;

	(void)state;
	memset(t, 0, sizeof(*t));
	t->loop.ring = calloc(4096, sizeof(*t->loop.ring));
	t->loop.size = 4096;
	t->loop.asked_ticks = UINT64_MAX;
	t->loop.part_ticks = 10000000;
	t->loop.lines = (struct poll_lines){ .at = &t->word, .width = 8, .mask = UINT64_MAX };
	assert_int_equal(pthread_create(&thread, NULL, run_loop, &t->loop), 0);
	while (parts < 5) {
		safe = atomic_load(&t->loop.safe);
		while (poll_take(&t->loop, &s)) {
			assert_true(s.from >= last);
			if (s.kind == POLL_GAP && end)
				assert_true(s.from <= end);
			if (s.kind == POLL_GAP)
				end = s.to;
			parts += s.kind == POLL_GAP;
		}
		last = safe;
		sched_yield();
	}
	atomic_store(&t->loop.stop, true);
	pthread_join(thread, NULL);
	free(t->loop.ring);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_store_meets_its_bracket_or_lies_in_a_gap),
		cmocka_unit_test(so_it_does_under_load),
		cmocka_unit_test(counters_a_tick_apart_count_in_comparisons),
		cmocka_unit_test(counters_far_apart_are_shown_to_be),
		cmocka_unit_test(the_step_of_a_counter_is_found),
		cmocka_unit_test(two_threads_measure_what_is_between_them),
		cmocka_unit_test(a_number_lies_in_its_bin),
		cmocka_unit_test(a_full_ring_is_a_loss_that_is_told),
		cmocka_unit_test(records_come_in_order_though_gaps_are_told_later),
		cmocka_unit_test(edges_behind_a_loss_are_edges),
		cmocka_unit_test(causes_are_told_only_where_known),
		cmocka_unit_test(what_the_kernel_counts_of_a_processor_is_a_cause),
		cmocka_unit_test(gpio_edges_become_brackets_that_end_at_their_stamps),
		cmocka_unit_test(sources_are_read_or_refused),
		cmocka_unit_test(any_text_is_read_or_refused),
		cmocka_unit_test(memory_that_is_too_short_is_refused),
		cmocka_unit_test(assurance_is_by_time_and_by_steps),
		cmocka_unit_test(points_are_read_or_refused),
		cmocka_unit_test(lists_of_processors_are_read),
		cmocka_unit_test(an_isolated_processor_is_best),
		cmocka_unit_test(gaps_that_never_end_are_told_in_parts),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
