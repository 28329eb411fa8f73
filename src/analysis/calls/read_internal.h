/* SPDX-License-Identifier: MIT */
/** What the files of read.h share. */
#ifndef ANALYSIS_CALLS_READ_INTERNAL_H
#define ANALYSIS_CALLS_READ_INTERNAL_H

#include "analysis/calls/bind.h"
#include "analysis/calls/pairs.h"
#include "sync/match.h"

struct function {
	uint64_t number;
	bool is_number, hex;
	char *name; /* NULL until the one of a number is asked for */
};

struct task {
	char *label;  /* whole; NULL until it is asked for */
	bool is_core; /* of which no tasks are known */
};

struct core_name {
	char *text;  /* its number or name */
	char *label; /* whole; NULL until it is asked for */
};

struct stream {
	struct bound_class *class;
	size_t n_classes;
	uint32_t core;     /* of its last record; CVL_CALLS_NONE: not known yet */
	uint64_t core_key; /* of its */
	bool gap;          /* one whose end is not known */
	struct cvl_calls_time gap_from;
	uint64_t gap_lost;
};

struct node {
	const char *name;
	uint32_t cores;
	bool moves; /* its threads tell by themselves who they are */
	bool begun;
	struct cvl_calls_time first, last;
};

struct calls_read {
	struct cvl_timeline *tl;
	struct calls_read_opts opts;
	struct calls *calls;
	struct matcher *matcher;
	struct stream *stream;
	size_t n_streams;
	struct node *node;
	size_t n_nodes;
	uint32_t *node_of;    /* clock -> node */
	uint32_t *root_of;    /* clock -> the first that is this very clock */
	uint32_t *streams_of; /* clock -> how many of the streams before have been on it */
	uint64_t *bracket;    /* clock -> greatest half-width of a record of its own */
	struct function *function;
	size_t n_functions, room_functions;
	struct task *task; /* one a thread */
	size_t n_tasks, room_tasks;
	struct core_name *core;
	size_t n_cores, room_cores;
	struct calls_pairs functions, tasks, cores;
	struct calls_pairs names; /* of tasks that are numbered, by node */
	struct cvl_calls_counts counts;
	bool begun;
	struct cvl_calls_time first, last;
	struct cvl_error *err;
};

/**
 * Number of the function that @v names; @fixed, if there is no value. CVL_CALLS_NONE in *@out:
 * neither.
 */
int function_of(struct calls_read *r, const struct taken_value *v, const char *fixed,
		uint32_t *out);
/** CVL_E_NO: no event is a begin or an end. */
int none_found(const struct calls_read *r, struct cvl_error *err);
/** 64 bits of @text. */
uint64_t text_key(const char *text, size_t len);

/* Who a record is of. */

/* Keys of what is numbered or named: what it is, where, and who it is there. */
enum { KEY_CORE = 1, KEY_TASK, KEY_IDLE, KEY_INTERRUPT, KEY_PROCESSOR, KEY_NAME };

uint64_t thread_key(unsigned what, uint32_t where, uint64_t who);
uint64_t value_key(const struct taken_value *v);

/** The thread of @key; made, and called @name, if it is new. */
int find_thread(struct calls_read *r, uint64_t key, uint32_t node, uint32_t core, const char *name,
		uint32_t *thread);
/** A task by its number or name; one that @moves is of no core. */
int find_task(struct calls_read *r, const struct taken_value *number,
	      const struct taken_value *name, bool moves, uint32_t node, uint32_t core,
	      uint32_t *thread);
/** The core of a record: by a field, else by its stream. */
int core_of(struct calls_read *r, const struct cvl_slice *sl, const struct taken *t,
	    uint32_t *core);
/** The thread of a record: by a field, else what its core runs, else the core itself. */
int thread_of(struct calls_read *r, uint32_t node, uint32_t core, const struct taken *t,
	      uint32_t *thread);

#endif
