/* SPDX-License-Identifier: MIT */
/** What `coeval calls` found, as text, JSON, folded stacks, SVG and a page. */
#ifndef CLI_CALLS_VIEW_H
#define CLI_CALLS_VIEW_H

#include "analysis/calls/find.h"
#include "analysis/calls/kept.h"
#include "analysis/calls/path.h"
#include "analysis/calls/read.h"
#include "cli.h"

/** Findings of one function, cause and culprit. */
struct calls_group {
	const struct calls_finding *first;
	char *where; /* "slave1 and slave2" */
	size_t n;
	int64_t least, most;           /* ns that it took for the cause */
	int64_t took_least, took_most; /* ns, the whole spans */
};

struct calls_view {
	const char *path;
	struct cvl_timeline *tl;
	struct calls_read *r;
	const struct calls *c;
	const struct rule_set *match;
	struct calls_kept kept;
	struct calls_find *find;
	struct calls_finding *finding;
	size_t n_findings;
	struct calls_group *group;
	size_t n_groups;
	const struct calls_span *chosen; /* whose critical path it is; NULL: no span */
	struct calls_path critical;
	size_t top; /* rows of a table */
};

/** Name findings and group them. -1: out of memory. */
int calls_view_group(struct calls_view *v);
/** "slave1 and slave2: main preempted by task X for 204 ms (...)"; to be freed. NULL: out of memory. */
char *calls_view_sentence(const struct calls_view *v, const struct calls_group *g);
void calls_view_free_groups(struct calls_view *v);

/** What goes on in a step: "preempted by task X"; to be freed. NULL: out of memory. */
char *calls_view_step(const struct calls_view *v, const struct calls_step *s);

/** Half-width of the total of @k, ns: each of its spans may be off by what two stamps and the clock's rate may be. */
int64_t calls_view_total_bound(const struct calls_view *v, const struct calls_cost *k);

/** Threads by node, then core; to be freed. NULL: out of memory. */
uint32_t *calls_view_order(const struct calls_view *v);

/** Half-width of a time, or CVL_BOUND_UNKNOWN. */
int64_t calls_view_bound(const struct calls_view *v, struct calls_time at);

/** A function over all lanes. */
struct calls_row {
	uint32_t function;
	size_t lanes;
	uint64_t calls, repaired, whole;
	int64_t total, self, min, max, sum, bound;
	struct calls_parts part;
	uint32_t caller; /* the most frequent, CALLS_NONE: none */
	size_t callers;
};

/** All of them, those with most self time first; to be freed. NULL: out of memory. */
struct calls_row *calls_view_rows(const struct calls_view *v, size_t *n);

void calls_view_text(const struct calls_view *v, struct cvl_out *o);
void calls_view_json(const struct calls_view *v, struct cvl_out *o);
/** A line for each way of calling: names joined by semicolons, then the self time in ns. */
void calls_view_folded(const struct calls_view *v, struct cvl_out *o);
int calls_view_svg(const struct calls_view *v, const char *path, struct cvl_error *err);
int calls_view_page(const struct calls_view *v, const char *path, struct cvl_error *err);

#endif
