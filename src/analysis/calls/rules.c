/* SPDX-License-Identifier: MIT */
#include "analysis/calls/rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls/pairs.h"
#include <coeval/files.h>
#include <coeval/array.h>
#include "core/yaml_load.h"

#define FILE_MAX (1u << 20)
#define DEPTH_MAX 8

/* In the form that users write theirs in. */
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

static const struct {
	const char *key;
	enum calls_slot slot;
} slots[] = {
	{ "name", CALLS_SLOT_NAME }, { "thread", CALLS_SLOT_THREAD },
	{ "core", CALLS_SLOT_CORE }, { "id", CALLS_SLOT_ID },
	{ "next", CALLS_SLOT_NEXT }, { "blocked", CALLS_SLOT_BLOCKED },
};

#define SLOTS (sizeof(slots) / sizeof(*slots))
#define HINT                                                                            \
	"a rule is one of: begin+end, switch+next, interrupt+return, idle; with name, " \
	"thread, core, id, blocked for the fields, and reason"

const char *calls_rules_text(void)
{
	return builtin;
}

void calls_rules_free(struct calls_rules *set)
{
	for (size_t i = 0; i < set->n; i++) {
		struct calls_rule *r = &set->rule[i];

		free(r->begin);
		free(r->end);
		for (size_t s = 0; s < CALLS_SLOTS; s++)
			for (size_t k = 0; k < r->slot[s].n; k++)
				free(r->slot[s].field[k]);
	}
	free(set->rule);
	*set = (struct calls_rules){ 0 };
}

struct reader {
	yaml_document_t doc;
	const char *name;
	struct calls_rules *set;
	struct cvl_error *err;
};

__attribute__((format(printf, 3, 4))) static int bad(const struct reader *f, const yaml_node_t *at,
						     const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return cvl_fail(f->err, CVL_E_SYNTAX, at ? at->start_mark.index : 0, "%s:%zu: %s", f->name,
			at ? at->start_mark.line + 1 : 1, text);
}

static int copy(const struct reader *f, const yaml_node_t *node, char **out)
{
	const char *text = yaml_scalar(node);

	if (!text || !*text)
		return bad(f, node, "a name is needed here");
	free(*out);
	*out = strdup(text);
	return *out ? 0 : cvl_no_memory(f->err);
}

/* A field, or a list of them. */
static int read_fields(struct reader *f, const yaml_node_t *node, struct calls_fields *out)
{
	int rc = 0;

	if (out->n)
		return bad(f, node, "the same key twice");
	if (node->type == YAML_SCALAR_NODE) {
		rc = copy(f, node, &out->field[0]);
		out->n = !rc;
		return rc;
	}
	if (node->type != YAML_SEQUENCE_NODE)
		return bad(f, node, "a field, or a list of fields, is needed here");
	for (yaml_node_item_t *i = node->data.sequence.items.start;
	     !rc && i < node->data.sequence.items.top; i++) {
		if (out->n == CALLS_FIELDS_MAX)
			return bad(f, node, "more than 8 fields to choose from");
		rc = copy(f, yaml_document_get_node(&f->doc, *i), &out->field[out->n]);
		out->n += !rc;
	}
	return rc;
}

static struct calls_rule *new_rule(struct reader *f, const yaml_node_t *at, struct calls_rules *set)
{
	struct calls_rule *r;

	if (set->n == CALLS_RULES_MAX) {
		bad(f, at, "more than 200 rules");
		return NULL;
	}
	if (cvl_room(&set->rule, set->n, &set->room, sizeof(*set->rule))) {
		cvl_no_memory(f->err);
		return NULL;
	}
	r = &set->rule[set->n++];
	*r = (struct calls_rule){ 0 };
	return r;
}

/* One rule a name. */
static int read_idle(struct reader *f, const yaml_node_t *node, struct calls_rules *set)
{
	struct calls_fields names = { .n = 0 };
	int rc = read_fields(f, node, &names);

	for (size_t i = 0; i < names.n; i++) {
		struct calls_rule *r = rc ? NULL : new_rule(f, node, set);

		if (r)
			*r = (struct calls_rule){ .kind = CALLS_RULE_IDLE,
						  .begin = names.field[i] };
		else
			free(names.field[i]);
		rc = rc || r ? rc : (int)f->err->code;
	}
	return rc;
}

static int read_reason(struct reader *f, const yaml_node_t *value, struct calls_rule *r)
{
	const char *text = yaml_scalar(value);

	if (r->reason)
		return bad(f, value, "the same key twice");
	if (text && !strcmp(text, "preempted"))
		r->reason = CVL_CALLS_REASON_PREEMPTED;
	else if (text && !strcmp(text, "blocked"))
		r->reason = CVL_CALLS_REASON_BLOCKED;
	else
		return bad(f, value, "`reason` is preempted or blocked");
	return 0;
}

static int read_key(struct reader *f, const yaml_node_t *key, const yaml_node_t *value,
		    struct calls_rule *r, unsigned *has)
{
	static const struct {
		const char *key;
		enum calls_rule_kind kind;
		bool end;
	} ends[] = {
		{ "begin", CALLS_RULE_SPAN, false },
		{ "end", CALLS_RULE_SPAN, true },
		{ "switch", CALLS_RULE_SWITCH, false },
		{ "interrupt", CALLS_RULE_INTERRUPT, false },
		{ "return", CALLS_RULE_INTERRUPT, true },
	};
	const char *k = yaml_scalar(key);

	for (size_t i = 0; k && i < SLOTS; i++)
		if (!strcmp(k, slots[i].key))
			return read_fields(f, value, &r->slot[slots[i].slot]);
	if (k && !strcmp(k, "reason"))
		return read_reason(f, value, r);
	for (size_t i = 0; k && i < sizeof(ends) / sizeof(*ends); i++)
		if (!strcmp(k, ends[i].key)) {
			if (*has & 1u << i)
				return bad(f, key, "the same key twice");
			*has |= 1u << i;
			r->kind = ends[i].kind;
			return copy(f, value, ends[i].end ? &r->end : &r->begin);
		}
	return bad(f, key, "unknown key '%.30s'; " HINT, k ? k : "");
}

static int read_rule(void *reader, const yaml_node_t *map)
{
	struct reader *f = reader;
	const yaml_node_pair_t *pair;
	const char *first;
	struct calls_rule *r;
	unsigned has = 0;
	int rc = 0;

	if (map->type != YAML_MAPPING_NODE)
		return bad(f, map, HINT);
	pair = map->data.mapping.pairs.start;
	first = pair == map->data.mapping.pairs.top ?
			NULL :
			yaml_scalar(yaml_document_get_node(&f->doc, pair->key));
	if (first && !strcmp(first, "idle") && pair + 1 == map->data.mapping.pairs.top)
		return read_idle(f, yaml_document_get_node(&f->doc, pair->value), f->set);
	r = new_rule(f, map, f->set);
	if (!r)
		return (int)f->err->code;
	for (; pair < map->data.mapping.pairs.top && !rc; pair++)
		rc = read_key(f, yaml_document_get_node(&f->doc, pair->key),
			      yaml_document_get_node(&f->doc, pair->value), r, &has);
	if (!rc && has != 3 && has != 4 && has != 24)
		return bad(f, map, HINT);
	if (!rc && r->kind != CALLS_RULE_SWITCH && r->reason)
		return bad(f, map, "`reason` is for a switch");
	if (!rc && r->kind == CALLS_RULE_SWITCH && !r->slot[CALLS_SLOT_NEXT].n &&
	    !r->slot[CALLS_SLOT_NAME].n)
		return bad(f, map,
			   "a switch needs `next: FIELD`: the task that runs from there on");
	return rc;
}

static int read_document(void *reader)
{
	struct reader *f = reader;

	return yaml_document_get_root_node(&f->doc) ? yaml_each(&f->doc, read_rule, f) :
						      bad(f, NULL, "no rule here; " HINT);
}

static int broken(void *reader, const yaml_parser_t *parser)
{
	const struct reader *f = reader;

	return cvl_fail(f->err, CVL_E_SYNTAX, parser->problem_mark.index, "%s:%zu: %s", f->name,
			parser->problem_mark.line + 1,
			parser->problem ? parser->problem : "not YAML");
}

static int more(void *reader, const yaml_node_t *root)
{
	return bad(reader, root, "more than one document; several rules are a list");
}

int calls_rules_parse(struct calls_rules *set, const char *text, size_t n, const char *name,
		      struct cvl_error *err)
{
	struct cvl_error own;
	struct reader f = { .name = name, .set = set, .err = err ? err : &own };
	const struct yaml_one how = {
		.doc = &f.doc, .read = read_document, .broken = broken, .more = more
	};
	size_t deep;

	if (yaml_deeper(text, n, DEPTH_MAX, &deep))
		return cvl_fail(f.err, CVL_E_LIMIT, deep, "%s: nested deeper than rules are", name);
	return yaml_one_read(&how, &f, text, n, f.err);
}

int calls_rules_builtin(struct calls_rules *set, struct cvl_error *err)
{
	return calls_rules_parse(set, builtin, sizeof(builtin) - 1, "built-in rules", err);
}

int calls_rules_load(struct calls_rules *set, const char *path, struct cvl_error *err)
{
	size_t n;
	char *text = cvl_read_whole(path, FILE_MAX, &n, err);
	int rc = text ? calls_rules_parse(set, text, n, path, err) : (int)err->code;

	free(text);
	return rc;
}
