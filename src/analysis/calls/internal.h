/* SPDX-License-Identifier: MIT */
/** Shared by the files of the machine: see calls.h. */
#ifndef ANALYSIS_CALLS_INTERNAL_H
#define ANALYSIS_CALLS_INTERNAL_H

#include "analysis/calls/calls.h"
#include "analysis/calls/pairs.h"

/** Slices remembered per core, to tell who ran instead. */
#define RECENT 128

struct frame {
	uint32_t function, node, cost;
	uint64_t gaps; /* of the thread when it began */
	uint64_t id;
	struct cvl_calls_time begin;
	int64_t alive; /* when it was last known to be open: a span within it began or ended */
	int64_t self;
	struct cvl_calls_parts before; /* of the thread when it began */
	/*
	 * total of its function on this thread at its begin: what is added until its end is within
	 * it
	 */
	int64_t total;
	struct cvl_calls_parts part;
	uint32_t chain;             /* CVL_CALLS_NONE: in none */
	struct cvl_calls_time root; /* when its chain began */
};

/** A chain that a message carries on. */
struct carried {
	uint64_t number; /* of the message; 0: none */
	uint32_t chain;
	struct cvl_calls_time root;
};

struct chain {
	struct cvl_calls_chain pub;
	int64_t *sample;
	size_t room;
};

struct thread {
	struct cvl_calls_thread pub;
	struct frame *frame;
	size_t n, room;
	uint64_t too_deep; /* open but not kept */
	int64_t since;     /* time accounted for up to here */
	int64_t last;      /* time of its last record */
	struct cvl_calls_time first;
	bool scheduled, out, done; /* out: not running. done: since it ended */
	bool dying;                /* it will not be blocked and woken again */
	bool blocks;               /* its next stop is to wait, */
	uint32_t on;               /* for this: a function's number, or CVL_CALLS_NONE */
	bool vague;                /* it stopped in a gap: when, and why, is not known */
	enum cvl_calls_reason out_reason;
	uint32_t out_core;
	struct cvl_calls_time out_from;
	int64_t out_hidden;
	int64_t out_idle; /* what @out_core was idle for, in all, when it was put out */
	uint64_t tally;   /* of which @ran is a part: what it ran during the wait of another */
	int64_t ran;
	bool woken;                     /* while it is out: what follows, it is ready */
	bool called;                    /* by @waker, and not yet known to be ready */
	struct cvl_calls_waker waker;   /* of these two */
	struct cvl_calls_message heard; /* of an interrupt: what it received last */
	uint32_t n_heard;               /* since it began, or last woke a thread */
	struct carried carried;         /* by the message that it received last */
	struct cvl_calls_time sign;     /* of life */
	int64_t sign_self;              /* time it ran since then */
	struct cvl_calls_parts sign_part;
	uint64_t gaps;
	struct cvl_calls_time gap_from, gap_to; /* the last one */
	struct cvl_calls_parts gap_part;        /* at its start */
	size_t gap_top;                         /* the innermost span then */
	int64_t gap_self;                       /* its own time then */
	int32_t base;                           /* depth of the outermost span */
};

/** An interrupt that is going on. */
struct nested {
	uint32_t thread, function;
	uint64_t key;
};

struct recent {
	uint32_t thread;
	int64_t from, to;
};

struct core {
	struct cvl_calls_core pub;
	uint32_t index;
	int64_t last;  /* time of its last switch */
	uint32_t task; /* CVL_CALLS_NONE: unknown */
	bool unsure;   /* switches may be missing since the last one */
	bool mixed;    /* it is more cores than one */
	struct nested nested[CALLS_NESTED_MAX];
	uint32_t n_nested;
	uint32_t too_nested;
	struct cvl_calls_time slice_from;
	int64_t idle; /* in all, but for what runs now */
	struct recent recent[RECENT];
	uint32_t at; /* the next to be overwritten */
};

/** Records of any core of a node that were lost. */
struct losses {
	bool any;
	int64_t to;    /* the last of them */
	uint32_t open; /* streams whose records are being lost */
};

struct calls {
	struct calls_sink sink;
	struct losses *losses; /* by node */
	size_t n_losses, room_losses;
	struct thread **thread;
	size_t n_threads, room_threads;
	struct core **core;
	size_t n_cores, room_cores;
	struct cvl_calls_way *node;
	size_t n_nodes, room_nodes;
	struct cvl_calls_cost *cost;
	size_t n_costs, room_costs;
	struct cvl_calls_wait *wait;
	size_t n_waits, room_waits;
	struct carried *sent; /* a ring of messages */
	size_t n_sent;
	struct chain *chain;
	size_t n_chains, room_chains;
	uint64_t draws; /* of samples */
	struct calls_pairs nodes, costs, waits, chains;
	struct cvl_calls_repairs repairs;
	uint64_t tally; /* number of the last one */
	bool no_memory;
};

/** Account @t's time up to @ns to its innermost span, if it runs. */
static inline void account(struct thread *t, int64_t ns)
{
	int64_t d = ns - t->since;

	if (d <= 0)
		return;
	t->since = ns;
	if (t->out)
		return;
	if (t->n)
		t->frame[t->n - 1].self += d;
	if (t->n || t->scheduled) {
		t->sign_self += d;
		t->pub.busy += d;
	}
}

void sign_of_life(struct thread *t, struct cvl_calls_time at);
/** Close all spans of @t, the innermost first. */
void close_all(struct calls *c, struct thread *t, struct cvl_calls_time at, uint32_t marks);
/** @t stops running on @core; @done: it ended. */
void stop_thread(struct calls *c, struct core *core, uint32_t t, enum cvl_calls_reason reason,
		 bool done, struct cvl_calls_time at);
/** Account for the time that @t was off the core. */
void away_ends(struct calls *c, struct thread *t, struct cvl_calls_time at);
/** @t has not run since @at, for @reason, and is not running: nothing was known of it until now. */
void put_out(const struct calls *c, struct thread *t, enum cvl_calls_reason reason,
	     struct cvl_calls_time at);
/** @t, which is not running, will do so on @core. */
void goes_on(const struct calls *c, struct thread *t, uint32_t core, struct cvl_calls_time at);
/** End all interrupts of @core. */
void drop_nested(struct calls *c, struct core *core, struct cvl_calls_time at, uint32_t marks);
/** @t, which is not running, has ended: what it had called ends with it. */
void ended(struct calls *c, struct thread *t, struct cvl_calls_time at);
/** Account for the time that @t was blocked, until it was woken at @at. */
void blocked_ends(struct calls *c, struct thread *t, struct cvl_calls_time at);
/** @t was blocked for @ns until @by woke it; NULL: not known. */
void add_wait(struct calls *c, const struct thread *t, const struct cvl_calls_waker *by,
	      int64_t ns);
/** Whether @t, which has not run since it stopped as far as is known, may have run all the same. */
bool may_have_run(const struct calls *c, const struct thread *t);
/** Span @f is over: a length of its chain, if it is in one. */
void chain_ends(struct calls *c, const struct frame *f, struct cvl_calls_time at);
/** 0, or CVL_E_NOMEM if anything failed before. */
int calls_rc(const struct calls *c, struct cvl_error *err);

/* Call paths. -1: out of memory. */

int new_node(struct calls *c, uint32_t thread, uint32_t parent, uint32_t function, uint32_t cost,
	     uint32_t *node);
/** At the limit, all new paths of a thread share one node. */
int find_node(struct calls *c, uint32_t thread, uint32_t parent, uint32_t function, uint32_t cost,
	      uint32_t *node);
/** Also -1: CALLS_COSTS_MAX reached. */
int find_cost(struct calls *c, uint32_t thread, uint32_t function, uint32_t *cost);
/** NULL: @thread never called it. */
struct cvl_calls_cost *known_cost(struct calls *c, uint32_t thread, uint32_t function);

uint32_t thread_number(const struct calls *c, const struct thread *t);

#endif
