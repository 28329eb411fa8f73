/* SPDX-License-Identifier: MIT */
/**
 * What a finished clock's trace held when it was stored, as session.json keeps it: by that a loss
 * of later is found and shown.
 */
#ifndef SESSION_STORED_H
#define SESSION_STORED_H

#include <jansson.h>

#include <coeval/session.h>

struct stored_file {
	char *name;
	uint64_t bytes;
};

/** All zero: nothing is known. */
struct stored {
	struct stored_file *file; /* metadata and streams */
	size_t n;
	bool counted; /* a trace of ours, of which this is known: */
	struct cvl_stored sum;
};

/** What clock @i of @s held; it belongs to the session. */
const struct stored *session_stored(const struct cvl_session *s, size_t i);

void stored_free(struct stored *st);
/** CVL_E_NOMEM. */
int stored_copy(struct stored *to, const struct stored *from);
/** @st becomes what a writer of ours stored. CVL_E_NOMEM. */
int stored_take(struct stored *st, const struct cvl_stored *sum);
/**
 * @st becomes the files that are in the directory @trace now. CVL_E_NOMEM, what cvl_fail_errno()
 * says.
 */
int stored_look(struct stored *st, const char *trace, struct cvl_error *err);

/** NULL if nothing is known, or when out of memory. */
json_t *stored_json(const struct stored *st);
/** The opposite; @j may be NULL. CVL_E_SYNTAX without a message, CVL_E_NOMEM. */
int stored_load(struct stored *st, const json_t *j);

/**
 * Tell of files in @trace that are missing, or of another size than they had. What is told is no
 * error: readers show the loss.
 */
void stored_check(const struct stored *st, const char *trace, const struct cvl_report *report);

/** What reading the stream @file is to find. */
void stored_expect(const struct stored *st, const char *file, struct cvl_stream_opts *opts);

/** cvl_session_open() of a session.json, whatever its checksum: to be verified. */
int session_open_as_it_is(struct cvl_session **s, const char *path, struct cvl_error *err);

/**
 * The clocks of @s for which @out is set are not in it any more: first session.json is without
 * them, then their traces are removed. Other files of the session stay as they are.
 */
int session_take_out(struct cvl_session *s, const bool *out, struct cvl_error *err);

/** Wall-clock time at tick 0, as the metadata claim it; 0: none. */
int64_t session_claimed_start(const struct cvl_clock_class *class);

/**
 * Open the trace of clock @i: what session.json says of the clock is what the metadata say (else
 * CVL_E_MISMATCH). Besides that, as cvl_trace_open().
 */
int session_open_trace(const struct cvl_session *s, size_t i, struct cvl_trace **trace,
		       const struct cvl_report *report, struct cvl_error *err);

/**
 * The clocks from @first on were imported from what has the digest @digest: kept as their hash, and
 * told if an earlier clock has the same.
 */
int session_source(struct cvl_session *s, size_t first, const char *digest,
		   const struct cvl_report *report, struct cvl_error *err);

#endif
