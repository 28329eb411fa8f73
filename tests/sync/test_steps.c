/* SPDX-License-Identifier: MIT */
/*
 * Following: what is called final is right, is the same however the session grew, and costs the same
 * at any length. Worlds with known truth: a clock's ticks are a function of true time, which is the
 * timeline's, as the sender's beacons are exactly a second apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <coeval/follow.h>
#include <coeval/session.h>

#include "core/random.h"

#define RATE 10000000
#define CLOCKS 4
#define EDGES 4       /* a second */
#define JITTER 400e-9 /* of a beacon, sd, s */

static char dir[256];

static int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(dir, sizeof(dir), "%s/coeval-steps-XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static int remove_dir(void **state)
{
	(void)state;
	return nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void must(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

/* ---- worlds ---- */

struct world {
	const char *name;
	size_t clocks;
	int seconds;
	bool pulses;   /* instead of beacons */
	bool relay;    /* clocks from the third on hear a second sender alone, the second both */
	bool alone;    /* nothing is heard */
	int deaf_from; /* the last clock hears nothing from here ... */
	int deaf_to;
	bool all_deaf;   /* or all of them */
	int silent_from; /* ... or stores nothing */
	int silent_to;
	int first_dies; /* with relay: the first sender is silent from here on; 0: never */
	bool to_clock;  /* the timeline is the first clock's */
	double ppm;     /* the clocks' rates are off by up to this; 0: 110 */
};

static double most_ppm; /* of the world at work */

static double tick_of(size_t c, double s)
{
	static const double off[CLOCKS] = { 0.27e-6, -0.4e-6, 1e-6, -0.73e-6 };
	const double bend = 200e-6 * sin(2 * M_PI * s / 1200 + (double)c);

	return (s * (1 + most_ppm * off[c]) + bend + 0.1 * (double)(c + 1)) * RATE;
}

static double true_time(size_t c, uint64_t tick)
{
	double s = 0;

	for (int i = 0; i < 8; i++)
		s += ((double)tick - tick_of(c, s)) / RATE;
	return s;
}

struct grown {
	const struct world *w;
	char path[400];
	struct cvl_session *s;
	struct cvl_writer *writer[CLOCKS];
	struct sim_random r;
	size_t records;
	uint64_t levels[CLOCKS];
};

static void begin(struct grown *g, const struct world *w, const char *name)
{
	static const char *const lines[] = { "D0", "PPS" };
	const struct cvl_origin origin = { "test", "-", NULL };
	struct cvl_error err;

	*g = (struct grown){ .w = w, .r = { 11 } };
	most_ppm = w->ppm > 0 ? w->ppm : 110;
	snprintf(g->path, sizeof(g->path), "%s/%s-%s", dir, w->name, name);
	must(cvl_session_create(&g->s, g->path, &err), &err);
	for (size_t c = 0; c < w->clocks; c++) {
		char clock[24];
		const struct cvl_store_desc desc = { .clock = clock,
						     .rate_hz = RATE,
						     .start_unix_ns = 1700000000000000000,
						     .lines = lines,
						     .n_lines = 2 };
		/* captures of one host, started by it: which pulse is which is known */
		const struct cvl_clock_facts facts = { .start_unix_ns = 1700000000000000000,
						       .start_bound_ns = 250000000 };

		snprintf(clock, sizeof(clock), "n%zu", c);
		must(cvl_session_add(g->s, &desc, &origin, &g->writer[c], &err), &err);
		must(cvl_session_state(g->s, c, &facts, &err), &err);
	}
}

static void put_edge(struct grown *g, size_t c, double s, uint64_t flip)
{
	struct cvl_tick t = { (uint64_t)tick_of(c, s) };
	struct cvl_error err;

	g->levels[c] ^= flip;
	must(cvl_writer_edges(g->writer[c], &t, &g->levels[c], 1, &err), &err);
}

static void put_beacon(struct grown *g, size_t c, uint32_t id, double s, uint64_t number)
{
	struct cvl_tick t = { (uint64_t)tick_of(c, s + JITTER * sim_normal(&g->r)) };
	struct cvl_error err;

	must(cvl_writer_beacon(g->writer[c], t, id, number, &err), &err);
}

/* What clock @c records in second @k. */
static void write_second(struct grown *g, size_t c, int k)
{
	const struct world *w = g->w;
	const bool deaf =
		(c + 1 == w->clocks || w->all_deaf) && k >= w->deaf_from && k < w->deaf_to;
	const bool heard = k && !w->alone && !deaf;

	if (heard && w->pulses)
		put_edge(g, c, k + 1e-7 * sim_normal(&g->r), 2);
	else if (heard && (!w->relay || c < 2) && !(w->first_dies && k >= w->first_dies))
		put_beacon(g, c, 1, k, (uint64_t)(100 + k));
	put_edge(g, c, k + 0.2 + 0.01 * (double)c, 1);
	if (heard && w->relay && c > 0) /* the sender's own clock is 20 ppm fast */
		put_beacon(g, c, 2, 0.3 + k * (1 - 20e-6), (uint64_t)(7 + k));
	for (int i = 1; i < EDGES; i++)
		put_edge(g, c, k + 0.4 + 0.1 * i + 0.01 * (double)c, 1);
	if (heard && w->pulses)
		put_edge(g, c, k + 0.9, 2);
}

static void flush(struct grown *g, size_t c)
{
	struct cvl_error err;

	must(cvl_writer_flush(g->writer[c], &err), &err);
}

static void end(struct grown *g)
{
	struct cvl_error err;

	for (size_t c = 0; c < g->w->clocks; c++)
		must(cvl_session_finish(
			     g->s, g->writer[c],
			     (struct cvl_tick){ (uint64_t)tick_of(c, g->w->seconds + 1) }, &err),
		     &err);
	cvl_session_close(g->s);
}

/* ---- followers ---- */

struct seen {
	uint64_t hash, records, late, checked, outside, proven;
	int64_t last;
	double bounds; /* sum */
	int64_t by_clock[CLOCKS];
	uint64_t portions;
	bool to_clock;
};

static void mix(uint64_t *hash, uint64_t v)
{
	*hash = (*hash ^ v) * 0x9e3779b97f4a7c15u;
	*hash ^= *hash >> 29;
}

static void see(struct seen *d, struct cvl_timeline *tl, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_bound b = cvl_timeline_clock_bound(tl, sl->clock, sl->batch->tick[i]);
	const int64_t t = sl->time[i].ns;
	const bool late = sl->batch->flags[i] & CVL_LATE;
	double error;

	if (sl->batch->flags[i] & CVL_STATE)
		return; /* as the first edge of a clock */
	mix(&d->hash, sl->clock);
	mix(&d->hash, sl->batch->tick[i].count);
	mix(&d->hash, (uint64_t)t);
	mix(&d->hash, (uint64_t)cvl_timeline_bound(tl, sl, i));
	d->records++;
	d->late += late;
	if (!late) {
		assert_true(t >= d->last);
		d->last = t;
	}
	d->by_clock[sl->clock] = t;
	if (sl->batch->kind[i] == CVL_BEACON)
		return;
	error = (double)t - true_time(sl->clock, sl->batch->tick[i].count) * 1e9;
	if (d->to_clock) /* whose time is what its ticks say */
		error = (double)t -
			tick_of(0, true_time(sl->clock, sl->batch->tick[i].count)) / RATE * 1e9;
	d->checked++;
	d->bounds += (double)b.map;
	d->outside += fabs(error) > (double)b.map + 1e9 / RATE;
}

/* One wait; returns the news. */
static int follow(struct cvl_follow *f, struct seen *d, int64_t timeout_ms)
{
	struct cvl_error err;
	struct cvl_block block;
	struct cvl_slice slice;
	int news = cvl_follow_wait(f, timeout_ms, &err), rc;

	must(news, &err);
	if (news != CVL_FOLLOW_MORE && news != CVL_FOLLOW_RENEWED)
		return news;
	d->portions++;
	while ((rc = cvl_timeline_next(cvl_follow_timeline(f), &block, &err)) > 0)
		while (cvl_block_take(&block, &slice))
			for (size_t i = slice.begin; i < slice.end; i++)
				see(d, cvl_follow_timeline(f), &slice, i);
	must(rc, &err);
	return news;
}

static struct cvl_follow_opts opts_of(const struct world *w, const char *estimator)
{
	struct cvl_follow_opts o = { .sync.estimator = estimator };

	o.sync.max_drift_ppm = w->ppm;
	o.sync.reference = w->to_clock ? "n0" : NULL;
	if (w->relay)
		o.sync.sender = "beacon 1"; /* the one whose time is true */
	if (w->pulses) {
		o.sync.n_pulse = 1;
		o.sync.pulse[0] = (struct cvl_pulse_rule){ .line = "PPS",
							   .rising = true,
							   .period_ns = 1000000000 };
	}
	return o;
}

static struct seen follow_finished(const struct grown *g, const struct cvl_follow_opts *o)
{
	struct seen d = { .last = INT64_MIN, .to_clock = g->w->to_clock };
	struct cvl_follow *f;
	struct cvl_error err;

	must(cvl_follow_open(&f, g->path, o, &err), &err);
	while (follow(f, &d, -1) != CVL_FOLLOW_ENDED)
		;
	assert_int_equal(cvl_follow_settled(f).ns, INT64_MAX);
	cvl_follow_close(f);
	return d;
}

static void tell(const struct world *w, const char *how, const struct seen *d)
{
	printf("%s, %s: %llu records in %llu portions, %llu late; mean bound %.0f ns; %llu of %llu outside\n",
	       w->name, how, (unsigned long long)d->records, (unsigned long long)d->portions,
	       (unsigned long long)d->late, d->bounds / (double)d->checked,
	       (unsigned long long)d->outside, (unsigned long long)d->checked);
}

/* Written and followed by turns, in portions of 1 to 60 s, each clock's own. */
static struct seen follow_growing(struct grown *g, const struct cvl_follow_opts *o)
{
	struct seen d = { .last = INT64_MIN, .to_clock = g->w->to_clock };
	int done[CLOCKS] = { 0 }, least = 0;
	struct cvl_follow *f;
	struct cvl_error err;

	must(cvl_follow_open(&f, g->path, o, &err), &err);
	while (least < g->w->seconds) {
		least = g->w->seconds;
		for (size_t c = 0; c < g->w->clocks; c++) {
			int more = 1 + (int)(sim_uniform(&g->r) * 60);

			for (; more-- && done[c] < g->w->seconds; done[c]++)
				write_second(g, c, done[c]);
			flush(g, c);
			least = done[c] < least ? done[c] : least;
		}
		follow(f, &d, 0);
		assert_true(cvl_follow_settled(f).ns <= cvl_follow_estimated(f).ns);
		assert_true(cvl_follow_settled(f).ns < (int64_t)(least + 2) * 1000000000);
	}
	end(g);
	while (follow(f, &d, -1) != CVL_FOLLOW_ENDED)
		;
	cvl_follow_close(f);
	return d;
}

static void grows_as_it_is(const struct world *w, const char *estimator)
{
	const struct cvl_follow_opts o = opts_of(w, estimator);
	struct seen a, b;
	struct grown g;

	begin(&g, w, estimator ? estimator : "default");
	a = follow_growing(&g, &o);
	tell(w, "growing", &a);
	b = follow_finished(&g, &o);
	tell(w, "finished", &b);
	assert_int_equal(a.late, 0);
	assert_int_equal(a.records, b.records);
	assert_true(a.hash == b.hash);
	assert_true(a.portions > 4);
	assert_true((double)a.outside <= 0.001 * (double)a.checked + 3);
}

/* ---- tests ---- */

static void beacons(void **state)
{
	const struct world w = { .name = "beacons", .clocks = CLOCKS, .seconds = 1500 };

	(void)state;
	grows_as_it_is(&w, NULL);
	grows_as_it_is(&w, "kalman");
}

static void pulses(void **state)
{
	const struct world w = {
		.name = "pulses", .clocks = CLOCKS, .seconds = 1500, .pulses = true
	};

	(void)state;
	grows_as_it_is(&w, NULL);
}

static void two_senders(void **state)
{
	const struct world w = {
		.name = "relay", .clocks = CLOCKS, .seconds = 1500, .relay = true
	};

	(void)state;
	grows_as_it_is(&w, NULL);
}

static void a_clock_that_hears_nothing_for_a_while(void **state)
{
	const struct world w = {
		.name = "deaf", .clocks = 3, .seconds = 1200, .deaf_from = 400, .deaf_to = 700
	};

	(void)state;
	grows_as_it_is(&w, NULL);
}

/* What they hear from then on ties them to each other, not to the timeline. */
static void the_sender_of_the_timeline_dies(void **state)
{
	const struct world w = {
		.name = "dies", .clocks = CLOCKS, .seconds = 1500, .relay = true, .first_dies = 700
	};

	(void)state;
	grows_as_it_is(&w, NULL);
}

static void a_clock_is_the_timeline(void **state)
{
	const struct world w = { .name = "reference",
				 .clocks = 3,
				 .seconds = 1200,
				 .to_clock = true,
				 .deaf_from = 400,
				 .deaf_to = 600 };

	(void)state;
	grows_as_it_is(&w, NULL);
}

/* One that is listed and stores nothing for some time is waited for, and then not any more. */
static void a_clock_that_stored_nothing_yet(void **state)
{
	const struct world w = { .name = "unwritten", .clocks = 3, .seconds = 600 };
	struct cvl_follow_opts o = opts_of(&w, NULL);
	struct seen d = { .last = INT64_MIN };
	struct cvl_follow *f;
	struct cvl_error err;
	struct grown g;

	(void)state;
	o.silent_ms = 50;
	begin(&g, &w, "late");
	must(cvl_follow_open(&f, g.path, &o, &err), &err);
	for (int k = 0; k < w.seconds; k++) {
		for (size_t c = 0; c < (k < 400 ? 2 : w.clocks); c++) {
			write_second(&g, c, k);
			flush(&g, c);
		}
		if (k == 100)
			usleep(100000);
		follow(f, &d, 0);
		if (k == 399)
			assert_true(d.by_clock[0] > (int64_t)100 * 1000000000);
	}
	end(&g);
	while (follow(f, &d, -1) != CVL_FOLLOW_ENDED)
		;
	cvl_follow_close(f);
	assert_true(d.by_clock[2] > (int64_t)(w.seconds - 2) * 1000000000);
	assert_true((double)d.outside <= 0.001 * (double)d.checked + 3);
}

/* For so long that a clock's own count is off by half a period. */
static void nobody_hears_anything_for_a_while(void **state)
{
	struct world w = { .name = "pause",
			   .clocks = CLOCKS,
			   .seconds = 2600,
			   .deaf_from = 600,
			   .deaf_to = 1900,
			   .all_deaf = true,
			   .ppm = 900 };

	(void)state;
	grows_as_it_is(&w, NULL);
	w.pulses = true;
	w.name = "pulse-pause";
	grows_as_it_is(&w, NULL);
}

static void one_clock_is_followed_at_once(void **state)
{
	const struct world w = { .name = "alone", .clocks = 1, .seconds = 60, .alone = true };
	const struct cvl_follow_opts o = opts_of(&w, NULL);
	struct seen d = { .last = INT64_MIN };
	struct cvl_follow *f;
	struct cvl_error err;
	struct grown g;

	(void)state;
	begin(&g, &w, "one");
	must(cvl_follow_open(&f, g.path, &o, &err), &err);
	for (int k = 0; k < w.seconds; k++) {
		write_second(&g, 0, k);
		flush(&g, 0);
		follow(f, &d, 0);
		if (k > 12)
			assert_true(d.records + 2 * EDGES >= (uint64_t)(k + 1) * EDGES);
	}
	end(&g);
	while (follow(f, &d, -1) != CVL_FOLLOW_ENDED)
		;
	cvl_follow_close(f);
	assert_int_equal(d.records, (uint64_t)w.seconds * EDGES - 1);
}

/* The others go on; what it stored meanwhile comes late, and is marked. */
static void a_silent_clock_is_not_waited_for(void **state)
{
	const struct world w = {
		.name = "silent", .clocks = 3, .seconds = 1000, .silent_from = 400, .silent_to = 700
	};
	struct cvl_follow_opts o = opts_of(&w, NULL);
	struct seen d = { .last = INT64_MIN };
	struct cvl_follow *f;
	struct cvl_error err;
	struct grown g;

	(void)state;
	o.silent_ms = 100;
	begin(&g, &w, "silent");
	must(cvl_follow_open(&f, g.path, &o, &err), &err);
	for (int k = 0; k < w.seconds; k++) {
		for (size_t c = 0; c < w.clocks; c++) {
			write_second(&g, c, k);
			if (c < 2 || k < w.silent_from || k >= w.silent_to)
				flush(&g, c);
		}
		if (k == w.silent_from + 1)
			usleep(150000);
		follow(f, &d, 0);
		if (k == w.silent_to - 1) {
			assert_true(d.by_clock[0] > (int64_t)(w.silent_to - 250) * 1000000000);
			assert_true(d.by_clock[2] < (int64_t)w.silent_from * 1000000000);
		}
	}
	end(&g);
	while (follow(f, &d, -1) != CVL_FOLLOW_ENDED)
		;
	cvl_follow_close(f);
	tell(&w, "growing", &d);
	assert_in_range(d.late, 10 * EDGES, 300 * (EDGES + 1));
	assert_int_equal(d.records, (uint64_t)w.seconds * w.clocks * (EDGES + 1) - 2 * w.clocks);
	assert_true((double)d.outside <= 0.001 * (double)d.checked + 3);
}

/* Times that are not final yet: sooner, less certain, and right. */
static void estimates_come_at_once(void **state)
{
	const struct world w = { .name = "estimated", .clocks = 3, .seconds = 400 };
	struct cvl_follow_opts o = opts_of(&w, NULL);
	struct seen d = { .last = INT64_MIN };
	struct cvl_follow *f;
	struct cvl_error err;
	struct grown g;

	(void)state;
	o.estimated = true;
	begin(&g, &w, "estimated");
	must(cvl_follow_open(&f, g.path, &o, &err), &err);
	for (int k = 0; k < w.seconds; k++) {
		for (size_t c = 0; c < w.clocks; c++) {
			write_second(&g, c, k);
			flush(&g, c);
		}
		follow(f, &d, 0);
		assert_true(cvl_follow_settled(f).ns <= cvl_follow_estimated(f).ns);
		if (k > 25)
			assert_true(d.by_clock[0] > (int64_t)(k - 2) * 1000000000);
	}
	end(&g);
	while (follow(f, &d, -1) != CVL_FOLLOW_ENDED)
		;
	cvl_follow_close(f);
	tell(&w, "growing", &d);
	assert_int_equal(d.records, (uint64_t)w.seconds * w.clocks * (EDGES + 1) - 2 * w.clocks);
	/* an estimate serves for seconds: what it misses comes in runs */
	assert_true((double)d.outside <= 0.01 * (double)d.checked);
}

/* A process that follows and keeps, until it is killed. */
static void keep_following(const struct grown *g)
{
	const struct cvl_follow_opts o = { .save = true };
	struct cvl_block block;
	struct cvl_follow *f;
	struct cvl_error err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (cvl_follow_open(&f, g->path, &o, &err))
		_exit(1);
	for (;;) {
		int news = cvl_follow_wait(f, -1, &err);

		if (news < 0 || news == CVL_FOLLOW_ENDED)
			_exit(news < 0);
		while (cvl_timeline_next(cvl_follow_timeline(f), &block, &err) > 0)
			;
	}
}

/* The final map of clock @c at @tick; false if there is none up to there. */
static bool kept_at(const struct cvl_sync *sync, size_t c, uint64_t tick, int64_t *ns,
		    int64_t *bound)
{
	struct cvl_knot last;

	if (!sync->clock[c].map)
		return false;
	cvl_map_ends(sync->clock[c].map, NULL, &last);
	*ns = cvl_map_time(sync->clock[c].map, (struct cvl_tick){ tick }, bound).ns;
	return tick <= last.tick.count;
}

/* Returns how long it took, us. */
static double follow_to_the_end(const struct grown *g)
{
	struct timespec from, to;
	int status;
	pid_t child;

	clock_gettime(CLOCK_MONOTONIC, &from);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		keep_following(g);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3;
}

static bool every_path(void *ctx, const char *path)
{
	(void)ctx, (void)path;
	return true;
}

/* Whatever a killed follower left can be read, and is part of what there is in the end. */
static void a_follower_may_be_killed(void **state)
{
	enum { KILLS = 50 };
	const struct world w = { .name = "killed", .clocks = CLOCKS, .seconds = 900 };
	struct cvl_sync *left[KILLS] = { NULL }, *whole;
	struct cvl_session *s;
	struct cvl_error err;
	struct grown g;
	unsigned some = 0, compared = 0;
	char path[500];
	double lasts;
	int status;
	pid_t child;

	(void)state;
	begin(&g, &w, "killed");
	for (size_t c = 0; c < w.clocks; c++)
		for (int k = 0; k < w.seconds; k++)
			write_second(&g, c, k);
	end(&g);
	must(cvl_session_open(&s, g.path, NULL, &err), &err);
	lasts = follow_to_the_end(&g); /* here and today: then it begins anew */
	must(cvl_session_forget(s, every_path, NULL, &err), &err);
	snprintf(path, sizeof(path), "%s/sync.json", g.path);
	assert_int_equal(unlink(path), 0);
	for (int i = 0; i < KILLS; i++) {
		child = fork();
		assert_true(child >= 0);
		if (!child)
			keep_following(&g);
		usleep((useconds_t)(sim_uniform(&g.r) * lasts));
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		must(cvl_sync_load(&left[i], s, &err), &err);
		some += left[i] != NULL;
	}
	follow_to_the_end(&g);
	assert_int_equal(cvl_sync_load(&whole, s, &err), 1);
	for (int i = 0; i < KILLS; i++) {
		for (size_t c = 0; left[i] && c < left[i]->n; c++)
			for (int k = 0; k < w.seconds; k++) {
				const uint64_t tick = (uint64_t)tick_of(c, k + 0.5);
				int64_t a, b, a_bound, b_bound;

				if (!kept_at(left[i], c, tick, &a, &a_bound))
					break;
				assert_true(kept_at(whole, c, tick, &b, &b_bound));
				assert_true(a == b && a_bound == b_bound);
				compared++;
			}
		cvl_sync_free(left[i]);
	}
	printf("killed: %u of %d left something, %u times compared\n", some, KILLS, compared);
	assert_true(some > KILLS / 4 && compared > 1000);
	cvl_sync_free(whole);
	cvl_session_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beacons),
		cmocka_unit_test(pulses),
		cmocka_unit_test(two_senders),
		cmocka_unit_test(a_clock_that_hears_nothing_for_a_while),
		cmocka_unit_test(nobody_hears_anything_for_a_while),
		cmocka_unit_test(the_sender_of_the_timeline_dies),
		cmocka_unit_test(a_clock_is_the_timeline),
		cmocka_unit_test(a_clock_that_stored_nothing_yet),
		cmocka_unit_test(one_clock_is_followed_at_once),
		cmocka_unit_test(a_silent_clock_is_not_waited_for),
		cmocka_unit_test(estimates_come_at_once),
		cmocka_unit_test(a_follower_may_be_killed),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
