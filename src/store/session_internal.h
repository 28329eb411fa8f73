/* SPDX-License-Identifier: MIT */
/** What the files of sessions share. */
#ifndef SESSION_INTERNAL_H
#define SESSION_INTERNAL_H

#include <jansson.h>

#include <coeval/files.h>
#include <coeval/session.h>

#include "core/uuid.h"
#include "store/stored.h"

#define SESSION_CLOCKS_MAX 4096
#define SESSION_SEARCH_DEPTH 6

/** A clock. Strings of pub are owned here. */
struct session_entry {
	struct cvl_clock pub;
	char *name, *node, *trace, *class, *format, *origin, *hash, *uuid, *host;
	struct cvl_writer *writer;   /* while it is being written */
	struct cvl_packets *packets; /* the same of a trace that is stored as it comes */
	struct stored stored;        /* once it is finished */
};

struct cvl_session {
	char *path;
	char uuid[CVL_UUID_TEXT];
	char created[32];
	int64_t epoch;
	bool has_epoch;
	bool made;   /* by us, just now */
	int lock_fd; /* directory, locked while we may add clocks; or -1 */
	struct session_entry *clock;
	size_t n, room;
};

/* ---- clocks: session.c ---- */

/** CVL_E_LIMIT if @s holds as many clocks as a session may. */
int session_has_room(const struct cvl_session *s, struct cvl_error *err);

/** One more clock; its strings are copied from @from. NULL when out of memory. */
struct session_entry *session_add_entry(struct cvl_session *s, const struct cvl_clock *from,
					const char *uuid);

void session_entry_free(struct session_entry *e);

/** The earlier clock that clock @i is, or -1. */
int session_find_same(const struct cvl_session *s, size_t i);

/** A name for a clock that no other has, like @wanted. */
void session_unique_name(const struct cvl_session *s, char *out, size_t size, const char *wanted);

/** What a clock of @rate_hz counts as @tick, ns. */
int64_t session_since_zero(uint64_t tick, uint64_t rate_hz);

/** Wall-clock time at the first tick of @c, as it claims; 0 if it claims none. */
int64_t session_wall_clock(const struct cvl_clock *c);

/** Timeline zero is where the first clock that claims a wall-clock time begins. */
void session_set_epoch(struct cvl_session *s, int64_t unix_ns);

/* ---- session.json: session_json.c ---- */

/** How a file is read: jsonfile_read(), or jsonfile_read_as_it_is(). */
typedef json_t *session_reader(const char *path, const char *kind, int version,
			       struct cvl_error *err);

/** Fill @s, which is new, from session.json at @path. */
int session_load(struct cvl_session *s, const char *path, session_reader *read_file,
		 struct cvl_error *err);

int session_save(struct cvl_session *s, struct cvl_error *err);

/* ---- what is stated: session_facts.c ---- */

void session_put_facts(json_t *j, const struct cvl_clock *c);
void session_take_facts(const json_t *j, struct cvl_clock *c);

/* ---- traces that come as they are: session_foreign.c, session_join.c ---- */

/** Open what is no session of ours: traces at or under @path. */
int session_open_traces(struct cvl_session *s, const char *path, const struct cvl_report *report,
			struct cvl_error *err);

/** A directory that is not there yet, for a trace called like @wanted. */
int session_new_place(const struct cvl_session *s, const char *wanted, char place[CVL_PATH_MAX],
		      struct cvl_error *err);

/** Copy the trace at @path, or link to it. */
int session_place_trace(struct cvl_session *s, const char *path, const char *node, bool link,
			const struct cvl_progress *progress, char place[CVL_PATH_MAX],
			struct cvl_error *err);

/** Several trees are hashed or copied, one after the other. */
struct session_moving {
	const struct cvl_progress *progress; /* who is told of all of them, or NULL */
	uint64_t before, now;                /* bytes of those before, and of this one */
};

/** The progress of each of them; @ctx is a struct session_moving. */
bool session_tell_moved(void *ctx, uint64_t done, uint64_t total);

/** Tell if one of the first @n clocks came of the same bytes as @origin does. */
void session_tell_again(const struct cvl_session *s, size_t n, const char *origin, const char *hash,
			const struct cvl_report *report);

/** What a clock holds whose packets are somebody else's, and all there. */
int session_seal(struct session_entry *e, const struct cvl_progress *progress,
		 struct cvl_error *err);

/** The trace of a clock that was placed already, or -1: a trace may hold several clocks. */
int session_placed_with(const struct cvl_session *from, size_t i);

#endif
