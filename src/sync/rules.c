/* SPDX-License-Identifier: MIT */
#include "sync/rules.h"

#include <coeval/select.h>
#include <coeval/sync.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/builtin.h"
#include "core/config.h"
#include "sync/builtin.h"

#define RULES_MAX 64

static const struct builtin builtin[] = {
	{ "lttng-tcp", match_lttng_tcp_yaml, &match_lttng_tcp_yaml_bytes },
	{ "linux-tcp", match_linux_tcp_yaml, &match_linux_tcp_yaml_bytes },
	{ "linux-udp", match_linux_udp_yaml, &match_linux_udp_yaml_bytes },
	{ "ros2", match_ros2_yaml, &match_ros2_yaml_bytes },
	{ "ros2-dds", match_ros2_dds_yaml, &match_ros2_dds_yaml_bytes },
	{ "tracer", match_tracer_yaml, &match_tracer_yaml_bytes },
	{ 0 },
};

#define BUILTINS (sizeof(builtin) / sizeof(*builtin) - 1)

const char *cvl_match_builtin_name(size_t i)
{
	return i < BUILTINS ? builtin[i].name : NULL;
}

const char *cvl_match_builtin_rules(const char *name, size_t *n)
{
	return builtin_text(builtin, name, n);
}

void rules_drop(struct rule_set *set, size_t first, const char *name)
{
	size_t n = first;

	for (size_t i = first; i < set->n; i++)
		if (strcmp(set->rule[i].name, name) != 0)
			set->rule[n++] = set->rule[i];
	set->n = n;
}

void rules_free(struct rule_set *set)
{
	config_free(&set->memory);
	free(set->rule);
	*set = (struct rule_set){ 0 };
}

/* ---- the tables ---- */

#define AT(owner, member) .offset = offsetof(struct owner, member)

static const struct config_key side_keys[] = {
	{ "event", CONFIG_TEXT, AT(rule_side, event), .must = true },
	{ "key", CONFIG_TEXT, AT(rule_side, key), .must = true, .many = CONFIG_LIST, .inside = true,
	  .length = offsetof(struct rule_side, n_keys), .least = 1, .most = RULE_KEYS_MAX,
	  .min = 1 },
	{ 0 },
};

static int end_side(struct config *c, void *to)
{
	const struct rule_side *side = to;
	struct cvl_selector sel;
	struct cvl_error err;

	if (cvl_selector_parse(&sel, side->event, strlen(side->event), &err))
		return config_fail(c, &side->event, err.code, "%s", err.text);
	cvl_selector_free(&sel);
	return 0;
}

static const struct config_shape side_shape = { .what = "a side of a rule",
						.key = side_keys,
						.size = sizeof(struct rule_side),
						.end = end_side };

static int end_rule(struct config *c, void *to)
{
	const struct match_rule *rule = to;

	return rule->send.n_keys == rule->receive.n_keys ?
		       0 :
		       config_fail_in(c, rule, CVL_E_SYNTAX,
				      "both sides need the same number of key fields");
}

#define RULE_KEYS                                                                                  \
	{ "name", CONFIG_TEXT, AT(match_rule, name) },                                             \
		{ "send", CONFIG_MAP, AT(match_rule, send), .must = true, .shape = &side_shape },  \
	{                                                                                          \
		"receive", CONFIG_MAP, AT(match_rule, receive), .must = true, .shape = &side_shape \
	}

static const struct config_key rule_keys[] = {
	RULE_KEYS,
	{ "window", CONFIG_TIME, AT(match_rule, window_ns), .min = 1, .max = 0x1p63,
	  .what = "a time above 0, such as 10s" },
	{ "many", CONFIG_BOOL, AT(match_rule, many) },
	{ 0 },
};
/* As stored in sync.json. */
static const struct config_key kept_keys[] = {
	RULE_KEYS,
	{ "window_ns", CONFIG_U64, AT(match_rule, window_ns), .max = 0x1p62 },
	{ "many", CONFIG_BOOL, AT(match_rule, many) },
	{ 0 },
};
static const struct config_shape shapes[] = {
	{ .what = "a rule", .key = rule_keys, .size = sizeof(struct match_rule), .end = end_rule },
	{ .what = "a rule", .key = kept_keys, .size = sizeof(struct match_rule), .end = end_rule },
};

#define ROOT(shape_of)                                                                          \
	{                                                                                       \
		.type = CONFIG_MAP, AT(rule_set, rule), .length = offsetof(struct rule_set, n), \
		.many = CONFIG_ONE_OR_LIST, .least = 1, .most = RULES_MAX, .shape = shape_of    \
	}

static const struct config_key roots[] = { ROOT(&shapes[0]), ROOT(&shapes[1]) };

/* ---- reading ---- */

/* Append to @set; @text NULL: read the file. */
static int add(struct rule_set *set, const struct config_key *root, const char *text, size_t n,
	       const char *name, struct cvl_error *err)
{
	struct rule_set more = { 0 };
	const struct config_source source = {
		.file = name, .root = root, .to = &more, .memory = &set->memory
	};
	int rc = text ? config_parse(&source, text, n, err) : config_load(&source, err);
	struct match_rule *grown;
	char *called;

	if (rc)
		return rc;
	if (set->n + more.n > RULES_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: more than %d rules in all",
				name, RULES_MAX);
	grown = realloc(set->rule, (set->n + more.n) * sizeof(*grown));
	called = grown ? config_alloc(&set->memory, strlen(name) + 1) : NULL;
	set->rule = grown ? grown : set->rule;
	if (!called)
		return cvl_no_memory(err);
	strcpy(called, name);
	for (size_t i = 0; i < more.n; i++) {
		set->rule[set->n] = more.rule[i];
		if (!more.rule[i].name)
			set->rule[set->n].name = called;
		set->n++;
	}
	return 0;
}

int rules_parse(struct rule_set *set, const char *text, size_t n, const char *name,
		struct cvl_error *err)
{
	return add(set, &roots[0], text, n, name, err);
}

int rules_parse_kept(struct rule_set *set, const char *text, size_t n, const char *name,
		     struct cvl_error *err)
{
	return add(set, &roots[1], text, n, name, err);
}

int rules_add(struct rule_set *set, const char *name, struct cvl_error *err)
{
	char list[200] = "";
	size_t bytes;
	const char *text = builtin_text(builtin, name, &bytes);

	if (text)
		return rules_parse(set, text, bytes, name, err);
	for (size_t i = 0; i < BUILTINS; i++) {
		const size_t n = strlen(list);

		snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "", builtin[i].name);
	}
	if (access(name, F_OK) && errno == ENOENT)
		return cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"unknown matching rule '%s', and no file of that name; built in: %s", name,
			list);
	return add(set, &roots[0], NULL, 0, name, err);
}
