/* SPDX-License-Identifier: MIT */
#include "export/perfetto_packets.h"

#include <stdlib.h>
#include <string.h>

enum { TRACE_PACKET = 1 };

enum { /* TracePacket */
       PACKET_CLOCK_SNAPSHOT = 6,
       PACKET_TIMESTAMP = 8,
       PACKET_SEQUENCE = 10,
       PACKET_TRACK_EVENT = 11,
       PACKET_INTERNED = 12,
       PACKET_SEQUENCE_FLAGS = 13,
       PACKET_COMPRESSED = 50,
       PACKET_CLOCK = 58,
       PACKET_DEFAULTS = 59,
       PACKET_TRACK = 60
};
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 }; /* sequence flags */

enum { SNAPSHOT_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_INCREMENTAL = 3 };
/* the last one, which belongs to the sequence, counts from timestamp to timestamp of the second */
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6, CLOCK_SEQUENCE_ID = 64 };

enum { /* TrackDescriptor */
       TRACK_UUID = 1,
       TRACK_NAME = 2,
       TRACK_PARENT = 5,
       TRACK_COUNTER = 8,
       TRACK_CHILD_ORDERING = 11,
       TRACK_RANK = 12,
       TRACK_MERGING = 15
};
enum { ORDER_EXPLICIT = 3, MERGE_NONE = 2 };

enum { /* TrackEvent */
       EVENT_NOTE = 4,
       EVENT_TYPE = 9,
       EVENT_NAME_IID = 10,
       EVENT_TRACK = 11,
       EVENT_NAME = 23,
       EVENT_DOUBLE_VALUE = 44,
       EVENT_FLOW = 47,
       EVENT_LAST_FLOW = 48
};
enum { EVENT_NAMES, NOTE_NAMES, NOTE_TEXTS }; /* what is interned */
static const unsigned interned_field[] = { 2, 3, 29 };
enum { TEXT_IID = 1, TEXT_TEXT = 2 };
enum {
	NOTE_NAME_IID = 1,
	NOTE_UINT = 3,
	NOTE_INT = 4,
	NOTE_DOUBLE = 5,
	NOTE_STRING = 6,
	NOTE_NAME = 10,
	NOTE_STRING_IID = 17
};

#define SEQUENCE 1 /* one writer, one sequence */
#define NOTES_MAX CVL_OUT_BYTES
#define TEXT_MAX_BYTES (3 * INTERNED_BYTES + 16) /* of an interned one with its number */
#define LEVEL 1
#define NAME_MAX_BYTES 1024
#define SMALL (4 * NAME_MAX_BYTES) /* a packet of one name, whose bytes may become three each */
#define TRACKS_MAX (1u << 15)

/* ---- packets ---- */

/* Returns the argument for end_packet(). */
static size_t begin_packet(struct pb *pb, uint8_t *buf, size_t cap, uint32_t flags)
{
	size_t packet;

	*pb = (struct pb){ .buf = buf, .cap = cap };
	packet = pb_begin(pb, TRACE_PACKET);
	pb_u64(pb, PACKET_SEQUENCE, SEQUENCE);
	pb_u64(pb, PACKET_SEQUENCE_FLAGS, flags);
	return packet;
}

/* Compress the packets so far, into one. */
static void squeeze(struct perfetto *p)
{
	uint8_t buf[32];
	struct pb head = { .buf = buf, .cap = sizeof(buf) };
	size_t n, field;

	if (!p->n_packets)
		return;
	p->z.next_in = p->packets;
	p->z.avail_in = (unsigned)p->n_packets;
	p->z.next_out = p->compressed;
	p->z.avail_out = sizeof(p->compressed);
	deflate(&p->z, Z_FINISH);
	deflateReset(&p->z);
	n = sizeof(p->compressed) - p->z.avail_out;
	pb_head(&head, PACKET_COMPRESSED, n);
	field = head.n;
	head.n = 0;
	pb_head(&head, TRACE_PACKET, field + n);
	pb_head(&head, PACKET_COMPRESSED, n);
	cvl_out_bytes(&p->out, (const char *)buf, head.n);
	cvl_out_bytes(&p->out, (const char *)p->compressed, n);
	p->n_packets = 0;
}

static void end_packet(struct perfetto *p, struct pb *pb, size_t packet)
{
	pb_end(pb, packet);
	if (sizeof(p->packets) - p->n_packets < pb->n)
		squeeze(p);
	memcpy(p->packets + p->n_packets, pb->buf, pb->n);
	p->n_packets += pb->n;
}

static void free_all(struct perfetto *p)
{
	deflateEnd(&p->z);
	free(p->interned);
	free(p->track);
	free(p);
}

int perfetto_open(struct perfetto **out, const char *path, struct cvl_error *err)
{
	struct perfetto *p = calloc(1, sizeof(*p));
	int rc;

	*out = NULL;
	if (!p)
		return cvl_no_memory(err);
	p->interned = calloc(1, sizeof(*p->interned));
	p->track = calloc(2 * TRACKS_MAX, sizeof(*p->track));
	rc = p->interned && p->track && deflateInit(&p->z, LEVEL) == Z_OK ?
		     cvl_out_open(&p->out, path, err) :
		     cvl_no_memory(err);
	if (rc)
		free_all(p);
	else
		*out = p;
	return rc;
}

int perfetto_close(struct perfetto *p, struct cvl_error *err)
{
	int rc;

	squeeze(p);
	rc = cvl_out_close(&p->out, err);
	free_all(p);
	return rc;
}

static void put_clock(struct pb *pb, uint64_t id, uint64_t timestamp, bool incremental)
{
	size_t clock = pb_begin(pb, SNAPSHOT_CLOCK);

	pb_u64(pb, CLOCK_ID, id);
	pb_u64(pb, CLOCK_TIMESTAMP, timestamp);
	if (incremental)
		pb_u64(pb, CLOCK_INCREMENTAL, 1);
	pb_end(pb, clock);
}

void perfetto_clock(struct perfetto *p, uint64_t first, bool is_unix)
{
	uint8_t buf[SMALL];
	struct pb pb;
	size_t packet = begin_packet(&pb, buf, sizeof(buf), STATE_CLEARED),
	       part = pb_begin(&pb, PACKET_DEFAULTS);

	pb_u64(&pb, PACKET_CLOCK, CLOCK_SEQUENCE_ID);
	pb_end(&pb, part);
	part = pb_begin(&pb, PACKET_CLOCK_SNAPSHOT);
	put_clock(&pb, CLOCK_BOOTTIME_ID, first, false);
	if (is_unix)
		put_clock(&pb, CLOCK_REALTIME_ID, first, false);
	put_clock(&pb, CLOCK_SEQUENCE_ID, first, true);
	pb_end(&pb, part);
	end_packet(p, &pb, packet);
	p->last = first;
}

/* ---- tracks ---- */

/* Slot of a track in the table, or a free one for it. */
static struct perfetto_slot *slot_of(const struct perfetto *p, struct perfetto_key key)
{
	uint64_t h = (key.id ^ (uint64_t)key.owner << 40 ^ (uint64_t)key.kind << 56) *
		     0x9e3779b97f4a7c15u;
	size_t i = (size_t)(h >> 32);

	for (;; i++) {
		struct perfetto_slot *s = &p->track[i % (2 * TRACKS_MAX)];

		if (!s->uuid ||
		    (s->key.kind == key.kind && s->key.owner == key.owner && s->key.id == key.id))
			return s;
	}
}

uint64_t perfetto_find(const struct perfetto *p, struct perfetto_key key)
{
	return slot_of(p, key)->uuid;
}

uint64_t perfetto_add(struct perfetto *p, const struct perfetto_track *t)
{
	struct perfetto_slot *s = slot_of(p, t->key);
	uint8_t buf[SMALL];
	struct pb pb;
	size_t packet, track;

	if (s->uuid)
		return s->uuid;
	if (p->tracks == TRACKS_MAX) {
		p->crowded++;
		return t->parent;
	}
	*s = (struct perfetto_slot){ t->key, ++p->tracks };
	packet = begin_packet(&pb, buf, sizeof(buf), NEEDS_STATE);
	track = pb_begin(&pb, PACKET_TRACK);
	pb_u64(&pb, TRACK_UUID, s->uuid);
	pb_text(&pb, TRACK_NAME, t->name, strnlen(t->name, NAME_MAX_BYTES));
	if (t->parent)
		pb_u64(&pb, TRACK_PARENT, t->parent);
	if (t->counter)
		pb_bytes(&pb, TRACK_COUNTER, "", 0);
	pb_u64(&pb, TRACK_CHILD_ORDERING, ORDER_EXPLICIT);
	pb_u64(&pb, TRACK_RANK, t->rank);
	pb_u64(&pb, TRACK_MERGING, MERGE_NONE);
	pb_end(&pb, track);
	end_packet(p, &pb, packet);
	return s->uuid;
}

/* ---- events ---- */

void perfetto_begin(struct perfetto *p)
{
	p->packet = begin_packet(&p->pb, p->buf, NOTES_MAX, NEEDS_STATE);
	p->event = pb_begin(&p->pb, PACKET_TRACK_EVENT);
	p->fresh = (struct pb){ .buf = p->fresh_buf, .cap = sizeof(p->fresh_buf) };
	p->left_out = 0;
}

/* A text as field @by_iid, the number under which its packet or one before it has it; else as @field. */
static void put_text(struct perfetto *p, unsigned kind, unsigned by_iid, unsigned field,
		     const char *s, size_t n)
{
	bool is_new, fits = p->fresh.cap - p->fresh.n >= TEXT_MAX_BYTES;
	uint32_t iid = fits ? interned(p->interned, kind, s, n, &is_new) : 0;
	size_t entry;

	if (!iid) {
		pb_text(&p->pb, field, s, n);
		return;
	}
	pb_u64(&p->pb, by_iid, iid);
	if (!is_new)
		return;
	entry = pb_begin(&p->fresh, interned_field[kind]);
	pb_u64(&p->fresh, TEXT_IID, iid);
	pb_text(&p->fresh, TEXT_TEXT, s, n);
	pb_end(&p->fresh, entry);
}

static size_t begin_note(struct perfetto *p, const char *name)
{
	size_t note = pb_begin(&p->pb, EVENT_NOTE);

	put_text(p, NOTE_NAMES, NOTE_NAME_IID, NOTE_NAME, name, strlen(name));
	return note;
}

static void end_note(struct perfetto *p, size_t note)
{
	pb_end(&p->pb, note);
	if (!p->pb.full)
		return;
	pb_cut(&p->pb, note);
	p->left_out++;
}

void perfetto_note_u64(struct perfetto *p, const char *name, uint64_t v)
{
	size_t note = begin_note(p, name);

	pb_u64(&p->pb, NOTE_UINT, v);
	end_note(p, note);
}

void perfetto_note_i64(struct perfetto *p, const char *name, int64_t v)
{
	size_t note = begin_note(p, name);

	pb_u64(&p->pb, NOTE_INT, (uint64_t)v);
	end_note(p, note);
}

void perfetto_note_double(struct perfetto *p, const char *name, double v)
{
	size_t note = begin_note(p, name);

	pb_double(&p->pb, NOTE_DOUBLE, v);
	end_note(p, note);
}

void perfetto_note_text(struct perfetto *p, const char *name, const char *s, size_t n)
{
	size_t note = begin_note(p, name);

	put_text(p, NOTE_TEXTS, NOTE_STRING_IID, NOTE_STRING, s, n);
	end_note(p, note);
}

void perfetto_flow(struct perfetto *p, uint64_t id, bool last)
{
	p->pb.cap = sizeof(p->buf);
	pb_fixed64(&p->pb, last ? EVENT_LAST_FLOW : EVENT_FLOW, id);
}

void perfetto_end(struct perfetto *p, const struct perfetto_event *e)
{
	p->pb.cap = sizeof(p->buf);
	if (p->left_out)
		perfetto_note_u64(p, "left_out", p->left_out);
	pb_u64(&p->pb, EVENT_TYPE, e->type);
	pb_u64(&p->pb, EVENT_TRACK, e->track);
	if (e->name)
		put_text(p, EVENT_NAMES, EVENT_NAME_IID, EVENT_NAME, e->name,
			 strnlen(e->name, NAME_MAX_BYTES));
	if (e->is_sample)
		pb_double(&p->pb, EVENT_DOUBLE_VALUE, e->sample);
	pb_end(&p->pb, p->event);
	if (e->ahead || e->timestamp < p->last) {
		pb_u64(&p->pb, PACKET_TIMESTAMP, e->timestamp);
		pb_u64(&p->pb, PACKET_CLOCK, CLOCK_BOOTTIME_ID);
	} else {
		pb_u64(&p->pb, PACKET_TIMESTAMP, e->timestamp - p->last);
		p->last = e->timestamp;
	}
	if (p->fresh.n)
		pb_bytes(&p->pb, PACKET_INTERNED, p->fresh.buf, p->fresh.n);
	end_packet(p, &p->pb, p->packet);
}
