/* SPDX-License-Identifier: MIT */
/** Shared by the files of read.h. */
#ifndef ANALYSIS_CALLS_READ_INTERNAL_H
#define ANALYSIS_CALLS_READ_INTERNAL_H

#include "analysis/calls/bind.h"
#include "analysis/calls/pairs.h"
#include "sync/match.h"

struct function {
	uint64_t number;
	bool is_number, hex;
	char *name; /* NULL until the name of a number is needed */
};

struct task {
	char *label;       /* full; NULL until needed */
	bool is_core;      /* a core without known tasks */
	uint64_t name;     /* key of its own name, if a record gave it; else 0 */
	uint32_t function; /* of an interrupt: what it is called */
};

/** What is at an address of a process: see objects.c. */
struct object {
	uint64_t is, in; /* keys of others; 0: none */
	char *name;      /* NULL: none */
	char *otherwise;
	uint32_t function; /* that its name is, as of @version */
	uint32_t version;
};

/** A task of the kernel that has another number within a namespace. */
struct alias {
	uint64_t number; /* the kernel's */
	bool over;       /* it ended */
};

struct core_name {
	char *text;  /* its number or name */
	char *label; /* full; NULL until needed */
};

struct stream {
	struct bound_class *class;
	size_t n_classes;
	struct some_set *plans;
	bool has_aliases;  /* its trace would tell of namespaces */
	uint32_t core;     /* of its last record; CVL_CALLS_NONE: not yet known */
	uint64_t core_key; /* key of that core */
	uint64_t packet;   /* that it was told by, plus 1 */
	bool gap;          /* in a gap with unknown end */
	struct cvl_calls_time gap_from;
	uint64_t gap_lost;
};

struct node {
	const char *name;
	uint32_t cores;
	bool moves;       /* its records identify their threads */
	bool has_aliases; /* its trace would tell of namespaces, */
	bool guests;      /* and there are some; */
	bool new_spaces;  /* some were made since, of which nothing more is told */
	uint64_t space;   /* its own, that the kernel's numbers are of; 0: not known */
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
	uint32_t *root_of;    /* clock -> the first clock identical to it */
	uint32_t *streams_of; /* clock -> number of earlier streams on it */
	uint64_t *bracket;    /* clock -> greatest half-width of a record with its own bound */
	struct function *function;
	size_t n_functions, room_functions;
	struct task *task; /* one per thread */
	size_t n_tasks, room_tasks;
	struct core_name *core;
	size_t n_cores, room_cores;
	struct object *object;
	size_t n_objects, room_objects;
	uint32_t version; /* of what is known of objects */
	struct alias *alias;
	size_t n_aliases, room_aliases;
	struct calls_pairs functions, tasks, cores, objects;
	struct calls_pairs groups; /* the process of a task */
	struct calls_pairs
		aliases; /* by number within a namespace or process, and by the kernel's */
	struct calls_pairs programs; /* the threads that programs' records are of */
	struct calls_pairs names;    /* of numbered tasks, by node */
	struct cvl_calls_counts counts;
	bool begun;
	struct cvl_calls_time first, last;
	struct cvl_error *err;
};

/** Records of switches, interrupts, and of what tasks do: tasks.c. */
int task_event(struct calls_read *r, const struct bound_class *b, uint32_t node, uint32_t core,
	       const struct taken *t, struct cvl_calls_time at);

/** A record that tells of an object. */
int object_event(struct calls_read *r, const struct bound_class *b, uint32_t node,
		 const struct taken *t);
/** The function called as the object is whose address @t has as its name. */
int object_function(struct calls_read *r, uint32_t node, const struct taken *t, uint32_t *out);

/* Number of the function that @v names, else @fixed. CVL_CALLS_NONE in *@out: neither is given. */
int function_of(struct calls_read *r, const struct taken_value *v, const char *fixed,
		uint32_t *out);
/** CVL_E_NO: no event is a begin or an end. */
int none_found(const struct calls_read *r, struct cvl_error *err);
/** 64 bits of @text. */
uint64_t text_key(const char *text, size_t len);

/* Assigning records to threads. */

/* Kinds of keys, for anything numbered or named. */
enum {
	KEY_CORE = 1,
	KEY_TASK,
	KEY_IDLE,
	KEY_INTERRUPT,
	KEY_PROCESSOR,
	KEY_NAME,
	KEY_OBJECT,
	KEY_GROUP,
	KEY_ALIAS,
	KEY_SPACE,
	KEY_GUEST
};

uint64_t thread_key(unsigned what, uint32_t where, uint64_t who);
uint64_t value_key(const struct taken_value *v);

/** The thread of @key; created with name @name if new. */
int find_thread(struct calls_read *r, uint64_t key, uint32_t node, uint32_t core, const char *name,
		uint32_t *thread);
/** A task by its number or name; one that @moves belongs to no core. */
int find_task(struct calls_read *r, const struct taken_value *number,
	      const struct taken_value *name, bool moves, uint32_t node, uint32_t core,
	      uint32_t *thread);
/** The same by its key. */
int find_keyed(struct calls_read *r, uint64_t key, const struct taken_value *number,
	       const struct taken_value *name, bool moves, uint32_t node, uint32_t core,
	       uint32_t *thread);
/** The next task of @number is another one. */
void forget_task(struct calls_read *r, uint32_t node, uint64_t number);
/** The task @thread has the name @v, which may be another than before. */
int name_task(struct calls_read *r, uint32_t thread, const struct taken_value *v, uint64_t number);
/** The core of @node with number or name @v. */
int find_core(struct calls_read *r, uint32_t node, const struct taken_value *v, uint64_t key,
	      uint32_t *core);
/* Numbers within namespaces: guests.c. */

/** A record of a task, made or dumped, may tell its process. */
int guest_process(struct calls_read *r, uint32_t node, const struct taken *t);
/** A record that tells what a task is called in a namespace. */
int guest_alias(struct calls_read *r, uint32_t node, const struct taken *t);
/** The task @number has ended. */
void guest_forget(struct calls_read *r, uint32_t node, uint64_t number);
/** The thread of a record of a program, which is one of the kernel's only if that is sure. */
int guest_thread(struct calls_read *r, uint32_t node, uint32_t core, const struct taken *t,
		 uint32_t *thread);

/** The core of a record: by a field, else by its stream. */
int core_of(struct calls_read *r, const struct cvl_slice *sl, const struct taken *t,
	    uint32_t *core);
/** The thread of a record: by a field, else what its core runs, else the core itself. */
int thread_of(struct calls_read *r, uint32_t node, uint32_t core, const struct taken *t,
	      uint32_t *thread);

#endif
