/* SPDX-License-Identifier: MIT */
/**
 * Shared by steps.c, which takes the steps; steps_read.c, what was read and how far it is there;
 * steps_stretch.c, a stretch as a problem of its own; and steps_told.c, what was found.
 */
#ifndef SYNC_STEPS_INTERNAL_H
#define SYNC_STEPS_INTERNAL_H

#include "sync/observations.h"
#include "sync/observe.h"
#include "sync/steps.h"

/* A clock of the session. */
struct stepped {
	struct cvl_knot *knot; /* final ones, the last of them */
	size_t n, room;
	uint64_t told;       /* knots in all */
	struct cvl_map *map; /* of the last step that tied it; it forecasts what comes */
	struct cvl_map *now; /* of steps_estimate() */
	struct cvl_map_edge before, after;
	enum cvl_bound_kind kind;
	enum cvl_verdict worst;
	char why[CVL_REASON_TEXT]; /* of the worst */
	uint32_t group;            /* it was told with */
	uint64_t cut;              /* until it is tied: the last tick that is taken */
	struct track_noise noise;
	bool judged;
	size_t heard;       /* marks and ends of messages that are kept */
	uint64_t seen;      /* all its records before this tick were read */
	int64_t changed_ms; /* when that changed last */
	int64_t deaf_ms;    /* since when it is known to hear too little; 0: it is not */
	bool growing, silent;
};

struct steps {
	char *path;
	struct cvl_sync_opts opts;
	steps_told *told;
	void *told_ctx;
	char *estimator, *reference, *sender; /* of the first step, kept for all */
	int64_t silent_ms;
	struct cvl_session *session; /* as the observer opened it */
	struct cvl_observations *all;
	struct pairing ends;
	struct observer *observer;
	struct stepped *clock;
	size_t n, written;     /* clocks, and those of them that stored something */
	struct cvl_sync *last; /* of the last step, without maps */
	int64_t begin;         /* of the stretch that is kept; INT64_MIN: of the session */
	int64_t length;        /* of a stretch */
	int64_t horizon, period;
	int64_t learned; /* end of the step in which noise was last learned */
	bool learning;   /* in this step, from all of the stretch */
	double doubt;    /* factor on bounds while it is learned from less than a whole stretch */
	int64_t next;    /* end of the next step; INT64_MIN: the first */
	int64_t final, stored;
	int64_t reach; /* of the clock whose records go furthest */
	size_t counted_marks, counted_ends;
	size_t aligned; /* edges of the line to align by that are kept */
	size_t first;   /* marks of each clock in the first step */
	const char *wait_for;
	bool growing;
	bool ended; /* nothing grows, and all was read */
	bool alone; /* one clock, that nothing ties to others */
};

/* The clock that @c is an alias of, or itself. */
static inline size_t steps_root(const struct steps *s, size_t c)
{
	return s->all->p.clock[c].same_as;
}

/* Time of a tick by the last step; nominal before. */
static inline int64_t steps_time(const struct steps *s, size_t c, uint64_t tick)
{
	const struct cvl_map *map = s->clock[c].map;

	return map ? cvl_map_time(map, (struct cvl_tick){ tick }, NULL).ns :
		     sync_x(&s->all->p, c, tick);
}

/** The observations of the stretch up to @end; of the first one, the first of each clock. */
struct stretch {
	struct cvl_observations obs;
	struct pairing ends;
	int64_t begin;
};

/** As steps_next() does it: read, and note how far the clocks are. */
int steps_read(struct steps *s, const struct cvl_session *now, struct cvl_error *err);
void steps_close(struct steps *s);

/** The stretch up to @end, to be solved. */
int stretch_make(const struct steps *s, struct stretch *st, int64_t end, struct cvl_error *err);
void stretch_free(struct stretch *st);

/** Make what the last step found of clock @c final before @until; INT64_MAX: all of it. */
int steps_tell(struct steps *s, size_t c, int64_t until, struct cvl_error *err);
/** Names of the clocks alone; NULL when out of memory. */
struct cvl_sync *steps_sync(const struct steps *s);

#endif
