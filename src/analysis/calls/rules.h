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
#define CALLS_NUMBERS_MAX 16

enum calls_rule_kind {
	CALLS_RULE_SPAN,
	CALLS_RULE_SWITCH,
	CALLS_RULE_INTERRUPT,
	CALLS_RULE_WAKING,  /* someone wakes a task */
	CALLS_RULE_WAKE,    /* a task is ready */
	CALLS_RULE_BIRTH,   /* a task is made */
	CALLS_RULE_DEATH,   /* a task runs its last */
	CALLS_RULE_RENAME,  /* a task has another name, and maybe another number */
	CALLS_RULE_STATE,   /* what a task does */
	CALLS_RULE_MIGRATE, /* a task goes to another core */
	CALLS_RULE_BLOCK,   /* a task, or the running one, is about to stop and wait */
	CALLS_RULE_ALIAS,   /* a task has another number within a namespace */
	CALLS_RULE_STOP,    /* a task stops running: the next switch is from it */
	CALLS_RULE_OBJECT,  /* what is at an address of a process */
	CALLS_RULE_ANEW,    /* a thread begins work that no message before this caused */
	CALLS_RULE_IDLE
};

/** How the field `state` (or `blocked`) says why a task stopped running. */
enum calls_states {
	CALLS_STATES_BLOCKED,   /* 0: ready; else blocked */
	CALLS_STATES_LINUX,     /* prev_state of Linux: calls_linux_state() */
	CALLS_STATES_STATEDUMP, /* of LTTng's dump of its processes: 5 is blocked */
};

/** What a rule extracts from an event. */
enum calls_slot {
	CALLS_SLOT_NAME,   /* of the function or task */
	CALLS_SLOT_THREAD, /* its thread; else the one its core runs */
	CALLS_SLOT_CORE,   /* the core it happened on */
	CALLS_SLOT_ID,     /* distinguishes spans of one name. OBJECT: its address */
	/*
	 * number of the task that runs from here on, or that this is about. OBJECT: of the one that
	 * it is another address of
	 */
	CALLS_SLOT_NEXT,
	CALLS_SLOT_BLOCKED, /* 0: the task that ran could continue; else it is blocked */
	/*
	 * number of the task that ran, of the parent, or the number before. OBJECT: of the one that
	 * it belongs to
	 */
	CALLS_SLOT_PREV,
	CALLS_SLOT_TARGET, /* core that a task will run on. OBJECT: what its name begins with */
	CALLS_SLOT_FLAGS,  /* 8: within a Linux interrupt, 16: within a softirq */
	CALLS_SLOT_INSIDE, /* number of the interrupt that the record is in; 0: none, 255: unknown */
	CALLS_SLOT_SPACE,  /* the namespace of its numbers */
	CALLS_SLOT_PROCESS, /* whose address or thread it is */
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
	enum calls_states states;
	/* INTERRUPT: what it is, or what those of numbers from 0 on are, and their names */
	enum cvl_calls_context context[CALLS_NUMBERS_MAX];
	size_t n_contexts;
	const char *names[CALLS_NUMBERS_MAX];
	size_t n_names;
	/* WAKING, WAKE: what must be traced so that else the running task is surely the waker */
	enum cvl_calls_context needs[CVL_CALLS_CONTEXTS];
	size_t n_needs;
	const char *
		unseen; /* WAKING, WAKE: glob of tasks that softirqs wake when no event tells of one */
	bool named;     /* SPAN: its name is that of the object at this address */
	bool chain;     /* SPAN: it continues what a message began that its thread received */
	bool otherwise;    /* OBJECT: called this if nothing else is known */
	const char *label; /* OBJECT, BLOCK: what stands before its name */
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
/** @path: of a file, or the name of built-in rules. */
int calls_rules_load(struct calls_rules *set, const char *path, struct cvl_error *err);
void calls_rules_free(struct calls_rules *set);

/** Names of the built-in rules, the first by precedence; NULL: there is no such one. */
const char *calls_rules_name(size_t i);
/** The YAML text of the built-in rules @name, of *@n bytes; NULL: there are none. */
const char *calls_rules_text(const char *name, size_t *n);

#endif
