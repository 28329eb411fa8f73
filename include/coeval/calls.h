/* SPDX-License-Identifier: MIT */
/**
 * Calls: entries and exits of functions, switches of tasks and messages become spans, with where
 * their time went; which of them took much longer than usual, and why; and the critical path of
 * one.
 *
 *   core     a processor. Its running thread is known once a switch was seen
 *   thread   what has a stack of its own: a task, an interrupt, or a core whose tasks are not
 *            known
 *   span     one execution of a function, or what lies between a begin and an end
 *   slice    a thread running on a core without a break
 *   way      a call path: a function within another within ...
 *
 * The wall time of a span is the sum of eight parts:
 *
 *   self       its thread ran, and it was the innermost span
 *   callees    the self times of spans within it
 *   preempted  its thread did not run, others did, and it was ready: an interrupt, or a switch
 *              that said so
 *   ready      its thread had been woken, and waited for a core
 *   switched   its thread did not run, others did, and the switch did not say why: it may have
 *              waited
 *   blocked    its thread did not run, and the core was idle, or the switch said that the thread
 *              could not go on
 *   waiting    its thread waited for a message
 *   hidden     records were lost
 *
 * Missing entries and exits are repaired visibly: each repair marks its span (CVL_CALLS_LOST_ENTRY,
 * ...) and is counted. Spans with a made-up end (CVL_CALLS_MADE_UP) are in no total.
 *
 * All times are ns. Threads, functions, cores, nodes and ways are numbered: indexes into the
 * result.
 */
#ifndef COEVAL_CALLS_H
#define COEVAL_CALLS_H

#include <coeval/analysis.h>
#include <coeval/api.h>
#include <coeval/out.h>

CVL_BEGIN_DECLS

/* ---- configuration ---- */

/** Rules, names and a program: what is known besides the timeline. */
struct cvl_calls_config;

/** NULL: out of memory. Holds the built-in rules; those that are added take precedence. */
CVL_API struct cvl_calls_config *cvl_calls_config_new(void);
/** NULL is allowed. */
CVL_API void cvl_calls_config_free(struct cvl_calls_config *c);

/**
 * Events that are begins, ends and switches, by YAML rules (docs/calls.md), after those that were
 * added before: of the file (or built-in rules) @path, or the @n bytes of @text, called
 * @name in messages.
 * CVL_E_SYNTAX, CVL_E_LIMIT, CVL_E_IO, CVL_E_NOMEM.
 */
CVL_API int cvl_calls_config_rules(struct cvl_calls_config *c, const char *path,
				   struct cvl_error *err);
CVL_API int cvl_calls_config_rules_text(struct cvl_calls_config *c, const char *text, size_t n,
					const char *name, struct cvl_error *err);

/**
 * Names of addresses and numbers: lines `NUMBER NAME` or `NUMBER LETTER NAME` (as nm prints them)
 * of the file @path; numbers of 8 or 16 digits or with 0x are of base 16, else of base 10. Lines
 * without a number, and what follows '#', are ignored. CVL_E_SYNTAX: no line has one.
 */
CVL_API int cvl_calls_config_names(struct cvl_calls_config *c, const char *path,
				   struct cvl_error *err);

/**
 * Names of addresses from the ELF file @path, for numbers that have no name otherwise. @loaded:
 * load bias, what is added to the file's addresses. CVL_E_USAGE: a second program. CVL_E_ENV: built
 * without elfutils; CVL_E_MAGIC, CVL_E_MISSING, ...
 */
CVL_API int cvl_calls_config_program(struct cvl_calls_config *c, const char *path, uint64_t loaded,
				     struct cvl_error *err);

/**
 * Messages by the matching rule called @rule, or those of the YAML file @rule (docs/sync.md),
 * besides those used for synchronisation.
 */
CVL_API int cvl_calls_config_messages(struct cvl_calls_config *c, const char *rule,
				      struct cvl_error *err);

/** Names of the built-in rules, in the order in which they are looked at; NULL: no more. */
CVL_API const char *cvl_calls_builtin_name(size_t i);
/** The YAML text of the built-in rules @name, of *@n bytes, not ended by NUL; NULL: there are none. */
CVL_API const char *cvl_calls_builtin_rules(const char *name, size_t *n);

struct cvl_calls_span;
struct cvl_calls_slice;
struct cvl_calls_away;

/**
 * Receives what is known as soon as it is, of each thread in the order of ends; threads and functions as in
 * the result. No function may be NULL.
 */
struct cvl_calls_sink {
	void (*span)(void *ctx, const struct cvl_calls_span *span);
	void (*slice)(void *ctx, const struct cvl_calls_slice *slice);
	void (*away)(void *ctx, const struct cvl_calls_away *away);
	void *ctx;
};

struct cvl_calls_opts {
	const struct cvl_calls_config
		*config; /* must outlive the analysis; NULL: the built-in rules */
	size_t kept;     /* max. spans, slices, ... kept, of each kind; 0: 65536 */
	/**
	 * [NODE.]GLOB over names of functions: the critical path is that of the longest matching
	 * span. NULL: of the longest outermost span.
	 */
	const char *path;
	const struct cvl_calls_sink *sink; /* or NULL; copied */
};

/**
 * Open on @tl, which must outlive the analysis. CVL_E_NO, here or at the end: no event of @tl
 * matches a rule.
 */
CVL_API int cvl_calls_open(struct cvl_analysis **a, struct cvl_timeline *tl,
			   const struct cvl_calls_opts *opts, struct cvl_error *err);

/* ---- the result ---- */

/** No thread, function, core, way or record. */
#define CVL_CALLS_NONE UINT32_MAX

/** A time of the timeline and its record: see cvl_calls_bound(). */
struct cvl_calls_time {
	int64_t ns;
	uint64_t tick;
	uint32_t clock; /* in the session; CVL_CALLS_NONE: no record */
};

/** What was repaired or may be missing. */
enum cvl_calls_mark {
	CVL_CALLS_LOST_ENTRY = 1, /* exit without entry: begins where nothing else is known */
	CVL_CALLS_LOST_EXIT = 2,  /* closed by the end of an enclosing span */
	CVL_CALLS_OPEN = 4,       /* still open at the end */
	CVL_CALLS_GAP = 8,        /* records were lost within it */
	CVL_CALLS_GUESSED = 16,   /* an exit without a name, after a loss: may be another span's */
};

/** The begin or end of the span was not seen. */
#define CVL_CALLS_MADE_UP (CVL_CALLS_LOST_ENTRY | CVL_CALLS_LOST_EXIT | CVL_CALLS_GUESSED)

/** Why a thread stopped running, according to the switch. */
enum cvl_calls_reason {
	CVL_CALLS_REASON_NONE,      /* unknown */
	CVL_CALLS_REASON_PREEMPTED, /* still ready */
	CVL_CALLS_REASON_BLOCKED,   /* waiting for something */
	CVL_CALLS_REASON_READY,     /* woken, waiting for a core */
};

/** What an interrupt, or whoever woke a thread, is. */
enum cvl_calls_context {
	CVL_CALLS_CONTEXT_NONE, /* unknown */
	CVL_CALLS_CONTEXT_TASK,
	CVL_CALLS_CONTEXT_INTERRUPT, /* of a device; any other interrupt */
	CVL_CALLS_CONTEXT_SOFTIRQ,   /* Linux' deferred work that is none of those below */
	CVL_CALLS_CONTEXT_TIMER,
	CVL_CALLS_CONTEXT_NETWORK,
	CVL_CALLS_CONTEXT_BLOCK,     /* a disk, or the like */
	CVL_CALLS_CONTEXT_PROCESSOR, /* an interrupt by another core */
	CVL_CALLS_CONTEXTS
};

/** Where time went, ns. */
struct cvl_calls_parts {
	int64_t preempted, ready, switched, blocked, waiting, hidden;
};

/** One execution. */
struct cvl_calls_span {
	uint32_t thread, function, node; /* node: struct cvl_calls_way */
	int32_t depth;                   /* below 0: encloses what was known first */
	uint32_t marks;                  /* enum cvl_calls_mark */
	struct cvl_calls_time begin, end;
	int64_t self;
	struct cvl_calls_parts part; /* of its whole time */
};

/** A thread running on a core. */
struct cvl_calls_slice {
	uint32_t core, thread;
	struct cvl_calls_time begin, end;
};

/** Who woke a thread. */
struct cvl_calls_waker {
	uint32_t by; /* thread; CVL_CALLS_NONE: not known */
	enum cvl_calls_context context;
	/**
	 * It was @by. Else @by ran on the core of the record, but it may have been an interrupt that
	 * the trace does not show, or another core.
	 */
	bool sure;
	/** The thread whose message the interrupt @by had just received; CVL_CALLS_NONE: none. */
	uint32_t sender;
	struct cvl_calls_time sent, received;
};

/**
 * A thread not running, and which thread ran longest on its core meanwhile. A time blocked that
 * ended by being woken is one, the time ready after it another.
 */
struct cvl_calls_away {
	uint32_t thread, core;
	uint32_t by;                  /* thread; CVL_CALLS_NONE: idle or unknown */
	enum cvl_calls_reason reason; /* BLOCKED also where the core was idle for most of it */
	int64_t by_ns;                /* that it ran */
	int64_t others;               /* total ns that others ran */
	/** What it was blocked on, a function's number; CVL_CALLS_NONE: not known. */
	uint32_t on;
	bool woken;                   /* BLOCKED: it ended by being woken; READY: always */
	struct cvl_calls_waker waker; /* if @woken */
	struct cvl_calls_time begin, end;
};

/** A message, and how long its receiver waited for it. */
struct cvl_calls_message {
	uint32_t rule;     /* that paired it; those of the configuration first */
	uint32_t from, to; /* threads */
	struct cvl_calls_time sent, received;
	struct cvl_calls_time wait_from; /* since when; equal to received: it did not wait */
};

/** A loss. */
struct cvl_calls_gap {
	uint32_t core; /* or CVL_CALLS_NONE: of the whole node */
	uint32_t node;
	struct cvl_calls_time begin, end;
	uint64_t lost; /* CVL_LOST_UNKNOWN */
};

/** A call path: a function within another within ... */
struct cvl_calls_way {
	uint32_t thread,
		/* CVL_CALLS_NONE: the thread itself, or paths beyond the limit, summed up */
		function;
	uint32_t parent, child, next; /* ways; CVL_CALLS_NONE */
	uint32_t cost;                /* struct cvl_calls_cost */
	uint64_t calls;
	int64_t self, total;
	int64_t off; /* of the total: its thread did not run, and no record was lost */
};

/** A function on a thread, by any caller. */
struct cvl_calls_cost {
	uint32_t thread, function;
	uint32_t active; /* open now */
	uint64_t calls, repaired;
	int64_t total; /* of the outermost calls, if recursive */
	int64_t self;
	uint64_t made_up;            /* repaired: not in the two above, nor in the parts */
	int64_t made_up_ns;          /* their total length */
	int64_t min, max, sum;       /* of the @whole ones */
	uint64_t whole;              /* neither repaired nor with losses */
	struct cvl_calls_parts part; /* of the outermost ones */
	int64_t total_bound;         /* half-width of total */
};

/** A lane. */
struct cvl_calls_thread {
	uint32_t node;     /* in the result's nodes */
	uint32_t core;     /* that it ran on last, or CVL_CALLS_NONE */
	uint32_t root;     /* struct cvl_calls_way */
	uint32_t clock;    /* of its first record */
	char *name;        /* NULL: the core itself */
	const char *label; /* "node", "node/1" (its core), "node/task" */
	const char *task;  /* only its last part: "task" */
	bool idle;         /* the core is idle when it runs */
	bool interrupt;
	enum cvl_calls_context context; /* of an interrupt; else TASK */
	uint32_t parent;                /* the thread that made it; CVL_CALLS_NONE: not known */
	struct cvl_calls_time born;     /* when; clock CVL_CALLS_NONE: not known */
	struct cvl_calls_time died;     /* likewise */
	uint64_t spans;
	int64_t busy; /* ns that it is known to have run */
	struct cvl_calls_parts part;
	int32_t depth_min, depth_max;
	uint64_t wakes;                /* times that it ran after being woken */
	int64_t latency, latency_max;  /* ns from being woken to running: in all, the longest */
	struct cvl_calls_time slowest; /* when that ended */
};

/**
 * What a thread was blocked on: time until @by woke it. They add up to the time that it was blocked,
 * also where that counts as waiting for a message.
 */
struct cvl_calls_wait {
	uint32_t thread;
	uint32_t by; /* thread; CVL_CALLS_NONE: not known */
	enum cvl_calls_context context;
	uint64_t n, unsure; /* times, and those that are not sure */
	int64_t ns, max;
};

/**
 * Spans of which each is caused by a message that was sent in the one before: from the begin of the
 * first to the end of the last.
 */
struct cvl_calls_chain {
	uint32_t before; /* chain of the spans before the last; CVL_CALLS_NONE: this is the first */
	uint32_t function; /* of the last */
	uint32_t length;   /* spans */
	uint64_t n;
	int64_t min, max, sum;            /* ns */
	int64_t median, p99;              /* ns; of a sample of 1024 */
	struct cvl_calls_time begin, end; /* of the longest */
};

struct cvl_calls_core {
	uint32_t node, number;
	const char *label; /* "node" or "node/1" */
	bool switches;     /* its running thread is known */
};

/** How much had to be repaired. */
struct cvl_calls_repairs {
	uint64_t lost_entries, lost_exits, open, guessed;
	uint64_t gaps;
	uint64_t too_deep;  /* spans nested deeper than 65536 */
	uint64_t paths;     /* calls on paths beyond the limit */
	uint64_t backwards; /* timestamps that went back: replaced by the previous one */
	uint64_t strays;    /* returns from interrupts that never began */
	uint64_t switches;  /* missing: another thread stopped than the one that ran */
	uint64_t returns;   /* missing: of interrupts */
	/* stops that show several cores which the trace does not tell apart: nobody knows who runs */
	uint64_t mixed;
};

/** What made a span longer than usual. */
enum cvl_calls_cause {
	CVL_CALLS_PREEMPTED,
	CVL_CALLS_READY,    /* waited for a core after being woken */
	CVL_CALLS_SWITCHED, /* switched out, for an unknown reason */
	CVL_CALLS_BLOCKED,
	CVL_CALLS_WAITED,
	CVL_CALLS_HIDDEN,
	CVL_CALLS_ITSELF,
	CVL_CALLS_CAUSES
};

/**
 * A span that took much longer than others of the same name: more than 1.5 times the median, and at
 * least a thousandth of the capture longer. It is explained by the part that exceeds its own median
 * by most. Nested spans of one thread that are prolonged by the same cause are one finding: of the
 * outermost that is usually shorter.
 */
struct cvl_calls_finding {
	struct cvl_calls_span span;
	int64_t median; /* ns, of spans of the same name */
	uint64_t of;    /* number of them */
	enum cvl_calls_cause cause;
	int64_t ns;    /* spent on that cause; CVL_CALLS_ITSELF: longer than usual */
	uint32_t by;   /* thread that ran, or was waited for, longest; or CVL_CALLS_NONE */
	int64_t by_ns; /* of @ns */
};

/** Kinds of steps of the critical path. */
enum cvl_calls_step_kind {
	CVL_CALLS_STEP_RUN,
	CVL_CALLS_STEP_PREEMPTED, /* @by ran */
	CVL_CALLS_STEP_READY,     /* woken, waiting for a core: @by ran */
	CVL_CALLS_STEP_SWITCHED,  /* switched out for an unknown reason: @by ran */
	CVL_CALLS_STEP_BLOCKED,   /* until the interrupt @by, if it is known */
	CVL_CALLS_STEP_MESSAGE,   /* from @by to @thread */
};

/**
 * A step of the critical path: what the end of a span waited for, back to its begin, on any core.
 *
 * From the end backwards: what the thread did since the last message that it had waited for; then
 * the transfer of the message; then what its sender did before sending it; and so on. While the
 * thread was blocked, until another thread woke it: what that one did meanwhile, likewise. Each
 * instant between begin and end is in exactly one step. Spans and times off the core shorter than a
 * thousandth of the whole are part of what is around them.
 */
struct cvl_calls_step {
	enum cvl_calls_step_kind kind;
	uint32_t thread, function; /* innermost, or CVL_CALLS_NONE */
	uint32_t by;
	bool unsure; /* another thread may have woken the one that was blocked */
	struct cvl_calls_time begin, end;
	char *text; /* "main, preempted by task X" */
};

/** How many of one kind are kept. */
struct cvl_calls_list {
	size_t n;
	size_t room, most; /* capacity; limit */
	uint64_t left_out;
	int64_t shortest; /* ns; those left out are no longer than this */
};

/**
 * What is kept for drawing and for the critical path: everything up to a limit; each time it is
 * reached, the longer half of that kind.
 */
struct cvl_calls_kept {
	struct cvl_calls_span *span;
	struct cvl_calls_slice *slice;
	struct cvl_calls_away *away;
	struct cvl_calls_message *message; /* by how long each was waited for */
	struct cvl_calls_gap *gap;
	struct cvl_calls_list spans, slices, aways, messages, gaps;
	bool no_memory; /* private */
};

/** What was read. */
struct cvl_calls_counts {
	uint64_t events;  /* that match a rule */
	uint64_t unnamed; /* of these, without the field that names their function */
	uint64_t late;    /* records out of order */
	uint64_t messages, unmatched, duplicates;
	/* of programs that trace themselves, whose thread in the kernel is not surely known */
	uint64_t apart;
};

/** Findings of one function and cause, due to the same thread. */
struct cvl_calls_group {
	const struct cvl_calls_finding *first;
	char *where; /* "slave1 and slave2" */
	char *text;  /* "slave1: main preempted by task X for 204 ms (took ...)" */
	size_t n;
	int64_t least, most;           /* ns spent on the cause */
	int64_t took_least, took_most; /* ns, the whole spans */
};

/** A function, over all threads. */
struct cvl_calls_function {
	const char *name;
	size_t threads;
	uint64_t calls, repaired, whole;
	int64_t total, self, min, max, sum; /* as in struct cvl_calls_cost */
	int64_t total_bound;                /* half-width; CVL_BOUND_UNKNOWN */
	struct cvl_calls_parts part;
	uint32_t caller; /* the most frequent; CVL_CALLS_NONE: none */
	size_t callers;
};

/** Time of the critical path that one thread spent in steps of one text. */
struct cvl_calls_share {
	uint32_t thread;
	const char *text;
	int64_t ns;
};

/** All that was found. */
struct cvl_calls_result {
	struct cvl_calls_time first, last; /* records; ns 0 if there are none */
	bool synchronised;
	/**
	 * No address lies in the code of the program: another one ran, or it was loaded at another
	 * address.
	 */
	bool other_program;
	uint64_t first_address;  /* with other_program: the first such address */
	const char *const *node; /* names of nodes */
	size_t n_nodes;
	const struct cvl_calls_core *core;
	size_t n_cores;
	const struct cvl_calls_thread *thread;
	size_t n_threads;
	const uint32_t *order; /* threads by node, then core */
	const struct cvl_calls_function *function;
	size_t n_functions;
	const uint32_t *hot; /* functions that were called, by self time, most first */
	size_t n_hot;
	const struct cvl_calls_way *way; /* parents come before children */
	size_t n_ways;
	const struct cvl_calls_cost *cost;
	size_t n_costs;
	const struct cvl_calls_group *group; /* of findings; most time lost first */
	size_t n_groups;
	const struct cvl_calls_wait *wait; /* by thread, then the longest first */
	size_t n_waits;
	const struct cvl_calls_chain *chain; /* what is before one comes before it */
	size_t n_chains;
	const struct cvl_calls_kept *kept;
	const struct cvl_calls_span *chosen; /* of the critical path; NULL: no span matches */
	const struct cvl_calls_step *step;   /* of the path, the earliest first */
	size_t n_steps;
	bool cut;                            /* too many messages: the path begins later */
	const struct cvl_calls_share *share; /* of the path, the longest first */
	size_t n_shares;
	uint64_t made_up;   /* spans that are in no total */
	int64_t made_up_ns; /* their total length */
	struct cvl_calls_repairs repairs;
	struct cvl_calls_counts counts;
};

/** Of an analysis that cvl_calls_open() made and that was ended. All of it belongs to @a. */
CVL_API const struct cvl_calls_result *cvl_calls_result(const struct cvl_analysis *a);

/** Half-width of a time of the result, ns, or CVL_BOUND_UNKNOWN. */
CVL_API int64_t cvl_calls_bound(const struct cvl_analysis *a, struct cvl_calls_time at);
/** Half-width of the difference of two times. */
CVL_API int64_t cvl_calls_apart(const struct cvl_analysis *a, struct cvl_calls_time from,
				struct cvl_calls_time to);

/** "switched out", "preempted", "blocked", "ready". */
CVL_API const char *cvl_calls_reason_name(enum cvl_calls_reason reason);
/** "unknown", "task", "interrupt", "softirq", "timer", "network", "block", "processor". */
CVL_API const char *cvl_calls_context_name(enum cvl_calls_context context);

/** The name of a function, "?" for CVL_CALLS_NONE. */
CVL_API const char *cvl_calls_function_name(const struct cvl_calls_result *r, uint32_t function);

/* ---- documents; write errors are kept in @out ---- */

/**
 * Folded stacks: a line for each call path, its names joined by semicolons, then its self time in
 * ns; with @off_cpu, the time that its thread did not run meanwhile. The path of a thread alone has
 * what is in no span. Semicolons and control characters in names become underscores. CVL_E_NOMEM.
 */
CVL_API int cvl_calls_folded(const struct cvl_analysis *a, bool off_cpu, struct cvl_out *out,
			     struct cvl_error *err);

/** Flame graph of the same as SVG. CVL_E_NOMEM. */
CVL_API int cvl_calls_flame(const struct cvl_analysis *a, const char *title, bool off_cpu,
			    struct cvl_out *out, struct cvl_error *err);

CVL_END_DECLS

#endif
