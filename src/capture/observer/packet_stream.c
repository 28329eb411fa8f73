/* SPDX-License-Identifier: MIT */
#include "capture/observer/packet_stream.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/files.h>
#include "store/ctf/wire.h"
#include "wire/trace_ring.h"

#define METADATA_MAX ((size_t)16 << 20)

struct packet_stream {
	struct cvl_session *session;
	struct cvl_packets *packets;
	struct cvl_packets_desc desc;
	struct cvl_origin origin;
	const char *name, *of; /* of the clock: this epoch's, and what all have in common */
	uint64_t rate_hz;
	bool begun;           /* the trace has a packet */
	uint64_t first, last; /* its ticks */
	uint64_t before;      /* ticks of the traces that have ended */
	/* of a resumed trace, up to the first new packet: */
	bool resumed, rereading;
	size_t clock; /* its number in the session */
	uint16_t boot;
	uint32_t first_number, next; /* of its first packet, and of the next expected one */
	uint64_t last_begin;         /* tick of the last packet */
	uint64_t last_at;            /* and its offset in bytes */
	bool last_empty;             /* it has no event: the drain created it to report a loss */
	unsigned restarts;
};

static void take_clock(struct packet_stream *p, size_t i)
{
	const struct cvl_clock *c = cvl_session_clock(p->session, i);

	p->name = c->name;
	p->of = c->clock;
	p->rate_hz = c->rate_hz;
}

/* The trace of a clock, or, if @p has one that has ended, of its next epoch. */
static int begin(struct packet_stream *p, struct cvl_error *err)
{
	int rc;

	p->desc.epoch_of = p->of;
	p->desc.after.count = p->last;
	rc = cvl_session_add_packets(p->session, &p->desc, &p->origin, &p->packets, err);

	if (rc)
		return rc;
	take_clock(p, cvl_session_clocks(p->session) - 1);
	p->begun = p->resumed = p->rereading = false;
	p->first = p->last = 0;
	return 0;
}

/* ---- resuming a trace ---- */

static uint64_t ticks(const uint32_t half[2])
{
	return (uint64_t)half[1] << 32 | half[0];
}

/* Walk the complete packets. Returns the bytes they take, 0 if there is none. */
static uint64_t look_through(struct packet_stream *p, const char *path)
{
	struct tracer_packet h;
	off_t size, at = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	size = lseek(fd, 0, SEEK_END);
	while (pread(fd, &h, sizeof(h), at) == (ssize_t)sizeof(h) &&
	       h.magic == TRACE_PACKET_MAGIC && h.packet_size / 8 >= sizeof(h) &&
	       (off_t)(h.packet_size / 8) <= size - at) {
		if (!at) {
			p->first = ticks(h.timestamp_begin);
			p->first_number = h.packet_seq_num;
		}
		p->last = ticks(h.timestamp_end);
		p->last_begin = ticks(h.timestamp_begin);
		p->last_at = (uint64_t)at;
		p->last_empty = h.content_size <= TRACE_PACKET_HEADER_BITS;
		p->boot = h.boot;
		p->next = h.packet_seq_num + 1;
		at += (off_t)(h.packet_size / 8);
	}
	close(fd);
	return (uint64_t)at;
}

static bool same_metadata(const struct packet_stream *p, const char *trace)
{
	char path[CVL_PATH_MAX];
	char *text = NULL;
	size_t n = 0;
	bool same;

	if (cvl_path_join(path, trace, "metadata"))
		text = cvl_read_whole(path, METADATA_MAX, &n, NULL);
	same = text && n == p->desc.n && !memcmp(text, p->desc.metadata, n);
	free(text);
	return same;
}

/* Whether clock @name is @wanted, or was named so with a number added as the name was taken. */
static bool is_called(const char *name, const char *wanted)
{
	size_t n = strlen(wanted);

	if (strncmp(name, wanted, n) != 0)
		return false;
	name += n;
	return !*name ||
	       (*name == '-' && name[1] && strspn(name + 1, "0123456789") == strlen(name + 1));
}

/*
 * A former capture wrote packets of this program and was killed, or ended: the first packet tells
 * whether ours continue them.
 */
static int resume(struct packet_stream *p, struct cvl_error *err)
{
	char path[CVL_PATH_MAX];
	size_t i = cvl_session_clocks(p->session);
	uint64_t keep;
	int rc;

	while (i--) {
		const struct cvl_clock *c = cvl_session_clock(p->session, i);

		/* the last epoch of NAME, NAME-2 ... from that source */
		if (!c->foreign || c->growing || strcmp(c->format, p->origin.format) != 0 ||
		    strcmp(c->origin, p->origin.path) != 0 || !is_called(c->clock, p->desc.clock))
			continue;
		if (!cvl_path_join(path, c->trace, WIRE_STREAM_FILE))
			return 0;
		if (!same_metadata(p, c->trace)) {
			if (!p->of) { /* another run of it, or another program */
				look_through(p, path);
				p->of = c->clock;
			}
			continue;
		}
		keep = look_through(p, path);
		rc = cvl_session_resume_packets(p->session, i, keep, &p->packets, err);
		if (rc)
			return rc;
		take_clock(p, i);
		p->clock = i;
		p->begun = p->resumed = keep > 0;
		return 0;
	}
	return 0;
}

int packet_stream_open(struct packet_stream **out, struct cvl_session *session,
		       const struct driver_analyzer *a, const char *driver, const char *clock,
		       const char *node, struct cvl_error *err)
{
	struct packet_stream *p = calloc(1, sizeof(*p));
	int rc;

	*out = NULL;
	if (!p)
		return cvl_no_memory(err);
	p->session = session;
	p->desc = (struct cvl_packets_desc){
		.clock = clock, .node = node, .metadata = a->metadata, .n = a->n_metadata
	};
	p->origin = (struct cvl_origin){ .format = driver, .path = a->where };
	rc = resume(p, err);
	if (!rc && !p->packets)
		rc = begin(p, err);
	if (rc) {
		free(p);
		return rc;
	}
	*out = p;
	return 0;
}

/* ---- packets ---- */

enum first {
	FOLLOWS,
	IS_THERE,
	/* the last one was incomplete when stored: this is the same with the rest */
	IS_FULLER,
	IS_ANOTHERS
};

/*
 * Classify a packet that arrives when a trace is resumed. The core may have begun another run; a
 * capture that was killed may have stored the packet already; a ring that stops when full delivers
 * everything again.
 */
static enum first look_at_first(struct packet_stream *p, const struct driver_packet *packet)
{
	struct tracer_packet h;

	if (packet->n < sizeof(h))
		return IS_ANOTHERS;
	memcpy(&h, packet->bytes, sizeof(h));
	if (h.boot != p->boot)
		return IS_ANOTHERS;
	if ((int32_t)(h.packet_seq_num - p->next) >= 0)
		return FOLLOWS;
	if (h.packet_seq_num + 1 == p->next) {
		if (packet->begin != p->last_begin && !p->last_empty)
			return IS_ANOTHERS;
		return packet->end == p->last ? IS_THERE : IS_FULLER;
	}
	p->rereading =
		p->rereading || (h.packet_seq_num == p->first_number && packet->begin == p->first);
	return p->rereading ? IS_THERE : IS_ANOTHERS;
}

/* Remove the last stored packet. */
static int take_back(struct packet_stream *p, struct cvl_error *err)
{
	struct cvl_packets *packets = p->packets;
	int rc;

	p->packets = NULL;
	rc = cvl_session_finish_packets(p->session, packets, false, err);
	return rc ? rc :
		    cvl_session_resume_packets(p->session, p->clock, p->last_at, &p->packets, err);
}

static int begin_again(struct packet_stream *p, struct cvl_error *err)
{
	struct cvl_packets *packets = p->packets;
	int rc;

	p->before += p->last - p->first;
	p->packets = NULL;
	rc = cvl_session_finish_packets(p->session, packets, true, err);
	if (!rc && ++p->restarts > PACKET_STREAM_RESTARTS)
		rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
			      "its processor was reset more than %d times", PACKET_STREAM_RESTARTS);
	return rc ? rc : begin(p, err);
}

int packet_stream_add(struct packet_stream *p, const struct driver_packet *packet, bool *restarted,
		      struct cvl_error *err)
{
	enum first first = p->resumed ? look_at_first(p, packet) : FOLLOWS;
	int rc = 0;

	*restarted = (packet->restarted && p->begun) || first == IS_ANOTHERS;
	if (first == IS_THERE)
		return 0;
	p->resumed = false;
	if (first == IS_FULLER)
		rc = take_back(p, err);
	if (*restarted)
		rc = begin_again(p, err);
	if (!rc)
		rc = cvl_packets_add(p->packets, packet->bytes, packet->n, err);
	if (rc)
		return rc;
	if (!p->begun) {
		p->begun = true;
		p->first = p->last = packet->begin;
		rc = cvl_session_place_packets(p->session, p->packets,
					       (struct cvl_tick){ packet->begin }, err);
	}
	p->last = packet->end > p->last ? packet->end : p->last;
	return rc;
}

int packet_stream_flush(struct packet_stream *p, struct cvl_error *err)
{
	return p->packets ? cvl_packets_flush(p->packets, err) : 0;
}

const char *packet_stream_name(const struct packet_stream *p)
{
	return p->name;
}

uint64_t packet_stream_rate(const struct packet_stream *p)
{
	return p->rate_hz;
}

uint64_t packet_stream_ticks(const struct packet_stream *p)
{
	return p->before + (p->last - p->first);
}

int packet_stream_close(struct packet_stream *p, bool complete, struct cvl_error *err)
{
	int rc = 0;

	if (p && p->packets)
		rc = cvl_session_finish_packets(p->session, p->packets, complete, err);
	free(p);
	return rc;
}
