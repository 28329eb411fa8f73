/* SPDX-License-Identifier: MIT */
/**
 * Records, and the columnar batches that carry them.
 *
 * A record is small and fixed. What it means depends on its kind:
 *
 *   kind     what                       cls              value                aux
 *   EDGE     lines changed              0                levels after it      lines whose level is
 *            unknown
 *   SAMPLE   analog reading             channel          IEEE double's bits   0
 *   EVENT    record with fields         event class      -                    payload position
 *   BEGIN    a span starts              event class      span id              payload position
 *   END      a span ends                event class      span id              payload position
 *   BEACON   broadcast heard            sender           sequence number      0
 *   PULSE    reference edge             channel          0                    0
 *   MESSAGE  sent or received           0 sent, 1 recv   key                  0
 *   GAP      known loss                 enum cvl_gap     how many, or unknown last lost tick
 *   SLIP     the count may be off       0                half-width, ticks    last sure tick
 *
 * From a SLIP on, ticks may be off by its half-width relative to those up to its last sure tick: a
 * clock was restarted, or stopped for an uncertain time. Ticks on the same side remain consistent.
 *
 * "payload position" is private to the reader that made the batch; cvl_stream_visit() decodes it.
 */
#ifndef COEVAL_RECORD_H
#define COEVAL_RECORD_H

#include <coeval/api.h>
#include <coeval/time.h>

CVL_BEGIN_DECLS

enum cvl_kind {
	CVL_EDGE,
	CVL_SAMPLE,
	CVL_EVENT,
	CVL_BEGIN,
	CVL_END,
	CVL_BEACON,
	CVL_PULSE,
	CVL_MESSAGE,
	CVL_GAP,
	CVL_SLIP,
	CVL_KINDS
};

/** Flags of a record. */
enum {
	CVL_LATE = 1,  /* its tick is before that of an earlier record of the stream */
	CVL_STATE = 2, /* an EDGE that restates the levels (start of a packet): no line changed */
};

/** Why something is missing. The numbers are stored: append only. */
enum cvl_gap {
	CVL_GAP_UNKNOWN = 0,
	CVL_GAP_OVERFLOW = 1,     /* a buffer was full */
	CVL_GAP_DISCARDED = 2,    /* the tracer counted records that it dropped */
	CVL_GAP_PACKETS = 3,      /* whole packets missing; the count is of packets */
	CVL_GAP_TRUNCATED = 4,    /* the file is truncated */
	CVL_GAP_CORRUPT = 5,      /* undecodable bytes, or a wrong checksum */
	CVL_GAP_UNFINISHED = 6,   /* the writer did not close the stream */
	CVL_GAP_DISCONNECTED = 7, /* the device went away */
	CVL_GAP_DISK_FULL = 8,    /* the disk was full */
	CVL_GAP_FREED = 9,        /* freed, to keep within a size: a collector may have it */
	CVL_GAPS
};

/** How many, when unknown. */
#define CVL_LOST_UNKNOWN UINT64_MAX
/** Last lost tick, when unknown: the gap is open-ended. */
#define CVL_TICK_UNKNOWN UINT64_MAX

/** Short stable names, such as "edge" and "overflow". */
CVL_API const char *cvl_kind_name(enum cvl_kind kind);
CVL_API const char *cvl_gap_name(enum cvl_gap why);

/** Max. records in a batch. */
#define CVL_BATCH_MAX 4096

/**
 * A run of records of one stream, in the order of the stream. Ticks do not decrease except at
 * records flagged CVL_LATE. Arrays belong to the reader and are valid until its next call.
 */
struct cvl_batch {
	size_t n;
	struct cvl_tick *tick;
	uint8_t *kind; /* enum cvl_kind */
	uint8_t *flags;
	uint32_t *cls;
	uint64_t *value;
	uint64_t *aux;
	uint64_t *bracket; /* half-width in ticks of each record's own capture, or NULL */
	const struct cvl_packet
		*packet; /* the reader's; while it is the same, see cvl_batch_packet() */
};

/**
 * Known levels of a stream's lines, updated per record. All zero: none known. Set `known` to 0
 * after a gap.
 */
struct cvl_levels {
	uint64_t now;   /* levels; 0 where they are unknown */
	uint64_t known; /* lines whose level is known */
};

/**
 * Apply EDGE record @i. Returns the lines that changed, of those whose level is known before and
 * after it.
 */
static inline uint64_t cvl_levels_take(struct cvl_levels *l, const struct cvl_batch *b, size_t i)
{
	uint64_t known = ~b->aux[i], changed = (l->now ^ b->value[i]) & l->known & known;

	l->now = b->value[i];
	l->known = known;
	return changed;
}

CVL_END_DECLS

#endif
