/* SPDX-License-Identifier: MIT */
#include "sim/devices/bed.h"

#include "sim/devices/cc1101_chip.h"
#include "sim/devices/syncnode_host.h"
#include "syncnode/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIMER_HZ 84000000u /* of an STM32F401 */
/* The node is turned on this long before the world begins, so that it has settled. */
#define HEAD_START_NS 3e9

/* ---- the sync node ---- */

struct sync_node {
	struct bed *bed;
	struct oscillator osc;
	struct cc1101_chip chip;
	struct sim_random jitter;
	double jitter_ns, air_ns, begin;
	struct sent_beacon *sent;
	size_t n, capacity;
};

static double node_counts(void *ctx, double t)
{
	const struct sync_node *n = ctx;

	return (oscillator_x(&n->osc, t) - oscillator_x(&n->osc, n->begin)) * (TIMER_HZ * 1e-9);
}

static int node_spi(void *ctx, double t, const uint8_t *out, uint8_t *in, unsigned n)
{
	struct sync_node *node = ctx;

	chip_advance(&node->chip, (int64_t)t);
	return chip_transfer(&node->chip, out, in, n);
}

static bool keep(struct sync_node *n, double t, const uint8_t *packet, size_t len)
{
	struct bed *b = n->bed;
	struct beacon beacon;

	if (len < 3 || len > sizeof(b->packet->bytes) ||
	    !beacon_decode(packet + 2, (unsigned)len - 2, &beacon))
		return false;
	if (n->n == n->capacity) {
		size_t more = n->capacity ? 2 * n->capacity : 256;
		struct sent_beacon *sent = realloc(n->sent, more * sizeof(*sent));
		struct bed_packet *p = sent ? realloc(b->packet, more * sizeof(*p)) : NULL;

		n->sent = sent ? sent : n->sent;
		b->packet = p ? p : b->packet;
		if (!sent || !p)
			return false;
		n->capacity = more;
	}
	n->sent[n->n] = (struct sent_beacon){ t + n->air_ns + n->jitter_ns * sim_normal(&n->jitter),
					      beacon.sequence };
	b->packet[n->n] = (struct bed_packet){ .number = beacon.sequence, .n = len };
	memcpy(b->packet[n->n].bytes, packet, len);
	b->n_packets = ++n->n;
	return true;
}

/* What leaves before the world begins is not recorded. */
static void node_sent(void *ctx, double t, const uint8_t *packet, size_t n)
{
	struct sync_node *node = ctx;

	if (t + node->air_ns >= 0 && !keep(node, t, packet, n))
		node->bed->rc = CVL_E_NOMEM;
}

static int run_node(struct sync_node *node, struct cvl_error *err)
{
	const struct world_sender *spec = &node->bed->w->sender[0];
	struct radio_setting settings[SETTINGS_MAX];
	const struct cc1101_profile *grace = &cc1101_profiles[0];
	const struct syncnode_world world = {
		.config = {
			.schedule = { (uint32_t)(spec->period_ns / 1000000), 1, 1 },
			.id = (uint16_t)spec->id,
			.version = BEACON_VERSION,
			.baud = grace->wanted.rate_bd,
			.settings = settings,
			.n_settings = settings_from(settings, &node->bed->radio),
		},
		.timer_hz = TIMER_HZ,
		.begin_ns = -HEAD_START_NS,
		.duration_ns = (double)node->bed->w->duration_ns + HEAD_START_NS,
		.counts = node_counts,
		.spi = node_spi,
		.ctx = node,
	};

	node->begin = world.begin_ns;
	node->air_ns = (double)cc1101_air_ns(node->bed->radio.reg, 1 + BEACON_BYTES);
	if (syncnode_run(&world, node_sent, node, NULL))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"a sync node cannot send every %lld ms",
				(long long)(spec->period_ns / 1000000));
	return node->bed->rc ? cvl_no_memory(err) : 0;
}

int bed_make(struct bed *b, const struct world *w, struct cvl_error *err)
{
	struct sync_node *node = calloc(1, sizeof(*node));
	int rc;

	*b = (struct bed){ .w = w };
	if (!node)
		return cvl_no_memory(err);
	node->bed = b;
	rc = air_make(&b->air, w, err);
	if (!rc && (!w->n_senders || w->sender[0].id < 1 || w->sender[0].id > UINT16_MAX))
		rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			      "a test bed needs a sender with an id from 1 to 65535");
	if (!rc && cc1101_configure(&b->radio, &cc1101_profiles[0].wanted))
		rc = cvl_fail(err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
			      "the radio's default profile is invalid");
	if (!rc)
		rc = oscillator_make(&node->osc, w, &w->sender[0].oscillator, "sync node", err);
	if (!rc) {
		node->jitter = world_random(w->seed, "sync node", "sending");
		node->jitter_ns = w->sender[0].jitter_ns;
		chip_reset(&node->chip, (int64_t)-HEAD_START_NS);
		rc = run_node(node, err);
	}
	if (!rc) {
		free(b->air.sender[0].beacon);
		b->air.sender[0].beacon = node->sent;
		b->air.sender[0].n = node->n;
		node->sent = NULL;
	}
	oscillator_free(&node->osc);
	free(node->sent);
	free(node);
	return rc;
}

void bed_free(struct bed *b)
{
	air_free(&b->air);
	free(b->packet);
	*b = (struct bed){ 0 };
}

/* ---- what a node sees ---- */

static const struct bed_packet *packet_of(const struct bed *b, uint64_t number)
{
	size_t low = 0, high = b->n_packets;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (b->packet[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return low < b->n_packets && b->packet[low].number == number ? &b->packet[low] : NULL;
}

/* Line 0 of a world's clock is its radio's, which is up to the chip here. */
static void take(struct bed_course *c, const struct bed *b, const struct happening *e,
		 uint8_t *pins)
{
	uint64_t tick = clock_stamp(c->clock, &c->osc, e->t);

	if (e->kind == HAPPEN_BEACON) {
		const struct bed_packet *p = packet_of(b, e->number);
		double air = p ? (double)cc1101_air_ns(b->radio.reg, p->bytes[0]) : 0;

		if (p)
			c->heard[c->n_heard++] =
				(struct bed_heard){ (int64_t)(e->t - air), e->t, p };
		return;
	}
	if (e->kind != HAPPEN_EDGE || !e->line || e->line > BED_RADIO_LINE)
		return;
	*pins = (uint8_t)((*pins & ~(1u << (e->line - 1))) | (unsigned)e->level << (e->line - 1));
	if (c->n_edges && c->edge[c->n_edges - 1].tick == tick)
		c->edge[c->n_edges - 1].pins = *pins;
	else
		c->edge[c->n_edges++] = (struct bed_edge){ tick, *pins };
}

/* Within one sample a pin may go and come back: then nothing is seen. */
static void drop_unseen(struct bed_course *c)
{
	uint8_t before = 0;
	size_t kept = 0;

	for (size_t i = 0; i < c->n_edges; i++) {
		if (c->edge[i].pins != before)
			c->edge[kept++] = c->edge[i];
		before = c->edge[i].pins;
	}
	c->n_edges = kept;
}

int bed_course_make(struct bed_course *c, const struct bed *b, size_t i, struct cvl_error *err)
{
	struct happenings h = { 0 };
	uint8_t pins = 0;
	int rc;

	*c = (struct bed_course){ .clock = &b->air.clock[i] };
	rc = oscillator_make(&c->osc, b->w, &c->clock->group->oscillator, c->clock->name, err);
	if (!rc)
		rc = clock_happenings(&h, &b->air, c->clock, err);
	if (!rc) {
		c->edge = malloc((h.n + 1) * sizeof(*c->edge));
		c->heard = malloc((h.n + 1) * sizeof(*c->heard));
		if (!c->edge || !c->heard)
			rc = cvl_no_memory(err);
	}
	for (size_t k = 0; k < h.n && !rc; k++)
		take(c, b, &h.at[k], &pins);
	drop_unseen(c);
	free(h.at);
	return rc;
}

void bed_course_free(struct bed_course *c)
{
	oscillator_free(&c->osc);
	free(c->edge);
	free(c->heard);
	*c = (struct bed_course){ 0 };
}

double bed_time(const struct bed_course *c, uint64_t tick)
{
	return oscillator_when(&c->osc,
			       oscillator_x(&c->osc, c->clock->start) +
				       (double)tick * 1e9 / (double)c->clock->group->rate_hz);
}
