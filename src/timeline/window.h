/* SPDX-License-Identifier: MIT */
/**
 * A window of the merge: records of many streams, sorted by (time, stream).
 *
 * Only times are sorted: streams are added one after the other, each in its own order, and a stable
 * radix sort keeps that. So a record is known by its stream alone, as the next one of it.
 */
#ifndef TIMELINE_WINDOW_H
#define TIMELINE_WINDOW_H

#include <coeval/timeline.h>

struct window {
	struct cvl_run *run;   /* the result */
	size_t n_runs, n;      /* runs, records */
	uint64_t *key, *spare; /* in block */
	void *block;
	size_t room;
	uint16_t *next; /* by stream: its first record in the window, then the one after */
	unsigned bits;  /* of stream numbers */
	int64_t first, last;
};

/** For streams numbered below @streams. CVL_E_NOMEM. */
int window_init(struct window *w, size_t streams);
void window_free(struct window *w);

/** Start over: no time is before @first. Returns the last time that fits. */
int64_t window_begin(struct window *w, int64_t first);

/** Room for @records more, and as many runs. CVL_E_NOMEM. */
int window_reserve(struct window *w, size_t records);

/**
 * Add records of @stream, whose number is greater than that of those before: [begin, end) as far as
 * they are due by @limit. There is room for them. A record that goes back in time is due with the
 * one before it; *@reached is the time until then; @ordered: none does. Returns where it stopped.
 */
size_t window_add(struct window *w, uint32_t stream, const struct cvl_time *time, size_t begin,
		  size_t end, bool ordered, int64_t *reached, int64_t limit);

/** Sort what was added into runs. */
void window_sort(struct window *w);

/** The whole window is [begin, end) of @stream. */
void window_one(struct window *w, uint32_t stream, size_t begin, size_t end);

#endif
