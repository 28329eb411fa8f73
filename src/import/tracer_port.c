/* SPDX-License-Identifier: MIT */
/*
 * Extracts the packets that a tracer wrote to a stimulus port of the ITM
 * (firmware/lib/tracer/platform/swo.h) from the `software` events of a trace decoded from SWO. They
 * become a trace of their own, on the clock of the traced core.
 */
#include <coeval/format.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/files.h>
#include "store/ctf/tracer_tsdl.h"
#include "decode/packet_row.h"
#include "decode/unpack.h"

struct port {
	const struct cvl_clock *clock;
	struct cvl_session *session;
	const struct tsdl *tsdl;
	const struct cvl_report *report;
	const struct cvl_progress *progress;
	unsigned number;
	struct cvl_packets *packets; /* open: NULL before the first packet */
	char of[200];                /* the clock whose epochs they are; "" before the first */
	uint64_t last;               /* tick */
	uint64_t stored, repeated, restarts;
	struct packet_row row;
	struct unpack unpack;
};

static void name_port(const struct port *p, char name[200])
{
	snprintf(name, 200, "%.100s-port%u", p->clock->name, p->number);
	cvl_path_clean(name);
}

/* ---- packets to the session ---- */

static int open_packets(struct port *p, struct cvl_error *err)
{
	char name[200];
	const struct cvl_packets_desc desc = { .clock = name,
					       .node = p->clock->node,
					       .metadata = p->tsdl->text,
					       .n = p->tsdl->n,
					       .epoch_of = *p->of ? p->of : NULL,
					       .after = { p->last } };
	const struct cvl_origin origin = { .format = "port", .path = p->clock->origin };

	int rc;

	name_port(p, name);
	rc = cvl_session_add_packets(p->session, &desc, &origin, &p->packets, err);
	if (!rc && !*p->of)
		snprintf(p->of, sizeof(p->of), "%s",
			 cvl_session_clock(p->session, cvl_session_clocks(p->session) - 1)->clock);
	return rc;
}

static int close_packets(struct port *p, struct cvl_error *err)
{
	struct cvl_packets *packets = p->packets;

	p->packets = NULL;
	return packets ? cvl_session_finish_packets(p->session, packets, true, err) : 0;
}

static int store(void *ctx, struct tracer_packet *packet, size_t n, struct cvl_error *err)
{
	const uint64_t begin =
		(uint64_t)packet->timestamp_begin[1] << 32 | packet->timestamp_begin[0];
	struct port *p = ctx;
	enum packet_row_is is = packet_row_put(&p->row, packet, n);
	bool first;
	int rc = 0;

	if (is == PACKET_REPEATED) {
		p->repeated++;
		return 0;
	}
	if (is == PACKET_RESTARTED) {
		p->restarts++;
		rc = close_packets(p, err);
	}
	first = !p->packets;
	if (!rc && first)
		rc = open_packets(p, err);
	if (!rc)
		rc = cvl_packets_add(p->packets, packet, n, err);
	if (!rc && first)
		rc = cvl_session_place_packets(p->session, p->packets, (struct cvl_tick){ begin },
					       err);
	p->stored += !rc;
	p->last = (uint64_t)packet->timestamp_end[1] << 32 | packet->timestamp_end[0];
	return rc;
}

/* ---- events to bytes ---- */

struct word {
	uint64_t port, size, value;
};

static void take_field(void *ctx, const char *name, const struct cvl_value *v)
{
	struct word *w = ctx;

	if (!name || v->type->kind != CVL_TYPE_INT)
		return;
	name = cvl_plain_name(name);
	if (!strcmp(name, "port"))
		w->port = v->u;
	else if (!strcmp(name, "size"))
		w->size = v->u;
	else if (!strcmp(name, "value"))
		w->value = v->u;
}

static void no_begin(void *ctx, const char *name, const struct cvl_type *type, uint64_t n)
{
	(void)ctx, (void)name, (void)type, (void)n;
}

static void no_end(void *ctx, const struct cvl_type *type)
{
	(void)ctx, (void)type;
}

static int read_batch(struct port *p, struct cvl_stream *stream, const struct cvl_batch *b,
		      struct cvl_error *err)
{
	struct word w;
	const struct cvl_visitor visitor = { take_field, no_begin, no_end, NULL, &w, NULL };
	int rc = 0;

	for (size_t i = 0; i < b->n && !rc; i++) {
		const struct cvl_event_class *class = cvl_stream_class(stream, b, i);
		uint8_t bytes[4];

		if (b->kind[i] != CVL_EVENT || !class || strcmp(class->name, "software") != 0)
			continue;
		w = (struct word){ .port = UINT64_MAX };
		rc = cvl_stream_visit(stream, b, i, &visitor, err);
		if (rc || w.port != p->number || w.size > sizeof(bytes))
			continue;
		for (size_t k = 0; k < w.size; k++)
			bytes[k] = (uint8_t)(w.value >> 8 * k);
		rc = unpack_push(&p->unpack, bytes, w.size, err);
	}
	return rc;
}

static int read_events(struct port *p, struct cvl_error *err)
{
	struct cvl_trace *trace = NULL;
	struct cvl_stream *stream = NULL;
	struct cvl_stream_stats stats;
	struct cvl_batch batch;
	int rc = cvl_trace_open(&trace, p->clock->trace, p->report, err);

	if (!rc)
		rc = cvl_stream_open(&stream, trace, 0, NULL, err);
	while (!rc) {
		cvl_stream_stats(stream, &stats);
		rc = cvl_progress_tell(p->progress, stats.position, stats.bytes, err);
		rc = rc ? rc : cvl_stream_next(stream, &batch, err);
		if (rc <= 0)
			break;
		rc = read_batch(p, stream, &batch, err);
	}
	if (!rc)
		rc = unpack_end(&p->unpack, err);
	cvl_stream_close(stream);
	cvl_trace_close(trace);
	return rc;
}

/* ---- diagnostics ---- */

__attribute__((format(printf, 2, 3))) static void tell(const struct port *p, const char *fmt, ...)
{
	struct cvl_error problem;
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cvl_fail(&problem, CVL_E_MISMATCH, CVL_NO_OFFSET, "%s: port %u: %s", p->clock->name,
		 p->number, text);
	cvl_tell(p->report, &problem);
}

static int judge(const struct port *p, struct cvl_error *err)
{
	const struct unpack *u = &p->unpack;

	if (!p->stored && u->foreign)
		return cvl_fail(err, CVL_E_MISMATCH, CVL_NO_OFFSET,
				"%s: port %u has packets of layout %" PRIu32
				", and %s is of layout %" PRIu32
				": print the metadata of that program",
				p->clock->name, p->number, u->foreign_layout, p->tsdl->path,
				p->tsdl->layout);
	if (!p->stored)
		return cvl_fail(err, CVL_E_MISMATCH, CVL_NO_OFFSET,
				"%s: port %u has no tracer packets", p->clock->name, p->number);
	if (u->skipped)
		tell(p, "%" PRIu64 " bytes are not packets; damaged packets are left out as gaps",
		     u->skipped);
	if (u->foreign)
		tell(p, "%" PRIu64 " packets of another core or program are left out", u->foreign);
	if (p->repeated)
		tell(p, "%" PRIu64 " repeated packets are left out", p->repeated);
	if (p->restarts)
		tell(p,
		     "the processor was reset %" PRIu64
		     " times: each reset begins a new epoch of its clock",
		     p->restarts);
	return 0;
}

bool cvl_decode_has_ports(const struct cvl_session *s, size_t clock)
{
	const struct cvl_clock *c = cvl_session_clock(s, clock);

	return !c->foreign && (!strcmp(c->format, "itm") || !strcmp(c->format, "tpiu") ||
			       !strcmp(c->format, "swo"));
}

int cvl_decode_port(struct cvl_session *s, size_t clock, unsigned port, const char *metadata,
		    const struct cvl_report *report, const struct cvl_progress *progress,
		    struct cvl_error *err)
{
	/* clocks of a session move when one is added */
	const struct cvl_clock copy = *cvl_session_clock(s, clock);
	struct port *p = calloc(1, sizeof(*p));
	struct tsdl_list tsdl;
	char name[200];
	int rc, closed;

	if (!p)
		return cvl_no_memory(err);
	p->clock = &copy;
	p->session = s;
	p->number = port;
	p->report = report;
	p->progress = progress;
	name_port(p, name);
	rc = tsdl_load(&tsdl, metadata, err);
	if (!rc && tsdl.n > 1)
		rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			      "a port belongs to one program: name one metadata file");
	for (size_t i = 0; !rc && i < cvl_session_clocks(s); i++)
		if (!strcmp(cvl_session_clock(s, i)->name, name))
			rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				      "%s: port %u was already decoded, as clock %s", copy.name,
				      port, name);
	if (!rc) {
		p->tsdl = &tsdl.item[0];
		unpack_init(&p->unpack, p->tsdl->layout, store, p);
		rc = read_events(p, err);
		closed = close_packets(p, rc ? NULL : err);
		rc = rc ? rc : closed ? closed : judge(p, err);
	}
	tsdl_free(&tsdl);
	free(p);
	return rc;
}
