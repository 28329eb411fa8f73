/* SPDX-License-Identifier: MIT */
/**
 * Contents of a session, counted in one pass over its timeline: records, gaps and losses of each
 * clock, what each stream has. How well each clock is tied comes with it, from sync.json.
 *
 * An analysis (coeval/analysis.h).
 */
#ifndef COEVAL_SUMMARY_H
#define COEVAL_SUMMARY_H

#include <coeval/analysis.h>
#include <coeval/api.h>

CVL_BEGIN_DECLS

/** Gaps of one cause. */
struct cvl_summary_gaps {
	uint64_t gaps;
	uint64_t lost; /* as far as known: records, or packets for CVL_GAP_PACKETS */
};

struct cvl_summary_clock {
	const struct cvl_clock *clock;
	const struct cvl_clock_sync
		*sync; /* verdict, bounds, what decided; NULL: not synchronised */
	size_t streams;
	uint64_t records;          /* without gaps and restated levels */
	uint64_t kinds[CVL_KINDS]; /* all records, by enum cvl_kind */
	uint64_t late;
	uint64_t gaps, lost; /* lost: records known to be lost */
	struct cvl_summary_gaps why[CVL_GAPS];
	bool any;                    /* there are records, between */
	struct cvl_time first, last; /* these; a stream of ours ends where its capture did */
};

/** Events or spans of one name. */
struct cvl_summary_event {
	const char *name;
	uint64_t n;
};

struct cvl_summary_stream {
	const char *name;
	const struct cvl_summary_clock *clock; /* NULL: nothing was read of it */
	struct cvl_stream_stats stats;
	size_t n_lines, n_channels; /* 0 for a foreign trace */
	const char **line, **channel;
	size_t n_events;
	struct cvl_summary_event *event; /* that occurred, in the order of declaration */
};

/** Names belong to the timeline and its session. */
struct cvl_summary {
	const struct cvl_session *session;
	const struct cvl_sync *sync; /* NULL: not synchronised */
	uint64_t records, gaps;      /* of all clocks */
	size_t n_clocks;
	struct cvl_summary_clock *clock; /* as in the session */
	size_t n_streams;
	struct cvl_summary_stream *stream; /* as in the timeline */
};

/** Count @tl, which must outlive it. CVL_E_NOMEM. */
CVL_API int cvl_summary_open(struct cvl_analysis **a, struct cvl_timeline *tl,
			     struct cvl_error *err);

/**
 * Take the counts that cvl_summary_keep() kept, if the files of all streams are still as they were.
 * Nothing is to be pushed then. Only before the first push, and for a timeline of all there is. False:
 * there are none.
 */
CVL_API bool cvl_summary_recall(struct cvl_analysis *a);

/**
 * Keep the counts, once the analysis has ended, in the session's `derived` folder. For a timeline of
 * all there is, and of sessions that are complete. Failing that costs time alone.
 */
CVL_API void cvl_summary_keep(const struct cvl_analysis *a);

/**
 * The counts: final once the analysis has ended; before that of what was pushed so far, without
 * streams' statistics and ends.
 */
CVL_API const struct cvl_summary *cvl_summary_result(const struct cvl_analysis *a);

CVL_END_DECLS

#endif
