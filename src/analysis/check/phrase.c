/* SPDX-License-Identifier: MIT */
/* One phrase: "[any] [NODE.]NAME [rises|falls|changes|is high|is low] [where FIELD = VALUE [and ...]]". */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/check/check.h"

#define WORDS_MAX 64
#define PHRASE_MAX 500

static int bad(struct cvl_error *err, const char *text, const char *what)
{
	return cvl_fail(err, CVL_E_SYNTAX, CVL_NO_OFFSET, "'%.150s': %s", text, what);
}

void check_phrase_free(struct check_phrase *p)
{
	for (size_t i = 0; i < p->n_conditions; i++) {
		free(p->condition[i].field);
		free(p->condition[i].text);
	}
	free(p->text);
	free(p->what);
	*p = (struct check_phrase){ 0 };
}

/* Cut @text at blanks; operators are words of their own. Returns how many, or 0 if there are too many. */
static size_t cut(const char *text, char *buf, char *word[WORDS_MAX])
{
	static const char operators[] = "=!<>";
	size_t n = 0;
	char *w = buf;

	while (*text) {
		if (strchr(" \t\n", *text)) {
			text++;
			continue;
		}
		if (n == WORDS_MAX)
			return 0;
		word[n++] = w;
		if (*text == '"') {
			for (text++; *text && *text != '"'; text++)
				*w++ = *text;
			text += *text == '"';
		} else if (strchr(operators, *text)) {
			while (*text && strchr(operators, *text))
				*w++ = *text++;
		} else {
			while (*text && !strchr(" \t\n", *text) && !strchr(operators, *text))
				*w++ = *text++;
		}
		*w++ = '\0';
	}
	return n;
}

static bool find_operator(const char *word, enum check_operator *op)
{
	static const char *const names[] = { "=", "!=", "<", "<=", ">", ">=" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(word, names[i])) {
			*op = (enum check_operator)i;
			return true;
		}
	return false;
}

static bool number(const char *text, double *out)
{
	char *end;
	bool hex = text[0] == '0' && (text[1] | 32) == 'x';

	errno = 0;
	*out = hex ? (double)strtoull(text, &end, 16) : strtod(text, &end);
	return end != text && !*end && !errno && isfinite(*out);
}

static int conditions(struct check_phrase *p, char **word, size_t n, struct cvl_error *err)
{
	static const char says[] =
		"after `where` stand conditions such as `seq = 4 and len > 10` (=, !=, <, <=, >, >=)";

	for (size_t i = 0; i < n; i += 4) {
		struct check_condition *c = &p->condition[p->n_conditions];

		if (p->n_conditions == CHECK_CONDITIONS_MAX)
			return bad(err, p->text, "more than 8 conditions");
		if (n - i < 3 || !find_operator(word[i + 1], &c->op) ||
		    (n - i > 3 && (strcmp(word[i + 3], "and") || n - i == 4)))
			return bad(err, p->text, says);
		p->n_conditions++;
		c->field = strdup(word[i]);
		c->text = strdup(word[i + 2]);
		if (!c->field || !c->text)
			return cvl_no_memory(err);
		c->is_number = number(c->text, &c->number);
		if (!c->is_number && c->op != CHECK_EQ && c->op != CHECK_NE)
			return bad(err, p->text, "only numbers are less or greater");
	}
	return n ? 0 : bad(err, p->text, says);
}

/* What is said of the name: the words after it, up to `where`. */
static int verb(struct check_phrase *p, char **word, size_t n, struct cvl_error *err)
{
	static const struct {
		const char *first, *second;
		enum check_verb verb;
	} verbs[] = {
		{ "rises", NULL, CHECK_RISES },     { "falls", NULL, CHECK_FALLS },
		{ "changes", NULL, CHECK_CHANGES }, { "is", "high", CHECK_HIGH },
		{ "is", "low", CHECK_LOW },
	};

	if (!n)
		return 0;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (n == (verbs[i].second ? 2 : 1) && !strcmp(word[0], verbs[i].first) &&
		    (n == 1 || !strcmp(word[1], verbs[i].second))) {
			p->verb = verbs[i].verb;
			return 0;
		}
	return bad(
		err, p->text,
		"say `LINE rises`, `falls`, `changes`, `is high` or `is low`, or an event's name alone, or `EVENT where FIELD = VALUE`");
}

int check_phrase_parse(struct check_phrase *p, const char *text, struct cvl_error *err)
{
	char *word[WORDS_MAX], buf[2 * PHRASE_MAX + 2];
	size_t n, at = 0, where;
	int rc;

	*p = (struct check_phrase){ 0 };
	if (strlen(text) > PHRASE_MAX)
		return bad(err, text, "too long");
	n = cut(text, buf, word);
	p->text = strdup(text);
	if (!p->text)
		return cvl_no_memory(err);
	if (n > 1 && (!strcmp(word[0], "any") || !strcmp(word[0], "every"))) {
		p->any = word[0][0] == 'a';
		at = 1;
	}
	if (at >= n || !*word[at])
		return bad(err, text, "names nothing: say NODE.NAME, such as `n1.TX rises`");
	p->what = strdup(word[at++]);
	if (!p->what)
		return cvl_no_memory(err);
	for (where = at; where < n && strcmp(word[where], "where"); where++)
		;
	rc = verb(p, word + at, where - at, err);
	if (!rc && where < n)
		rc = p->verb == CHECK_HAPPENS ?
			     conditions(p, word + where + 1, n - where - 1, err) :
			     bad(err, text, "a line has no fields; `where` goes with events");
	if (!rc && p->any && check_is_state(p))
		rc = bad(err, text, "`any` takes events together, not states; leave it out");
	return rc;
}
