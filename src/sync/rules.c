/* SPDX-License-Identifier: MIT */
#include "sync/rules.h"

#include <coeval/time.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "core/yaml_load.h"

#define FILE_MAX (1u << 20)
#define DEPTH_MAX 8
#define RULES_MAX 64

static const char *const builtin_names[] = { "lttng-tcp", "tracer", NULL };

/* In the form that users write theirs in. */
static const char *const builtin_texts[] = {
	"# TCP segments in LTTng kernel traces with the inet_sock_local tracepoints\n"
	"name: lttng-tcp\n"
	"send: { event: inet_sock_local_out, key: [seq, ack_seq, flags] }\n"
	"receive: { event: inet_sock_local_in, key: [seq, ack_seq, flags] }\n",
	"# exchanges of firmware/tracersync\n"
	"name: tracer\n"
	"send: { event: tracer_sync_send, key: [slave, seq] }\n"
	"receive: { event: tracer_sync_receive, key: [slave, seq] }\n",
};

const char *const *rules_builtin(void)
{
	return builtin_names;
}

static void free_side(struct rule_side *s)
{
	free(s->event);
	for (size_t i = 0; i < s->n_keys; i++)
		free(s->key[i]);
}

static void free_rule(struct match_rule *rule)
{
	free(rule->name);
	free_side(&rule->send);
	free_side(&rule->receive);
}

void rules_drop(struct rule_set *set, size_t first, const char *name)
{
	size_t n = first;

	for (size_t i = first; i < set->n; i++) {
		if (strcmp(set->rule[i].name, name) != 0)
			set->rule[n++] = set->rule[i];
		else
			free_rule(&set->rule[i]);
	}
	set->n = n;
}

void rules_free(struct rule_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		free_rule(&set->rule[i]);
	free(set->rule);
	*set = (struct rule_set){ 0 };
}

struct reader {
	yaml_document_t doc;
	const char *name;
	struct rule_set *set;
	struct cvl_error *err;
};

static int bad(const struct reader *r, const yaml_node_t *at, const char *what)
{
	uint64_t offset = at ? at->start_mark.index : 0;

	return cvl_fail(r->err, CVL_E_SYNTAX, offset, "%s:%llu: %s", r->name,
			(unsigned long long)offset, what);
}

static const char *scalar(const yaml_node_t *n)
{
	return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

static yaml_node_t *child(struct reader *r, const yaml_node_t *map, const char *key)
{
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
	     p++) {
		const char *k = scalar(yaml_document_get_node(&r->doc, p->key));

		if (k && !strcmp(k, key))
			return yaml_document_get_node(&r->doc, p->value);
	}
	return NULL;
}

/* A misspelt key must not pass for a default. */
static int check_keys(struct reader *r, const yaml_node_t *map, const char *const *known)
{
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
	     p++) {
		const yaml_node_t *node = yaml_document_get_node(&r->doc, p->key);
		const char *k = scalar(node);
		bool found = false;

		for (size_t i = 0; k && known[i]; i++)
			found = found || !strcmp(k, known[i]);
		if (!found)
			return bad(
				r, node,
				"unknown key; a rule has name, send, receive and window, a side event and key");
	}
	return 0;
}

static int read_side(struct reader *r, const yaml_node_t *rule, const char *which,
		     struct rule_side *out)
{
	static const char *const known[] = { "event", "key", NULL };
	yaml_node_t *side = child(r, rule, which), *keys;
	const char *event;
	int rc;

	if (!side || side->type != YAML_MAPPING_NODE)
		return bad(r, side ? side : rule,
			   "a rule needs `send` and `receive`, each with `event` and `key`");
	rc = check_keys(r, side, known);
	if (rc)
		return rc;
	event = scalar(child(r, side, "event"));
	keys = child(r, side, "key");
	if (!event || !keys || keys->type != YAML_SEQUENCE_NODE)
		return bad(r, side, "a side needs `event: NAME` and `key: [FIELD, ...]`");
	out->event = strdup(event);
	for (yaml_node_item_t *i = keys->data.sequence.items.start;
	     i < keys->data.sequence.items.top; i++) {
		const char *field = scalar(yaml_document_get_node(&r->doc, *i));

		if (!field || !*field || out->n_keys == RULE_KEYS_MAX)
			return bad(r, keys, "`key` is a list of up to 16 field names");
		out->key[out->n_keys] = strdup(field);
		if (!out->key[out->n_keys])
			return cvl_no_memory(r->err);
		out->n_keys++;
	}
	if (!out->event)
		return cvl_no_memory(r->err);
	return out->n_keys ? 0 : bad(r, keys, "`key` names no field");
}

static int read_rule(void *reader, const yaml_node_t *node)
{
	struct reader *r = reader;
	struct rule_set *set = r->set;
	static const char *const known[] = { "name", "send", "receive", "window", NULL };
	struct match_rule *grown = realloc(set->rule, (set->n + 1) * sizeof(*grown)), *rule;
	const yaml_node_t *name, *window;
	int rc;

	if (!grown)
		return cvl_no_memory(r->err);
	set->rule = grown;
	if (node->type != YAML_MAPPING_NODE)
		return bad(r, node, "a rule is a mapping of name, send and receive");
	if (set->n == RULES_MAX)
		return bad(r, node, "too many rules");
	rc = check_keys(r, node, known);
	if (rc)
		return rc;
	rule = &set->rule[set->n++];
	*rule = (struct match_rule){ 0 };
	name = child(r, node, "name");
	if (name && !scalar(name))
		return bad(r, name, "`name` is a word");
	rule->name = strdup(name ? scalar(name) : r->name);
	if (!rule->name)
		return cvl_no_memory(r->err);
	window = child(r, node, "window");
	if (window && (!scalar(window) || cvl_duration_parse(scalar(window), &rule->window_ns) ||
		       rule->window_ns <= 0))
		return bad(r, window, "`window` is a time such as 10s");
	rc = read_side(r, node, "send", &rule->send);
	if (!rc)
		rc = read_side(r, node, "receive", &rule->receive);
	if (!rc && rule->send.n_keys != rule->receive.n_keys)
		rc = bad(r, node, "both sides need as many key fields");
	return rc;
}

static int broken(void *reader, const yaml_parser_t *parser)
{
	const struct reader *r = reader;
	size_t at = parser->problem_offset ? parser->problem_offset : parser->problem_mark.index;

	return cvl_fail(r->err, CVL_E_SYNTAX, at, "%s:%zu: %s", r->name, at,
			parser->problem ? parser->problem : "not YAML");
}

static int more(void *reader, const yaml_node_t *root)
{
	return bad(reader, root, "more than one document; several rules are a list");
}

static int read_document(void *reader)
{
	struct reader *r = reader;
	const yaml_node_t *root = yaml_document_get_root_node(&r->doc);
	size_t before = r->set->n;
	int rc = root ? yaml_each(&r->doc, read_rule, r) : 0;

	return !rc && r->set->n == before ? bad(r, root, "no rule here") : rc;
}

int rules_parse(struct rule_set *set, const char *text, size_t n, const char *name,
		struct cvl_error *err)
{
	struct reader r = { .name = name, .set = set, .err = err };
	const struct yaml_one how = {
		.doc = &r.doc, .read = read_document, .broken = broken, .more = more
	};
	size_t deep;

	if (yaml_deeper(text, n, DEPTH_MAX, &deep))
		return cvl_fail(err, CVL_E_LIMIT, deep, "%s: nested deeper than rules are", name);
	return yaml_one_read(&how, &r, text, n, err);
}

int rules_add(struct rule_set *set, const char *name, struct cvl_error *err)
{
	char *text;
	size_t n;
	FILE *f;
	int rc;

	for (size_t i = 0; builtin_names[i]; i++)
		if (!strcmp(name, builtin_names[i]))
			return rules_parse(set, builtin_texts[i], strlen(builtin_texts[i]), name,
					   err);
	f = fopen(name, "re");
	if (!f)
		return errno == ENOENT ?
			       cvl_fail(
				       err, CVL_E_USAGE, CVL_NO_OFFSET,
				       "there is no matching rule '%s', and no file of that name; built in: lttng-tcp, tracer",
				       name) :
			       cvl_fail_errno(err, "open", name);
	text = malloc(FILE_MAX);
	n = text ? fread(text, 1, FILE_MAX, f) : 0;
	rc = !text     ? cvl_no_memory(err) :
	     ferror(f) ? cvl_fail_errno(err, "read", name) :
	     n == FILE_MAX ?
			 cvl_fail(err, CVL_E_LIMIT, n, "%s: larger than a rule file may be", name) :
			 rules_parse(set, text, n, name, err);
	free(text);
	fclose(f);
	return rc;
}
