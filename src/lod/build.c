/* SPDX-License-Identifier: MIT */
#include "lod/build.h"

#include <stdlib.h>
#include <string.h>

/* An open bucket. */
struct lod_level {
	bool open;
	uint64_t bucket;
	struct cvl_levels before, after;
	uint64_t lines; /* that changed in it */
	/*
	 * By track. While the bucket is open, the ticks of a line are those at which it fell, less
	 * those at which it rose, all from the bucket's first.
	 */
	struct cvl_lod_sum *sum;
	uint32_t *touched; /* tracks that are not lines */
	size_t n_touched;
	struct cvl_lod_sum *told; /* room for a cell's */
};

static uint64_t bucket_begin(uint64_t bucket, unsigned level)
{
	return bucket << 2 * level;
}

int lod_build_begin(struct lod_build *b)
{
	b->level = calloc(CVL_LOD_LEVELS, sizeof(*b->level));
	for (unsigned k = b->leaf; b->level && k <= b->top; k++) {
		struct lod_level *l = &b->level[k];

		l->sum = calloc(b->tracks, sizeof(*l->sum));
		l->told = calloc(b->tracks, sizeof(*l->told));
		l->touched = calloc(b->tracks, sizeof(*l->touched));
		if (!l->sum || !l->told || !l->touched) {
			lod_build_free(b);
			return CVL_E_NOMEM;
		}
		for (uint32_t i = 0; i < b->tracks; i++)
			l->sum[i].track = i;
	}
	return b->level ? 0 : CVL_E_NOMEM;
}

void lod_build_free(struct lod_build *b)
{
	for (unsigned k = 0; b->level && k < CVL_LOD_LEVELS; k++) {
		free(b->level[k].sum);
		free(b->level[k].told);
		free(b->level[k].touched);
	}
	free(b->level);
	b->level = NULL;
}

/* ---- a level ---- */

static void open_bucket(struct lod_level *l, uint64_t bucket, const struct cvl_levels *levels)
{
	l->open = true;
	l->bucket = bucket;
	l->before = l->after = *levels;
}

/* The sum of @track, which is not a line. */
static struct cvl_lod_sum *touch(struct lod_level *l, uint32_t track)
{
	struct cvl_lod_sum *s = &l->sum[track];

	if (!s->count)
		l->touched[l->n_touched++] = track;
	return s;
}

static int by_track(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Its cell, after which it is closed. */
static struct cvl_lod_cell close_bucket(struct lod_level *l, unsigned level)
{
	const uint64_t width = bucket_begin(1, level);
	struct cvl_lod_cell c = { l->bucket, l->before, l->after, 0, l->told };

	for (uint64_t left = l->lines; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);

		if (l->after.now >> i & 1)
			l->sum[i].ticks += width;
		l->told[c.n++] = l->sum[i];
		l->sum[i].count = l->sum[i].ticks = 0;
	}
	if (l->n_touched > 1)
		qsort(l->touched, l->n_touched, sizeof(*l->touched), by_track);
	for (size_t k = 0; k < l->n_touched; k++) {
		const uint32_t track = l->touched[k];

		l->told[c.n++] = l->sum[track];
		l->sum[track] = (struct cvl_lod_sum){ .track = track };
	}
	l->lines = 0;
	l->n_touched = 0;
	l->open = false;
	return c;
}

static void add_sum(struct cvl_lod_sum *to, const struct cvl_lod_sum *s, uint64_t later)
{
	const uint64_t reach = s->ticks ? later + s->ticks : 0;

	if (!to->count || s->min < to->min)
		to->min = s->min;
	if (!to->count || s->max > to->max)
		to->max = s->max;
	to->total += s->total;
	to->count += s->count;
	if (reach > to->ticks)
		to->ticks = reach;
}

/* What completes buckets, and to whom. */
struct pass {
	struct lod_level *level;
	unsigned top;
	int (*emit)(void *ctx, unsigned level, const struct cvl_lod_cell *cell);
	void *ctx;
};

/* Close the bucket of level @k, and add it to the one above. */
static int complete(const struct pass *p, unsigned k)
{
	const struct cvl_lod_cell c = close_bucket(&p->level[k], k);
	const uint64_t begin = bucket_begin(c.bucket, k);
	struct lod_level *up = &p->level[k + 1];
	int rc = p->emit(p->ctx, k, &c);

	if (rc || k == p->top)
		return rc;
	if (up->open && up->bucket != c.bucket >> 2)
		rc = complete(p, k + 1);
	if (rc)
		return rc;
	if (!up->open)
		open_bucket(up, c.bucket >> 2, &c.before);
	for (size_t i = 0; i < c.n; i++) {
		const struct cvl_lod_sum *s = &c.sum[i];
		const uint64_t up_begin = bucket_begin(up->bucket, k + 1);

		if (s->track >= LOD_LINES) {
			add_sum(touch(up, s->track), s, begin - up_begin);
			continue;
		}
		up->lines |= (uint64_t)1 << s->track;
		up->sum[s->track].ticks += s->ticks;
		if (c.before.now >> s->track & 1)
			up->sum[s->track].ticks += begin - up_begin;
		if (c.after.now >> s->track & 1)
			up->sum[s->track].ticks -= begin - up_begin + bucket_begin(1, k);
		up->sum[s->track].count += s->count;
	}
	up->after = c.after;
	return 0;
}

/* ---- records ---- */

/* Lines @changed at @ticks after the bucket's begin, from levels @old. */
static inline void change(struct lod_level *l, uint64_t changed, uint64_t old, uint64_t ticks,
			  uint64_t counted)
{
	l->lines |= changed;
	for (; changed; changed &= changed - 1) {
		const unsigned line = (unsigned)__builtin_ctzll(changed);
		struct cvl_lod_sum *s = &l->sum[line];
		const uint64_t rose = (old >> line & 1) - 1; /* all ones, or 0 */

		s->ticks += (ticks ^ rose) - rose;
		s->count += counted >> line & 1;
	}
}

static void edge(struct lod_build *b, struct lod_level *l, const struct cvl_batch *batch, size_t i,
		 uint64_t ticks)
{
	const struct cvl_levels old = b->levels;
	const uint64_t counted = cvl_levels_take(&b->levels, batch, i);

	change(l, old.now ^ b->levels.now, old.now, ticks,
	       batch->flags[i] & CVL_STATE ? 0 : counted);
}

/*
 * edge() for nearly all records: edges in order, all levels known, in the open bucket, from record @i
 * on. Returns how many.
 */
static size_t edges(struct lod_build *b, struct lod_level *l, const struct cvl_batch *batch,
		    size_t i, uint64_t begin, uint64_t width)
{
	const size_t from = i;
	uint64_t now = b->levels.now, last = b->last;

	if (~b->levels.known)
		return 0;
	for (; i < batch->n; i++) {
		const uint64_t tick = batch->tick[i].count, value = batch->value[i];

		if (batch->kind[i] != CVL_EDGE || batch->flags[i] || batch->aux[i] || tick < last ||
		    tick - begin >= width)
			break;
		change(l, now ^ value, now, tick - begin, UINT64_MAX);
		now = value;
		last = tick;
	}
	b->levels.now = now;
	b->last = last;
	return i - from;
}

static void reading(struct cvl_lod_sum *s, uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	if (!s->count || v < s->min)
		s->min = v;
	if (!s->count || v > s->max)
		s->max = v;
	s->total += v;
	s->count++;
}

static void gap(struct lod_build *b, struct lod_level *l, const struct cvl_batch *batch, size_t i,
		uint64_t tick, uint64_t begin)
{
	struct cvl_lod_sum *s = touch(l, LOD_KINDS + CVL_GAP);
	const uint64_t end =
		batch->aux[i] == CVL_TICK_UNKNOWN || batch->aux[i] < tick ? tick : batch->aux[i];

	s->count++;
	if (end + 1 - begin > s->ticks)
		s->ticks = end + 1 - begin;
	b->levels.known = 0;
}

int lod_build_push(struct lod_build *b, const struct cvl_batch *batch)
{
	struct lod_level *l = &b->level[b->leaf];
	const struct pass p = { b->level, b->top, b->emit, b->ctx };

	for (size_t i = 0; i < batch->n; i++) {
		const uint64_t tick =
			b->any && batch->tick[i].count < b->last ? b->last : batch->tick[i].count;
		const uint64_t bucket = tick >> 2 * b->leaf, begin = bucket_begin(bucket, b->leaf);
		uint32_t track;

		if (l->open && l->bucket != bucket) {
			int rc = complete(&p, b->leaf);

			if (rc)
				return rc;
		}
		if (!l->open)
			open_bucket(l, bucket, &b->levels);
		if (!b->any)
			b->first = tick;
		b->any = true;
		b->last = tick;
		switch (batch->kind[i]) {
		case CVL_EDGE:
			if (!(batch->flags[i] & CVL_LATE))
				edge(b, l, batch, i, tick - begin);
			i += edges(b, l, batch, i + 1, begin, bucket_begin(1, b->leaf));
			break;
		case CVL_GAP: gap(b, l, batch, i, tick, begin); break;
		case CVL_SAMPLE:
			if (batch->cls[i] < b->channels)
				reading(touch(l, LOD_CHANNELS + batch->cls[i]), batch->value[i]);
			break;
		case CVL_EVENT:
		case CVL_BEGIN:
			track = LOD_CHANNELS + (uint32_t)b->channels + batch->cls[i];
			if (track < b->tracks)
				touch(l, track)->count++;
			break;
		case CVL_END: break;
		default: touch(l, LOD_KINDS + batch->kind[i])->count++;
		}
		l->after = b->levels;
	}
	return 0;
}

int lod_build_tail(const struct lod_build *b,
		   int (*emit)(void *ctx, unsigned level, const struct cvl_lod_cell *cell),
		   void *ctx)
{
	struct lod_build copy = *b;
	int rc = lod_build_begin(&copy);
	const struct pass p = { copy.level, b->top, emit, ctx };

	for (unsigned k = b->leaf; k <= b->top && !rc; k++) {
		struct lod_level *to = &copy.level[k];
		const struct lod_level *from = &b->level[k];
		struct lod_level own = *to;

		*to = *from;
		to->sum = own.sum;
		to->told = own.told;
		to->touched = own.touched;
		memcpy(to->sum, from->sum, b->tracks * sizeof(*to->sum));
		memcpy(to->touched, from->touched, from->n_touched * sizeof(*to->touched));
	}
	for (unsigned k = b->leaf; k <= b->top && !rc; k++)
		if (copy.level[k].open)
			rc = complete(&p, k);
	lod_build_free(&copy);
	return rc;
}
