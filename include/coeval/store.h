/* SPDX-License-Identifier: MIT */
/**
 * Writing the records of one local clock: a CTF 1.8 trace of one stream, split into packets.
 *
 * A packet is complete or absent: it is assembled in memory and written with one call, then its
 * index entry. Readers of a growing trace see only complete packets. An edge of up to eight lines
 * takes five bytes.
 *
 * A writer belongs to one thread at a time.
 */
#ifndef COEVAL_STORE_H
#define COEVAL_STORE_H

#include <stdio.h>

#include <coeval/api.h>
#include <coeval/error.h>
#include <coeval/record.h>

CVL_BEGIN_DECLS

#define CVL_LINES_MAX 64
#define CVL_CHANNELS_MAX 1024

/** Type of a field of a declared event class. */
enum cvl_store_type {
	CVL_STORE_U64,
	CVL_STORE_I64,
	CVL_STORE_F64,
	CVL_STORE_STRING,
	CVL_STORE_U8, /* excess bits are cut off */
	CVL_STORE_U32,
	CVL_STORE_BYTES, /* any bytes: a packet, a payload */
};

struct cvl_store_field {
	const char *name;
	enum cvl_store_type type;
};

union cvl_store_value {
	uint64_t u;
	int64_t i;
	double f;
	const char *s; /* NULL is written as "" */
	struct {
		const void *at;
		uint32_t n;
	} bytes;
};

/** The disorder is to be found out. */
#define CVL_DISORDER_MEASURED UINT64_MAX

/** Description of a clock. Strings are copied. */
struct cvl_store_desc {
	/* name, unique in the session; letters, digits, '_', '-', '.'; not used with epoch_of */
	const char *clock;
	const char *node; /* traced machine or observer; NULL: same as clock */
	/*
	 * name of the session's clock that this is the same as, with its rate, start and
	 * resolution; or NULL
	 */
	const char *same_as;
	/*
	 * name of the session's clock that was reset: a new epoch of it, on its node. The last one
	 * ended no earlier than at tick `after`; or NULL
	 */
	const char *epoch_of;
	struct cvl_tick after;
	uint64_t rate_hz;    /* nominal */
	uint64_t resolution; /* ticks between observations of the lines; 0 means 1 */
	/*
	 * by how much a record may come after a later one; what comes later still is marked late.
	 * CVL_DISORDER_MEASURED: as it is found, up to 10 s, which is known when it is finished
	 */
	uint64_t disorder_ticks;
	/* claimed wall-clock time at tick 0; 0: none */
	int64_t start_unix_ns;
	int64_t start_bound_ns; /* how far that may be off UTC; 0: not stated */
	/* about where its records begin: time 0 of the session if it is the first clock */
	uint64_t base_tick;
	const char *const *lines;    /* names of the digital lines, bit 0 first */
	size_t n_lines;              /* up to CVL_LINES_MAX */
	bool edges_within;           /* some edges have capture bounds of their own */
	bool lines_unknown;          /* the levels of single lines may be unknown */
	const char *const *channels; /* names of the analog channels */
	size_t n_channels;
};

struct cvl_writer;

/**
 * Make the directory @path (its parent must exist) and start a trace in it.
 * Fails with CVL_E_IO, CVL_E_USAGE (bad description), CVL_E_NOMEM.
 */
CVL_API int cvl_writer_open(struct cvl_writer **w, const char *path,
			    const struct cvl_store_desc *desc, struct cvl_error *err);

/**
 * Resume the trace in @path, whose writer is gone; data after the last complete packet is cut off.
 * @last gets the last tick stored, or CVL_TICK_UNKNOWN if there is none. The caller writes a gap
 * and a slip for the time in between. @desc and the declarations must be the same as before (else
 * CVL_E_USAGE at the first record). CVL_E_ENV if another writer is active.
 */
CVL_API int cvl_writer_resume(struct cvl_writer **w, const char *path,
			      const struct cvl_store_desc *desc, struct cvl_tick *last,
			      struct cvl_error *err);

/**
 * State the levels before the first edge: before any record, and again after a gap, in which they
 * may have changed unseen. Without it the first edge record is taken as the initial levels.
 */
CVL_API int cvl_writer_levels(struct cvl_writer *w, struct cvl_tick tick, uint64_t levels,
			      struct cvl_error *err);

/** Restate the levels if known: after a gap during which the lines were still observed. */
CVL_API int cvl_writer_restate(struct cvl_writer *w, struct cvl_tick tick, struct cvl_error *err);

/**
 * The levels are unknown from here on until the next cvl_writer_levels(): packets do not restate
 * them.
 */
CVL_API void cvl_writer_forget_levels(struct cvl_writer *w);

/**
 * Append @n edges: lines are at levels[i] from tick[i] on. Ticks should not decrease; one that does
 * is stored anyway and read with CVL_LATE.
 */
CVL_API int cvl_writer_edges(struct cvl_writer *w, const struct cvl_tick *tick,
			     const uint64_t *levels, size_t n, struct cvl_error *err);

/**
 * An edge with its own capture bound of @half_width ticks on either side of its tick; the clock
 * must have desc->edges_within.
 */
CVL_API int cvl_writer_edge_within(struct cvl_writer *w, struct cvl_tick tick, uint64_t half_width,
				   uint64_t levels, struct cvl_error *err);

/**
 * Lines are at @levels from @tick on, except those in @unknown, whose level is unknown; the clock
 * must have desc->lines_unknown. Before any record it states what was known at the beginning.
 */
CVL_API int cvl_writer_edge_unknown(struct cvl_writer *w, struct cvl_tick tick, uint64_t levels,
				    uint64_t unknown, struct cvl_error *err);

/**
 * A sample of analog channel @channel; a beacon of @sender, its number @seq. @tick is not before
 * the last record.
 */
CVL_API int cvl_writer_sample(struct cvl_writer *w, struct cvl_tick tick, uint32_t channel,
			      double value, struct cvl_error *err);
CVL_API int cvl_writer_beacon(struct cvl_writer *w, struct cvl_tick tick, uint32_t sender,
			      uint64_t seq, struct cvl_error *err);
/**
 * The rising edge of a reference on line @channel, at its exact tick. In a stream of coarser
 * resolution edges are at the start of their step: coeval sync relies on that.
 */
CVL_API int cvl_writer_pulse(struct cvl_writer *w, struct cvl_tick tick, uint32_t channel,
			     struct cvl_error *err);

/** An end of a span: @id tells it from others of the same @name that overlap it. */
CVL_API int cvl_writer_span(struct cvl_writer *w, struct cvl_tick tick, bool begin, uint64_t id,
			    const char *name, struct cvl_error *err);

/** A known loss of @lost records from @from to @to (or CVL_TICK_UNKNOWN). */
CVL_API int cvl_writer_gap(struct cvl_writer *w, struct cvl_tick from, struct cvl_tick to,
			   uint64_t lost, enum cvl_gap why, struct cvl_error *err);

/**
 * From @tick on the count may be off by @half_width ticks relative to that up to @from: see
 * CVL_SLIP.
 */
CVL_API int cvl_writer_slip(struct cvl_writer *w, struct cvl_tick from, struct cvl_tick tick,
			    uint64_t half_width, struct cvl_error *err);

/** Name of a field that states how far off an event's tick may be. */
#define CVL_HALF_WIDTH "half_width"

/**
 * Declare an event class; only before the first record, because metadata is written then.
 * If its first field is CVL_HALF_WIDTH, a CVL_STORE_U64 or CVL_STORE_U32, the event's tick stands
 * in the middle of its own capture bound, whose half-width in ticks that field is; it replaces the
 * resolution of the clock. Returns its number (>= 0), to be given to cvl_writer_event(), or a
 * negative code.
 */
CVL_API int cvl_writer_declare(struct cvl_writer *w, const char *name,
			       const struct cvl_store_field *fields, size_t n,
			       struct cvl_error *err);

/** Append an event; @values has one value per field of its class. */
CVL_API int cvl_writer_event(struct cvl_writer *w, struct cvl_tick tick, int event_class,
			     const union cvl_store_value *values, struct cvl_error *err);

/** Maximum bytes of the fields of a row. */
#define CVL_STORE_ROW 16

/** One event of many: its fields packed as stored, little-endian, at most CVL_STORE_ROW bytes. */
struct cvl_store_row {
	struct cvl_tick tick;
	uint8_t fields[CVL_STORE_ROW];
};

/**
 * Append @n events of a class without strings: as cvl_writer_event(), in a fraction of the time.
 */
CVL_API int cvl_writer_rows(struct cvl_writer *w, int event_class, const struct cvl_store_row *rows,
			    size_t n, struct cvl_error *err);

/** Write what is pending as a packet, even if not full. */
CVL_API int cvl_writer_flush(struct cvl_writer *w, struct cvl_error *err);

/** The same, stating that nothing else happened up to @tick, even if there is nothing to write. */
CVL_API int cvl_writer_flush_until(struct cvl_writer *w, struct cvl_tick tick,
				   struct cvl_error *err);

/** Records appended so far. */
CVL_API uint64_t cvl_writer_count(const struct cvl_writer *w);

/**
 * Flush up to tick @end (the last tick the capture covers; the last record's if smaller), sync to
 * disk and free. @w is freed in any case; NULL is allowed.
 */
CVL_API int cvl_writer_close(struct cvl_writer *w, struct cvl_tick end, struct cvl_error *err);

/** What a finished trace of ours holds, so that later losses are detected. */
struct cvl_stored {
	uint64_t metadata_bytes;
	uint64_t bytes; /* of the stream */
	uint64_t packets;
	/* counted as in struct cvl_stream_stats; CVL_LOST_UNKNOWN: not counted */
	uint64_t records;
	uint64_t seen,
		gaps; /* records without restated levels, and gaps; CVL_LOST_UNKNOWN as well */
	struct cvl_tick first, last;
	uint64_t disorder; /* by how many ticks, up to 10 s, a record came after a later one */
	/*
	 * SHA-256 in hexadecimal: of the metadata, and of the checksums (CRC-32C) of all packets,
	 * in stream order; that one is empty if some were freed before the stream was resumed
	 */
	char metadata_sha256[65], packets_sha256[65];
};

/** As cvl_writer_close(), for a non-NULL writer; fills @stored, which may be NULL. */
CVL_API int cvl_writer_finish(struct cvl_writer *w, struct cvl_tick end, struct cvl_stored *stored,
			      struct cvl_error *err);

/** Drop what is pending and free: leaves what `kill -9` would. */
CVL_API void cvl_writer_abandon(struct cvl_writer *w);

CVL_END_DECLS

#endif
