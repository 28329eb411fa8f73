/* SPDX-License-Identifier: MIT */
/** Shared by the readings and the marks of a study of power. */
#ifndef ANALYSIS_POWER_INTERNAL_H
#define ANALYSIS_POWER_INTERNAL_H

#include <coeval/power.h>

#include "analysis/clocks.h"
#include "analysis/energy.h"

/*
 * Readings kept to look back at from a mark; older ones count as the greatest ever.
 */
#define POWER_RING 1024

/** Where an interval begins or ends. */
struct power_at {
	size_t stream, clock;
	struct cvl_time time;
	struct cvl_bound bound;
};

/** An interval that is open, or waits for readings around its end. */
struct power_open {
	struct cvl_power_interval span;
	struct power_at begin, end;
	bool closed;
	struct cvl_bound first, last; /* of its readings */
	bool read;
	size_t lane;
};

/** A channel, and the intervals measured on it. */
struct power_reader {
	int channel, volts; /* numbers, -1: none */
	double value[2];    /* of the current tick: current or power, volts */
	bool have[2], pending;
	struct cvl_time time; /* of that tick */
	struct cvl_bound bound;
	bool known; /* there is a previous reading: */
	struct cvl_time last;
	struct cvl_bound last_bound;
	double watt;
	struct energy_pair ring[POWER_RING];
	size_t n_ring; /* in total */
	double most;   /* greatest |watts| of pairs that have left the ring */
	struct power_open *open;
	size_t n_open, room;
	struct power_open whole;
};

/** Marks of intervals in a stream. */
struct power_marker {
	bool begun;         /* an edge was seen since the beginning, or the last gap */
	bool known;         /* the level of the line whose states are requested */
	struct power_at at; /* its last edge */
};

struct power_study {
	struct cvl_analysis analysis;
	struct cvl_power_result r;
	size_t rows_room, intervals_room;
	struct power_reader *reader;     /* of each source */
	struct power_marker *marker;     /* of each stream */
	struct cvl_selection *selection; /* of the line, or the two points; NULL: of none */
	struct cvl_selector *selector[2];
	uint32_t *root;
	/* of each clock, whether an interval is open there; one more for those of named nodes */
	uint8_t *lane;
	struct cvl_timeline *tl;
	struct cvl_power_opts opts;
	uint64_t seen;          /* points that were seen, a bit each */
	struct cvl_time latest; /* of all records so far */
	struct cvl_error *err;  /* of the call */
};

int power_not_tied(const struct power_study *s, size_t a, size_t b);

/** Find the channels. */
int power_readers(struct power_study *s);
/** A reading of the stream of source @i. */
int power_read(struct power_study *s, size_t i, const struct cvl_slice *sl, size_t k);
/** Readings of source @i are lost. */
void power_lose(struct power_study *s, size_t i);
/** End of the readings. */
int power_read_end(struct power_study *s);

/** An interval of @lane begins, for all sources it is measured on. */
int power_open(struct power_study *s, size_t lane, bool high, const struct power_at *at);
/** The interval of @lane ends. */
void power_close(struct power_study *s, size_t lane, const struct power_at *at);
/** The interval of @lane is dropped: its end is unknown. */
void power_drop(struct power_study *s, size_t lane);

/** Half-width of a reading of source @i relative to @mark. */
int64_t power_apart(const struct power_study *s, size_t i, struct cvl_bound reading,
		    const struct power_at *mark);
/** Emit the result of @o. */
int power_emit(struct power_study *s, struct power_open *o);

/** A record of any stream. */
int power_mark(struct power_study *s, const struct cvl_slice *sl, size_t i);
/** The end of the timeline: states last to the ends of their streams. */
void power_mark_end(struct power_study *s);

#endif
