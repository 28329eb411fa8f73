/* SPDX-License-Identifier: MIT */
/** "Did you mean ...?": the known names closest to an unknown one. */
#ifndef COEVAL_NEAR_H
#define COEVAL_NEAR_H

#include <stddef.h>

#include <coeval/api.h>

CVL_BEGIN_DECLS

#define CVL_NEAR_MAX 4
#define CVL_NEAR_TEXT 320

/** Begin with { .name = the unknown name }. */
struct cvl_near {
	const char *name;
	size_t n;
	struct {
		char text[64];
		unsigned edits; /* edit distance, ignoring case */
	} best[CVL_NEAR_MAX];   /* the nearest first */
};

/** Add a known name. Those longer than 63 bytes are ignored. */
CVL_API void cvl_near_add(struct cvl_near *near, const char *name);

/**
 * Suffix for a message such as "unknown line 'TXX'": " (did you mean TX?)", "; there is RX, PPS",
 * or "". Returns @text.
 */
CVL_API const char *cvl_near_text(const struct cvl_near *near, char text[CVL_NEAR_TEXT]);

CVL_END_DECLS

#endif
