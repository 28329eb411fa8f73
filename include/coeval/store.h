/* SPDX-License-Identifier: MIT */
/**
 * Writing what one local clock saw: a CTF 1.8 trace of one stream, cut into packets.
 *
 * A packet is complete or absent: it is assembled in memory and written with one call, then its
 * index entry. Whoever reads a growing trace sees complete packets only. An edge of up to eight
 * lines costs five bytes.
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

/** Type of a field of an event class that the writer is told of. */
enum cvl_store_type {
	CVL_STORE_U64,
	CVL_STORE_I64,
	CVL_STORE_F64,
	CVL_STORE_STRING,
	CVL_STORE_U8, /* what does not fit is cut off */
	CVL_STORE_U32,
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
};

/** What a clock is. Strings are copied. */
struct cvl_store_desc {
	const char *clock; /* name, unique in the session; letters, digits, '_', '-', '.' */
	const char *node;  /* traced machine or observer; NULL: same as clock */
	/*
	 * name of the session's clock that this very clock is, whose rate, start and resolution it
	 * has; or NULL
	 */
	const char *same_as;
	uint64_t rate_hz;    /* nominal */
	uint64_t resolution; /* ticks from one look at the lines to the next; 0 means 1 */
	/* wall-clock time at tick 0 as the source claims, 0 if it makes none */
	int64_t start_unix_ns;
	int64_t start_bound_ns; /* how far that may be off UTC; 0: not stated */
	/* about where its records begin: the session's time 0 if it is its first clock */
	uint64_t base_tick;
	const char *const *lines;    /* names of the digital lines, bit 0 first */
	size_t n_lines;              /* up to CVL_LINES_MAX */
	bool edges_within;           /* there are edges with capture bounds of their own */
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
 * Go on with the trace in @path, whose writer is gone; what is behind its last whole packet is cut
 * off. @last gets the last tick that is stored, or CVL_TICK_UNKNOWN if there is none. The caller
 * says by a gap and a slip what happened in between;
 * @desc and the declarations must be what they were (else CVL_E_USAGE at the first record).
 *       CVL_E_ENV if somebody is writing to it.
 */
CVL_API int cvl_writer_resume(struct cvl_writer **w, const char *path,
			      const struct cvl_store_desc *desc, struct cvl_tick *last,
			      struct cvl_error *err);

/**
 * Say what the lines showed before the first edge: before any record, and again behind a gap, where
 * they may have changed unseen. Without it the first edge record is taken for the initial levels.
 */
CVL_API int cvl_writer_levels(struct cvl_writer *w, struct cvl_tick tick, uint64_t levels,
			      struct cvl_error *err);

/**
 * Say again what the lines show, if that is known: behind a gap during which somebody still looked
 * at them.
 */
CVL_API int cvl_writer_restate(struct cvl_writer *w, struct cvl_tick tick, struct cvl_error *err);

/**
 * Nothing is known of the lines from here on, until cvl_writer_levels() says so again: packets do
 * not restate them.
 */
CVL_API void cvl_writer_forget_levels(struct cvl_writer *w);

/**
 * Append @n edges: lines show levels[i] from tick[i] on. Ticks should not fall; one that does is
 * stored all the same and will be read with CVL_LATE.
 */
CVL_API int cvl_writer_edges(struct cvl_writer *w, const struct cvl_tick *tick,
			     const uint64_t *levels, size_t n, struct cvl_error *err);

/**
 * An edge whose tick stands in the middle of a capture bound of its own, of @half_width ticks to
 * either side; of a clock described so.
 */
CVL_API int cvl_writer_edge_within(struct cvl_writer *w, struct cvl_tick tick, uint64_t half_width,
				   uint64_t levels, struct cvl_error *err);

/**
 * Lines show @levels from @tick on, but for those in @unknown, whose level is unknown; of a clock
 * described so. Before any record it says what was known at the beginning.
 */
CVL_API int cvl_writer_edge_unknown(struct cvl_writer *w, struct cvl_tick tick, uint64_t levels,
				    uint64_t unknown, struct cvl_error *err);

/**
 * A sample of analog channel @channel; a beacon of @sender, its number @seq. At @tick, not before
 * the record that came last.
 */
CVL_API int cvl_writer_sample(struct cvl_writer *w, struct cvl_tick tick, uint32_t channel,
			      double value, struct cvl_error *err);
CVL_API int cvl_writer_beacon(struct cvl_writer *w, struct cvl_tick tick, uint32_t sender,
			      uint64_t seq, struct cvl_error *err);
/**
 * The rising edge of a reference on line @channel, at its very tick. On a stream of a coarser
 * resolution edges stand where their step began: coeval sync counts on that.
 */
CVL_API int cvl_writer_pulse(struct cvl_writer *w, struct cvl_tick tick, uint32_t channel,
			     struct cvl_error *err);

/** An end of a span: @id tells it from others of the same @name that overlap it. */
CVL_API int cvl_writer_span(struct cvl_writer *w, struct cvl_tick tick, bool begin, uint64_t id,
			    const char *name, struct cvl_error *err);

/** A known loss: nothing is known from @from to @to (or CVL_TICK_UNKNOWN), @lost records. */
CVL_API int cvl_writer_gap(struct cvl_writer *w, struct cvl_tick from, struct cvl_tick to,
			   uint64_t lost, enum cvl_gap why, struct cvl_error *err);

/**
 * From @tick on the count may be off by @half_width ticks against what it was up to @from: see
 * CVL_SLIP.
 */
CVL_API int cvl_writer_slip(struct cvl_writer *w, struct cvl_tick from, struct cvl_tick tick,
			    uint64_t half_width, struct cvl_error *err);

/** Name of a field by which an event tells how far off its tick may be. */
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

/** Append an event; @values as many as its class has fields. */
CVL_API int cvl_writer_event(struct cvl_writer *w, struct cvl_tick tick, int event_class,
			     const union cvl_store_value *values, struct cvl_error *err);

/** Most bytes that the fields of a row have. */
#define CVL_STORE_ROW 16

/**
 * An event of one of many: its fields side by side as they are stored, little-endian, and at most
 * CVL_STORE_ROW bytes of them.
 */
struct cvl_store_row {
	struct cvl_tick tick;
	uint8_t fields[CVL_STORE_ROW];
};

/**
 * Append @n events of a class without strings: what cvl_writer_event() would do, in a fraction of
 * the time.
 */
CVL_API int cvl_writer_rows(struct cvl_writer *w, int event_class, const struct cvl_store_row *rows,
			    size_t n, struct cvl_error *err);

/** Write out what is pending as a packet, though it is not full. */
CVL_API int cvl_writer_flush(struct cvl_writer *w, struct cvl_error *err);

/**
 * The same, and say by it that up to @tick nothing else has happened, though there may be nothing
 * to write.
 */
CVL_API int cvl_writer_flush_until(struct cvl_writer *w, struct cvl_tick tick,
				   struct cvl_error *err);

/** Records appended so far. */
CVL_API uint64_t cvl_writer_count(const struct cvl_writer *w);

/**
 * Flush up to tick @end (the last tick the capture covers; the last record's if smaller), sync to
 * disk and free. @w is freed in any case; NULL is allowed.
 */
CVL_API int cvl_writer_close(struct cvl_writer *w, struct cvl_tick end, struct cvl_error *err);

/** What a trace of ours holds, once it is written to the end: by this a loss of later is found. */
struct cvl_stored {
	uint64_t metadata_bytes;
	uint64_t bytes; /* of the stream */
	uint64_t packets;
	/* as struct cvl_stream_stats counts them; CVL_LOST_UNKNOWN: not counted */
	uint64_t records;
	uint64_t seen,
		gaps; /* records without restated levels, and gaps; CVL_LOST_UNKNOWN as well */
	struct cvl_tick first, last;
	/*
	 * SHA-256 in hexadecimal digits: of the metadata, and of the checksums (CRC-32C) of all
	 * packets, as they stand in the stream
	 */
	char metadata_sha256[65], packets_sha256[65];
};

/** cvl_writer_close() of a writer, not NULL, that fills @stored, which may be NULL. */
CVL_API int cvl_writer_finish(struct cvl_writer *w, struct cvl_tick end, struct cvl_stored *stored,
			      struct cvl_error *err);

/** Drop what is pending and free: what `kill -9` would leave behind. */
CVL_API void cvl_writer_abandon(struct cvl_writer *w);

CVL_END_DECLS

#endif
