/* SPDX-License-Identifier: MIT */
#include "observer/packet_stream.h"

#include <stdlib.h>
#include <string.h>

struct packet_stream {
	struct cvl_session *session;
	struct cvl_packets *packets;
	struct cvl_packets_desc desc;
	struct cvl_origin origin;
	const char *name;
	uint64_t rate_hz;
	bool begun;           /* the trace holds a packet */
	uint64_t first, last; /* ticks of it */
	uint64_t before;      /* ticks of the traces that ended */
};

static int begin(struct packet_stream *p, struct cvl_error *err)
{
	const struct cvl_clock *c;
	int rc = cvl_session_add_packets(p->session, &p->desc, &p->origin, &p->packets, err);

	if (rc)
		return rc;
	c = cvl_session_clock(p->session, cvl_session_clocks(p->session) - 1);
	p->name = c->name;
	p->rate_hz = c->rate_hz;
	p->begun = false;
	p->first = p->last = 0;
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
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	p->session = session;
	p->desc = (struct cvl_packets_desc){ clock, node, a->metadata, a->n_metadata };
	p->origin = (struct cvl_origin){ .format = driver, .path = a->where };
	rc = begin(p, err);
	if (rc) {
		free(p);
		return rc;
	}
	*out = p;
	return 0;
}

int packet_stream_add(struct packet_stream *p, const struct driver_packet *packet, bool *restarted,
		      struct cvl_error *err)
{
	int rc = 0;

	*restarted = packet->restarted && p->begun;
	if (*restarted) {
		p->before += p->last - p->first;
		rc = cvl_session_finish_packets(p->session, p->packets, err);
		p->packets = NULL;
		if (!rc)
			rc = begin(p, err);
	}
	if (!rc)
		rc = cvl_packets_add(p->packets, packet->bytes, packet->n, err);
	if (!rc && !p->begun) {
		p->begun = true;
		p->first = packet->begin;
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

int packet_stream_close(struct packet_stream *p, struct cvl_error *err)
{
	int rc = 0;

	if (p && p->packets)
		rc = cvl_session_finish_packets(p->session, p->packets, err);
	free(p);
	return rc;
}
