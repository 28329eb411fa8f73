/* SPDX-License-Identifier: MIT */
/**
 * Reading CTF 1.8 and CTF 2 traces: metadata (TSDL, JSON) into types, streams into batches of records, and the
 * fields of a record on demand.
 *
 * Files are mapped, so reading needs no memory beyond one batch per stream.
 *
 * What cannot be decoded is reported to the struct cvl_report and becomes a CVL_GAP record; reading
 * continues at the next packet. With opts.strict it ends the stream with an error instead.
 *
 * A struct cvl_trace may be shared by threads once it is open; a struct cvl_stream may not.
 */
#ifndef COEVAL_CTF_H
#define COEVAL_CTF_H

#include <stdbool.h>

#include <coeval/api.h>
#include <coeval/error.h>
#include <coeval/record.h>

CVL_BEGIN_DECLS

/* ---- types ---- */

enum cvl_type_kind {
	CVL_TYPE_INT, /* numbers first, up to CVL_TYPE_ENUM */
	CVL_TYPE_FLOAT,
	CVL_TYPE_ENUM,
	CVL_TYPE_STRING,
	CVL_TYPE_STRUCT,
	CVL_TYPE_VARIANT,
	CVL_TYPE_ARRAY,    /* fixed length */
	CVL_TYPE_SEQUENCE, /* length read from another field */
	CVL_TYPE_OPTIONAL, /* there or not, by another field (CTF 2) */
};

/** How texts are encoded. They are given as UTF-8. */
enum cvl_encoding { CVL_UTF8, CVL_UTF16BE, CVL_UTF16LE, CVL_UTF32BE, CVL_UTF32LE };

struct cvl_type;

struct cvl_member {
	const char *name; /* as in TSDL, with a leading underscore if it has one */
	const struct cvl_type *type;
};

/** Label of an enumeration; both ends belong to the range. Signed when the container is. */
struct cvl_label {
	const char *name;
	int64_t low, high; /* bit patterns of uint64 when the container is unsigned */
};

/** Values of the selector that choose option @option of a variant, or that an optional field is there. */
struct cvl_range {
	int64_t low, high; /* bit patterns of uint64 when the selector is unsigned */
	uint32_t option;
	bool is_signed; /* negative numbers are in it */
};

/** Where the field is that a length or selector of CTF 2 refers to. */
struct cvl_location {
	int origin;              /* enum cvl_scope; -1: the structure that the type is in, or, */
	unsigned up;             /* so many structures further out */
	const char *const *path; /* names of members from there */
	uint32_t n;
};

/** A type as the metadata declares it. Belongs to the trace. */
struct cvl_type {
	enum cvl_type_kind kind;
	uint32_t align; /* bits, a power of two */
	uint32_t size;  /* bits of an integer or float */
	bool is_signed;
	bool big_endian;
	bool text;                       /* an integer with an encoding: a character */
	uint8_t base;                    /* 2, 8, 10 or 16: preferred base for display */
	int clock;                       /* index of the clock it is mapped to, or -1 */
	const struct cvl_type *elem;     /* of array, sequence, optional; container of an enum */
	uint64_t length;                 /* of an array */
	const char *ref;                 /* length of a sequence, tag of a variant: path in TSDL */
	const struct cvl_member *member; /* of struct, variant */
	const struct cvl_label *label;   /* of enum; of an integer with flags, names of its bits */
	uint32_t n;                      /* members or labels */
	size_t declared_at;              /* byte of the metadata */
	/* of CTF 2 only */
	bool boolean;                        /* an integer that is true unless it is 0 */
	bool flags;                          /* an integer with names for bits */
	bool variable;                       /* an integer as LEB128, of size 64 */
	bool reversed;                       /* its bits are the other way round */
	uint8_t encoding;                    /* enum cvl_encoding, of a text */
	uint32_t roles;                      /* what the reader uses it for */
	const struct cvl_location *location; /* instead of ref */
	const struct cvl_range *range;       /* of variant, optional: n_ranges of them; an */
	uint32_t n_ranges;                   /* optional without: by a boolean */
};

/** @name without the one leading underscore that TSDL authors put before names. */
static inline const char *cvl_plain_name(const char *name)
{
	return name && name[0] == '_' ? name + 1 : name;
}

/* ---- traces ---- */

struct cvl_trace;

struct cvl_clock_class {
	const char *name; /* "" for the implied one */
	const char *uuid;
	const char *description;
	uint64_t rate_hz;
	int64_t offset_s;
	uint64_t offset; /* ticks */
	/* ticks by which a reading may be off, and by which the clock may be off its origin; 0: not stated */
	uint64_t precision, accuracy;
	/* the metadata declares no clock for its timestamps: 1 GHz is assumed */
	bool implied;
	/* of CTF 2: its values do not count from 1970, so that the offset says nothing of the time of day */
	bool no_epoch;
	/* of CTF 2: timestamps of as many bytes as they need, which are taken to wrap by 7 bits a byte */
	bool variable;
};

/** Where a field is in a record, outermost first. */
enum cvl_scope {
	CVL_SCOPE_PACKET_HEADER,
	CVL_SCOPE_PACKET_CONTEXT,
	CVL_SCOPE_EVENT_HEADER,
	CVL_SCOPE_STREAM_CONTEXT, /* of the event, common to its stream */
	CVL_SCOPE_EVENT_CONTEXT,
	CVL_SCOPE_FIELDS,
	CVL_SCOPES
};

struct cvl_event_class {
	const char *name;
	uint64_t id;
	const struct cvl_type *type[CVL_SCOPES]; /* NULL where it has none */
	enum cvl_kind kind; /* CVL_EVENT, or the record kind in a trace of ours */
	int clock;          /* index of the clock its stream is on, -1 if none */
};

/**
 * Open the trace in directory @path, which holds a file called metadata. A metadata error is fatal,
 * with the offset of the token.
 */
CVL_API int cvl_trace_open(struct cvl_trace **trace, const char *path,
			   const struct cvl_report *report, struct cvl_error *err);
CVL_API void cvl_trace_close(struct cvl_trace *trace);

/** Parse the text of metadata without a directory: for tests and fuzzers. No streams. */
CVL_API int cvl_trace_parse(struct cvl_trace **trace, const char *text, size_t n, const char *name,
			    struct cvl_error *err);

/** The directory, and the clock classes declared in its metadata; valid as long as the trace. */
CVL_API const char *cvl_trace_path(const struct cvl_trace *trace);
CVL_API size_t cvl_trace_clocks(const struct cvl_trace *trace);
CVL_API const struct cvl_clock_class *cvl_trace_clock(const struct cvl_trace *trace, size_t i);

/** Value of `env` entry @name as text, or NULL. */
CVL_API const char *cvl_trace_env(const struct cvl_trace *trace, const char *name);

/** Value of `env` entry NAMEindex ("line0") as text, or NULL. */
CVL_API const char *cvl_trace_env_at(const struct cvl_trace *trace, const char *name, size_t index);

#define CVL_LINE_NONE (-1)
#define CVL_LINE_AMBIGUOUS (-2)
/**
 * Number of the digital line of @trace that @name means: the one with that full name, or else the
 * only one with that name after its scopes (PPS means libsigrok.PPS). CVL_LINE_NONE: none;
 * CVL_LINE_AMBIGUOUS: several.
 */
CVL_API int cvl_trace_line(const struct cvl_trace *trace, const char *name);
/**
 * Append lines of @trace with names similar to @name to the list @text while they fit. Returns how
 * many there are.
 */
CVL_API size_t cvl_trace_lines_near(const struct cvl_trace *trace, const char *name, char *text,
				    size_t size);

/** Number in `env` entry @name, or 0. In a trace of ours: "lines", "channels", "resolution". */
CVL_API uint64_t cvl_trace_env_number(const struct cvl_trace *trace, const char *name);

/** Whether cvl_writer wrote it, so that its event names give our record kinds. */
CVL_API bool cvl_trace_ours(const struct cvl_trace *trace);

/** `env` entry tracer_name of our CTF exports, and prefix of the exporter's own fields. */
#define CVL_EXPORT_TRACER "coeval-export"
#define CVL_EXPORT_FIELD "coeval_"

/**
 * Whether cvl_stream_visit() shows field @name of scope @scope: not those about the packet or the
 * export itself.
 */
CVL_API bool cvl_trace_shows(const struct cvl_trace *trace, enum cvl_scope scope, const char *name,
			     const struct cvl_type *type);

/** Event classes of all streams; batch->cls of an event indexes this list. */
CVL_API size_t cvl_trace_events(const struct cvl_trace *trace);
CVL_API const struct cvl_event_class *cvl_trace_event(const struct cvl_trace *trace, size_t i);

/** Stream files, in the order of their names. */
CVL_API size_t cvl_trace_streams(const struct cvl_trace *trace);
CVL_API const char *cvl_trace_stream_name(const struct cvl_trace *trace, size_t i);

/* ---- streams ---- */

struct cvl_stream;

struct cvl_stream_opts {
	bool strict;
	const struct cvl_report *report;
	/*
	 * packets entirely outside are skipped, except the one that gives the levels at the start;
	 * to 0: no limit
	 */
	struct cvl_tick from, to;
	/*
	 * by so many ticks a record may come after a later one: so much is held back, and records
	 * come in order but for those that are later still
	 */
	uint64_t disorder;
	bool unfinished; /* its writer died: ends in an open CVL_GAP_UNFINISHED */
	bool growing;    /* its writer is active: see cvl_stream_grow() */
	size_t batch;    /* most records in a batch; 0: CVL_BATCH_MAX */
	/*
	 * What the stream held when it was finished, if known: if it holds less now, it ends in a
	 * CVL_GAP_TRUNCATED.
	 */
	uint64_t bytes;              /* 0: unknown */
	uint64_t records;            /* 0: unknown */
	struct cvl_tick first, last; /* both 0: unknown */
};

/** What is known of a stream so far. */
struct cvl_stream_stats {
	uint64_t records; /* gaps not counted */
	uint64_t packets;
	uint64_t gaps;
	uint64_t lost; /* records known to be lost */
	uint64_t late;
	uint64_t bytes;      /* size of the file */
	uint64_t position;   /* bytes read */
	struct cvl_tick end; /* end of the packets read so far */
	bool beyond;         /* packets after the range were left unread */
};

/**
 * Open stream @i of @trace; @opts may be NULL. CVL_E_IO, CVL_E_NOMEM, and errors of its first
 * packet.
 */
CVL_API int cvl_stream_open(struct cvl_stream **stream, const struct cvl_trace *trace, size_t i,
			    const struct cvl_stream_opts *opts, struct cvl_error *err);
/** A stream over bytes in memory, which must outlive it: for tests and fuzzers. */
CVL_API int cvl_stream_memory(struct cvl_stream **stream, const struct cvl_trace *trace,
			      const void *bytes, size_t n, const char *name,
			      const struct cvl_stream_opts *opts, struct cvl_error *err);
CVL_API void cvl_stream_close(struct cvl_stream *stream);

/**
 * Let a stream opened as growing see new data: continue after the last complete packet read. Until
 * then cvl_stream_next() finds no more. @opts: from now on, including whether it still grows; of a
 * stream that does not grow, if nothing of it was read yet. The current batch stays valid.
 */
CVL_API int cvl_stream_grow(struct cvl_stream *stream, const struct cvl_stream_opts *opts,
			    struct cvl_error *err);

/** Clock of the stream's ticks (index into the trace's clocks), or -1 before the first packet. */
CVL_API int cvl_stream_clock(const struct cvl_stream *stream);

/**
 * Next batch, all of one packet: 1 and @batch filled, 0 at the end, or a negative code. The batch
 * is valid until the next call.
 */
CVL_API int cvl_stream_next(struct cvl_stream *stream, struct cvl_batch *batch,
			    struct cvl_error *err);

/** What was read so far. */
CVL_API void cvl_stream_stats(const struct cvl_stream *stream, struct cvl_stream_stats *stats);

/* ---- fields ---- */

/** A scalar passed to a visitor. */
struct cvl_value {
	const struct cvl_type *type; /* for text arrays: the array's */
	union {
		uint64_t u;
		int64_t i;
		double f;
		struct {
			const char *text; /* not NUL-terminated */
			size_t len;
		} s;
	};
};

/** Receives the fields of one record in order. Names are NULL for elements of arrays. */
struct cvl_visitor {
	/** Integers, floats, enums, strings and arrays of characters. */
	void (*value)(void *ctx, const char *name, const struct cvl_value *value);
	/**
	 * A struct, array, sequence or variant begins; @n members or elements follow, then end().
	 * For a variant, n is the index of the option chosen and exactly one member follows.
	 */
	void (*begin)(void *ctx, const char *name, const struct cvl_type *type, uint64_t n);
	void (*end)(void *ctx, const struct cvl_type *type);
	/**
	 * A scope begins, if it exists and is not empty; may be NULL. Its struct follows by
	 * begin().
	 */
	bool (*scope)(void *ctx, enum cvl_scope scope); /* false: skip this scope */
	void *ctx;
	/** An optional field: if it is there, it follows as if it was not optional. May be NULL. */
	void (*optional)(void *ctx, const char *name, const struct cvl_type *type, bool there);
};

/** Number of the batch's packet in its stream: while it is the same, so is the packet's context. */
CVL_API uint64_t cvl_batch_packet(const struct cvl_batch *batch);

/**
 * Decode the fields of record @i of a batch of the stream's that is still valid. Scopes come in order, without the
 * event header and fields about the packet itself (sizes, timestamps, counters). Returns 0, or a
 * negative code if the bytes run out. Several threads may do so at a time.
 */
CVL_API int cvl_stream_visit(struct cvl_stream *stream, const struct cvl_batch *batch, size_t i,
			     const struct cvl_visitor *visitor, struct cvl_error *err);

/**
 * Class of record @i, or NULL for gaps that the reader found itself.
 */
CVL_API const struct cvl_event_class *cvl_stream_class(const struct cvl_stream *stream,
						       const struct cvl_batch *batch, size_t i);

CVL_END_DECLS

#endif
