/* SPDX-License-Identifier: MIT */
/**
 * Calls: entries and exits of functions, switches of tasks and messages become spans, with where their time went.
 *
 * The machine below is pure: it is pushed what happened, in order of time, and tells a sink what came of it. It keeps the open
 * spans of each thread and no closed one, so that its memory grows with the depth of stacks, and with the number of threads,
 * functions and ways of calling them (CALLS_NODES_MAX), not with the length of a capture.
 *
 *   core     a processor. Its running thread is known once a switch was seen
 *   thread   what has a stack of its own: a task, an interrupt, or a core of which no tasks are known
 *   span     one execution of a function, or whatever lies between a begin and an end
 *   slice    a thread running on a core without a break
 *
 * The wall time of a span is the sum of seven parts:
 *
 *   self       its thread ran, and it was the innermost span
 *   callees    the self times of spans within it
 *   preempted  its thread did not run, others did, and it could have: an interrupt, or a switch that said so
 *   switched   its thread did not run, others did, and the switch did not say why: it may have waited for something
 *   blocked    its thread did not run, and the core was idle, or the switch said that the thread could not go on
 *   waiting    its thread waited for a message: see calls_received()
 *   hidden     records were lost
 *
 * What is missing is repaired visibly: each repair marks its span (CALLS_LOST_ENTRY, ...) and is counted. Spans of which an end is
 * made up (CALLS_MADE_UP) are in no total.
 */
#ifndef ANALYSIS_CALLS_H
#define ANALYSIS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

#define CALLS_NONE UINT32_MAX
#define CALLS_THREADS_MAX 65536
#define CALLS_FUNCTIONS_MAX (1u << 20)
/** Functions, each counted once a thread. */
#define CALLS_COSTS_MAX (1u << 22)
/** Different paths from an outermost span to one within; what comes on top is summed up as one. */
#define CALLS_NODES_MAX (1u << 18)
/** Open spans of a thread. Deeper ones are counted and left out. */
#define CALLS_DEPTH_MAX 65536
/** Names of interrupts that interrupt each other. */
#define CALLS_NESTED_MAX 32

/** A time of the timeline, and the record it is of: its bound is looked up when somebody asks. */
struct calls_time {
	int64_t ns;
	uint64_t tick;
	uint32_t clock; /* of the session; CALLS_NONE: of no record */
};

/** What was repaired or may be hidden. */
enum {
	CALLS_LOST_ENTRY = 1, /* an exit without entry: it begins where nothing else is known */
	CALLS_LOST_EXIT = 2,  /* closed by the end of a span around it */
	CALLS_OPEN = 4,       /* still open at the end */
	CALLS_GAP = 8,        /* records were lost within it */
	CALLS_GUESSED = 16,   /* an exit that names nothing, behind a loss: it may be another's */
};

/** An end of the span was not seen. */
#define CALLS_MADE_UP (CALLS_LOST_ENTRY | CALLS_LOST_EXIT | CALLS_GUESSED)

/** Why a thread does not run any more, as far as the switch says. */
enum calls_reason {
	CALLS_REASON_NONE,      /* it does not */
	CALLS_REASON_PREEMPTED, /* it could go on */
	CALLS_REASON_BLOCKED,   /* it could not */
};

/** Where time went, ns. */
struct calls_parts {
	int64_t preempted, switched, blocked, waiting, hidden;
};

struct calls_span {
	uint32_t thread, function, node;
	int32_t depth; /* below 0: around what was known first */
	uint32_t marks;
	struct calls_time begin, end;
	int64_t self;
	struct calls_parts part; /* of its whole time */
};

/** A thread running on a core. */
struct calls_slice {
	uint32_t core, thread;
	struct calls_time begin, end;
};

/** A thread not running, and whom the core ran for the longest meanwhile. */
struct calls_away {
	uint32_t thread, core;
	uint32_t by;              /* thread; CALLS_NONE: idle or unknown */
	enum calls_reason reason; /* BLOCKED also where the core was idle for most of it */
	int64_t by_ns;            /* that it ran */
	int64_t others;           /* ns in all that others ran */
	struct calls_time begin, end;
};

/** A message, and how long its receiver had waited for it. */
struct calls_message {
	uint32_t rule;
	uint32_t from, to; /* threads */
	struct calls_time sent, received;
	struct calls_time wait_from; /* since when; received: it did not wait */
};

struct calls_gap {
	uint32_t core; /* or CALLS_NONE: of the whole node */
	uint32_t node;
	struct calls_time begin, end;
	uint64_t lost; /* CVL_LOST_UNKNOWN */
};

/** Any of these may be NULL. */
struct calls_sink {
	void (*span)(void *ctx, const struct calls_span *s);
	void (*slice)(void *ctx, const struct calls_slice *s);
	void (*away)(void *ctx, const struct calls_away *a);
	void (*message)(void *ctx, const struct calls_message *m);
	void (*gap)(void *ctx, const struct calls_gap *g);
	void *ctx;
};

/* ---- what was found, to be read ---- */

/** A way of calling: a function within another within ... */
struct calls_node {
	uint32_t thread,
		function; /* CALLS_NONE: the thread itself; or what was too much to be kept apart */
	uint32_t parent, child, next; /* nodes; CALLS_NONE */
	uint32_t cost;                /* struct calls_cost */
	uint64_t calls;
	int64_t self, total;
};

/** A function on a thread, whatever called it. */
struct calls_cost {
	uint32_t thread, function;
	uint32_t active; /* open now */
	uint64_t calls, repaired;
	int64_t total; /* of the outermost where it calls itself */
	int64_t self;
	uint64_t made_up;        /* of the repaired: in neither of these two, nor in the parts */
	int64_t made_up_ns;      /* their lengths in all */
	int64_t min, max, sum;   /* of the @whole ones */
	uint64_t whole;          /* not repaired, nothing hidden */
	struct calls_parts part; /* of the outermost ones */
};

struct calls_thread {
	uint32_t node;  /* machine it is of, as whoever pushed it numbers them */
	uint32_t core;  /* that it ran on last, or CALLS_NONE */
	uint32_t root;  /* struct calls_node */
	uint32_t clock; /* of its first record */
	char *name;     /* NULL: the core itself */
	bool idle;      /* nobody runs when it does */
	bool interrupt;
	uint64_t spans;
	int64_t busy; /* ns that it ran, as far as known */
	struct calls_parts part;
	int32_t depth_min, depth_max;
};

struct calls_core {
	uint32_t node, number;
	bool switches; /* its running thread is known */
};

/** How much had to be repaired. */
struct calls_repairs {
	uint64_t lost_entries, lost_exits, open, guessed;
	uint64_t gaps;
	uint64_t too_deep;  /* spans beyond CALLS_DEPTH_MAX */
	uint64_t paths;     /* calls whose way was one too many */
	uint64_t backwards; /* times that went back: taken as the one before */
	uint64_t strays;    /* returns of interrupts that never came */
};

struct calls;

/** NULL when out of memory. The sink is copied. */
struct calls *calls_new(const struct calls_sink *sink);
void calls_free(struct calls *c);

/* All below that return a code: 0, CVL_E_NOMEM or CVL_E_LIMIT. */

int calls_add_core(struct calls *c, uint32_t node, uint32_t number, uint32_t *core,
		   struct cvl_error *err);
/** @name is copied, and may be NULL. Its stack is taken to begin at @since. */
int calls_add_thread(struct calls *c, uint32_t node, uint32_t core, const char *name,
		     struct calls_time since, uint32_t *thread, struct cvl_error *err);
/** Number of a function is the caller's, from 0 on without holes. */
int calls_begin(struct calls *c, uint32_t thread, struct calls_time at, uint32_t function,
		uint64_t id, struct cvl_error *err);
/**
 * @function: CALLS_NONE ends whatever is innermost. @id tells spans of one function from each other; with @overlap those within it go
 * on.
 */
int calls_end(struct calls *c, uint32_t thread, struct calls_time at, uint32_t function,
	      uint64_t id, bool overlap, struct cvl_error *err);
/** @core runs @thread from here on; the one before does not, for @reason. */
int calls_switch(struct calls *c, uint32_t core, uint32_t thread, enum calls_reason reason,
		 struct calls_time at, struct cvl_error *err);
/** An interrupt begins on @core: a thread like others. */
int calls_interrupt(struct calls *c, uint32_t core, uint32_t thread, struct calls_time at,
		    struct cvl_error *err);
/** The innermost interrupt of @core is over. */
int calls_return(struct calls *c, uint32_t core, struct calls_time at, struct cvl_error *err);
/** The thread that @core runs, or CALLS_NONE if no switch told. */
uint32_t calls_running(const struct calls *c, uint32_t core);
/** Records of @core (CALLS_NONE: of all of @node) were lost from @from to @to. */
int calls_gap(struct calls *c, uint32_t node, uint32_t core, struct calls_time from,
	      struct calls_time to, uint64_t lost, struct cvl_error *err);
/**
 * @m->to received at @m->received what @m->from had sent at @m->sent. If it was sent after the receiver's last sign of life (begin or
 * end of a span, sending or receiving), the receiver had waited for it since that sign: else it would have taken it. @m->wait_from
 * is filled, and the sink told. Before calls_sign() of the same record.
 */
void calls_received(struct calls *c, struct calls_message *m);
/** A sign of life of @thread: it sent or received something. */
void calls_sign(struct calls *c, uint32_t thread, struct calls_time at);
/** Nothing of @node comes any more: up to @at it is known. */
void calls_finish(struct calls *c, uint32_t node, struct calls_time at);

size_t calls_threads(const struct calls *c);
struct calls_thread *calls_thread(const struct calls *c, size_t i);
size_t calls_cores(const struct calls *c);
const struct calls_core *calls_core(const struct calls *c, size_t i);
size_t calls_nodes(const struct calls *c);
const struct calls_node *calls_node(const struct calls *c, size_t i);
size_t calls_costs(const struct calls *c);
const struct calls_cost *calls_cost(const struct calls *c, size_t i);
const struct calls_repairs *calls_repairs(const struct calls *c);

#endif
