/* SPDX-License-Identifier: MIT */
#include "uplink/collector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>

#include "uplink/lookup.h"

#define BATCH_BYTES (8 << 20)  /* before they are synced */
#define BATCH_MS 20            /* and so old may the first of them be */
#define TELL_MS 200            /* between telling a node of progress */
#define TELL_BYTES (256 << 10) /* unless there was so much of it */
#define FULL_MS 1000           /* between attempts to store something when there was no room */
#define SILENT_MS 3000         /* a node that is at work says so every second */
#define LOST_MS 20000          /* of one that did, until its last word is taken to have got lost */
#define NODES_MAX 16384

struct node {
	struct collector_node pub;
	char name[UPLINK_NAME_MAX + 1];
	bool spoke; /* itself: it asked, or said how it is */
};

/* What is owed to a node about one of its clocks. */
struct debt {
	char node[UPLINK_NAME_MAX + 1];
	struct uplink_have have; /* clock, id, flags */
	bool at_once;
};

/* What was told of a trace. */
struct told {
	uint64_t place;
	uint32_t description;
	int64_t ms;
};

struct collector {
	struct collector_opts opts;
	struct spool *spool;
	struct carrier *carrier;
	struct node **node;
	size_t n, room;
	struct told *told; /* by trace */
	size_t n_told, told_room;
	struct debt *debt;
	size_t debts, debt_room;
	struct lookup by_name, by_debt; /* nodes; node, clock and id of debts */
	struct collector_state sum;
	uint64_t ticket;      /* of the last message taken, not yet forgotten; 0: none */
	uint64_t batch;       /* bytes taken since the last sync */
	int64_t batch_ms;     /* when the first of them came */
	int64_t now, full_ms; /* full: when there was no room */
	bool full;
	char problem[CVL_ERROR_TEXT];
};

int collector_open(struct collector **out, struct spool *spool, struct carrier *carrier,
		   const struct collector_opts *opts, struct cvl_error *err)
{
	struct collector *c = calloc(1, sizeof(*c));

	*out = NULL;
	if (!c)
		return cvl_no_memory(err);
	c->opts = *opts;
	c->spool = spool;
	c->carrier = carrier;
	c->full_ms = INT64_MIN / 2;
	*out = c;
	return 0;
}

static void tell_user(struct collector *c, const char *text)
{
	struct cvl_error problem;

	if (!strcmp(c->problem, text))
		return;
	snprintf(c->problem, sizeof(c->problem), "%s", text);
	cvl_fail(&problem, CVL_E_ENV, CVL_NO_OFFSET, "%s", text);
	cvl_tell(c->opts.report, &problem);
}

static struct node *node_called(struct collector *c, const char *name)
{
	const uint32_t hash = lookup_hash(name, NULL, NULL);
	size_t i;

	for (size_t at = 0; lookup_next(&c->by_name, hash, &at, &i);)
		if (!strcmp(c->node[i]->name, name))
			return c->node[i];
	if (c->n == NODES_MAX || cvl_room(&c->node, c->n, &c->room, sizeof(*c->node)))
		return NULL;
	c->node[c->n] = calloc(1, sizeof(**c->node));
	if (!c->node[c->n] || lookup_put(&c->by_name, hash, c->n)) {
		free(c->node[c->n]);
		return NULL;
	}
	snprintf(c->node[c->n]->name, sizeof(c->node[c->n]->name), "%s", name);
	c->node[c->n]->pub.name = c->node[c->n]->name;
	c->node[c->n]->pub.heard_ms = INT64_MIN;
	return c->node[c->n++];
}

/* ---- what nodes are told ---- */

/* The same clock is told once, with all that is to be said of it. */
static struct debt *owe(struct collector *c, const char *node, const char *clock,
			const uint8_t id[16], bool at_once)
{
	const uint32_t hash = lookup_hash(node, clock, id);
	struct debt *d;
	size_t i;

	for (size_t at = 0; lookup_next(&c->by_debt, hash, &at, &i);) {
		d = &c->debt[i];
		if (!memcmp(d->have.id, id, 16) && !strcmp(d->node, node) &&
		    !strcmp(d->have.clock, clock)) {
			d->at_once |= at_once;
			return d;
		}
	}
	if (cvl_room(&c->debt, c->debts, &c->debt_room, sizeof(*c->debt)) ||
	    lookup_put(&c->by_debt, hash, c->debts))
		return NULL;
	d = &c->debt[c->debts++];
	*d = (struct debt){ .at_once = at_once };
	snprintf(d->node, sizeof(d->node), "%s", node);
	snprintf(d->have.clock, sizeof(d->have.clock), "%s", clock);
	memcpy(d->have.id, id, 16);
	return d;
}

static struct told *told_of(struct collector *c, size_t trace)
{
	while (c->n_told <= trace) {
		if (cvl_room(&c->told, c->n_told, &c->told_room, sizeof(*c->told)))
			return NULL;
		c->told[c->n_told++] = (struct told){ .ms = INT64_MIN / 2 };
	}
	return &c->told[trace];
}

/* What is durable of a debt's trace. */
static void fill(struct collector *c, struct debt *d)
{
	const int i = spool_find(c->spool, d->node, d->have.clock, d->have.id);
	const struct spool_trace *t = i < 0 ? NULL : spool_trace(c->spool, (size_t)i);
	struct told *told = i < 0 ? NULL : told_of(c, (size_t)i);

	if (!t)
		return;
	d->have.place = t->synced;
	d->have.description = t->description;
	d->have.tail = t->synced == t->end ? t->tail : 0;
	d->have.crc = t->synced == t->end ? t->tail_crc : 0;
	if (told)
		*told = (struct told){ t->synced, t->description, c->now };
}

static bool is_due(struct collector *c, const struct debt *d)
{
	const int i = spool_find(c->spool, d->node, d->have.clock, d->have.id);
	const struct told *told = i < 0 ? NULL : told_of(c, (size_t)i);
	const struct spool_trace *t = i < 0 ? NULL : spool_trace(c->spool, (size_t)i);

	return !told || d->at_once || c->now - told->ms >= TELL_MS ||
	       t->synced - told->place >= TELL_BYTES;
}

static int by_node(const void *pa, const void *pb)
{
	const struct debt *a = pa, *b = pb;

	return strcmp(a->node, b->node);
}

/* After a sync: what is told is durable. */
static void pay(struct collector *c, bool all)
{
	struct uplink_have list[64];
	size_t kept = 0;

	if (!c->debts)
		return;
	qsort(c->debt, c->debts, sizeof(*c->debt), by_node);
	for (size_t i = 0; i < c->debts;) {
		const char *node = c->debt[i].node;
		size_t n = 0, bytes, from = i;
		char *text;

		for (; i < c->debts && n < 64 && !strcmp(c->debt[i].node, node); i++)
			if (all || is_due(c, &c->debt[i])) {
				fill(c, &c->debt[i]);
				list[n++] = c->debt[i].have;
			}
		text = n ? uplink_put_have(c->opts.shard, list, n, &bytes) : NULL;
		if (text)
			carrier_tell(c->carrier, node, CARRIER_HAVE, text, bytes);
		free(text);
		/* what is not due is kept; those told are not, even if they do not hear it: they ask */
		for (; from < i; from++) {
			bool told = false;

			for (size_t k = 0; k < n; k++)
				told = told || (!memcmp(list[k].id, c->debt[from].have.id, 16) &&
						!strcmp(list[k].clock, c->debt[from].have.clock));
			if (!told)
				c->debt[kept++] = c->debt[from];
		}
	}
	c->debts = kept;
	lookup_clear(&c->by_debt);
	for (size_t i = 0; i < kept; i++) /* if there is no room one is told twice */
		lookup_put(&c->by_debt,
			   lookup_hash(c->debt[i].node, c->debt[i].have.clock, c->debt[i].have.id),
			   i);
}

/* ---- what comes ---- */

static void note(struct collector *c, struct node *n, const char *clock, enum spool_verdict v,
		 const char *why, const uint8_t id[16])
{
	struct debt *d = owe(c, n->name, clock, id, v != SPOOL_STORED && v != SPOOL_AGAIN);

	if (v == SPOOL_HOLE || v == SPOOL_UNKNOWN)
		c->sum.holes++;
	if (v == SPOOL_REFUSED || v == SPOOL_FULL)
		c->sum.refused++;
	if (d) {
		d->have.hole |= v == SPOOL_HOLE || v == SPOOL_UNKNOWN;
		d->have.wait = v == SPOOL_FULL;
		d->have.refused |= v == SPOOL_REFUSED;
		if (*why)
			snprintf(d->have.why, sizeof(d->have.why), "%.199s", why);
	}
	if (v == SPOOL_FULL) {
		c->full = true;
		c->full_ms = c->now;
	}
	if (v == SPOOL_REFUSED || v == SPOOL_FULL) {
		char text[500];

		n->pub.refused++;
		snprintf(n->pub.why, sizeof(n->pub.why), "%.199s", why);
		snprintf(text, sizeof(text), "%s: clock %s of node %s is not stored: %s",
			 spool_path(c->spool), clock, n->name, why);
		tell_user(c, text);
	}
}

static void take_message(struct collector *c, const struct carrier_event *e)
{
	struct node *n = node_called(c, e->node);
	const uint8_t *body = (const uint8_t *)e->body + sizeof(struct uplink_head);
	struct uplink_head h;
	char why[200] = "";
	enum spool_verdict v;
	const char *wrong = uplink_open(&h, e->body, e->n);
	bool waits;
	int trace;

	c->sum.messages++;
	c->sum.bytes += e->n;
	if (!c->batch)
		c->batch_ms = c->now;
	c->batch += e->n;
	c->ticket = e->ticket;
	if (!n)
		return;
	n->pub.heard_ms = c->now;
	if (wrong) {
		/* nothing can be told about a trace that is not named; a version is told by `ask` */
		n->pub.refused++;
		c->sum.refused++;
		snprintf(n->pub.why, sizeof(n->pub.why), "%s", wrong);
		return;
	}
	/* where there was no room nothing new is tried for a while: it is sent again */
	waits = c->full && c->now - c->full_ms < FULL_MS;
	if (waits && !spool_holds(c->spool, e->node, e->clock, &h)) {
		note(c, n, e->clock, SPOOL_FULL, "the collector has no room", h.id);
		return;
	}
	c->full = waits;
	if (h.kind == UPLINK_DESCRIPTION)
		v = spool_describe(c->spool, e->node, e->clock, h.id, (const char *)body,
				   h.place <= h.bytes ? (size_t)h.place : h.bytes + (size_t)1,
				   h.bytes, &trace, why);
	else
		v = spool_packets(c->spool, e->node, e->clock, &h, body, &trace, why);
	note(c, n, e->clock, v, why, h.id);
}

static void take_ask(struct collector *c, const struct carrier_event *e)
{
	struct uplink_have *list;
	char problem[200];
	struct node *n;
	size_t count;

	if (!uplink_take_ask(e->body, e->n, e->node, &list, &count, problem, sizeof(problem)))
		return;
	n = node_called(c, e->node);
	if (n) {
		n->pub.heard_ms = c->now;
		n->spoke = true;
	}
	if (*problem) {
		size_t bytes;
		char *text = uplink_put_have(c->opts.shard, NULL, 0, &bytes);

		tell_user(c, problem);
		if (text) /* its version shows the node that they do not agree */
			carrier_tell(c->carrier, e->node, CARRIER_HAVE, text, bytes);
		free(text);
	}
	for (size_t i = 0; i < count; i++)
		owe(c, e->node, list[i].clock, list[i].id, true);
	free(list);
}

static void take_live(struct collector *c, const struct carrier_event *e)
{
	struct uplink_live live;
	struct node *n;

	if (!uplink_take_live(e->body, e->n, &live))
		return;
	n = node_called(c, e->node);
	if (!n)
		return;
	n->pub.live = live;
	n->pub.lives = n->spoke = true;
	n->pub.heard_ms = c->now;
}

static int sync_batch(struct collector *c, struct cvl_error *err)
{
	struct cvl_error problem;
	int rc = spool_sync(c->spool, &problem);

	c->batch = 0;
	if (rc == CVL_E_FULL || rc == CVL_E_IO) { /* nothing new is durable: nobody is told so */
		tell_user(c, problem.text);
		return 0;
	}
	if (rc) {
		if (err)
			*err = problem;
		return rc;
	}
	if (c->ticket)
		carrier_forget(c->carrier, c->ticket);
	c->ticket = 0;
	return 0;
}

int collector_work(struct collector *c, int64_t now_ms, int *wait_ms, struct cvl_error *err)
{
	struct carrier_event e;
	int rc = 0;

	c->now = now_ms;
	while (c->batch < BATCH_BYTES && carrier_next(c->carrier, &e)) {
		switch (e.kind) {
		case CARRIER_READY: c->sum.connected = true; break;
		case CARRIER_GONE: c->sum.connected = false; break;
		case CARRIER_MESSAGE: take_message(c, &e); break;
		case CARRIER_TOLD:
			if (uplink_shard(e.node, c->opts.shards) != c->opts.shard)
				break; /* another's */
			if (e.topic == CARRIER_ASK)
				take_ask(c, &e);
			else if (e.topic == CARRIER_LIVE)
				take_live(c, &e);
			break;
		case CARRIER_PROBLEM: tell_user(c, e.text); break;
		case CARRIER_CLOSED:
			return cvl_hint(err, CVL_HINT_KEY,
					cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s", e.text));
		case CARRIER_TAKEN:
		case CARRIER_REFUSED: break;
		}
	}
	if (c->batch >= BATCH_BYTES || (c->batch && now_ms - c->batch_ms >= BATCH_MS))
		rc = sync_batch(c, err);
	if (!rc && !c->batch)
		pay(c, false);
	*wait_ms = c->batch ? BATCH_MS : c->debts ? TELL_MS : 1000;
	return rc;
}

void collector_close(struct collector *c)
{
	if (!c)
		return;
	if (!sync_batch(c, NULL))
		pay(c, true);
	collector_abandon(c);
}

void collector_abandon(struct collector *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++)
		free(c->node[i]);
	free(c->node);
	free(c->told);
	free(c->debt);
	lookup_free(&c->by_name);
	lookup_free(&c->by_debt);
	free(c);
}

/* ---- how it is ---- */

size_t collector_nodes(const struct collector *c)
{
	return c->n;
}

const struct collector_node *collector_node(const struct collector *c, size_t i)
{
	return &c->node[i]->pub;
}

/*
 * Whether a node has ended: it says so, which may get lost, or it says nothing and all of it is here. If it
 * never spoke, what was heard were its last messages, once more, which the collector before had stored and left
 * in the carrier; those of clocks that are not here went to another session.
 */
static bool has_ended(const struct collector *c, const struct node *node)
{
	const struct collector_node *n = &node->pub;
	bool any = false;

	if (n->lives && n->live.ended)
		return true;
	if (c->now - n->heard_ms < (node->spoke ? LOST_MS : SILENT_MS))
		return false;
	for (size_t i = 0; i < spool_traces(c->spool); i++) {
		const struct spool_trace *t = spool_trace(c->spool, i);

		if (strcmp(t->node, n->name) != 0)
			continue;
		if (!t->ended)
			return false;
		any = true;
	}
	return any || !node->spoke;
}

void collector_state(const struct collector *c, struct collector_state *state)
{
	bool ended = c->n > 0, any = false;

	*state = c->sum;
	for (size_t i = 0; i < spool_traces(c->spool); i++) {
		const struct spool_trace *t = spool_trace(c->spool, i);

		state->again += t->again;
		state->conflicts += t->conflicts;
		ended = ended && !t->open;
		any = true;
	}
	for (size_t i = 0; i < c->n; i++)
		ended = ended && has_ended(c, c->node[i]);
	state->ended = ended && any;
}
