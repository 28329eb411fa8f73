/* SPDX-License-Identifier: MIT */
/**
 * Writing Perfetto traces: a stream of packets (perfetto.dev, "Synthetic TrackEvent"), each a new
 * track, or an event on one. Field numbers are those of Perfetto's public trace_packet.proto,
 * track_event.proto, track_descriptor.proto and debug_annotation.proto.
 *
 * Names and texts are interned, timestamps are differences, and packets are compressed, many at a
 * time (compressed_packets), as Perfetto's own service does.
 *
 * Memory does not grow with the trace: tables of tracks and texts, and some packets.
 */
#ifndef PERFETTO_H
#define PERFETTO_H

#include <coeval/time.h>

#include <coeval/out.h>
#include "export/interned.h"
#include "export/pb.h"

#include <zlib.h>

/** Types of TrackEvent. */
enum perfetto_type {
	PERFETTO_BEGIN = 1,
	PERFETTO_END = 2,
	PERFETTO_INSTANT = 3,
	PERFETTO_COUNTER = 4,
};

/** Identifies a track; its meaning is up to the caller. */
struct perfetto_key {
	uint32_t kind, owner;
	uint64_t id;
};

struct perfetto_track {
	struct perfetto_key key;
	uint64_t parent;  /* 0: none */
	const char *name; /* any bytes up to the NUL */
	uint32_t rank;    /* its place among its siblings */
	bool counter;
};

struct perfetto_event {
	enum perfetto_type type;
	uint64_t timestamp; /* ns */
	uint64_t track;
	const char *name; /* or NULL */
	bool ahead;       /* events with earlier timestamps follow */
	bool is_sample;
	double sample; /* of a counter */
};

struct perfetto {
	struct cvl_out out;
	struct pb pb; /* the current packet */
	size_t packet, event;
	uint64_t left_out; /* notes of it that did not fit */
	uint64_t last;     /* timestamp that the next is the difference to */
	struct interned *interned;
	struct pb fresh; /* texts that the current packet is the first to use */
	struct perfetto_slot {
		struct perfetto_key key;
		uint64_t uuid; /* 0: free */
	} * track;             /* open addressing */
	size_t tracks;         /* in it */
	uint64_t crowded;      /* tracks without room */
	z_stream z;
	size_t n_packets; /* bytes of those that are to be compressed */
	uint8_t buf[CVL_OUT_BYTES + 16384], fresh_buf[8192];
	uint8_t packets[1 << 18], compressed[(1 << 18) + 1024];
};

/** Begin a trace at @path. CVL_E_NOMEM, CVL_E_IO. */
int perfetto_open(struct perfetto **p, const char *path, struct cvl_error *err);
/** Write what is pending and free @p. */
int perfetto_close(struct perfetto *p, struct cvl_error *err);

/** Before all else: timestamps begin at @first; whether they are wall-clock time. */
void perfetto_clock(struct perfetto *p, uint64_t first, bool is_unix);

/** Number of the track with that key, or 0. */
uint64_t perfetto_find(const struct perfetto *p, struct perfetto_key key);

/** Create a track and return its number, or that of its parent if there are too many. */
uint64_t perfetto_add(struct perfetto *p, const struct perfetto_track *t);

/**
 * Begin an event: first its notes (debug annotations) and flows, then the event itself. Notes
 * beyond about 64 KiB are left out, and counted in one called left_out.
 */
void perfetto_begin(struct perfetto *p);
void perfetto_note_u64(struct perfetto *p, const char *name, uint64_t v);
void perfetto_note_i64(struct perfetto *p, const char *name, int64_t v);
void perfetto_note_double(struct perfetto *p, const char *name, double v);
void perfetto_note_text(struct perfetto *p, const char *name, const char *s, size_t n);
/** An arrow starts at this event, or (@last) ends at it; both with the same @id. */
void perfetto_flow(struct perfetto *p, uint64_t id, bool last);
void perfetto_end(struct perfetto *p, const struct perfetto_event *e);

#endif
