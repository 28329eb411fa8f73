/* SPDX-License-Identifier: MIT */
/**
 * Answers to the page's requests. Ticks are distances from model_base(), times are ns on the
 * timeline.
 *
 *   session   JSON: clocks, streams, what ties them
 *   many      ask: answers to several requests, "what?name=value&...;...", that could not wait for each other: of each a
 *             32-bit code (0: there is one) and its length, the least significant byte first, and its bytes, or what is wrong
 *   maps      since: JSON: of all clocks the knots [tick, ns, bound], and the rates outside of them; but only what is another
 *             than with those maps: each begins with the last knot that is as it was
 *   cells     stream, level, from, to: levels and gap at the begin, and cells as in lod/blocks.h
 *   records   stream, from, to: JSON: levels at the begin, and the records: tick, kind, half-width
 *             (-1: unknown), what of it the capture could not resolve, and what depends on the kind
 *   messages  version, from, to: JSON: those sent in [from, to) ns: stream, class, clock and tick of both ends; of many those with the
 *             same ends as one: the first, how many, and the last
 *   pair      clock, tick, capture, clock2, tick2, capture2: JSON: their distance with its bound, and their order
 *   found     have, wait: JSON: what analyses found, unless its version is the one of @have, and how far they are; with wait, once
 *             there is anything
 *   intervals version, row, from, to, width: JSON: intervals of a row: depth, begin, end, name, marks, half-width, that of the
 *             length; those shorter than width as one: how many, the longest's name and ns, the share of the name
 *   area      stream, track, from, to: JSON: what a track adds up to between two times
 *   search    words, from: JSON: the first event with these words, or from where on to go on
 *   nodes     JSON: of a collector's session, how its nodes are
 *   notes     JSON: notes and saved views
 *   note      clock, from, to, text, look, or drop: add one, or remove it
 */
#ifndef VIEW_ANSWERS_H
#define VIEW_ANSWERS_H

#include <coeval/out.h>

#include "view/model.h"

/** Value of a parameter, or NULL. */
struct view_query {
	const char *(*get)(void *ctx, const char *name);
	void *ctx;
	bool changes; /* it came by POST */
};

/**
 * Write the answer to @what to @o, and its type to *@type. CVL_E_MISSING: nothing is called so;
 * CVL_E_USAGE: a parameter is missing or out of range.
 */
int view_answer(struct model *m, const char *what, const struct view_query *query,
		struct cvl_out *o, const char **type, struct cvl_error *err);

/** The same for @request, "what?name=value&...", whose values need no decoding. */
int view_answer_to(struct model *m, const char *request, struct cvl_out *o, struct cvl_error *err);

#endif
