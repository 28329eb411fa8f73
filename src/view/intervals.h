/* SPDX-License-Identifier: MIT */
/**
 * Intervals in rows, such as the calls of a thread, and lists of places worth a look: what analyses
 * found, in the form in which it is drawn.
 */
#ifndef VIEW_INTERVALS_H
#define VIEW_INTERVALS_H

#include <coeval/out.h>
#include <coeval/timeline.h>

#include "core/spill.h"

#define NO_CLOCK UINT32_MAX
#define INTERVALS_MOST 2000000

/** How an interval is drawn. */
enum interval_mark {
	INTERVAL_MADE_UP = 1, /* an end was not seen */
	INTERVAL_LOSS = 2,    /* records were lost within it */
	INTERVAL_BAD = 4,     /* a violation */
	INTERVAL_UNSURE = 8,  /* cannot tell */
	INTERVAL_AWAY = 16,   /* its thread did not run */
};

/* One, or several at one depth that begin in the same part of the time and are too short to be kept apart. */
struct interval {
	int64_t from,
		to; /* ns on the timeline; of several: of the first, and the end that is last */
	uint64_t begin, end; /* ticks of its row's clock */
	union {
		struct {
			int64_t half,
				apart; /* half-widths of its begin, and of its length; CVL_BOUND_UNKNOWN */
		};
		struct {
			int64_t ns,
				of_name; /* of several: their lengths, and at least that of those called @name */
		};
	};
	int64_t longest; /* ns */
	uint32_t name;   /* of several: that which takes most of their time, or may */
	uint32_t longest_name;
	uint32_t n;
	int16_t depth;
	uint16_t marks;
};

struct interval_row {
	const char *of; /* the analysis */
	char *name;
	uint32_t clock;
	int16_t least, most;   /* depths */
	uint32_t rank;         /* among those of its clock */
	bool states;           /* depth 0 tells what a thread did, and is no call */
	struct interval *list; /* by depth, then begin */
	size_t n, room;
	int64_t longest;
};

/** A place worth a look. */
struct found {
	const char *of; /* the analysis */
	char *text;
	uint32_t clock; /* or NO_CLOCK */
	uint32_t row;   /* with an interval of this place; or UINT32_MAX */
	int64_t from, to;
	bool bad; /* a violation, a loss */
};

struct intervals {
	struct interval_row *row;
	size_t n_rows, room_rows;
	char **name;
	size_t n_names, room_names;
	struct found *found;
	size_t n_found, room_found;
	size_t n;           /* intervals of all rows */
	struct spill block; /* all of them, once they are sorted */
	int64_t width;      /* ns: those that are shorter may have been added up */
};

void intervals_free(struct intervals *all);

/** Each returns a number, or UINT32_MAX: out of memory. Texts are copied. */
uint32_t intervals_row(struct intervals *all, const char *of, const char *name, uint32_t clock);
uint32_t intervals_name(struct intervals *all, const char *name);

/**
 * Add to a row; false: out of memory. Of more than INTERVALS_MOST in all rows the short ones are added up,
 * so that none is lost.
 */
bool intervals_add(struct intervals *all, uint32_t row, const struct interval *i);
bool intervals_tell(struct intervals *all, const struct found *f, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** All was added, once: sort it, so that tiles can be made. */
void intervals_sort(struct intervals *all);

/** Nobody looks for now: give memory back. */
void intervals_rest(const struct intervals *all);

/**
 * Pass all of a row between @from and @to to @see, by depth; those that are shorter than @width ns, and
 * begin in the same one of such parts of the time, as one. What @see does not return 0 to ends it.
 */
int intervals_tile(const struct interval_row *row, int64_t from, int64_t to, int64_t width,
		   int (*see)(void *ctx, const struct interval *i), void *ctx);

#endif
