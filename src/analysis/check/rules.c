/* SPDX-License-Identifier: MIT */
/* Rules from YAML. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "analysis/check/check.h"
#include "core/yaml_load.h"

#define DEPTH_MAX 8

#define HINT_KINDS                                                                              \
	"a rule is one of: after+then+within, after+never+within, state+at most, never+while, " \
	"order, count+at most+in, event+every"

struct reader {
	yaml_document_t doc;
	const char *file;
	struct cvl_check_rules *set;
	struct cvl_error *err;
};

/* The keys that a rule may have, in the order of KEYS. */
enum key {
	NAME,
	AFTER,
	THEN,
	NEVER,
	WHILE,
	WITHIN,
	STATE,
	AT_MOST,
	AT_LEAST,
	ORDER,
	COUNT,
	IN,
	EVENT,
	EVERY,
	KEYS
};

static const char *const key_names[KEYS] = { "name",   "after", "then",    "never",    "while",
					     "within", "state", "at most", "at least", "order",
					     "count",  "in",    "event",   "every" };

#define BIT(k) (1u << (k))

/* Which keys make a rule. */
static const struct shape {
	enum check_kind kind;
	unsigned must, may;
	enum key phrase[2]; /* NAME: none */
} shapes[] = {
	{ CHECK_THEN, BIT(AFTER) | BIT(THEN) | BIT(WITHIN), 0, { AFTER, THEN } },
	{ CHECK_THEN_NOT, BIT(AFTER) | BIT(NEVER) | BIT(WITHIN), 0, { AFTER, NEVER } },
	{ CHECK_STATE, BIT(STATE), BIT(AT_MOST) | BIT(AT_LEAST), { STATE } },
	{ CHECK_NEVER, BIT(NEVER), BIT(WHILE), { NEVER, WHILE } },
	{ CHECK_ORDER, BIT(ORDER), 0, { NAME } },
	{ CHECK_COUNT, BIT(COUNT) | BIT(AT_MOST) | BIT(IN), 0, { COUNT } },
	{ CHECK_EVERY, BIT(EVENT) | BIT(EVERY), 0, { EVENT } },
};

void check_rules_free(struct cvl_check_rules *set)
{
	for (size_t i = 0; i < set->n; i++) {
		free(set->rule[i].name);
		for (size_t k = 0; k < set->rule[i].n_phrases; k++)
			check_phrase_free(&set->rule[i].phrase[k]);
	}
	free(set->rule);
	free(set->file);
	*set = (struct cvl_check_rules){ 0 };
}

static int bad(const struct reader *r, const yaml_node_t *at, const char *what)
{
	return cvl_fail(r->err, CVL_E_SYNTAX, at ? at->start_mark.index : 0, "%s:%zu: %s", r->file,
			at ? at->start_mark.line + 1 : 1, what);
}

static int no_memory(const struct reader *r)
{
	return cvl_no_memory(r->err);
}

static const char *scalar(const yaml_node_t *n)
{
	return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

/* What would move the cursor where it is shown (C0, DEL, and C1, which is C2 80 to C2 9F in UTF-8). */
static bool has_control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f ||
		    (*s == '\xc2' && (unsigned char)s[1] < 0xa0))
			return true;
	return false;
}

/* The value of each key, NULL where there is none. */
static int collect(struct reader *r, const yaml_node_t *map, yaml_node_t *value[KEYS])
{
	char text[200];

	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
	     p++) {
		const yaml_node_t *node = yaml_document_get_node(&r->doc, p->key);
		const char *k = scalar(node);
		unsigned i = 0;

		while (i < KEYS && (!k || strcmp(k, key_names[i])))
			i++;
		if (i == KEYS) {
			snprintf(
				text, sizeof(text),
				"unknown key '%.30s'; there are name, after, then, never, while, within, state, at most, at least, order, count, in, event, every",
				k ? k : "");
			return bad(r, node, text);
		}
		if (value[i])
			return bad(r, node, "the same key twice");
		value[i] = yaml_document_get_node(&r->doc, p->value);
	}
	return 0;
}

static int phrase(struct reader *r, const yaml_node_t *node, bool state, struct check_rule *rule)
{
	struct check_phrase *p = &rule->phrase[rule->n_phrases];
	const char *text = scalar(node);
	struct cvl_error why;
	int rc;

	if (!text || has_control(text))
		return bad(r, node, "say an event or state here, such as `n1.TX rises`");
	rule->n_phrases++;
	rc = check_phrase_parse(p, text, &why);
	p->line = node->start_mark.line + 1;
	if (rc == CVL_E_NOMEM)
		return no_memory(r);
	if (rc)
		return bad(r, node, why.text);
	if (state && !check_is_state(p))
		return bad(r, node, "a state is needed here: `LINE is high` or `LINE is low`");
	return 0;
}

static int event(struct reader *r, const yaml_node_t *node, struct check_rule *rule)
{
	int rc = phrase(r, node, false, rule);

	if (!rc && check_is_state(&rule->phrase[rule->n_phrases - 1]))
		rc = bad(r, node,
			 "an event is needed here, not a state: say `rises` instead of `is high`");
	return rc;
}

static int duration(const struct reader *r, const yaml_node_t *node, const char *text, int64_t *ns)
{
	if (!text || cvl_duration_parse(text, ns) || *ns < 0)
		return bad(r, node, "a time is needed here, such as 500us, 2ms or 1.5s");
	return 0;
}

static int signed_duration(const struct reader *r, const yaml_node_t *node, const char *text,
			   int64_t *ns)
{
	int rc = duration(r, node, *text == '-' ? text + 1 : text, ns);

	if (*text == '-')
		*ns = -*ns;
	return rc;
}

/* "A to B" or "A +- B", in two; or "A" alone, and NULL. */
static char *halves(char *text, const char *between)
{
	char *at = strstr(text, between);

	if (!at)
		return NULL;
	*at = '\0';
	return at + strlen(between);
}

static int window(struct reader *r, const yaml_node_t *node, struct check_rule *rule)
{
	char text[100], *second;
	int rc;

	snprintf(text, sizeof(text), "%s", scalar(node) ? scalar(node) : "");
	second = halves(text, " to ");
	if (!second)
		rc = duration(r, node, text, &rule->max);
	else if (!(rc = signed_duration(r, node, text, &rule->min)))
		rc = duration(r, node, second, &rule->max);
	if (!rc && rule->min == rule->max)
		rc = bad(r, node, "a window of zero: nothing can be within it; say e.g. 500us");
	if (!rc && rule->min > rule->max)
		rc = bad(r, node, "the window ends before it begins: say the shorter time first");
	return rc;
}

static int period(struct reader *r, const yaml_node_t *node, struct check_rule *rule)
{
	char text[100], *second;
	int64_t every, spread = 0;
	int rc;

	snprintf(text, sizeof(text), "%s", scalar(node) ? scalar(node) : "");
	second = halves(text, " +- ");
	if (!second)
		return bad(r, node, "say how exact it is, such as `every: 100ms +- 2ms`");
	rc = duration(r, node, text, &every);
	if (!rc)
		rc = duration(r, node, second, &spread);
	if (!rc && (!every || !spread))
		rc = bad(r, node, "a period and a tolerance of zero cannot be met");
	if (!rc && spread >= every)
		rc = bad(r, node, "the tolerance must be less than the period");
	rule->min = every - spread;
	rule->max = cvl_add_sat(every, spread);
	return rc;
}

static int lengths(struct reader *r, const yaml_node_t *map, yaml_node_t **v,
		   struct check_rule *rule)
{
	int rc = 0;

	rule->max = INT64_MAX;
	if (!v[AT_MOST] && !v[AT_LEAST])
		return bad(r, map, "say `at most: TIME`, `at least: TIME`, or both");
	if (v[AT_LEAST])
		rc = duration(r, v[AT_LEAST], scalar(v[AT_LEAST]), &rule->min);
	if (!rc && v[AT_MOST])
		rc = duration(r, v[AT_MOST], scalar(v[AT_MOST]), &rule->max);
	if (!rc && !rule->max)
		rc = bad(r, v[AT_MOST], "at most zero: say `never` instead");
	if (!rc && v[AT_LEAST] && !rule->min && !v[AT_MOST])
		rc = bad(r, v[AT_LEAST], "at least zero is always so; say a time above 0");
	if (!rc && rule->min > rule->max)
		rc = bad(r, v[AT_LEAST], "`at least` is more than `at most`: nothing can be both");
	return rc;
}

static int how_many(struct reader *r, yaml_node_t **v, struct check_rule *rule)
{
	const char *text = scalar(v[AT_MOST]);
	char *end = NULL;

	rule->count = text ? strtoull(text, &end, 10) : 0;
	if (!text || end == text || *end || !rule->count || rule->count > CHECK_COUNT_MAX ||
	    *text == '-')
		return bad(
			r, v[AT_MOST],
			"`at most` of a count is a whole number from 1 to 65536; none: say `never`");
	if (duration(r, v[IN], scalar(v[IN]), &rule->max))
		return CVL_E_SYNTAX;
	return rule->max ? 0 : bad(r, v[IN], "a window of zero: say e.g. `in: 1s`");
}

static int steps(struct reader *r, const yaml_node_t *node, struct check_rule *rule)
{
	int rc = 0;

	if (node->type != YAML_SEQUENCE_NODE)
		return bad(r, node, "`order` is a list of events, such as [boot, ready, TX rises]");
	for (yaml_node_item_t *i = node->data.sequence.items.start;
	     !rc && i < node->data.sequence.items.top; i++) {
		const yaml_node_t *step = yaml_document_get_node(&r->doc, *i);

		if (rule->n_phrases == CHECK_STEPS_MAX)
			return bad(r, step, "more than 16 events in an order");
		rc = event(r, step, rule);
		for (size_t k = 0; !rc && k + 1 < rule->n_phrases; k++)
			if (!strcmp(rule->phrase[k].text, rule->phrase[rule->n_phrases - 1].text))
				rc = bad(r, step, "the same event twice in an order");
	}
	return rc || rule->n_phrases > 1 ? rc : bad(r, node, "an order needs two events or more");
}

static int phrases(struct reader *r, const struct shape *shape, yaml_node_t **v,
		   struct check_rule *rule)
{
	bool states = shape->kind == CHECK_STATE;
	int rc;

	if (shape->kind == CHECK_ORDER)
		return steps(r, v[ORDER], rule);
	if (shape->kind == CHECK_NEVER && v[WHILE]) {
		rc = phrase(r, v[NEVER], false, rule);
		return rc ? rc : phrase(r, v[WHILE], true, rule);
	}
	rc = states ? phrase(r, v[shape->phrase[0]], true, rule) :
		      event(r, v[shape->phrase[0]], rule);
	if (!rc && shape->phrase[1] && v[shape->phrase[1]])
		rc = event(r, v[shape->phrase[1]], rule);
	return rc;
}

static int limits(struct reader *r, const yaml_node_t *map, yaml_node_t **v,
		  struct check_rule *rule)
{
	switch (rule->kind) {
	case CHECK_THEN:
	case CHECK_THEN_NOT: return window(r, v[WITHIN], rule);
	case CHECK_STATE: return lengths(r, map, v, rule);
	case CHECK_COUNT: return how_many(r, v, rule);
	case CHECK_EVERY: return period(r, v[EVERY], rule);
	default: return 0;
	}
}

/* Bytes of @s to be shown, up to @most, not ending within a character. */
static int some(const char *s, size_t most)
{
	size_t n = strnlen(s, most + 1);

	if (n <= most)
		return (int)n;
	while (n > 1 && (s[n - 1] & 0xc0) == 0x80)
		n--;
	return (int)n - 1;
}

#define PART 80 /* bytes of a phrase in a name */

/* "after n1.TX rises then RX rises", where the user gave no name. */
static char *make_name(yaml_node_t **v, const struct check_rule *rule)
{
	char text[300];
	size_t n = 0;

	for (unsigned k = AFTER; k < KEYS && n + PART + 12 < sizeof(text); k++)
		if (v[k] && scalar(v[k]))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %.*s", n ? " " : "",
					      key_names[k], some(scalar(v[k]), PART), scalar(v[k]));
	for (size_t k = 0;
	     rule->kind == CHECK_ORDER && k < rule->n_phrases && n + PART + 12 < sizeof(text); k++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.*s", k ? ", " : "order ",
				      some(rule->phrase[k].text, PART), rule->phrase[k].text);
	return strdup(text);
}

static int find_shape(struct reader *r, const yaml_node_t *map, yaml_node_t **v,
		      const struct shape **out)
{
	unsigned has = 0;
	char text[200];

	for (unsigned k = AFTER; k < KEYS; k++)
		has |= v[k] ? BIT(k) : 0;
	if (!has)
		return bad(r, map, "an empty rule; " HINT_KINDS);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		if ((has & shapes[i].must) == shapes[i].must &&
		    !(has & ~(shapes[i].must | shapes[i].may))) {
			*out = &shapes[i];
			return 0;
		}
	/* the rule that is meant, by its first key, and what it lacks */
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		unsigned lacks = shapes[i].must & ~has;

		if (!(has & ~(shapes[i].must | shapes[i].may)) && shapes[i].phrase[0] != NAME &&
		    has & BIT(shapes[i].phrase[0]) && !(lacks & (lacks - 1))) {
			snprintf(text, sizeof(text), "this rule lacks `%s`",
				 key_names[__builtin_ctz(lacks)]);
			return bad(r, map, text);
		}
	}
	return bad(r, map, "these keys make no rule; " HINT_KINDS);
}

static int read_rule(void *reader, const yaml_node_t *map)
{
	struct reader *r = reader;
	struct cvl_check_rules *set = r->set;
	struct check_rule *grown, *rule;
	yaml_node_t *v[KEYS] = { NULL };
	const struct shape *shape = NULL;
	int rc;

	if (map->type != YAML_MAPPING_NODE)
		return bad(r, map, HINT_KINDS);
	if (set->n == CHECK_RULES_MAX)
		return bad(r, map, "more than 1000 rules");
	rc = collect(r, map, v);
	if (!rc)
		rc = find_shape(r, map, v, &shape);
	if (rc)
		return rc;
	grown = realloc(set->rule, (set->n + 1) * sizeof(*grown));
	if (!grown)
		return no_memory(r);
	set->rule = grown;
	rule = &set->rule[set->n++];
	*rule = (struct check_rule){ .kind = shape->kind, .line = map->start_mark.line + 1 };
	rc = phrases(r, shape, v, rule);
	if (!rc)
		rc = limits(r, map, v, rule);
	if (rc)
		return rc;
	if (v[NAME] && (!scalar(v[NAME]) || !*scalar(v[NAME]) || strlen(scalar(v[NAME])) > 200 ||
			has_control(scalar(v[NAME]))))
		return bad(r, v[NAME], "`name` is one line of text, of up to 200 bytes");
	rule->name = v[NAME] ? strdup(scalar(v[NAME])) : make_name(v, rule);
	return rule->name ? 0 : no_memory(r);
}

/* ---- rules that cannot all hold ---- */

static bool same_phrases(const struct check_rule *a, const struct check_rule *b)
{
	if (a->n_phrases != b->n_phrases)
		return false;
	for (size_t i = 0; i < a->n_phrases; i++)
		if (strcmp(a->phrase[i].text, b->phrase[i].text))
			return false;
	return true;
}

static const char *clash(const struct check_rule *a, const struct check_rule *b)
{
	if (!strcmp(a->name, b->name))
		return "has the name, or is the same, as";
	if (!same_phrases(a, b))
		return NULL;
	if (a->kind == b->kind && (a->kind == CHECK_STATE || a->kind == CHECK_EVERY) &&
	    (a->min > b->max || b->min > a->max))
		return "contradicts";
	if (a->kind == CHECK_THEN_NOT && b->kind == CHECK_THEN && a->min <= b->min &&
	    b->max <= a->max)
		return "contradicts";
	if (a->kind == CHECK_THEN && b->kind == CHECK_THEN_NOT && b->min <= a->min &&
	    a->max <= b->max)
		return "contradicts";
	return NULL;
}

static int find_clashes(const struct reader *r, const struct cvl_check_rules *set)
{
	for (size_t i = 1; i < set->n; i++)
		for (size_t k = 0; k < i; k++) {
			const char *how = clash(&set->rule[i], &set->rule[k]);

			if (how)
				return cvl_fail(
					r->err, CVL_E_SYNTAX, CVL_NO_OFFSET,
					"%s:%zu: the rule '%.80s' %s the one in line %zu; keep one of them",
					r->file, set->rule[i].line, set->rule[i].name, how,
					set->rule[k].line);
		}
	return 0;
}

/* ---- the file ---- */

static int broken(void *reader, const yaml_parser_t *parser)
{
	const struct reader *r = reader;
	const char *hint = "";

	if (parser->context &&
	    (strstr(parser->context, "alias") || strstr(parser->context, "anchor")))
		hint = "; put quotes about what begins with * or &";
	return cvl_fail(r->err, CVL_E_SYNTAX, parser->problem_mark.index, "%s:%zu: %s%s", r->file,
			parser->problem_mark.line + 1,
			parser->problem ? parser->problem : "not YAML", hint);
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

	return !rc && r->set->n == before ? bad(r, root, "no rule here; " HINT_KINDS) : rc;
}

int check_rules_parse(struct cvl_check_rules *set, const char *text, size_t n, const char *file,
		      struct cvl_error *err)
{
	struct reader r = { .file = file, .set = set, .err = err };
	const struct yaml_one how = {
		.doc = &r.doc, .read = read_document, .broken = broken, .more = more
	};
	size_t deep;
	int rc;

	if (!set->file && !(set->file = strdup(file)))
		return no_memory(&r);
	if (yaml_deeper(text, n, DEPTH_MAX, &deep))
		return cvl_fail(err, CVL_E_LIMIT, deep, "%s: nested deeper than rules are", file);
	rc = yaml_one_read(&how, &r, text, n, err);
	return rc ? rc : find_clashes(&r, set);
}
