/* SPDX-License-Identifier: MIT */
#include "analysis/calls/rules.h"

#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>

#include "core/config.h"

/* In the users' own format. */
static const char builtin[] =
	"- { begin: 'lttng_ust_cyg_profile*:func_entry', end: 'lttng_ust_cyg_profile*:func_exit', name: addr }\n"
	"- { begin: func_entry, end: func_exit, name: [addr, function, name] }\n"
	"- { begin: func_enter, end: func_leave, name: [addr, function, name] }\n"
	"- { begin: task_begin, end: task_end, name: [task, name] }\n"
	"- { switch: task_switch, next: [next, to, task], name: [next_name, name], blocked: blocked }\n"
	"- { switch: sched_switch, next: next_tid, name: next_comm, blocked: prev_state }\n"
	"- { interrupt: isr_enter, return: isr_exit, name: [name, isr, irq, number] }\n"
	"- { interrupt: irq_handler_entry, return: irq_handler_exit, name: [name, irq] }\n"
	"- { begin: 'syscall_entry_*', end: 'syscall_exit_*' }\n"
	"- { begin: '*_begin', end: '*_end' }\n"
	"- { begin: '*_entry', end: '*_exit' }\n"
	"- { begin: '*_enter', end: '*_leave' }\n"
	"- { begin: '*_enter', end: '*_exit' }\n"
	"- { idle: ['idle*', 'Idle*', 'IDLE*', '*_idle', 'swapper*'] }\n";

#define HINT                                                                            \
	"a rule is one of: begin+end, switch+next, interrupt+return, idle; with name, " \
	"thread, core, id, blocked for the fields, and reason"

const char *calls_rules_text(void)
{
	return builtin;
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
	const char *begin, *change, *interrupt; /* what kind it is; at most one */
	const char *end, *back;
	const char **idle;
	size_t n_idle;
};

static const char *const reasons[] = { "preempted", "blocked", NULL };

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
	int rc = 0;

	if (!raw->begin + !raw->change + !raw->interrupt + !raw->idle != 3 ||
	    !raw->begin != !raw->end || !raw->interrupt != !raw->back)
		return config_fail_in(c, raw, CVL_E_SYNTAX, HINT);
	if (raw->rule.reason && !raw->change)
		return config_fail(c, &raw->rule.reason, CVL_E_SYNTAX, "`reason` is for a switch");
	if (raw->change && !slot[CALLS_SLOT_NEXT].n && !slot[CALLS_SLOT_NAME].n)
		return config_fail_in(
			c, raw, CVL_E_SYNTAX,
			"a switch needs `next: FIELD`: the task that runs from there on");
	if (raw->begin)
		return add_rule(c, raw, CALLS_RULE_SPAN, raw->begin, raw->end);
	if (raw->change)
		return add_rule(c, raw, CALLS_RULE_SWITCH, raw->change, NULL);
	if (raw->interrupt)
		return add_rule(c, raw, CALLS_RULE_INTERRUPT, raw->interrupt, raw->back);
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
	GLOB("begin", begin),
	GLOB("end", end),
	GLOB("switch", change),
	GLOB("interrupt", interrupt),
	GLOB("return", back),
	{ "idle", CONFIG_TEXT, .offset = offsetof(struct raw, idle), .min = 1,
	  .many = CONFIG_ONE_OR_LIST, .length = offsetof(struct raw, n_idle),
	  .most = CALLS_FIELDS_MAX },
	FIELDS("name", CALLS_SLOT_NAME),
	FIELDS("thread", CALLS_SLOT_THREAD),
	FIELDS("core", CALLS_SLOT_CORE),
	FIELDS("id", CALLS_SLOT_ID),
	FIELDS("next", CALLS_SLOT_NEXT),
	FIELDS("blocked", CALLS_SLOT_BLOCKED),
	{ "reason", CONFIG_WORD, .offset = offsetof(struct raw, rule.reason), .words = reasons,
	  .min = CVL_CALLS_REASON_PREEMPTED },
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
	return calls_rules_parse(set, builtin, sizeof(builtin) - 1, "built-in rules", err);
}

int calls_rules_load(struct calls_rules *set, const char *path, struct cvl_error *err)
{
	struct raws raws;
	const struct config_source source = {
		.file = path, .root = &root, .to = &raws, .user = set, .memory = &set->memory
	};

	return config_load(&source, err);
}
