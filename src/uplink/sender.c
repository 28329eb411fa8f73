/* SPDX-License-Identifier: MIT */
#include "uplink/sender.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include <coeval/array.h>

#include "core/random.h"

#define WINDOW ((uint64_t)512 << 10) /* bytes that the carrier has not confirmed */
#define AHEAD (64 * WINDOW)          /* of a clock, bytes that the collector has not stored */
#define LIVE_MS 1000
#define ASK_MS 1000    /* between questions while there is no answer */
#define STALL_MS 10000 /* without progress, after which all is sent again */
#define REWIND_MS 300  /* between two rewinds */
#define TELL_MS 2000   /* between descriptions without an answer */
#define BACKOFF_LEAST_MS 100
#define BACKOFF_MOST_MS 3200
#define BACKOFF_TELL_MS 800

/* A message that the carrier has not confirmed. */
struct flight {
	uint64_t ticket, place, bytes;
	size_t clock;
};

struct clock {
	bool known;  /* the collector said what it has */
	bool insist; /* it has something else than what is here: all is offered again */
	bool waiting, refused;
	uint64_t have, next;  /* places */
	uint64_t most;        /* next was as far as this */
	uint32_t description; /* that the collector knows */
	uint32_t described;   /* that was sent last */
	int64_t described_ms, progress_ms, rewound_ms;
	char why[200];
};

struct sender {
	struct sender_opts opts;
	struct outgoing *source;
	struct carrier *carrier;
	struct sim_random random;
	struct clock *clock;
	size_t n, room;
	struct flight *flight;
	size_t flights, flights_room;
	uint64_t ticket, flying; /* bytes */
	bool connected, heard, probing;
	int64_t now, asked_ms, live_ms, hold_ms; /* hold: nothing is sent before */
	uint64_t most_kept;                      /* at a time, from now on; 0: not yet known */
	int backoff_ms;
	struct sender_state sum;
	uint8_t *message;
	size_t message_room;
	char problem[200];
};

int sender_open(struct sender **out, struct outgoing *source, struct carrier *carrier,
		const struct sender_opts *opts, struct cvl_error *err)
{
	struct sender *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (!s)
		return cvl_no_memory(err);
	s->opts = *opts;
	s->source = source;
	s->carrier = carrier;
	s->random.state = opts->seed;
	s->asked_ms = s->live_ms = INT64_MIN / 2;
	*out = s;
	return 0;
}

void sender_close(struct sender *s)
{
	if (!s)
		return;
	free(s->clock);
	free(s->flight);
	free(s->message);
	free(s);
}

static void tell(struct sender *s, const char *text)
{
	struct cvl_error problem;

	if (!strcmp(s->problem, text))
		return;
	snprintf(s->problem, sizeof(s->problem), "%s", text);
	cvl_fail(&problem, CVL_E_ENV, CVL_NO_OFFSET, "%s", text);
	cvl_tell(s->opts.report, &problem);
}

/* ---- going back ---- */

static void back_to(struct clock *c, uint64_t place)
{
	if (place < c->next)
		c->next = place;
}

static void rewind_to_have(const struct sender *s, struct clock *c)
{
	if (s->now - c->rewound_ms < REWIND_MS)
		return;
	c->rewound_ms = c->progress_ms = s->now;
	if (!c->insist)
		c->next = c->have;
}

/* What was not confirmed is sent again. */
static void ground(struct sender *s)
{
	for (size_t i = 0; i < s->flights; i++)
		back_to(&s->clock[s->flight[i].clock], s->flight[i].place);
	s->flights = 0;
	s->flying = 0;
}

static void back_off(struct sender *s)
{
	const int jitter = (int)(sim_u64(&s->random) % (uint64_t)(s->backoff_ms / 2 + 25));

	s->backoff_ms = s->backoff_ms ? s->backoff_ms * 2 : BACKOFF_LEAST_MS;
	if (s->backoff_ms > BACKOFF_MOST_MS)
		s->backoff_ms = BACKOFF_MOST_MS;
	s->hold_ms = s->now + s->backoff_ms + jitter;
	s->probing = true;
}

/* ---- what comes ---- */

static struct flight *find_flight(struct sender *s, uint64_t ticket)
{
	for (size_t i = 0; i < s->flights; i++)
		if (s->flight[i].ticket == ticket)
			return &s->flight[i];
	return NULL;
}

static void landed(struct sender *s, struct flight *f)
{
	s->flying -= f->bytes;
	*f = s->flight[--s->flights];
}

static void take_ack(struct sender *s, const struct carrier_event *e)
{
	struct flight *f = find_flight(s, e->ticket);

	if (!f) /* given up before */
		return;
	if (e->kind == CARRIER_TAKEN) {
		landed(s, f);
		s->backoff_ms = 0;
		s->probing = false;
		s->problem[0] = '\0';
		return;
	}
	s->sum.refused++;
	if (e->full)
		tell(s,
		     "the server has no room: its collector is away or slow; packets wait here until there is some");
	else if (s->backoff_ms >= BACKOFF_TELL_MS) /* not when it only begins anew */
		tell(s,
		     "the server takes no packets, though it is connected: see its log, and its disk; they wait here");
	ground(s);
	if (s->now >= s->hold_ms)
		back_off(s);
}

static void verify(struct sender *s, size_t i, const struct uplink_have *h)
{
	struct clock *c = &s->clock[i];
	char text[300];
	const bool same = outgoing_has(s->source, i, h->place, h->tail, h->crc);

	if (!same && !c->insist) {
		snprintf(
			text, sizeof(text),
			"%s: the collector has other packets of clock %s than are here, where their end "
			"must have been lost; it will keep these apart",
			s->opts.path, outgoing_clock(s->source, i)->name);
		tell(s, text);
		c->next = 0;
	}
	c->insist = !same;
}

static void take_one(struct sender *s, size_t i, const struct uplink_have *h)
{
	struct clock *c = &s->clock[i];
	char text[300];

	if (!c->known || c->insist)
		verify(s, i, h);
	if (h->place != c->have || !c->known)
		c->progress_ms = s->now;
	if (!c->insist && h->place > c->next)
		c->next = h->place;
	if (!c->insist && h->place < c->have) /* it lost what it had, or another took its place */
		back_to(c, h->place);
	c->have = c->insist ? 0 : h->place;
	c->known = true;
	c->description = h->description;
	c->waiting = h->wait;
	if ((h->refused && !c->refused) || (h->wait && strcmp(c->why, h->why) != 0)) {
		snprintf(text, sizeof(text), "the collector %s clock %s: %s",
			 h->refused ? "refuses" : "cannot take", outgoing_clock(s->source, i)->name,
			 h->why);
		tell(s, text);
	}
	snprintf(c->why, sizeof(c->why), "%s", h->why);
	c->refused = h->refused;
	if (h->hole)
		rewind_to_have(s, c);
}

static void take_have(struct sender *s, const struct carrier_event *e)
{
	struct uplink_have *list;
	char problem[200];
	unsigned shard;
	size_t count;

	if (!uplink_take_have(e->body, e->n, &shard, &list, &count, problem, sizeof(problem)))
		return;
	if (*problem)
		tell(s, problem);
	else
		carrier_shard(s->carrier, shard);
	s->heard = s->heard || !*problem;
	for (size_t k = 0; k < count; k++)
		for (size_t i = 0; i < s->n; i++) {
			const struct outgoing_clock *c = outgoing_clock(s->source, i);

			if (!strcmp(c->name, list[k].clock) && !memcmp(c->id, list[k].id, 16))
				take_one(s, i, &list[k]);
		}
	free(list);
}

static int take_events(struct sender *s, struct cvl_error *err)
{
	struct carrier_event e;

	while (carrier_next(s->carrier, &e)) {
		switch (e.kind) {
		case CARRIER_READY:
			s->connected = true;
			s->asked_ms = INT64_MIN / 2;
			break;
		case CARRIER_GONE:
			s->connected = false;
			ground(s);
			break;
		case CARRIER_TAKEN:
		case CARRIER_REFUSED: take_ack(s, &e); break;
		case CARRIER_TOLD: take_have(s, &e); break;
		case CARRIER_PROBLEM: tell(s, e.text); break;
		case CARRIER_CLOSED:
			return cvl_hint(err, CVL_HINT_KEY,
					cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s", e.text));
		case CARRIER_MESSAGE: break;
		}
	}
	return 0;
}

/* ---- what is sent ---- */

static bool fly(struct sender *s, size_t i, const struct uplink_head *head, const void *body,
		size_t n)
{
	const size_t all = sizeof(*head) + n;
	uint8_t *bigger = all > s->message_room ? realloc(s->message, all) : s->message;

	if (!bigger || cvl_room(&s->flight, s->flights, &s->flights_room, sizeof(*s->flight)))
		return false;
	s->message_room = all > s->message_room ? all : s->message_room;
	s->message = bigger;
	memcpy(s->message, head, sizeof(*head));
	memcpy(s->message + sizeof(*head), body, n);
	if (!carrier_send(s->carrier, outgoing_clock(s->source, i)->name, s->message, all,
			  s->ticket + 1))
		return false;
	s->flight[s->flights++] = (struct flight){ ++s->ticket, s->clock[i].next, all, i };
	s->flying += all;
	s->sum.messages++;
	return true;
}

static bool describe(struct sender *s, size_t i)
{
	const struct outgoing_clock *c = outgoing_clock(s->source, i);
	struct clock *k = &s->clock[i];
	struct uplink_head head;

	uplink_seal(&head, UPLINK_DESCRIPTION, c->id, c->n_json, 0, c->description,
		    c->n_json + c->n_text);
	if (!fly(s, i, &head, c->description, c->n_json + c->n_text))
		return false;
	k->described = c->crc;
	k->described_ms = s->now;
	return true;
}

/* The next packets of clock @i. 1: sent; 0: there are none, or not now. */
static int send_some(struct sender *s, size_t i, struct cvl_error *err)
{
	const struct outgoing_clock *c = outgoing_clock(s->source, i);
	struct clock *k = &s->clock[i];
	const size_t largest = carrier_largest(s->carrier);
	size_t max = UPLINK_MESSAGE_MAX;
	struct outgoing_chunk chunk;
	struct uplink_head head;
	int rc;

	if (!k->known || k->refused || k->waiting || !c->description)
		return 0;
	if (c->crc != k->description &&
	    (k->described != c->crc || s->now - k->described_ms > TELL_MS))
		return describe(s, i);
	if (k->next >= c->end || (!k->insist && k->next - k->have >= AHEAD))
		return 0;
	if (largest && largest - sizeof(head) < max)
		max = largest - sizeof(head);
	rc = outgoing_read(s->source, i, k->next, max, &chunk, err);
	if (rc < 0 && k->next) { /* the collector means another stream */
		k->next = 0;
		k->insist = true;
		return 1;
	}
	if (rc <= 0)
		return rc;
	uplink_seal(&head, UPLINK_PACKETS, c->id, chunk.place, chunk.span, chunk.bytes, chunk.n);
	if (!fly(s, i, &head, chunk.bytes, chunk.n))
		return 0;
	if (k->next < k->most)
		s->sum.again += chunk.span;
	k->next += chunk.span;
	k->most = k->next > k->most ? k->next : k->most;
	return 1;
}

/* ---- what is kept ---- */

/* Bytes of clock @i that can go: all, or what the collector has. */
static uint64_t goes(const struct sender *s, size_t i, bool stored)
{
	const struct outgoing_clock *c = outgoing_clock(s->source, i);
	const uint64_t upto = stored ? s->clock[i].have : c->end;

	return c->frees && upto > c->freed ? upto - c->freed : 0;
}

static void tell_lost(struct sender *s, size_t i, uint64_t bytes)
{
	char text[300];

	snprintf(
		text, sizeof(text),
		"%s: no room: %llu bytes of clock %s are gone before the collector confirmed them; it will show a gap",
		s->opts.path, (unsigned long long)bytes, outgoing_clock(s->source, i)->name);
	tell(s, text);
}

/* Free up to *@bytes, always of the clock that has most of what can go. *@bytes: of these, what is left. */
static int free_some(struct sender *s, uint64_t *bytes, bool stored, struct cvl_error *err)
{
	while (*bytes) {
		uint64_t most = 0, lost;
		int64_t got;
		size_t i = 0;

		for (size_t k = 0; k < s->n; k++)
			if (goes(s, k, stored) > most) {
				most = goes(s, k, stored);
				i = k;
			}
		got = most ? outgoing_free(s->source, i,
					   stored ? s->clock[i].have :
						    outgoing_clock(s->source, i)->end,
					   *bytes, err) :
			     0;
		if (got <= 0)
			return (int)got;
		lost = outgoing_clock(s->source, i)->freed;
		lost = lost > s->clock[i].have ? lost - s->clock[i].have : 0;
		lost = lost < (uint64_t)got ? lost : (uint64_t)got;
		s->sum.lost += lost;
		if (lost)
			tell_lost(s, i, lost);
		*bytes -= *bytes < (uint64_t)got ? *bytes : (uint64_t)got;
	}
	return 0;
}

/*
 * Keep within the size: what is stored goes first, and more than has to, so that it is done seldom. What was
 * more than that from the beginning does not go unsent; what comes while the disk is that full does.
 */
static int keep(struct sender *s, struct cvl_error *err)
{
	uint64_t here = 0, over, bytes;
	int rc;

	if (!s->opts.keep)
		return 0;
	for (size_t i = 0; i < s->n; i++)
		here += outgoing_clock(s->source, i)->end - outgoing_clock(s->source, i)->freed;
	if (here > s->opts.keep) {
		over = bytes = here - s->opts.keep + s->opts.keep / 4;
		rc = free_some(s, &bytes, true, err);
		if (rc)
			return rc;
		here -= over - bytes;
	}
	if (!s->most_kept || here < s->most_kept)
		s->most_kept = here > s->opts.keep ? here : s->opts.keep;
	if (here <= s->most_kept)
		return 0;
	bytes = here - s->most_kept + s->most_kept / 16;
	return free_some(s, &bytes, false, err);
}

static int send_all(struct sender *s, struct cvl_error *err)
{
	bool any = true;

	while (any && s->connected && s->now >= s->hold_ms) {
		any = false;
		for (size_t i = 0; i < s->n; i++) {
			int rc;

			/* one message shows whether there is room again */
			if (s->flying >= WINDOW || (s->probing && s->flights))
				return 0;
			rc = send_some(s, i, err);
			if (rc < 0)
				return rc;
			any = any || rc;
		}
	}
	return 0;
}

static void ask(struct sender *s)
{
	struct uplink_have *list = calloc(s->n + 1, sizeof(*list));
	size_t k = 0, n;
	char *text;

	for (size_t i = 0; list && i < s->n && k < UPLINK_CLOCKS_MAX; i++) {
		const struct outgoing_clock *c = outgoing_clock(s->source, i);

		if (!c->description)
			continue;
		snprintf(list[k].clock, sizeof(list[k].clock), "%s", c->name);
		memcpy(list[k++].id, c->id, 16);
	}
	text = list ? uplink_put_ask(list, k, &n) : NULL;
	if (text && carrier_tell(s->carrier, NULL, CARRIER_ASK, text, n))
		s->asked_ms = s->now;
	free(text);
	free(list);
}

/* Whether there is a question: a clock of which nothing is known, or no progress. */
static bool wonders(struct sender *s)
{
	bool any = false;

	for (size_t i = 0; i < s->n; i++) {
		const struct outgoing_clock *c = outgoing_clock(s->source, i);
		struct clock *k = &s->clock[i];
		const bool behind =
			c->description && (k->have < c->end || k->description != c->crc);

		any = any || (c->description && !k->known) || k->waiting;
		if (!behind || k->refused || s->now - k->progress_ms < STALL_MS)
			continue;
		any = true;
		if (s->heard && k->known && !s->probing)
			rewind_to_have(s, k);
	}
	return any;
}

static uint64_t disk_free(const char *path)
{
	struct statvfs v;

	return path && !statvfs(path, &v) ? (uint64_t)v.f_bavail * v.f_frsize : UINT64_MAX;
}

void sender_tell_live(struct sender *s)
{
	struct sender_state state;
	struct uplink_live live;
	size_t n;
	char *text;

	sender_state(s, &state);
	live = (struct uplink_live){
		.backlog = state.bytes - state.stored,
		.disk_free = disk_free(s->opts.path),
		.ended = state.done,
	};
	snprintf(live.version, sizeof(live.version), "%s", COEVAL_VERSION);
	text = uplink_put_live(&live, &n);
	if (text && carrier_tell(s->carrier, NULL, CARRIER_LIVE, text, n))
		s->live_ms = s->now;
	free(text);
}

/* Clocks that the source has found meanwhile. */
static int add_clocks(struct sender *s, struct cvl_error *err)
{
	while (s->n < outgoing_clocks(s->source)) {
		if (cvl_room(&s->clock, s->n, &s->room, sizeof(*s->clock)))
			return cvl_no_memory(err);
		s->clock[s->n++] =
			(struct clock){ .progress_ms = s->now, .rewound_ms = s->now - REWIND_MS };
		s->asked_ms = INT64_MIN / 2;
	}
	return 0;
}

static int until(int64_t at, int64_t now, int wait)
{
	const int64_t left = at - now;

	return left < 0 ? 0 : left < wait ? (int)left : wait;
}

int sender_work(struct sender *s, int64_t now_ms, int *wait_ms, struct cvl_error *err)
{
	int rc;

	s->now = now_ms;
	rc = add_clocks(s, err);
	rc = rc ? rc : take_events(s, err);
	if (rc)
		return rc;
	if (s->connected && wonders(s) && now_ms - s->asked_ms >= ASK_MS)
		ask(s);
	if (s->connected && now_ms - s->live_ms >= LIVE_MS)
		sender_tell_live(s);
	rc = keep(s, err);
	rc = rc ? rc : send_all(s, err);
	*wait_ms = until(s->live_ms + LIVE_MS, now_ms, LIVE_MS);
	if (s->hold_ms > now_ms)
		*wait_ms = until(s->hold_ms, now_ms, *wait_ms);
	if (!s->connected)
		*wait_ms = LIVE_MS;
	return rc;
}

static bool is_done(const struct sender *s, const struct outgoing_clock *c, const struct clock *k)
{
	if (!k->known || k->description != c->crc)
		return false;
	/* of a stream that lost its end the collector has more than there is here */
	return k->insist ? k->next >= c->end && s->now - k->progress_ms >= STALL_MS :
			   k->have >= c->end;
}

void sender_state(const struct sender *s, struct sender_state *state)
{
	bool done = s->heard && !outgoing_grows(s->source);

	*state = s->sum;
	state->connected = s->connected;
	state->heard = s->heard;
	state->clocks = s->n;
	for (size_t i = 0; i < s->n; i++) {
		const struct outgoing_clock *c = outgoing_clock(s->source, i);
		const struct clock *k = &s->clock[i];

		state->bytes += c->end;
		state->stored += k->have < c->end ? k->have : c->end;
		state->freed += c->freed;
		state->given_up += k->refused;
		done = done && (!c->description || k->refused || is_done(s, c, k));
	}
	state->done = done;
}
