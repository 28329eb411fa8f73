/* SPDX-License-Identifier: MIT */
/** Shared by the session files. */
#ifndef SESSION_INTERNAL_H
#define SESSION_INTERNAL_H

#include <jansson.h>

#include <coeval/files.h>
#include <coeval/session.h>

#include "core/uuid.h"
#include "store/stored.h"

#define SESSION_CLOCKS_MAX 4096
#define SESSION_SEARCH_DEPTH 6

/* The folder of sessions beside a session, below it. */
#define SESSION_IMPORTING "importing"

/** A clock. Strings of pub are owned here. */
struct session_entry {
	struct cvl_clock pub;
	char *name, *clock, *node, *trace, *class, *format, *origin, *hash, *uuid, *host;
	struct cvl_writer *writer;   /* while it is being written */
	struct cvl_packets *packets; /* the same for a trace stored packet by packet */
	struct stored stored;        /* once finished */
	int held_lock; /* of a mirror that has ended, until that is saved: a descriptor + 1, or 0 */
	int epoch_before; /* index of the epoch before it, or -1 */
};

struct cvl_session {
	char *path;
	char uuid[CVL_UUID_TEXT];
	char created[32];
	int64_t epoch;
	bool has_epoch;
	bool made;   /* created by us, just now */
	bool beside; /* see beside.h */
	int lock_fd; /* directory, locked while we may add clocks; or -1 */
	struct session_entry *clock;
	size_t n, room;
};

/* ---- clocks: session.c ---- */

/** Without clocks. NULL when out of memory. */
struct cvl_session *session_new(const char *path);

/** CVL_E_LIMIT if @s holds as many clocks as a session may. */
int session_has_room(const struct cvl_session *s, struct cvl_error *err);

/** One more clock; its strings are copied from @from. NULL when out of memory. */
struct session_entry *session_add_entry(struct cvl_session *s, const struct cvl_clock *from,
					const char *uuid);

void session_entry_free(struct session_entry *e);

/** All of them. */
void session_forget_entries(struct cvl_session *s);

/** Find anew which clocks are the same, and epochs of one. */
void session_relate(struct cvl_session *s);

/** The last epoch of clock @name, or -1. */
int session_last_epoch(const struct cvl_session *s, const char *name);

/** Fill @c and @name from its last epoch so far, @last, which ended at @after. */
void session_next_epoch(const struct cvl_session *s, size_t last, struct cvl_tick after,
			struct cvl_clock *c, char *name, size_t size);

/** A unique name for a clock, based on @wanted. */
void session_unique_name(const struct cvl_session *s, char *out, size_t size, const char *wanted);

/** @tick of a clock of @rate_hz, in ns. */
int64_t session_since_zero(uint64_t tick, uint64_t rate_hz);

/** Claimed wall-clock time of the first tick of @c; 0: none. */
int64_t session_wall_clock(const struct cvl_clock *c);

/** Set timeline zero to the start of the first clock that claims a wall-clock time. */
void session_set_epoch(struct cvl_session *s, int64_t unix_ns);

/* ---- session.json: session_json.c ---- */

/** How a file is read: jsonfile_read(), or jsonfile_read_as_it_is(). */
typedef json_t *session_reader(const char *path, const char *kind, int version,
			       struct cvl_error *err);

/** Fill @s, which is new, from session.json at @path. */
int session_load(struct cvl_session *s, const char *path, session_reader *read_file,
		 struct cvl_error *err);

/** A clock as in that file; the caller's. NULL when out of memory. */
json_t *session_clock_json(const struct cvl_session *s, const struct session_entry *e);

/** Nothing is written for one beside another. */
int session_save(struct cvl_session *s, struct cvl_error *err);

/**
 * A clock ended, with @rc: save that unless it failed, and then let go of its stream, by closing
 * @lock (or -1). Returns the first failure.
 */
int session_save_ended(struct cvl_session *s, int rc, int lock, struct cvl_error *err);

/* ---- stated facts: session_facts.c ---- */

void session_put_facts(json_t *j, const struct cvl_clock *c);
void session_take_facts(const json_t *j, struct cvl_clock *c);

/* ---- traces imported as they are: session_foreign.c, session_join.c ---- */

/** Open traces at or under @path that are not in a session. */
int session_open_traces(struct cvl_session *s, const char *path, const struct cvl_report *report,
			struct cvl_error *err);

/** Path of a new directory for a trace, with a name based on @wanted. */
int session_new_place(const struct cvl_session *s, const char *wanted, char place[CVL_PATH_MAX],
		      struct cvl_error *err);

/** Copy the trace at @path, or link to it. */
int session_place_trace(struct cvl_session *s, const char *path, const char *node, bool link,
			const struct cvl_progress *progress, char place[CVL_PATH_MAX],
			struct cvl_error *err);

/** Progress of hashing or copying several trees in turn. */
struct session_moving {
	const struct cvl_progress *progress; /* overall progress, or NULL */
	uint64_t before, now;                /* bytes of the trees before, and of this one */
};

/** Progress callback for one tree; @ctx is a struct session_moving. */
bool session_tell_moved(void *ctx, uint64_t done, uint64_t total);

/** Report if one of the first @n clocks was imported from the same bytes as @origin. */
void session_tell_again(const struct cvl_session *s, size_t n, const char *origin, const char *hash,
			const struct cvl_report *report);

/** The part of cvl_session_clean() that removes traces of no clock. */
int session_clean_traces(const struct cvl_session *s, bool (*see)(void *ctx, const char *path),
			 void *ctx, struct cvl_error *err);

/** Undo the addition of the clocks from @first on. */
void session_take_back(struct cvl_session *s, size_t first);

/** Record what a clock holds whose packets were written elsewhere and are complete. */
int session_seal(struct session_entry *e, const struct cvl_progress *progress,
		 struct cvl_error *err);

/** The earlier clock in the same trace as clock @i, or -1: a trace may hold several clocks. */
int session_placed_with(const struct cvl_session *from, size_t i);

#endif
