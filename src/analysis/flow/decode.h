/* SPDX-License-Identifier: MIT */
/**
 * From pin levels to the path of a program, record by record.
 *
 * All paths that fit what was seen are followed at once; a point is told once one alone is left, or all that are left have it in common.
 * At the beginning, behind a gap and behind a change that fits no path, the program may be anywhere, within a code too.
 * What is never settled, or fits nothing, is told at its place; nothing is guessed. Memory is bounded: what takes more than
 * FLOW_HELD hypotheses to settle is told as undecided.
 */
#ifndef ANALYSIS_FLOW_DECODE_H
#define ANALYSIS_FLOW_DECODE_H

#include <coeval/timeline.h>

#include "analysis/flow/flow.h"

#define FLOW_HELD 65536
#define FLOW_SYMBOLS_TOLD 16

struct flow_stamp {
	struct cvl_time time;
	struct cvl_bound bound;
};

enum flow_what {
	FLOW_POINT,
	FLOW_JUMP,       /* a change of some code, but no path leads to it from the point before */
	FLOW_UNEXPECTED, /* changes that fit no path */
	FLOW_UNDECIDED,  /* changes that fit several paths */
	FLOW_CUT, /* beginning of a code that a gap or the end of the capture cut off, or its rest behind one */
	FLOW_GLITCH, /* pins changed and were back within the settle time */
	FLOW_GAP,
	FLOW_WHATS
};

/** "point", "unexpected" ... */
const char *flow_what_name(enum flow_what what);

struct flow_item {
	enum flow_what what;
	struct flow_stamp begin, end; /* of a point: the first and the last change of its code */
	uint32_t point; /* that was passed, or after which it happened; or FLOW_NONE */
	bool follows; /* a point: what the program passed before is `before`, with nothing lost in between */
	uint32_t before;        /* FLOW_NONE: it has begun */
	const uint16_t *symbol; /* changes that are no point's, the first n_symbols of n */
	size_t n_symbols;
	uint64_t n;
	enum cvl_gap why; /* of a gap */
};

struct flow_decoder;

/**
 * @from_start: the first change that will be seen is of the first marker after @map's start (without a graph: of some marker's
 * beginning). @map must outlive the decoder. NULL when out of memory.
 */
struct flow_decoder *flow_decoder_new(const struct flow_map *map, bool from_start,
				      int (*emit)(void *ctx, const struct flow_item *item),
				      void *ctx);
void flow_decoder_free(struct flow_decoder *d);

/**
 * The map's pins show @levels from @stamp on. @state: they did so before, see CVL_STATE. What is known for the first time is taken for
 * the initial levels. Returns 0, what emit() returned, or CVL_E_NOMEM; so do the next two.
 */
int flow_decoder_levels(struct flow_decoder *d, const struct flow_stamp *stamp, uint16_t levels,
			bool state);
/** Something was lost at @stamp, or times went back there. */
int flow_decoder_gap(struct flow_decoder *d, const struct flow_stamp *stamp, enum cvl_gap why);
int flow_decoder_end(struct flow_decoder *d);

#endif
