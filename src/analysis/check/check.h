/* SPDX-License-Identifier: MIT */
/** Rules as read: see coeval/check.h. */
#ifndef ANALYSIS_CHECK_H
#define ANALYSIS_CHECK_H

#include <coeval/check.h>
#include <coeval/select.h>

#define CHECK_RULES_MAX 1000
#define CHECK_STEPS_MAX 16
#define CHECK_MONITORS_MAX 100000
#define CHECK_PENDING_MAX 65536
/** Greatest count of a `count` rule. */
#define CHECK_COUNT_MAX 65536

enum check_kind {
	CHECK_THEN,     /* after, then, within: phrase 0, 1 */
	CHECK_THEN_NOT, /* after, never, within */
	CHECK_STATE,    /* state, at least, at most */
	CHECK_NEVER,    /* never [while]: phrase 0 [, 1] */
	CHECK_ORDER,    /* order: all phrases */
	CHECK_COUNT,    /* count, at most, in */
	CHECK_EVERY,    /* event, every */
};

struct check_phrase {
	char *text; /* as written */
	bool any;   /* the nodes together, as one */
	struct cvl_selector
		sel;         /* parsed, never bound: rules may be checked on several timelines */
	size_t line, column; /* in the file */
};

struct check_rule {
	const char *name;
	size_t line, column;
	enum check_kind kind;
	struct check_phrase phrase[CHECK_STEPS_MAX];
	size_t n_phrases;
	int64_t min, max; /* ns. COUNT: max is the window */
	uint64_t count;
};

struct cvl_check_rules {
	char *file; /* for messages */
	struct check_rule *rule;
	size_t n, room;
	struct config_memory *memory; /* owns their names */
};

/**
 * Append the rules of YAML @text to @set; @file for messages. @set must be freed even on failure.
 */
int check_rules_parse(struct cvl_check_rules *set, const char *text, size_t n, const char *file,
		      struct cvl_error *err);
void check_rules_free(struct cvl_check_rules *set);

/** Read one phrase. The error has no position. */
int check_phrase_parse(struct check_phrase *p, const char *text, struct cvl_error *err);
void check_phrase_free(struct check_phrase *p);

static inline bool check_is_state(const struct check_phrase *p)
{
	return cvl_selector_is_state(&p->sel);
}

#endif
