/* SPDX-License-Identifier: MIT */
/** Shared by those who read what a session tells of its loops. */
#ifndef ANALYSIS_PRECISION_INTERNAL_H
#define ANALYSIS_PRECISION_INTERNAL_H

#include "analysis/precision/precision.h"

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

/** A stream, as far as it marks ends of durations. */
struct precision_mark {
	bool looked;
	int bit[2];  /* of the line of from and to, or -1 */
	bool change; /* it has the class that tells lines of a loop */
	struct cvl_levels levels;
	bool dark;                   /* one of the two lines is unknown */
	bool open;                   /* a duration */
	uint64_t from, half;         /* its begin */
	bool gap;                    /* nobody looked since: */
	uint64_t gap_from;           /* the first time */
	uint64_t last_from, last_to; /* latest gap */
	bool any_gap;
};

struct precision_reader {
	struct precision *p;
	struct cvl_timeline *tl;
	const struct precision_opts *opts;
	struct precision_mark *mark; /* of each stream */
	struct cvl_error *err;
};

int precision_no_memory(const struct precision_reader *r);

/** Fields of event @i; drop them afterwards. */
void precision_read_fields(const struct precision_reader *r, const struct cvl_slice *sl, size_t i,
			   struct precision_fields *f);
void precision_drop_fields(struct precision_fields *f);
/** The field called @name, or 0. */
uint64_t precision_number_of(const struct precision_fields *f, const char *name);

/** Nobody looked from @from to @to, or it was not kept. */
void precision_mark_gap(struct precision_mark *m, uint64_t from, uint64_t to);
/** A record that may begin or end a duration; @name: of its class, or NULL. */
int precision_mark(struct precision_reader *r, const struct cvl_slice *sl, size_t i,
		   const char *name);

#endif
