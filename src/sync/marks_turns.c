/* SPDX-License-Identifier: MIT */
/*
 * Pulses carry no number: the counts of two clocks may differ by any whole number of periods. What
 * else is known of the two is converted to periods here; turns.c solves for what remains.
 */
#include "sync/marks_internal.h"

#include "sync/turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLACK_SD 5.0     /* of a count's jitter, as slack */
#define SLACK_PART 0.001 /* of a period: other error of a count's phase */
#define BEACONS 64       /* common beacons examined per pair of clocks */
#define BEACONS_LEAST 4
#define BEACONS_APART 0.1 /* of a period: their largest scatter */
#define BEACON_SLACK 0.2
#define PAIRS_MAX 512 /* clocks examined in all pairs; with more, only pairs with the first */
#define ALIGNED_NS 1000000.0 /* ns by which the same edge may differ at two clocks, beyond jitter */

/* The clocks that heard the source, and each one's count of it. */
struct node {
	size_t clock;
	struct heard *const *list;
	size_t n;
	const struct heard *first; /* that counts */
	double jitter;             /* in periods */
	double drift;              /* ns per ns */
	double rate;
};

struct deciding {
	struct marks *w;
	const struct sync_problem *p;
	size_t source;
	double period;
	struct node *node;
	size_t n;
	size_t *node_of; /* clock to node; SIZE_MAX: none */
	struct turns *turns;
};

/* ---- a clock's own count ---- */

static const struct heard *kept_before(const struct node *d, size_t i)
{
	while (i-- > 0)
		if (!d->list[i]->bad)
			return d->list[i];
	return NULL;
}

static const struct heard *kept_from(const struct node *d, size_t i)
{
	for (; i < d->n; i++)
		if (!d->list[i]->bad)
			return d->list[i];
	return NULL;
}

/* Where @x is in the clock's count, in periods, and how certain that is. */
static double count_at(const struct deciding *k, const struct node *d, int64_t x, double *within)
{
	size_t low = 0, high = d->n;
	const struct heard *a, *b;
	double far;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (d->list[mid]->x <= x)
			low = mid + 1;
		else
			high = mid;
	}
	a = kept_before(d, low);
	b = kept_from(d, low);
	*within = SLACK_SD * d->jitter + SLACK_PART;
	if (a && b) {
		far = fmin(track_span(x, a->x), track_span(b->x, x));
		*within += d->drift * far / k->period;
		return (double)a->number + (double)(b->number - a->number) * track_span(x, a->x) /
						   track_span(b->x, a->x);
	}
	a = a ? a : b;
	far = track_span(x, a->x);
	*within += d->drift * fabs(far) / k->period;
	return (double)a->number + far / (k->period * (1 + d->rate));
}

/* Constraint: @xa of one clock and @xb of another are the same instant, within @slack ns. */
static int same(struct deciding *k, size_t a, int64_t xa, size_t b, int64_t xb, double slack,
		enum turn_kind kind)
{
	double wa, wb, at = count_at(k, &k->node[b], xb, &wb) - count_at(k, &k->node[a], xa, &wa);
	double within = wa + wb + slack / k->period;

	return turns_between(k->turns, a, b, at - within, at + within, kind);
}

/* ---- other evidence ---- */

/* Error bound of the clock's claimed time at @x; negative: not stated. */
static double claim_at(const struct deciding *k, const struct node *d, int64_t x, int64_t bound)
{
	const struct sync_clock *c = &k->p->clock[d->clock];

	return bound <= 0 ? -1 : (double)bound + d->drift * fabs(track_span(x, c->start_x));
}

/* Both clocks' times were found before: their counts must agree at the same moment. */
static int before(struct deciding *k, size_t a, size_t b)
{
	const size_t ca = k->node[a].clock, cb = k->node[b].clock;
	const struct cvl_map *other = k->p->clock[cb].before;
	const int64_t xa = k->node[a].first->x;
	int64_t time, xb, wa, wb;

	if (!other || !sync_before(k->p, ca, xa, &time, &wa))
		return 0;
	xb = sync_x(k->p, cb, cvl_map_tick(other, (struct cvl_time){ time }).count);
	sync_before(k->p, cb, xb, &time, &wb);
	return same(k, a, xa, b, xb, (double)wa + (double)wb, TURN_MAP);
}

/* Clocks with starts claimed by the same host's clock, or both by UTC. */
static int claims(struct deciding *k, size_t a, size_t b)
{
	const struct sync_clock *ca = &k->p->clock[k->node[a].clock],
				*cb = &k->p->clock[k->node[b].clock];
	const int64_t x = k->node[a].first->x; /* a time that both claim to know */
	double ea = claim_at(k, &k->node[a], x, ca->start_bound_ns),
	       eb = claim_at(k, &k->node[b], x, cb->start_bound_ns),
	       both = ea < 0 || eb < 0 ? -1 : ea + eb;

	if (*ca->host && !strcmp(ca->host, cb->host)) {
		ea = claim_at(k, &k->node[a], x, ca->host_bound_ns);
		eb = claim_at(k, &k->node[b], x, cb->host_bound_ns);
		if (ea >= 0 && eb >= 0 && (both < 0 || ea + eb < both))
			both = ea + eb;
	}
	return both < 0 ? 0 : same(k, a, x, b, x, both, TURN_CLAIM);
}

static int by_size(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/* Beacons of @source heard by both. */
static int beacons(struct deciding *k, size_t a, size_t b, size_t source)
{
	struct heard *const *la, *const *lb;
	size_t na = marks_list(k->w, k->node[a].clock, source, &la);
	size_t nb = marks_list(k->w, k->node[b].clock, source, &lb), n = 0, agree = 0, j = 0;
	double at[BEACONS], mid;

	for (size_t i = 0; i < na && n < BEACONS; i++) {
		double ignored;

		while (j < nb && lb[j]->number < la[i]->number)
			j++;
		if (j == nb || la[i]->bad || lb[j]->bad || lb[j]->number != la[i]->number)
			continue;
		at[n++] = count_at(k, &k->node[b], lb[j]->x, &ignored) -
			  count_at(k, &k->node[a], la[i]->x, &ignored);
	}
	if (n < BEACONS_LEAST)
		return 0;
	qsort(at, n, sizeof(*at), by_size);
	mid = at[n / 2];
	for (size_t i = 0; i < n; i++)
		agree += fabs(at[i] - mid) < BEACONS_APART;
	if (4 * agree < 3 * n)
		return 0;
	return turns_between(k->turns, a, b, mid - BEACON_SLACK, mid + BEACON_SLACK, TURN_BEACON);
}

/* The edge of clock @clock on the line to align by after @at; NULL: none. */
static const struct sync_edge *next_edge(const struct sync_problem *p, size_t clock,
					 const struct sync_edge *at)
{
	for (size_t i = at ? (size_t)(at - p->align) + 1 : 0; i < p->n_align; i++)
		if (p->clock[p->align[i].clock].same_as == clock)
			return &p->align[i];
	return NULL;
}

/*
 * The first edges of both are the same one, unless the following ones do not match: then one of
 * them missed some, or began later.
 */
static int align(struct deciding *k, size_t a, size_t b)
{
	const size_t ca = k->node[a].clock, cb = k->node[b].clock;
	const struct sync_edge *ea = next_edge(k->p, ca, NULL), *eb = next_edge(k->p, cb, NULL);
	int64_t xa, xb;

	if (!ea || !eb)
		return 0;
	xa = sync_x(k->p, ca, ea->tick);
	xb = sync_x(k->p, cb, eb->tick);
	for (;;) {
		double since, apart;

		ea = next_edge(k->p, ca, ea);
		eb = next_edge(k->p, cb, eb);
		if (!ea || !eb)
			break;
		since = track_span(sync_x(k->p, ca, ea->tick), xa);
		apart = fabs(since - track_span(sync_x(k->p, cb, eb->tick), xb));
		if (apart > ALIGNED_NS + (k->node[a].drift + k->node[b].drift) * since)
			return 0;
	}
	return ea || eb ? 0 : same(k, a, xa, b, xb, ALIGNED_NS, TURN_ALIGN);
}

/* Both clocks' times are known: their counts must agree at the same moment. */
static int maps(struct deciding *k, size_t a, size_t b)
{
	const struct marks_tie *ta = &k->w->clock[k->node[a].clock],
			       *tb = &k->w->clock[k->node[b].clock];
	int64_t xa = k->node[a].first->x, time;

	if (!ta->tied || !tb->tied)
		return 0;
	time = cvl_add_sat(cvl_add_sat(xa, ta->track.base),
			   (int64_t)llround(track_at(&ta->track, xa, NULL)));
	return same(k, a, xa, b, track_inverse(&tb->track, time), ALIGNED_NS, TURN_MAP);
}

static int pair(struct deciding *k, size_t a, size_t b)
{
	int rc = claims(k, a, b);

	rc = rc ? rc : before(k, a, b);
	rc = rc ? rc : align(k, a, b);
	rc = rc ? rc : maps(k, a, b);
	for (size_t s = 0; s < k->p->n_sources && !rc; s++)
		if (k->p->source[s].numbered)
			rc = beacons(k, a, b, s);
	return rc;
}

static int messages(struct deciding *k)
{
	const struct sync_problem *p = k->p;
	int rc = 0;

	for (size_t i = 0; i < p->n_messages && !rc; i++) {
		const struct sync_message *m = &p->message[i];
		size_t a = k->node_of[p->clock[m->from].same_as],
		       b = k->node_of[p->clock[m->to].same_as];
		double wa, wb, sent, received, slack;

		if (a == SIZE_MAX || b == SIZE_MAX || a == b)
			continue;
		slack = (double)p->clock[m->from].resolution_ns +
			(double)p->clock[m->to].resolution_ns;
		sent = count_at(k, &k->node[a], sync_x(p, m->from, m->sent), &wa);
		received = count_at(k, &k->node[b], sync_x(p, m->to, m->received), &wb);
		/* received + n_b >= sent + n_a */
		rc = turns_at_least(k->turns, b, a, sent - received - wa - wb - slack / k->period,
				    TURN_MESSAGE);
	}
	return rc;
}

/* ---- deciding ---- */

static int gather(struct deciding *k)
{
	const struct sync_problem *p = k->p;
	int rc = 0;

	k->node = calloc(p->n_clocks, sizeof(*k->node));
	k->node_of = calloc(p->n_clocks, sizeof(*k->node_of));
	if (!k->node || !k->node_of)
		return CVL_E_NOMEM;
	for (size_t c = 0; c < p->n_clocks; c++) {
		struct node d = { .clock = c, .drift = p->clock[c].drift_ppm * 1e-6 };

		k->node_of[c] = SIZE_MAX;
		if (k->w->clock[c].group)
			continue;
		d.n = marks_list(k->w, c, k->source, &d.list);
		d.first = kept_from(&d, 0);
		if (!d.first)
			continue;
		d.jitter = marks_count(k->w, c, k->source)->jitter_ns / k->period;
		d.rate = marks_count(k->w, c, k->source)->rate_ppm * 1e-6;
		k->node_of[c] = k->n;
		k->node[k->n++] = d;
	}
	k->turns = turns_new(k->n);
	if (!k->turns)
		return CVL_E_NOMEM;
	for (size_t a = 0; a < k->n && !rc; a++)
		for (size_t b = a + 1; b < k->n && !rc && (a == 0 || k->n <= PAIRS_MAX); b++)
			rc = pair(k, a, b);
	return rc ? rc : messages(k);
}

/* A clock already tied to the timeline, or else the one whose time it is. */
static size_t root_of(const struct deciding *k)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->w->clock[k->node[i].clock].tied)
			return i;
	if (k->p->reference >= 0)
		return k->node_of[k->p->clock[k->p->reference].same_as];
	return SIZE_MAX;
}

/* Undecided: the possible value nearest to the clock's own claim. */
static int64_t best_guess(const struct turn *t)
{
	return t->low > 0 ? t->low : t->high < 0 ? t->high : 0;
}

static void apply(struct deciding *k, const struct turn *turn, unsigned dropped)
{
	uint32_t groups = 0;

	for (size_t i = 0; i < k->n; i++) {
		struct marks_tie *t = &k->w->clock[k->node[i].clock];
		int64_t by = best_guess(&turn[i]);

		for (size_t m = 0; m < k->node[i].n; m++)
			k->node[i].list[m]->number += by;
		t->decided_by |= turn[i].decided_by;
		t->contradicted |= dropped;
		if (!turn[i].group)
			continue;
		t->group = k->w->n_groups + turn[i].group;
		t->turn_ns = (int64_t)k->period;
		t->via = k->source;
		groups = turn[i].group > groups ? turn[i].group : groups;
	}
	k->w->n_groups += groups;
}

int marks_decide(struct marks *w, size_t source)
{
	struct deciding k = { .w = w,
			      .p = w->p,
			      .source = source,
			      .period = (double)w->p->source[source].period_ns };
	struct turn *turn = NULL;
	int rc = gather(&k), dropped;

	if (!rc && k.n > 1) {
		turn = calloc(k.n, sizeof(*turn));
		dropped = turn ? turns_solve(k.turns, root_of(&k), turn) : CVL_E_NOMEM;
		if (dropped < 0)
			rc = dropped;
		else
			apply(&k, turn, (unsigned)dropped);
	}
	free(turn);
	turns_free(k.turns);
	free(k.node);
	free(k.node_of);
	return rc ? cvl_no_memory(w->err) : 0;
}
