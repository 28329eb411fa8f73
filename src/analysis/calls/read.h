/* SPDX-License-Identifier: MIT */
/** Feeds the records of a timeline to calls.h, and provides names. */
#ifndef ANALYSIS_CALLS_READ_H
#define ANALYSIS_CALLS_READ_H

#include <coeval/timeline.h>

#include "analysis/calls/calls.h"
#include "analysis/calls/rules.h"
#include "symbols/symbols.h"
#include "sync/rules.h"

/** Names of numbers: addresses of functions, numbers of tasks. */
struct calls_names {
	struct calls_name {
		uint64_t number;
		char *name;
	} * name;
	size_t n, room;
};

/**
 * Read lines `NUMBER NAME` or `NUMBER LETTER NAME` (as printed by nm); numbers with 16 digits or 0x
 * are hexadecimal, others decimal. Lines without a number and text after '#' are ignored.
 */
int calls_names_load(struct calls_names *names, const char *path, struct cvl_error *err);
void calls_names_free(struct calls_names *names);
const char *calls_names_find(const struct calls_names *names, uint64_t number);

struct calls_read_opts {
	const struct calls_rules *rules;
	const struct rule_set *match;    /* of messages; or NULL */
	const struct calls_names *names; /* or NULL */
	struct symbols *symbols;         /* or NULL */
	uint64_t loaded;                 /* load offset of the program relative to its file */
};

struct calls_read;

/** All pointers must outlive it. CVL_E_NO: no event of @tl matches a rule. */
int calls_read_open(struct calls_read **r, struct cvl_timeline *tl,
		    const struct calls_read_opts *opts, const struct calls_sink *sink,
		    struct cvl_error *err);
int calls_read_push(struct calls_read *r, const struct cvl_slice *slice, struct cvl_error *err);
/** End of the timeline. */
int calls_read_end(struct calls_read *r, struct cvl_error *err);
void calls_read_close(struct calls_read *r);

const struct calls *calls_read_calls(const struct calls_read *r);
size_t calls_read_functions(const struct calls_read *r);
/**
 * Whether any function address lies in the code of @opts.symbols; false: @first is one that does
 * not. True without symbols.
 */
bool calls_read_known_addresses(const struct calls_read *r, uint64_t *first);
/** CVL_CALLS_NONE: "?". Belongs to @r. */
const char *calls_read_function(struct calls_read *r, uint32_t function);
/** "node", "node/1" (its core), "node/task". Belongs to @r. */
const char *calls_read_thread(struct calls_read *r, uint32_t thread);
/** The last part alone: "task". */
const char *calls_read_task(struct calls_read *r, uint32_t thread);
size_t calls_read_nodes(const struct calls_read *r);
const char *calls_read_node(const struct calls_read *r, uint32_t node);
/** "node" or "node/1". Belongs to @r. */
const char *calls_read_core(struct calls_read *r, uint32_t core);

/** Bound of a time: see cvl_timeline_bound_parts(). */
struct cvl_bound calls_read_bound(const struct calls_read *r, struct cvl_calls_time at);
/** Bound of the distance of two records; @ns: their distance. */
int64_t calls_read_apart(const struct calls_read *r, struct cvl_calls_time a,
			 struct cvl_calls_time b);

/** From the first record to the last. */
void calls_read_range(const struct calls_read *r, struct cvl_calls_time *first,
		      struct cvl_calls_time *last);

struct cvl_calls_counts calls_read_counts(const struct calls_read *r);

#endif
