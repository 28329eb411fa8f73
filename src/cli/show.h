/* SPDX-License-Identifier: MIT */
/** Print records of a session on standard output, as text or JSON lines. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include <coeval/fields.h>
#include <coeval/out.h>
#include <coeval/select.h>

#include "follow.h"

struct show_style {
	struct cvl_selector *const *select; /* only what these match; empty: everything */
	size_t n_select;
	struct cvl_format format;
};

struct show;

/** NULL when out of memory. */
struct show *show_new(const struct show_style *style);

/** Print the slices of @tl to its end. */
int show_timeline(struct show *s, struct cvl_timeline *tl, struct cvl_error *err);

/** Start or continue with @tl; then print slices of it. */
int show_begin(struct show *s, struct cvl_timeline *tl, struct cvl_error *err);
int show_slice(struct show *s, const struct cvl_slice *slice, struct cvl_error *err);
/** Flush. */
int show_flush(struct show *s, struct cvl_error *err);

/** The same as a session grows; its ctx is a struct show. */
extern const struct follow_view show_view;

/** Whether the pipe was closed or writing failed. */
bool show_is_over(const struct show *s);

void show_free(struct show *s);

#endif
