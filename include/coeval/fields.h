/* SPDX-License-Identifier: MIT */
/**
 * Names of records, their fields by name, and records as text and JSON.
 *
 * Memory: last levels and names of each stream. One thread at a time per formatter.
 */
#ifndef COEVAL_FIELDS_H
#define COEVAL_FIELDS_H

#include <string.h>

#include <coeval/api.h>
#include <coeval/out.h>
#include <coeval/timeline.h>

CVL_BEGIN_DECLS

/* ---- names ---- */

/**
 * Number of lines of the trace of @stream, at most CVL_LINES_MAX; of analog channels, at most
 * CVL_CHANNELS_MAX. 0 for foreign traces.
 */
CVL_API size_t cvl_timeline_lines(const struct cvl_timeline *tl, size_t stream);
CVL_API size_t cvl_timeline_channels(const struct cvl_timeline *tl, size_t stream);

/** Name of a line or channel; generated in @buf ("D3", "A0") if the trace has none. */
CVL_API const char *cvl_timeline_line(const struct cvl_timeline *tl, size_t stream, size_t line,
				      char buf[24]);
CVL_API const char *cvl_timeline_channel(const struct cvl_timeline *tl, size_t stream,
					 size_t channel, char buf[24]);

/**
 * Name of record @i: its event class, or its kind; "levels" if it is an edge that restates them.
 */
CVL_API const char *cvl_record_name(const struct cvl_timeline *tl, const struct cvl_slice *slice,
				    size_t i);

/* ---- values ---- */

/** The double whose bits a CVL_SAMPLE carries. */
static inline double cvl_sample(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/**
 * The field @name of event @i, without the underscore that TSDL may prefix; the outermost of
 * several. False: none. Its text belongs to the stream's batch.
 */
CVL_API bool cvl_field(const struct cvl_timeline *tl, const struct cvl_slice *slice, size_t i,
		       const char *name, struct cvl_value *value);

/**
 * A value as text in babeltrace2's style, and as JSON: an enumeration is
 * {"value":1,"labels":["A"]}, a value that JSON cannot hold is null.
 */
CVL_API void cvl_value_text(struct cvl_out *o, const struct cvl_value *value);
CVL_API void cvl_value_json(struct cvl_out *o, const struct cvl_value *value);

/**
 * The fields of event @i: `{ cpu_id = 0 }, { a = 1, b = "x" }`, one group per scope.
 * CVL_E_TRUNCATED: the packet ends inside it.
 */
CVL_API int cvl_fields_text(struct cvl_out *o, struct cvl_stream *stream,
			    const struct cvl_batch *batch, size_t i, struct cvl_error *err);
/** `{"cpu_id":0,"a":1,"b":"x"}`: all scopes in one object. */
CVL_API int cvl_fields_json(struct cvl_out *o, struct cvl_stream *stream,
			    const struct cvl_batch *batch, size_t i, struct cvl_error *err);

/* ---- whole records ---- */

struct cvl_selection;

/** How records are written. */
struct cvl_format {
	/*
	 * a line each: `[time] node name: { fields }`, or an object: t_ns, bound_ns (null:
	 * unknown), bound, tick, node, clock, kind, name, and its contents
	 */
	bool json;
	bool bounds;   /* text: the half-width after each time */
	bool ticks;    /* text: ticks of the clock instead of times */
	bool utc;      /* date and time of day; the session must have an epoch */
	unsigned jobs; /* threads for cvl_formatter_block(); 0: one for each processor, up to 8 */
};

/**
 * Writes the records of a timeline. It shows which lines an edge changed, so it must be given every
 * edge. What only restates levels for readers that start there is left out.
 */
struct cvl_formatter;

/** CVL_E_NOMEM. */
CVL_API int cvl_formatter_open(struct cvl_formatter **f, const struct cvl_format *format,
			       struct cvl_error *err);
/**
 * Begin with @tl, which must outlive it, or continue with one that was opened again on the same
 * session: the last levels of lines are kept. @selection: write only what it finds, for a state its
 * begin and end, and where it is first known to hold; it belongs to the caller. NULL: everything.
 * CVL_E_NOMEM.
 */
CVL_API int cvl_formatter_begin(struct cvl_formatter *f, struct cvl_timeline *tl,
				struct cvl_selection *selection, struct cvl_error *err);
CVL_API void cvl_formatter_close(struct cvl_formatter *f);

/** Write the records of @slice. CVL_E_NOMEM, and what is wrong with their fields. */
CVL_API int cvl_formatter_slice(struct cvl_formatter *f, struct cvl_out *o,
				const struct cvl_slice *slice, struct cvl_error *err);

/**
 * Write all records of @block, which several threads do unless there is a selection: the same bytes
 * for any number of them.
 */
CVL_API int cvl_formatter_block(struct cvl_formatter *f, struct cvl_out *o,
				const struct cvl_block *block, struct cvl_error *err);

CVL_END_DECLS

#endif
