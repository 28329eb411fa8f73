/* SPDX-License-Identifier: MIT */
/**
 * Intervals in rows, such as the calls of a thread, and lists of places worth a look: what analyses
 * found, in the form in which it is drawn.
 */
#ifndef VIEW_INTERVALS_H
#define VIEW_INTERVALS_H

#include <coeval/out.h>
#include <coeval/timeline.h>

#define NO_CLOCK UINT32_MAX

/** How an interval is drawn. */
enum interval_mark {
	INTERVAL_MADE_UP = 1, /* an end was not seen */
	INTERVAL_LOSS = 2,    /* records were lost within it */
	INTERVAL_BAD = 4,     /* a violation */
	INTERVAL_UNSURE = 8,  /* cannot tell */
	INTERVAL_AWAY = 16,   /* its thread did not run */
};

struct interval {
	int64_t from, to;    /* ns on the timeline */
	uint64_t begin, end; /* ticks of its row's clock */
	int64_t half, apart; /* half-widths of its begin, and of its length; CVL_BOUND_UNKNOWN */
	uint32_t name;
	uint16_t depth, marks;
};

struct interval_row {
	const char *of; /* the analysis */
	char *name;
	uint32_t clock;
	uint16_t depths;
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
	uint64_t left_out; /* intervals beyond the limit: the shortest */
	int64_t no_longer; /* ns, than this */
};

void intervals_free(struct intervals *all);

/** Each returns a number, or UINT32_MAX: out of memory. Texts are copied. */
uint32_t intervals_row(struct intervals *all, const char *of, const char *name, uint32_t clock);
uint32_t intervals_name(struct intervals *all, const char *name);

/** Add to a row; false: out of memory. */
bool intervals_add(struct intervals *all, uint32_t row, const struct interval *i);
bool intervals_tell(struct intervals *all, const struct found *f, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** All was added: sort it, so that tiles can be made. */
void intervals_sort(struct intervals *all);

/** An interval, or several at one depth that are shorter than a bucket and begin in the same one. */
struct interval_group {
	const struct interval *first; /* of one: itself */
	uint64_t begin, end;          /* ticks: of the first, and the end that is last */
	uint64_t n;
	const struct interval *longest;
	uint32_t most; /* name that takes most of their time */
	double share;  /* that it takes */
	uint16_t marks;
};

/** Pass all of a row between @from and @to to @see, by depth, in buckets of @width ns. CVL_E_NOMEM. */
int intervals_tile(const struct interval_row *row, int64_t from, int64_t to, int64_t width,
		   int (*see)(void *ctx, const struct interval_group *g), void *ctx);

#endif
