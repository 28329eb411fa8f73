/* SPDX-License-Identifier: MIT */
/** Records of a session on standard output, as text or JSON lines. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include <coeval/out.h>
#include <coeval/select.h>

struct show_style {
	struct cvl_selector *const *select; /* only what these match; none: everything */
	size_t n_select;
	bool bounds, ticks, absolute, json;
};

struct show;

/** NULL when out of memory. */
struct show *show_new(const struct show_style *style);

/** Print the slices of @tl to its end. */
int show_timeline(struct show *s, struct cvl_timeline *tl, struct cvl_error *err);

/** Begin with @tl, or go on with it where the one before ended; then a slice of it. */
int show_begin(struct show *s, struct cvl_timeline *tl, struct cvl_error *err);
int show_slice(struct show *s, const struct cvl_slice *slice, struct cvl_error *err);
/** Write out what is pending. */
int show_flush(struct show *s, struct cvl_error *err);

/** The reader closed the pipe, or nothing can be written any more. */
bool show_is_over(const struct show *s);

void show_free(struct show *s);

#endif
