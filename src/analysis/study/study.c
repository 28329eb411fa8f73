/* SPDX-License-Identifier: MIT */
#include <coeval/study.h>

#include <coeval/array.h>

#include "core/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INSTANTS_MOST 2000
#define INSTANTS_LEAST 50
/* Marks that are kept, of all clocks for a median, and of one for its course: far more than a figure shows. */
#define RESIDUALS_MOST (1u << 18)
#define MARKS_MOST (1u << 13)
#define PAIRS_WANTED 400000 /* differences sampled: enough for the 99.9 % quantile */

/* A pulse or beacon that was heard. */
struct mark {
	double t, residual;
};

/* All of them are summed up; of many, one in @every is kept, so that there are @most. */
struct series {
	size_t most;
	struct mark *mark;
	size_t n, room;
	uint64_t seen, every;
	double mean, squares; /* of residuals, and of their distances from it (Welford 1962) */
	bool failed;
};

static void thin(struct series *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i += 2)
		s->mark[kept++] = s->mark[i];
	s->n = kept;
	s->every *= 2;
}

static void keep(void *ctx, struct cvl_time t, double residual)
{
	struct series *s = ctx;
	const double off = residual - s->mean;

	s->every = s->every ? s->every : 1;
	s->mean += off / (double)++s->seen;
	s->squares += off * (residual - s->mean);
	if (s->failed || (s->seen - 1) % s->every)
		return;
	if (s->n == s->most)
		thin(s);
	if ((s->seen - 1) % s->every)
		return;
	if (cvl_room(&s->mark, s->n, &s->room, sizeof(*s->mark)))
		s->failed = true;
	else
		s->mark[s->n++] = (struct mark){ (double)t.ns, residual };
}

/* ---- where and when ---- */

/* First and last knot; a map of one knot has no length. */
static void ends(const struct cvl_map *map, int64_t *from, int64_t *to)
{
	struct cvl_knot first, last;

	cvl_map_ends(map, &first, &last);
	*from = first.time.ns;
	*to = last.time.ns;
}

/* What all maps cover together. */
static void extent(const struct cvl_sync *sync, int64_t *from, int64_t *to)
{
	int64_t a, b;

	*from = INT64_MAX;
	*to = INT64_MIN;
	for (size_t i = 0; i < sync->n; i++) {
		if (!sync->clock[i].map)
			continue;
		ends(sync->clock[i].map, &a, &b);
		if (a == b)
			continue;
		*from = a < *from ? a : *from;
		*to = b > *to ? b : *to;
	}
	if (*from > *to)
		*from = *to = 0;
}

/* The range studied: the map's own, or that of all maps if it has no length. */
static void stretch(const struct cvl_map *map, int64_t *from, int64_t *to)
{
	int64_t a, b;

	ends(map, &a, &b);
	if (a == b)
		return;
	*from = a;
	*to = b;
}

/* Position of point @k of CVL_STUDY_POINTS; halves are in between. */
static struct cvl_tick point(const struct cvl_map *map, int64_t from, int64_t to, double k)
{
	stretch(map, &from, &to);
	from += (int64_t)((double)(to - from) * k / CVL_STUDY_POINTS);
	return cvl_map_tick(map, (struct cvl_time){ from });
}

/*
 * Mean rate from one tick to another, ppm. Times are whole ns, too coarse below a second, so the
 * rate in between is used there.
 */
static double mean_rate(const struct cvl_map *map, struct cvl_tick a, struct cvl_tick b)
{
	double ns = (double)(cvl_map_time(map, b, NULL).ns - cvl_map_time(map, a, NULL).ns),
	       nominal = (double)(b.count - a.count) * 1e9 / (double)cvl_map_rate_hz(map);

	if (ns < 1e9 || b.count < a.count)
		return cvl_map_rate_ppb(map,
					(struct cvl_tick){ a.count + (b.count - a.count) / 2 }) /
		       1000;
	return (nominal - ns) / ns * 1e6;
}

/* ---- each estimator ---- */

static int by_residual(const void *pa, const void *pb)
{
	const struct mark *a = pa, *b = pb;

	return order_sizes(&a->residual, &b->residual);
}

static int sum_residuals(struct cvl_study_result *r, const struct cvl_observations *obs,
			 struct cvl_error *err)
{
	struct series all = { .most = RESIDUALS_MOST };
	int rc = 0;

	for (size_t c = 0; c < r->sync->n && !rc; c++)
		rc = cvl_sync_residuals(r->sync, obs, c, keep, &all, err);
	if (!rc && all.failed)
		rc = cvl_no_memory(err);
	if (!rc && all.n) {
		qsort(all.mark, all.n, sizeof(*all.mark), by_residual);
		r->residuals = all.seen;
		r->residual_sd = sqrt(all.squares / (double)all.seen);
		r->residual_median = fabs(all.mark[all.n / 2].residual);
	}
	free(all.mark);
	return rc;
}

static int find_median_bound(struct cvl_study_result *r, struct cvl_error *err)
{
	double *bound = malloc((r->sync->n * CVL_STUDY_POINTS + 1) * sizeof(*bound));
	int64_t from, to, b;
	size_t n = 0;

	if (!bound)
		return cvl_no_memory(err);
	extent(r->sync, &from, &to);
	for (size_t i = 0; i < r->sync->n; i++) {
		const struct cvl_map *map = r->sync->clock[i].map;

		for (size_t k = 0; map && k < CVL_STUDY_POINTS; k++) {
			cvl_map_time(map, point(map, from, to, (double)k + 0.5), &b);
			if (b != CVL_BOUND_UNKNOWN)
				bound[n++] = (double)b;
		}
	}
	qsort(bound, n, sizeof(*bound), order_doubles);
	r->median_bound = n ? bound[n / 2] : -1;
	free(bound);
	return 0;
}

static int score(struct cvl_study *s, struct cvl_study_result *r, bool is_main,
		 struct cvl_error *err)
{
	struct cvl_score_opts opts = { .seed = 1, .instants = s->instants, .has_from = true };
	double *error = NULL;
	int64_t from, to;
	int rc;

	extent(s->truth, &from, &to);
	opts.from.ns = from + (int64_t)(s->settled_s * 1e9);
	rc = cvl_score(&r->score, r->sync, s->truth, s->session, &opts, &error, err);
	for (size_t k = 0; !rc && r->score.n && k < CVL_STUDY_QUANTILES; k++)
		r->quantile[k] = fabs(error[(size_t)((double)(r->score.n - 1) * (double)k /
						     (CVL_STUDY_QUANTILES - 1))]);
	if (!rc && is_main) {
		free(s->error);
		s->error = error;
		error = NULL;
	}
	free(error);
	return rc;
}

static int measure(struct cvl_study *s, struct cvl_study_result *r, bool is_main,
		   const struct cvl_observations *obs, struct cvl_error *err)
{
	int rc;

	r->tied = r->degraded = 0;

	for (size_t i = 0; i < r->sync->n; i++) {
		r->tied +=
			r->sync->clock[i].map != NULL && r->sync->clock[i].verdict > CVL_AMBIGUOUS;
		r->degraded += r->sync->clock[i].verdict == CVL_DEGRADED;
	}
	rc = sum_residuals(r, obs, err);
	if (!rc)
		rc = find_median_bound(r, err);
	if (!rc && s->truth)
		rc = score(s, r, is_main, err);
	return rc;
}

/* Maps take memory, and only those of the main result are looked at again. */
static void drop_maps(struct cvl_sync *sync)
{
	for (size_t i = 0; i < sync->n; i++) {
		cvl_map_free(sync->clock[i].map);
		sync->clock[i].map = NULL;
	}
}

/* Drop kinds of estimators that all failed: they have no observations here. */
static void drop_strangers(struct cvl_study *s)
{
	bool of_use[2] = { false, false };
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->result[i].sync)
			of_use[s->result[i].info->messages] = true;
	for (size_t i = 0; i < s->n; i++)
		if (of_use[s->result[i].info->messages])
			s->result[n++] = s->result[i];
	s->n = n;
}

/* Solve by each estimator and measure that; of all but @main the maps are dropped. */
static int solve_all(struct cvl_study *s, const char *main, const struct cvl_observations *obs,
		     struct cvl_error *err)
{
	const struct cvl_estimator_info *info;
	int rc = 0;

	for (size_t i = 0; (info = cvl_sync_estimator(i)) && s->n < CVL_STUDY_ESTIMATORS && !rc;
	     i++) {
		struct cvl_study_result *r = &s->result[s->n++];
		const bool is_main = !strcmp(info->name, main);

		*r = (struct cvl_study_result){ .info = info, .index = i, .median_bound = -1 };
		rc = cvl_sync_solve(&r->sync, obs, info->name, err);
		if (rc == CVL_E_NOMEM)
			return rc;
		if (rc) {
			snprintf(r->why, sizeof(r->why), "%s", err->text);
			rc = 0;
			continue;
		}
		rc = measure(s, r, is_main, obs, err);
		if (!is_main)
			drop_maps(r->sync);
	}
	drop_strangers(s);
	return rc;
}

static bool choose(struct cvl_study *s, const char *name)
{
	for (size_t i = 0; name && i < s->n; i++)
		if (s->result[i].sync && !strcmp(s->result[i].info->name, name)) {
			s->main = i;
			return true;
		}
	return false;
}

/*
 * Add @sync, which is taken over, by an estimator that failed when requested by name: a clock that
 * nothing ties and that needs no tie.
 */
static void add_main(struct cvl_study *s, struct cvl_sync *sync)
{
	const struct cvl_estimator_info *info;

	for (size_t i = 0; (info = cvl_sync_estimator(i)); i++)
		if (!strcmp(info->name, sync->estimator)) {
			s->result[0] = (struct cvl_study_result){
				.info = info, .index = i, .sync = sync, .median_bound = -1
			};
			s->main = 0;
			s->n = 1;
		}
}

/* Make result @i the main one, although its maps were dropped. */
static int solve_again(struct cvl_study *s, size_t i, const struct cvl_observations *obs,
		       struct cvl_error *err)
{
	struct cvl_sync *sync;
	int rc = cvl_sync_solve(&sync, obs, s->result[i].info->name, err);

	if (rc)
		return rc;
	cvl_sync_free(s->result[i].sync);
	s->result[i].sync = sync;
	s->main = i;
	return measure(s, &s->result[i], true, obs, err);
}

/* The requested one, else the default, else one that worked. */
static int solve_and_choose(struct cvl_study *s, const struct cvl_observations *obs,
			    const char *wanted, struct cvl_error *err)
{
	struct cvl_sync *usual = NULL;
	char main[40] = "";
	int rc;

	/* which is the main one shows when it is solved */
	if (cvl_sync_solve(&usual, obs, wanted, NULL) && wanted)
		cvl_sync_solve(&usual, obs, NULL, NULL);
	if (usual) {
		snprintf(main, sizeof(main), "%s", usual->estimator);
		drop_maps(usual);
	}
	rc = solve_all(s, main, obs, err);
	cvl_sync_free(usual);
	if (rc || choose(s, main))
		return rc;
	for (size_t i = 0; i < s->n; i++)
		if (s->result[i].sync)
			return solve_again(s, i, obs, err);
	rc = cvl_sync_solve(&usual, obs, NULL, err);
	if (rc)
		return rc;
	add_main(s, usual);
	return measure(s, &s->result[0], true, obs, err);
}

/* ---- details of the main one ---- */

/*
 * Centre rates on their median, which a phase step does not move; NaN: missing. Returns the median.
 */
static double centre(double v[CVL_STUDY_POINTS])
{
	double sorted[CVL_STUDY_POINTS], middle = 0;
	size_t n = 0;

	for (size_t k = 0; k < CVL_STUDY_POINTS; k++)
		if (isfinite(v[k]))
			sorted[n++] = v[k];
	qsort(sorted, n, sizeof(*sorted), order_doubles);
	if (n)
		middle = sorted[n / 2];
	for (size_t k = 0; k < CVL_STUDY_POINTS; k++)
		v[k] -= middle;
	return middle;
}

/* The truth ends where the simulation did. */
static double true_rate(const struct cvl_map *truth, struct cvl_tick a, struct cvl_tick b)
{
	struct cvl_knot first, last;

	cvl_map_ends(truth, &first, &last);
	if (a.count < first.tick.count || b.count > last.tick.count)
		return (double)NAN;
	return mean_rate(truth, a, b);
}

static void follow(const struct cvl_study *s, struct cvl_study_clock *c, int64_t from, int64_t to)
{
	const struct cvl_map *map = c->sync->map;
	const struct cvl_clock_sync *true_clock =
		s->truth ? cvl_sync_find(s->truth, c->sync->clock) : NULL;

	for (size_t k = 0; k < CVL_STUDY_POINTS; k++) {
		struct cvl_tick tick, begin, end;
		int64_t bound;

		c->t[k] = c->rate[k] = c->truth[k] = c->bound[k] = (double)NAN;
		if (!map)
			continue;
		tick = point(map, from, to, (double)k + 0.5);
		begin = point(map, from, to, (double)k);
		end = point(map, from, to, (double)k + 1);
		c->t[k] = (double)(cvl_map_time(map, tick, &bound).ns - from) / 1e9;
		c->rate[k] = mean_rate(map, begin, end);
		if (bound != CVL_BOUND_UNKNOWN)
			c->bound[k] = (double)bound;
		if (true_clock && true_clock->map)
			c->truth[k] = true_rate(true_clock->map, begin, end);
	}
	c->usual_rate = centre(c->rate);
	centre(c->truth);
}

static int by_time(const void *pa, const void *pb)
{
	const struct mark *a = pa, *b = pb;

	return order_doubles(&a->t, &b->t);
}

static int take_marks(struct cvl_study_clock *c, struct series *s, int64_t from)
{
	c->mark_t = malloc((s->n + 1) * sizeof(*c->mark_t));
	c->residual = malloc((s->n + 1) * sizeof(*c->residual));
	if (s->failed || !c->mark_t || !c->residual)
		return -1;
	for (size_t i = 0; i < s->n; i++)
		s->mark[i].t = (s->mark[i].t - (double)from) / 1e9;
	if (s->n)
		qsort(s->mark, s->n, sizeof(*s->mark), by_time);
	for (; c->n_marks < s->n; c->n_marks++) {
		c->mark_t[c->n_marks] = s->mark[c->n_marks].t;
		c->residual[c->n_marks] = s->mark[c->n_marks].residual;
	}
	return 0;
}

static int look_deep(struct cvl_study *s, const struct cvl_observations *obs, struct cvl_error *err)
{
	const struct cvl_sync *sync = s->result[s->main].sync;
	int64_t from, to;
	int rc = 0;

	extent(sync, &from, &to);
	s->length_s = (double)(to - from) / 1e9;
	s->clock = calloc(sync->n + 1, sizeof(*s->clock));
	if (!s->clock)
		return cvl_no_memory(err);
	s->n_clocks = sync->n;
	for (size_t i = 0; i < sync->n && !rc; i++) {
		struct cvl_study_clock *c = &s->clock[i];
		struct series marks = { .most = MARKS_MOST };

		c->sync = &sync->clock[i];
		follow(s, c, from, to);
		rc = cvl_sync_residuals(sync, obs, i, keep, &marks, err);
		if (!rc && take_marks(c, &marks, from))
			rc = cvl_no_memory(err);
		free(marks.mark);
		s->n_residuals += c->n_marks;
	}
	if (rc)
		return rc;
	s->residual = malloc((s->n_residuals + 1) * sizeof(*s->residual));
	if (!s->residual)
		return cvl_no_memory(err);
	s->n_residuals = 0;
	for (size_t i = 0; i < s->n_clocks; i++)
		for (size_t k = 0; k < s->clock[i].n_marks; k++)
			s->residual[s->n_residuals++] = s->clock[i].residual[k];
	qsort(s->residual, s->n_residuals, sizeof(*s->residual), order_sizes);
	return 0;
}

/* ---- all of it ---- */

/*
 * Trim at most half of a short session, and sample only as many pairs as needed.
 */
static void plan_scores(struct cvl_study *s)
{
	double pairs = (double)s->truth->n * (double)(s->truth->n - 1) / 2;
	int64_t from, to;

	extent(s->truth, &from, &to);
	s->settled_s = fmin((double)CVL_STUDY_SETTLE_NS, (double)(to - from) / 2) / 1e9;
	s->instants = INSTANTS_MOST;
	if (pairs > 0)
		s->instants =
			(size_t)fmax(fmin(PAIRS_WANTED / pairs, INSTANTS_MOST), INSTANTS_LEAST);
}

static int make(struct cvl_study *s, struct cvl_session *session, const struct cvl_sync_opts *opts,
		const char *estimator, struct cvl_error *err)
{
	struct cvl_observations *obs;
	int rc = cvl_truth_load(&s->truth, session, err);

	if (rc >= 0)
		rc = cvl_observe(&obs, session, opts, err);
	if (rc)
		return rc;
	if (s->truth)
		plan_scores(s);
	rc = solve_and_choose(s, obs, estimator, err);
	if (!rc)
		rc = look_deep(s, obs, err);
	cvl_observations_free(obs);
	return rc;
}

int cvl_study_make(struct cvl_study **study, struct cvl_session *session,
		   const struct cvl_sync_opts *opts, const char *estimator, struct cvl_error *err)
{
	struct cvl_study *s = calloc(1, sizeof(*s));
	int rc;

	*study = NULL;
	if (!s)
		return cvl_no_memory(err);
	s->session = session;
	rc = make(s, session, opts, estimator, err);
	if (rc)
		cvl_study_free(s);
	else
		*study = s;
	return rc;
}

void cvl_study_free(struct cvl_study *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		cvl_sync_free(s->result[i].sync);
	for (size_t i = 0; i < s->n_clocks; i++) {
		free(s->clock[i].mark_t);
		free(s->clock[i].residual);
	}
	free(s->clock);
	free(s->error);
	free(s->residual);
	cvl_sync_free(s->truth);
	free(s);
}
