/* SPDX-License-Identifier: MIT */
#include "analysis/calls/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>

#include "analysis/calls/builtin.h"

#include "core/builtin.h"
#include "core/config.h"

/* The first that has a rule for an event counts. */
static const struct builtin builtin[] = {
#define BUILTIN(name)                                                  \
	{                                                              \
#name, calls_##name##_yaml, &calls_##name##_yaml_bytes \
	}
	BUILTIN(functions), BUILTIN(linux), BUILTIN(ros2), BUILTIN(zephyr),
	BUILTIN(tasks),     BUILTIN(pairs), { 0 },
};

#define BUILTINS (sizeof(builtin) / sizeof(*builtin) - 1)

#define HINT                                                                                                  \
	"a rule is one of: begin+end, switch+next, interrupt+return, idle, object+key, block, anew, or with " \
	"`task` one of waking, wake, birth, death, rename, dump, migrate, alias, stop"

const char *calls_rules_name(size_t i)
{
	return i < BUILTINS ? builtin[i].name : NULL;
}

const char *calls_rules_text(const char *name, size_t *n)
{
	return builtin_text(builtin, name, n);
}

void calls_rules_free(struct calls_rules *set)
{
	config_free(&set->memory);
	free(set->rule);
	*set = (struct calls_rules){ 0 };
}

/* ---- the tables ---- */

/* A rule as written in the file. */
struct raw {
	struct calls_rule rule;
	const char *event[CALLS_RULE_IDLE]; /* by kind; at most one */
	const char *end, *back;
	const char **idle;
	size_t n_idle;
};

static const char *const reasons[] = { "preempted", "blocked", NULL };
static const char *const states[] = { "blocked", "linux", "statedump", NULL };
static const char *const contexts[] = { "task",    "interrupt", "softirq",   "timer",
					"network", "block",     "processor", NULL };

static int add_rule(struct config *c, const struct raw *raw, enum calls_rule_kind kind,
		    const char *begin, const char *end)
{
	struct calls_rules *set = config_user(c);
	struct calls_rule *r;

	if (set->n == CALLS_RULES_MAX)
		return config_fail_in(c, raw, CVL_E_SYNTAX, "more than %d rules", CALLS_RULES_MAX);
	if (cvl_room(&set->rule, set->n, &set->room, sizeof(*set->rule)))
		return config_no_memory(c);
	r = &set->rule[set->n++];
	*r = raw->rule;
	r->kind = kind;
	r->begin = begin;
	r->end = end;
	return 0;
}

static int end_rule(struct config *c, void *to)
{
	const struct raw *raw = to;
	const struct calls_fields *slot = raw->rule.slot;
	int kind = CALLS_RULE_IDLE, n = raw->idle != NULL, rc = 0;

	for (int k = 0; k < CALLS_RULE_IDLE; k++)
		if (raw->event[k]) {
			kind = k;
			n++;
		}
	if (n != 1 || (kind == CALLS_RULE_SPAN) != (raw->end != NULL) ||
	    (kind == CALLS_RULE_INTERRUPT) != (raw->back != NULL))
		return config_fail_in(c, raw, CVL_E_SYNTAX, HINT);
	if (raw->rule.reason && kind != CALLS_RULE_SWITCH)
		return config_fail(c, &raw->rule.reason, CVL_E_SYNTAX, "`reason` is for a switch");
	if (kind == CALLS_RULE_SWITCH && !slot[CALLS_SLOT_NEXT].n && !slot[CALLS_SLOT_NAME].n)
		return config_fail_in(
			c, raw, CVL_E_SYNTAX,
			"a switch needs `next: FIELD`: the task that runs from there on");
	if (kind == CALLS_RULE_OBJECT && !slot[CALLS_SLOT_ID].n)
		return config_fail_in(c, raw, CVL_E_SYNTAX,
				      "an object needs `key: FIELD`: its address");
	if (kind >= CALLS_RULE_WAKING && kind < CALLS_RULE_OBJECT && kind != CALLS_RULE_BLOCK &&
	    !slot[CALLS_SLOT_NEXT].n && !slot[CALLS_SLOT_NAME].n)
		return config_fail_in(c, raw, CVL_E_SYNTAX,
				      "this needs `task: FIELD`: the task that it is about");
	if (kind == CALLS_RULE_ALIAS && (!slot[CALLS_SLOT_PREV].n || !slot[CALLS_SLOT_PROCESS].n))
		return config_fail_in(
			c, raw, CVL_E_SYNTAX,
			"an alias needs `as: FIELD` and `process: FIELD`: its numbers in the namespace");
	if (kind != CALLS_RULE_IDLE)
		return add_rule(c, raw, (enum calls_rule_kind)kind, raw->event[kind],
				raw->end ? raw->end : raw->back);
	for (size_t i = 0; i < CALLS_SLOTS; i++)
		if (slot[i].n)
			return config_fail(c, slot[i].field, CVL_E_SYNTAX,
					   "`idle` takes no fields");
	for (size_t i = 0; !rc && i < raw->n_idle; i++)
		rc = add_rule(c, raw, CALLS_RULE_IDLE, raw->idle[i], NULL);
	return rc;
}

#define GLOB(key, member)                                                          \
	{                                                                          \
		key, CONFIG_TEXT, .offset = offsetof(struct raw, member), .min = 1 \
	}
#define FIELDS(key, which)                                                                \
	{                                                                                 \
		key, CONFIG_TEXT, .offset = offsetof(struct raw, rule.slot[which].field), \
				  .min = 1, .many = CONFIG_ONE_OR_LIST, .inside = true,   \
				  .most = CALLS_FIELDS_MAX,                               \
				  .length = offsetof(struct raw, rule.slot[which].n)      \
	}

static const struct config_key rule_keys[] = {
	GLOB("begin", event[CALLS_RULE_SPAN]),
	GLOB("end", end),
	GLOB("switch", event[CALLS_RULE_SWITCH]),
	GLOB("interrupt", event[CALLS_RULE_INTERRUPT]),
	GLOB("return", back),
	GLOB("waking", event[CALLS_RULE_WAKING]),
	GLOB("wake", event[CALLS_RULE_WAKE]),
	GLOB("birth", event[CALLS_RULE_BIRTH]),
	GLOB("death", event[CALLS_RULE_DEATH]),
	GLOB("rename", event[CALLS_RULE_RENAME]),
	GLOB("dump", event[CALLS_RULE_STATE]),
	GLOB("migrate", event[CALLS_RULE_MIGRATE]),
	GLOB("block", event[CALLS_RULE_BLOCK]),
	GLOB("alias", event[CALLS_RULE_ALIAS]),
	GLOB("stop", event[CALLS_RULE_STOP]),
	GLOB("object", event[CALLS_RULE_OBJECT]),
	GLOB("anew", event[CALLS_RULE_ANEW]),
	{ "idle", CONFIG_TEXT, .offset = offsetof(struct raw, idle), .min = 1,
	  .many = CONFIG_ONE_OR_LIST, .length = offsetof(struct raw, n_idle),
	  .most = CALLS_FIELDS_MAX },
	FIELDS("name", CALLS_SLOT_NAME),
	FIELDS("thread", CALLS_SLOT_THREAD),
	FIELDS("core", CALLS_SLOT_CORE),
	FIELDS("id", CALLS_SLOT_ID),
	FIELDS("next", CALLS_SLOT_NEXT),
	FIELDS("task", CALLS_SLOT_NEXT),
	FIELDS("blocked", CALLS_SLOT_BLOCKED),
	FIELDS("state", CALLS_SLOT_BLOCKED),
	FIELDS("prev", CALLS_SLOT_PREV),
	FIELDS("parent", CALLS_SLOT_PREV),
	FIELDS("was", CALLS_SLOT_PREV),
	FIELDS("as", CALLS_SLOT_PREV),
	FIELDS("target", CALLS_SLOT_TARGET),
	FIELDS("flags", CALLS_SLOT_FLAGS),
	FIELDS("inside", CALLS_SLOT_INSIDE),
	FIELDS("key", CALLS_SLOT_ID),
	FIELDS("level", CALLS_SLOT_ID),
	FIELDS("is", CALLS_SLOT_NEXT),
	FIELDS("in", CALLS_SLOT_PREV),
	FIELDS("prefix", CALLS_SLOT_TARGET),
	FIELDS("process", CALLS_SLOT_PROCESS),
	FIELDS("space", CALLS_SLOT_SPACE),
	FIELDS("parent_space", CALLS_SLOT_TARGET),
	GLOB("label", rule.label),
	GLOB("unseen", rule.unseen),
	{ "named", CONFIG_BOOL, .offset = offsetof(struct raw, rule.named) },
	{ "chain", CONFIG_BOOL, .offset = offsetof(struct raw, rule.chain) },
	{ "otherwise", CONFIG_BOOL, .offset = offsetof(struct raw, rule.otherwise) },
	{ "reason", CONFIG_WORD, .offset = offsetof(struct raw, rule.reason), .words = reasons,
	  .min = CVL_CALLS_REASON_PREEMPTED },
	{ "states", CONFIG_WORD, .offset = offsetof(struct raw, rule.states), .words = states },
	{ "context", CONFIG_WORD, .offset = offsetof(struct raw, rule.context), .words = contexts,
	  .min = CVL_CALLS_CONTEXT_TASK, .many = CONFIG_ONE_OR_LIST, .inside = true,
	  .most = CALLS_NUMBERS_MAX, .length = offsetof(struct raw, rule.n_contexts) },
	{ "names", CONFIG_TEXT, .offset = offsetof(struct raw, rule.names), .min = 1,
	  .many = CONFIG_LIST, .inside = true, .most = CALLS_NUMBERS_MAX,
	  .length = offsetof(struct raw, rule.n_names) },
	{ "needs", CONFIG_WORD, .offset = offsetof(struct raw, rule.needs), .words = contexts,
	  .min = CVL_CALLS_CONTEXT_TASK, .many = CONFIG_ONE_OR_LIST, .inside = true,
	  .most = CVL_CALLS_CONTEXTS, .length = offsetof(struct raw, rule.n_needs) },
	{ 0 },
};
static const struct config_shape rule_shape = {
	.what = "a rule", .key = rule_keys, .size = sizeof(struct raw), .end = end_rule
};

struct raws {
	struct raw *raw;
	size_t n;
};

static const struct config_key root = {
	.type = CONFIG_MAP,
	.shape = &rule_shape,
	.many = CONFIG_ONE_OR_LIST,
	.length = offsetof(struct raws, n),
	.most = CALLS_RULES_MAX,
};

int calls_rules_parse(struct calls_rules *set, const char *text, size_t n, const char *name,
		      struct cvl_error *err)
{
	struct raws raws;
	const struct config_source source = {
		.file = name, .root = &root, .to = &raws, .user = set, .memory = &set->memory
	};

	return config_parse(&source, text, n, err);
}

int calls_rules_builtin(struct calls_rules *set, struct cvl_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < BUILTINS && !rc; i++) {
		char name[80];

		snprintf(name, sizeof(name), "built-in rules '%s'", builtin[i].name);
		rc = calls_rules_parse(set, (const char *)builtin[i].text, *builtin[i].bytes, name,
				       err);
	}
	return rc;
}

int calls_rules_load(struct calls_rules *set, const char *path, struct cvl_error *err)
{
	struct raws raws;
	const struct config_source source = {
		.file = path, .root = &root, .to = &raws, .user = set, .memory = &set->memory
	};
	size_t n;
	const char *text = calls_rules_text(path, &n);

	return text ? calls_rules_parse(set, text, n, path, err) : config_load(&source, err);
}
