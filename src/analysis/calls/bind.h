/* SPDX-License-Identifier: MIT */
/** What each event class is to the rules, and its fields. */
#ifndef ANALYSIS_CALLS_BIND_H
#define ANALYSIS_CALLS_BIND_H

#include "analysis/calls/read.h"

enum bound_kind {
	BOUND_NOT,
	BOUND_BEGIN,
	BOUND_END,
	BOUND_SWITCH,
	BOUND_INTERRUPT,
	BOUND_RETURN,
	BOUND_MESSAGE
};

struct bound_class {
	enum bound_kind kind;
	const char *want[CALLS_SLOTS]; /* names of fields, by their address; NULL: none */
	bool scope[CVL_SCOPES];        /* any of them is in it */
	enum cvl_calls_reason reason;  /* of a switch */
	char *stem; /* what the rule's asterisk stands for: its name if no field tells; "" */
};

/**
 * What @class of @trace is by @rules; @b begins as {0}. Where an asterisk makes the name, both ends
 * must be declared: there is no end of what nothing begins. CVL_E_NOMEM.
 */
int bound_class(struct bound_class *b, const struct calls_rules *rules,
		const struct cvl_trace *trace, const struct cvl_event_class *class);
/** Of an event that is no more than an end of a message. */
void bound_message(struct bound_class *b, const struct cvl_event_class *class);

/** A field's value. */
struct taken_value {
	bool has, is_text, hex;
	uint64_t number;
	const char *text; /* not NUL-terminated */
	size_t len;
};

struct taken {
	const struct bound_class *class;
	struct taken_value slot[CALLS_SLOTS];
};

/** What record @i tells; false: its fields cannot be read. */
bool take(struct taken *t, const struct bound_class *class, struct cvl_stream *stream,
	  const struct cvl_batch *batch, size_t i);

#endif
