/* SPDX-License-Identifier: MIT */
/*
 * Check the period first: |sum exp(2 pi i x / T)| / n is near 1 if pulses are T apart (missing,
 * extra and jittery ones only lower it), and near 0 for twice the true period.
 *
 * Then track the phase, x mod T, as the path through a grid of phases that collects the most pulses
 * (Viterbi), in blocks of a few periods. From block to block the phase moves no further than the
 * clock's rate allows, or it jumps at a cost of JUMP_COST pulses. The unwrapped path gives the
 * period of each pulse.
 *
 * After a pause so long that the clock may have gained or lost half a period, a new count starts.
 * It is joined to the one before if the rates observed on both sides leave only one whole number of
 * periods.
 */
#include "sync/count.h"

#include "sync/track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDE_PPM 2000.0 /* range of rates searched */
#define WINDOW 240      /* pulses examined together */
#define WINDOW_PERIODS 4096
#define WINDOWS 8
#define COHERENT 0.5
#define LOOK_MARKS 8 /* fewest that can show another period */
#define MULTIPLES 128
#define FILLED 0.6

#define BINS_MAX 512
#define BINS_MIN 12 /* pulses more than 1/8 period off are noise */
#define BLOCK 16    /* periods */
#define CHUNK 2048  /* blocks with stored back pointers */
#define JUMP_COST 24
#define NO_SCORE (-1000000)

#define RATE_MARKS 32    /* pulses a rate is measured over */
#define WANDER_PPB_S 2.0 /* by which a rate may change in a pause */
#define GATE_SD 5.0      /* of the jitter; pulses further off are rejected */
#define SETTLED_MARKS 16 /* fewest that give a rate */
#define RATE_SD 3.7
#define MEDIAN_SD 1.8  /* of a median of two-pulse rates, relative to that of a mean */
#define JITTER_PART 20 /* of a period: jitter beyond that is not held against a count */

/* ---- checking the period ---- */

static double coherence(struct heard *const *m, size_t n, double period)
{
	double re = 0, im = 0;

	for (size_t i = 0; i < n; i++) {
		double a = 2 * M_PI * fmod(track_span(m[i]->x, m[0]->x) / period, 1);

		re += cos(a);
		im += sin(a);
	}
	return sqrt(re * re + im * im) / (double)n;
}

/* The greatest coherence at periods within @share of @period, and where. */
static double best_near(struct heard *const *m, size_t n, double period, double share, double *at)
{
	double span = fmax(track_span(m[n - 1]->x, m[0]->x), period);
	double step = fmin(period / span / 16, share / 8), best = -1;

	for (double e = -share; e <= share; e += step) {
		double c = coherence(m, n, period * (1 + e));

		if (c > best) {
			best = c;
			*at = period * (1 + e);
		}
	}
	return best;
}

/* How many from the first of @m can be examined together: limited in span and number. */
static size_t window_of(struct heard *const *m, size_t n, double period)
{
	size_t w = n < WINDOW ? n : WINDOW;

	while (w > 1 && track_span(m[w - 1]->x, m[0]->x) > WINDOW_PERIODS * period)
		w--;
	return w;
}

struct look {
	struct heard *const *m; /* the window that fits best */
	size_t n;
	double coherence, period;
};

static struct look look_at(struct heard *const *m, size_t n, double period)
{
	struct look best = { m, window_of(m, n, period), -1, period };

	for (size_t k = 0; k < WINDOWS; k++) {
		size_t from = n > WINDOW ? k * (n - WINDOW) / (WINDOWS - 1) : 0;
		size_t w = window_of(m + from, n - from, period);
		double at = period, c;

		if (w < TRACK_MARKS_MIN)
			continue;
		c = best_near(m + from, w, period, WIDE_PPM * 1e-6, &at);
		if (c > best.coherence)
			best = (struct look){ m + from, w, c, at };
		if (n <= WINDOW)
			break;
	}
	return best;
}

static int by_size(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/*
 * The actual period: candidates are the most common distances of a pulse from the next few, their
 * fractions and multiples; of those that fit about equally well the longest. 0: none.
 */
static double search_period(struct heard *const *m, size_t n)
{
	static const double times[] = { 1. / 3, 0.5, 1, 2, 3 };
	double apart[WINDOW * 8], period[8 * 5], fit[8 * 5], most = 0, found = 0;
	size_t n_apart = 0, tried = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n && k <= i + 8; k++)
			if (m[k]->x > m[i]->x)
				apart[n_apart++] = track_span(m[k]->x, m[i]->x);
	qsort(apart, n_apart, sizeof(*apart), by_size);
	for (int mode = 0; mode < 8 && n_apart; mode++) {
		size_t best = 0, from = 0, to = 0;

		for (size_t i = 0, k = 0; i < n_apart; i++) {
			while (apart[k] < apart[i] / 1.01)
				k++;
			if (i - k + 1 > best) {
				best = i - k + 1;
				from = k;
				to = i + 1;
			}
		}
		for (size_t t = 0; t < sizeof(times) / sizeof(*times); t++, tried++) {
			fit[tried] = best_near(m, n, apart[(from + to) / 2] * times[t], 0.01,
					       &period[tried]);
			most = fmax(most, fit[tried]);
		}
		memmove(apart + from, apart + to, (n_apart - to) * sizeof(*apart));
		n_apart -= to - from;
	}
	for (size_t i = 0; i < tried; i++)
		if (fit[i] >= 0.9 * most && period[i] > found)
			found = period[i];
	return most >= COHERENT ? found : 0;
}

/*
 * By which factor the true period is longer than the fitted one: pulses then occupy only one of
 * that many places.
 */
static int multiple_of(const struct look *l)
{
	double periods = track_span(l->m[l->n - 1]->x, l->m[0]->x) / l->period;
	int found = 1;

	if (l->n < LOOK_MARKS || (double)(l->n - 1) > FILLED * periods)
		return 1;
	for (int k = 2; k <= MULTIPLES && k * (double)(LOOK_MARKS - 1) / 2 <= periods; k++)
		if (coherence(l->m, l->n, k * l->period) >= 0.9 * l->coherence)
			found = k;
	return found;
}

static enum pulse_finding look_first(struct heard *const *m, size_t n, double period,
				     struct pulse_count *found)
{
	struct look l;
	int times;

	if (n < TRACK_MARKS_MIN)
		return PULSES_COUNTED; /* too few to check */
	l = look_at(m, n, period);
	if (l.coherence < COHERENT && n >= LOOK_MARKS) {
		found->period_ns = search_period(l.m, window_of(l.m, l.n, l.period));
		return found->period_ns > 0 ? PULSES_OTHER : PULSES_RANDOM;
	}
	times = multiple_of(&l);
	found->period_ns = times * l.period;
	return times > 1 ? PULSES_OTHER : PULSES_COUNTED;
}

/* ---- tracking the phase ---- */

/*
 * A block of periods that has pulses [begin, end), and the bin of the phase there, unwrapped.
 */
struct block {
	int64_t number;
	size_t begin, end;
	int bin;
};

struct course {
	struct heard *const *m; /* of one stretch without a long pause */
	size_t n;
	double period, bin; /* ns */
	int bins;
	double drift; /* the rate's limit, ns a ns */
	int *score, *before;
	/* [block of the chunk][bin]: the move that led here; NO_MOVE: a jump */
	int16_t *from;
	int *jump; /* [block of the chunk] the bin that jumps start from */
	struct block *block;
	size_t blocks;
};

#define NO_MOVE INT16_MAX

static double blocks_to(const struct course *c, size_t i)
{
	return track_span(c->m[i]->x, c->m[0]->x) / (c->period * BLOCK);
}

/* Each pulse adds to its own bin and the neighbouring ones, once per period. */
static void add_pulses(const struct course *c, const struct block *k, int *add, int64_t *last)
{
	for (int b = 0; b < c->bins; b++)
		add[b] = 0;
	for (size_t i = k->begin; i < k->end; i++) {
		double d = track_span(c->m[i]->x, c->m[0]->x) / c->period;
		int64_t slot = (int64_t)floor(d);
		int at = (int)((d - floor(d)) * c->bins) % c->bins;

		for (int n = -1; n <= 1; n++) {
			int b = (at + n + c->bins) % c->bins;

			if (last[b] != slot)
				add[b]++;
			last[b] = slot;
		}
	}
}

static int wrapped(const struct course *c, int bin)
{
	return (bin % c->bins + c->bins) % c->bins;
}

/* For each bin the best-scoring one within @reach: a queue of candidates, best first. */
static void best_within(const struct course *c, int reach, int *best)
{
	int queue[2 * BINS_MAX], first = 0, last = 0;

	for (int at = -reach; at < c->bins + reach; at++) {
		int is = c->before[wrapped(c, at)];

		while (last > first && c->before[wrapped(c, queue[last - 1])] < is)
			last--;
		queue[last++] = at;
		if (at < reach)
			continue;
		while (queue[first] < at - 2 * reach)
			first++;
		best[at - reach] = queue[first];
	}
}

/* One step of the paths, by at most @reach bins either way. */
static void step(struct course *c, size_t row, int reach, const int *add)
{
	int within[BINS_MAX], most = 0;
	int *swap = c->before;

	c->before = c->score;
	c->score = swap;
	for (int b = 1; b < c->bins; b++)
		most = c->before[b] > c->before[most] ? b : most;
	c->jump[row] = most;
	best_within(c, reach, within);
	for (int b = 0; b < c->bins; b++) {
		int move = b - within[b], is = c->before[wrapped(c, within[b])];

		if (c->before[b] == is)
			move = 0; /* on a tie, stay */
		if (is < c->before[most] - JUMP_COST) {
			is = c->before[most] - JUMP_COST;
			move = NO_MOVE;
		}
		c->score[b] = is + add[b];
		c->from[row * (size_t)c->bins + (size_t)b] = (int16_t)move;
	}
}

/* The path back from the best bin of block @last to block @first, which starts the chunk. */
static void trace_back(struct course *c, size_t first, size_t last)
{
	int at = 0;

	for (int b = 1; b < c->bins; b++)
		at = c->score[b] > c->score[at] ? b : at;
	c->block[last].bin = at;
	for (size_t k = last; k > first; k--) {
		size_t row = k - first;
		int by = c->from[row * (size_t)c->bins + (size_t)at];

		if (by == NO_MOVE) {
			by = at - c->jump[row];
			by -= c->bins * (int)lround((double)by / c->bins); /* the shorter way */
		}
		at = wrapped(c, at - by);
		c->block[k - 1].bin = c->block[k].bin - by;
	}
}

/* Shifts a chunk's path so that its first block continues the last chunk. */
static void hang_on(struct course *c, size_t first, size_t last, int at)
{
	int by = at - c->block[first].bin;

	for (size_t k = first; k <= last; k++)
		c->block[k].bin += by;
}

static int room(struct course *c)
{
	size_t bins = (size_t)c->bins;

	c->score = calloc(bins, sizeof(*c->score));
	c->before = calloc(bins, sizeof(*c->before));
	c->from = calloc(CHUNK * bins, sizeof(*c->from));
	c->jump = calloc(CHUNK, sizeof(*c->jump));
	c->block = calloc(c->n, sizeof(*c->block));
	if (!c->score || !c->before || !c->from || !c->jump || !c->block)
		return CVL_E_NOMEM;
	c->blocks = 0;
	for (size_t i = 0; i < c->n; i++) {
		int64_t number = (int64_t)blocks_to(c, i);

		if (!c->blocks || number != c->block[c->blocks - 1].number)
			c->block[c->blocks++] = (struct block){ .number = number, .begin = i };
		c->block[c->blocks - 1].end = i + 1;
	}
	return 0;
}

static void course_free(struct course *c)
{
	free(c->score);
	free(c->before);
	free(c->from);
	free(c->jump);
	free(c->block);
}

/* Find the path of c->m. */
static int follow(struct course *c)
{
	int add[BINS_MAX];
	int64_t last[BINS_MAX];
	double carry = 0, a_block = c->drift * BLOCK * c->bins;
	size_t first = 0;
	int rc = room(c);

	if (rc)
		return rc;
	for (int b = 0; b < c->bins; b++)
		last[b] = -1;
	add_pulses(c, &c->block[0], c->score, last);
	for (size_t k = 1; k < c->blocks; k++) {
		size_t row = k - first;

		add_pulses(c, &c->block[k], add, last);
		carry += a_block * (double)(c->block[k].number - c->block[k - 1].number);
		step(c, row, (int)fmin(carry, (c->bins - 1) / 2), add);
		carry -= floor(carry);
		if (row + 1 == CHUNK || k + 1 == c->blocks) {
			int at = c->block[first].bin;

			trace_back(c, first, k);
			if (first)
				hang_on(c, first, k, at);
			/* the next chunk starts where this one ended: other paths are dropped */
			at = wrapped(c, c->block[k].bin);
			for (int b = 0; b < c->bins; b++)
				c->score[b] = b == at ? 0 : NO_SCORE;
			first = k;
		}
	}
	if (c->blocks == 1)
		trace_back(c, 0, 0);
	return 0;
}

/* Phase of the path at pulse @i of block @k, interpolated between block centres. */
static double phase_at(const struct course *c, size_t i, size_t k)
{
	const struct block *own = &c->block[k], *other = own;
	double from_middle = blocks_to(c, i) - (double)own->number - 0.5, part = 0;

	if (from_middle < 0 && k)
		other = &c->block[k - 1];
	else if (from_middle > 0 && k + 1 < c->blocks)
		other = &c->block[k + 1];
	if (other != own && abs(other->bin - own->bin) <= c->bins / 8)
		part = from_middle / (double)(other->number - own->number);
	return (own->bin + (other->bin - own->bin) * part + 0.5) * c->bin;
}

/*
 * Assign numbers from 0 and distances from the path; pulses further off than @gate are bad.
 * Returns how many count.
 */
static size_t number_by(const struct course *c, double gate)
{
	size_t kept = 0, last = 0, k = 0;
	double last_off = 0;

	for (size_t i = 0; i < c->n; i++) {
		struct heard *h = c->m[i];
		double d, off;

		k += i >= c->block[k].end;
		d = (track_span(h->x, c->m[0]->x) - phase_at(c, i, k)) / c->period;
		off = fabs(d - round(d));
		h->number = (int64_t)llround(d);
		h->bad = off * c->period > gate;
		if (h->bad)
			continue;
		if (kept && h->number <= c->m[last]->number) {
			bool nearer = h->number == c->m[last]->number && off < last_off;

			c->m[nearer ? last : i]->bad = true;
			if (!nearer)
				continue;
			kept--;
		}
		last = i;
		last_off = off;
		kept++;
	}
	return kept;
}

/* ---- stretches between long pauses ---- */

struct stretch {
	size_t begin, end; /* of the pulses */
	size_t kept;
	double rate_low, rate_high; /* x - numbers * period, ns per ns: as observed */
	bool rate_known;
};

/* Robust sd of the phase about its path in the window. */
static double jitter_of(struct heard *const *m, size_t n, double period)
{
	double off[WINDOW], re = 0, im = 0, phase;
	size_t w = window_of(m, n, period);

	for (size_t i = 0; i < w; i++) {
		double a = 2 * M_PI * fmod(track_span(m[i]->x, m[0]->x) / period, 1);

		re += cos(a);
		im += sin(a);
	}
	phase = atan2(im, re) / (2 * M_PI);
	for (size_t i = 0; i < w; i++) {
		double d = track_span(m[i]->x, m[0]->x) / period - phase;

		off[i] = fabs(d - round(d)) * period;
	}
	return 1.4826 * median_of(off, w);
}

/*
 * Robust sd of the pulses that count: neighbours share path and rate, so half the variance of their
 * differences.
 */
static double sd_about(const struct course *c, double *scratch)
{
	double before = 0;
	size_t n = 0, pairs = 0;

	for (size_t i = 0; i < c->n; i++) {
		double off;

		if (c->m[i]->bad)
			continue;
		off = track_span(c->m[i]->x, c->m[0]->x) - (double)c->m[i]->number * c->period;
		if (n++)
			scratch[pairs++] = fabs(off - before);
		before = off;
	}
	return 1.4826 * median_of(scratch, pairs) / M_SQRT2;
}

static int count_course(struct course *c, size_t *kept)
{
	int rc = follow(c);

	*kept = rc ? 0 : number_by(c, 1.5 * c->bin + c->drift * BLOCK * c->period);
	return rc;
}

static int count_stretch(struct heard *const *m, struct stretch *s, double period, double jitter,
			 double drift_ppm, double *scratch, struct pulse_count *found)
{
	struct course c = { .m = m + s->begin, .n = s->end - s->begin, .period = period };
	double due = track_span(c.m[c.n - 1]->x, c.m[0]->x) / period + 1;
	size_t wide;
	int rc;

	c.bins = (int)fmin(fmax(period / fmax(4 * jitter, 1), BINS_MIN), BINS_MAX);
	c.bin = period / c.bins;
	c.drift = drift_ppm * 1e-6;
	rc = count_course(&c, &s->kept);
	if (!rc && (double)s->kept < 0.9 * due && drift_ppm < WIDE_PPM && c.n >= LOOK_MARKS) {
		struct course faster = c;

		faster.drift = WIDE_PPM * 1e-6;
		rc = count_course(&faster, &wide);
		if (!rc && (double)s->kept < 0.9 * (double)wide) {
			s->kept = wide;
			found->too_fast = true;
		} else if (!rc) {
			s->kept = number_by(&c, 1.5 * c.bin + c.drift * BLOCK * c.period);
		}
		course_free(&faster);
	}
	if (!rc)
		found->jitter_ns = fmax(found->jitter_ns, sd_about(&c, scratch));
	course_free(&c);
	return rc;
}

/* Observe the rate over every RATE_MARKS pulses that count. */
static void see_rate(struct heard *const *m, struct stretch *s, double period, double jitter)
{
	size_t from = s->begin, n = 0;

	for (size_t i = s->begin; i < s->end; i++) {
		double span, periods, sd, rate;

		if (m[i]->bad)
			continue;
		from = n++ ? from : i;
		if (n < RATE_MARKS && !(i + 1 == s->end && n >= SETTLED_MARKS && !s->rate_known))
			continue;
		span = track_span(m[i]->x, m[from]->x);
		periods = (double)(m[i]->number - m[from]->number) * period;
		if (periods <= 0)
			continue;
		rate = (span - periods) / periods;
		sd = RATE_SD * 1.5 * fmax(jitter, 1) / periods;
		s->rate_low = s->rate_known ? fmin(s->rate_low, rate - sd) : rate - sd;
		s->rate_high = s->rate_known ? fmax(s->rate_high, rate + sd) : rate + sd;
		s->rate_known = true;
		n = 0;
	}
}

static size_t first_kept(struct heard *const *m, const struct stretch *s)
{
	size_t i = s->begin;

	while (m[i]->bad)
		i++;
	return i;
}

static size_t last_kept(struct heard *const *m, const struct stretch *s)
{
	size_t i = s->end - 1;

	while (m[i]->bad)
		i--;
	return i;
}

/*
 * How many periods passed between pulses @a and @b, given rate limits; false if more than one
 * number is possible.
 */
static bool periods_between(const struct heard *a, const struct heard *b, double period, double low,
			    double high, double jitter, int64_t *by)
{
	double span = track_span(b->x, a->x), slack = GATE_SD * jitter / period;
	double least = span / (period * (1 + high)) - slack,
	       most = span / (period * (1 + low)) + slack;

	*by = (int64_t)ceil(least);
	return *by >= 1 && floor(most) == ceil(least);
}

/* Joins @b's numbers to those of @a, the earlier ones; false if undecided. */
static bool join(struct heard *const *m, const struct stretch *a, const struct stretch *b,
		 double period, double drift, double jitter)
{
	size_t i = last_kept(m, a), k = first_kept(m, b);
	double low = -drift, high = drift, wander;
	int64_t by;

	wander = WANDER_PPB_S * 1e-18 * track_span(m[k]->x, m[i]->x);
	if (a->rate_known || b->rate_known) {
		const struct stretch *l = a->rate_known ? a : b, *r = b->rate_known ? b : a;

		low = fmax(low, fmin(l->rate_low, r->rate_low) - wander);
		high = fmin(high, fmax(l->rate_high, r->rate_high) + wander);
	}
	if (!(low <= high) || !periods_between(m[i], m[k], period, low, high, jitter, &by))
		return false;
	by += m[i]->number - m[k]->number;
	for (size_t j = b->begin; j < b->end; j++)
		m[j]->number += by;
	return true;
}

static void leave_aside(struct heard *const *m, const struct stretch *s, struct pulse_count *found)
{
	for (size_t i = s->begin; i < s->end; i++) {
		found->aside += !m[i]->bad;
		m[i]->bad = true;
	}
}

/*
 * Number all stretches alike; those that cannot be joined to the one with the most pulses are set
 * aside.
 */
static void join_all(struct heard *const *m, struct stretch *s, size_t n, double period,
		     double drift, struct pulse_count *found)
{
	size_t begin = 0, most = 0, first = 0, last = 0, sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (i && !join(m, &s[i - 1], &s[i], period, drift, found->jitter_ns)) {
			double pause = track_span(m[first_kept(m, &s[i])]->x,
						  m[last_kept(m, &s[i - 1])]->x);

			if (!(found->pause_ns > 0) || pause < found->pause_ns)
				found->pause_ns = pause;
			begin = i;
			sum = 0;
		}
		sum += s[i].kept;
		if (sum > most) {
			most = sum;
			first = begin;
			last = i;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (i < first || i > last)
			leave_aside(m, &s[i], found);
}

/*
 * Cut where the clock, at worst, may have gained or lost half a period since the pulse before.
 */
static size_t cut(struct heard *const *m, size_t n, double period, double drift, double jitter,
		  struct stretch *s)
{
	size_t count = 0, begin = 0;

	for (size_t i = 1; i <= n; i++) {
		double pause = i < n ? track_span(m[i]->x, m[i - 1]->x) : 0;

		if (i < n && drift * pause + GATE_SD * jitter < period / 2)
			continue;
		if (s)
			s[count] = (struct stretch){ .begin = begin, .end = i };
		count++;
		begin = i;
	}
	return count;
}

/*
 * Drop stretches in which no pulse counts; split those with a pause between pulses that count.
 */
static size_t settle(struct heard *const *m, size_t n, double period, double drift, double jitter,
		     struct stretch *s)
{
	size_t count = 0, last = SIZE_MAX;

	for (size_t i = 0; i < n; i++) {
		if (m[i]->bad)
			continue;
		if (last == SIZE_MAX ||
		    drift * track_span(m[i]->x, m[last]->x) + GATE_SD * jitter >= period / 2 ||
		    m[i]->number <= m[last]->number) {
			if (s)
				s[count] = (struct stretch){ .begin = i };
			count++;
		}
		if (s) {
			s[count - 1].end = i + 1;
			s[count - 1].kept++;
		}
		last = i;
	}
	return count;
}

/* The median rate over every RATE_MARKS pulses that count, or all if fewer; @scratch holds n. */
static void find_rate(struct heard *const *m, size_t n, double period, double *scratch,
		      struct pulse_count *found)
{
	size_t first = SIZE_MAX, kept = 0, rates = 0;

	for (size_t i = 0; i < n; i++) {
		double periods;

		if (m[i]->bad)
			continue;
		if (first == SIZE_MAX)
			first = i;
		if (++kept % RATE_MARKS && !(rates == 0 && i + 1 == n))
			continue;
		periods = (double)(m[i]->number - m[first]->number) * period;
		if (periods > 0)
			scratch[rates++] = track_span(m[i]->x, m[first]->x) / periods - 1;
		first = i;
	}
	found->rate_ppm = median_of(scratch, rates) * 1e6;
}

static int count_all(struct heard *const *m, size_t n, double period, double drift_ppm,
		     struct pulse_count *found)
{
	double drift = drift_ppm * 1e-6, jitter, *scratch;
	struct look l = look_at(m, n, period);
	struct stretch *s;
	size_t n_s;
	int rc = 0;

	jitter = fmin(jitter_of(l.m, l.n, l.period), period / JITTER_PART);
	n_s = cut(m, n, period, drift, jitter, NULL);
	s = calloc(n_s, sizeof(*s));
	scratch = malloc(n * sizeof(*scratch));
	if (!s || !scratch)
		rc = CVL_E_NOMEM;
	else
		cut(m, n, period, drift, jitter, s);
	for (size_t i = 0; i < n_s && !rc; i++)
		rc = count_stretch(m, &s[i], period, jitter, drift_ppm, scratch, found);
	free(s);
	found->jitter_ns = fmin(found->jitter_ns, period / JITTER_PART);
	if (!rc) {
		find_rate(m, n, period, scratch, found);
		/* the path can also follow too high a rate by jumping */
		found->too_fast =
			found->too_fast ||
			fabs(found->rate_ppm) >
				drift_ppm + RATE_SD * MEDIAN_SD * 1e6 * found->jitter_ns /
						    (period * sqrt((double)n * RATE_MARKS));
	}
	free(scratch);
	if (rc)
		return rc;
	if (found->too_fast)
		drift = WIDE_PPM * 1e-6;
	/* stretches are numbered anew: rebuild them from the pulses that count */
	n_s = settle(m, n, period, drift, found->jitter_ns, NULL);
	s = calloc(n_s + 1, sizeof(*s));
	if (!s)
		return CVL_E_NOMEM;
	settle(m, n, period, drift, found->jitter_ns, s);
	for (size_t i = 0; i < n_s; i++)
		see_rate(m, &s[i], period, found->jitter_ns);
	join_all(m, s, n_s, period, drift, found);
	free(s);
	return 0;
}

int count_pulses(struct heard *const *m, size_t n, int64_t period, int64_t grid, double drift_ppm,
		 struct pulse_count *found)
{
	size_t first = 0;
	int64_t by;
	int rc = 0;

	*found = (struct pulse_count){ .finding = PULSES_COUNTED };
	if (!n)
		return 0;
	found->finding = look_first(m, n, (double)period, found);
	if (found->finding == PULSES_COUNTED)
		rc = count_all(m, n, (double)period, drift_ppm, found);
	if (rc || found->finding != PULSES_COUNTED) {
		for (size_t i = 0; i < n; i++)
			m[i]->bad = true;
		return rc;
	}
	while (first < n && m[first]->bad)
		first++;
	if (first == n)
		return 0;
	by = (int64_t)llround(((double)m[first]->x + (double)grid) / (double)period) -
	     m[first]->number;
	for (size_t i = 0; i < n; i++)
		m[i]->number += by;
	return 0;
}
