/* SPDX-License-Identifier: MIT */
/**
 * What a finished clock's trace held when it was stored, as kept in session.json, so that later
 * losses are detected.
 */
#ifndef SESSION_STORED_H
#define SESSION_STORED_H

#include <jansson.h>

#include <coeval/session.h>

struct stored_file {
	char *name;
	uint64_t bytes;
};

/** All zero: unknown. */
struct stored {
	struct stored_file *file; /* metadata and streams */
	size_t n;
	bool counted; /* a trace of ours, for which this is known: */
	struct cvl_stored sum;
};

/** How many clocks of @s have stored something: a clock is listed before. */
size_t session_written(const struct cvl_session *s);

/** What clock @i of @s held; owned by the session. */
const struct stored *session_stored(const struct cvl_session *s, size_t i);

void stored_free(struct stored *st);
/** CVL_E_NOMEM. */
int stored_copy(struct stored *to, const struct stored *from);
/** Set @st to what a writer of ours stored. CVL_E_NOMEM. */
int stored_take(struct stored *st, const struct cvl_stored *sum);
/** Set @st to the files now in directory @trace. CVL_E_NOMEM, or as cvl_fail_errno(). */
int stored_look(struct stored *st, const char *trace, struct cvl_error *err);

/** Whether both name the same files, of the same sizes. */
bool stored_same_files(const struct stored *a, const struct stored *b);

/** NULL if nothing is known, or when out of memory. */
json_t *stored_json(const struct stored *st);
/** The inverse; @j may be NULL. CVL_E_SYNTAX without a message, CVL_E_NOMEM. */
int stored_load(struct stored *st, const json_t *j);

/** Report files in @trace that are missing or changed size. Not an error: readers show the loss. */
void stored_check(const struct stored *st, const char *trace, const struct cvl_report *report);

/** Set in @opts what reading the stream @file should find. */
void stored_expect(const struct stored *st, const char *file, struct cvl_stream_opts *opts);

/**
 * How the stream @file of the trace of clock @clock is read: what it should hold, by how much its
 * records are out of order, whether it grows or was left unfinished.
 */
struct cvl_stream_opts session_stream_opts(const struct cvl_session *s, size_t clock,
					   const char *file);

/** cvl_session_open() without checking the checksum of session.json, for verification. */
int session_open_as_it_is(struct cvl_session **s, const char *path, struct cvl_error *err);

/**
 * Remove the clocks of @s for which @out is set: first from session.json, then their traces. Other
 * files of the session are unchanged.
 */
int session_take_out(struct cvl_session *s, const bool *out, struct cvl_error *err);

/** Wall-clock time at tick 0 claimed by the metadata; 0: none. */
int64_t session_claimed_start(const struct cvl_clock_class *class);

/**
 * Open the trace of clock @i as cvl_trace_open() does; CVL_E_MISMATCH if session.json and the
 * metadata disagree about the clock.
 */
int session_open_trace(const struct cvl_session *s, size_t i, struct cvl_trace **trace,
		       const struct cvl_report *report, struct cvl_error *err);

/**
 * Set the hash of the clocks from @first on to @digest, that of their source; report an earlier
 * clock with the same hash.
 */
int session_source(struct cvl_session *s, size_t first, const char *digest,
		   const struct cvl_report *report, struct cvl_error *err);

#endif
