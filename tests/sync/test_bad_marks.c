/* SPDX-License-Identifier: MIT */
/*
 * Marks that make little sense or none, to every estimator, with and without a reference: a verdict
 * and its reason or an error, no number that is none, nothing that takes long, and no clock called
 * good that is not.
 *
 *   BAD_MARKS=N, BAD_MARKS=:I           so much garbage, or only that of number I
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <coeval/sync.h>

#include "test_draw.h"
#include "test_scratch.h"
#include "tier.h"

#define SECOND INT64_C(1000000000)
#define DAY (86400 * SECOND)
#define CLOCKS_MAX 4
#define SLOW_S 2.0
#define FLAWS_TOLD 20
#define SEQ_MAX (INT64_MAX / SECOND) /* beyond, beacons are dropped when they are read */

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

/* ---- what clocks heard ---- */

enum { PULSE = UINT32_MAX }; /* as a sender */

struct note {
	uint64_t tick, number;
	uint32_t sender;
};

struct clock {
	uint64_t rate_hz, base_tick;
	int64_t start_unix_ns;
	struct note *note; /* in the order they are written */
	size_t n, capacity;
};

struct bad {
	const char *what;
	uint64_t id; /* of a random one */
	struct clock clock[CLOCKS_MAX];
	size_t n_clocks;
	int64_t period_ns;
	bool pulses;
	struct cvl_session *session;
	unsigned good, degraded, untied, errors;
};

static void begin(struct bad *b, const char *what, size_t n_clocks, uint64_t rate_hz)
{
	*b = (struct bad){ .what = what, .n_clocks = n_clocks, .period_ns = SECOND };
	for (size_t i = 0; i < n_clocks; i++)
		b->clock[i].rate_hz = rate_hz;
}

static void note(struct bad *b, size_t clock, uint64_t tick, uint32_t sender, uint64_t number)
{
	struct clock *c = &b->clock[clock];

	if (c->n == c->capacity) {
		c->capacity = c->capacity ? 2 * c->capacity : 64;
		c->note = realloc(c->note, c->capacity * sizeof(*c->note));
		assert_non_null(c->note);
	}
	b->pulses = b->pulses || sender == PULSE;
	c->note[c->n++] = (struct note){ tick, number, sender };
}

static void write_clock(struct bad *b, size_t i)
{
	static const char *const lines[] = { "PPS" }, *const names[] = { "A", "B", "C", "D" };
	static const struct cvl_origin origin = { .format = "test", .path = "-" };
	const struct clock *c = &b->clock[i];
	const struct cvl_store_desc desc = { .clock = names[i],
					     .rate_hz = c->rate_hz,
					     .resolution = 1,
					     .base_tick = c->base_tick,
					     .start_unix_ns = c->start_unix_ns,
					     .lines = lines,
					     .n_lines = 1 };
	uint64_t level = 0, end = 0;
	struct cvl_writer *w;
	struct cvl_error err;

	ok(cvl_session_add(b->session, &desc, &origin, &w, &err), &err);
	ok(cvl_writer_levels(w, (struct cvl_tick){ 0 }, 0, &err), &err);
	for (size_t k = 0; k < c->n; k++) {
		const struct cvl_tick tick = { c->note[k].tick };

		end = tick.count > end ? tick.count : end;
		if (c->note[k].sender != PULSE) {
			ok(cvl_writer_beacon(w, tick, c->note[k].sender, c->note[k].number, &err),
			   &err);
			continue;
		}
		for (int up = 1; up >= 0; up--) {
			level = (uint64_t)up;
			ok(cvl_writer_edges(w, &tick, &level, 1, &err), &err);
		}
	}
	ok(cvl_session_finish(b->session, w, (struct cvl_tick){ end }, &err), &err);
}

static void write_session(struct bad *b)
{
	static unsigned number;
	struct cvl_error err;
	char path[300];

	snprintf(path, sizeof(path), "%s/s%u", scratch, number++);
	ok(cvl_session_create(&b->session, path, &err), &err);
	for (size_t i = 0; i < b->n_clocks; i++)
		write_clock(b, i);
	cvl_session_close(b->session);
	ok(cvl_session_open(&b->session, path, NULL, &err), &err);
}

/* ---- what must hold of any answer ---- */

struct look {
	const struct bad *b;
	const char *estimator, *reference;
};

/* Of the running test; all are printed, up to a limit, and make it fail in the end. */
static unsigned flaws;

static int no_flaws(void **state)
{
	unsigned n = flaws;

	(void)state;
	flaws = 0;
	return n ? -1 : 0;
}

__attribute__((format(printf, 2, 3))) static void flaw(const struct look *l, const char *fmt, ...)
{
	char text[1000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (flaws++ < FLAWS_TOLD)
		print_error("%s %" PRIu64 ", %s, reference %s: %s\n", l->b->what, l->b->id,
			    l->estimator, l->reference ? l->reference : "none", text);
}

static void is_number(const struct look *l, double v, const char *of, const char *what)
{
	if (!isfinite(v))
		flaw(l, "%s of %s is %g", what, of, v);
}

static void check_map(const struct look *l, const struct cvl_clock_sync *c)
{
	struct cvl_map_spec m;
	struct cvl_knot k;
	int64_t before = INT64_MIN;

	cvl_map_describe(c->map, &m);
	is_number(l, m.before.rate_ppb + m.before.drift_ppb + m.before.wander_ppb_s, c->clock,
		  "edge before");
	is_number(l, m.after.rate_ppb + m.after.drift_ppb + m.after.wander_ppb_s, c->clock,
		  "edge after");
	for (size_t i = 0; i < m.n; i++) {
		int64_t bound, t;

		cvl_map_knot(c->map, i, &k, NULL);
		t = cvl_map_time(c->map, k.tick, &bound).ns;
		if (t < before || bound < 0)
			flaw(l, "%s: %" PRId64 " +-%" PRId64 " after %" PRId64, c->clock, t, bound,
			     before);
		before = t;
	}
}

static void check_clock(const struct look *l, const struct cvl_clock_sync *c)
{
	if (!c->reason[0])
		flaw(l, "%s: no reason", c->clock);
	if (!c->map != (c->verdict == CVL_UNSYNCHRONISED))
		flaw(l, "%s: %s, and the map is%s there", c->clock, cvl_verdict_name(c->verdict),
		     c->map ? "" : " not");
	if (strstr(c->reason, "nan") || strstr(c->reason, "inf "))
		flaw(l, "%s: %s", c->clock, c->reason);
	is_number(l, c->rate_ppb, c->clock, "rate");
	is_number(l, c->rate_bound_ppb, c->clock, "bound of the rate");
	is_number(l, c->residuals.mean, c->clock, "mean residual");
	is_number(l, c->residuals.sd, c->clock, "sd of the residuals");
	is_number(l, c->residuals.min, c->clock, "least residual");
	is_number(l, c->residuals.max, c->clock, "greatest residual");
	if (c->bound_min < 0 || c->bound_min > c->bound_max)
		flaw(l, "%s: bounds from %" PRId64 " to %" PRId64, c->clock, c->bound_min,
		     c->bound_max);
	if (c->map)
		check_map(l, c);
}

static void see_residual(void *ctx, struct cvl_time t, double residual_ns)
{
	(void)t;
	is_number(ctx, residual_ns, "a mark", "residual");
}

/* What was saved is loaded again, as it was. */
static void check_file(const struct look *l, const struct cvl_sync *sync)
{
	struct cvl_sync *back = NULL;
	struct cvl_error err;
	int rc = cvl_sync_save(sync, l->b->session, &err);

	if (!rc)
		rc = cvl_sync_load(&back, l->b->session, &err);
	if (rc != 1)
		flaw(l, "not loaded again: %s", rc < 0 ? err.text : "no file");
	for (size_t i = 0; back && i < sync->n; i++)
		if (back->clock[i].verdict != sync->clock[i].verdict ||
		    !back->clock[i].map != !sync->clock[i].map)
			flaw(l, "%s is another when loaded", sync->clock[i].clock);
	cvl_sync_free(back);
}

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef void checker(const struct look *l, const struct cvl_sync *sync);

static void solve(struct bad *b, const struct cvl_observations *obs, const char *estimator,
		  const char *reference, checker *more)
{
	struct look l = { b, estimator, reference };
	struct cvl_sync *sync = NULL;
	struct cvl_error err = { 0 };
	double began = cpu_s();
	int rc = cvl_sync_solve(&sync, obs, estimator, &err);

	if (cpu_s() - began > SLOW_S)
		flaw(&l, "took %.1f s", cpu_s() - began);
	if (rc) {
		b->errors++;
		if (rc != (int)err.code || !err.text[0] || sync)
			flaw(&l, "error %d: '%s'", rc, err.text);
		if (rc == CVL_E_NOMEM)
			flaw(&l, "%s", err.text);
		return;
	}
	for (size_t i = 0; i < sync->n; i++) {
		const struct cvl_clock_sync *c = &sync->clock[i];

		check_clock(&l, c);
		ok(cvl_sync_residuals(sync, obs, i, see_residual, &l, &err), &err);
		b->good += c->verdict == CVL_GOOD && c->used;
		b->degraded += c->verdict == CVL_DEGRADED;
		b->untied += c->verdict == CVL_UNSYNCHRONISED;
	}
	if (!reference)
		check_file(&l, sync);
	if (more)
		more(&l, sync);
	cvl_sync_free(sync);
}

static struct cvl_sync_opts opts_of(const struct bad *b, const char *reference)
{
	struct cvl_sync_opts opts = { .beacon_period_ns = b->period_ns, .reference = reference };

	if (b->pulses) {
		snprintf(opts.pulse[0].line, sizeof(opts.pulse[0].line), "PPS");
		opts.pulse[0].rising = true;
		opts.pulse[0].period_ns = b->period_ns;
		opts.n_pulse = 1;
	}
	return opts;
}

/* All estimators, with no reference, the first clock and the last. Frees what @b has. */
static void check(struct bad *b, checker *more)
{
	static const char *const names[] = { "A", "B", "C", "D" };

	write_session(b);
	for (int r = 0; r < 3; r++) {
		const char *reference = r ? names[r == 1 ? 0 : b->n_clocks - 1] : NULL;
		struct cvl_sync_opts opts = opts_of(b, reference);
		struct cvl_observations *obs;
		struct cvl_error err;

		if (r == 2 && b->n_clocks == 1)
			break;
		ok(cvl_observe(&obs, b->session, &opts, &err), &err);
		for (size_t i = 0; cvl_sync_estimator(i); i++)
			solve(b, obs, cvl_sync_estimator(i)->name, reference, more);
		cvl_observations_free(obs);
	}
	cvl_session_close(b->session);
	for (size_t i = 0; i < b->n_clocks; i++)
		free(b->clock[i].note);
}

/* ---- few marks, and the same again and again ---- */

static void none_is_good(const struct look *l, const struct cvl_sync *sync)
{
	for (size_t i = 0; i < sync->n; i++)
		if (sync->clock[i].verdict == CVL_GOOD &&
		    !(l->reference && !strcmp(l->reference, sync->clock[i].clock)))
			flaw(l, "%s is called good: %s, bound %" PRId64 " to %" PRId64,
			     sync->clock[i].clock, sync->clock[i].reason, sync->clock[i].bound_min,
			     sync->clock[i].bound_max);
}

static void up_to_three_marks(void **state)
{
	(void)state;
	for (int pulses = 0; pulses < 2; pulses++)
		for (uint64_t n = 0; n < 4; n++) {
			struct bad b;

			begin(&b, "marks", 2, 1000000);
			b.id = n;
			for (size_t c = 0; c < 2; c++)
				for (uint64_t k = 0; k < n; k++)
					note(&b, c, 1000000 * (k + 1), pulses ? PULSE : 1, k);
			check(&b, none_is_good);
			assert_int_equal(b.good, 0);
		}
}

static void the_same_tick_again_and_again(void **state)
{
	(void)state;
	for (int pulses = 0; pulses < 2; pulses++)
		for (int numbers = 0; numbers < 2; numbers++) {
			struct bad b;

			begin(&b, "the same tick", 2, 1000000);
			b.id = (uint64_t)(2 * pulses + numbers);
			for (size_t c = 0; c < 2; c++)
				for (uint64_t k = 0; k < 50; k++)
					note(&b, c, 5000000, pulses ? PULSE : 1, numbers ? k : 7);
			check(&b, none_is_good);
		}
}

static void the_same_number_again_and_again(void **state)
{
	struct bad b;

	(void)state;
	begin(&b, "the same number", 2, 1000000);
	for (size_t c = 0; c < 2; c++)
		for (uint64_t k = 0; k < 50; k++)
			note(&b, c, 1000000 * (k + 1), 1, 7);
	check(&b, none_is_good);
}

static void numbers_that_fall(void **state)
{
	struct bad b;

	(void)state;
	begin(&b, "falling numbers", 2, 1000000);
	for (size_t c = 0; c < 2; c++)
		for (uint64_t k = 0; k < 50; k++)
			note(&b, c, 1000000 * (k + 1), 1, 1000 - k);
	check(&b, none_is_good);
}

/* ---- what a sound world must come to, whatever else is heard ---- */

static double jitter(struct draw *d, double sd)
{
	return sd * sqrt(-2 * log(1 - (double)(draw_u64(d) >> 11) * 0x1p-53)) *
	       cos(2 * M_PI * (double)(draw_u64(d) >> 11) * 0x1p-53);
}

/* Clock @c hears marks @from .. @from + @n - 1 with 0.5 us of jitter. */
static void hear(struct bad *b, struct draw *d, size_t c, uint64_t from, uint64_t n,
		 uint32_t sender)
{
	long double ticks = (long double)b->clock[c].rate_hz * 1e-9L * (long double)b->period_ns;

	for (uint64_t k = 0; k < n; k++)
		note(b, c,
		     (uint64_t)((long double)(k + 2) * ticks * (1 + 20e-6L * (long double)c) +
				(long double)b->clock[c].rate_hz *
					(1e-3L + (long double)jitter(d, 5e-7))),
		     sender, from + k);
}

/*
 * All that are called good give mark @k of the first clock and of the others the same time, nearly
 * always.
 */
static void good_agree(const struct look *l, const struct cvl_sync *sync)
{
	const struct bad *b = l->b;

	for (size_t c = 1; c < b->n_clocks; c++) {
		size_t n = b->clock[0].n < b->clock[c].n ? b->clock[0].n : b->clock[c].n, off = 0;
		double worst = 0;

		if (sync->clock[0].verdict != CVL_GOOD || sync->clock[c].verdict != CVL_GOOD)
			continue;
		for (size_t k = 0; k < n; k++) {
			int64_t bound[2];
			struct cvl_tick t0 = { b->clock[0].note[k].tick },
					t = { b->clock[c].note[k].tick };
			double apart = (double)(cvl_map_time(sync->clock[0].map, t0, &bound[0]).ns -
						cvl_map_time(sync->clock[c].map, t, &bound[1]).ns);
			double tick_ns = 1e9 / (double)b->clock[c].rate_hz +
					 1e9 / (double)b->clock[0].rate_hz;
			double reach = (double)bound[0] + (double)bound[1] + tick_ns + 6 * 700;

			if (!(fabs(apart) <= reach)) {
				off++;
				worst = fmax(worst, fabs(apart));
			}
		}
		if (off * 20 > n)
			flaw(l, "%s: %zu of %zu marks are off, by up to %.3g ns: %s",
			     sync->clock[c].clock, off, n, worst, sync->clock[c].reason);
	}
}

static void hundreds_of_senders_heard_once_or_twice(void **state)
{
	struct draw d = draw_begin(1);
	struct bad b;

	(void)state;
	begin(&b, "hundreds of senders", 3, 1000000);
	for (size_t c = 0; c < 3; c++) {
		hear(&b, &d, c, 100, 100, 1);
		for (uint32_t s = 0; s < 900; s++)
			note(&b, c, 102100000 + draw_below(&d, 100000) + 200000 * s,
			     1000 + (uint32_t)draw_below(&d, 700), draw_u64(&d));
	}
	check(&b, NULL);
	assert_true(b.good > 0);
}

static void thousands_of_senders(void **state)
{
	struct draw d = draw_begin(2);
	struct cvl_observations *obs;
	struct cvl_error err;
	struct bad b;
	struct cvl_sync_opts opts;
	int rc;

	(void)state;
	begin(&b, "thousands of senders", 1, 1000000);
	hear(&b, &d, 0, 100, 100, 1);
	for (uint32_t s = 0; s < 5000; s++)
		note(&b, 0, 102100000 + 1000 * s, 1000 + s, s);
	write_session(&b);
	opts = opts_of(&b, NULL);
	rc = cvl_observe(&obs, b.session, &opts, &err);
	if (rc)
		printf("5000 senders: %s\n", err.text);
	cvl_observations_free(rc ? NULL : obs);
	cvl_session_close(b.session);
	free(b.clock[0].note);
}

static void a_reference_that_heard_nothing(void **state)
{
	struct draw d = draw_begin(3);
	struct bad b;

	(void)state;
	begin(&b, "deaf reference", 3, 1000000);
	hear(&b, &d, 1, 100, 50, 1);
	hear(&b, &d, 2, 100, 50, 1);
	check(&b, NULL);
	begin(&b, "reference of three marks", 3, 1000000);
	hear(&b, &d, 0, 100, 3, 1);
	hear(&b, &d, 1, 100, 50, 1);
	hear(&b, &d, 2, 100, 50, 1);
	check(&b, NULL);
}

/* Pulses are asked for, and the line is there, but nothing ever came by it. */
static void a_line_without_pulses_beside_beacons(void **state)
{
	struct draw d = draw_begin(4);
	struct bad b;

	(void)state;
	begin(&b, "no pulses", 2, 1000000);
	b.pulses = true;
	for (size_t c = 0; c < 2; c++)
		hear(&b, &d, c, 100, 50, 1);
	check(&b, good_agree);
	printf("a line without pulses beside beacons: %u good, %u degraded, %u untied\n", b.good,
	       b.degraded, b.untied);
}

static void out_of_order(void **state)
{
	struct draw d = draw_begin(5);
	struct bad b;

	(void)state;
	begin(&b, "out of order", 2, 1000000);
	for (size_t c = 0; c < 2; c++) {
		hear(&b, &d, c, 100, 100, 1);
		for (size_t i = 99; i > 0; i--) {
			size_t k = (size_t)draw_below(&d, i + 1);
			struct note swap = b.clock[c].note[i];

			b.clock[c].note[i] = b.clock[c].note[k];
			b.clock[c].note[k] = swap;
		}
	}
	check(&b, none_is_good);
}

/* The second clock goes back by @by s in the middle, or on. */
static void jumping(double by)
{
	struct draw d = draw_begin(6);
	struct bad b;

	begin(&b, "a clock that jumps", 3, 1000000);
	b.id = (uint64_t)(by < 0 ? -by * 1e6 : by * 1e6);
	for (size_t c = 0; c < 3; c++)
		hear(&b, &d, c, 100, 100, 1);
	for (size_t i = 50; i < 100; i++)
		b.clock[1].note[i].tick += (uint64_t)(int64_t)(by * 1e6);
	check(&b, good_agree);
}

static void a_clock_that_jumps(void **state)
{
	static const double by[] = { -20, -0.5, -1e-3, 1e-4, 0.5, 1, 2, 20, 1e6 };

	(void)state;
	for (size_t i = 0; i < sizeof(by) / sizeof(*by); i++)
		jumping(by[i]);
}

/* ---- numbers at their ends ---- */

static void numbers_near_the_end(void **state)
{
	static const uint64_t from[] = { SEQ_MAX - 99, SEQ_MAX - 20, (uint64_t)INT64_MAX - 20,
					 UINT64_MAX - 20, UINT32_MAX - 20u };
	struct draw d = draw_begin(7);

	(void)state;
	for (int day = 0; day < 2; day++)
		for (size_t i = 0; i < sizeof(from) / sizeof(*from); i++) {
			struct bad b;

			begin(&b, "numbers near the end", 2, 1000);
			b.id = from[i];
			b.period_ns = day ? DAY : SECOND;
			for (size_t c = 0; c < 2; c++)
				hear(&b, &d, c, from[i], 60, 1);
			check(&b, good_agree);
		}
}

static void ticks_near_the_end(void **state)
{
	static const uint64_t rates[] = { 1, 1000000000, UINT64_C(10000000000) };

	(void)state;
	for (int base = 0; base < 2; base++)
		for (size_t r = 0; r < 3; r++) {
			struct bad b;

			begin(&b, "ticks near the end", 2, rates[r]);
			b.id = rates[r];
			for (size_t c = 0; c < 2; c++) {
				b.clock[c].base_tick = base ? UINT64_MAX / 2 : 0;
				for (uint64_t k = 0; k < 50; k++)
					note(&b, c, UINT64_MAX - (60 - k) * rates[r], 1, 100 + k);
			}
			check(&b, good_agree);
		}
}

static void decades_apart(void **state)
{
	struct draw d = draw_begin(8);

	(void)state;
	for (uint64_t years = 1; years <= 1000; years *= 10) {
		struct bad b;

		begin(&b, "years apart", 2, 1000000);
		b.id = years;
		for (size_t c = 0; c < 2; c++) {
			hear(&b, &d, c, 100, 20, 1);
			for (size_t i = 10; i < 20; i++) {
				b.clock[c].note[i].number += years * 365 * 86400;
				b.clock[c].note[i].tick +=
					(uint64_t)((long double)years * 365 * 86400 * 1e6L *
						   (1 + 20e-6L * (long double)c));
			}
		}
		check(&b, NULL);
	}
}

static void periods_and_rates(void **state)
{
	static const int64_t periods[] = { 1, 1000, SECOND, 3600 * SECOND, DAY };
	static const uint64_t rates[] = { 1, 1000, 1000000000, UINT64_C(10000000000) };
	struct draw d = draw_begin(9);

	(void)state;
	for (int pulses = 0; pulses < 2; pulses++)
		for (size_t p = 0; p < 5; p++)
			for (size_t r = 0; r < 4; r++) {
				struct bad b;

				begin(&b, pulses ? "pulses" : "beacons", 2, rates[r]);
				b.period_ns = periods[p];
				b.id = (uint64_t)periods[p];
				for (size_t c = 0; c < 2; c++)
					hear(&b, &d, c, 100, 40, pulses ? PULSE : 1);
				check(&b, NULL);
			}
}

/* ---- anything ---- */

static uint64_t any_tick(struct draw *d, int kind, uint64_t k, uint64_t before, uint64_t rate_hz)
{
	switch (kind) {
	case 0: return draw_u64(d);
	case 1: return draw_size(d, 64);
	case 2: return draw_below(d, 60 * rate_hz);
	case 3: return before + draw_below(d, 3 * rate_hz);
	case 4: return before;
	default: return (k + 5) * rate_hz + draw_below(d, rate_hz / 1000 + 1);
	}
}

static uint64_t any_number(struct draw *d, int kind, uint64_t k)
{
	switch (kind) {
	case 0: return draw_u64(d);
	case 1: return draw_size(d, 64);
	case 2: return draw_below(d, SEQ_MAX);
	case 3: return k + draw_below(d, 3);
	default: return SEQ_MAX - draw_below(d, 100);
	}
}

static int by_tick(const void *pa, const void *pb)
{
	const struct note *a = pa, *b = pb;

	return a->tick < b->tick ? -1 : a->tick > b->tick;
}

static void random_bad(struct bad *b, struct draw *d, uint64_t id)
{
	static const uint64_t rates[] = {
		1, 1000, 32768, 1000000, 16000000, 1000000000, UINT64_C(10000000000)
	};
	static const int64_t periods[] = { 1,      1000,   100000000,   SECOND,
					   SECOND, SECOND, 60 * SECOND, DAY };

	begin(b, "garbage", 1 + (size_t)draw_below(d, 3), 1);
	b->id = id;
	b->period_ns = periods[draw_below(d, 8)];
	for (size_t c = 0; c < b->n_clocks; c++) {
		struct clock *k = &b->clock[c];
		int ticks = (int)draw_below(d, 6), numbers = (int)draw_below(d, 5);
		uint32_t senders = 1 + (uint32_t)draw_below(d, 3);
		uint64_t n = draw_size(d, 5), tick = 0;

		bool pulses = draw_below(d, 4) == 0;

		k->rate_hz = rates[draw_below(d, 7)];
		k->base_tick = draw_below(d, 2) ? draw_size(d, 64) : 0;
		k->start_unix_ns = draw_below(d, 2) ? (int64_t)draw_size(d, 62) : 0;
		for (uint64_t i = 0; i < n; i++) {
			tick = any_tick(d, ticks, i, tick, k->rate_hz);
			note(b, c, tick, pulses && i % 2 ? PULSE : (uint32_t)draw_below(d, senders),
			     any_number(d, numbers, i));
		}
		if (n && draw_below(d, 8))
			qsort(k->note, k->n, sizeof(*k->note), by_tick);
	}
}

static void garbage(void **state)
{
	const char *given = getenv("BAD_MARKS"); /* how many, or only the one after a colon */
	uint64_t n = given && *given != ':' ? strtoull(given, NULL, 0) : tier(80, 800, 100000);
	uint64_t only = given && *given == ':' ? strtoull(given + 1, NULL, 0) : UINT64_MAX;
	unsigned good = 0, degraded = 0, untied = 0, errors = 0;

	(void)state;
	for (uint64_t i = 0; i < n || only < UINT64_MAX; i++) {
		struct draw d = draw_begin(1000 + (only < UINT64_MAX ? only : i));
		struct bad b;

		random_bad(&b, &d, only < UINT64_MAX ? only : i);
		check(&b, NULL);
		good += b.good;
		degraded += b.degraded;
		untied += b.untied;
		errors += b.errors;
		if (only < UINT64_MAX)
			break;
	}
	printf("garbage: %u good, %u degraded, %u untied, %u errors\n", good, degraded, untied,
	       errors);
}

#define TEST(f) cmocka_unit_test_teardown(f, no_flaws)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(up_to_three_marks),
		TEST(the_same_tick_again_and_again),
		TEST(hundreds_of_senders_heard_once_or_twice),
		TEST(thousands_of_senders),
		TEST(a_reference_that_heard_nothing),
		TEST(a_line_without_pulses_beside_beacons),
		TEST(out_of_order),
		TEST(the_same_number_again_and_again),
		TEST(numbers_that_fall),
		TEST(a_clock_that_jumps),
		TEST(numbers_near_the_end),
		TEST(ticks_near_the_end),
		TEST(decades_apart),
		TEST(periods_and_rates),
		TEST(garbage),
	};

	setenv("COEVAL_SEED", "1", 0);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
