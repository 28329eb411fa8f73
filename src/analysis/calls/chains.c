/* SPDX-License-Identifier: MIT */
/* Chains: spans of which each is caused by a message sent in the one before, and how long they take. */
#include <stdlib.h>

#include "analysis/calls/internal.h"
#include <coeval/array.h>

/* Messages under way whose chain is remembered; a power of two. */
#define SENT 65536
#define SAMPLE 1024

static int find_chain(struct calls *c, uint32_t before, uint32_t function, uint32_t *out)
{
	const uint64_t key = (uint64_t)(before + 1) << 32 | function;
	const uint32_t *known = calls_pairs_find(&c->chains, key);

	*out = CVL_CALLS_NONE;
	if (known)
		*out = *known;
	if (known || c->n_chains == CALLS_CHAINS_MAX)
		return 0;
	if (cvl_room(&c->chain, c->n_chains, &c->room_chains, sizeof(*c->chain)) ||
	    calls_pairs_add(&c->chains, key, (uint32_t)c->n_chains))
		return -1;
	c->chain[c->n_chains] = (struct chain){
		.pub = { .before = before,
			 .function = function,
			 .length = before == CVL_CALLS_NONE ? 1 : c->chain[before].pub.length + 1,
			 .min = INT64_MAX,
			 .max = INT64_MIN },
	};
	*out = (uint32_t)c->n_chains++;
	return 0;
}

int calls_chain(struct calls *c, uint32_t thread, struct cvl_error *err)
{
	struct thread *t = c->thread[thread];
	struct frame *f = t->n && !t->too_deep ? &t->frame[t->n - 1] : NULL;
	const bool goes_on = t->carried.number;

	if (!f)
		return 0;
	if (find_chain(c, goes_on ? t->carried.chain : CVL_CALLS_NONE, f->function, &f->chain))
		return cvl_no_memory(err);
	f->root = goes_on ? t->carried.root : f->begin;
	t->carried.number = 0;
	return 0;
}

void calls_anew(struct calls *c, uint32_t thread)
{
	c->thread[thread]->carried.number = 0;
}

int calls_chain_sends(struct calls *c, uint32_t thread, uint64_t number, struct cvl_error *err)
{
	const struct thread *t = c->thread[thread];
	size_t i = t->n;

	while (i && t->frame[i - 1].chain == CVL_CALLS_NONE)
		i--;
	if (!i)
		return 0;
	if (!c->sent && !(c->sent = calloc(SENT, sizeof(*c->sent))))
		return cvl_no_memory(err);
	c->sent[number & (SENT - 1)] =
		(struct carried){ number, t->frame[i - 1].chain, t->frame[i - 1].root };
	return 0;
}

void calls_chain_receives(struct calls *c, uint32_t thread, uint64_t number)
{
	const struct carried *m = c->sent ? &c->sent[number & (SENT - 1)] : NULL;

	c->thread[thread]->carried = m && m->number == number ? *m : (struct carried){ 0 };
}

/* Every length is equally likely in the sample (Vitter 1985, algorithm R). */
static void add_sample(struct calls *c, struct chain *k, int64_t ns)
{
	uint64_t at = k->pub.n - 1;

	if (k->pub.n > SAMPLE)
		at = calls_mix(++c->draws) % k->pub.n;
	if (at >= SAMPLE)
		return;
	if (k->pub.n <= SAMPLE && cvl_room(&k->sample, (size_t)at, &k->room, sizeof(*k->sample))) {
		c->no_memory = true;
		return;
	}
	k->sample[at] = ns;
}

void chain_ends(struct calls *c, const struct frame *f, struct cvl_calls_time at)
{
	struct chain *k;
	int64_t ns;

	if (f->chain == CVL_CALLS_NONE)
		return;
	k = &c->chain[f->chain];
	if (__builtin_sub_overflow(at.ns, f->root.ns, &ns))
		return;
	k->pub.n++;
	k->pub.sum = cvl_add_sat(k->pub.sum, ns);
	k->pub.min = ns < k->pub.min ? ns : k->pub.min;
	if (ns > k->pub.max) {
		k->pub.max = ns;
		k->pub.begin = f->root;
		k->pub.end = at;
	}
	add_sample(c, k, ns);
}

size_t calls_chains(const struct calls *c)
{
	return c->n_chains;
}

const struct cvl_calls_chain *calls_chain_at(const struct calls *c, size_t i)
{
	return &c->chain[i].pub;
}

static int by_value(const void *va, const void *vb)
{
	const int64_t *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

int64_t calls_chain_quantile(const struct calls *c, size_t i, double q)
{
	struct chain *k = &c->chain[i];
	const size_t n = k->pub.n < SAMPLE ? (size_t)k->pub.n : SAMPLE;

	if (!n)
		return 0;
	qsort(k->sample, n, sizeof(*k->sample), by_value);
	return k->sample[(size_t)(q * (double)(n - 1) + 0.5)];
}
