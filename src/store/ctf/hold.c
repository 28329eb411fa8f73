/* SPDX-License-Identifier: MIT */
#include "store/ctf/hold.h"
#include "store/ctf/internal.h"

#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>
#include <coeval/error.h>

struct held {
	uint64_t tick, number; /* number: in the order in which they came */
	uint64_t value, aux, bracket;
	struct cvl_packet *packet;
	uint32_t cls;
	uint8_t kind, flags;
};

struct hold {
	uint64_t disorder, number;
	uint64_t max, gone; /* latest tick that came, and that was released */
	uint64_t late;
	size_t batch;
	bool bracketed;
	struct cvl_packet *packet, *shown;
	struct held *heap; /* held back; by tick, then number */
	size_t n, room;
	struct held *out; /* ready: [taken, n_out) */
	size_t taken, n_out, room_out;

	/* the batch */
	struct cvl_tick *tick;
	uint64_t *value, *aux, *bracket;
	uint32_t *cls;
	uint8_t *kind, *flags;
};

struct hold *hold_new(uint64_t disorder, size_t batch)
{
	struct hold *h = calloc(1, sizeof(*h));
	const size_t n = batch && batch < CVL_BATCH_MAX ? batch : CVL_BATCH_MAX;

	if (!h)
		return NULL;
	h->disorder = disorder;
	h->batch = n;
	h->tick = malloc(n * (sizeof(*h->tick) + 3 * sizeof(*h->value) + sizeof(*h->cls) + 2));
	if (!h->tick) {
		free(h);
		return NULL;
	}
	h->value = (uint64_t *)(h->tick + n);
	h->aux = h->value + n;
	h->bracket = h->aux + n;
	h->cls = (uint32_t *)(h->bracket + n);
	h->kind = (uint8_t *)(h->cls + n);
	h->flags = h->kind + n;
	return h;
}

static void let_go(struct cvl_packet *p)
{
	if (p && !--p->uses)
		free(p);
}

void hold_free(struct hold *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->n; i++)
		let_go(h->heap[i].packet);
	for (size_t i = h->taken; i < h->n_out; i++)
		let_go(h->out[i].packet);
	let_go(h->packet);
	let_go(h->shown);
	free(h->heap);
	free(h->out);
	free(h->tick);
	free(h);
}

int hold_packet(struct hold *h, const struct cvl_packet *packet, size_t n)
{
	struct cvl_packet *p;

	if (h->packet && h->packet->number == packet->number)
		return 0;
	p = malloc(sizeof(*p) + n * sizeof(*p->slot));
	if (!p)
		return CVL_E_NOMEM;
	memcpy(p, packet, sizeof(*p) + n * sizeof(*p->slot));
	p->uses = 1;
	let_go(h->packet);
	h->packet = p;
	return 0;
}

/* ---- heap ---- */

static bool earlier(const struct held *a, const struct held *b)
{
	return a->tick != b->tick ? a->tick < b->tick : a->number < b->number;
}

static int push(struct hold *h, const struct held *r)
{
	size_t i = h->n;

	if (cvl_room(&h->heap, h->n, &h->room, sizeof(*h->heap)))
		return CVL_E_NOMEM;
	for (h->n++; i && earlier(r, &h->heap[(i - 1) / 2]); i = (i - 1) / 2)
		h->heap[i] = h->heap[(i - 1) / 2];
	h->heap[i] = *r;
	return 0;
}

static struct held pop(struct hold *h)
{
	const struct held top = h->heap[0], last = h->heap[--h->n];
	size_t i = 0;

	for (size_t child = 1; child < h->n; child = 2 * i + 1) {
		if (child + 1 < h->n && earlier(&h->heap[child + 1], &h->heap[child]))
			child++;
		if (!earlier(&h->heap[child], &last))
			break;
		h->heap[i] = h->heap[child];
		i = child;
	}
	h->heap[i] = last;
	return top;
}

/* ---- in and out ---- */

/* Move to the output what nothing older can come before. */
static int release(struct hold *h, bool all)
{
	while (h->n && (all || h->n > HOLD_MAX / CVL_BATCH_MAX * h->batch ||
			(h->max >= h->disorder && h->heap[0].tick <= h->max - h->disorder))) {
		struct held *r;

		if (cvl_room(&h->out, h->n_out, &h->room_out, sizeof(*h->out)))
			return CVL_E_NOMEM;
		r = &h->out[h->n_out++];
		*r = pop(h);
		r->flags &= (uint8_t)~CVL_LATE;
		if (r->tick < h->gone) {
			r->flags |= CVL_LATE;
			h->late++;
		} else {
			h->gone = r->tick;
		}
	}
	return 0;
}

int hold_add(struct hold *h, const struct cvl_batch *b)
{
	int rc = 0;

	h->bracketed = h->bracketed || b->bracket;
	for (size_t i = 0; i < b->n && !rc; i++) {
		struct held r = { .tick = b->tick[i].count,
				  .number = h->number++,
				  .value = b->value[i],
				  .aux = b->aux[i],
				  .bracket = b->bracket ? b->bracket[i] : 0,
				  .packet = h->packet,
				  .cls = b->cls[i],
				  .kind = b->kind[i],
				  .flags = b->flags[i] };

		rc = push(h, &r);
		if (rc)
			break;
		if (h->packet)
			h->packet->uses++;
		h->max = r.tick > h->max ? r.tick : h->max;
		rc = release(h, false);
	}
	return rc;
}

int hold_advance(struct hold *h, uint64_t tick)
{
	h->max = tick > h->max ? tick : h->max;
	return release(h, false);
}

int hold_end(struct hold *h)
{
	return release(h, true);
}

bool hold_take(struct hold *h, struct cvl_batch *b)
{
	size_t n = 0;

	while (h->taken < h->n_out && n < h->batch && (!n || h->out[h->taken].packet == h->shown)) {
		const struct held *r = &h->out[h->taken++];

		h->tick[n].count = r->tick;
		h->value[n] = r->value;
		h->aux[n] = r->aux;
		h->bracket[n] = r->bracket;
		h->cls[n] = r->cls;
		h->kind[n] = r->kind;
		h->flags[n] = r->flags;
		let_go(h->shown); /* the record's use of its packet is the batch's now */
		h->shown = r->packet;
		n++;
	}
	if (h->taken == h->n_out)
		h->taken = h->n_out = 0;
	*b = (struct cvl_batch){
		.n = n,
		.tick = h->tick,
		.kind = h->kind,
		.flags = h->flags,
		.cls = h->cls,
		.value = h->value,
		.aux = h->aux,
		.bracket = h->bracketed ? h->bracket : NULL,
		.packet = h->shown,
	};
	return n > 0;
}

uint64_t hold_late(const struct hold *h)
{
	return h->late;
}
