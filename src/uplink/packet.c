/* SPDX-License-Identifier: MIT */
#include "uplink/packet.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/crc32c.h"
#include "core/uuid.h"
#include "store/ctf/internal.h"
#include "store/ctf/wire.h"
#include "wire/trace_ring.h"

_Static_assert(sizeof(struct wire_packet) == PACKET_HEAD, "the larger head");

/* ---- by metadata ---- */

static bool is_int(const struct cvl_type *t, uint32_t bits)
{
	return t->kind == CVL_TYPE_INT && t->size == bits && !t->is_signed && !t->big_endian &&
	       t->align <= 8;
}

/* Whether the members of @t are integers of @bits called "A B ...", without others. */
static bool has_ints(const struct cvl_type *t, uint32_t bits, const char *names)
{
	uint32_t i = 0;

	if (!t || t->kind != CVL_TYPE_STRUCT)
		return false;
	while (*names) {
		const size_t n = strcspn(names, " ");
		const char *name = i < t->n ? t->member[i].name : "";

		if (strlen(name) != n || memcmp(name, names, n) != 0 ||
		    !is_int(t->member[i].type, bits))
			return false;
		i++;
		names += n + (names[n] == ' ');
	}
	return i == t->n;
}

static bool has_header(const struct cvl_type *t)
{
	const struct cvl_type *uuid;

	if (!t || t->kind != CVL_TYPE_STRUCT || t->n != 3)
		return false;
	uuid = t->member[1].type;
	return is_int(t->member[0].type, 32) && !strcmp(t->member[0].name, "magic") &&
	       !strcmp(t->member[1].name, "uuid") && uuid->kind == CVL_TYPE_ARRAY &&
	       uuid->length == 16 && is_int(uuid->elem, 8) && is_int(t->member[2].type, 32) &&
	       !strcmp(t->member[2].name, "stream_id");
}

static bool is_ours(const struct cvl_trace *trace)
{
	if (!cvl_trace_ours(trace) || !cvl_trace_events(trace))
		return false;
	for (size_t i = 0; i < cvl_trace_events(trace); i++) {
		const struct cvl_event_class *c = cvl_trace_event(trace, i);

		if (!has_header(c->type[CVL_SCOPE_PACKET_HEADER]) ||
		    !has_ints(
			    c->type[CVL_SCOPE_PACKET_CONTEXT], 64,
			    "timestamp_begin timestamp_end content_size packet_size packet_seq_num "
			    "events_discarded"))
			return false;
	}
	return true;
}

enum packet_form packet_form(const struct cvl_trace *trace, uint8_t id[16])
{
	const char *tracer = cvl_trace_env(trace, "tracer_name");

	if (cvl_trace_clocks(trace) != 1)
		return PACKET_UNKNOWN;
	if (is_ours(trace) && trace->has_uuid) {
		memcpy(id, trace->uuid, 16);
		return PACKET_OURS;
	}
	if (tracer && !strcmp(tracer, "coeval-tracer") && cvl_trace_env_number(trace, "layout"))
		return PACKET_TRACER;
	return PACKET_UNKNOWN;
}

/* ---- in bytes ---- */

static bool fits(const struct packet *p, size_t head, size_t tail, uint64_t content_bits,
		 uint64_t packet_bits)
{
	return content_bits % 8 == 0 && packet_bits % 8 == 0 && p->content >= head &&
	       p->bytes >= p->content && p->bytes - p->content >= tail;
}

static int read_ours(const void *bytes, size_t n, struct packet *p)
{
	struct wire_packet h;

	if (n < sizeof(h))
		return 0;
	memcpy(&h, bytes, sizeof(h));
	p->bytes = le64toh(h.packet_size) / 8;
	p->content = le64toh(h.content_size) / 8;
	p->here = p->content + WIRE_CRC_BYTES;
	p->begin.count = le64toh(h.timestamp_begin);
	p->end.count = le64toh(h.timestamp_end);
	return le32toh(h.magic) == CTF_MAGIC &&
			       fits(p, sizeof(h), WIRE_CRC_BYTES, le64toh(h.content_size),
				    le64toh(h.packet_size)) ?
		       1 :
		       -1;
}

static uint64_t both(const uint32_t half[2])
{
	return (uint64_t)le32toh(half[1]) << 32 | le32toh(half[0]);
}

static int read_tracer(const void *bytes, size_t n, struct packet *p)
{
	struct tracer_packet h;

	if (n < sizeof(h))
		return 0;
	memcpy(&h, bytes, sizeof(h));
	p->bytes = le32toh(h.packet_size) / 8;
	p->content = le32toh(h.content_size) / 8;
	p->here = p->bytes;
	p->begin.count = both(h.timestamp_begin);
	p->end.count = both(h.timestamp_end);
	return le32toh(h.magic) == TRACE_PACKET_MAGIC &&
			       fits(p, sizeof(h), 0, le32toh(h.content_size),
				    le32toh(h.packet_size)) ?
		       1 :
		       -1;
}

int packet_read(enum packet_form form, const void *bytes, size_t n, struct packet *p)
{
	return form == PACKET_OURS   ? read_ours(bytes, n, p) :
	       form == PACKET_TRACER ? read_tracer(bytes, n, p) :
				       -1;
}

const char *packet_check(enum packet_form form, const uint8_t id[16], const void *bytes,
			 const struct packet *p)
{
	const uint8_t *b = bytes;
	struct wire_packet h;
	uint32_t crc;

	if (p->begin.count > p->end.count)
		return "a packet that ends before it begins";
	if (form != PACKET_OURS)
		return NULL;
	memcpy(&h, bytes, sizeof(h));
	memcpy(&crc, b + p->content, sizeof(crc));
	if (memcmp(h.uuid, id, 16) != 0)
		return "a packet of another trace";
	if (h.stream_id)
		return "a packet of another stream";
	if (le32toh(crc) != cvl_crc32c(0, b, p->content))
		return "a packet with a wrong checksum";
	return NULL;
}

size_t packet_read_at(int fd, uint64_t at, void *to, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t r = pread(fd, (uint8_t *)to + got, n - got, (off_t)(at + got));

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			break;
		got += (size_t)r;
	}
	return got;
}
