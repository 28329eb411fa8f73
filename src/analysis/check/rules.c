/* SPDX-License-Identifier: MIT */
/* Rules from YAML. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>

#include "analysis/check/check.h"
#include "core/config.h"

#define HINT_KINDS                                                                              \
	"a rule is one of: after+then+within, after+never+within, state+at most, never+while, " \
	"order, count+at most+in, event+every"

/* The keys that a rule may have. */
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

/* A rule as written in the file: the text of each key, or NULL. */
struct raw {
	const char *v[KEYS];
	const char **order;
	size_t n_order;
};

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
	for (size_t i = 0; i < set->n; i++)
		for (size_t k = 0; k < set->rule[i].n_phrases; k++)
			check_phrase_free(&set->rule[i].phrase[k]);
	config_free(&set->memory);
	free(set->rule);
	free(set->file);
	*set = (struct cvl_check_rules){ 0 };
}

/* The rule being read, and the rule made from it. */
struct reader {
	struct config *c;
	const struct raw *raw;
	struct check_rule *rule;
};

static int bad(const struct reader *r, const void *field, const char *what)
{
	return config_fail(r->c, field, CVL_E_SYNTAX, "%s", what);
}

static int phrase(struct reader *r, const char *const *text, bool state)
{
	struct check_phrase *p = &r->rule->phrase[r->rule->n_phrases++];
	struct config_mark mark = config_mark(r->c, text);
	struct cvl_error why;
	int rc = check_phrase_parse(p, *text, &why);

	p->line = mark.line;
	p->column = mark.column;
	if (rc == CVL_E_NOMEM)
		return config_no_memory(r->c);
	if (rc)
		return bad(r, text, why.text);
	if (state && !check_is_state(p))
		return bad(r, text, "a state is needed here: LINE:high or LINE:low");
	return 0;
}

static int event(struct reader *r, const char *const *text)
{
	int rc = phrase(r, text, false);

	if (!rc && check_is_state(&r->rule->phrase[r->rule->n_phrases - 1]))
		rc = bad(r, text,
			 "an event is needed here, not a state: say :rise instead of :high");
	return rc;
}

static int duration(const struct reader *r, enum key key, const char *text, int64_t *ns)
{
	if (cvl_duration_parse(text, ns) || *ns < 0)
		return bad(r, &r->raw->v[key], "a time is needed here, such as 500us, 2ms or 1.5s");
	return 0;
}

static int signed_duration(const struct reader *r, enum key key, const char *text, int64_t *ns)
{
	int rc = duration(r, key, *text == '-' ? text + 1 : text, ns);

	if (*text == '-')
		*ns = -*ns;
	return rc;
}

/* "A to B" or "A +- B", split in two; for "A" alone returns NULL. */
static char *halves(char *text, const char *between)
{
	char *at = strstr(text, between);

	if (!at)
		return NULL;
	*at = '\0';
	return at + strlen(between);
}

static int window(struct reader *r)
{
	const void *at = &r->raw->v[WITHIN];
	struct check_rule *rule = r->rule;
	char text[100], *second;
	int rc;

	snprintf(text, sizeof(text), "%s", r->raw->v[WITHIN]);
	second = halves(text, " to ");
	if (!second)
		rc = duration(r, WITHIN, text, &rule->max);
	else if (!(rc = signed_duration(r, WITHIN, text, &rule->min)))
		rc = duration(r, WITHIN, second, &rule->max);
	if (!rc && rule->min == rule->max)
		rc = bad(r, at, "a window of zero: nothing can be within it; say e.g. 500us");
	if (!rc && rule->min > rule->max)
		rc = bad(r, at, "the window ends before it begins: say the shorter time first");
	return rc;
}

static int period(struct reader *r)
{
	const void *at = &r->raw->v[EVERY];
	char text[100], *second;
	int64_t every, spread = 0;
	int rc;

	snprintf(text, sizeof(text), "%s", r->raw->v[EVERY]);
	second = halves(text, " +- ");
	if (!second)
		return bad(r, at, "say how exact it is, such as `every: 100ms +- 2ms`");
	rc = duration(r, EVERY, text, &every);
	if (!rc)
		rc = duration(r, EVERY, second, &spread);
	if (rc)
		return rc;
	if (!every || !spread)
		return bad(r, at, "a period and a tolerance of zero cannot be met");
	if (spread >= every)
		return bad(r, at, "the tolerance must be less than the period");
	r->rule->min = every - spread;
	r->rule->max = cvl_add_sat(every, spread);
	return 0;
}

static int lengths(struct reader *r)
{
	const char *most = r->raw->v[AT_MOST], *least = r->raw->v[AT_LEAST];
	struct check_rule *rule = r->rule;
	int rc = 0;

	rule->max = INT64_MAX;
	if (!most && !least)
		return config_fail_in(r->c, r->raw, CVL_E_SYNTAX,
				      "say `at most: TIME`, `at least: TIME`, or both");
	if (least)
		rc = duration(r, AT_LEAST, least, &rule->min);
	if (!rc && most)
		rc = duration(r, AT_MOST, most, &rule->max);
	if (!rc && !rule->max)
		rc = bad(r, &r->raw->v[AT_MOST], "at most zero: say `never` instead");
	if (!rc && least && !rule->min && !most)
		rc = bad(r, &r->raw->v[AT_LEAST],
			 "at least zero is always true; use a time above 0");
	if (!rc && rule->min > rule->max)
		rc = bad(r, &r->raw->v[AT_LEAST],
			 "`at least` is more than `at most`: nothing can be both");
	return rc;
}

static int how_many(struct reader *r)
{
	const char *text = r->raw->v[AT_MOST];
	struct check_rule *rule = r->rule;
	char *end;
	int rc;

	rule->count = strtoull(text, &end, 10);
	if (end == text || *end || !rule->count || rule->count > CHECK_COUNT_MAX || *text == '-')
		return bad(
			r, &r->raw->v[AT_MOST],
			"`at most` of a count is a whole number from 1 to 65536; none: say `never`");
	rc = duration(r, IN, r->raw->v[IN], &rule->max);
	return rc || rule->max ? rc : bad(r, &r->raw->v[IN], "a window of zero: say e.g. `in: 1s`");
}

static int steps(struct reader *r)
{
	const struct raw *raw = r->raw;
	int rc = 0;

	for (size_t i = 0; !rc && i < raw->n_order; i++) {
		rc = event(r, &raw->order[i]);
		for (size_t k = 0; !rc && k < i; k++)
			if (!strcmp(raw->order[k], raw->order[i]))
				rc = bad(r, &raw->order[i], "duplicate event in an order");
	}
	return rc;
}

static int phrases(struct reader *r, const struct shape *shape)
{
	const char *const *v = r->raw->v;
	bool states = shape->kind == CHECK_STATE;
	int rc;

	if (shape->kind == CHECK_ORDER)
		return steps(r);
	if (shape->kind == CHECK_NEVER && v[WHILE]) {
		rc = phrase(r, &v[NEVER], false);
		return rc ? rc : phrase(r, &v[WHILE], true);
	}
	rc = states ? phrase(r, &v[shape->phrase[0]], true) : event(r, &v[shape->phrase[0]]);
	if (!rc && shape->phrase[1] && v[shape->phrase[1]])
		rc = event(r, &v[shape->phrase[1]]);
	return rc;
}

static int limits(struct reader *r)
{
	switch (r->rule->kind) {
	case CHECK_THEN:
	case CHECK_THEN_NOT: return window(r);
	case CHECK_STATE: return lengths(r);
	case CHECK_COUNT: return how_many(r);
	case CHECK_EVERY: return period(r);
	default: return 0;
	}
}

/* Length of @s for display, up to @most bytes, not ending within a character. */
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

/* "after n1.TX rises then RX rises", if the user gave no name. */
static int make_name(struct reader *r)
{
	const struct raw *raw = r->raw;
	char text[300], *name;
	size_t n = 0;

	for (unsigned k = AFTER; k < KEYS && n + PART + 12 < sizeof(text); k++)
		if (raw->v[k])
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %.*s", n ? " " : "",
					      key_names[k], some(raw->v[k], PART), raw->v[k]);
	for (size_t k = 0; k < raw->n_order && n + PART + 12 < sizeof(text); k++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.*s", k ? ", " : "order ",
				      some(raw->order[k], PART), raw->order[k]);
	r->rule->name = name = config_alloc(config_memory(r->c), n + 1);
	if (!name)
		return config_no_memory(r->c);
	memcpy(name, text, n);
	return 0;
}

static int find_shape(struct config *c, const struct raw *raw, const struct shape **out)
{
	unsigned has = raw->order ? BIT(ORDER) : 0;

	for (unsigned k = AFTER; k < KEYS; k++)
		has |= raw->v[k] ? BIT(k) : 0;
	if (!has)
		return config_fail_in(c, raw, CVL_E_SYNTAX, "an empty rule; " HINT_KINDS);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		if ((has & shapes[i].must) == shapes[i].must &&
		    !(has & ~(shapes[i].must | shapes[i].may))) {
			*out = &shapes[i];
			return 0;
		}
	/* guess the rule by its first key, and report what is missing */
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		unsigned lacks = shapes[i].must & ~has;

		if (!(has & ~(shapes[i].must | shapes[i].may)) && shapes[i].phrase[0] != NAME &&
		    has & BIT(shapes[i].phrase[0]) && !(lacks & (lacks - 1)))
			return config_fail_in(c, raw, CVL_E_SYNTAX, "missing key '%s' of this rule",
					      key_names[__builtin_ctz(lacks)]);
	}
	return config_fail_in(c, raw, CVL_E_SYNTAX, "no rule combines these keys; " HINT_KINDS);
}

static int end_rule(struct config *c, void *to)
{
	struct cvl_check_rules *set = config_user(c);
	struct reader r = { .c = c, .raw = to };
	struct config_mark mark = config_mark_in(c, to);
	const struct shape *shape = NULL;
	int rc = find_shape(c, to, &shape);

	if (rc)
		return rc;
	if (set->n == CHECK_RULES_MAX)
		return config_fail_in(c, to, CVL_E_SYNTAX, "more than %d rules in all",
				      CHECK_RULES_MAX);
	if (cvl_room(&set->rule, set->n, &set->room, sizeof(*set->rule)))
		return config_no_memory(c);
	r.rule = &set->rule[set->n++];
	*r.rule = (struct check_rule){ .kind = shape->kind,
				       .line = mark.line,
				       .column = mark.column,
				       .name = r.raw->v[NAME] };
	rc = phrases(&r, shape);
	if (!rc)
		rc = limits(&r);
	return rc || r.rule->name ? rc : make_name(&r);
}

/* ---- the tables ---- */

#define TEXT(key, member, ...)                                                                  \
	{                                                                                       \
		key, CONFIG_TEXT, .offset = offsetof(struct raw, member), .is = config_is_line, \
				  __VA_ARGS__                                                   \
	}
#define PHRASE .min = 1, .what = "an event or a state, such as n1.TX:rise"
#define TIME .min = 1, .what = "a time, such as 500us, 2ms or 1.5s"

static const struct config_key rule_keys[] = {
	TEXT("name", v[NAME], .min = 1, .max = 200, .what = "one line of text, of up to 200 bytes"),
	TEXT("after", v[AFTER], PHRASE),
	TEXT("then", v[THEN], PHRASE),
	TEXT("never", v[NEVER], PHRASE),
	TEXT("while", v[WHILE], PHRASE),
	TEXT("within", v[WITHIN], TIME),
	TEXT("state", v[STATE], PHRASE),
	TEXT("at most", v[AT_MOST], .min = 1,
	     .what = "a time, such as 2ms, or of a count a number"),
	TEXT("at least", v[AT_LEAST], TIME),
	TEXT("order", order, PHRASE, .many = CONFIG_LIST, .length = offsetof(struct raw, n_order),
	     .least = 2, .most = CHECK_STEPS_MAX),
	TEXT("count", v[COUNT], PHRASE),
	TEXT("in", v[IN], TIME),
	TEXT("event", v[EVENT], PHRASE),
	TEXT("every", v[EVERY], .min = 1, .what = "a time and its tolerance, such as 100ms +- 2ms"),
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
	.least = 1,
	.most = CHECK_RULES_MAX,
};

/* ---- conflicting rules ---- */

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

static int find_clashes(const struct cvl_check_rules *set, const char *file, struct cvl_error *err)
{
	for (size_t i = 1; i < set->n; i++)
		for (size_t k = 0; k < i; k++) {
			const char *how = clash(&set->rule[i], &set->rule[k]);

			if (how)
				return cvl_fail(
					err, CVL_E_SYNTAX, CVL_NO_OFFSET,
					"%s:%zu:%zu: the rule '%.80s' %s the one in line %zu; keep one of them",
					file, set->rule[i].line, set->rule[i].column,
					set->rule[i].name, how, set->rule[k].line);
		}
	return 0;
}

int check_rules_parse(struct cvl_check_rules *set, const char *text, size_t n, const char *file,
		      struct cvl_error *err)
{
	struct raws raws;
	const struct config_source source = {
		.file = file, .root = &root, .to = &raws, .user = set, .memory = &set->memory
	};
	int rc;

	if (!set->file && !(set->file = strdup(file)))
		return cvl_no_memory(err);
	rc = config_parse(&source, text, n, err);
	return rc ? rc : find_clashes(set, file, err);
}
