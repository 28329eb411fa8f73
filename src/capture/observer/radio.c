/* SPDX-License-Identifier: MIT */
#include "capture/observer/radio.h"

#include "capture/drivers/cc1101/pair.h"
#include "capture/drivers/cc1101/spi.h"

#include <stdlib.h>

#define EARS_MAX 16
#define DRAIN_MAX CC1101_DRAIN_MOST
#define SILENT_NS 3000000000 /* a line that stays high cannot rise: the chip is drained then */

struct radio_ear {
	struct radio *radio;
	struct pair pair;
	struct beacon_heard found[DRAIN_MAX]; /* drained since its last edge */
	size_t n_found;
	uint64_t rate_hz;
	int sent; /* event class */
	struct radio_counters count;
};

struct radio {
	struct cc1101 *chip;
	struct radio_opts opts;
	struct radio_ear *ear[EARS_MAX];
	size_t n_ears;
	uint64_t errors;
	int64_t drained; /* driver_boottime_ns() */
	bool failing;
	void (*tell)(void *ctx, bool problem, const char *text);
	void *ctx;
};

int radio_open(struct radio **out, const struct radio_opts *opts, struct cvl_error *err)
{
	const struct cc1101_profile *profile =
		cc1101_profile_find(opts->profile ? opts->profile : "grace");
	struct radio *r;
	int rc;

	*out = NULL;
	if (!profile)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "unknown radio profile '%s'",
				opts->profile);
	r = calloc(1, sizeof(*r));
	if (!r)
		return cvl_no_memory(err);
	r->opts = *opts;
	rc = cc1101_open(&r->chip, opts->device, profile, err);
	if (rc)
		free(r);
	else
		*out = r;
	return rc;
}

void radio_tell(struct radio *r, void (*tell)(void *ctx, bool problem, const char *text), void *ctx)
{
	r->tell = tell;
	r->ctx = ctx;
}

/*
 * A beacon that was received is there for every ear. A chip that does not answer is reported once,
 * until it answers again.
 */
static void drain(struct radio *r)
{
	struct beacon_heard heard[DRAIN_MAX];
	struct cvl_error err;
	int n = cc1101_drain(r->chip, heard, DRAIN_MAX, &err);

	r->drained = driver_boottime_ns();
	if (n < 0) {
		r->errors++;
		if (!r->failing && r->tell)
			r->tell(r->ctx, true, err.text);
		r->failing = true;
		return;
	}
	if (r->failing && r->tell)
		r->tell(r->ctx, false, "the radio answers again");
	r->failing = false;
	for (size_t e = 0; e < r->n_ears; e++)
		for (int i = 0; i < n; i++)
			if (r->ear[e]->n_found < DRAIN_MAX)
				r->ear[e]->found[r->ear[e]->n_found++] = heard[i];
}

void radio_look(struct radio *r)
{
	if (r->drained && driver_boottime_ns() - r->drained < SILENT_NS)
		return;
	drain(r);
	for (size_t e = 0; e < r->n_ears; e++) {
		pair_found(&r->ear[e]->pair, r->ear[e]->found, r->ear[e]->n_found);
		r->ear[e]->n_found = 0;
	}
}

void radio_close(struct radio *r)
{
	if (!r)
		return;
	cc1101_close(r->chip);
	free(r);
}

/* ---- ears ---- */

struct radio_ear *radio_listen(struct radio *r, uint64_t rate_hz)
{
	const struct pair_opts opts = { .rate_hz = rate_hz,
					.grace_period_ns = (uint64_t)r->opts.period_ns };
	struct radio_ear *e = r->n_ears < EARS_MAX ? calloc(1, sizeof(*e)) : NULL;

	if (!e)
		return NULL;
	e->radio = r;
	e->rate_hz = rate_hz;
	pair_init(&e->pair, &opts);
	r->ear[r->n_ears++] = e;
	return e;
}

int radio_declare(struct radio_ear *e, struct cvl_writer *w, struct cvl_error *err)
{
	static const struct cvl_store_field fields[] = {
		{ "sender", CVL_STORE_U64 },       { "seq", CVL_STORE_U64 },
		{ "sent_ns", CVL_STORE_U64 },      { "utc_ns", CVL_STORE_U64 },
		{ "uncertain_ns", CVL_STORE_U64 },
	};

	e->sent = cvl_writer_declare(w, "beacon_sent", fields, 5, err);
	return e->sent < 0 ? e->sent : 0;
}

static int store(struct radio_ear *e, const struct paired *p, struct cvl_writer *w,
		 struct cvl_error *err)
{
	const struct beacon *b = &p->heard.beacon;
	int rc = cvl_writer_beacon(w, p->tick, b->sender, b->sequence, err);
	const union cvl_store_value values[] = {
		{ .u = b->sender },       { .u = b->sequence },
		{ .u = b->sent_ns },      { .u = (uint64_t)b->utc_s * 1000000000u + b->utc_ns },
		{ .u = b->uncertain_ns },
	};

	if (rc || !(b->flags & BEACON_UTC))
		return rc;
	return cvl_writer_event(w, p->tick, e->sent, values, err);
}

int radio_rise(struct radio_ear *e, struct cvl_tick tick, struct cvl_tick now, struct cvl_writer *w,
	       struct cvl_error *err)
{
	struct paired p;
	bool known;

	pair_clock(&e->pair, now);
	drain(e->radio);
	known = pair_rise(&e->pair, tick, e->found, e->n_found, &p);
	e->n_found = 0;
	if (!known)
		return 0;
	e->count.last_dbm = p.heard.rssi_half_dbm / 2;
	return store(e, &p, w, err);
}

void radio_slip(struct radio_ear *e, uint64_t slack)
{
	if (slack > e->rate_hz / 100000)
		pair_restart(&e->pair);
}

struct radio_counters radio_counters(const struct radio_ear *e)
{
	struct radio_counters c = e->count;
	struct cc1101_counters chip;
	const struct packet_counters *p = &chip.packets;

	cc1101_counters(e->radio->chip, &chip);
	c.paired = e->pair.count.paired;
	c.without = e->pair.count.without;
	c.bare = e->pair.count.bare;
	c.implausible = e->pair.count.implausible;
	c.refused = p->crc + p->length + p->address + p->payload + p->truncated;
	c.errors = e->radio->errors;
	return c;
}

void radio_ear_close(struct radio_ear *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->radio->n_ears; i++)
		if (e->radio->ear[i] == e)
			e->radio->ear[i] = e->radio->ear[--e->radio->n_ears];
	free(e);
}
