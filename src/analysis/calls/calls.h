/* SPDX-License-Identifier: MIT */
/**
 * Calls: entries and exits of functions, task switches and messages become spans, with a breakdown
 * of their time.
 *
 * This machine is pure: it is pushed events in time order and passes results to a sink. It keeps
 * the open spans of each thread and no closed ones, so its memory grows with the depth of stacks
 * and the number of threads, functions and call paths (CALLS_NODES_MAX), not with the length of a
 * capture. Terms are defined in coeval/calls.h.
 */
#ifndef ANALYSIS_CALLS_H
#define ANALYSIS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/calls.h>

#define CALLS_THREADS_MAX 65536
#define CALLS_FUNCTIONS_MAX (1u << 20)
/** Functions, each counted once per thread. */
#define CALLS_COSTS_MAX (1u << 22)
/** Different call paths from an outermost span; any more are summed up as one. */
#define CALLS_NODES_MAX (1u << 18)
/** Open spans of a thread. Deeper ones are counted but not kept. */
#define CALLS_DEPTH_MAX 65536
/** Pairs of threads of which one woke the other; any more count as unknown ones that woke it. */
#define CALLS_WAITS_MAX (1u << 18)
/** Different chains. */
#define CALLS_CHAINS_MAX 4096
/** Depth of nested interrupts. */
#define CALLS_NESTED_MAX 32
/** Numbers of tasks in namespaces. */
#define CALLS_ALIASES_MAX (1u << 18)

/** Any of these may be NULL. */
struct calls_sink {
	void (*span)(void *ctx, const struct cvl_calls_span *s);
	void (*slice)(void *ctx, const struct cvl_calls_slice *s);
	void (*away)(void *ctx, const struct cvl_calls_away *a);
	/** Whether it matters who ran meanwhile, which takes time to find; NULL: always. */
	bool (*away_by)(void *ctx, const struct cvl_calls_away *a);
	void (*message)(void *ctx, const struct cvl_calls_message *m);
	void (*gap)(void *ctx, const struct cvl_calls_gap *g);
	void *ctx;
};

struct calls;

/** NULL when out of memory. The sink is copied. */
struct calls *calls_new(const struct calls_sink *sink);
void calls_free(struct calls *c);

/* All functions below that return a code: 0, CVL_E_NOMEM or CVL_E_LIMIT. */

int calls_add_core(struct calls *c, uint32_t node, uint32_t number, uint32_t *core,
		   struct cvl_error *err);
/** @name is copied, and may be NULL. Its stack begins at @since. */
int calls_add_thread(struct calls *c, uint32_t node, uint32_t core, const char *name,
		     struct cvl_calls_time since, uint32_t *thread, struct cvl_error *err);
/** Function numbers are the caller's, consecutive from 0. */
int calls_begin(struct calls *c, uint32_t thread, struct cvl_calls_time at, uint32_t function,
		uint64_t id, struct cvl_error *err);
/**
 * @function: CVL_CALLS_NONE ends the innermost span. @id distinguishes spans of one function; with
 * @overlap those within it continue.
 */
int calls_end(struct calls *c, uint32_t thread, struct cvl_calls_time at, uint32_t function,
	      uint64_t id, bool overlap, struct cvl_error *err);
/** @core runs @thread from here on; the previous one stopped for @reason. */
int calls_switch(struct calls *c, uint32_t core, uint32_t thread, enum cvl_calls_reason reason,
		 struct cvl_calls_time at, struct cvl_error *err);
/**
 * The thread that ran on @core up to here was @thread, with @alone no interrupt goes on: corrects
 * what is known otherwise, because records were lost, or because none came before. Call before
 * calls_switch().
 */
int calls_ran(struct calls *c, uint32_t core, uint32_t thread, bool alone, struct cvl_calls_time at,
	      struct cvl_error *err);
/**
 * An interrupt begins on @core: a thread like others, which runs @function. @key: what its end has,
 * too.
 */
int calls_interrupt(struct calls *c, uint32_t core, uint32_t thread, uint32_t function,
		    uint64_t key, struct cvl_calls_time at, struct cvl_error *err);
/** The innermost interrupt of @key on @core is over, and those within it. */
int calls_return(struct calls *c, uint32_t core, uint64_t key, struct cvl_calls_time at,
		 struct cvl_error *err);

/**
 * @thread stops on @core, without a loss before. If it is not the one that runs, several cores'
 * records are taken for those of one, and from here on nobody knows who runs.
 */
int calls_stops(struct calls *c, uint32_t core, uint32_t thread, struct cvl_calls_time at,
		struct cvl_error *err);

/* Who woke whom: wakes.c. */

/** Who would be the one that wakes a thread on @core now. */
struct cvl_calls_waker calls_waker(const struct calls *c, uint32_t core);
/**
 * @waker wakes @thread. @ready: it can run from here on; else a record that says this follows, which
 * may not be of the one that woke it. Of a thread that is not blocked this changes nothing.
 */
int calls_wake(struct calls *c, uint32_t thread, const struct cvl_calls_waker *waker, bool ready,
	       struct cvl_calls_time at, struct cvl_error *err);
/** @thread, of which nothing is known, was made by @parent (or CVL_CALLS_NONE); it is blocked. */
void calls_born(struct calls *c, uint32_t thread, uint32_t parent, struct cvl_calls_time at);
/**
 * @thread is about to stop and wait for @on, a function's number or CVL_CALLS_NONE; of one that is
 * ready this is when it begins to.
 */
void calls_blocks(struct calls *c, uint32_t thread, uint32_t on, struct cvl_calls_time at);
/** Whether what @core runs is not surely known. */
bool calls_doubtful(const struct calls *c, uint32_t core);
/** Whether the last thing known of it is that. */
bool calls_will_block(const struct calls *c, uint32_t thread);
/** @thread, running or not, is about to end; of one that does not run this is its end. */
void calls_ends(struct calls *c, uint32_t thread, struct cvl_calls_time at);
/** @thread is blocked, if nothing else is known of it. */
void calls_blocked(struct calls *c, uint32_t thread, struct cvl_calls_time at);
/** @thread runs its last: when it stops running without being ready, it has ended. */
void calls_dying(struct calls *c, uint32_t thread);
/** @thread, which is not running, goes on on @core. */
void calls_migrated(struct calls *c, uint32_t thread, uint32_t core, struct cvl_calls_time at);
/** Whether @thread has open spans: what it loses is lost within them. */
bool calls_inside(const struct calls *c, uint32_t thread);

/** The task that @core runs, or that is interrupted; CVL_CALLS_NONE before any switch. */
uint32_t calls_task(const struct calls *c, uint32_t core);
/** The thread that @core runs, or CVL_CALLS_NONE before any switch. */
uint32_t calls_running(const struct calls *c, uint32_t core);
/**
 * Records of @core (CVL_CALLS_NONE: all cores of @node) were lost from @from to @to. @began: that
 * calls_gap_begins() told of.
 */
int calls_gap(struct calls *c, uint32_t node, uint32_t core, struct cvl_calls_time from,
	      struct cvl_calls_time to, uint64_t lost, bool began, struct cvl_error *err);
/** Records of @node are lost from here on; calls_gap() follows once it is known how long. */
int calls_gap_begins(struct calls *c, uint32_t node, struct cvl_error *err);
/* Chains of spans that messages cause: chains.c. */

/** The innermost span of @thread, which has just begun, continues what it received, or begins a chain. */
int calls_chain(struct calls *c, uint32_t thread, struct cvl_error *err);
/** What @thread received up to here does not cause what it begins next. */
void calls_anew(struct calls *c, uint32_t thread);
/** @thread sends the message @number, as part of what it is in; likewise receives it. */
int calls_chain_sends(struct calls *c, uint32_t thread, uint64_t number, struct cvl_error *err);
void calls_chain_receives(struct calls *c, uint32_t thread, uint64_t number);
size_t calls_chains(const struct calls *c);
const struct cvl_calls_chain *calls_chain_at(const struct calls *c, size_t i);
/** The length below which the share @q of those kept of chain @i are. */
int64_t calls_chain_quantile(const struct calls *c, size_t i, double q);

/**
 * @m->to received at @m->received what @m->from sent at @m->sent. If it was sent after the
 * receiver's last sign of life (begin or end of a span, sending or receiving), the receiver had
 * waited since that sign: else it would have taken the message earlier. Fills @m->wait_from and
 * calls the sink. Call before calls_sign() of the same record.
 */
void calls_received(struct calls *c, struct cvl_calls_message *m);
/** A sign of life of @thread: it sent or received something. */
void calls_sign(struct calls *c, uint32_t thread, struct cvl_calls_time at);
/** @node's records end; it is known up to @at. */
void calls_finish(struct calls *c, uint32_t node, struct cvl_calls_time at);

size_t calls_threads(const struct calls *c);
struct cvl_calls_thread *calls_thread(const struct calls *c, size_t i);
size_t calls_cores(const struct calls *c);
const struct cvl_calls_core *calls_core(const struct calls *c, size_t i);
size_t calls_nodes(const struct calls *c);
const struct cvl_calls_way *calls_node(const struct calls *c, size_t i);
size_t calls_costs(const struct calls *c);
struct cvl_calls_cost *calls_cost(const struct calls *c, size_t i);
/** When the record of @thread begins. */
struct cvl_calls_time calls_first(const struct calls *c, uint32_t thread);
size_t calls_waits(const struct calls *c);
/** In no particular order. */
const struct cvl_calls_wait *calls_wait(const struct calls *c);
const struct cvl_calls_repairs *calls_repairs(const struct calls *c);

#endif
