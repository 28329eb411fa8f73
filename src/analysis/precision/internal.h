/* SPDX-License-Identifier: MIT */
/** Shared by the readers of a session's loop statistics. */
#ifndef ANALYSIS_PRECISION_INTERNAL_H
#define ANALYSIS_PRECISION_INTERNAL_H

#include <coeval/precision.h>

#include "analysis/durations.h"

#define PRECISION_FIELDS 24

/** Fields of an event. */
struct precision_fields {
	size_t n;
	struct {
		char name[48];
		uint64_t u;
		char *text; /* of strings; ours */
	} f[PRECISION_FIELDS];
};

/** Marks of durations in a stream. */
struct precision_mark {
	bool looked;
	uint64_t lines,
		known; /* selectors of lines in it, and those whose level is known: a bit each */
	bool dark;     /* one of these lines is unknown */
	bool open;     /* a duration */
	uint64_t from, half;         /* its begin */
	bool gap;                    /* not observed since: */
	uint64_t gap_from;           /* the first time */
	uint64_t last_from, last_to; /* latest gap */
	bool any_gap;
};

struct precision_reader {
	struct cvl_analysis analysis;
	struct cvl_precision_result p;
	struct cvl_timeline *tl;
	struct cvl_precision_opts opts;
	struct cvl_selector *selector[2];
	struct cvl_selection *selection; /* NULL: no durations requested */
	struct precision_mark *mark;     /* of each stream */
	size_t n_streams;
	struct cvl_error *err; /* of the call */
};

/** Fields of event @i; drop them afterwards. */
void precision_read_fields(const struct precision_reader *r, const struct cvl_slice *sl, size_t i,
			   struct precision_fields *f);
void precision_drop_fields(struct precision_fields *f);
/** The field @name, or 0. */
uint64_t precision_number_of(const struct precision_fields *f, const char *name);

/** Not observed, or not kept, from @from to @to. */
void precision_mark_gap(struct precision_mark *m, uint64_t from, uint64_t to);
/** A record that may begin or end a duration. */
int precision_mark(struct precision_reader *r, const struct cvl_slice *sl, size_t i);

/** Insert @b in order. CVL_E_NOMEM. */
int precision_bin_add(struct cvl_precision_bins *bins, const struct cvl_precision_bin *b);

#endif
