/* SPDX-License-Identifier: MIT */
/**
 * Calls: entries and exits of functions, switches of tasks and messages become spans, with where
 * their time went; which of them took much longer than usual, and why; and the critical path of
 * one.
 *
 *   core     a processor. Its running thread is known once a switch was seen
 *   thread   what has a stack of its own: a task, an interrupt, or a core of which no tasks are
 *            known
 *   span     one execution of a function, or whatever lies between a begin and an end
 *   slice    a thread running on a core without a break
 *   way      a way of calling: a function within another within ...
 *
 * The wall time of a span is the sum of seven parts:
 *
 *   self       its thread ran, and it was the innermost span
 *   callees    the self times of spans within it
 *   preempted  its thread did not run, others did, and it could have: an interrupt, or a switch
 *              that said so
 *   switched   its thread did not run, others did, and the switch did not say why: it may have
 *              waited
 *   blocked    its thread did not run, and the core was idle, or the switch said that the thread
 *              could not go on
 *   waiting    its thread waited for a message
 *   hidden     records were lost
 *
 * What is missing is repaired visibly: each repair marks its span (CVL_CALLS_LOST_ENTRY, ...) and
 * is counted. Spans of which an end is made up (CVL_CALLS_MADE_UP) are in no total.
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

/* ---- what to look for ---- */

/** Rules, names and a program: what there is to know besides the timeline. */
struct cvl_calls_config;

/**
 * NULL: out of memory. Holds the rules that are built in, and whatever is added counts before them.
 */
CVL_API struct cvl_calls_config *cvl_calls_config_new(void);
/** NULL is allowed. */
CVL_API void cvl_calls_config_free(struct cvl_calls_config *c);

/**
 * Events that are begins, ends and switches, by YAML rules (docs/calls.md), behind those that were
 * added before: of the file @path, or the @n bytes of @text, called @name in messages.
 * CVL_E_SYNTAX, CVL_E_LIMIT, CVL_E_IO, CVL_E_NOMEM.
 */
CVL_API int cvl_calls_config_rules(struct cvl_calls_config *c, const char *path,
				   struct cvl_error *err);
CVL_API int cvl_calls_config_rules_text(struct cvl_calls_config *c, const char *text, size_t n,
					const char *name, struct cvl_error *err);

/**
 * Names of addresses and numbers: lines `NUMBER NAME` or `NUMBER LETTER NAME` (as nm prints them)
 * of the file @path; numbers of 8 or 16 digits or with 0x are of base 16, else of base 10. Lines
 * without a number, and what follows '#', are left out. CVL_E_SYNTAX: there is none.
 */
CVL_API int cvl_calls_config_names(struct cvl_calls_config *c, const char *path,
				   struct cvl_error *err);

/**
 * Names of addresses out of the ELF file @path, for numbers that have no name otherwise. @loaded:
 * what the program's addresses are above those of its file. One program; CVL_E_USAGE: there is one
 * already. CVL_E_ENV: built without elfutils; CVL_E_MAGIC, CVL_E_MISSING, ...
 */
CVL_API int cvl_calls_config_program(struct cvl_calls_config *c, const char *path, uint64_t loaded,
				     struct cvl_error *err);

/**
 * Messages by the matching rule called @rule, or those of the YAML file @rule (docs/sync.md),
 * besides those that the session was synchronised by.
 */
CVL_API int cvl_calls_config_messages(struct cvl_calls_config *c, const char *rule,
				      struct cvl_error *err);

/** The YAML text of the rules that are built in. */
CVL_API const char *cvl_calls_builtin_rules(void);

struct cvl_calls_opts {
	const struct cvl_calls_config
		*config; /* must outlive the analysis; NULL: what is built in */
	size_t kept;     /* most spans, slices, ... that are kept, of each kind; 0: 65536 */
	/**
	 * [NODE.]GLOB over names of functions: the critical path is that of the longest span called
	 * so. NULL: of the longest span that is in no other.
	 */
	const char *path;
};

/**
 * Open on @tl, which must outlive the analysis. CVL_E_NO, here or at the end: no event of @tl is
 * one that a rule names.
 */
CVL_API int cvl_calls_open(struct cvl_analysis **a, struct cvl_timeline *tl,
			   const struct cvl_calls_opts *opts, struct cvl_error *err);

/* ---- what happened ---- */

/** No thread, function, core, way or record. */
#define CVL_CALLS_NONE UINT32_MAX

/** A time of the timeline, and the record it is of: see cvl_calls_bound(). */
struct cvl_calls_time {
	int64_t ns;
	uint64_t tick;
	uint32_t clock; /* of the session; CVL_CALLS_NONE: of no record */
};

/** What was repaired or may be hidden. */
enum cvl_calls_mark {
	CVL_CALLS_LOST_ENTRY = 1, /* an exit without entry: it begins where nothing else is known */
	CVL_CALLS_LOST_EXIT = 2,  /* closed by the end of a span around it */
	CVL_CALLS_OPEN = 4,       /* still open at the end */
	CVL_CALLS_GAP = 8,        /* records were lost within it */
	CVL_CALLS_GUESSED = 16, /* an exit that names nothing, behind a loss: it may be another's */
};

/** An end of the span was not seen. */
#define CVL_CALLS_MADE_UP (CVL_CALLS_LOST_ENTRY | CVL_CALLS_LOST_EXIT | CVL_CALLS_GUESSED)

/** Why a thread does not run any more, as far as the switch says. */
enum cvl_calls_reason {
	CVL_CALLS_REASON_NONE,      /* it does not */
	CVL_CALLS_REASON_PREEMPTED, /* it could go on */
	CVL_CALLS_REASON_BLOCKED,   /* it could not */
};

/** Where time went, ns. */
struct cvl_calls_parts {
	int64_t preempted, switched, blocked, waiting, hidden;
};

/** One execution. */
struct cvl_calls_span {
	uint32_t thread, function, node; /* node: struct cvl_calls_way */
	int32_t depth;                   /* below 0: around what was known first */
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

/** A thread not running, and whom the core ran for the longest meanwhile. */
struct cvl_calls_away {
	uint32_t thread, core;
	uint32_t by;                  /* thread; CVL_CALLS_NONE: idle or unknown */
	enum cvl_calls_reason reason; /* BLOCKED also where the core was idle for most of it */
	int64_t by_ns;                /* that it ran */
	int64_t others;               /* ns in all that others ran */
	struct cvl_calls_time begin, end;
};

/** A message, and how long its receiver had waited for it. */
struct cvl_calls_message {
	uint32_t rule;     /* that paired it; those of the options first */
	uint32_t from, to; /* threads */
	struct cvl_calls_time sent, received;
	struct cvl_calls_time wait_from; /* since when; received: it did not wait */
};

/** A loss. */
struct cvl_calls_gap {
	uint32_t core; /* or CVL_CALLS_NONE: of the whole node */
	uint32_t node;
	struct cvl_calls_time begin, end;
	uint64_t lost; /* CVL_LOST_UNKNOWN */
};

/** A way of calling: a function within another within ... */
struct cvl_calls_way {
	uint32_t thread,
		/* CVL_CALLS_NONE: the thread itself; or what was too much to be kept apart */
		function;
	uint32_t parent, child, next; /* ways; CVL_CALLS_NONE */
	uint32_t cost;                /* struct cvl_calls_cost */
	uint64_t calls;
	int64_t self, total;
};

/** A function on a thread, whatever called it. */
struct cvl_calls_cost {
	uint32_t thread, function;
	uint32_t active; /* open now */
	uint64_t calls, repaired;
	int64_t total; /* of the outermost where it calls itself */
	int64_t self;
	uint64_t made_up;      /* of the repaired: in neither of these two, nor in the parts */
	int64_t made_up_ns;    /* their lengths in all */
	int64_t min, max, sum; /* of the @whole ones */
	uint64_t whole;        /* not repaired, nothing hidden */
	struct cvl_calls_parts part; /* of the outermost ones */
	int64_t total_bound;         /* half-width of total */
};

/** A lane. */
struct cvl_calls_thread {
	uint32_t node;     /* index in the result's nodes */
	uint32_t core;     /* that it ran on last, or CVL_CALLS_NONE */
	uint32_t root;     /* struct cvl_calls_way */
	uint32_t clock;    /* of its first record */
	char *name;        /* NULL: the core itself */
	const char *label; /* "node", "node/1" (its core), "node/task" */
	const char *task;  /* the last part of it alone: "task" */
	bool idle;         /* the core is idle when it runs */
	bool interrupt;
	uint64_t spans;
	int64_t busy; /* ns that it ran, as far as known */
	struct cvl_calls_parts part;
	int32_t depth_min, depth_max;
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
	uint64_t too_deep;  /* spans beyond 65536 within each other */
	uint64_t paths;     /* calls whose way was one too many */
	uint64_t backwards; /* times that went back: taken as the one before */
	uint64_t strays;    /* returns of interrupts that never came */
};

/** What made a span longer than usual. */
enum cvl_calls_cause {
	CVL_CALLS_PREEMPTED,
	CVL_CALLS_SWITCHED, /* out, for an unknown reason */
	CVL_CALLS_BLOCKED,
	CVL_CALLS_WAITED,
	CVL_CALLS_HIDDEN,
	CVL_CALLS_ITSELF,
	CVL_CALLS_CAUSES
};

/**
 * A span that took much longer than others of its name: more than 1.5 times the median, and at
 * least a thousandth of the capture longer. It is explained by the part that exceeds what is usual
 * of that part by most. Spans in each other, of one thread, that are prolonged by the same are one
 * finding: of the outermost that is usually shorter.
 */
struct cvl_calls_finding {
	struct cvl_calls_span span;
	int64_t median; /* ns, of spans of that name */
	uint64_t of;    /* how many there were */
	enum cvl_calls_cause cause;
	int64_t ns;    /* that it took for that cause; CVL_CALLS_ITSELF: longer than usual */
	uint32_t by;   /* thread that ran, or was waited for, for the longest; CVL_CALLS_NONE */
	int64_t by_ns; /* of @ns */
};

/** What a step of the critical path is. */
enum cvl_calls_step_kind {
	CVL_CALLS_STEP_RUN,
	CVL_CALLS_STEP_PREEMPTED, /* @by ran */
	CVL_CALLS_STEP_SWITCHED,  /* out: @by ran, for an unknown reason */
	CVL_CALLS_STEP_BLOCKED,
	CVL_CALLS_STEP_MESSAGE, /* from @by to @thread */
};

/**
 * A step of the critical path: what the end of a span waited for, back to its begin, on whatever
 * core.
 *
 * From the end backwards: what the thread did, up to the last message that it had waited for; then
 * the way of the message; then what its sender did before it sent it; and so on. Each instant
 * between begin and end is in one step. Spans and times off the core shorter than a thousandth of
 * the whole are part of what is around them.
 */
struct cvl_calls_step {
	enum cvl_calls_step_kind kind;
	uint32_t thread, function; /* innermost, or CVL_CALLS_NONE */
	uint32_t by;
	struct cvl_calls_time begin, end;
	char *text; /* "main, preempted by task X" */
};

/** How many of one kind were kept. */
struct cvl_calls_list {
	size_t n;
	size_t room, most; /* of who fills it */
	uint64_t left_out;
	int64_t shortest; /* ns; those left out are as long, or shorter */
};

/**
 * What is kept to be drawn, or followed: everything, as long as there is not too much of it; then
 * the longer half of each kind, again and again.
 */
struct cvl_calls_kept {
	struct cvl_calls_span *span;
	struct cvl_calls_slice *slice;
	struct cvl_calls_away *away;
	struct cvl_calls_message *message; /* how long each was waited for counts */
	struct cvl_calls_gap *gap;
	struct cvl_calls_list spans, slices, aways, messages, gaps;
	bool no_memory; /* of who fills it */
};

/** What went by. */
struct cvl_calls_counts {
	uint64_t events;  /* that a rule named */
	uint64_t unnamed; /* of them without the field that names their function */
	uint64_t late;    /* records out of order */
	uint64_t messages, unmatched, duplicates;
};

/** Findings of one function, cause and culprit. */
struct cvl_calls_group {
	const struct cvl_calls_finding *first;
	char *where; /* "slave1 and slave2" */
	char *text;  /* "slave1: main preempted by task X for 204 ms (took ...)" */
	size_t n;
	int64_t least, most;           /* ns that it took for the cause */
	int64_t took_least, took_most; /* ns, the whole spans */
};

/** A function over all threads. */
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

/** Of the critical path, what one thread spent in steps of one text. */
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
	 * No address lies in the code of the program: another one ran, or it was somewhere else in
	 * memory.
	 */
	bool other_program;
	uint64_t first_address;  /* that does not; of other_program */
	const char *const *node; /* names of nodes */
	size_t n_nodes;
	const struct cvl_calls_core *core;
	size_t n_cores;
	const struct cvl_calls_thread *thread;
	size_t n_threads;
	const uint32_t *order; /* threads by node, then core */
	const struct cvl_calls_function *function;
	size_t n_functions;
	const uint32_t *hot; /* functions that were called, those of most self time first */
	size_t n_hot;
	const struct cvl_calls_way *way; /* parents come before what they call */
	size_t n_ways;
	const struct cvl_calls_cost *cost;
	size_t n_costs;
	const struct cvl_calls_group *group; /* of findings; what was lost most first */
	size_t n_groups;
	const struct cvl_calls_kept *kept;
	const struct cvl_calls_span
		*chosen; /* whose critical path it is; NULL: no span is called so */
	const struct cvl_calls_step *step; /* of it, the earliest first */
	size_t n_steps;
	bool cut; /* more messages than are followed: the path begins later */
	const struct cvl_calls_share *share; /* of the path, the longest first */
	size_t n_shares;
	uint64_t made_up;   /* spans that are in no total */
	int64_t made_up_ns; /* their lengths in all */
	struct cvl_calls_repairs repairs;
	struct cvl_calls_counts counts;
};

/** Of an analysis that cvl_calls_open() made and that was ended. All of it belongs to @a. */
CVL_API const struct cvl_calls_result *cvl_calls_result(const struct cvl_analysis *a);

/** Half-width of a time of the result, ns; CVL_BOUND_UNKNOWN. */
CVL_API int64_t cvl_calls_bound(const struct cvl_analysis *a, struct cvl_calls_time at);
/** Half-width of the difference of two times. */
CVL_API int64_t cvl_calls_apart(const struct cvl_analysis *a, struct cvl_calls_time from,
				struct cvl_calls_time to);

/** The name of a function, "?" for CVL_CALLS_NONE. */
CVL_API const char *cvl_calls_function_name(const struct cvl_calls_result *r, uint32_t function);

/* ---- documents; errors of writing are kept in @out ---- */

/**
 * Folded stacks: a line for each way of calling, its names joined by semicolons, then its self time
 * in ns. Semicolons and control characters in names become underscores. CVL_E_NOMEM.
 */
CVL_API int cvl_calls_folded(const struct cvl_analysis *a, struct cvl_out *out,
			     struct cvl_error *err);

/** Flame graph of self times as SVG. CVL_E_NOMEM. */
CVL_API int cvl_calls_flame(const struct cvl_analysis *a, const char *title, struct cvl_out *out,
			    struct cvl_error *err);

/**
 * A page of HTML that shows all threads over time; it needs nothing else. @findings: groups that
 * are told, at the most. Names are data in it and never markup. CVL_E_NOMEM.
 */
CVL_API int cvl_calls_page(const struct cvl_analysis *a, const char *title, size_t findings,
			   struct cvl_out *out, struct cvl_error *err);

CVL_END_DECLS

#endif
