/* SPDX-License-Identifier: MIT */
/** Event classes that begin and end something, recognised by name. */
#ifndef BRACKETS_H
#define BRACKETS_H

#include <coeval/ctf.h>

enum bracket_side { BRACKET_NONE, BRACKET_BEGIN, BRACKET_END };

struct bracket {
	enum bracket_side side;
	bool is_function; /* func_entry or func_exit: its fields name the function */
	bool is_switch;   /* sched_switch or task_switch: its core runs another task from here on */
	char *name;       /* without the suffix */
};

/**
 * The role of each event class of @trace: pairs X_begin and X_end, or X_entry and X_exit, begin and
 * end X. NULL when out of memory.
 */
struct bracket *brackets_of(const struct cvl_trace *trace);
void brackets_free(struct bracket *b, size_t n);

#endif
