/* SPDX-License-Identifier: MIT */
/** The role of each event class in the rules, and its fields. */
#ifndef ANALYSIS_CALLS_BIND_H
#define ANALYSIS_CALLS_BIND_H

#include "analysis/calls/read.h"

struct some_fields;
struct some_set;

enum bound_kind {
	BOUND_NOT,
	BOUND_BEGIN,
	BOUND_END,
	BOUND_SWITCH,
	BOUND_INTERRUPT,
	BOUND_RETURN,
	BOUND_WAKING,
	BOUND_WAKE,
	BOUND_BIRTH,
	BOUND_DEATH,
	BOUND_RENAME,
	BOUND_STATE,
	BOUND_MIGRATE,
	BOUND_BLOCK,
	BOUND_ALIAS,
	BOUND_STOP,
	BOUND_OBJECT,
	BOUND_ANEW,
	BOUND_MESSAGE
};

struct bound_class {
	enum bound_kind kind;
	const char *want[CALLS_SLOTS];       /* names of fields, by their address; NULL: none */
	uint8_t slots[CALLS_SLOTS], n_slots; /* that want one, */
	uint8_t field[CALLS_SLOTS];          /* this one of @fields */
	struct some_fields *fields;          /* to read them alone; of bound_plan() */
	bool planned;
	bool scope[CVL_SCOPES];        /* any of them is in this scope */
	bool packet_core;              /* of the packet's context the core alone is wanted */
	enum cvl_calls_reason reason;  /* of a switch */
	const struct calls_rule *rule; /* NULL: BOUND_MESSAGE */
	uint32_t number;               /* of the rule */
	bool sure;                     /* WAKING, WAKE: all that the rule needs is traced */
	unsigned release;              /* of Linux: 4014 is 4.14; 0: not known */
	char *stem; /* match of the rule's asterisk: the name if no field gives one; "" */
};

/**
 * The role of @class of @trace in @rules; @b begins as {0}. If an asterisk gives the name, both
 * begin and end must be declared. CVL_E_NOMEM.
 */
int bound_class(struct bound_class *b, const struct calls_rules *rules,
		const struct cvl_trace *trace, const struct cvl_event_class *class);
/** Of all @n classes of @trace, once they are bound: whether wakers are sure. */
void bound_trace(struct bound_class *b, size_t n, const struct cvl_trace *trace);
/** How the fields of class @i of @trace are read; @set owns that. Before its first record is taken. CVL_E_NOMEM. */
int bound_plan(struct bound_class *b, struct some_set *set, const struct cvl_trace *trace, size_t i,
	       struct cvl_error *err);
/** For an event that is only an end of a message. */
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
	char wide[200]; /* texts that are not UTF-8 in the trace, as far as there is room */
	size_t n_wide;
};

/**
 * Read the fields of record @i; false: unreadable. @same_packet: that of the last record, so that
 * what is in its context alone need not be read again.
 */
bool take(struct taken *t, const struct bound_class *class, struct cvl_stream *stream,
	  const struct cvl_batch *batch, size_t i, bool same_packet);

#endif
