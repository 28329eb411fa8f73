/* SPDX-License-Identifier: MIT */
#include "swo_pipe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void pass(struct swo_pipe *p, const struct itm_packet *packet, struct itm_when when)
{
	if (!p->rc)
		p->rc = p->sink.packet(p->sink.ctx, packet, when, p->err);
	p->last = when.to;
}

/* Consecutive broken bytes are one gap. */
static void flush_bad(struct swo_pipe *p)
{
	if (p->is_bad && !p->rc)
		p->rc = p->sink.gap(p->sink.ctx, p->bad,
				    p->ending ? CVL_GAP_TRUNCATED : CVL_GAP_CORRUPT, p->err);
	if (p->is_bad)
		p->last = p->bad.to;
	p->is_bad = false;
}

/* When @packet, whose last byte was at @now, was on the line. */
static struct itm_when when_of(const struct swo_pipe *p, const struct itm_packet *packet,
			       struct itm_when now)
{
	/* Only the end of a long one is in the ring: it began after the previous one. */
	if (packet->length > SWO_RING || packet->kind == ITM_BAD)
		return (struct itm_when){ p->last < now.to ? p->last : now.to, now.to };
	return (struct itm_when){ p->ring[packet->at % SWO_RING].from, now.to };
}

static void itm_byte(struct swo_pipe *p, uint8_t byte, struct itm_when when)
{
	struct itm_packet out[2];
	size_t used, n;

	flush_bad(p);
	p->ring[p->itm.at % SWO_RING] = when;
	n = itm_feed(&p->itm, &byte, 1, out, 2, &used);
	for (size_t i = 0; i < n; i++)
		pass(p, &out[i], when_of(p, &out[i], when));
}

static void itm_broken(struct swo_pipe *p, struct itm_when when)
{
	struct itm_packet out;

	/* A truncated packet is part of the gap. */
	if (itm_hole(&p->itm, &out) && !p->is_bad && p->last < when.from)
		when.from = p->last;
	if (!p->is_bad)
		p->bad = when;
	p->bad.to = when.to;
	p->is_bad = true;
}

static void frame_byte(void *ctx, const struct tpiu_byte *b)
{
	struct swo_pipe *p = ctx;

	if (b->stream == p->stream)
		itm_byte(p, b->value, (struct itm_when){ b->from, b->to });
}

static void frame_hole(void *ctx, uint64_t from, uint64_t to)
{
	itm_broken(ctx, (struct itm_when){ from, to });
}

void swo_pipe_init(struct swo_pipe *p, unsigned stream, const struct swo_sink *sink,
		   struct cvl_error *err)
{
	const struct tpiu_sink frames = { frame_byte, frame_hole, p };

	memset(p, 0, sizeof(*p));
	p->sink = *sink;
	p->err = err;
	p->framed = stream;
	p->stream = stream;
	itm_init(&p->itm);
	tpiu_init(&p->tpiu, &frames);
}

int swo_pipe_hole(struct swo_pipe *p, struct itm_when when)
{
	if (p->framed)
		tpiu_hole(&p->tpiu);
	itm_broken(p, when);
	return p->rc;
}

int swo_pipe_byte(struct swo_pipe *p, const struct line_byte *b)
{
	const struct itm_when when = { b->from, b->to };

	if (b->broken)
		return swo_pipe_hole(p, when);
	if (p->framed)
		tpiu_feed(&p->tpiu, b->value, b->from, b->to);
	else
		itm_byte(p, b->value, when);
	return p->rc;
}

int swo_pipe_end(struct swo_pipe *p)
{
	struct itm_packet out;

	flush_bad(p);
	p->ending = true;
	if (p->framed)
		tpiu_end(&p->tpiu);
	if (itm_end(&p->itm, &out))
		itm_broken(p, when_of(p, &out, p->ring[(p->itm.at - 1) % SWO_RING]));
	flush_bad(p);
	return p->rc;
}

/* If more than one byte in this many fits no frame, there are no frames. */
#define LOST 4

/* List the streams found, as "1, 2". */
static size_t list_streams(const struct tpiu_counts *c, char *text, size_t room)
{
	size_t n = 0;

	*text = '\0';
	for (unsigned i = 1; i < 0x70 && n + 8 < room; i++)
		if (c->stream[i])
			n += (size_t)snprintf(text + n, room - n, "%s%u", n ? ", " : "", i);
	return n;
}

void swo_pipe_judge(const struct swo_pipe *p, const char *where, enum cvl_hint hint,
		    const struct cvl_report *report)
{
	const struct tpiu_counts *c = &p->tpiu.counts;
	struct cvl_error problem;
	char streams[80];

	if (!p->framed)
		return;
	if (!list_streams(c, streams, sizeof(streams)) || c->skipped > c->taken / LOST) {
		cvl_fail(&problem, CVL_E_MISMATCH, CVL_NO_OFFSET,
			 "%s: %" PRIu64 " of %" PRIu64
			 " bytes are in no TPIU frame: is there a TPIU? Try without frames",
			 where, c->skipped, c->taken);
		cvl_tell(report, &problem);
		return;
	}
	if (c->guesses) {
		cvl_fail(
			&problem, CVL_E_NO, CVL_NO_OFFSET,
			"%s: no TPIU synchronisation; the start of frames was guessed from what fits",
			where);
		cvl_tell(report, &problem);
	}
	if (!c->stream[p->stream]) {
		cvl_fail(&problem, CVL_E_MISMATCH, CVL_NO_OFFSET,
			 "%s: no stream %u in %" PRIu64
			 " TPIU frames, only %s: choose one of those",
			 where, p->stream, c->frames, streams);
		cvl_hint(&problem, hint, 0);
		cvl_tell(report, &problem);
	}
}
