/* SPDX-License-Identifier: MIT */
/**
 * Answers to the page's requests. Ticks are distances from model_base(), times are ns on the
 * timeline.
 *
 *   session   JSON: clocks, streams, what ties them
 *   map       clock: JSON: knots [tick, ns, bound], the rates outside of them
 *   cells     stream, level, from, to: levels and gap at the begin, and cells as in lod/blocks.h
 *   records   stream, from, to: JSON: levels at the begin, and the records: tick, kind, half-width
 *             (-1: unknown), what of it the capture could not resolve, and what depends on the kind
 *   news      JSON: the version, which changes with clocks and maps, and [stream, first, last] of those that grow
 *   messages  from, to: JSON: those sent in [from, to) ns: stream, class, clock and tick of both ends
 *   pair      clock, tick, capture, clock2, tick2, capture2: JSON: their distance with its bound, and their order
 */
#ifndef VIEW_ANSWERS_H
#define VIEW_ANSWERS_H

#include <coeval/out.h>

#include "view/model.h"

/** Value of a parameter, or NULL. */
struct view_query {
	const char *(*get)(void *ctx, const char *name);
	void *ctx;
};

/**
 * Write the answer to @what to @o, and its type to *@type. CVL_E_MISSING: nothing is called so;
 * CVL_E_USAGE: a parameter is missing or out of range.
 */
int view_answer(struct model *m, const char *what, const struct view_query *query,
		struct cvl_out *o, const char **type, struct cvl_error *err);

#endif
