/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/sync.h>
#include <coeval/timeline.h>

#include "store/maps.h"
#include "sync/student.h"
#include "test_draw.h"
#include "test_scratch.h"

#define CLOCKS_MAX 5
#define PIECES 64
#define UNIX_START 1700000000000000000

static char rule[300];

static int set_up(void **state)
{
	FILE *f;

	if (make_scratch(state))
		return -1;
	snprintf(rule, sizeof(rule), "%s/rule.yaml", scratch);
	f = fopen(rule, "w");
	if (!f)
		return -1;
	fprintf(f, "name: test\n"
		   "send: { event: send, key: [number, to] }\n"
		   "receive: { event: recv, key: [its_number, at] }\n");
	return fclose(f);
}

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

static double uniform(struct draw *d, double low, double high)
{
	return low + (high - low) * (double)(draw_u64(d) >> 11) * 0x1p-53;
}

static double normal(struct draw *d)
{
	return sqrt(-2 * log(1 - uniform(d, 0, 1))) * cos(2 * M_PI * uniform(d, 0, 1));
}

/* ---- a world of clocks whose truth is known ---- */

/* A clock's rate changes steadily within each piece; outside them it holds still. */
struct sim_clock {
	char name[8];
	uint64_t rate_hz, resolution, tick0;
	int64_t start_unix_ns, start_bound_ns;
	double off_limit;                                  /* of its rate, parts of one */
	long double piece, off[PIECES + 1], n[PIECES + 1]; /* s, rate off, nominal s */
};

enum kind { SEND, RECV, MARK, BEACON, RISE, FALL, PROBE };

/* Something that a clock stamped. */
struct happening {
	uint32_t clock;
	enum kind kind;
	uint64_t tick, key;
	uint32_t order;
	char to[16];
	long double true_s;
};

struct world {
	size_t n_clocks, n, capacity;
	struct sim_clock clock[CLOCKS_MAX];
	struct happening *event;
	double span, wander; /* s, 1/s */
	uint64_t next_key;
	bool up; /* stamps are rounded up: the first look that saw it */
};

static void world_free(struct world *w)
{
	free(w->event);
	*w = (struct world){ 0 };
}

/* Nominal seconds that the clock counted at true time @t, from 0. */
static long double counted(const struct sim_clock *c, long double t)
{
	int i = (int)fminl(fmaxl(floorl(t / c->piece), 0), PIECES - 1);
	long double u = t - c->piece * i;

	if (t < 0)
		return t * (1 + c->off[0]);
	if (t > c->piece * PIECES)
		return c->n[PIECES] + (t - c->piece * PIECES) * (1 + c->off[PIECES]);
	return c->n[i] + u * (1 + c->off[i]) + (c->off[i + 1] - c->off[i]) / c->piece * u * u / 2;
}

static long double when_counted(const struct sim_clock *c, long double n)
{
	long double t = n;

	for (int i = 0; i < 8; i++)
		t -= counted(c, t) - n;
	return t;
}

static uint64_t stamp(const struct world *w, size_t clock, long double t)
{
	const struct sim_clock *c = &w->clock[clock];
	long double ticks = (long double)c->tick0 + counted(c, t) * (long double)c->rate_hz;
	long double steps = ticks / (long double)c->resolution;

	return (uint64_t)(w->up ? ceill(steps) : floorl(steps)) * c->resolution;
}

static long double true_of_tick(const struct sim_clock *c, uint64_t tick)
{
	return when_counted(c,
			    ((long double)tick - (long double)c->tick0) / (long double)c->rate_hz);
}

static void random_clock(struct draw *d, struct world *w, size_t i, double off_limit)
{
	static const uint64_t rates[] = { 1000000000, 8000000, 1000000, 32768, 1000, 24000000 };
	struct sim_clock *c = &w->clock[i];

	*c = (struct sim_clock){
		.rate_hz = rates[draw_below(d, 6)],
		.resolution = draw_below(d, 3) ? 1 : 1 + draw_below(d, 4),
		.off_limit = off_limit,
		.piece = w->span / PIECES,
		.start_unix_ns = UNIX_START + (int64_t)draw_below(d, 6000000000),
	};
	snprintf(c->name, sizeof(c->name), "%c", (int)('A' + i));
	c->tick0 = (4000 + draw_below(d, 1000)) * c->rate_hz * c->resolution;
	if (draw_below(d, 4) == 0)
		c->start_unix_ns = 0;
	c->off[0] = draw_below(d, 2) ? uniform(d, -off_limit, off_limit) :
				       (draw_below(d, 2) ? off_limit : -off_limit);
	for (int k = 0; k < PIECES; k++) {
		long double most = w->wander * c->piece;
		long double change = most * uniform(d, -1, 1);

		if (fabsl(c->off[k] + change) > off_limit)
			change = 0;
		c->off[k + 1] = c->off[k] + change;
		c->n[k + 1] = c->n[k] + c->piece * (1 + c->off[k] + change / 2);
	}
}

/* Clocks off by up to @ppm, each with a limit of its own. */
static void random_world(struct draw *d, struct world *w, size_t n, double ppm, double wander)
{
	*w = (struct world){ .n_clocks = n, .wander = wander };
	w->span = exp(uniform(d, log(4), log(1000)));
	for (size_t i = 0; i < n; i++)
		random_clock(d, w, i, uniform(d, 0, 1) * ppm * 1e-6);
}

static struct happening *happen(struct world *w, size_t clock, enum kind kind, long double t)
{
	struct happening *e;

	if (w->n == w->capacity) {
		w->capacity = w->capacity ? 2 * w->capacity : 256;
		w->event = realloc(w->event, w->capacity * sizeof(*w->event));
		assert_non_null(w->event);
	}
	e = &w->event[w->n];
	*e = (struct happening){
		.clock = (uint32_t)clock, .kind = kind, .true_s = t, .order = (uint32_t)w->n++
	};
	e->tick = stamp(w, clock, t);
	return e;
}

static void message(struct world *w, size_t from, size_t to, long double sent, long double received)
{
	uint64_t key = w->next_key++;
	struct happening *e = happen(w, from, SEND, sent);

	e->key = key / 2; /* one number goes to two places: the name tells them apart */
	snprintf(e->to, sizeof(e->to), "%s%d", w->clock[to].name, (int)(key % 2));
	e = happen(w, to, RECV, received);
	e->key = key / 2;
	snprintf(e->to, sizeof(e->to), "%s%d", w->clock[to].name, (int)(key % 2));
}

/*
 * @n messages between two clocks in the middle half of the world. The ways there and back differ,
 *    and some take very much longer than others.
 */
static void chatter(struct draw *d, struct world *w, size_t a, size_t b, size_t n)
{
	double there = exp(uniform(d, log(1e-6), log(1e-3)));
	double back = exp(uniform(d, log(1e-6), log(1e-3)));

	for (size_t i = 0; i < n; i++) {
		bool forth = i % 2;
		double sent = uniform(d, w->span / 4, w->span * 3 / 4);
		double took = (forth ? there : back) * pow(uniform(d, 1e-9, 1), -0.7);

		message(w, forth ? a : b, forth ? b : a, sent, sent + fmin(took, w->span / 8));
		if (draw_below(d, 20) == 0) /* lost */
			happen(w, a, SEND, sent)->key = w->next_key++;
	}
}

static int by_stamp(const void *pa, const void *pb)
{
	const struct happening *a = pa, *b = pb;

	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	if (a->tick != b->tick)
		return a->tick < b->tick ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static void write_event(struct cvl_writer *w, const struct happening *e, const int *class)
{
	const struct cvl_tick tick = { e->tick };
	union cvl_store_value values[2] = { { .u = e->key }, { .s = e->to } };
	struct cvl_error err;
	uint64_t level;

	switch (e->kind) {
	case SEND:
	case RECV:
	case MARK: ok(cvl_writer_event(w, tick, class[e->kind], values, &err), &err); break;
	case BEACON: ok(cvl_writer_beacon(w, tick, 7, e->key, &err), &err); break;
	case RISE:
	case FALL:
		level = e->kind == RISE;
		ok(cvl_writer_edges(w, &tick, &level, 1, &err), &err);
		break;
	case PROBE: ok(cvl_writer_sample(w, tick, 0, (double)e->order, &err), &err);
	}
}

static void write_clock(struct cvl_session *s, const struct world *w, size_t i)
{
	static const struct cvl_store_field sent[] = { { "number", CVL_STORE_U64 },
						       { "to", CVL_STORE_STRING } };
	static const struct cvl_store_field received[] = { { "its_number", CVL_STORE_U64 },
							   { "at", CVL_STORE_STRING } };
	static const struct cvl_origin origin = { .format = "test", .path = "-" };
	static const char *const lines[] = { "PPS" }, *const channels[] = { "probe" };
	const struct sim_clock *c = &w->clock[i];
	const struct cvl_store_desc desc = {
		.clock = c->name,
		.rate_hz = c->rate_hz,
		.resolution = c->resolution,
		.start_unix_ns = c->start_unix_ns,
		.start_bound_ns = c->start_bound_ns,
		.base_tick = c->tick0,
		.lines = lines,
		.n_lines = 1,
		.channels = channels,
		.n_channels = 1,
	};
	struct cvl_writer *out;
	struct cvl_error err;
	int class[3];

	ok(cvl_session_add(s, &desc, &origin, &out, &err), &err);
	class[SEND] = cvl_writer_declare(out, "send", sent, 2, &err);
	class[RECV] = cvl_writer_declare(out, "recv", received, 2, &err);
	class[MARK] = cvl_writer_declare(out, "mark", sent, 2, &err);
	ok(cvl_writer_levels(out, (struct cvl_tick){ 0 }, 0, &err), &err);
	for (size_t k = 0; k < w->n; k++)
		if (w->event[k].clock == i)
			write_event(out, &w->event[k], class);
	ok(cvl_session_finish(s, out, (struct cvl_tick){ 0 }, &err), &err);
}

static struct cvl_session *write_world(struct world *w)
{
	static unsigned number;
	struct cvl_session *s;
	struct cvl_error err;
	char path[300];

	for (size_t i = 0; i < w->n_clocks; i++) {
		happen(w, i, MARK, 0);
		happen(w, i, MARK, w->span);
	}
	qsort(w->event, w->n, sizeof(*w->event), by_stamp);
	snprintf(path, sizeof(path), "%s/s%u", scratch, number++);
	ok(cvl_session_create(&s, path, &err), &err);
	for (size_t i = 0; i < w->n_clocks; i++)
		write_clock(s, w, i);
	cvl_session_close(s);
	ok(cvl_session_open(&s, path, NULL, &err), &err);
	return s;
}

static struct cvl_sync *run(struct cvl_session *s, struct cvl_sync_opts *opts)
{
	const char *const match[] = { rule };
	struct cvl_sync *sync = NULL;
	struct cvl_error err;

	opts->match = match;
	opts->n_match = opts->n_pulse ? 0 : 1;
	ok(cvl_sync_run(&sync, s, opts, &err), &err);
	assert_non_null(sync);
	assert_int_equal(sync->n, cvl_session_clocks(s));
	return sync;
}

/* ---- comparing with the truth ---- */

/* Time that the reference shows at true time @t. */
static long double reference_time(const struct world *w, const struct cvl_session *s, size_t ref,
				  long double t)
{
	const struct sim_clock *c = &w->clock[ref];
	struct cvl_map *nominal = cvl_session_nominal(s, ref);
	int64_t begin = cvl_map_time(nominal, (struct cvl_tick){ c->tick0 }, NULL).ns;

	cvl_map_free(nominal);
	return (long double)begin + counted(c, t) * 1e9L;
}

/* All times within their bounds, before, between and after the messages. */
static void check_truth(struct draw *d, const struct world *w, const struct cvl_session *s,
			const struct cvl_sync *sync, size_t ref, size_t clock)
{
	const struct cvl_clock_sync *k = &sync->clock[clock];
	const struct sim_clock *c = &w->clock[clock];

	if (k->verdict != CVL_GOOD)
		fail_msg("%s: %s, %s", k->clock, cvl_verdict_name(k->verdict), k->reason);
	assert_non_null(k->map);
	assert_int_equal(cvl_map_kind(k->map), CVL_BOUND_PROVEN);
	for (int i = 0; i < 300; i++) {
		uint64_t tick = stamp(w, clock, uniform(d, -w->span / 2, w->span * 3 / 2)) +
				draw_below(d, 2);
		long double want = reference_time(w, s, ref, true_of_tick(c, tick));
		int64_t bound, have;

		if (tick >> 63) /* before the counter began */
			continue;
		have = cvl_map_time(k->map, (struct cvl_tick){ tick }, &bound).ns;
		if (fabsl((long double)have - want) > (long double)bound + 0.01L)
			fail_msg("%s of %zu at %" PRIu64 " Hz by %s, %.6Lf s of %.3f: %" PRId64
				 " +-%" PRId64 ", not %.3Lf: %s",
				 k->clock, w->n_clocks, c->rate_hz, sync->reference,
				 true_of_tick(c, tick), w->span, have, bound, want, k->reason);
	}
}

/* Limits that the world keeps: the clocks' own, or one for all. */
static void set_limits(struct draw *d, const struct world *w, struct cvl_sync_opts *o)
{
	double most = 1e-9;

	for (size_t i = 0; i < w->n_clocks; i++)
		most = fmax(most, w->clock[i].off_limit);
	o->max_drift_ppm = most * 1e6;
	if (draw_below(d, 2))
		return;
	for (size_t i = 0; i < w->n_clocks; i++) {
		o->drift[i].clock = w->clock[i].name;
		o->drift[i].ppm = fmax(w->clock[i].off_limit, 1e-9) * 1e6;
	}
	o->n_drift = w->n_clocks;
}

static void everyone_talks(struct draw *d, struct world *w, bool chain)
{
	for (size_t a = 0; a < w->n_clocks; a++)
		for (size_t b = a + 1; b < w->n_clocks; b++)
			if (!chain || b == a + 1)
				chatter(d, w, a, b, 8 + (size_t)draw_below(d, 60));
}

static void interval_holds_the_truth(void **state)
{
	struct draw d = draw_begin(1);

	(void)state;
	for (unsigned i = 0; i < tier(24, 80, 80); i++) {
		size_t n = 2 + (size_t)draw_below(&d, CLOCKS_MAX - 1), ref;
		bool limited = i % 2;
		struct cvl_sync_opts opts = { 0 };
		struct cvl_session *s;
		struct cvl_sync *sync;
		struct world w;

		random_world(&d, &w, limited && n > 3 ? 3 : n, i % 8 ? 150 : 5000,
			     uniform(&d, 0, 1e-6));
		ref = (size_t)draw_below(&d, w.n_clocks);
		everyone_talks(&d, &w, draw_below(&d, 2));
		s = write_world(&w);
		set_limits(&d, &w, &opts);
		opts.reference = ref ? w.clock[ref].name : NULL;
		opts.has_wander = limited;
		opts.wander_ppb_s = w.wander * 1e9;
		sync = run(s, &opts);
		assert_string_equal(sync->estimator, "interval");
		assert_string_equal(sync->reference, w.clock[ref].name);
		for (size_t c = 0; c < w.n_clocks; c++)
			check_truth(&d, &w, s, sync, ref, c);
		cvl_sync_free(sync);
		cvl_session_close(s);
		world_free(&w);
	}
}

/* What the timeline says of each record: the stamp's own rounding is in the bound too. */
static void records_are_within_their_bounds(void **state)
{
	struct draw d = draw_begin(2);
	uint64_t seen = 0;

	(void)state;
	for (int i = 0; i < 10; i++) {
		struct cvl_timeline *tl;
		struct cvl_session *s;
		struct cvl_sync *sync;
		struct cvl_block block;
		struct cvl_slice sl;
		struct cvl_error err;
		struct cvl_sync_opts opts = { 0 };
		size_t next[CLOCKS_MAX] = { 0 };
		struct world w;
		int rc;

		random_world(&d, &w, 3, 150, 1e-8);
		everyone_talks(&d, &w, false);
		s = write_world(&w);
		sync = run(s, &opts);
		ok(cvl_sync_save(sync, s, &err), &err);
		ok(cvl_timeline_open(&tl, s, NULL, &err), &err);
		for (size_t c = 0; c < w.n_clocks; c++)
			while (next[c] < w.n && w.event[next[c]].clock != c)
				next[c]++;
		while ((rc = cvl_timeline_next(tl, &block, &err)) > 0)
			while (cvl_block_take(&block, &sl)) {
				static int64_t bounds[CVL_BATCH_MAX];

				cvl_timeline_bounds(tl, &sl, bounds);
				for (size_t k = sl.begin; k < sl.end; k++) {
					const struct happening *e = &w.event[next[sl.clock]];
					int64_t bound = cvl_timeline_bound(tl, &sl, k), map;
					long double want;

					cvl_map_time(cvl_timeline_map(tl, sl.clock),
						     sl.batch->tick[k], &map);
					assert_int_equal(cvl_timeline_bound_parts(tl, &sl, k).map,
							 map);
					assert_int_equal(bounds[k - sl.begin], bound);
					if (sl.batch->kind[k] != CVL_EVENT)
						continue;
					next[sl.clock]++;
					assert_true(e->clock == sl.clock &&
						    e->tick == sl.batch->tick[k].count);
					want = reference_time(&w, s, 0, e->true_s);
					if (fabsl((long double)sl.time[k].ns - want) >
					    (long double)bound + 0.01L)
						fail_msg("%" PRId64 " +-%" PRId64 ", not %.3Lf",
							 sl.time[k].ns, bound, want);
					seen++;
				}
			}
		ok(rc, &err);
		cvl_timeline_close(tl);
		cvl_sync_free(sync);
		cvl_session_close(s);
		world_free(&w);
	}
	assert_true(seen > 1000);
}

static void more_messages_never_widen_a_bound(void **state)
{
	struct draw d = draw_begin(3);
	long double sum[2] = { 0 };

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct cvl_sync_opts opts = { 0 };
		struct cvl_session *s[2];
		struct cvl_sync *sync[2];
		size_t n = 2 + (size_t)(i % 3);
		struct world w;

		random_world(&d, &w, n, 150, 1e-8);
		everyone_talks(&d, &w, true);
		s[0] = write_world(&w);
		everyone_talks(&d, &w, true);
		s[1] = write_world(&w);
		for (int k = 0; k < 2; k++)
			sync[k] = run(s[k], &opts);
		for (size_t c = 1; c < n; c++)
			for (int k = 0; k < 200; k++) {
				uint64_t tick =
					stamp(&w, c, uniform(&d, -w.span / 2, w.span * 3 / 2));
				int64_t bound[2];

				for (int r = 0; r < 2; r++) {
					assert_non_null(sync[r]->clock[c].map);
					cvl_map_time(sync[r]->clock[c].map,
						     (struct cvl_tick){ tick }, &bound[r]);
					sum[r] += (long double)bound[r];
				}
				/*
				 * repeating ends when a band shrinks by less than 1 ns on average
				 */
				if (bound[1] > bound[0] + (c == 1 ? 4 : 100))
					fail_msg("clock %zu of %zu: %" PRId64 " ns became %" PRId64,
						 c, n, bound[0], bound[1]);
			}
		for (int k = 0; k < 2; k++) {
			cvl_sync_free(sync[k]);
			cvl_session_close(s[k]);
		}
		world_free(&w);
	}
	assert_true(sum[1] < sum[0]);
}

/* ---- what cannot be tied, and what contradicts ---- */

static void untied_clocks_say_why(void **state)
{
	static const char *const estimators[] = { "interval", "hull" };
	struct draw d = draw_begin(4);
	struct cvl_session *s;
	struct world w;

	(void)state;
	random_world(&d, &w, 4, 50, 0);
	chatter(&d, &w, 0, 1, 40);
	for (int i = 0; i < 20; i++) { /* D hears A, and is never heard */
		double sent = uniform(&d, w.span / 4, w.span / 2);

		message(&w, 0, 3, sent, sent + 1e-3);
	}
	s = write_world(&w);
	for (int e = 0; e < 2; e++) {
		struct cvl_sync_opts opts = { .estimator = estimators[e] };
		struct cvl_sync *sync = run(s, &opts);

		check_truth(&d, &w, s, sync, 0, 0);
		check_truth(&d, &w, s, sync, 0, 1);
		for (size_t c = 2; c < 4; c++) {
			assert_int_equal(sync->clock[c].verdict, CVL_UNSYNCHRONISED);
			assert_null(sync->clock[c].map);
		}
		assert_non_null(strstr(sync->clock[2].reason, "no messages"));
		assert_non_null(strstr(sync->clock[3].reason, "direction"));
		cvl_sync_free(sync);
	}
	cvl_session_close(s);
	world_free(&w);
}

/* The neighbour with the most messages is of no use if they all go one way; another one is. */
static void hull_tries_the_next_neighbour(void **state)
{
	struct cvl_sync_opts opts = { .estimator = "hull" };
	struct draw d = draw_begin(5);
	struct cvl_session *s;
	struct cvl_sync *sync;
	struct world w;

	(void)state;
	random_world(&d, &w, 3, 50, 0);
	chatter(&d, &w, 0, 1, 60);
	chatter(&d, &w, 1, 2, 20);
	for (int i = 0; i < 40; i++) {
		double sent = uniform(&d, w.span / 4, w.span / 2);

		message(&w, 0, 2, sent, sent + 1e-3);
	}
	s = write_world(&w);
	sync = run(s, &opts);
	check_truth(&d, &w, s, sync, 0, 1);
	check_truth(&d, &w, s, sync, 0, 2);
	cvl_sync_free(sync);
	cvl_session_close(s);
	world_free(&w);
}

static void violated_drift_limit_names_one_that_fits(void **state)
{
	struct draw d = draw_begin(6);

	(void)state;
	for (int i = 0; i < 10; i++) {
		struct cvl_sync_opts opts = { .max_drift_ppm = 20 };
		double apart = uniform(&d, 100, 300), fits;
		struct cvl_session *s;
		struct cvl_sync *sync;
		const char *at;
		struct world w;

		random_world(&d, &w, 2, 0, 0);
		w.span = 100;
		for (size_t c = 0; c < 2; c++) {
			struct sim_clock *k = &w.clock[c];

			k->rate_hz = 1000000;
			k->resolution = 1;
			k->piece = w.span / PIECES;
			k->tick0 = 4000000000;
			for (int p = 0; p <= PIECES; p++) {
				k->off[p] = (c ? apart : -apart) / 2 * 1e-6;
				k->n[p] = k->piece * p * (1 + k->off[p]);
			}
		}
		for (int k = 0; k < 200; k++) {
			double sent = uniform(&d, 10, 90);

			message(&w, (size_t)(k % 2), (size_t) !(k % 2), sent, sent + 2e-6);
		}
		s = write_world(&w);
		sync = run(s, &opts);
		assert_int_equal(sync->clock[1].verdict, CVL_DEGRADED);
		assert_non_null(sync->clock[1].map);
		at = strstr(sync->clock[1].reason, "they fit one of ");
		assert_non_null(at);
		fits = strtod(at + strlen("they fit one of "), NULL);
		/* of each of the two clocks */
		if (!(fits > 0.97 * apart / 2 && fits < 1.03 * apart / 2))
			fail_msg("%g ppm apart: \"%s\"", apart, sync->clock[1].reason);
		cvl_sync_free(sync);
		/* at that limit all is well */
		opts.max_drift_ppm = apart / 2;
		sync = run(s, &opts);
		check_truth(&d, &w, s, sync, 0, 1);
		cvl_sync_free(sync);
		cvl_session_close(s);
		world_free(&w);
	}
}

static void violated_wander_limit_is_not_good(void **state)
{
	struct cvl_sync_opts opts = { .has_wander = true, .max_drift_ppm = 100 };
	struct draw d = draw_begin(7);
	struct cvl_session *s;
	struct cvl_sync *sync;
	struct world w;

	(void)state;
	random_world(&d, &w, 2, 0, 0);
	w.span = 100;
	for (size_t c = 0; c < 2; c++) {
		struct sim_clock *k = &w.clock[c];

		k->rate_hz = 1000000;
		k->resolution = 1;
		k->piece = w.span / PIECES;
		k->tick0 = 4000000000;
		for (int p = 0; p <= PIECES; p++) /* one of them goes from 0 to 50 ppm */
			k->off[p] = c ? 50e-6 * p / PIECES : 0;
		for (int p = 0; p < PIECES; p++)
			k->n[p + 1] = k->n[p] + k->piece * (1 + (k->off[p] + k->off[p + 1]) / 2);
	}
	for (int k = 0; k < 200; k++) {
		double sent = uniform(&d, 5, 95);

		message(&w, (size_t)(k % 2), (size_t) !(k % 2), sent, sent + 20e-6);
	}
	s = write_world(&w);
	sync = run(s, &opts); /* rates that never change */
	assert_int_not_equal(sync->clock[1].verdict, CVL_GOOD);
	assert_non_null(strstr(sync->clock[1].reason, "wander"));
	cvl_sync_free(sync);
	opts.wander_ppb_s = 500;
	sync = run(s, &opts);
	check_truth(&d, &w, s, sync, 0, 1);
	cvl_sync_free(sync);
	opts = (struct cvl_sync_opts){ .estimator = "hull" };
	sync = run(s, &opts);
	assert_int_equal(sync->clock[1].verdict, CVL_UNSYNCHRONISED);
	assert_non_null(strstr(sync->clock[1].reason, "no straight line"));
	cvl_sync_free(sync);
	cvl_session_close(s);
	world_free(&w);
}

static void broken_causality_is_not_good(void **state)
{
	static const char *const estimators[] = { "interval", "hull" };
	struct draw d = draw_begin(8);
	struct cvl_session *s;
	struct world w;

	(void)state;
	random_world(&d, &w, 2, 50, 0);
	w.clock[0].rate_hz = w.clock[1].rate_hz = 1000000;
	w.clock[0].tick0 = w.clock[1].tick0 = 4000000000;
	chatter(&d, &w, 0, 1, 100);
	message(&w, 0, 1, w.span / 2, w.span / 2 - 0.5); /* as if received before it was sent */
	s = write_world(&w);
	for (int e = 0; e < 2; e++) {
		struct cvl_sync_opts opts = { .estimator = estimators[e] };
		struct cvl_sync *sync = run(s, &opts);

		assert_int_not_equal(sync->clock[1].verdict, CVL_GOOD);
		assert_true(strlen(sync->clock[1].reason) > 20);
		cvl_sync_free(sync);
	}
	cvl_session_close(s);
	world_free(&w);
}

/* ---- hull ---- */

static void hull_holds_the_truth(void **state)
{
	struct draw d = draw_begin(10);

	(void)state;
	for (int i = 0; i < 60; i++) {
		struct cvl_sync_opts opts = { .estimator = "hull" };
		size_t n = 2 + (size_t)draw_below(&d, CLOCKS_MAX - 1), ref;
		struct cvl_session *s;
		struct cvl_sync *sync;
		struct world w;

		random_world(&d, &w, n, 150, 0);
		ref = (size_t)draw_below(&d, n);
		everyone_talks(&d, &w, draw_below(&d, 2));
		s = write_world(&w);
		opts.reference = w.clock[ref].name;
		sync = run(s, &opts);
		for (size_t c = 0; c < n; c++)
			check_truth(&d, &w, s, sync, ref, c);
		cvl_sync_free(sync);
		cvl_session_close(s);
		world_free(&w);
	}
}

typedef __int128 i128;

struct point {
	int64_t x, y;
	bool below; /* the line must not pass below it; else not above */
};

/* Whether no point forbids the line through a and b; exact. */
static bool allowed(const struct point *p, size_t n, const struct point *a, const struct point *b)
{
	i128 dx = (i128)b->x - a->x, dy = (i128)b->y - a->y;

	for (size_t i = 0; i < n; i++) {
		/* line(x_i) - y_i, times |dx| */
		i128 over = ((i128)a->y - p[i].y) * dx + dy * ((i128)p[i].x - a->x);

		if (dx < 0)
			over = -over;
		if (p[i].below ? over < 0 : over > 0)
			return false;
	}
	return true;
}

struct line {
	struct point a;
	long double skew; /* slope less 1 */
};

static long double line_offset(const struct line *l, int64_t x)
{
	return (long double)((i128)l->a.y - l->a.x) + l->skew * (long double)((i128)x - l->a.x);
}

/* All lines allowed that go through two points: the extremes at any place are among them. */
static size_t all_pairs(const struct point *p, size_t n, struct line *line)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++) {
			struct line l = { .a = p[i] };
			i128 dx = (i128)p[k].x - p[i].x, dy = (i128)p[k].y - p[i].y;

			if (dx <= 0 || !allowed(p, n, &p[i], &p[k]))
				continue;
			l.skew = (long double)(dy - dx) / (long double)dx;
			line[found++] = l;
		}
	assert_true(found > 0);
	return found;
}

static size_t points_of(const struct world *w, struct point *p)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		for (size_t k = 0; k < w->n; k++) {
			const struct happening *s = &w->event[i], *r = &w->event[k];
			int64_t sent = (int64_t)s->tick, received = (int64_t)r->tick + 2;

			if (s->kind != SEND || r->kind != RECV || s->key != r->key ||
			    strcmp(s->to, r->to))
				continue;
			p[n++] = s->clock ? (struct point){ sent, received, false } :
					    (struct point){ received, sent, true };
		}
	return n;
}

/* Two clocks that count ns, so that ticks are x. */
static void nanosecond_world(struct draw *d, struct world *w, double span, double ppm)
{
	*w = (struct world){ .n_clocks = 2, .span = span };
	for (size_t i = 0; i < 2; i++) {
		random_clock(d, w, i, ppm * 1e-6);
		w->clock[i].rate_hz = 1000000000;
		w->clock[i].resolution = 1;
		w->clock[i].start_unix_ns = 0;
		w->clock[i].tick0 = 0;
	}
}

static void check_against_all_pairs(struct draw *d, struct world *w, struct cvl_sync *sync)
{
	static struct line line[100 * 100];
	const struct cvl_clock_sync *c = &sync->clock[1];
	struct point p[100];
	size_t n = all_pairs(p, points_of(w, p), line);
	long double least = INFINITY, most = -INFINITY;

	for (int k = 0; k < 200; k++) {
		int64_t x = (int64_t)(uniform(d, 0, w->span) * 1e9), bound;
		int64_t have =
			cvl_map_time(c->map, (struct cvl_tick){ (uint64_t)x }, &bound).ns - x;
		long double low = INFINITY, high = -INFINITY;

		for (size_t i = 0; i < n; i++) {
			low = fminl(low, line_offset(&line[i], x));
			high = fmaxl(high, line_offset(&line[i], x));
		}
		/* whole ns, each rounded outwards */
		if (fabsl((low + high) / 2 - (long double)have) > 3 ||
		    (long double)have - (long double)bound > low ||
		    (long double)(have + bound) < high - 1 ||
		    (long double)bound > (high - low) / 2 + 6)
			fail_msg("x = %" PRId64 " of %.0f s: %" PRId64 " +-%" PRId64
				 ", not %.3Lf to %.3Lf",
				 x, w->span, have, bound, low, high);
	}
	for (size_t i = 0; i < n; i++) {
		least = fminl(least, line[i].skew);
		most = fmaxl(most, line[i].skew);
	}
	/* the clock's rate is 1 / (1 + slope) */
	assert_true(fabsl((long double)(c->rate_ppb - c->rate_bound_ppb) -
			  (1 / (1 + most) - 1) * 1e9L) < 1e-3L * (1 + c->rate_bound_ppb));
	assert_true(fabsl((long double)(c->rate_ppb + c->rate_bound_ppb) -
			  (1 / (1 + least) - 1) * 1e9L) < 1e-3L * (1 + c->rate_bound_ppb));
}

static void hull_is_all_lines_that_fit(void **state)
{
	struct draw d = draw_begin(11);
	int fitted = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct cvl_sync_opts opts = { .estimator = "hull" };
		struct cvl_session *s;
		struct cvl_sync *sync;
		struct world w;

		nanosecond_world(&d, &w, exp(uniform(&d, 0, log(100000))), 150);
		chatter(&d, &w, 0, 1, 8 + (size_t)draw_below(&d, 30));
		s = write_world(&w);
		sync = run(s, &opts);
		/* a few messages need not have both directions early and late */
		if (sync->clock[1].map) {
			check_against_all_pairs(&d, &w, sync);
			fitted++;
		}
		cvl_sync_free(sync);
		cvl_session_close(s);
		world_free(&w);
	}
	assert_true(fitted > 80);
}

static void ten_years_do_not_overflow(void **state)
{
	struct draw d = draw_begin(12);

	(void)state;
	for (int i = 0; i < 20; i++) {
		static const char *const estimators[] = { "hull", "interval" };
		struct cvl_session *s;
		struct world w;

		nanosecond_world(&d, &w, 10 * 365.25 * 86400, 1);
		for (int k = 0; k < 40; k++) {
			double sent = uniform(&d, w.span / 4, w.span * 3 / 4);
			double took = k < 4 ? 1e-3 : uniform(&d, 1e-3, 1);

			message(&w, (size_t)(k % 2), (size_t) !(k % 2), sent, sent + took);
		}
		s = write_world(&w);
		for (int e = 0; e < 2; e++) {
			struct cvl_sync_opts opts = { .estimator = estimators[e] };
			struct cvl_sync *sync = run(s, &opts);

			if (!sync->clock[1].map)
				fail_msg("%s", sync->clock[1].reason);
			check_truth(&d, &w, s, sync, 0, 1);
			if (!e)
				check_against_all_pairs(&d, &w, sync);
			cvl_sync_free(sync);
		}
		cvl_session_close(s);
		world_free(&w);
	}
}

/* ---- line ---- */

struct score {
	uint64_t probes, covered, rates, rates_covered, degraded, untied, clocks;
};

/*
 * Time on the timeline of what happened at true time @t, up to whole periods. Pulses stand at
 * those of UTC.
 */
struct expectation {
	const struct world *w;
	const struct cvl_session *s;
	int ref; /* or -1: the sender's time, moved by whole periods */
	double period_ns;
	bool numbered;
	long double shift;
	bool shifted;
};

static long double expected(struct expectation *e, long double t, int64_t have)
{
	long double want = e->ref < 0 ? t * 1e9L : reference_time(e->w, e->s, (size_t)e->ref, t);
	long double period = e->period_ns;

	if (e->ref < 0 && !e->numbered)
		want -= cvl_session_epoch(e->s) % (int64_t)e->period_ns;
	if (e->ref >= 0) /* as long as the reference's clock takes for one */
		period *= 1 + (long double)e->w->clock[e->ref].off[0];
	if (e->ref >= 0 && e->numbered)
		return want;
	/* pulses: each clock's own whole number of periods; beacons: one number for all */
	if (!e->numbered || !e->shifted)
		e->shift = roundl(((long double)have - want) / period) * period;
	e->shifted = true;
	return want + e->shift;
}

static void score_probes(struct expectation *e, struct cvl_session *s, struct score *score)
{
	const struct world *w = e->w;
	size_t next[CLOCKS_MAX] = { 0 };
	struct cvl_timeline *tl;
	struct cvl_block block;
	struct cvl_slice sl;
	struct cvl_error err;
	int rc;

	ok(cvl_timeline_open(&tl, s, NULL, &err), &err);
	while ((rc = cvl_timeline_next(tl, &block, &err)) > 0)
		while (cvl_block_take(&block, &sl))
			for (size_t k = sl.begin; k < sl.end; k++) {
				const struct happening *h;
				int64_t bound;

				if (sl.batch->kind[k] != CVL_SAMPLE)
					continue;
				while (w->event[next[sl.clock]].clock != sl.clock ||
				       w->event[next[sl.clock]].kind != PROBE)
					next[sl.clock]++;
				h = &w->event[next[sl.clock]++];
				assert_true(h->tick == sl.batch->tick[k].count);
				bound = cvl_timeline_bound(tl, &sl, k);
				if (bound == CVL_BOUND_UNKNOWN || (int)sl.clock == e->ref)
					continue;
				score->probes++;
				score->covered += fabsl((long double)sl.time[k].ns -
							expected(e, h->true_s, sl.time[k].ns)) <=
						  (long double)bound;
			}
	ok(rc, &err);
	cvl_timeline_close(tl);
}

/* What each clock hears of a sender that counts seconds: with jitter, and some of it wrong. */
static void hear(struct draw *d, struct world *w, size_t clock, int marks, bool beacons,
		 double jitter)
{
	for (int k = 0; k < marks; k++) {
		double t = 10 + k + jitter * normal(d), luck = uniform(d, 0, 1);
		uint64_t number = 5000 + (uint64_t)k;

		if (luck < 0.02) /* missed */
			continue;
		if (luck < 0.03) /* late */
			t += uniform(d, 2, 8) * jitter;
		if (beacons) {
			if (luck > 0.99) /* misread */
				number += 1 + draw_below(d, 100);
			happen(w, clock, BEACON, t)->key = number;
			if (luck > 0.97 && luck < 0.98) /* heard again by way of a repeater */
				happen(w, clock, BEACON, t + uniform(d, 1e-3, 0.1))->key = number;
			continue;
		}
		happen(w, clock, RISE, t);
		happen(w, clock, FALL, t + 0.1);
		if (luck > 0.98) { /* a disturbance */
			double extra = t + uniform(d, 0.2, 0.8);

			happen(w, clock, RISE, extra);
			happen(w, clock, FALL, extra + 0.01);
		}
	}
	for (int k = 0; k < 30; k++)
		happen(w, clock, PROBE, uniform(d, 5, 15 + marks));
}

static void mark_world(struct draw *d, const char *estimator, bool beacons, bool with_reference,
		       struct score *score)
{
	static const uint64_t rates[] = { 8000000, 1000000, 24000000, 32768, 100000000 };
	int marks = 20 + (int)draw_below(d, 181);
	double jitter = exp(uniform(d, log(1e-7), log(1e-5)));
	struct cvl_sync_opts opts = { .estimator = estimator,
				      .reference = with_reference ? "B" : NULL };
	struct expectation e = { .period_ns = 1e9, .numbered = beacons };
	struct cvl_session *s;
	struct cvl_sync *sync;
	struct cvl_error err;
	struct world w = { .n_clocks = 2 + (size_t)draw_below(d, 2), .span = marks + 30 };

	w.up = draw_below(d, 2);
	for (size_t i = 0; i < w.n_clocks; i++) {
		random_clock(d, &w, i, 150e-6);
		w.clock[i].rate_hz = rates[draw_below(d, 5)];
		w.clock[i].resolution = 1;
		w.clock[i].tick0 = (4000 + draw_below(d, 5)) * w.clock[i].rate_hz;
		if (!beacons) { /* which second it is */
			w.clock[i].start_unix_ns =
				UNIX_START -
				(int64_t)(w.clock[i].tick0 / w.clock[i].rate_hz) * 1000000000 +
				(int64_t)draw_below(d, 20000000) - 10000000;
			w.clock[i].start_bound_ns = 10000000;
		}
		hear(d, &w, i, marks, beacons, jitter);
	}
	s = write_world(&w);
	if (!beacons) {
		snprintf(opts.pulse[0].line, sizeof(opts.pulse[0].line), "PPS");
		opts.pulse[0].rising = true;
		opts.pulse[0].period_ns = 1000000000;
		opts.n_pulse = 1;
	}
	sync = run(s, &opts);
	assert_string_equal(sync->estimator, estimator);
	for (size_t i = 0; i < w.n_clocks; i++) {
		const struct cvl_clock_sync *c = &sync->clock[i];
		double ref = with_reference ? (double)w.clock[1].off[0] : 0;
		double rate = ((1 + (double)w.clock[i].off[0]) / (1 + ref) - 1) * 1e9;

		if (with_reference && i == 1)
			continue;
		score->clocks++;
		score->degraded += c->verdict == CVL_DEGRADED;
		score->untied += c->verdict == CVL_UNSYNCHRONISED;
		score->rates++;
		score->rates_covered += fabs(c->rate_ppb - rate) <= c->rate_bound_ppb;
	}
	ok(cvl_sync_save(sync, s, &err), &err);
	e.w = &w;
	e.s = s;
	e.ref = with_reference ? 1 : -1;
	score_probes(&e, s, score);
	cvl_sync_free(sync);
	cvl_session_close(s);
	world_free(&w);
}

static void check_score(const struct score *s, const char *what)
{
	double covered = (double)s->covered / (double)s->probes;
	double rates = (double)s->rates_covered / (double)s->rates;

	printf("%s: %.3f %% of %" PRIu64 " times and %.2f %% of %" PRIu64
	       " rates within their bounds, %" PRIu64 " degraded, %" PRIu64 " untied\n",
	       what, 100 * covered, s->probes, 100 * rates, s->rates, s->degraded, s->untied);
	assert_true(covered >= 0.995);
	assert_true(rates >= 0.985);
	assert_int_equal(s->untied, 0);
	assert_true(s->degraded * 10 <= s->clocks);
}

static void line_of_beacons_keeps_its_promise(void **state)
{
	struct draw d = draw_begin(20);
	struct score score = { 0 };

	(void)state;
	for (int i = 0; i < 300; i++)
		mark_world(&d, "line", true, false, &score);
	check_score(&score, "beacons");
}

static void line_of_pulses_keeps_its_promise(void **state)
{
	struct draw d = draw_begin(21);
	struct score score = { 0 };

	(void)state;
	for (int i = 0; i < 300; i++)
		mark_world(&d, "line", false, false, &score);
	check_score(&score, "pulses");
}

/*
 * Few marks, and clocks so steady that a line is right: what a smoother may not make worse than its
 * bound.
 */
static void smooth_keeps_its_promise_with_few_marks(void **state)
{
	struct draw d = draw_begin(23);
	struct score beacons = { 0 }, pulses = { 0 }, relative = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++) {
		mark_world(&d, "smooth", true, false, &beacons);
		mark_world(&d, "smooth", false, false, &pulses);
		mark_world(&d, "smooth", true, true, &relative);
	}
	check_score(&beacons, "smooth, beacons");
	check_score(&pulses, "smooth, pulses");
	check_score(&relative, "smooth, beacons, relative to a clock");
}

static void line_is_relative_to_the_reference(void **state)
{
	struct draw d = draw_begin(22);
	struct score beacons = { 0 }, pulses = { 0 };

	(void)state;
	for (int i = 0; i < 150; i++) {
		mark_world(&d, "line", true, true, &beacons);
		mark_world(&d, "line", false, true, &pulses);
	}
	check_score(&beacons, "beacons, relative to a clock");
	check_score(&pulses, "pulses, relative to a clock");
}

static void student_is_that_of_the_tables(void **state)
{
	static const struct {
		double dof, t;
	} table[] = {
		{ 1, 636.619 }, { 2, 31.599 }, { 5, 6.869 },   { 10, 4.587 },
		{ 11, 4.437 },  { 12, 4.318 }, { 15, 4.073 },  { 20, 3.850 },
		{ 30, 3.646 },  { 60, 3.460 }, { 120, 3.373 }, { 1e6, 3.291 },
	};
	double before = 1e9;

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (fabs(student_999(table[i].dof) / table[i].t - 1) > 0.005)
			fail_msg("%g degrees of freedom: %g", table[i].dof,
				 student_999(table[i].dof));
	for (double dof = 1; dof < 200; dof += 0.25) {
		assert_true(student_999(dof) <= before);
		before = student_999(dof);
	}
}

/* ---- sessions and sync.json ---- */

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 1 << 22);

	assert_non_null(f);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 22) - 1, f) > 0);
	fclose(f);
	return text;
}

static void spill(const char *path, const char *text, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void aliases_share_one_map(void **state)
{
	struct cvl_sync_opts opts = { 0 };
	struct draw d = draw_begin(30);
	struct cvl_session *s;
	struct cvl_sync *sync;
	struct cvl_error err;
	struct world w;
	char path[300];
	json_t *root, *list, *j;
	size_t i;

	(void)state;
	random_world(&d, &w, 3, 150, 0);
	w.clock[2] = w.clock[1]; /* one clock, in two traces */
	snprintf(w.clock[2].name, sizeof(w.clock[2].name), "C");
	w.clock[1].start_unix_ns = w.clock[2].start_unix_ns = UNIX_START;
	for (int k = 0; k < 40; k++) { /* each trace has one direction alone */
		double sent = uniform(&d, w.span / 4, w.span * 3 / 4);

		message(&w, k % 2 ? 0 : 1, k % 2 ? 2 : 0, sent, sent + 1e-4);
	}
	s = write_world(&w);
	snprintf(path, sizeof(path), "%s", cvl_session_path(s));
	cvl_session_close(s);

	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/session.json");
	root = json_load_file(path, 0, NULL);
	json_object_del(root, "sha256"); /* as of one that was stored without */
	list = json_object_get(root, "clocks");
	json_array_foreach(list, i, j) if (i)
		json_object_set_new(j, "uuid", json_string("12345678-1234-1234-1234-123456789abc"));
	assert_int_equal(json_dump_file(root, path, 0), 0);
	json_decref(root);
	*strrchr(path, '/') = '\0';
	ok(cvl_session_open(&s, path, NULL, &err), &err);
	assert_int_equal(cvl_session_clock(s, 2)->same_as, 1);

	opts.drift[0].clock = "C"; /* by either name */
	opts.drift[0].ppm = 500;
	opts.n_drift = 1;
	sync = run(s, &opts);
	check_truth(&d, &w, s, sync, 0, 1);
	check_truth(&d, &w, s, sync, 0, 2);
	assert_non_null(strstr(sync->clock[1].reason, "500 ppm"));
	for (int k = 0; k < 100; k++) {
		struct cvl_tick tick = { stamp(&w, 1, uniform(&d, -w.span, 2 * w.span)) };
		int64_t bound[2];

		assert_true(cvl_map_time(sync->clock[1].map, tick, &bound[0]).ns ==
			    cvl_map_time(sync->clock[2].map, tick, &bound[1]).ns);
		assert_true(bound[0] == bound[1]);
	}
	cvl_sync_free(sync);
	/* the alias as reference: its clock is */
	opts = (struct cvl_sync_opts){ .reference = "C" };
	sync = run(s, &opts);
	check_truth(&d, &w, s, sync, 1, 0);
	check_truth(&d, &w, s, sync, 1, 1);
	check_truth(&d, &w, s, sync, 1, 2);
	cvl_sync_free(sync);
	cvl_session_close(s);
	world_free(&w);
}

static void check_same(struct draw *d, const struct world *w, const struct cvl_sync *a,
		       const struct cvl_sync *b)
{
	assert_string_equal(a->session, b->session);
	assert_string_equal(a->estimator, b->estimator);
	assert_string_equal(a->reference, b->reference);
	assert_true(a->epoch_unix_ns == b->epoch_unix_ns);
	assert_int_equal(a->n, b->n);
	for (size_t c = 0; c < a->n; c++) {
		const struct cvl_clock_sync *p = &a->clock[c], *q = &b->clock[c];

		assert_string_equal(p->clock, q->clock);
		assert_string_equal(p->reason, q->reason);
		assert_int_equal(p->verdict, q->verdict);
		assert_true(p->used == q->used && p->rejected == q->rejected);
		assert_true(p->bound_min == q->bound_min && p->bound_max == q->bound_max &&
			    p->bound_median == q->bound_median);
		assert_true(fabs(p->rate_ppb - q->rate_ppb) < 1e-3);
		assert_int_equal(!p->map, !q->map);
		if (!p->map)
			continue;
		assert_int_equal(cvl_map_kind(p->map), cvl_map_kind(q->map));
		for (int k = 0; k < 500; k++) {
			struct cvl_tick tick = { stamp(w, c, uniform(d, -w->span, 2 * w->span)) };
			int64_t bound[2], have = cvl_map_time(p->map, tick, &bound[0]).ns;

			assert_true(have == cvl_map_time(q->map, tick, &bound[1]).ns);
			assert_true(bound[0] == bound[1]);
		}
	}
}

static void what_is_saved_is_loaded(void **state)
{
	static const char *const estimators[] = { "interval", "hull", "line" };
	struct draw d = draw_begin(31);

	(void)state;
	for (int i = 0; i < 30; i++) {
		struct cvl_sync_opts opts = { .estimator = estimators[i % 3] };
		struct cvl_sync *sync, *loaded;
		struct cvl_session *s;
		struct cvl_error err;
		struct world w;

		random_world(&d, &w, 4, 150, 0);
		w.span = 60;
		for (size_t c = 0; c < 4; c++)
			random_clock(&d, &w, c, 150e-6);
		chatter(&d, &w, 0, 1, 40);
		chatter(&d, &w, 1, 2, 40);
		for (size_t c = 0; c < 3; c++)
			hear(&d, &w, c, 30, true, 1e-6);
		s = write_world(&w);
		assert_int_equal(cvl_sync_load(&loaded, s, &err), 0);
		assert_null(loaded);
		sync = run(s, &opts);
		ok(cvl_sync_save(sync, s, &err), &err);
		ok(cvl_sync_load(&loaded, s, &err), &err);
		check_same(&d, &w, sync, loaded);
		assert_non_null(cvl_sync_find(loaded, "D"));
		assert_null(cvl_sync_find(loaded, "D")->map);
		assert_null(cvl_sync_find(loaded, "E"));
		cvl_sync_free(loaded);
		cvl_sync_free(sync);
		cvl_session_close(s);
		world_free(&w);
	}
}

/* A file of a version that did not tell the median is read, and the median is that of the map. */
static void the_median_is_made_up_for_where_the_file_lacks_it(void **state)
{
	struct cvl_sync_opts opts = { 0 };
	struct draw d = draw_begin(36);
	struct cvl_sync *sync, *loaded;
	struct cvl_session *s;
	struct cvl_error err;
	struct world w;
	char path[300];
	json_t *root, *clock;
	size_t i;

	(void)state;
	random_world(&d, &w, 2, 150, 0);
	w.span = 60;
	for (size_t c = 0; c < 2; c++)
		random_clock(&d, &w, c, 150e-6);
	chatter(&d, &w, 0, 1, 40);
	s = write_world(&w);
	sync = run(s, &opts);
	ok(cvl_sync_save(sync, s, &err), &err);
	snprintf(path, sizeof(path), "%s/sync.json", cvl_session_path(s));
	root = json_load_file(path, 0, NULL);
	assert_non_null(root);
	json_array_foreach(json_object_get(root, "clocks"), i, clock)
		assert_int_equal(json_object_del(clock, "bound_median_ns"), 0);
	json_object_del(root, "sha256");
	assert_int_equal(json_dump_file(root, path, JSON_INDENT(1)), 0);
	json_decref(root);
	ok(cvl_sync_load(&loaded, s, &err), &err);
	for (size_t c = 0; c < sync->n; c++) {
		const struct cvl_clock_sync *p = &loaded->clock[c];
		struct cvl_knot first, last;

		cvl_map_ends(p->map, &first, &last);
		assert_true(p->bound_median >= p->bound_min && p->bound_median <= p->bound_max);
		assert_true(p->bound_median == cvl_map_bound_median(p->map, first.tick, last.tick));
	}
	cvl_sync_free(loaded);
	cvl_sync_free(sync);
	cvl_session_close(s);
	world_free(&w);
}

struct writing {
	struct cvl_session *s;
	struct cvl_sync *sync[2];
	atomic_uint running;
};

static void *write_on(void *arg)
{
	struct writing *w = arg;
	struct cvl_error err;

	for (int i = 0; i < 300; i++)
		ok(sync_save_soon(w->sync[i % 2], w->s, &err), &err);
	atomic_fetch_sub(&w->running, 1);
	return NULL;
}

/* Whoever reads while two others replace the maps finds those of one version, whole. */
static void maps_may_be_replaced_while_they_are_read(void **state)
{
	struct cvl_sync_opts opts = { 0 };
	struct draw d = draw_begin(33);
	struct writing writing = { 0 };
	struct cvl_sync *loaded;
	struct cvl_error err;
	pthread_t thread[2];
	struct world w;
	size_t n = 0;

	(void)state;
	random_world(&d, &w, 3, 150, 0);
	chatter(&d, &w, 0, 1, 40);
	chatter(&d, &w, 1, 2, 40);
	writing.s = write_world(&w);
	opts.estimator = "interval";
	writing.sync[0] = run(writing.s, &opts);
	opts.estimator = "hull";
	writing.sync[1] = run(writing.s, &opts);
	ok(cvl_sync_save(writing.sync[1], writing.s, &err), &err);
	atomic_store(&writing.running, 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, write_on, &writing), 0);
	while (atomic_load(&writing.running) || !n) {
		if (cvl_sync_load(&loaded, writing.s, &err) != 1)
			fail_msg("after %zu: %s", n, err.text);
		assert_int_equal(loaded->n, 3);
		cvl_sync_free(loaded);
		n++;
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		cvl_sync_free(writing.sync[i]);
	}
	cvl_session_close(writing.s);
	world_free(&w);
}

static int load_text(const struct cvl_session *s, const char *text, size_t n, struct cvl_error *err)
{
	struct cvl_sync *sync;
	char path[300];
	int rc;

	snprintf(path, sizeof(path), "%s/sync.json", cvl_session_path(s));
	spill(path, text, n);
	rc = cvl_sync_load(&sync, s, err);
	assert_int_equal(rc > 0, sync != NULL);
	cvl_sync_free(sync);
	return rc;
}

static void foreign_and_damaged_sync_json_is_refused(void **state)
{
	struct cvl_sync_opts opts = { 0 };
	struct draw d = draw_begin(32);
	struct cvl_session *s[2];
	struct cvl_sync *sync;
	struct cvl_error err;
	char path[300], *text, *version;
	struct world w;
	size_t n;

	(void)state;
	random_world(&d, &w, 2, 150, 0);
	chatter(&d, &w, 0, 1, 8);
	s[0] = write_world(&w);
	s[1] = write_world(&w);
	sync = run(s[0], &opts);
	ok(cvl_sync_save(sync, s[0], &err), &err);
	cvl_sync_free(sync);
	snprintf(path, sizeof(path), "%s/sync.json", cvl_session_path(s[0]));
	text = slurp(path);
	n = strlen(text);

	assert_int_equal(load_text(s[0], text, n, &err), 1);
	assert_int_equal(load_text(s[1], text, n, &err), CVL_E_MISMATCH);
	assert_non_null(strstr(err.text, "another session"));
	for (int i = 0; i < 200; i++) {
		size_t cut = (size_t)draw_below(&d, n - 2);

		assert_int_equal(load_text(s[0], text, cut, &err), CVL_E_SYNTAX);
		assert_int_equal(err.code, CVL_E_SYNTAX);
		assert_true(err.offset <= cut);
	}
	assert_int_equal(load_text(s[0], "{}", 2, &err), CVL_E_SYNTAX);
	assert_int_equal(load_text(s[0], "[]", 2, &err), CVL_E_SYNTAX);
	for (int i = 0; i < 2000; i++) { /* anything but a crash */
		char *damaged = strdup(text);
		int rc;

		for (uint64_t k = draw_below(&d, 3); k < 3; k++)
			damaged[draw_below(&d, n)] = (char)(' ' + draw_below(&d, 95));
		rc = load_text(s[0], damaged, n, &err);
		assert_true(rc == 1 || rc == (int)err.code);
		free(damaged);
	}
	version = strstr(text, "\"coeval_sync\": 2");
	assert_non_null(version);
	version[strlen("\"coeval_sync\": ")] = '3';
	assert_int_equal(load_text(s[0], text, n, &err), CVL_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "version 3 is not supported; this coeval reads up to 2"));
	free(text);
	for (int i = 0; i < 2; i++)
		cvl_session_close(s[i]);
	world_free(&w);
}

static void a_timeline_refuses_a_foreign_sync_json(void **state)
{
	struct draw d = draw_begin(33);
	struct cvl_timeline *tl = NULL;
	struct cvl_session *s;
	struct cvl_error err;
	struct world w;

	(void)state;
	random_world(&d, &w, 1, 150, 0);
	s = write_world(&w);
	assert_int_equal(load_text(s, "{", 1, &err), CVL_E_SYNTAX);
	assert_int_equal(cvl_timeline_open(&tl, s, NULL, &err), CVL_E_SYNTAX);
	cvl_timeline_close(tl);
	cvl_session_close(s);
	world_free(&w);
}

static void wrong_options_are_refused(void **state)
{
	struct cvl_sync_opts no_reference = { .reference = "Z" };
	struct cvl_sync_opts no_estimator = { .estimator = "magic" };
	struct cvl_sync_opts no_marks = { .estimator = "line" };
	struct cvl_sync_opts no_clock = { .n_drift = 1 }, nothing = { 0 };
	const struct {
		struct cvl_sync_opts *opts;
		int rc;
		bool match;
	} cases[] = {
		{ &no_reference, CVL_E_USAGE, true }, { &no_estimator, CVL_E_USAGE, true },
		{ &no_marks, CVL_E_NO, true },        { &no_clock, CVL_E_USAGE, true },
		{ &nothing, CVL_E_NO, false },
	};
	const char *const match[] = { rule };
	struct draw d = draw_begin(34);
	struct cvl_session *s;
	struct cvl_sync *sync;
	struct cvl_error err;
	struct world w;

	(void)state;
	no_clock.drift[0].clock = "Z";
	no_clock.drift[0].ppm = 10;
	random_world(&d, &w, 2, 150, 0);
	chatter(&d, &w, 0, 1, 8);
	s = write_world(&w);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cases[i].opts->match = match;
		cases[i].opts->n_match = cases[i].match;
		assert_int_equal(cvl_sync_run(&sync, s, cases[i].opts, &err), cases[i].rc);
		assert_int_equal(err.code, cases[i].rc);
		assert_null(sync);
	}
	cvl_session_close(s);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interval_holds_the_truth),
		cmocka_unit_test(records_are_within_their_bounds),
		cmocka_unit_test(more_messages_never_widen_a_bound),
		cmocka_unit_test(untied_clocks_say_why),
		cmocka_unit_test(hull_tries_the_next_neighbour),
		cmocka_unit_test(violated_drift_limit_names_one_that_fits),
		cmocka_unit_test(violated_wander_limit_is_not_good),
		cmocka_unit_test(broken_causality_is_not_good),
		cmocka_unit_test(hull_holds_the_truth),
		cmocka_unit_test(hull_is_all_lines_that_fit),
		cmocka_unit_test(ten_years_do_not_overflow),
		cmocka_unit_test(line_of_beacons_keeps_its_promise),
		cmocka_unit_test(line_of_pulses_keeps_its_promise),
		cmocka_unit_test(line_is_relative_to_the_reference),
		cmocka_unit_test(smooth_keeps_its_promise_with_few_marks),
		cmocka_unit_test(student_is_that_of_the_tables),
		cmocka_unit_test(aliases_share_one_map),
		cmocka_unit_test(what_is_saved_is_loaded),
		cmocka_unit_test(the_median_is_made_up_for_where_the_file_lacks_it),
		cmocka_unit_test(maps_may_be_replaced_while_they_are_read),
		cmocka_unit_test(foreign_and_damaged_sync_json_is_refused),
		cmocka_unit_test(a_timeline_refuses_a_foreign_sync_json),
		cmocka_unit_test(wrong_options_are_refused),
	};

	setenv("COEVAL_SEED", "1", 0);
	return cmocka_run_group_tests(tests, set_up, remove_scratch);
}
