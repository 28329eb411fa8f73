/* SPDX-License-Identifier: MIT */
#include "sync/marks.h"

#include "sync/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CORRELATION_DEGRADED 0.2
#define MISSED_DEGRADED 0.5
#define REJECTED_DEGRADED 0.1
#define HOLDOVER_PERIODS 600 /* without marks at an end of the records */

/* A clock or a source: its own nominal time against the timeline. */
struct tie {
	bool tied;
	bool sure; /* of a clock: tied by sources that are not in doubt */
	struct track track;
	size_t sources;    /* that tied it */
	uint64_t marks;    /* heard of tied sources */
	uint64_t bad;      /* numbered wrongly */
	uint64_t periods;  /* from the first to the last of them */
	unsigned jumps;    /* of numbers, not its senders' */
	int64_t first, last; /* x of the first and last */
};

struct work {
	const struct sync_problem *p;
	const struct tracker *tracker;
	struct heard *heard; /* by clock, then x */
	size_t n;
	size_t *begin;       /* of each clock in heard; n_clocks + 1 */
	struct heard **list; /* scratch: n */
	struct tie *clock, *source;
	size_t root;
	int64_t *origin;    /* of each source: its number that stands at its own time 0 */
	int64_t root_time;  /* where that of the root stands on the timeline */
	unsigned *jumps;    /* of each source's numbers */
	bool *doubt;        /* sources whose own clocks did not hold still: for those who hear nothing else */
	struct cvl_error *err;
};

static int no_memory(struct work *w)
{
	return cvl_fail(w->err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
}

/* ---- what was heard ---- */

static int by_clock(const void *pa, const void *pb)
{
	const struct heard *a = pa, *b = pb;

	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	if (a->x != b->x)
		return a->x < b->x ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int lay_out(struct work *w)
{
	const struct sync_problem *p = w->p;

	w->n = p->n_marks;
	w->heard = calloc(w->n + 1, sizeof(*w->heard));
	w->list = calloc(w->n + 1, sizeof(struct heard *));
	w->begin = calloc(p->n_clocks + 1, sizeof(*w->begin));
	w->clock = calloc(p->n_clocks + 1, sizeof(*w->clock));
	w->source = calloc(p->n_sources + 1, sizeof(*w->source));
	w->origin = calloc(p->n_sources + 1, sizeof(*w->origin));
	w->jumps = calloc(p->n_sources + 1, sizeof(*w->jumps));
	w->doubt = calloc(p->n_sources + 1, sizeof(*w->doubt));
	if (!w->heard || !w->list || !w->begin || !w->clock || !w->source || !w->origin ||
	    !w->jumps || !w->doubt)
		return no_memory(w);
	for (size_t i = 0; i < w->n; i++) {
		const struct sync_mark *m = &p->mark[i];
		uint32_t c = (uint32_t)p->clock[m->clock].same_as;

		w->heard[i] = (struct heard){ .x = sync_x(p, m->clock, m->tick) - p->clock[c].bias_ns,
					      .number = m->index,
					      .clock = c,
					      .source = m->source };
	}
	qsort(w->heard, w->n, sizeof(*w->heard), by_clock);
	for (size_t c = 0, i = 0; c <= p->n_clocks; c++) {
		while (i < w->n && w->heard[i].clock < c)
			i++;
		w->begin[c] = i;
	}
	return 0;
}

static size_t list_of(const struct work *w, size_t clock, size_t source, struct heard **list)
{
	size_t n = 0;

	for (size_t i = w->begin[clock]; i < w->begin[clock + 1]; i++)
		if (w->heard[i].source == source)
			list[n++] = &w->heard[i];
	return n;
}

struct jump_seen {
	struct number_jump jump;
	uint32_t clock;
};

/* How many clocks heard numbers jump by the same, at what may be the same place; @first: the first of them. */
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

/*
 * Number the marks of one source at all clocks. Where most of those that heard it saw its numbers jump, it was the
 * sender, and the numbers are taken back; where one alone did, its own clock has jumped, and they stay.
 */
static int number_source(struct work *w, size_t source)
{
	const struct sync_problem *p = w->p;
	const struct sync_source *src = &p->source[source];
	struct jump_seen *seen = NULL;
	size_t n_seen = 0, hearers = 0;
	int64_t phase = p->epoch_unix_ns % src->period_ns;

	for (size_t c = 0; c < p->n_clocks; c++) {
		struct number_jump jump[NUMBER_JUMPS_MAX];
		size_t n = list_of(w, c, source, w->list), n_jumps;
		struct jump_seen *grown;

		if (!n)
			continue;
		hearers++;
		number_marks(w->list, n, src->numbered, src->period_ns, phase, jump, &n_jumps);
		grown = realloc(seen, (n_seen + n_jumps + 1) * sizeof(*seen));
		if (!grown) {
			free(seen);
			return no_memory(w);
		}
		seen = grown;
		for (size_t i = 0; i < n_jumps; i++)
			seen[n_seen++] = (struct jump_seen){ jump[i], (uint32_t)c };
	}
	for (size_t i = 0; i < n_seen; i++) {
		const struct jump_seen *s = &seen[i];
		size_t n, first = i;

		if (2 * voters(seen, n_seen, &s->jump, &first) < hearers) {
			w->clock[s->clock].jumps++;
			continue;
		}
		w->jumps[source] += first == i;
		n = list_of(w, s->clock, source, w->list);
		for (size_t k = s->jump.at; k < n; k++)
			w->list[k]->number -= s->jump.by;
	}
	free(seen);
	return 0;
}

/* ---- times of sources ---- */

static int64_t source_x(const struct work *w, size_t source, int64_t number)
{
	int64_t x;

	if (__builtin_mul_overflow(number - w->origin[source], w->p->source[source].period_ns, &x))
		return number < w->origin[source] ? INT64_MIN / 2 : INT64_MAX / 2;
	return x;
}

/* What number @number of a tied source stands at: whole ns, and what is to be added; and how sure that is. */
static int64_t source_time(const struct work *w, size_t source, int64_t number, double *add,
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

static void choose_root(struct work *w)
{
	const struct sync_problem *p = w->p;
	const struct heard *first = NULL;
	size_t best = 0;
	double phase;

	for (size_t i = 1; i < p->n_sources; i++) {
		const struct sync_source *a = &p->source[i], *b = &p->source[best];

		if (a->numbered != b->numbered ? !a->numbered : a->marks > b->marks)
			best = i;
	}
	for (size_t i = 0; p->sender && i < p->n_sources; i++)
		if (!strcmp(p->sender, p->source[i].name))
			best = i;
	w->root = best;
	for (size_t i = 0; i < w->n && (!first || w->heard[i].clock == first->clock); i++)
		if (!first && w->heard[i].source == best && !w->heard[i].bad)
			first = &w->heard[i];
	if (!first)
		return;
	/* Numbers of beacons count from somewhere: move them by whole periods to where the first clock puts the first
	 * it heard. Pulses stand where their clocks put them, at whole periods of UTC if it is known. */
	w->origin[best] = first->number;
	phase = (double)(p->epoch_unix_ns % p->source[best].period_ns);
	if (p->source[best].numbered)
		w->root_time = llround((double)first->x / (double)p->source[best].period_ns) *
			       p->source[best].period_ns;
	else
		w->root_time = first->number * p->source[best].period_ns - (int64_t)phase;
	w->source[best].tied = true;
}

/* ---- tying ---- */

static bool usable(const struct work *w, const struct heard *h)
{
	if (h->bad || !w->source[h->source].tied || (w->doubt[h->source] && w->clock[h->clock].sure))
		return false;
	return !w->tracker->whole_periods || h->source == w->root;
}

static int tracker_failed(struct work *w, int rc)
{
	if (rc == CVL_E_NO)
		return 0;
	return rc == CVL_E_NOMEM ? no_memory(w) :
				   cvl_fail(w->err, (enum cvl_code)rc, CVL_NO_OFFSET,
					    "the tracker stopped");
}

static void open_track(struct work *w, struct tie *t, int64_t base)
{
	(void)w;
	track_free(&t->track);
	t->track.base = base;
	t->track.report = (struct track_report){ .emit = track_keep, .ctx = &t->track };
}

static int track_clock(struct work *w, size_t c)
{
	const struct sync_problem *p = w->p;
	struct tie *t = &w->clock[c];
	struct track_setup setup = { .rate_hz = p->clock[c].rate_hz,
				     .resolution_ns = (double)p->clock[c].resolution_ns,
				     .period_ns = (double)p->source[w->root].period_ns };
	bool any = false, in_doubt = false, from[2] = { false, false };
	void *state = NULL;
	int rc = 0;

	t->marks = t->bad = 0;
	t->sources = 0;
	for (size_t i = w->begin[c]; i < w->begin[c + 1] && !rc; i++) {
		const struct heard *h = &w->heard[i];
		struct track_mark m = { .x = h->x, .source = h->source };
		double add;
		int64_t time;

		t->bad += h->bad;
		if (!usable(w, h))
			continue;
		time = source_time(w, h->source, h->number, &add, &m.var);
		if (!any) {
			open_track(w, t, time - h->x);
			setup.base = t->track.base;
			setup.period_ns = (double)p->source[h->source].period_ns;
			state = w->tracker->open(&setup, &t->track.report);
			if (!state)
				return no_memory(w);
			t->first = h->x;
			any = true;
		}
		t->last = h->x;
		t->marks++;
		from[h->source == w->root] = true;
		in_doubt = in_doubt || w->doubt[h->source];
		m.offset = (double)(time - h->x - t->track.base) + add;
		rc = w->tracker->feed(state, &m);
	}
	if (!any)
		return 0;
	t->sources = (size_t)from[0] + from[1];
	t->periods = (uint64_t)((double)(t->last - t->first) / setup.period_ns) + 1;
	rc = w->tracker->close(state, rc);
	t->tied = !rc && t->track.n;
	t->sure = t->tied && !in_doubt;
	return rc ? tracker_failed(w, rc) : 0;
}

static int by_number(const void *pa, const void *pb)
{
	const struct heard *a = *(struct heard *const *)pa, *b = *(struct heard *const *)pb;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->clock < b->clock ? -1 : a->clock > b->clock;
}

/* When mark number n of a source was sent, by all tied clocks that heard it: the weighted mean of those near the
 * median. */
static struct track_mark combine(struct work *w, struct heard *const *h, size_t n, int64_t x,
				 int64_t base, double *scratch)
{
	struct track_mark m = { .x = x };
	double sum = 0, weights = 0, mid, worst = INFINITY;

	for (size_t i = 0; i < n; i++) {
		const struct tie *t = &w->clock[h[i]->clock];

		scratch[i] = (double)(h[i]->x + t->track.base - x - base) +
			     track_at(&t->track, h[i]->x, NULL);
	}
	for (size_t i = 0; i < n; i++)
		scratch[n + i] = scratch[i];
	mid = median_of(scratch + n, n);
	for (size_t i = 0; i < n; i++) {
		const struct tie *t = &w->clock[h[i]->clock];
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
	m.var = weights > 0 ? worst : 1e12; /* of what the clocks err in common; the smoother sees the rest */
	return m;
}

/* A sender whose time is worked out counts beside others only if its clock behaved. */
static bool trustworthy(const struct track_report *r)
{
	return !r->steps && !(r->correlation > CORRELATION_DEGRADED) &&
	       (double)r->rejected <= REJECTED_DEGRADED * (double)(r->used + r->rejected);
}

static int track_source(struct work *w, size_t s)
{
	struct tie *t = &w->source[s];
	const struct tracker *tracker = w->tracker->whole_periods ? &tracker_smooth : w->tracker;
	struct track_setup setup = { .rate_hz = 1000000000,
				     .period_ns = (double)w->p->source[s].period_ns };
	size_t n = 0;
	void *state;
	double *scratch;
	int rc = 0;

	for (size_t i = 0; i < w->n; i++)
		if (w->heard[i].source == s && !w->heard[i].bad && w->clock[w->heard[i].clock].tied)
			w->list[n++] = &w->heard[i];
	if (n < TRACK_MARKS_MIN)
		return 0;
	scratch = malloc(2 * (w->p->n_clocks + 1) * sizeof(*scratch));
	if (!scratch)
		return no_memory(w);
	qsort(w->list, n, sizeof(struct heard *), by_number);
	w->origin[s] = w->list[0]->number;
	open_track(w, t, w->list[0]->x + w->clock[w->list[0]->clock].track.base);
	state = tracker->open(&setup, &t->track.report);
	if (!state) {
		free(scratch);
		return no_memory(w);
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
	return rc ? tracker_failed(w, rc) : 0;
}

static bool hears_tied(const struct work *w, size_t c)
{
	size_t n = 0;

	for (size_t i = w->begin[c]; i < w->begin[c + 1]; i++)
		n += usable(w, &w->heard[i]);
	return n >= TRACK_MARKS_MIN;
}

static int spread(struct work *w)
{
	const struct sync_problem *p = w->p;
	bool again = true, several = false;
	int rc = 0;

	while (again && !rc) {
		again = false;
		for (size_t c = 0; c < p->n_clocks && !rc; c++)
			if (!w->clock[c].tied && hears_tied(w, c)) {
				rc = track_clock(w, c);
				again = again || w->clock[c].tied;
			}
		for (size_t s = 0; s < p->n_sources && !rc && again; s++)
			if (!w->source[s].tied) {
				rc = track_source(w, s);
				several = several || w->source[s].tied;
			}
	}
	/* with all sources tied, what is heard of the others also counts */
	for (size_t c = 0; c < p->n_clocks && several && !rc && !w->tracker->whole_periods; c++)
		if (w->clock[c].tied)
			rc = track_clock(w, c);
	return rc;
}

/* ---- maps ---- */

struct map_maker {
	const struct work *w;
	size_t clock;
	const struct track *track, *reference; /* reference: told in that clock's time, or NULL */
	struct cvl_knot *knot;
	size_t n;
	double rounding;
	double bias_bound; /* of its calibration */
};

static void add_knot(struct map_maker *m, int64_t x_wanted)
{
	const struct sync_problem *p = m->w->p;
	uint64_t tick = sync_tick(p, m->clock, x_wanted);
	int64_t x = sync_x(p, m->clock, tick), time;
	struct cvl_knot *k = &m->knot[m->n];
	double bound, offset = track_at(m->track, x, &bound), whole;

	if (m->n && tick <= k[-1].tick.count)
		return;
	time = cvl_add_sat(x, m->track->base);
	if (m->reference) {
		int64_t at = track_inverse(m->reference, time + (int64_t)llround(offset));
		double other;

		/* near x_ref, T_ref = x_ref + base + offset: what is missing is carried over at slope 1 */
		offset += (double)(time - at - m->reference->base) -
			  track_at(m->reference, at, &other);
		time = at;
		bound = hypot(bound, other);
	}
	bound = hypot(bound, m->bias_bound);
	whole = floor(offset);
	k->tick.count = tick;
	k->time.ns = cvl_add_sat(time, (int64_t)whole);
	k->frac = (uint32_t)((offset - whole) * 4294967295.0);
	k->bound_ns = (int64_t)fmin(ceil(bound + m->rounding), 9e18);
	if (m->n && (k->time.ns < k[-1].time.ns ||
		     (k->time.ns == k[-1].time.ns && k->frac < k[-1].frac))) {
		/* a tracker that only knows the past may take time back; the map holds it instead */
		k->bound_ns += k[-1].time.ns - k->time.ns + 1;
		k->time = k[-1].time;
		k->frac = k[-1].frac;
	}
	m->n++;
}

/* Knots of the clock's track, and of the reference's where it bends in between. */
static void add_knots(struct map_maker *m)
{
	const struct track *t = m->track, *r = m->reference;
	size_t j = 0;

	for (size_t i = 0; i < t->n; i++) {
		for (; r && j < r->n; j++) {
			int64_t time = r->knot[j].x + r->base + (int64_t)r->knot[j].offset;
			int64_t x = track_inverse(t, time);

			if (x >= t->knot[i].x)
				break;
			if (i)
				add_knot(m, x);
		}
		add_knot(m, t->knot[i].x);
	}
}

/* Rate of a clock against one that is itself off. */
static double against(double rate_ppb, double reference_ppb)
{
	return (rate_ppb - reference_ppb) / (1 + reference_ppb * 1e-9);
}

static int make_map(const struct work *w, size_t clock, struct cvl_clock_sync *out)
{
	const struct sync_problem *p = w->p;
	size_t c = p->clock[clock].same_as;
	const struct track *t = &w->clock[c].track, *ref = NULL;
	struct cvl_map_spec spec = { .rate_hz = p->clock[clock].rate_hz,
				     .kind = CVL_BOUND_STATISTICAL,
				     .before = t->report.before,
				     .after = t->report.after };
	struct map_maker m = { .w = w,
			       .clock = clock,
			       .track = t,
			       .bias_bound = (double)p->clock[c].bias_bound_ns };
	int rc;

	if (p->reference >= 0) {
		ref = &w->clock[p->clock[p->reference].same_as].track;
		m.reference = ref;
		/* what is read off the reference was rounded like its marks, by half a step on average */
		m.rounding = (double)((p->clock[p->reference].resolution_ns + 1) / 2);
	}
	m.knot = calloc(t->n + (ref ? ref->n : 0) + 1, sizeof(*m.knot));
	if (!m.knot)
		return cvl_fail(w->err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	m.rounding += 1; /* of whole ns */
	add_knots(&m);
	out->rate_ppb = t->report.rate_ppb;
	out->rate_bound_ppb = t->report.rate_bound_ppb;
	if (ref) {
		spec.before.rate_ppb = against(spec.before.rate_ppb, ref->report.before.rate_ppb);
		spec.after.rate_ppb = against(spec.after.rate_ppb, ref->report.after.rate_ppb);
		spec.before.drift_ppb += ref->report.before.drift_ppb;
		spec.after.drift_ppb += ref->report.after.drift_ppb;
		out->rate_ppb = against(out->rate_ppb, ref->report.rate_ppb);
		out->rate_bound_ppb = hypot(out->rate_bound_ppb, ref->report.rate_bound_ppb);
	}
	spec.knots = m.knot;
	spec.n = m.n;
	rc = cvl_map_new(&out->map, &spec, w->err);
	free(m.knot);
	return rc;
}

/* ---- verdicts ---- */

/* Mean rate between the first and last knot, unless the tracker said better. */
static void find_rate(struct track *t)
{
	const struct track_knot *a = &t->knot[0], *b = &t->knot[t->n - 1];
	double span = (double)(b->x - a->x), slope;

	if (t->report.rate_bound_ppb > 0 || t->n < 2)
		return;
	slope = (b->offset - a->offset) / span;
	t->report.rate_ppb = (1 / (1 + slope) - 1) * 1e9;
	t->report.rate_bound_ppb = hypot(a->bound, b->bound) / span * 1e9;
}

static double seconds(int64_t ns)
{
	return (double)ns * 1e-9;
}

static void judge(const struct work *w, size_t c, struct cvl_clock_sync *out)
{
	const struct sync_problem *p = w->p;
	const struct tie *t = &w->clock[c];
	const struct track_report *r = &t->track.report;
	double share = t->periods ? 1 - (double)t->marks / (double)t->periods : 0;
	int64_t before = t->first - sync_x(p, c, p->clock[c].first),
		after = sync_x(p, c, p->clock[c].last) - t->last,
		longest = before > after ? before : after;
	unsigned jumps = 0;

	for (size_t s = 0; s < p->n_sources; s++)
		jumps += w->source[s].tied ? w->jumps[s] : 0;
	if (p->clock[c].went_back)
		sync_reason(out, CVL_DEGRADED,
			    "its ticks go back %" PRIu64
			    " times: times before and after such a place cannot be told apart",
			    p->clock[c].went_back);
	else if (r->correlation > CORRELATION_DEGRADED)
		sync_reason(
			out, CVL_DEGRADED,
			"its rate did not hold still, or what it heard drifted: successive residuals are "
			"correlated by %.2f",
			r->correlation);
	else if (t->jumps)
		sync_reason(out, CVL_DEGRADED,
			    "it alone saw numbers jump %u times: its clock has jumped", t->jumps);
	else if (jumps)
		sync_reason(out, CVL_DEGRADED, "the numbers of what it heard jump %u times", jumps);
	else if (!t->sure)
		sync_reason(out, CVL_DEGRADED,
			    "what it heard came from a sender whose own clock did not hold still");
	else if (r->steps)
		sync_reason(out, CVL_DEGRADED,
			    "%u sudden changes of its rate or phase; between the marks around them its "
			    "time is uncertain",
			    r->steps);
	else if ((double)r->rejected + (double)t->bad >
		 REJECTED_DEGRADED * (double)(r->used + r->rejected + t->bad))
		sync_reason(out, CVL_DEGRADED, "%" PRIu64 " of %" PRIu64 " marks were rejected",
			    r->rejected + t->bad, r->used + r->rejected + t->bad);
	else if (share > MISSED_DEGRADED)
		sync_reason(out, CVL_DEGRADED, "%.0f %% of the marks were missed", 100 * share);
	else if ((double)longest > HOLDOVER_PERIODS * (double)p->source[w->root].period_ns)
		sync_reason(out, CVL_DEGRADED,
			    "it heard nothing for %.0f s at the %s of its records: there the bound is a "
			    "forecast",
			    seconds(longest), before > after ? "beginning" : "end");
	else
		sync_reason(out, CVL_GOOD, "%" PRIu64 " marks of %s%s", r->used,
			    p->source[w->root].name, t->sources > 1 ? " and others" : "");
}

static int finish(struct work *w, size_t clock, struct cvl_clock_sync *out)
{
	const struct sync_problem *p = w->p;
	size_t c = p->clock[clock].same_as;
	struct tie *t = &w->clock[c];
	uint64_t heard = w->begin[c + 1] - w->begin[c];
	int rc;

	if (!t->tied) {
		if (!heard)
			sync_reason(out, CVL_UNSYNCHRONISED, "it heard no pulse or beacon");
		else
			sync_reason(out, CVL_UNSYNCHRONISED,
				    "the %" PRIu64 " marks it heard are too few, fit no clock, or tie it to "
				    "nothing that the reference heard",
				    heard);
		return 0;
	}
	find_rate(&t->track);
	rc = make_map(w, clock, out);
	if (rc == CVL_E_RANGE || rc == CVL_E_ORDER) {
		sync_reason(out, CVL_UNSYNCHRONISED, "no map fits the %" PRIu64 " marks it heard",
			    heard);
		return 0;
	}
	if (rc)
		return rc;
	out->used = t->track.report.used;
	out->rejected = t->track.report.rejected + t->bad;
	out->residuals = t->track.report.residuals;
	judge(w, c, out);
	return 0;
}

static int finish_all(struct work *w, struct sync_solution *s)
{
	const struct sync_problem *p = w->p;
	size_t ref = p->reference < 0 ? SIZE_MAX : p->clock[p->reference].same_as;
	int rc = 0;

	if (ref != SIZE_MAX)
		snprintf(s->reference, sizeof(s->reference), "%s", p->clock[ref].name);
	else
		snprintf(s->reference, sizeof(s->reference), "%s", p->source[w->root].name);
	if (ref != SIZE_MAX && w->clock[ref].tied)
		find_rate(&w->clock[ref].track);
	for (size_t c = 0; c < p->n_clocks && !rc; c++) {
		if (p->clock[c].same_as == ref)
			rc = sync_reference_map(p, s, c, w->err);
		else if (ref != SIZE_MAX && !w->clock[ref].tied)
			sync_reason(&s->clock[c], CVL_UNSYNCHRONISED,
				    "nothing ties the reference %s", p->clock[ref].name);
		else
			rc = finish(w, c, &s->clock[c]);
	}
	return rc;
}

int marks_solve(const struct sync_problem *p, struct sync_solution *s, const struct tracker *tracker,
		struct cvl_error *err)
{
	struct work w = { .p = p, .tracker = tracker, .err = err };
	int rc = lay_out(&w);

	for (size_t i = 0; i < p->n_sources && !rc; i++)
		rc = number_source(&w, i);
	if (!rc) {
		choose_root(&w);
		rc = spread(&w);
	}
	if (!rc)
		rc = finish_all(&w, s);
	for (size_t c = 0; w.clock && c < p->n_clocks; c++)
		track_free(&w.clock[c].track);
	for (size_t i = 0; w.source && i < p->n_sources; i++)
		track_free(&w.source[i].track);
	free(w.heard);
	free(w.list);
	free(w.begin);
	free(w.clock);
	free(w.source);
	free(w.origin);
	free(w.jumps);
	free(w.doubt);
	return rc;
}
