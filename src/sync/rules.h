/* SPDX-License-Identifier: MIT */
/**
 * Matching rules: which events are the two ends of a message, and which fields identify it. They
 * are data: built in by name, or read from YAML (docs/sync.md).
 */
#ifndef SYNC_RULES_H
#define SYNC_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

#define RULE_KEYS_MAX 16

struct rule_side {
	const char *event;              /* a selector of events: coeval/select.h */
	const char *key[RULE_KEYS_MAX]; /* fields, in the order of the other side's */
	size_t n_keys;
};

struct match_rule {
	const char *name;
	struct rule_side send, receive;
	int64_t window_ns; /* a key seen again after this long is another message; 0: never */
	bool many;         /* a message sent once is received by several: each is a message */
};

struct rule_set {
	struct match_rule *rule;
	size_t n;
	struct config_memory *memory; /* owns their texts */
};

/** Add the built-in rules @name, or those in the file @name, to @set. */
int rules_add(struct rule_set *set, const char *name, struct cvl_error *err);

/** Parse YAML text; @name for messages. */
int rules_parse(struct rule_set *set, const char *text, size_t n, const char *name,
		struct cvl_error *err);

/** The same for rules stored in sync.json, whose window is `window_ns`. */
int rules_parse_kept(struct rule_set *set, const char *text, size_t n, const char *name,
		     struct cvl_error *err);

/** Remove the rules called @name, starting at index @first. */
void rules_drop(struct rule_set *set, size_t first, const char *name);

void rules_free(struct rule_set *set);

#endif
