/* SPDX-License-Identifier: MIT */
/*
 * Keys that recur. For two clocks A and B let delta be how far B's nominal time is behind A's. A
 * message that A sent at s and B received at r took r + delta - s, which is at least 0 and, if the
 * rule states a window, at most the window: so its delta lies in [s - r, s - r + window] for one of
 * the sends with its key. In a short stretch, where clocks drift little, delta is the same for all
 * messages: how many of them each delta explains is found by a sweep over the ends of these
 * intervals. A delta is tested only where the other log would contain the send.
 *
 * If exactly one delta fits, it is followed from there in both directions, within the clocks' rate
 * limits, and each end is paired with the only one that fits. If numbers come at regular times, a
 * shift by a whole wrap fits as well.
 */
#include "sync/pairing.h"

#include <coeval/array.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRETCH 256        /* ends examined together */
#define STRETCH_DRIFT 0.05 /* of a wrap: allowed drift within a stretch */
#define FITS 0.9           /* least share of ends explained by a possible shift */
#define SURE 0.98          /* of ends explained by an accepted shift */
#define EVIDENCE 24        /* fewest ends that can confirm or refute a shift */
#define EVEN 0.2 /* of the median: spread of times between equal keys of a wrapping counter */
#define SHIFTS_MAX 64
#define MANY 16 /* sends between equal keys; with fewer they are retransmissions */

void pairing_free(struct pairing *p)
{
	free(p->end);
	*p = (struct pairing){ 0 };
}

int pairing_add(struct pairing *p, const struct pairing_end *end, struct cvl_error *err)
{
	if (cvl_room(&p->end, p->n, &p->cap, sizeof(*p->end)))
		return cvl_no_memory(err);
	p->end[p->n++] = *end;
	return 0;
}

static int by_key(const void *pa, const void *pb)
{
	const struct pairing_end *a = pa, *b = pb;

	if (a->rule != b->rule)
		return a->rule < b->rule ? -1 : 1;
	if (a->key.a != b->key.a)
		return a->key.a < b->key.a ? -1 : 1;
	if (a->key.b != b->key.b)
		return a->key.b < b->key.b ? -1 : 1;
	if (a->receive != b->receive)
		return a->receive ? 1 : -1;
	if (a->of != b->of)
		return a->of < b->of ? -1 : 1;
	return a->x < b->x ? -1 : a->x > b->x;
}

static bool same_key(const struct pairing_end *a, const struct pairing_end *b)
{
	return a->rule == b->rule && a->key.a == b->key.a && a->key.b == b->key.b;
}

struct solver {
	struct sync_problem *p;
	const struct rule_set *rules;
	struct cvl_error *err;
	/* longest time after which a message of the rule was resent; 0: none was */
	double again;
	double hold;        /* longest time after which a clock forwarded a message; 0: none did */
	bool forwards;      /* some key is sent by several clocks */
	int64_t *log_begin; /* [clock] x of its first end by the rule */
};

static int add_message(struct solver *s, const struct pairing_end *sent,
		       const struct pairing_end *received)
{
	struct sync_problem *p = s->p;

	if (cvl_room(&p->message, p->n_messages, &p->cap_messages, sizeof(*p->message)))
		return cvl_no_memory(s->err);
	p->message[p->n_messages++] =
		(struct sync_message){ sent->clock, received->clock, sent->tick, received->tick };
	return 0;
}

/* ---- unique keys ---- */

/* The ends of one key: sends [0, sends), then receives up to n. */
struct group {
	const struct pairing_end *end;
	size_t sends, n;
	int64_t window;
};

/* Whether send @i repeats the message before it. */
static bool is_copy(const struct group *g, size_t i)
{
	return i && g->end[i].of == g->end[i - 1].of && g->window > 0 &&
	       g->end[i].x - g->end[i - 1].x <= g->window;
}

/* Index of @clock's first end of the key in [from, to); to: none. */
static size_t first_of(const struct group *g, uint32_t clock, size_t from, size_t to)
{
	while (from < to && g->end[from].of != clock)
		from++;
	return from;
}

/*
 * If packets are forwarded under one key: the send of the only clock that sent it without having
 * received it. It came before every receive, whoever forwarded it. NULL: none, or several, or it
 * may have been received before the clock was traced.
 */
static const struct pairing_end *origin(const struct solver *s, const struct group *g)
{
	const struct pairing_end *found = NULL;

	for (size_t i = 0; i < g->sends; i++) {
		const struct pairing_end *e = &g->end[i];
		size_t r = first_of(g, e->of, g->sends, g->n);

		if ((i && e[-1].of == e->of) || (r < g->n && g->end[r].x <= e->x))
			continue; /* not its first, or forwarded */
		if (found || track_span(e->x, s->log_begin[e->of]) <= 2 * s->hold)
			return NULL;
		found = e;
	}
	return found;
}

/*
 * The only clock but @receiver that sends this key, as its first send; NULL: none, or (*@several)
 * more than one.
 */
static const struct pairing_end *only_sender(const struct group *g, uint32_t receiver,
					     bool *several)
{
	const struct pairing_end *found = NULL;

	*several = false;
	for (size_t i = 0; i < g->sends; i++) {
		if (g->end[i].of == receiver)
			continue;
		if (found && found->of != g->end[i].of)
			*several = true;
		found = found ? found : &g->end[i];
	}
	return found;
}

/* Whether one clock's sends of this key may be different messages. */
static bool comes_again(const struct group *g, uint32_t sender)
{
	size_t n = 0;

	for (size_t i = 0; i < g->sends; i++)
		n += g->end[i].of == sender && !is_copy(g, i);
	return n > 1;
}

/*
 * Whether @sent may repeat a send from before its clock was traced, which may then be the one
 * received.
 */
static bool may_be_copy(const struct solver *s, const struct pairing_end *sent)
{
	return s->again > 0 && track_span(sent->x, s->log_begin[sent->of]) <= s->again;
}

static int pair_once(struct solver *s, const struct group *g)
{
	const struct pairing_end *first = s->forwards ? origin(s, g) : NULL;
	size_t paired = 0, others = 0;
	int rc = 0;

	for (size_t i = 1; i < g->sends; i++)
		s->p->duplicates += is_copy(g, i);
	for (size_t i = g->sends; i < g->n && !rc; i++) {
		const struct pairing_end *e = &g->end[i], *sent;
		bool several;

		if (i > g->sends && e[-1].of == e->of) {
			s->p->duplicates++; /* the first is the tighter bound */
			continue;
		}
		sent = only_sender(g, e->of, &several);
		if (s->forwards) {
			several = sent && !first;
			sent = first && first->of != e->of ? first : NULL;
		}
		if (several || (sent && (comes_again(g, sent->of) || may_be_copy(s, sent)))) {
			s->p->ambiguous++;
			others++;
		} else if (sent) {
			rc = add_message(s, sent, e);
			paired++;
		} else if (g->sends) {
			others++; /* its own sends only: messages of a host to itself tie nothing */
		} else {
			s->p->unmatched++;
		}
	}
	if (!paired && !others)
		s->p->unmatched += g->sends;
	return rc;
}

/* ---- recurring keys ---- */

static int by_size(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static size_t group_at(const struct pairing *p, size_t i, struct group *g)
{
	size_t k = i;

	*g = (struct group){ .end = p->end + i, .window = g->window };
	while (k < p->n && same_key(&p->end[k], &p->end[i]))
		g->sends += !p->end[k++].receive;
	g->n = k - i;
	return k;
}

/*
 * The time between equal keys of a rule's ends [@i, @end): for a wrapping counter about the same
 * for all, with many sends in between. 0: keys do not recur, apart from retransmissions.
 */
static int find_wrap(struct solver *s, const struct pairing *p, size_t i, size_t end, double *wrap)
{
	double *apart = malloc((end - i + 1) * sizeof(*apart)), first = INFINITY, last = -INFINITY;
	const int64_t window = s->rules->rule[p->end[i].rule].window_ns;
	struct group g = { .window = window };
	size_t n = 0, sends = 0;

	*wrap = s->again = s->hold = 0;
	s->forwards = false;
	for (size_t c = 0; c < s->p->n_clocks; c++)
		s->log_begin[c] = INT64_MAX;
	if (!apart)
		return cvl_no_memory(s->err);
	for (size_t next; i < end; i = next) {
		next = group_at(p, i, &g);
		for (size_t k = 0; k < g.sends; k++) {
			const struct pairing_end *e = &g.end[k];
			double since = k && e[-1].of == e->of ? track_span(e->x, e[-1].x) : 0;

			first = fmin(first, (double)e->x);
			last = fmax(last, (double)e->x);
			sends++;
			s->again = fmax(s->again, since);
			if (since > 0 && !is_copy(&g, k))
				apart[n++] = since;
			s->forwards = s->forwards || e->of != g.end[0].of;
		}
		for (size_t k = 0; k < g.n; k++) {
			const struct pairing_end *e = &g.end[k];
			size_t r = first_of(&g, e->of, g.sends, g.n);

			if (e->x < s->log_begin[e->of])
				s->log_begin[e->of] = e->x;
			if (k < g.sends && r < g.n && g.end[r].x <= e->x)
				s->hold = fmax(s->hold, track_span(e->x, g.end[r].x));
		}
	}
	if (n) {
		qsort(apart, n, sizeof(*apart), by_size);
		*wrap = apart[n / 2];
		if (!window && ((apart[3 * n / 4] - apart[n / 4]) > EVEN * *wrap ||
				*wrap * (double)sends < MANY * (last - first)))
			*wrap = 0;
	}
	free(apart);
	return 0;
}

/* A receive, and its time by the second clock. */
struct received {
	const struct pairing_end *end;
	double x;
};

/* Both clocks' ends of one rule. */
struct two {
	struct solver *s;
	uint32_t clock[2];
	int64_t window;
	double wrap, drift;
	struct received *received[2]; /* by each from the other, by x */
	size_t n_received[2];
	const struct pairing_end **sent[2]; /* by each, by key, then x */
	size_t n_sent[2];
	int64_t first[2], last[2]; /* x of each one's log */
};

static int by_x(const void *pa, const void *pb)
{
	const struct received *a = pa, *b = pb;

	return a->x < b->x ? -1 : a->x > b->x;
}

/* The sends that have the key of receive @r: [*from, returned) of the other's, @sender. */
static size_t sends_of(const struct two *t, const struct pairing_end *r, int sender, size_t *from)
{
	const struct pairing_end **sent = t->sent[sender];
	size_t low = 0, high = t->n_sent[sender];

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (sent[mid]->key.a != r->key.a ? sent[mid]->key.a < r->key.a :
						   sent[mid]->key.b < r->key.b)
			low = mid + 1;
		else
			high = mid;
	}
	*from = low;
	while (low < t->n_sent[sender] && sent[low]->key.a == r->key.a &&
	       sent[low]->key.b == r->key.b)
		low++;
	return low;
}

/* A range of delta. */
struct range {
	double low, high;
};

/*
 * delta by which send @e and receive @r are one message: x of the first clock = x of the second +
 * delta.
 */
static struct range reach(const struct two *t, const struct pairing_end *e,
			  const struct pairing_end *r)
{
	double window = (double)t->window, d;

	if (r->of == t->clock[1]) {
		d = track_span(e->x, r->x);
		return (struct range){ d, d + window };
	}
	d = track_span(r->x, e->x);
	return (struct range){ d - window, d };
}

/* delta for which the other's log certainly contains the send of @r. */
static struct range logged(const struct two *t, const struct pairing_end *r)
{
	double window = (double)t->window;

	if (r->of == t->clock[1])
		return (struct range){ track_span(t->first[0], r->x) + window,
				       track_span(t->last[0], r->x) };
	return (struct range){ track_span(r->x, t->last[1]),
			       track_span(r->x, t->first[1]) - window };
}

/* A delta where a receive starts or stops being explained, or its send being in the other's log. */
struct change {
	double delta;
	int by;
	bool explains;
};

static int by_delta(const void *pa, const void *pb)
{
	const struct change *a = pa, *b = pb;

	return a->delta < b->delta ? -1 : a->delta > b->delta ? 1 : b->by - a->by;
}

struct changes {
	struct change *at;
	size_t n, cap;
};

static int add_range(struct changes *c, struct range r, bool explains)
{
	for (int k = 0; k < 2; k++) {
		if (cvl_room(&c->at, c->n, &c->cap, sizeof(*c->at)))
			return CVL_E_NOMEM;
		c->at[c->n++] = (struct change){ k ? r.high : r.low, k ? -1 : 1, explains };
	}
	return 0;
}

/*
 * Add the deltas allowed by receive @r, which may differ by @slack from the one at the middle of
 * the stretch.
 */
static int add_receive(const struct two *t, struct changes *c, const struct pairing_end *r,
		       double slack)
{
	const int sender = r->of == t->clock[0];
	struct range in = logged(t, r);
	size_t from, to = sends_of(t, r, sender, &from);
	double last;
	int rc;

	in.low += slack;
	in.high -= slack;
	if (in.high <= in.low)
		return 0;
	rc = add_range(c, in, false);
	last = in.low;
	for (size_t k = 0; k < to - from && !rc; k++) {
		/* by rising delta, in either direction; none is counted twice */
		size_t i = sender ? to - 1 - k : from + k;
		struct range d = reach(t, t->sent[sender][i], r);

		d.low = fmax(d.low - slack, last);
		d.high = fmin(d.high + slack, in.high);
		if (d.high > d.low) {
			rc = add_range(c, d, true);
			last = d.high;
		}
	}
	return rc;
}

/* The shifts that one direction allows. */
struct shifts {
	struct range fit[SHIFTS_MAX];
	bool sure[SHIFTS_MAX]; /* all but a few receives are explained */
	size_t n;
	bool refuted; /* another shift was possible, and does not fit */
	double at;    /* x of the receiver */
};

/* Limits of delta from the stated start times. */
static struct range prior(const struct two *t)
{
	const struct sync_clock *a = &t->s->p->clock[t->clock[0]],
				*b = &t->s->p->clock[t->clock[1]];
	double both = INFINITY;

	if (a->start_bound_ns > 0 && b->start_bound_ns > 0)
		both = (double)a->start_bound_ns + (double)b->start_bound_ns;
	if (*a->host && !strcmp(a->host, b->host) && a->host_bound_ns > 0 && b->host_bound_ns > 0)
		both = fmin(both, (double)a->host_bound_ns + (double)b->host_bound_ns);
	if (isfinite(both))
		both += t->drift * (fabs(track_span(t->last[0], a->start_x)) +
				    fabs(track_span(t->last[1], b->start_x)));
	return (struct range){ -both, both };
}

static void sweep(const struct two *t, struct changes *c, struct shifts *s)
{
	const struct range asked = prior(t);
	long explained = 0, possible = 0;
	double begin = -INFINITY;
	bool in = false;

	if (c->n)
		qsort(c->at, c->n, sizeof(*c->at), by_delta);
	for (size_t i = 0; i < c->n; i++) {
		double here = c->at[i].delta, share = 0;
		bool counts = possible >= EVIDENCE && begin < asked.high && here > asked.low;

		if (here > begin) {
			struct range *last = s->n ? &s->fit[s->n - 1] : NULL;

			if (counts)
				share = (double)explained / (double)possible;
			if (counts && share >= FITS && s->n < SHIFTS_MAX) {
				if (!in)
					s->sure[s->n] = false, last = &s->fit[s->n++];
				/* of several sure parts of one shift, keep the whole span */
				if (!in || (share >= SURE && !s->sure[s->n - 1]))
					last->low = fmax(begin, asked.low);
				if (share >= SURE || !s->sure[s->n - 1])
					last->high = fmin(here, asked.high);
				s->sure[s->n - 1] = s->sure[s->n - 1] || share >= SURE;
			}
			in = counts && share >= FITS;
			s->refuted = s->refuted || (counts && !in);
		}
		begin = here;
		if (c->at[i].explains)
			explained += c->at[i].by;
		else
			possible += c->at[i].by;
	}
}

/*
 * The shifts that the receives of clock @receiver allow, using those in the middle that are dense
 * enough that clocks drift little.
 */
static int find_shifts(const struct two *t, int receiver, struct shifts *s)
{
	const struct received *r = t->received[receiver];
	size_t all = t->n_received[receiver], n = all < STRETCH ? all : STRETCH,
	       from = (all - n) / 2;
	struct changes c = { 0 };
	int rc = 0;

	*s = (struct shifts){ 0 };
	while (n > EVIDENCE && t->drift * (r[from + n - 1].x - r[from].x) > STRETCH_DRIFT * t->wrap)
		n--;
	if (n < EVIDENCE)
		return 0;
	s->at = r[from + n / 2].x;
	for (size_t i = from; i < from + n && !rc; i++)
		rc = add_receive(t, &c, r[i].end, t->drift * fabs(r[i].x - s->at));
	if (!rc)
		sweep(t, &c, s);
	free(c.at);
	return rc;
}

/*
 * The shifts that both directions allow; they apply at different times, so the drift in between is
 * allowed for.
 */
static void intersect(const struct two *t, struct shifts *a, const struct shifts *b)
{
	size_t n = 0;

	if (!b->n)
		return;
	for (size_t i = 0; i < a->n; i++)
		for (size_t k = 0; k < b->n && n < SHIFTS_MAX; k++) {
			/* b's shifts apply at an x of the first clock */
			double mid = (b->fit[k].low + b->fit[k].high) / 2;
			double slack = t->drift * fabs(b->at - mid - a->at);
			struct range both = { fmax(a->fit[i].low, b->fit[k].low - slack),
					      fmin(a->fit[i].high, b->fit[k].high + slack) };

			if (both.low > both.high || n > i)
				continue;
			a->sure[n] = a->sure[i] && b->sure[k];
			a->fit[n++] = both;
			break;
		}
	a->n = n;
	a->refuted = a->refuted || b->refuted;
}

/*
 * Pairs [@from, @to), by @step, following delta from where it is within @s, at @at.
 */
static int follow(struct two *t, const struct received *r, size_t from, size_t to, int step,
		  struct range s, double at)
{
	int rc = 0;

	for (size_t i = from; i != to && !rc; i += (size_t)step) {
		const int sender = r[i].end->of == t->clock[0];
		const struct pairing_end *sent = NULL;
		size_t k, end = sends_of(t, r[i].end, sender, &k), n = 0;
		double grown = t->drift * fabs(r[i].x - at);
		struct range d;

		s.low -= grown;
		s.high += grown;
		at = r[i].x;
		for (; k < end; k++) {
			d = reach(t, t->sent[sender][k], r[i].end);
			if (d.high < s.low || d.low > s.high)
				continue;
			n++;
			sent = t->sent[sender][k];
		}
		if (n == 1) {
			d = reach(t, sent, r[i].end);
			s.low = fmax(s.low, d.low);
			s.high = fmin(s.high, d.high);
			rc = add_message(t->s, sent, r[i].end);
		} else if (n) {
			t->s->p->ambiguous++;
		} else {
			t->s->p->unmatched++;
		}
	}
	return rc;
}

/* All receives by the second clock's time, once delta is known. */
static int follow_all(struct two *t, struct range s, double at)
{
	size_t n = t->n_received[0] + t->n_received[1], mid = 0;
	struct received *all = malloc((n + 1) * sizeof(*all));
	int rc;

	if (!all)
		return cvl_no_memory(t->s->err);
	memcpy(all, t->received[1], t->n_received[1] * sizeof(*all));
	for (size_t i = 0; i < t->n_received[0]; i++)
		all[t->n_received[1] + i] =
			(struct received){ t->received[0][i].end,
					   t->received[0][i].x - (s.low + s.high) / 2 };
	qsort(all, n, sizeof(*all), by_x);
	while (mid < n && all[mid].x < at)
		mid++;
	rc = follow(t, all, mid, n, 1, s, at);
	if (!rc && mid)
		rc = follow(t, all, mid - 1, SIZE_MAX, -1, s, at);
	free(all);
	return rc;
}

static void ambiguous(struct two *t)
{
	struct sync_problem *p = t->s->p;

	p->ambiguous += t->n_received[0] + t->n_received[1];
	for (int k = 0; k < 2; k++) {
		struct sync_clock *c = &p->clock[t->clock[k]];

		if (!c->again_ns || (int64_t)t->wrap < c->again_ns)
			c->again_ns = (int64_t)t->wrap;
	}
}

/*
 * A shift is accepted if no other fits, and either another one would have been distinguishable, or
 * the stated start times exclude it.
 */
static bool is_decided(const struct two *t, const struct shifts *s)
{
	const struct range asked = prior(t);

	return s->n == 1 && s->sure[0] &&
	       s->fit[0].high - s->fit[0].low + (double)t->window < t->wrap &&
	       (s->refuted || asked.high - asked.low < t->wrap);
}

static int pair_shifted(struct two *t)
{
	struct shifts s[2];
	double at;
	int rc = 0;

	for (int k = 0; k < 2 && !rc; k++) {
		qsort(t->received[k], t->n_received[k], sizeof(*t->received[k]), by_x);
		rc = find_shifts(t, k, &s[k]);
	}
	if (rc)
		return cvl_no_memory(t->s->err);
	at = s[1].at;
	if (s[1].n) {
		intersect(t, &s[1], &s[0]);
	} else if (s[0].n) {
		s[1] = s[0];
		at = s[0].at - (s[0].fit[0].low + s[0].fit[0].high) / 2;
	}
	if (!is_decided(t, &s[1])) {
		ambiguous(t);
		return 0;
	}
	if (t->window > t->s->p->arrive_within_ns)
		t->s->p->arrive_within_ns = t->window;
	return follow_all(t, s[1].fit[0], at);
}

/* Whether clocks other than @a and @b send the key of @g. */
static bool others_send(const struct group *g, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < g->sends; i++)
		if (g->end[i].of != a && g->end[i].of != b)
			return true;
	return false;
}

static bool two_make(struct two *t, size_t n)
{
	for (int k = 0; k < 2; k++) {
		t->received[k] = malloc(n * sizeof(*t->received[k]));
		t->sent[k] = malloc(n * sizeof(*t->sent[k]));
		t->first[k] = INT64_MAX;
		t->last[k] = INT64_MIN;
	}
	return t->received[0] && t->received[1] && t->sent[0] && t->sent[1];
}

static void two_free(struct two *t)
{
	for (int k = 0; k < 2; k++) {
		free(t->received[k]);
		free(t->sent[k]);
	}
}

/* Take these two clocks' ends of one key. */
static void take_group(struct two *t, const struct group *g)
{
	bool clear = !others_send(g, t->clock[0], t->clock[1]);

	for (size_t i = 0; i < g->n; i++) {
		const struct pairing_end *e = &g->end[i];
		int k = e->of == t->clock[1];

		if (e->of != t->clock[k])
			continue;
		t->first[k] = e->x < t->first[k] ? e->x : t->first[k];
		t->last[k] = e->x > t->last[k] ? e->x : t->last[k];
		if (!e->receive && !is_copy(g, i))
			t->sent[k][t->n_sent[k]++] = e;
		else if (e->receive && clear)
			t->received[k][t->n_received[k]++] = (struct received){ e, (double)e->x };
		else if (e->receive)
			t->s->p->ambiguous++;
	}
}

/* Pair ends [@i, @end) of one rule with recurring keys between clocks @a and @b. */
static int pair_two(struct solver *s, const struct pairing *p, size_t i, size_t end, uint32_t a,
		    uint32_t b, double wrap)
{
	struct group g = { .window = s->rules->rule[p->end[i].rule].window_ns };
	struct two t = { .s = s, .clock = { a, b }, .window = g.window, .wrap = wrap };
	int rc = 0;

	t.drift = (s->p->clock[a].drift_ppm + s->p->clock[b].drift_ppm) * 1e-6;
	if (two_make(&t, end - i)) {
		while (i < end) {
			i = group_at(p, i, &g);
			take_group(&t, &g);
		}
		if (t.window > 0)
			rc = pair_shifted(&t);
		else if (t.n_received[0] || t.n_received[1])
			ambiguous(&t);
	} else {
		rc = cvl_no_memory(s->err);
	}
	two_free(&t);
	return rc;
}

/* Which of the clocks have ends in [@i, @end). */
static void who(const struct pairing *p, size_t i, size_t end, bool *sends, bool *receives)
{
	for (; i < end; i++)
		(p->end[i].receive ? receives : sends)[p->end[i].of] = true;
}

static int pair_again(struct solver *s, const struct pairing *p, size_t i, size_t end, double wrap)
{
	size_t n = s->p->n_clocks;
	bool *sends = calloc(2 * n + 1, sizeof(*sends)), *receives = sends + n;
	int rc = 0;

	if (!sends)
		return cvl_no_memory(s->err);
	who(p, i, end, sends, receives);
	for (uint32_t a = 0; a < n && !rc; a++)
		for (uint32_t b = a + 1; b < n && !rc; b++)
			if ((sends[a] && receives[b]) || (sends[b] && receives[a]))
				rc = pair_two(s, p, i, end, a, b, wrap);
	free(sends);
	return rc;
}

int pairing_solve(struct pairing *p, struct sync_problem *problem, const struct rule_set *rules,
		  struct cvl_error *err)
{
	struct solver s = { .p = problem, .rules = rules, .err = err };
	int rc = 0;

	s.log_begin = calloc(problem->n_clocks + 1, sizeof(*s.log_begin));
	if (!s.log_begin)
		return cvl_no_memory(err);
	if (p->n)
		qsort(p->end, p->n, sizeof(*p->end), by_key);
	for (size_t i = 0, end; i < p->n && !rc; i = end) {
		const struct match_rule *rule = &rules->rule[p->end[i].rule];
		double wrap;

		for (end = i; end < p->n && p->end[end].rule == p->end[i].rule;)
			end++;
		rc = find_wrap(&s, p, i, end, &wrap);
		if (!rc && wrap > 0)
			rc = pair_again(&s, p, i, end, wrap);
		for (size_t k = i; k < end && !rc && !(wrap > 0);) {
			struct group g = { .window = rule->window_ns };

			k = group_at(p, k, &g);
			rc = pair_once(&s, &g);
			problem->unique_keys = true;
		}
	}
	free(s.log_begin);
	return rc;
}
