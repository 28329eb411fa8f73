/* SPDX-License-Identifier: MIT */
/**
 * Which events are begins and ends of spans, switches and interrupts: rules, built in or from YAML
 * (docs/calls.md). The first rule that matches an event's name applies.
 */
#ifndef ANALYSIS_CALLS_RULES_H
#define ANALYSIS_CALLS_RULES_H

#include <stddef.h>

#include <coeval/error.h>

#include "analysis/calls/calls.h"

#define CALLS_FIELDS_MAX 8
#define CALLS_RULES_MAX 200

enum calls_rule_kind { CALLS_RULE_SPAN, CALLS_RULE_SWITCH, CALLS_RULE_INTERRUPT, CALLS_RULE_IDLE };

/** What a rule extracts from an event. */
enum calls_slot {
	CALLS_SLOT_NAME,    /* of the function or task */
	CALLS_SLOT_THREAD,  /* its thread; else the one its core runs */
	CALLS_SLOT_CORE,    /* the core it happened on */
	CALLS_SLOT_ID,      /* distinguishes spans of one name */
	CALLS_SLOT_NEXT,    /* number of the task that runs from here on */
	CALLS_SLOT_BLOCKED, /* 0: the task that ran could continue; else it is blocked */
	CALLS_SLOTS
};

/** Names of fields, best first. */
struct calls_fields {
	const char *field[CALLS_FIELDS_MAX];
	size_t n;
};

struct calls_rule {
	enum calls_rule_kind kind;
	const char *begin, *end; /* globs. SWITCH: begin alone. IDLE: globs of task names */
	struct calls_fields slot[CALLS_SLOTS];
	enum cvl_calls_reason reason; /* SWITCH: if no field gives it */
};

struct calls_rules {
	struct calls_rule *rule;
	size_t n, room;
	struct config_memory *memory; /* owns their texts */
};

/** Append the built-in rules to @set. */
int calls_rules_builtin(struct calls_rules *set, struct cvl_error *err);
/**
 * Append the rules of YAML @text to @set; @name for messages. @set must be freed even on failure.
 */
int calls_rules_parse(struct calls_rules *set, const char *text, size_t n, const char *name,
		      struct cvl_error *err);
int calls_rules_load(struct calls_rules *set, const char *path, struct cvl_error *err);
void calls_rules_free(struct calls_rules *set);

/** The YAML text of the built-in rules. */
const char *calls_rules_text(void);

#endif
