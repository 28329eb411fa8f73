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
       PACKET_TRACK = 60
};
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 }; /* sequence flags */

enum { SNAPSHOT_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 }; /* timestamps are of the latter */

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
enum { INTERNED_EVENT_NAME = 2, NAME_IID = 1, NAME_NAME = 2 };
enum { NOTE_UINT = 3, NOTE_INT = 4, NOTE_DOUBLE = 5, NOTE_STRING = 6, NOTE_NAME = 10 };

#define SEQUENCE 1 /* one writer, one sequence */
#define NOTES_MAX CVL_OUT_BYTES
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

static void end_packet(struct perfetto *p, struct pb *pb, size_t packet)
{
	pb_end(pb, packet);
	cvl_out_bytes(&p->out, (const char *)pb->buf, pb->n);
}

int perfetto_open(struct perfetto **out, const char *path, size_t n_names, struct cvl_error *err)
{
	struct perfetto *p = calloc(1, sizeof(*p));
	uint8_t buf[SMALL];
	struct pb pb;
	int rc;

	*out = NULL;
	if (p) {
		p->n_names = n_names;
		p->named = calloc(n_names + 1, sizeof(*p->named));
		p->track = calloc(2 * TRACKS_MAX, sizeof(*p->track));
	}
	rc = p && p->named && p->track ? cvl_out_open(&p->out, path, err) : cvl_no_memory(err);
	if (rc) {
		if (p) {
			free(p->named);
			free(p->track);
		}
		free(p);
		return rc;
	}
	end_packet(p, &pb, begin_packet(&pb, buf, sizeof(buf), STATE_CLEARED));
	*out = p;
	return 0;
}

int perfetto_close(struct perfetto *p, struct cvl_error *err)
{
	int rc = cvl_out_close(&p->out, err);

	free(p->named);
	free(p->track);
	free(p);
	return rc;
}

static void put_clock(struct pb *pb, uint64_t id, uint64_t timestamp)
{
	size_t clock = pb_begin(pb, SNAPSHOT_CLOCK);

	pb_u64(pb, CLOCK_ID, id);
	pb_u64(pb, CLOCK_TIMESTAMP, timestamp);
	pb_end(pb, clock);
}

void perfetto_wall_clock(struct perfetto *p, uint64_t timestamp, uint64_t unix_ns)
{
	uint8_t buf[SMALL];
	struct pb pb;
	size_t packet = begin_packet(&pb, buf, sizeof(buf), NEEDS_STATE),
	       snapshot = pb_begin(&pb, PACKET_CLOCK_SNAPSHOT);

	put_clock(&pb, CLOCK_BOOTTIME_ID, timestamp);
	put_clock(&pb, CLOCK_REALTIME_ID, unix_ns);
	pb_end(&pb, snapshot);
	end_packet(p, &pb, packet);
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
	p->left_out = 0;
}

static size_t begin_note(struct perfetto *p, const char *name)
{
	size_t note = pb_begin(&p->pb, EVENT_NOTE);

	pb_text(&p->pb, NOTE_NAME, name, strlen(name));
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

	pb_text(&p->pb, NOTE_STRING, s, n);
	end_note(p, note);
}

void perfetto_flow(struct perfetto *p, uint64_t id, bool last)
{
	p->pb.cap = sizeof(p->buf);
	pb_fixed64(&p->pb, last ? EVENT_LAST_FLOW : EVENT_FLOW, id);
}

/* A name is written with its first use. */
static void put_name(struct perfetto *p, uint32_t iid, const char *name)
{
	size_t data, entry;

	if (p->named[iid])
		return;
	p->named[iid] = true;
	data = pb_begin(&p->pb, PACKET_INTERNED);
	entry = pb_begin(&p->pb, INTERNED_EVENT_NAME);
	pb_u64(&p->pb, NAME_IID, iid);
	pb_text(&p->pb, NAME_NAME, name, strnlen(name, NAME_MAX_BYTES));
	pb_end(&p->pb, entry);
	pb_end(&p->pb, data);
}

void perfetto_end(struct perfetto *p, const struct perfetto_event *e)
{
	p->pb.cap = sizeof(p->buf);
	if (p->left_out)
		perfetto_note_u64(p, "left_out", p->left_out);
	pb_u64(&p->pb, EVENT_TYPE, e->type);
	pb_u64(&p->pb, EVENT_TRACK, e->track);
	if (e->iid)
		pb_u64(&p->pb, EVENT_NAME_IID, e->iid);
	else if (e->name)
		pb_text(&p->pb, EVENT_NAME, e->name, strnlen(e->name, NAME_MAX_BYTES));
	if (e->is_sample)
		pb_double(&p->pb, EVENT_DOUBLE_VALUE, e->sample);
	pb_end(&p->pb, p->event);
	pb_u64(&p->pb, PACKET_TIMESTAMP, e->timestamp);
	if (e->iid)
		put_name(p, e->iid, e->name);
	end_packet(p, &p->pb, p->packet);
}
