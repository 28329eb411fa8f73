/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "help.h"

#include <coeval/time.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NEAR_MAX 64

/* ---- the table ---- */

void option_walk(struct option_walk *w, const struct verb *verb)
{
	*w = (struct option_walk){ .next = verb->options };
}

const struct cli_option *option_next(struct option_walk *w)
{
	const struct cli_option *o;

	while ((o = w->next)) {
		bool end = !o->name && !o->kind;

		if (o->kind == OPTION_GROUP) {
			w->outer = o + 1;
			w->base = o->at;
			w->next = o->group;
		} else if (!end) {
			w->next++;
			return o;
		} else {
			w->next = w->outer;
			w->outer = NULL;
			w->base = 0;
		}
	}
	return NULL;
}

const char *option_word(const struct cli_option *o, size_t i)
{
	static const char *const on_off[] = { "on", "off", NULL };
	const char *const *words = o->kind == OPTION_SWITCH ? on_off : o->words;

	return o->word ? o->word(i) : words ? words[i] : NULL;
}

/*
 * An exact match; else the only visible option with this prefix. Old spellings yield to the verb's
 * own options.
 */
const struct cli_option *option_find(const struct verb *verb, const char *name, size_t n,
				     size_t *base)
{
	const struct cli_option *o, *found = NULL;
	struct option_walk w;
	int begun = 0;
	bool exact = false;

	for (option_walk(&w, verb); (o = option_next(&w));) {
		bool whole;

		if (!o->name || strncmp(o->name, name, n) != 0)
			continue;
		whole = !o->name[n];
		if (exact ? !whole || !found->now : !whole && (o->now || o->hidden))
			continue;
		begun += !whole;
		exact |= whole;
		found = o;
		*base = w.base;
	}
	return exact || begun == 1 ? found : NULL;
}

const struct cli_option *option_letter(const struct verb *verb, char letter, size_t *base)
{
	const struct cli_option *o;
	struct option_walk w;

	for (option_walk(&w, verb); (o = option_next(&w));)
		if (o->name && o->letter == letter) {
			*base = w.base;
			return o;
		}
	return NULL;
}

/* ---- suggestions ---- */

/* Edit distance from @a to @b: insertions, removals, replacements, swaps. */
static size_t distance(const char *a, const char *b)
{
	size_t row[3][NEAR_MAX + 1] = { { 0 } }, na = strlen(a), nb = strlen(b);

	if (na > NEAR_MAX || nb > NEAR_MAX)
		return NEAR_MAX;
	for (size_t k = 0; k <= nb; k++)
		row[0][k] = k;
	for (size_t i = 1; i <= na; i++) {
		size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

		now[0] = i;
		for (size_t k = 1; k <= nb; k++) {
			size_t d = last[k - 1] + (a[i - 1] != b[k - 1]);

			d = last[k] + 1 < d ? last[k] + 1 : d;
			d = now[k - 1] + 1 < d ? now[k - 1] + 1 : d;
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
			    before[k - 2] + 1 < d)
				d = before[k - 2] + 1;
			now[k] = d;
		}
	}
	return row[na % 3][nb];
}

const char *nearest_word(const char *text, const char *(*word)(const void *list, size_t i),
			 const void *list)
{
	size_t n = strlen(text), least = n < 4 ? 2 : n / 3 + 1;
	const char *best = NULL, *w;

	for (size_t i = 0; (w = word(list, i)); i++) {
		size_t d = n > 2 && !strncmp(w, text, n) ? 0 : distance(text, w);

		if (d < least) {
			least = d;
			best = w;
		}
	}
	return best;
}

static const char *word_of_option(const void *list, size_t i)
{
	return option_word(list, i);
}

static const char *name_of_option(const void *list, size_t i)
{
	const struct cli_option *o;
	struct option_walk w;

	for (option_walk(&w, list); (o = option_next(&w));)
		if (o->name && !o->now && !o->hidden && !i--)
			return o->name;
	return NULL;
}

static int unknown_option(const struct verb *verb, const char *given, const char *name)
{
	const char *near = *name ? nearest_word(name, name_of_option, verb) : NULL;

	if (near)
		return cli_usage(verb, "unknown option '%s' (did you mean --%s?)", given, near);
	return cli_usage(verb, "unknown option '%s'", given);
}

/* ---- values ---- */

/* An option as given. */
struct use {
	const struct verb *verb;
	const struct cli_option *o;
	char *to, *arg;
	size_t base;
	char *request;
};

static int take_word(const struct use *u)
{
	char list[600];
	const char *w, *near;
	size_t n = 0;

	for (size_t i = 0; (w = option_word(u->o, i)); i++) {
		if (!strcmp(w, u->arg)) {
			if (u->o->kind == OPTION_SWITCH)
				*(bool *)u->to = !i;
			else if (u->o->kind == OPTION_CHOICE)
				*(unsigned *)u->to = (unsigned)i;
			else
				*(const char **)u->to = w;
			return 0;
		}
		if (n < sizeof(list))
			n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s",
					      !i                       ? "" :
					      option_word(u->o, i + 1) ? ", " :
									 " or ",
					      w);
	}
	near = nearest_word(u->arg, word_of_option, u->o);
	return cli_usage(u->verb, "--%s takes %s, not '%s'%s%s%s", u->o->name, list, u->arg,
			 near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

static int take_duration(const struct use *u)
{
	const struct cli_option *o = u->o;
	int64_t ns;

	if (cvl_duration_parse(u->arg, &ns))
		return cli_usage(u->verb, "--%s takes a time such as 1.2, 250ms or 10us, not '%s'",
				 o->name, u->arg);
	if ((o->least || o->most) && (ns < o->least || ns > o->most))
		return cli_usage(u->verb, "--%s takes a time %s, not '%s'", o->name,
				 o->least ? "above 0" : "of 0 or more", u->arg);
	*(int64_t *)u->to = ns;
	return 0;
}

static int take_rate(const struct use *u)
{
	size_t n = strlen(u->arg);
	uint64_t *hz = (uint64_t *)u->to;
	char plain[64];

	snprintf(plain, sizeof(plain), "%s", u->arg);
	if (n > 2 && n < sizeof(plain) && !strcasecmp(u->arg + n - 2, "hz"))
		plain[n - 2] = '\0';
	if (cvl_rate_parse(plain, hz))
		return cli_usage(u->verb, "--%s takes a rate such as 8MHz, 500k or 32768, not '%s'",
				 u->o->name, u->arg);
	if (u->o->most && *hz > (uint64_t)u->o->most)
		return cli_usage(u->verb, "--%s takes a rate of up to %lld Hz, not '%s'",
				 u->o->name, (long long)u->o->most, u->arg);
	return 0;
}

static int take_number(const struct use *u)
{
	const struct cli_option *o = u->o;
	bool whole = o->kind == OPTION_WHOLE;
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(u->arg, &end, 10);
	if (*end || *u->arg < '0' || *u->arg > '9' || errno ||
	    (!whole && (v < (uint64_t)o->least || v > (uint64_t)o->most))) {
		if (whole)
			return cli_usage(u->verb, "--%s takes a whole number, not '%s'", o->name,
					 u->arg);
		return cli_usage(u->verb, "--%s takes a number from %lld to %lld, not '%s'",
				 o->name, (long long)o->least, (long long)o->most, u->arg);
	}
	if (whole)
		*(uint64_t *)u->to = v;
	else
		*(unsigned *)u->to = (unsigned)v;
	return 0;
}

static int take_real(const struct use *u)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(u->arg, &end);
	if (*end || end == u->arg || errno || !(v >= OPTION_REAL_MIN && v <= OPTION_REAL_MAX))
		return cli_usage(u->verb, "--%s takes a number above 0 (1e-15 to 1e15), not '%s'",
				 u->o->name, u->arg);
	*(double *)u->to = v;
	return 0;
}

static int take_text(const struct use *u)
{
	const struct cli_option *o = u->o;
	size_t *n;

	if (!o->count) {
		*(char **)u->to = u->arg;
		return 0;
	}
	n = (size_t *)(u->request + u->base + o->count - 1);
	if (*n == (size_t)o->most)
		return cli_usage(u->verb, "--%s can be given %lld times at most", o->name,
				 (long long)o->most);
	((char **)u->to)[(*n)++] = u->arg;
	return 0;
}

static int take_value(const struct use *u)
{
	switch (u->o->kind) {
	case OPTION_FLAG:
	case OPTION_UNSET: *(bool *)u->to = u->o->kind == OPTION_FLAG; return 0;
	case OPTION_WORD:
	case OPTION_CHOICE:
	case OPTION_SWITCH: return take_word(u);
	case OPTION_DURATION: return take_duration(u);
	case OPTION_RATE: return take_rate(u);
	case OPTION_NUMBER:
	case OPTION_WHOLE: return take_number(u);
	case OPTION_REAL: return take_real(u);
	default: return take_text(u);
	}
}

/* ---- the command line ---- */

struct line {
	const struct verb *verb;
	char *request;
	int argc, at; /* of argv, index of the next word */
	char **argv;
};

static int use_option(struct line *l, const struct cli_option *o, size_t base, char *arg)
{
	const struct verb *verb = l->verb;
	struct use u = { verb, o, l->request + base + o->at, arg, base, l->request };

	if (o->now) {
		const struct cli_option *now = option_find(verb, o->now, strlen(o->now), &base);

		fprintf(stderr, "coeval %s: --%s is now --%s\n", verb->name, o->name, o->now);
		return use_option(l, now, base, arg);
	}
	if (o->given)
		*(bool *)(l->request + base + o->given - 1) = true;
	if (o->optional && !arg)
		return 0;
	return o->take ? o->take(verb, u.to, arg) : take_value(&u);
}

/* An optional argument is the next word if it parses as one. */
static char *optional_argument(const struct line *l)
{
	char *next = l->at < l->argc ? l->argv[l->at] : NULL;
	int64_t ns;

	return next && !cvl_duration_parse(next, &ns) ? next : NULL;
}

static int read_option(struct line *l, const struct cli_option *o, size_t base, char *arg)
{
	if (!o->arg && arg)
		return cli_usage(l->verb, "--%s takes no argument", o->name);
	if (o->optional && !arg) {
		arg = optional_argument(l);
		l->at += arg != NULL;
	} else if (o->arg && !arg) {
		if (l->at == l->argc)
			return cli_usage(l->verb, "--%s needs an argument: %s", o->name, o->arg);
		arg = l->argv[l->at++];
	}
	return use_option(l, o, base, arg);
}

static int read_long(struct line *l, char *word)
{
	char *equals = strchr(word, '='), *name = word + 2;
	size_t n = equals ? (size_t)(equals - name) : strlen(name), base;
	const struct cli_option *o;

	if (!strcmp(name, "help"))
		return help_verb(l->verb, NULL) ? 4 : -1;
	o = option_find(l->verb, name, n, &base);
	if (!o) {
		if (equals)
			*equals = '\0';
		return unknown_option(l->verb, word, name);
	}
	return read_option(l, o, base, equals ? equals + 1 : NULL);
}

static int read_letters(struct line *l, char *word)
{
	for (char *c = word + 1; *c; c++) {
		const struct cli_option *o;
		size_t base;
		int rc;

		if (*c == 'h')
			return help_verb(l->verb, NULL) ? 4 : -1;
		o = option_letter(l->verb, *c, &base);
		if (!o)
			return unknown_option(l->verb, word, "");
		if (o->arg)
			return read_option(l, o, base, c[1] ? c + 1 : NULL);
		rc = read_option(l, o, base, NULL);
		if (rc)
			return rc;
	}
	return 0;
}

/* "SESSION [FILE...]": at least those outside brackets, and any number with dots. */
static int check_operands(const struct verb *verb, const struct operands *p)
{
	const char *all = verb->operands ? verb->operands : "";
	int least = 0, most = 0;

	for (const char *w = all; *w; w += strspn(w, " ")) {
		int n = (int)strcspn(w, " ");

		if (*w != '[' && ++least > p->n)
			return cli_usage(verb, "missing %.*s", n, w);
		most = strstr(w, "...") ? INT32_MAX : most + 1;
		w += n;
	}
	if (p->n > most)
		return cli_usage(verb, "unexpected argument '%s'", p->v[most]);
	return -1;
}

static int check_given(const struct line *l)
{
	const struct cli_option *o;
	struct option_walk w;

	for (option_walk(&w, l->verb); (o = option_next(&w));)
		if (o->must && !*(char **)(l->request + w.base + o->at))
			return cli_usage(l->verb, "missing --%s %s", o->name, o->arg);
	return 0;
}

int options_read(const struct verb *verb, void *request, int argc, char **argv,
		 struct operands *operands)
{
	struct line l = { verb, request, argc, 1, argv };
	bool only_operands = false;
	int rc = 0;

	*operands = (struct operands){ 0, argv };
	while (!rc && l.at < argc) {
		char *word = argv[l.at++];

		if (only_operands || word[0] != '-' || !word[1])
			argv[operands->n++] = word; /* never ahead of the reader */
		else if (!strcmp(word, "--"))
			only_operands = true;
		else
			rc = word[1] == '-' ? read_long(&l, word) : read_letters(&l, word);
	}
	if (rc)
		return rc < 0 ? 0 : rc;
	rc = check_operands(verb, operands);
	if (rc < 0 && check_given(&l))
		return 2;
	return rc;
}
