/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/random.h"
#include "decode/itm_clock.h"

#define MAX 20000

/* A chip that sends packets with timestamps: what happened when is known. */
struct chip {
	struct sim_random r;
	bool global, local;
	unsigned prescaler;
	uint64_t now;     /* cycles */
	uint64_t counted; /* local ticks told of so far */
	double ratio;     /* global counts a cycle */
	double global_now;
	uint64_t high; /* of the global timestamp, as told last */
	bool high_told;
	uint64_t packets;
};

struct seen {
	uint64_t truth[MAX];
	size_t sent, got;
	uint64_t inside, open, exact, width, slips;
	uint64_t last_middle;
	bool fell;
	bool slipped;
};

static struct seen seen;
static struct itm_clock itm_clock;

static void take(void *ctx, const struct itm_packet *p, struct itm_when when)
{
	struct seen *s = ctx;
	uint64_t middle;

	if (when.to == ITM_OPEN) {
		middle = when.from > s->last_middle ? when.from : s->last_middle;
	} else {
		assert_true(when.from <= when.to);
		middle = when.from + (when.to - when.from) / 2;
	}
	s->fell = s->fell || middle < s->last_middle;
	s->last_middle = middle;
	if (p->kind != ITM_SOFTWARE)
		return;
	assert_int_equal(p->value, s->got);
	if (when.to == ITM_OPEN)
		s->open++;
	else
		s->width += when.to - when.from;
	s->exact += when.from == when.to;
	s->inside += s->truth[s->got] >= when.from && s->truth[s->got] <= when.to;
	s->got++;
}

static void slip(void *ctx, uint64_t at, uint64_t ticks)
{
	struct seen *s = ctx;

	(void)at;
	assert_true(ticks > 0);
	s->slips++;
}

static const struct itm_clock_sink sink = { take, slip, &seen };

static void pass(struct chip *c, uint64_t cycles)
{
	c->now += cycles;
	c->global_now += (double)cycles * c->ratio;
}

static void event(struct chip *c)
{
	assert_true(seen.sent < MAX);
	seen.truth[seen.sent] = c->global ? (uint64_t)c->global_now : c->now;
	itm_clock_put(&itm_clock,
		      &(struct itm_packet){ .kind = ITM_SOFTWARE, .value = seen.sent, .size = 4 });
	seen.sent++;
}

static void local(struct chip *c, enum itm_relation relation)
{
	uint64_t ticks = c->now / c->prescaler;

	itm_clock_put(&itm_clock, &(struct itm_packet){ .kind = ITM_LOCAL_TS,
							.value = ticks - c->counted,
							.source = relation,
							.length = 4 });
	c->counted = ticks;
}

static void global(struct chip *c, bool changed)
{
	uint64_t value = (uint64_t)c->global_now, high = value >> 26;
	bool wrap = !c->high_told || high != c->high;

	itm_clock_put(&itm_clock, &(struct itm_packet){
					  .kind = ITM_GLOBAL_TS1,
					  .value = value & 0x3ffffff,
					  .size = 4,
					  .source = (changed ? ITM_GTS_CLOCK_CHANGE : 0u) |
						    (wrap ? ITM_GTS_WRAP : 0u),
				  });
	if (wrap)
		itm_clock_put(&itm_clock,
			      &(struct itm_packet){ .kind = ITM_GLOBAL_TS2, .value = high });
	c->high = high;
	c->high_told = true;
}

static void run(struct chip *c, unsigned events, bool overflows, bool changes)
{
	memset(&seen, 0, sizeof(seen));
	itm_clock_init(&itm_clock, c->global, c->prescaler, &sink);
	if (c->global)
		global(c, false);
	for (unsigned i = 0; i < events; i++) {
		bool changed = changes && sim_u64(&c->r) % 50 == 0;

		pass(c, sim_u64(&c->r) % (sim_u64(&c->r) % 20 ? 300 : 1000000));
		if (changed)
			c->ratio *= 0.5 + sim_uniform(&c->r);
		if (overflows && sim_u64(&c->r) % 10 == 0)
			itm_clock_put(&itm_clock, &(struct itm_packet){ .kind = ITM_OVERFLOW });
		event(c);
		if (c->local && sim_u64(&c->r) % 3) {
			bool late = sim_u64(&c->r) % 4 == 0;

			if (late)
				pass(c, sim_u64(&c->r) % 100);
			local(c, late ? ITM_TS_LATE : ITM_TS_EXACT);
		}
		if (c->global && (changed || sim_u64(&c->r) % 8 == 0))
			global(c, changed);
	}
	itm_clock_end(&itm_clock);
	assert_int_equal(seen.got, seen.sent);
	assert_false(seen.fell);
}

static void local_timestamps_hold_what_they_stand_behind(void **state)
{
	static const unsigned prescalers[] = { 1, 4, 16, 64 };

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct chip c = {
			.r = { seed }, .local = true, .prescaler = prescalers[seed % 4], .ratio = 1
		};

		run(&c, 500, seed % 2, false);
		if (seen.inside != seen.got)
			fail_msg("seed %llu: %llu of %zu inside", (unsigned long long)seed,
				 (unsigned long long)seen.inside, seen.got);
		assert_true(seen.open < 30);
		assert_int_equal(seen.slips, 0);
		if (c.prescaler == 1)
			assert_true(seen.exact > seen.got / 3);
	}
}

/* The global count is the clock; the prescaler is unknown, and the clock's ratio changes. */
static void global_timestamps_need_no_prescaler_and_stand_clock_changes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct chip c = { .r = { seed },
				  .global = true,
				  .local = seed % 3 != 0,
				  .prescaler = seed % 2 ? 4 : 1,
				  .ratio = 0.1 + 2 * sim_uniform(&(struct sim_random){ seed }) };

		c.global_now = seed % 5 ? 0 : 66000000; /* the low part wraps soon */
		run(&c, 500, seed % 2, seed % 4 == 0);
		if (seen.inside != seen.got)
			fail_msg("seed %llu: %llu of %zu inside", (unsigned long long)seed,
				 (unsigned long long)seen.inside, seen.got);
		assert_int_equal(seen.slips, 0);
	}
}

/* Local timestamps make the bounds of global ones narrower. */
static void local_timestamps_narrow_global_ones(void **state)
{
	uint64_t with, without;

	(void)state;
	struct chip a = { .r = { 5 }, .global = true, .local = true, .prescaler = 1, .ratio = 1 };
	struct chip b = { .r = { 5 }, .global = true, .prescaler = 1, .ratio = 1 };

	run(&a, 2000, false, false);
	with = seen.width / seen.got;
	run(&b, 2000, false, false);
	without = seen.width / seen.got;
	assert_true(with * 3 < without);
}

static void lost_bytes_make_local_ticks_slip(void **state)
{
	const struct itm_packet bad = { .kind = ITM_BAD, .length = 12 };

	(void)state;
	memset(&seen, 0, sizeof(seen));
	itm_clock_init(&itm_clock, false, 1, &sink);
	itm_clock_put(&itm_clock, &bad);
	assert_int_equal(seen.slips, 1);
	memset(&seen, 0, sizeof(seen));
	itm_clock_init(&itm_clock, true, 1, &sink);
	itm_clock_put(&itm_clock, &bad);
	assert_int_equal(seen.slips, 0);
}

static void a_global_count_that_is_set_back_slips_and_goes_on(void **state)
{
	struct chip c = { .r = { 1 }, .global = true, .prescaler = 1, .ratio = 1 };

	(void)state;
	memset(&seen, 0, sizeof(seen));
	itm_clock_init(&itm_clock, true, 1, &sink);
	c.global_now = 1e12;
	global(&c, false);
	c.global_now = 1000;
	global(&c, false);
	c.global_now = 2000;
	global(&c, false);
	itm_clock_end(&itm_clock);
	assert_int_equal(seen.slips, 1);
	assert_false(seen.fell);
	assert_int_equal(seen.last_middle, 1000000001000);
}

static void without_any_timestamp_ends_are_open(void **state)
{
	struct chip c = { .r = { 1 }, .prescaler = 1 };

	(void)state;
	memset(&seen, 0, sizeof(seen));
	itm_clock_init(&itm_clock, false, 1, &sink);
	for (unsigned i = 0; i < 10000; i++)
		event(&c);
	itm_clock_end(&itm_clock);
	assert_int_equal(seen.got, 10000);
	assert_int_equal(seen.open, 10000);
}

static void any_packets_give_spans_that_do_not_fall(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct sim_random r = { seed };
		struct itm_packet p;

		memset(&seen, 0, sizeof(seen));
		itm_clock_init(&itm_clock, seed % 2, seed % 3 ? 1 : 64, &sink);
		for (unsigned i = 0; i < 3000; i++) {
			p = (struct itm_packet){
				.kind = (uint8_t)(sim_u64(&r) % ITM_KINDS),
				.value = sim_u64(&r) >> (36 + sim_u64(&r) % 28),
				.source = (uint32_t)(sim_u64(&r) % 4),
				.size = (uint8_t)(sim_u64(&r) % 5),
				.length = (uint16_t)sim_u64(&r),
			};
			if (p.kind == ITM_SOFTWARE)
				p.value = seen.sent++;
			itm_clock_put(&itm_clock, &p);
		}
		itm_clock_end(&itm_clock);
		assert_int_equal(seen.got, seen.sent);
		assert_false(seen.fell);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local_timestamps_hold_what_they_stand_behind),
		cmocka_unit_test(global_timestamps_need_no_prescaler_and_stand_clock_changes),
		cmocka_unit_test(local_timestamps_narrow_global_ones),
		cmocka_unit_test(lost_bytes_make_local_ticks_slip),
		cmocka_unit_test(a_global_count_that_is_set_back_slips_and_goes_on),
		cmocka_unit_test(without_any_timestamp_ends_are_open),
		cmocka_unit_test(any_packets_give_spans_that_do_not_fall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
