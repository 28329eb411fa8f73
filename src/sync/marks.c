/* SPDX-License-Identifier: MIT */
#include "sync/marks_internal.h"

#include "core/jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEVERAL_MARKS \
	32 /* with fewer, senders that were tied by these very clocks would count as independent */
#define GO_ON_MARKS (1 << 16)    /* between checks for cancellation */
#define X_MAX ((int64_t)1 << 61) /* ns: 73 years from the session's epoch */

/* ---- marks heard ---- */

static int by_clock(const void *pa, const void *pb)
{
	const struct heard *a = pa, *b = pb;

	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	if (a->x != b->x)
		return a->x < b->x ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int make_room(struct marks *w)
{
	const struct sync_problem *p = w->p;

	if (spill_room(&w->heard_in, (p->n_marks + 1) * sizeof(*w->heard)) ||
	    spill_room(&w->order_in, (p->n_marks + 1) * sizeof(struct heard *)) ||
	    spill_room(&w->list_in, (p->n_marks + 1) * sizeof(struct heard *)))
		return cvl_no_memory(w->err);
	w->heard = w->heard_in.at;
	w->order = w->order_in.at;
	w->list = w->list_in.at;
	w->begin = calloc(p->n_clocks + 1, sizeof(*w->begin));
	w->source_begin = calloc(p->n_sources + 1, sizeof(*w->source_begin));
	w->clock = calloc(p->n_clocks + 1, sizeof(*w->clock));
	w->source = calloc(p->n_sources + 1, sizeof(*w->source));
	w->origin = calloc(p->n_sources + 1, sizeof(*w->origin));
	w->jumps = calloc(p->n_sources + 1, sizeof(*w->jumps));
	while (w->n_pulse_sources < p->n_sources && !p->source[w->n_pulse_sources].numbered)
		w->n_pulse_sources++;
	w->count = calloc(p->n_clocks * w->n_pulse_sources + 1, sizeof(*w->count));
	w->doubt = calloc(p->n_sources + 1, sizeof(*w->doubt));
	return w->begin && w->source_begin && w->clock && w->source && w->origin && w->jumps &&
			       w->count && w->doubt ?
		       0 :
		       cvl_no_memory(w->err);
}

/* False for marks so far away that sums of times could overflow. */
static bool within_reach(int64_t x, int64_t number, int64_t period)
{
	int64_t time;

	return x > -X_MAX && x < X_MAX && !__builtin_mul_overflow(number, period, &time) &&
	       time > -X_MAX / 2 && time < X_MAX / 2;
}

static void rest(const void *marks)
{
	const struct marks *w = marks;

	spill_rest(&w->heard_in);
	spill_rest(&w->order_in);
	spill_rest(&w->list_in);
}

/* From how many there are of each, where each one's begin; those of all have a place at the end. */
static void begin_of_each(size_t *n, size_t all)
{
	size_t sum = 0;

	for (size_t i = 0; i <= all; i++) {
		size_t here = n[i];

		n[i] = sum;
		sum += here;
	}
}

/* Mark @i of the problem as heard; false if it is out of reach. */
static bool hear(const struct marks *w, size_t i, struct heard *h)
{
	const struct sync_problem *p = w->p;
	const struct sync_mark *m = &p->mark[i];
	uint32_t c = (uint32_t)p->clock[m->clock].same_as;
	int64_t x = sync_x(p, m->clock, m->tick);

	*h = (struct heard){
		.x = x - p->clock[c].bias_ns, .number = m->index, .clock = c, .source = m->source
	};
	return within_reach(x, m->index, p->source[m->source].period_ns);
}

/* Mark @i heard, of many that are gone through: what was gone through takes no memory. */
static struct heard *heard_at(const struct marks *w, size_t i)
{
	if (!(i % SYNC_REST_MARKS))
		rest(w);
	return &w->heard[i];
}

/* Those of a clock are in order already, unless it has aliases or went back. */
static void sort_clock(const struct marks *w, size_t c)
{
	const size_t begin = w->begin[c], end = w->begin[c + 1];

	for (size_t i = begin + 1; i < end; i++)
		if (by_clock(heard_at(w, i) - 1, &w->heard[i]) > 0) {
			qsort(w->heard + begin, end - begin, sizeof(*w->heard), by_clock);
			return;
		}
}

static int lay_out(struct marks *w)
{
	const struct sync_problem *p = w->p;
	int rc = make_room(w);
	size_t *next = calloc(p->n_clocks + p->n_sources + 2, sizeof(*next));
	struct heard h;

	if (!next && !rc)
		rc = cvl_no_memory(w->err);
	if (rc) {
		free(next);
		return rc;
	}
	for (size_t i = 0; i < p->n_marks; i++) {
		sync_rest(p, i);
		if (hear(w, i, &h)) {
			w->begin[h.clock]++;
			w->source_begin[h.source]++;
			w->n++;
		}
	}
	begin_of_each(w->begin, p->n_clocks);
	begin_of_each(w->source_begin, p->n_sources);
	memcpy(next, w->begin, p->n_clocks * sizeof(*next));
	spill_scattered(&w->heard_in, true);
	for (size_t i = 0; i < p->n_marks; i++) {
		sync_rest(p, i);
		if (!(i % SYNC_REST_MARKS))
			rest(w);
		if (hear(w, i, &h))
			w->heard[next[h.clock]++] = h;
	}
	rest(w);
	spill_scattered(&w->heard_in, false);
	memcpy(next, w->source_begin, p->n_sources * sizeof(*next));
	for (size_t c = 0; c < p->n_clocks; c++) {
		sort_clock(w, c);
		for (size_t i = w->begin[c]; i < w->begin[c + 1]; i++)
			w->order[next[heard_at(w, i)->source]++] = &w->heard[i];
		rest(w);
	}
	free(next);
	return 0;
}

/* Where in the order marks of @source heard by @clock, or one after it, begin. */
static size_t begin_of(const struct marks *w, size_t source, size_t clock)
{
	size_t low = w->source_begin[source], high = w->source_begin[source + 1];

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (w->order[mid]->clock < clock)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

size_t marks_list(const struct marks *w, size_t clock, size_t source, struct heard *const **list)
{
	const size_t begin = begin_of(w, source, clock);

	*list = w->order + begin;
	return begin_of(w, source, clock + 1) - begin;
}

struct jump_seen {
	struct number_jump jump;
	uint32_t clock;
};

/*
 * Number of clocks that saw numbers jump by the same amount, possibly at the same place; @first:
 * the first of them.
 */
static size_t voters(const struct jump_seen *seen, size_t n, const struct number_jump *j,
		     size_t *first)
{
	size_t votes = 0;

	for (size_t i = 0; i < n; i++)
		if (seen[i].jump.by == j->by && seen[i].jump.after <= j->next &&
		    j->after <= seen[i].jump.next) {
			*first = votes ? *first : i;
			votes++;
		}
	return votes;
}

/* Count the pulses of one line at all clocks. */
static int count_source(struct marks *w, size_t source)
{
	const struct sync_problem *p = w->p;
	const int64_t period = p->source[source].period_ns;
	int rc = 0;

	for (size_t c = 0; c < p->n_clocks && !rc; c++) {
		struct heard *const *list;
		size_t n = marks_list(w, c, source, &list);
		int64_t grid = p->epoch_unix_ns % period, time, bound;

		if (n && sync_before(p, c, list[0]->x, &time, &bound))
			grid += time - list[0]->x;
		rc = count_pulses(list, n, period, grid, p->clock[c].drift_ppm,
				  marks_count(w, c, source));
		rest(w);
	}
	return rc ? cvl_no_memory(w->err) : 0;
}

/*
 * Check the numbers of one sender's beacons at all clocks. Where most clocks that heard it saw its
 * numbers jump, the sender jumped, and the numbers are corrected; where only one did, that clock
 * has jumped, and they stay.
 */
static int number_source(struct marks *w, size_t source)
{
	const struct sync_problem *p = w->p;
	const struct sync_source *src = &p->source[source];
	struct jump_seen *seen = NULL;
	size_t n_seen = 0, hearers = 0;

	for (size_t c = 0; c < p->n_clocks; c++) {
		struct number_jump jump[NUMBER_JUMPS_MAX];
		struct heard *const *list;
		size_t n = marks_list(w, c, source, &list), n_jumps;
		struct jump_seen *grown;

		if (!n)
			continue;
		hearers++;
		check_numbers(list, n, src->period_ns, jump, &n_jumps, rest, w);
		rest(w);
		grown = realloc(seen, (n_seen + n_jumps + 1) * sizeof(*seen));
		if (!grown) {
			free(seen);
			return cvl_no_memory(w->err);
		}
		seen = grown;
		for (size_t i = 0; i < n_jumps; i++)
			seen[n_seen++] = (struct jump_seen){ jump[i], (uint32_t)c };
	}
	for (size_t i = 0; i < n_seen; i++) {
		const struct jump_seen *s = &seen[i];
		struct heard *const *list;
		size_t n, first = i;

		if (2 * voters(seen, n_seen, &s->jump, &first) < hearers) {
			w->clock[s->clock].jumps++;
			continue;
		}
		w->jumps[source] += first == i;
		n = marks_list(w, s->clock, source, &list);
		for (size_t k = s->jump.at; k < n; k++)
			list[k]->number -= s->jump.by;
	}
	free(seen);
	return 0;
}

/* ---- times of sources ---- */

static int64_t source_x(const struct marks *w, size_t source, int64_t number)
{
	int64_t x;

	if (__builtin_mul_overflow(number - w->origin[source], w->p->source[source].period_ns, &x))
		return number < w->origin[source] ? INT64_MIN / 2 : INT64_MAX / 2;
	return x;
}

/*
 * Time of number @number of a tied source: whole ns, and in @add the rest; and how certain that is.
 */
static int64_t source_time(const struct marks *w, size_t source, int64_t number, double *add,
			   double *var)
{
	int64_t x = source_x(w, source, number);
	const struct track *t = &w->source[source].track;
	double bound;

	*add = *var = 0;
	if (source == w->root)
		return cvl_add_sat(w->root_time, x);
	*add = track_at(t, x, &bound);
	*var = bound / TRACK_999 * bound / TRACK_999;
	return cvl_add_sat(t->base, x);
}

static void choose_root(struct marks *w)
{
	const struct sync_problem *p = w->p;
	size_t best = 0;

	for (size_t i = 1; i < p->n_sources; i++) {
		const struct sync_source *a = &p->source[i], *b = &p->source[best];

		if (!a->marks != !b->marks     ? a->marks > 0 :
		    a->numbered != b->numbered ? !a->numbered :
						 a->marks > b->marks)
			best = i;
	}
	for (size_t i = 0; p->sender && i < p->n_sources; i++)
		if (!strcmp(p->sender, p->source[i].name))
			best = i;
	w->root = best;
}

/* The first mark of the root that @c heard, or NULL. */
static const struct heard *first_of_root(const struct marks *w, size_t c)
{
	for (size_t i = w->begin[c]; i < w->begin[c + 1] && !w->clock[c].group; i++)
		if (heard_at(w, i)->source == w->root && !w->heard[i].bad)
			return &w->heard[i];
	return NULL;
}

/*
 * When the root's number at its origin was sent, by clocks whose times are known well enough. False:
 * none is.
 */
static bool place_by_clocks(const struct marks *w, double *time)
{
	const int64_t period = w->p->source[w->root].period_ns;
	double *at = malloc((w->p->n_clocks + 1) * sizeof(*at));
	size_t n = 0;

	for (size_t c = 0; at && c < w->p->n_clocks; c++) {
		const struct heard *h = first_of_root(w, c);
		int64_t t, bound;

		if (h && sync_before(w->p, c, h->x, &t, &bound) && bound < period / 4)
			at[n++] = (double)t -
				  (double)(h->number - w->origin[w->root]) * (double)period;
	}
	*time = at ? median_of(at, n) : 0;
	free(at);
	return n > 0;
}

/*
 * The origin of beacon numbers is arbitrary: shift them by whole periods to where the first clock
 * puts the first it heard, or where those put it that were on the timeline before. Pulses stay where
 * their clocks put them, at whole periods of UTC if UTC is known.
 */
static void place_root(struct marks *w)
{
	const struct sync_problem *p = w->p;
	const int64_t period = p->source[w->root].period_ns;
	const int64_t grid = p->source[w->root].numbered ? 0 : p->epoch_unix_ns % period;
	const struct heard *first = NULL;
	double time;

	for (size_t c = 0; c < p->n_clocks && !first; c++)
		first = first_of_root(w, c);
	if (!first)
		return;
	w->origin[w->root] = first->number;
	if (place_by_clocks(w, &time))
		w->root_time = llround((time + (double)grid) / (double)period) * period - grid;
	else if (p->source[w->root].numbered)
		w->root_time = llround((double)first->x / (double)period) * period;
	else
		w->root_time = first->number * period - grid;
	for (size_t c = 0; c < p->n_clocks; c++)
		w->clock[c].via = w->root;
	w->source[w->root].tied = true;
}

/* ---- tying ---- */

static bool usable(const struct marks *w, const struct heard *h)
{
	if (h->bad || !w->source[h->source].tied ||
	    (w->doubt[h->source] && w->clock[h->clock].sure))
		return false;
	/* other marks of a clock that may be off by whole periods do not tie the timeline */
	if (w->clock[h->clock].group && h->source != w->clock[h->clock].via)
		return false;
	return !w->tracker->whole_periods || h->source == w->root;
}

static int tracker_failed(int rc, struct cvl_error *err)
{
	if (rc == CVL_E_NO || rc == CVL_E_RANGE)
		return 0;                                   /* not tied by these marks */
	return rc == CVL_E_NOMEM ? cvl_no_memory(err) : rc; /* cancelled: @err says so */
}

static void open_track(struct marks_tie *t, int64_t base)
{
	track_free(&t->track);
	t->track.base = base;
	t->track.report = (struct track_report){ .emit = track_keep, .ctx = &t->track };
}

/* How often a clock slipped between the first and the last knot. */
static size_t slips_within(const struct track *t, const struct sync_clock *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_slips && t->n; i++)
		n += c->slip[i].from >= t->knot[0].x && c->slip[i].to <= t->knot[t->n - 1].x;
	return n;
}

/* Pulses come from references, beacons from radios: their slow errors differ. */
static bool hears_pulses_alone(const struct marks *w, size_t c)
{
	for (size_t i = w->begin[c]; i < w->begin[c + 1]; i++)
		if (usable(w, heard_at(w, i)) && w->p->source[w->heard[i].source].numbered)
			return false;
	return true;
}

/* Progress is told in the thread that asked for it; the others learn when that cancels. */
static int go_on(struct marks *w, struct cvl_error *err)
{
	if (pthread_equal(w->caller, pthread_self()) && sync_go_on(w->p, err))
		w->cancelled = true;
	return w->cancelled ? cvl_fail(err, CVL_E_CANCELLED, CVL_NO_OFFSET, "cancelled") : 0;
}

/* Of other clocks nothing is read or changed, and of sources nothing changed. */
static int track_clock(struct marks *w, size_t c, struct cvl_error *err)
{
	const struct sync_problem *p = w->p;
	struct marks_tie *t = &w->clock[c];
	struct track_setup setup = { .rate_hz = p->clock[c].rate_hz,
				     .resolution_ns = (double)p->clock[c].mark_ns,
				     .period_ns = (double)p->source[w->root].period_ns,
				     .pulses = hears_pulses_alone(w, c),
				     .noise = p->clock[c].noise };
	bool any = false, in_doubt = false;
	uint64_t seen = 0;
	uint64_t *from = calloc(p->n_sources, sizeof(*from));
	void *state = NULL;
	int rc = 0;

	if (!from)
		return cvl_no_memory(err);
	t->marks = t->bad = 0;
	t->sources = 0;
	t->root_first = INT64_MAX;
	t->root_last = INT64_MIN;
	for (size_t i = w->begin[c]; i < w->begin[c + 1] && !rc; i++) {
		const struct heard *h = heard_at(w, i);
		struct track_mark m = { .x = h->x, .source = h->source };
		double add;
		int64_t time;

		if (!(++seen % GO_ON_MARKS) && go_on(w, err)) {
			rc = CVL_E_CANCELLED;
			break;
		}
		t->bad += h->bad;
		if (!usable(w, h))
			continue;
		time = source_time(w, h->source, h->number, &add, &m.var);
		if (!any) {
			open_track(t, time - h->x);
			setup.base = t->track.base;
			setup.slip = p->clock[c].slip;
			setup.n_slips = p->clock[c].n_slips;
			setup.period_ns = (double)p->source[h->source].period_ns;
			state = w->tracker->open(&setup, &t->track.report);
			if (!state) {
				free(from);
				return cvl_no_memory(err);
			}
			t->first = h->x;
			any = true;
		}
		t->last = h->x;
		if (h->source == w->root) {
			t->root_first = h->x < t->root_first ? h->x : t->root_first;
			t->root_last = h->x;
		}
		t->marks++;
		from[h->source]++;
		in_doubt = in_doubt || w->doubt[h->source];
		m.offset = (double)(time - h->x - t->track.base) + add;
		rc = w->tracker->feed(state, &m);
	}
	rest(w);
	t->via = w->root;
	t->other = SIZE_MAX;
	for (size_t s = 0; s < p->n_sources; s++) {
		t->sources += from[s] > 0;
		t->via = from[s] > from[t->via] ? s : t->via;
		if (s != w->root && from[s] && (t->other == SIZE_MAX || from[s] > from[t->other]))
			t->other = s;
	}
	free(from);
	if (!any)
		return 0;
	t->periods = (uint64_t)((double)(t->last - t->first) / setup.period_ns) + 1;
	rc = w->tracker->close(state, rc);
	if (!rc && !w->tracker->slips)
		t->unaware = slips_within(&t->track, &p->clock[c]);
	if (!rc)
		rc = track_carry(&t->track, p->clock[c].slip, p->clock[c].n_slips);
	spill_rest(&t->track.knots);
	t->tied = !rc && t->track.n;
	t->sure = t->tied && !in_doubt;
	return rc ? tracker_failed(rc, err) : 0;
}

static int by_number(const void *pa, const void *pb)
{
	const struct heard *a = *(struct heard *const *)pa, *b = *(struct heard *const *)pb;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->clock < b->clock ? -1 : a->clock > b->clock;
}

/*
 * When mark number n of a source was sent, by all tied clocks that heard it: the weighted mean of
 * those near the median.
 */
static struct track_mark combine(struct marks *w, struct heard *const *h, size_t n, int64_t x,
				 int64_t base, double *scratch)
{
	struct track_mark m = { .x = x };
	double sum = 0, weights = 0, mid, worst = INFINITY;

	for (size_t i = 0; i < n; i++) {
		const struct marks_tie *t = &w->clock[h[i]->clock];

		scratch[i] = (double)(h[i]->x + t->track.base - x - base) +
			     track_at(&t->track, h[i]->x, NULL);
	}
	for (size_t i = 0; i < n; i++)
		scratch[n + i] = scratch[i];
	mid = median_of(scratch + n, n);
	for (size_t i = 0; i < n; i++) {
		const struct marks_tie *t = &w->clock[h[i]->clock];
		double bound, jitter = t->track.report.jitter_ns, var;

		track_at(&t->track, h[i]->x, &bound);
		bound /= TRACK_999;
		var = bound * bound + jitter * jitter;
		if (fabs(scratch[i] - mid) > 5 * sqrt(var) + 1000)
			continue;
		sum += scratch[i] / var;
		weights += 1 / var;
		worst = fmin(worst, bound * bound);
	}
	m.offset = weights > 0 ? sum / weights : mid;
	m.var = weights > 0 ? worst :
			      1e12; /* common error of the clocks; the smoother sees the rest */
	return m;
}

/* A sender with a computed time counts alongside others only if its clock behaved. */
static bool trustworthy(const struct track_report *r)
{
	return !r->steps && !(r->correlation > CORRELATION_DEGRADED) &&
	       (double)r->rejected <= REJECTED_DEGRADED * (double)(r->used + r->rejected);
}

/*
 * Whether a mark shows when its source sent it: not where its clock heard nothing else and its own
 * time is a forecast, whose errors are alike from mark to mark.
 */
static bool shows_source(const struct marks_tie *t, const struct heard *h)
{
	return !h->bad && t->tied && !t->group && h->x >= t->first && h->x <= t->last;
}

static int track_source(struct marks *w, size_t s)
{
	struct marks_tie *t = &w->source[s];
	const struct tracker *tracker = w->tracker->whole_periods ? &tracker_smooth : w->tracker;
	struct track_setup setup = { .rate_hz = 1000000000,
				     .period_ns = (double)w->p->source[s].period_ns };
	size_t n = 0;
	void *state;
	double *scratch;
	int rc = 0;

	for (size_t i = w->source_begin[s]; i < w->source_begin[s + 1]; i++)
		if (shows_source(&w->clock[w->order[i]->clock], w->order[i]))
			w->list[n++] = w->order[i];
	if (n < TRACK_MARKS_MIN)
		return 0;
	if (!w->p->source[s].numbered) {
		rc = marks_decide(w, s);
		if (rc)
			return rc;
	}
	scratch = malloc(2 * (w->p->n_clocks + 1) * sizeof(*scratch));
	if (!scratch)
		return cvl_no_memory(w->err);
	qsort(w->list, n, sizeof(struct heard *), by_number);
	w->origin[s] = w->list[0]->number;
	open_track(t, w->list[0]->x + w->clock[w->list[0]->clock].track.base);
	state = tracker->open(&setup, &t->track.report);
	if (!state) {
		free(scratch);
		return cvl_no_memory(w->err);
	}
	for (size_t i = 0, end; i < n && !rc; i = end) {
		struct track_mark m;

		for (end = i; end < n && end - i < w->p->n_clocks &&
			      w->list[end]->number == w->list[i]->number;)
			end++;
		m = combine(w, w->list + i, end - i, source_x(w, s, w->list[i]->number),
			    t->track.base, scratch);
		rc = tracker->feed(state, &m);
	}
	free(scratch);
	rc = tracker->close(state, rc);
	t->tied = !rc && t->track.n;
	w->doubt[s] = !trustworthy(&t->track.report);
	return rc ? tracker_failed(rc, w->err) : 0;
}

static bool hears_tied(const struct marks *w, size_t c)
{
	size_t n = 0;

	for (size_t i = w->begin[c]; i < w->begin[c + 1]; i++)
		n += usable(w, heard_at(w, i));
	rest(w);
	return n >= TRACK_MARKS_MIN;
}

/* Clocks to be tracked, by the sources that are tied so far, and how that went. */
struct tracking {
	struct marks *w;
	size_t n;
	struct tracked {
		size_t clock;
		int rc;
		struct cvl_error err;
	} at[];
};

static void track_one(void *tracking, size_t i)
{
	struct tracking *t = tracking;

	t->at[i].rc = go_on(t->w, &t->at[i].err);
	if (!t->at[i].rc)
		t->at[i].rc = track_clock(t->w, t->at[i].clock, &t->at[i].err);
}

/* Track those of @t. The first that failed counts. */
static int track_all(struct tracking *t)
{
	struct marks *w = t->w;

	if (w->jobs) {
		jobs_begin(w->jobs, t->n, track_one, t);
		jobs_finish(w->jobs);
	}
	for (size_t i = 0; i < t->n; i++) {
		if (!w->jobs)
			track_one(t, i);
		if (!t->at[i].rc)
			continue;
		if (w->err)
			*w->err = t->at[i].err;
		return t->at[i].rc;
	}
	return 0;
}

static int spread(struct marks *w)
{
	const struct sync_problem *p = w->p;
	struct tracking *t = malloc(sizeof(*t) + p->n_clocks * sizeof(*t->at));
	bool again = true, several = false;
	int rc = t ? 0 : cvl_no_memory(w->err);

	while (again && !rc) {
		*t = (struct tracking){ .w = w };
		for (size_t c = 0; c < p->n_clocks; c++)
			if (!w->clock[c].tied && hears_tied(w, c))
				t->at[t->n++].clock = c;
		rc = track_all(t);
		again = false;
		for (size_t i = 0; i < t->n; i++)
			again = again || w->clock[t->at[i].clock].tied;
		for (size_t s = 0; s < p->n_sources && !rc && again; s++)
			if (!w->source[s].tied) {
				rc = track_source(w, s);
				several = several || w->source[s].tied;
			}
	}
	/* with all sources tied, marks of the other sources count too */
	if (several && !rc && !w->tracker->whole_periods) {
		t->n = 0;
		for (size_t c = 0; c < p->n_clocks; c++)
			if (w->clock[c].tied && w->clock[c].marks >= SEVERAL_MARKS)
				t->at[t->n++].clock = c;
		rc = track_all(t);
	}
	free(t);
	return rc;
}

#define HOLD_MARKS 6 /* the numbers of so many last ones may still turn out to be wrong */

static void tell_noise(const struct marks *w, struct sync_solution *s)
{
	for (size_t c = 0; c < w->p->n_clocks && s->noise; c++)
		s->noise[c] = w->clock[c].track.report.noise;
}

/* Clocks wait for the senders between them and the root. */
static int64_t horizon(const struct marks *w)
{
	double clock = 0, source = 0;

	for (size_t c = 0; c < w->p->n_clocks; c++)
		if (w->clock[c].tied)
			clock = fmax(clock, w->clock[c].track.report.horizon_ns);
	for (size_t s = 0; s < w->p->n_sources; s++)
		if (w->source[s].tied && s != w->root)
			source = fmax(source, w->source[s].track.report.horizon_ns);
	return llround(fmin(clock + source, 1e18)) + HOLD_MARKS * w->p->source[w->root].period_ns;
}

#define MANY 2000 /* marks for which threads are worth their start */

int marks_solve(const struct sync_problem *p, struct sync_solution *s,
		const struct tracker *tracker, struct cvl_error *err)
{
	struct marks w = { .p = p, .tracker = tracker, .caller = pthread_self(), .err = err };
	const unsigned threads = p->jobs ? p->jobs : jobs_processors();
	int rc = lay_out(&w);

	for (size_t i = 0; i < p->n_sources && !rc; i++)
		rc = p->source[i].numbered ? number_source(&w, i) : count_source(&w, i);
	if (!rc) {
		choose_root(&w);
		if (!p->source[w.root].numbered)
			rc = marks_decide(&w, w.root);
		place_root(&w);
	}
	/* without threads it is done in this one */
	if (!rc && threads > 1 && p->n_clocks > 1 && w.n > MANY)
		w.jobs = jobs_open(threads < p->n_clocks ? threads : (unsigned)p->n_clocks);
	if (!rc)
		rc = spread(&w);
	jobs_close(w.jobs);
	if (!rc)
		rc = marks_finish(&w, s);
	if (!rc)
		s->horizon_ns = horizon(&w);
	if (!rc)
		tell_noise(&w, s);
	for (size_t c = 0; w.clock && c < p->n_clocks; c++)
		track_free(&w.clock[c].track);
	for (size_t i = 0; w.source && i < p->n_sources; i++)
		track_free(&w.source[i].track);
	spill_free(&w.heard_in);
	spill_free(&w.list_in);
	spill_free(&w.order_in);
	free(w.begin);
	free(w.source_begin);
	free(w.clock);
	free(w.source);
	free(w.origin);
	free(w.jumps);
	free(w.count);
	free(w.doubt);
	return rc;
}
