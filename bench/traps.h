/* SPDX-License-Identifier: MIT */
/**
 * Worlds made to mislead, synchronised and compared with their truth. For tests/sync/test_traps.c
 * and bench/truth.c.
 */
#ifndef BENCH_TRAPS_H
#define BENCH_TRAPS_H

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/timeline.h>

#include "sim/trap.h"

#define TRAP_TIMES 24 /* at which a pair of clocks is looked at */

/** Results of some worlds. */
struct trap_tally {
	unsigned worlds, clocks, good, ambiguous;
	unsigned decidable,
		/* clocks that something ties by construction, in undisturbed worlds */
		decidable_good;
	uint64_t proven, proven_outside; /* times of pairs */
	uint64_t likely, likely_outside; /* the same of clocks called good, bounds of 99.9 % */
	/* pairs of clocks called good whose times are off by half a period or more */
	unsigned by_period;
	uint64_t first_bad; /* seed; 0: none */
};

static inline struct cvl_bound trap_bound(const struct cvl_clock_sync *c, struct cvl_tick tick,
					  uint64_t rate_hz)
{
	struct cvl_bound b = { .kind = cvl_map_kind(c->map),
			       .capture = (int64_t)(1000000000 / rate_hz) + 1,
			       .group = c->group,
			       .reference = c->reference_ns,
			       .reference_is_max = c->reference_is_max };

	cvl_map_time(c->map, tick, &b.map);
	return b;
}

static inline void trap_see_pair(const struct trap *w, const struct cvl_sync *sync, size_t a,
				 size_t b, struct trap_tally *t)
{
	const struct cvl_clock_sync *ca = &sync->clock[a], *cb = &sync->clock[b];
	double from = fmax(w->clock[a].start_s, w->clock[b].start_s) + 0.01,
	       to = fmin(w->clock[a].end_s, w->clock[b].end_s);
	bool good = ca->verdict == CVL_GOOD && cb->verdict == CVL_GOOD, off = false;

	for (int k = 0; k < TRAP_TIMES; k++) {
		double at = from + (to - from) * (k + 0.5) / TRAP_TIMES;
		struct cvl_tick ta = trap_tick(w, a, at), tb = trap_tick(w, b, at);
		struct cvl_bound ba = trap_bound(ca, ta, w->clock[a].rate_hz),
				 bb = trap_bound(cb, tb, w->clock[b].rate_hz);
		int64_t bound = cvl_bound_pair(ba, bb);
		int64_t apart =
			cvl_map_time(ca->map, ta, NULL).ns - cvl_map_time(cb->map, tb, NULL).ns;
		bool outside;

		if (bound == CVL_BOUND_UNKNOWN)
			continue;
		apart = apart < 0 ? -apart : apart;
		outside = apart > bound;
		if (ba.kind == CVL_BOUND_PROVEN && bb.kind == CVL_BOUND_PROVEN) {
			t->proven++;
			t->proven_outside += outside;
			if (outside && !t->first_bad)
				t->first_bad = w->seed;
		} else if (good) {
			t->likely++;
			t->likely_outside += outside;
			off = off || (double)apart > 0.3e9 * (w->period_s > 0 ? w->period_s : 1);
		}
	}
	t->by_period += off;
	if (off && !t->first_bad)
		t->first_bad = w->seed;
}

/** A session's files. */
static inline int trap_remove_entry(const char *path, const struct stat *st, int type,
				    struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static inline int trap_write_rules(const struct trap *w, const char *path)
{
	FILE *f = fopen(path, "w");

	return f && fputs(w->rules, f) >= 0 && !fclose(f) ? 0 : CVL_E_IO;
}

static inline void trap_count(const struct trap *w, const struct cvl_sync *sync,
			      struct trap_tally *t)
{
	const bool counts = w->decidable && !w->disturbed;

	for (size_t i = 0; i < w->n; i++) {
		const struct cvl_clock_sync *c = &sync->clock[i];

		t->clocks++;
		t->good += c->verdict == CVL_GOOD;
		t->ambiguous += c->verdict == CVL_AMBIGUOUS;
		t->decidable += counts;
		t->decidable_good += counts && c->verdict == CVL_GOOD;
		if (counts && c->verdict != CVL_GOOD && getenv("COEVAL_SAY"))
			printf("seed %llu %s: %s\n", (unsigned long long)w->seed,
			       cvl_verdict_name(c->verdict), c->reason);
		for (size_t k = 0; k < i; k++)
			if (c->map && sync->clock[k].map)
				trap_see_pair(w, sync, k, i, t);
	}
}

/**
 * Make the world of @seed and @ties in directory @dir, synchronise it, and count the results. A
 * world that nothing ties is one, too.
 */
static inline int trap_run(uint64_t seed, enum trap_ties ties, const char *dir,
			   struct trap_tally *t, struct cvl_error *err)
{
	char path[4200], file[4200];
	const char *rules = file;
	struct cvl_sync_opts opts = { 0 };
	struct cvl_session *s;
	struct cvl_sync *sync = NULL;
	struct trap w;
	int rc;

	snprintf(path, sizeof(path), "%s/w", dir);
	snprintf(file, sizeof(file), "%s/rules.yaml", dir);
	rc = trap_make(&w, seed, ties, path, err);
	if (!rc && *w.rules) {
		rc = trap_write_rules(&w, file);
		opts.match = &rules;
		opts.n_match = 1;
	}
	if (w.period_s > 0) {
		opts.n_pulse = 1;
		snprintf(opts.pulse[0].line, sizeof(opts.pulse[0].line), "PPS");
		opts.pulse[0].rising = true;
		opts.pulse[0].period_ns = w.stated_period_ns;
		opts.pulse[0].error_ns = (int64_t)(w.reference_s * 1e9);
	}
	if (w.align)
		snprintf(opts.align, sizeof(opts.align), "ALIGN");
	if (!rc)
		rc = cvl_session_open(&s, path, NULL, err);
	if (rc)
		return rc;
	rc = cvl_sync_run(&sync, s, &opts, err);
	t->worlds++;
	if (sync)
		trap_count(&w, sync, t);
	cvl_sync_free(sync);
	cvl_session_close(s);
	nftw(path, trap_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	return rc == CVL_E_NO ? 0 : rc;
}

#endif
