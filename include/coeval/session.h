/* SPDX-License-Identifier: MIT */
/**
 * A session: a directory with session.json, one CTF trace per clock, and sync.json.
 *
 * What imports and captures wrote is never changed; sync.json is derived and is replaced as a
 * whole, by rename.
 */
#ifndef COEVAL_SESSION_H
#define COEVAL_SESSION_H

#include <coeval/api.h>
#include <coeval/clockmap.h>
#include <coeval/ctf.h>
#include <coeval/error.h>
#include <coeval/packets.h>
#include <coeval/store.h>

CVL_BEGIN_DECLS

struct cvl_session;

/** Kind of clock: whether it may have been set while traced. */
enum cvl_counter {
	CVL_COUNTER_BY_FORMAT, /* not stated: what is usual, see cvl_clock_counter() */
	CVL_COUNTER,           /* counts its oscillator: an analyzer, a cycle counter */
	CVL_MONOTONIC,         /* an operating system's, slewed at most */
	CVL_SETTABLE,          /* a wall clock, which may be stepped */
};

/** "counter", "monotonic", "settable"; NULL for CVL_COUNTER_BY_FORMAT. */
CVL_API const char *cvl_counter_name(enum cvl_counter counter);

/** Facts stated about a clock besides its ticks. Zero: not stated. */
struct cvl_clock_facts {
	int64_t start_unix_ns;  /* wall-clock time at its base_tick, where its records begin */
	int64_t start_bound_ns; /* half-width of that, against UTC */
	const char *host;       /* names the machine whose clock start_unix_ns was read from, */
	/* and the half-width relative to it: clocks of one host agree that well */
	int64_t host_bound_ns;
	double drift_ppm; /* how far its rate can be off */
	enum cvl_counter counter;
	int64_t disorder_ns; /* by how much a record may come after a later one, at most */
};

/** A clock of the session, as session.json describes it. Strings belong to the session. */
struct cvl_clock {
	const char *name; /* unique in the session */
	const char *node;
	const char *trace; /* path of its CTF trace, ready to open */
	/* name of the CTF clock class in that trace; "" for the trace's only one */
	const char *clock_class;
	uint64_t rate_hz;
	uint64_t resolution;   /* ticks */
	int64_t start_unix_ns; /* claimed wall-clock time at tick 0, or 0 */
	uint64_t
		base_tick; /* where no wall-clock time is claimed: the tick that stands at time 0 */
	int same_as;       /* index of the earlier clock that is the same one (same UUID), or -1 */
	/*
	 * A clock that is reset begins a new epoch: a clock of its own here, NAME#2, NAME#3, ...,
	 * whose ticks have nothing to do with those before.
	 */
	const char *clock;   /* name of the clock whose epoch this is: its own if it is the first */
	unsigned epoch;      /* 1: the first */
	int first_epoch;     /* index of the first; its own index, or -1 if that was removed */
	uint64_t after_tick; /* of the epoch before: this one began later */
	bool start_stated;   /* start_unix_ns was stated, not read from the trace */
	int64_t start_bound_ns; /* how far start_unix_ns may be off UTC; 0: not stated */
	const char *host;       /* whose clock start_unix_ns was read from; "": not stated */
	int64_t host_bound_ns;  /* how far it may be off that clock; 0: not stated */
	double drift_ppm;       /* how far its rate can be off; 0: see cvl_clock_drift_ppm() */
	/* records may come after later ones, by at most this: readers hold so much back */
	uint64_t disorder_ticks;
	enum cvl_counter counter;
	const char *format; /* importer or driver that made it */
	const char *origin; /* path or device it came from */
	/*
	 * "sha256:..." of a foreign trace's files; "sampled:..." of the size and parts of an
	 * imported file; or ""
	 */
	const char *hash;
	const char *uuid; /* of the clock class, or "" */
	bool foreign;     /* the trace was written by another program: never modified */
	bool unfinished;  /* its writer is gone without closing it */
	bool growing;     /* its writer is at work */
};

/**
 * Open the session in @path. A directory without session.json that is or contains a CTF trace is
 * opened as a session of those traces, without writing anything.
 */
CVL_API int cvl_session_open(struct cvl_session **s, const char *path,
			     const struct cvl_report *report, struct cvl_error *err);

/** Open the session in @path for adding clocks; created if it does not exist (its parent must). */
CVL_API int cvl_session_create(struct cvl_session **s, const char *path, struct cvl_error *err);

/** Close; a session from cvl_session_create() that got no clocks is removed again. */
CVL_API void cvl_session_close(struct cvl_session *s);

/** Its directory, as given. */
CVL_API const char *cvl_session_path(const struct cvl_session *s);
/** Random id, fixed at creation; 36 characters. */
CVL_API const char *cvl_session_uuid(const struct cvl_session *s);
/** Wall-clock time of timeline zero, ns since 1970 UTC; 0 if no clock claimed one. */
CVL_API int64_t cvl_session_epoch(const struct cvl_session *s);

/**
 * How far the rate of @c can be off, ppm: as stated, or by what recorded it. The crystals of
 * analyzers are unknown, and cheap ones are off by 500 ppm and more: 1000. Everything else, mostly
 * computers: 200.
 */
CVL_API double cvl_clock_drift_ppm(const struct cvl_clock *c);

/**
 * Kind of clock @c: as stated, or CVL_SETTABLE for one of a foreign trace unless its name is that
 * of a counter or monotonic clock.
 */
CVL_API enum cvl_counter cvl_clock_counter(const struct cvl_clock *c);

/** Number of clocks, and clock @i, which belongs to the session and moves when a clock is added. */
CVL_API size_t cvl_session_clocks(const struct cvl_session *s);
CVL_API const struct cvl_clock *cvl_session_clock(const struct cvl_session *s, size_t i);
/** Whether glob @pattern matches the node, the clock, or this epoch of it. */
CVL_API bool cvl_clock_matches(const struct cvl_clock *c, const char *pattern);
/** Index of the clock called @name, or else of the only clock of node @name; -1 if none. */
CVL_API int cvl_session_find(const struct cvl_session *s, const char *name);

/** What a clock of a session holds. */
struct cvl_contents {
	uint64_t lines, channels; /* digital lines and analog channels, of traces of ours */
	size_t events;            /* classes of events */
	uint64_t records, gaps;   /* restated levels are not records */
	bool any;                 /* it holds something, from first to last */
	struct cvl_tick first, last;
};

/**
 * What clock @clock holds: as counted when it was stored, else its trace is read to the end.
 * @progress, in bytes of a stream, may be NULL.
 */
CVL_API int cvl_session_contents(const struct cvl_session *s, size_t clock,
				 struct cvl_contents *contents, const struct cvl_progress *progress,
				 struct cvl_error *err);

/** State facts about clock @i; those that are zero in @facts are unchanged. */
CVL_API int cvl_session_state(struct cvl_session *s, size_t i, const struct cvl_clock_facts *facts,
			      struct cvl_error *err);

/** Where a clock's records came from. */
struct cvl_origin {
	const char *format;
	const char *path; /* "-" for a pipe */
	const char *hash; /* or NULL */
};

/**
 * Add a clock with a store of its own and return its writer. session.json lists the clock from here
 * on, marked unfinished until cvl_session_finish(). A name already in use gets "-2", "-3", ...
 * appended.
 */
CVL_API int cvl_session_add(struct cvl_session *s, const struct cvl_store_desc *desc,
			    const struct cvl_origin *origin, struct cvl_writer **w,
			    struct cvl_error *err);

/**
 * Resume clock @i, whose writer is gone: see cvl_writer_resume(). @desc as when it was added; its
 * wall-clock time is taken from the session.
 */
CVL_API int cvl_session_resume(struct cvl_session *s, size_t i, const struct cvl_store_desc *desc,
			       struct cvl_writer **w, struct cvl_tick *last, struct cvl_error *err);

/** Close a writer from cvl_session_add() and mark its clock finished. Frees @w in any case. */
CVL_API int cvl_session_finish(struct cvl_session *s, struct cvl_writer *w, struct cvl_tick end,
			       struct cvl_error *err);

/** A clock whose trace arrives in packets. Strings are copied. */
struct cvl_packets_desc {
	const char *clock;    /* name, as of struct cvl_store_desc */
	const char *node;     /* NULL: same as clock */
	const char *metadata; /* TSDL, of exactly one clock class */
	size_t n;             /* bytes of metadata */
	/* as of struct cvl_store_desc */
	const char *epoch_of;
	struct cvl_tick after;
};

/**
 * Add a clock whose packets are stored unchanged; foreign, and marked unfinished until
 * cvl_session_finish_packets(). Fails as cvl_packets_open(), or with an error in the metadata.
 */
CVL_API int cvl_session_add_packets(struct cvl_session *s, const struct cvl_packets_desc *desc,
				    const struct cvl_origin *origin, struct cvl_packets **p,
				    struct cvl_error *err);

/**
 * The first packet begins at @first, which is its nominal place on the timeline until synchronised.
 */
CVL_API int cvl_session_place_packets(struct cvl_session *s, const struct cvl_packets *p,
				      struct cvl_tick first, struct cvl_error *err);

/**
 * Resume clock @i from cvl_session_add_packets() after the first @keep bytes: see
 * cvl_packets_resume().
 */
CVL_API int cvl_session_resume_packets(struct cvl_session *s, size_t i, uint64_t keep,
				       struct cvl_packets **p, struct cvl_error *err);

/**
 * Close @p from cvl_session_add_packets(). If @complete its clock is marked finished, else readers
 * show that the end is missing. Frees @p in any case.
 */
CVL_API int cvl_session_finish_packets(struct cvl_session *s, struct cvl_packets *p, bool complete,
				       struct cvl_error *err);

/**
 * Remove clocks from the session, which was opened by cvl_session_create(): their entries in
 * session.json and their traces. Of a linked foreign trace only the link is removed. The clocks
 * after them move up; a session may end up empty.
 *
 * @clocks  indexes of @n different clocks
 *
 * Results based on them are invalidated: if sync.json names one, no clock is synchronised until the
 * next sync (its rules stay, for cvl_sync_recall()); calibration.json and truth.json are written
 * without them. This comes before session.json is written without them, and their traces are
 * removed after that: a crash in between leaves at most unreferenced files, for
 * cvl_session_clean().
 *
 * CVL_E_USAGE if a clock in the same trace is not in @clocks; CVL_E_ENV if one is still being
 * written.
 */
CVL_API int cvl_session_remove(struct cvl_session *s, const size_t *clocks, size_t n,
			       struct cvl_error *err);

/**
 * Remove unreferenced files left by interrupted work: traces of no clock, and new versions of the
 * session's files that did not replace them. @s was opened by cvl_session_create(). @see is called
 * with each path before it is removed; false keeps it.
 */
CVL_API int cvl_session_clean(struct cvl_session *s, bool (*see)(void *ctx, const char *path),
			      void *ctx, struct cvl_error *err);

/**
 * Bytes of what can be made again: the clock maps that sync.json names, and counts. It is in `derived`
 * in the folder that cvl_sync_folder() tells.
 */
CVL_API uint64_t cvl_session_derived(const struct cvl_session *s);

/**
 * Remove that. The rules of sync.json stay: the next sync uses them again. @see as for
 * cvl_session_clean(), with the folder. CVL_E_ENV while another process follows the session.
 */
CVL_API int cvl_session_forget(const struct cvl_session *s,
			       bool (*see)(void *ctx, const char *path), void *ctx,
			       struct cvl_error *err);

/** Options for a foreign trace. */
struct cvl_trace_opts {
	const char
		*node; /* names the machine; NULL: the trace's own host name, or the directory's */
	bool link;     /* make a symbolic link instead of a copy */
	/* of timestamps without a clock in the metadata; 0: 1 GHz, which is reported */
	uint64_t clock_rate_hz;
	const struct cvl_report *report;
	struct cvl_progress
		progress; /* bytes hashed and copied; if cancelled, complete traces stay */
};

/** Add the foreign CTF traces at or below @path; each clock class in them becomes a clock. */
CVL_API int cvl_session_add_trace(struct cvl_session *s, const char *path,
				  const struct cvl_trace_opts *opts, struct cvl_error *err);

/**
 * Add all clocks of @from unchanged: their traces are copied (or, with @link, symbolically linked).
 * Names already in use get "-2", "-3", ... appended. CVL_E_ENV if one of them is still being
 * written. @progress, in bytes, may be NULL; if cancelled @s is unchanged.
 */
CVL_API int cvl_session_join(struct cvl_session *s, const struct cvl_session *from, bool link,
			     const struct cvl_progress *progress, struct cvl_error *err);

/**
 * Map of an unsynchronised clock to the timeline: claimed start and nominal rate, bound unknown.
 * NULL when out of memory.
 */
CVL_API struct cvl_map *cvl_session_nominal(const struct cvl_session *s, size_t clock);

CVL_END_DECLS

#endif
