/* SPDX-License-Identifier: MIT */
/**
 * Which events are begins and ends of spans, switches and interrupts: rules, built in or of YAML
 * (docs/calls.md).
 *
 * The first rule that an event's name fits counts.
 */
#ifndef ANALYSIS_CALLS_RULES_H
#define ANALYSIS_CALLS_RULES_H

#include <stddef.h>

#include <coeval/error.h>

#include "analysis/calls/calls.h"

#define CALLS_FIELDS_MAX 8
#define CALLS_RULES_MAX 200

enum calls_rule_kind { CALLS_RULE_SPAN, CALLS_RULE_SWITCH, CALLS_RULE_INTERRUPT, CALLS_RULE_IDLE };

/** What a rule takes out of an event. */
enum calls_slot {
	CALLS_SLOT_NAME,    /* of the function or task */
	CALLS_SLOT_THREAD,  /* that it is of; else the one that its core runs */
	CALLS_SLOT_CORE,    /* that it happened on */
	CALLS_SLOT_ID,      /* tells spans of one name from each other */
	CALLS_SLOT_NEXT,    /* number of the task that runs from here on */
	CALLS_SLOT_BLOCKED, /* 0: the task that ran could go on; else it cannot by itself */
	CALLS_SLOTS
};

/** Names of fields, the best first. */
struct calls_fields {
	const char *field[CALLS_FIELDS_MAX];
	size_t n;
};

struct calls_rule {
	enum calls_rule_kind kind;
	const char *begin, *end; /* globs. SWITCH: begin alone. IDLE: of names of tasks */
	struct calls_fields slot[CALLS_SLOTS];
	enum cvl_calls_reason reason; /* SWITCH: where no field says it */
};

struct calls_rules {
	struct calls_rule *rule;
	size_t n, room;
	struct config_memory *memory; /* owns their texts */
};

/** Those that are built in, behind what @set has. */
int calls_rules_builtin(struct calls_rules *set, struct cvl_error *err);
/**
 * Those of YAML @text, behind what @set has; @name for messages. On failure @set is to be freed all
 * the same.
 */
int calls_rules_parse(struct calls_rules *set, const char *text, size_t n, const char *name,
		      struct cvl_error *err);
int calls_rules_load(struct calls_rules *set, const char *path, struct cvl_error *err);
void calls_rules_free(struct calls_rules *set);

/** The YAML text of those that are built in. */
const char *calls_rules_text(void);

#endif
