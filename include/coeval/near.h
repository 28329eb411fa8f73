/* SPDX-License-Identifier: MIT */
/** "Did you mean ...?": of the names that there are those most like one that there is not. */
#ifndef COEVAL_NEAR_H
#define COEVAL_NEAR_H

#include <stddef.h>

#include <coeval/api.h>

CVL_BEGIN_DECLS

#define CVL_NEAR_MAX 4
#define CVL_NEAR_TEXT 320

/** Begin with { .name = what was asked for }. */
struct cvl_near {
	const char *name;
	size_t n;
	struct {
		char text[64];
		unsigned edits; /* letters to insert, leave out or replace, capitals or not */
	} best[CVL_NEAR_MAX];   /* the nearest first */
};

/** There is something called @name. Longer ones than 63 bytes are passed over. */
CVL_API void cvl_near_add(struct cvl_near *near, const char *name);

/**
 * How to end a message that begins "unknown line 'TXX'": " (did you mean TX?)", "; there is RX,
 * PPS", or "". Returns @text.
 */
CVL_API const char *cvl_near_text(const struct cvl_near *near, char text[CVL_NEAR_TEXT]);

CVL_END_DECLS

#endif
