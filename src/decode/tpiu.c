/* SPDX-License-Identifier: MIT */
#include "decode/tpiu.h"

#include <limits.h>
#include <string.h>

#define FULL_SYNC 0xffffff7fu
#define TRIGGER 0x7d
/* Minimum number of frames for finding where they begin. */
#define ENOUGH 3

void tpiu_init(struct tpiu *t, const struct tpiu_sink *sink)
{
	memset(t, 0, sizeof(*t));
	t->sink = *sink;
	t->stream = TPIU_UNKNOWN;
}

static bool reserved(unsigned stream)
{
	return stream >= 0x70 && stream != TRIGGER;
}

/* ---- frames ---- */

/* A position in a frame: a switch of stream, or a byte of a stream. */
struct place {
	bool id;
	uint8_t value;
	bool later; /* the switch takes effect after the next byte */
};

static struct place even_place(const struct tpiu_raw *frame, unsigned k)
{
	uint8_t byte = frame[k].value;
	bool flag = frame[TPIU_FRAME - 1].value >> (k / 2) & 1;

	if (byte & 1)
		return (struct place){ .id = true, .value = byte >> 1, .later = flag };
	return (struct place){ .value = (uint8_t)(byte | flag) };
}

/* Callbacks for each position of a frame: used for decoding, and for trying frames. */
struct walk {
	bool (*byte)(void *ctx, uint8_t stream, uint8_t value); /* false: impossible */
	void *ctx;
	unsigned ids;
};

static bool walk_frame(struct walk *w, const struct tpiu_raw *frame, uint8_t *stream)
{
	for (unsigned k = 0; k < TPIU_FRAME - 1; k++) {
		struct place p = even_place(frame, k);
		uint8_t before = *stream;

		if (p.id) {
			if (reserved(p.value))
				return false;
			w->ids++;
			*stream = p.value;
		} else if (!w->byte(w->ctx, *stream, p.value)) {
			return false;
		}
		if (++k == TPIU_FRAME - 1)
			break;
		if (!w->byte(w->ctx, p.id && p.later ? before : *stream, frame[k].value))
			return false;
	}
	return true;
}

/* Padding is zero, so anything else shows that frames do not begin here. */
static bool may_be(void *ctx, uint8_t stream, uint8_t value)
{
	(void)ctx;
	return stream || !value;
}

struct emit {
	struct tpiu *t;
	uint64_t from, to;
};

static bool emit(void *ctx, uint8_t stream, uint8_t value)
{
	struct emit *e = ctx;
	struct tpiu_counts *c = &e->t->counts;

	if (!stream) {
		c->padding++;
		return true;
	}
	c->data++;
	c->stream[stream]++;
	e->t->sink.byte(e->t->sink.ctx, &(struct tpiu_byte){ e->from, e->to, stream, value });
	return true;
}

/*
 * Whether the 16 bytes at @frame can be a frame that begins in @stream; sets @stream to that at its
 * end.
 */
static bool try_frame(const struct tpiu_raw *frame, uint8_t *stream, unsigned *ids)
{
	struct walk w = { .byte = may_be };
	bool good = walk_frame(&w, frame, stream);

	*ids += w.ids;
	return good;
}

static void take_frame(struct tpiu *t, const struct tpiu_raw *frame)
{
	struct emit e = { t, frame[0].from, frame[TPIU_FRAME - 1].to };
	struct walk w = { .byte = emit, .ctx = &e };

	walk_frame(&w, frame, &t->stream);
	t->counts.ids += w.ids;
	t->counts.flags++;
	t->counts.frames++;
}

/* ---- the current frame ---- */

static void forget(struct tpiu *t, unsigned n)
{
	t->n -= n;
	memmove(t->held, t->held + n, t->n * sizeof(*t->held));
}

/* Drop the first @n bytes. */
static void skip(struct tpiu *t, unsigned n)
{
	if (!n)
		return;
	t->counts.skipped += n;
	t->sink.hole(t->sink.ctx, t->held[0].from, t->held[n - 1].to);
	forget(t, n);
}

/* The current bytes are not a frame. */
static void lose(struct tpiu *t)
{
	skip(t, t->n);
	t->framed = false;
	t->stream = TPIU_UNKNOWN;
	t->counts.losses++;
}

/* ---- where frames begin ---- */

/* Number of frames from position @phase on, or 0 if one is impossible. @ids: switches in them. */
static unsigned fits(const struct tpiu *t, unsigned phase, unsigned *ids)
{
	uint8_t stream = TPIU_UNKNOWN;
	unsigned n = 0;

	*ids = 0;
	for (unsigned k = phase; k + TPIU_FRAME <= t->n; k += TPIU_FRAME, n++)
		if (!try_frame(&t->held[k], &stream, ids))
			return 0;
	return n;
}

/*
 * The position where frames fit, or if several do the one with the fewest switches; TPIU_FRAME if
 * none does.
 */
static unsigned best_phase(const struct tpiu *t)
{
	unsigned best = TPIU_FRAME, fewest = UINT_MAX;

	for (unsigned phase = 0; phase < TPIU_FRAME; phase++) {
		unsigned ids, n = fits(t, phase, &ids);

		if (n >= ENOUGH && ids && ids < fewest) {
			best = phase;
			fewest = ids;
		}
	}
	return best;
}

static void guess(struct tpiu *t)
{
	unsigned phase = best_phase(t);

	if (phase == TPIU_FRAME) {
		skip(t, t->n / 2);
		return;
	}
	t->counts.guesses++;
	t->framed = true;
	skip(t, phase);
	while (t->n >= TPIU_FRAME) {
		take_frame(t, t->held);
		forget(t, TPIU_FRAME);
	}
}

/* ---- bytes ---- */

static void full_sync(struct tpiu *t)
{
	unsigned mine = t->n < 4 ? t->n : 4;

	/* Where it was expected, the stream continues. */
	if (!t->framed || t->n != 4)
		t->stream = TPIU_UNKNOWN;
	/* Fewer than four held: the others were skipped. */
	skip(t, t->n - mine);
	forget(t, mine);
	t->counts.sync += mine;
	t->counts.full_syncs++;
	t->framed = true;
}

static void framed(struct tpiu *t)
{
	unsigned k = t->n - 1;
	unsigned ids = 0;
	uint8_t stream = t->stream;

	if (k & 1 && t->held[k - 1].value == 0xff) {
		if (t->held[k].value == 0x7f) {
			t->n -= 2;
			t->counts.sync += 2;
			return;
		}
		if (t->held[k].value != 0xff || t->n == TPIU_FRAME) {
			lose(t);
			return;
		}
	}
	if (k & 1 && k >= 3 && t->held[k - 3].value == 0xff) {
		/* FF FF, and then no 7F: no synchronisation. */
		lose(t);
		return;
	}
	if (t->n < TPIU_FRAME)
		return;
	if (try_frame(t->held, &stream, &ids)) {
		take_frame(t, t->held);
		forget(t, TPIU_FRAME);
	} else {
		lose(t);
	}
}

void tpiu_feed(struct tpiu *t, uint8_t byte, uint64_t from, uint64_t to)
{
	t->counts.taken++;
	t->held[t->n++] = (struct tpiu_raw){ from, to, byte };
	t->last = t->last << 8 | byte;
	if (t->last == FULL_SYNC)
		full_sync(t);
	else if (t->framed)
		framed(t);
	else if (t->n == TPIU_LEARN && !t->counts.full_syncs)
		guess(t);
	else if (t->n == TPIU_LEARN)
		skip(t, TPIU_LEARN - 4);
}

void tpiu_hole(struct tpiu *t)
{
	t->last = 0;
	lose(t);
}

void tpiu_end(struct tpiu *t)
{
	if (!t->framed && !t->counts.full_syncs && t->n >= ENOUGH * TPIU_FRAME)
		guess(t);
	skip(t, t->n);
}
