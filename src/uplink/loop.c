/* SPDX-License-Identifier: MIT */
#include "uplink/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>

#include "core/random.h"
#include "uplink/protocol.h"

struct message {
	uint64_t number;
	char node[UPLINK_NAME_MAX + 1], clock[UPLINK_NAME_MAX * 3 + 1];
	uint8_t *body;
	size_t n;
};

/* What waits for an end. */
struct note {
	enum carrier_kind kind;
	enum carrier_topic topic;
	uint64_t ticket;
	bool full;
	char node[UPLINK_NAME_MAX + 1];
	uint8_t *body;
	size_t n;
};

struct end {
	struct carrier pub;
	struct loop *loop;
	char node[UPLINK_NAME_MAX + 1]; /* "": the collector's */
	bool connected, gone;
	uint64_t next; /* number of the message that comes next, of the collector's */
	struct note *note;
	size_t notes, room;
	struct message shown; /* valid until the next call */
	struct note shown_note;
	struct end *after;
};

struct loop {
	struct sim_random random;
	struct loop_faults faults;
	struct message *message; /* by number */
	size_t n, room, bytes;
	uint64_t number;
	struct end *ends;
};

static bool happens(struct loop *l, double p)
{
	return p > 0 && sim_uniform(&l->random) < p;
}

struct loop *loop_new(uint64_t seed, const struct loop_faults *faults)
{
	struct loop *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->random.state = seed;
	l->faults = *faults;
	return l;
}

void loop_set(struct loop *l, const struct loop_faults *faults)
{
	l->faults = *faults;
}

size_t loop_held(const struct loop *l)
{
	return l->n;
}

static void drop(struct loop *l, size_t i)
{
	l->bytes -= l->message[i].n;
	free(l->message[i].body);
	memmove(&l->message[i], &l->message[i + 1], (l->n - i - 1) * sizeof(*l->message));
	l->n--;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	while (l->n)
		drop(l, l->n - 1);
	free(l->message);
	free(l);
}

static uint8_t *copy(const void *body, size_t n)
{
	uint8_t *to = malloc(n + 1);

	if (to)
		memcpy(to, body, n);
	return to;
}

static void put_note(struct end *e, struct note note)
{
	if (cvl_room(&e->note, e->notes, &e->room, sizeof(*e->note))) {
		free(note.body);
		return;
	}
	e->note[e->notes++] = note;
}

/* ---- a node's messages ---- */

static void store(struct loop *l, const char *node, const char *clock, const void *body, size_t n)
{
	struct message m = { .number = ++l->number, .n = n };

	if (happens(l, l->faults.lose) || cvl_room(&l->message, l->n, &l->room, sizeof(m)))
		return;
	snprintf(m.node, sizeof(m.node), "%s", node);
	snprintf(m.clock, sizeof(m.clock), "%s", clock);
	m.body = copy(body, n);
	if (!m.body)
		return;
	if (happens(l, l->faults.damage))
		m.body[sim_u64(&l->random) % n] ^= (uint8_t)(1u << sim_u64(&l->random) % 8);
	l->bytes += n;
	l->message[l->n++] = m;
	if (l->n > 1 && happens(l, l->faults.reorder)) {
		struct message *a = &l->message[l->n - 2], *b = a + 1;
		const uint64_t first = a->number;

		m = *a;
		*a = *b;
		*b = m;
		b->number = a->number;
		a->number = first;
	}
}

static void cut(struct end *e)
{
	if (!e->connected)
		return;
	e->connected = false;
	e->gone = true;
	for (size_t i = 0; i < e->notes; i++)
		free(e->note[i].body);
	e->notes = 0;
}

/* The carrier crashed, and finds an older state of itself. Its numbers go back. */
static void forget_some(struct loop *l)
{
	const size_t lost = l->n ? sim_u64(&l->random) % (l->n / 2 + 1) : 0;

	for (size_t i = 0; i < lost; i++)
		drop(l, l->n - 1);
	l->number = l->n ? l->message[l->n - 1].number : l->number / 2;
	for (struct end *e = l->ends; e; e = e->after)
		cut(e);
}

static bool end_send(struct carrier *c, const char *clock, const void *body, size_t n,
		     uint64_t ticket)
{
	struct end *e = (struct end *)c;
	struct loop *l = e->loop;
	const bool full = l->faults.bytes_max && l->bytes + n > l->faults.bytes_max;

	if (!e->connected)
		return false;
	if (happens(l, l->faults.forget))
		forget_some(l);
	if (!e->connected || happens(l, l->faults.silent)) {
		put_note(e, (struct note){ .kind = CARRIER_REFUSED, .ticket = ticket });
		return e->connected;
	}
	if (full || happens(l, l->faults.refuse)) {
		put_note(e,
			 (struct note){ .kind = CARRIER_REFUSED, .ticket = ticket, .full = full });
		return true;
	}
	for (int times = 1 + happens(l, l->faults.repeat); times--;)
		store(l, e->node, clock, body, n);
	put_note(e, (struct note){ .kind = CARRIER_TAKEN, .ticket = ticket });
	return true;
}

/* ---- what is told ---- */

static bool end_tell(struct carrier *c, const char *node, enum carrier_topic topic,
		     const void *body, size_t n)
{
	struct end *from = (struct end *)c;
	struct loop *l = from->loop;

	if (!from->connected)
		return false;
	for (struct end *e = l->ends; e; e = e->after) {
		struct note note = { .kind = CARRIER_TOLD, .topic = topic, .n = n };

		if (e == from || !e->connected || happens(l, l->faults.deaf) ||
		    strcmp(e->node, node ? node : "") != 0)
			continue;
		snprintf(note.node, sizeof(note.node), "%s", from->node);
		note.body = copy(body, n);
		if (note.body)
			put_note(e, note);
	}
	return true;
}

/* ---- events ---- */

static bool next_message(struct end *e, struct carrier_event *event)
{
	struct loop *l = e->loop;

	for (size_t i = 0; i < l->n && !*e->node; i++) {
		const struct message *m = &l->message[i];

		if (m->number < e->next)
			continue;
		e->next = m->number + 1;
		e->shown = *m;
		e->shown.body = copy(m->body, m->n);
		if (!e->shown.body)
			return false;
		*event = (struct carrier_event){
			.kind = CARRIER_MESSAGE,
			.ticket = m->number,
			.node = e->shown.node,
			.clock = e->shown.clock,
			.body = e->shown.body,
			.n = m->n,
		};
		return true;
	}
	return false;
}

static bool end_next(struct carrier *c, struct carrier_event *event)
{
	struct end *e = (struct end *)c;

	free(e->shown.body);
	free(e->shown_note.body);
	e->shown.body = e->shown_note.body = NULL;
	*event = (struct carrier_event){ .kind = CARRIER_GONE };
	if (e->gone) {
		e->gone = false;
		return true;
	}
	if (!e->connected) {
		e->connected = true;
		e->next = 0; /* from the first message on */
		event->kind = CARRIER_READY;
		return true;
	}
	if (happens(e->loop, e->loop->faults.cut)) {
		cut(e);
		e->gone = false;
		return true;
	}
	if (!e->notes)
		return next_message(e, event);
	e->shown_note = e->note[0];
	memmove(e->note, e->note + 1, --e->notes * sizeof(*e->note));
	*event = (struct carrier_event){
		.kind = e->shown_note.kind,
		.topic = e->shown_note.topic,
		.ticket = e->shown_note.ticket,
		.full = e->shown_note.full,
		.text = "",
		.node = e->shown_note.node,
		.body = e->shown_note.body,
		.n = e->shown_note.n,
	};
	return true;
}

static void end_forget(struct carrier *c, uint64_t ticket)
{
	struct loop *l = ((struct end *)c)->loop;

	while (l->n && l->message[0].number <= ticket)
		drop(l, 0);
}

static void end_shard(struct carrier *c, unsigned shard)
{
	(void)c;
	(void)shard;
}

static size_t end_largest(const struct carrier *c)
{
	(void)c;
	return 1 << 20;
}

static int end_fd(const struct carrier *c)
{
	(void)c;
	return -1;
}

static void end_flush(struct carrier *c, int timeout_ms)
{
	(void)c;
	(void)timeout_ms;
}

static void end_close(struct carrier *c)
{
	struct end *e = (struct end *)c;
	struct end **at = &e->loop->ends;

	while (*at != e)
		at = &(*at)->after;
	*at = e->after;
	for (size_t i = 0; i < e->notes; i++)
		free(e->note[i].body);
	free(e->note);
	free(e->shown.body);
	free(e->shown_note.body);
	free(e);
}

static const struct carrier_ops loop_ops = {
	.send = end_send,
	.tell = end_tell,
	.next = end_next,
	.forget = end_forget,
	.shard = end_shard,
	.largest = end_largest,
	.fd = end_fd,
	.flush = end_flush,
	.close = end_close,
};

struct carrier *loop_open(struct loop *l, const char *node)
{
	struct end *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->pub.ops = &loop_ops;
	e->loop = l;
	snprintf(e->node, sizeof(e->node), "%s", node ? node : "");
	e->after = l->ends;
	l->ends = e;
	return &e->pub;
}
