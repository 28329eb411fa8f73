/* SPDX-License-Identifier: MIT */
/**
 * A session: a directory with session.json, one CTF trace per clock, and sync.json.
 *
 * What imports and captures wrote is never changed again (raw is sacred); sync.json is derived and
 * is replaced as a whole, by rename.
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

/** What kind of clock it is: whether somebody may have set it while it was traced. */
enum cvl_counter {
	CVL_COUNTER_BY_FORMAT, /* not stated: what is usual, see cvl_clock_counter() */
	CVL_COUNTER,           /* counts its oscillator: an analyzer, a cycle counter */
	CVL_MONOTONIC,         /* an operating system's, slewed at most */
	CVL_SETTABLE,          /* a wall clock, which may be stepped */
};

/** "counter", "monotonic", "settable"; NULL for CVL_COUNTER_BY_FORMAT. */
CVL_API const char *cvl_counter_name(enum cvl_counter counter);

/** What is stated of a clock besides its ticks. Zero: not stated. */
struct cvl_clock_facts {
	int64_t start_unix_ns;  /* wall-clock time at its base_tick, where its records begin */
	int64_t start_bound_ns; /* half-width of that, against UTC */
	const char *host;       /* names the clock of a machine that start_unix_ns was read off, */
	/* and its half-width against that: clocks of one host agree so well */
	int64_t host_bound_ns;
	double drift_ppm; /* how far its rate can be off */
	enum cvl_counter counter;
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
	int same_as; /* index of the earlier clock that is this very clock (same UUID), or -1 */
	bool start_stated;      /* start_unix_ns was stated, and is not what the trace says */
	int64_t start_bound_ns; /* how far start_unix_ns may be off UTC; 0: not stated */
	const char *host;       /* whose clock start_unix_ns was read off; "": not stated */
	int64_t host_bound_ns;  /* how far it may be off that one; 0: not stated */
	double drift_ppm;       /* how far its rate can be off; 0: see cvl_clock_drift_ppm() */
	enum cvl_counter counter;
	const char *format; /* importer or driver that made it */
	const char *origin; /* path or device it came from */
	/*
	 * Of a foreign trace's files: "sha256:..."; of an imported file, all but the size and
	 * samples of it: "sampled:..."; or ""
	 */
	const char *hash;
	const char *uuid; /* of the clock class, or "" */
	bool foreign;     /* the trace is somebody else's: never written */
	bool unfinished;  /* its writer never closed it, and is gone */
	bool growing;     /* its writer is at work */
};

/**
 * Open the session in @path. A directory that holds no session.json but is, or has in it, a CTF
 * trace is opened as a session of those traces, without writing anything.
 */
CVL_API int cvl_session_open(struct cvl_session **s, const char *path,
			     const struct cvl_report *report, struct cvl_error *err);

/** Open the session in @path for adding clocks; made if it does not exist (parent must). */
CVL_API int cvl_session_create(struct cvl_session **s, const char *path, struct cvl_error *err);

/** A session made by cvl_session_create() that got no clock is removed again. */
CVL_API void cvl_session_close(struct cvl_session *s);

/** Its directory, as it was given. */
CVL_API const char *cvl_session_path(const struct cvl_session *s);
/** Random id made once, 36 characters. */
CVL_API const char *cvl_session_uuid(const struct cvl_session *s);
/** Wall-clock time of timeline zero, ns since 1970 UTC; 0 if no clock claimed one. */
CVL_API int64_t cvl_session_epoch(const struct cvl_session *s);

/**
 * How far the rate of @c can be off, ppm: as stated, or by what made it. Of analyzers nobody knows
 * the crystal, and cheap ones are off by 500 ppm and more: 1000. Everything else, that is mostly
 * computers: 200.
 */
CVL_API double cvl_clock_drift_ppm(const struct cvl_clock *c);

/**
 * What kind of clock @c is: as stated, or CVL_SETTABLE for a foreign trace's whose name is not that
 * of a counter or monotonic clock.
 */
CVL_API enum cvl_counter cvl_clock_counter(const struct cvl_clock *c);

/** How many clocks there are, and clock @i; it is the session's, and moves when one is added. */
CVL_API size_t cvl_session_clocks(const struct cvl_session *s);
CVL_API const struct cvl_clock *cvl_session_clock(const struct cvl_session *s, size_t i);
/**
 * Index of the clock called @name (or, if there is none, of the only clock of node @name); -1 if
 * none.
 */
CVL_API int cvl_session_find(const struct cvl_session *s, const char *name);

/** What a clock of a session holds. */
struct cvl_contents {
	uint64_t lines, channels; /* digital lines and analog channels, of traces of ours */
	size_t events;            /* classes of events */
	uint64_t records, gaps;   /* levels that are only restated are no records */
	bool any;                 /* it holds something, between */
	struct cvl_tick first, last;
};

/**
 * What clock @clock holds: as it was counted when it was stored, else its trace is read to the end.
 * @progress, in bytes of a stream, may be NULL.
 */
CVL_API int cvl_session_contents(const struct cvl_session *s, size_t clock,
				 struct cvl_contents *contents, const struct cvl_progress *progress,
				 struct cvl_error *err);

/** State facts of clock @i; what is zero in @facts stays as it is. */
CVL_API int cvl_session_state(struct cvl_session *s, size_t i, const struct cvl_clock_facts *facts,
			      struct cvl_error *err);

/** Where a clock's records came from. */
struct cvl_origin {
	const char *format;
	const char *path; /* "-" for a pipe */
	const char *hash; /* or NULL */
};

/**
 * Add a clock with a store of its own and return its writer. session.json names the clock from here
 * on, marked unfinished until cvl_session_finish(). A name that is taken gets "-2", "-3", ...
 * appended.
 */
CVL_API int cvl_session_add(struct cvl_session *s, const struct cvl_store_desc *desc,
			    const struct cvl_origin *origin, struct cvl_writer **w,
			    struct cvl_error *err);

/**
 * Go on with clock @i, whose writer is gone: see cvl_writer_resume(). @desc as it was added; what
 * it claims of wall-clock time is taken from the session.
 */
CVL_API int cvl_session_resume(struct cvl_session *s, size_t i, const struct cvl_store_desc *desc,
			       struct cvl_writer **w, struct cvl_tick *last, struct cvl_error *err);

/** Close a writer made by cvl_session_add() and mark its clock finished. @w is gone in any case. */
CVL_API int cvl_session_finish(struct cvl_session *s, struct cvl_writer *w, struct cvl_tick end,
			       struct cvl_error *err);

/** A clock whose trace arrives in packets. Strings are copied. */
struct cvl_packets_desc {
	const char *clock;    /* name, as of struct cvl_store_desc */
	const char *node;     /* NULL: same as clock */
	const char *metadata; /* TSDL, of exactly one clock class */
	size_t n;             /* bytes of it */
};

/**
 * Add a clock whose trace is stored as it comes; foreign, and marked unfinished until
 * cvl_session_finish_packets(). Besides what cvl_packets_open() fails with: what is wrong with the
 * metadata.
 */
CVL_API int cvl_session_add_packets(struct cvl_session *s, const struct cvl_packets_desc *desc,
				    const struct cvl_origin *origin, struct cvl_packets **p,
				    struct cvl_error *err);

/**
 * Its first packet begins at @first: there it stands on the timeline as long as nothing else is
 * known.
 */
CVL_API int cvl_session_place_packets(struct cvl_session *s, const struct cvl_packets *p,
				      struct cvl_tick first, struct cvl_error *err);

/**
 * Go on with clock @i, which cvl_session_add_packets() made, behind the first @keep bytes: see
 * cvl_packets_resume().
 */
CVL_API int cvl_session_resume_packets(struct cvl_session *s, size_t i, uint64_t keep,
				       struct cvl_packets **p, struct cvl_error *err);

/**
 * Close what cvl_session_add_packets() made and mark its clock finished; unless it is not
 * @complete: then readers show that the end is missing. @p is gone in any case.
 */
CVL_API int cvl_session_finish_packets(struct cvl_session *s, struct cvl_packets *p, bool complete,
				       struct cvl_error *err);

/**
 * Take clocks out of the session, which was opened by cvl_session_create(): their entries in
 * session.json, and their traces. Of a trace that somebody else has and that was linked the link
 * goes. The clocks behind them move up; a session may end up with none.
 *
 * @clocks  indexes of @n different clocks
 *
 * What was found out with them is not believed any more: if sync.json names one, no clock is
 * synchronised until it is done again (its rules stay, for cvl_sync_recall()); calibration.json and
 * truth.json are written without them. All that comes before session.json is written without them,
 * and what they stored is removed after that: a crash in between leaves at most files that nothing
 * names, for cvl_session_clean().
 *
 * CVL_E_USAGE if other clocks are in the same trace, and are not to go; CVL_E_ENV if one is still
 * being written.
 */
CVL_API int cvl_session_remove(struct cvl_session *s, const size_t *clocks, size_t n,
			       struct cvl_error *err);

/**
 * Remove what interrupted work left and nothing names: traces of no clock, and new versions of the
 * session's files that did not replace them. @s was opened by cvl_session_create(). @see is told
 * each path before it is removed; false keeps it.
 */
CVL_API int cvl_session_clean(struct cvl_session *s, bool (*see)(void *ctx, const char *path),
			      void *ctx, struct cvl_error *err);

/** What is said of a foreign trace. */
struct cvl_trace_opts {
	const char
		*node; /* names the machine; NULL: the trace's own host name, or the directory's */
	bool link;     /* point at it by a symbolic link instead of copying it whole */
	/* of stamps that its metadata name no clock for; 0: 1 GHz, which is told */
	uint64_t clock_rate_hz;
	const struct cvl_report *report;
	struct cvl_progress
		progress; /* bytes hashed and copied; cancelled: traces that are whole stay */
};

/** Add the foreign CTF traces at or below @path; each clock class in them becomes a clock. */
CVL_API int cvl_session_add_trace(struct cvl_session *s, const char *path,
				  const struct cvl_trace_opts *opts, struct cvl_error *err);

/**
 * Add all clocks of @from, each as it is: its trace copied whole (or, with @link, pointed at by a
 * symbolic link). Names that are taken get "-2", "-3", ... appended. CVL_E_ENV if one of them is
 * still being written. @progress, in bytes, may be NULL; cancelled,
 * @s is what it was.
 */
CVL_API int cvl_session_join(struct cvl_session *s, const struct cvl_session *from, bool link,
			     const struct cvl_progress *progress, struct cvl_error *err);

/**
 * Map by which a clock stands on the timeline as long as it is not synchronised: claimed start and
 * nominal rate, bound unknown. NULL when out of memory.
 */
CVL_API struct cvl_map *cvl_session_nominal(const struct cvl_session *s, size_t clock);

CVL_END_DECLS

#endif
