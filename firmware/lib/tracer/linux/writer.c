/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "writer.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../rest.h"

#define LOOK_MS 1000 /* what a slow program traced is in the file by then */

struct stream {
	const struct writer *w;
	struct tracer_drain d;
	uint64_t end; /* bytes written */
	uint32_t told, sequence;
	int any;
};

/* A packet is written whole or not at all; then its number is missing, which readers show. */
static void put(struct stream *s)
{
	struct tracer_packet *p = s->w->packet;
	const uint8_t *bytes = s->w->packet;
	uint32_t n, done = 0;

	p->packet_size = (p->content_size + 31u) & ~31u;
	n = p->packet_size / 8u;
	while (done < n) {
		ssize_t put = pwrite(s->w->stream, bytes + done, n - done, (off_t)(s->end + done));

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0) {
			/* what was begun is written over by the next */
			(void)!ftruncate(s->w->stream, (off_t)s->end);
			return;
		}
		done += (uint32_t)put;
	}
	s->end += n;
	s->told = p->events_discarded;
	s->sequence = p->packet_seq_num;
	s->any = 1;
}

static void drain(struct stream *s)
{
	for (;;) {
		switch (tracer_drain_read(&s->d, s->w->packet)) {
		case TRACER_PACKET:
			if (tracer_packet_good(s->w->packet, s->d.packet_bits / 8, s->d.layout))
				put(s);
			break;
		case TRACER_BROKEN: break;
		default: return;
		}
	}
}

static uint64_t stamp(const struct stream *s)
{
	uint64_t now = tracer_time(s->w->t);
	struct tracer_packet *p = s->w->packet;

	p->timestamp_end[0] = (uint32_t)now;
	p->timestamp_end[1] = (uint32_t)(now >> 32);
	return now;
}

/* No process traces any more: what was begun stays as it is. */
static void finish(struct stream *s)
{
	struct tracer_packet *p = s->w->packet;

	drain(s);
	for (uint32_t k = 0; k < s->d.packets && tracer_drain_waits(&s->d); k++) {
		tracer_drain_pass(&s->d);
		drain(s);
	}
	if (tracer_drain_rest(&s->d, p) != TRACER_REST_NOTHING) {
		stamp(s);
		put(s);
	} else if (s->any && tracer_drain_lost(&s->d) != s->told) {
		/* an empty packet says how many were dropped behind the last one */
		uint64_t now = stamp(s);

		p->timestamp_begin[0] = (uint32_t)now;
		p->timestamp_begin[1] = (uint32_t)(now >> 32);
		p->content_size = TRACE_PACKET_HEADER_BITS;
		p->events_discarded = tracer_drain_lost(&s->d);
		p->packet_seq_num = s->sequence + 1;
		put(s);
	}
}

void writer_run(struct writer *w)
{
	struct stream s = { .w = w };
	struct pollfd bell = { .fd = w->line, .events = POLLIN };
	int ended = tracer_drain_open(&s.d, w->t->ring, w->ring_bytes) != TRACER_PACKET;

	while (!ended) {
		char rung[512];
		ssize_t n = 1;
		int answers = 0;

		if (!poll(&bell, 1, LOOK_MS))
			tracer_flush(w->t);
		while ((n = read(w->line, rung, sizeof(rung))) > 0)
			for (ssize_t i = 0; i < n; i++)
				answers += rung[i] == WRITER_SYNC;
		ended = !n || (n < 0 && errno != EAGAIN && errno != EINTR);
		if (ended)
			finish(&s);
		else
			drain(&s);
		while (answers--)
			if (send(w->line, "", 1, MSG_NOSIGNAL) < 0)
				break;
	}
	_exit(0);
}
