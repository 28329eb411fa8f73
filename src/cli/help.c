/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <string.h>

#define COLUMNS 80
/* Width of the option column; longer ones get a line of their own. */
#define NAME_COLUMNS 25

const char *const group_titles[VERB_GROUPS] = {
	[VERB_GET] = "Get data",
	[VERB_TIE] = "Tie the clocks",
	[VERB_LOOK] = "Look at a session",
	[VERB_ASK] = "Ask questions",
	[VERB_HARDWARE] = "Work with hardware",
	[VERB_HELP] = "Help",
};

void put_usage(FILE *f, const struct verb *verb)
{
	const struct cli_option *o;
	struct option_walk w;

	fputs(verb->name, f);
	if (!verb->run)
		fputs(" COMMAND ...", f);
	else if (verb->options)
		fputs(" [OPTIONS]", f);
	for (option_walk(&w, verb); (o = option_next(&w));)
		if (o->must && o->letter)
			fprintf(f, " -%c %s", o->letter, o->arg);
		else if (o->must)
			fprintf(f, " --%s %s", o->name, o->arg);
	if (verb->operands)
		fprintf(f, " %s", verb->operands);
}

/*
 * Wrap @text, which begins in column @at, at @columns; continuation lines are indented by @indent.
 */
static void wrap(FILE *f, const char *text, int indent, int at)
{
	bool first = true;

	while (*(text += strspn(text, " "))) {
		int n = (int)strcspn(text, " ");

		if (!first && at + 1 + n > COLUMNS) {
			fprintf(f, "\n%*s", indent, "");
			at = indent;
			first = true;
		}
		fprintf(f, "%s%.*s", first ? "" : " ", n, text);
		at += n + !first;
		first = false;
		text += n;
	}
	fputc('\n', f);
}

/* Lines of @text; indented ones are kept as they are. */
static void paragraphs(FILE *f, const char *text)
{
	while (*text) {
		int n = (int)strcspn(text, "\n");

		if (*text == ' ') {
			fprintf(f, "%.*s\n", n, text);
		} else {
			char line[2000];

			snprintf(line, sizeof(line), "%.*s", n, text);
			wrap(f, line, 0, 0);
		}
		text += n + (text[n] == '\n');
	}
}

static int name_of(char *text, size_t size, const struct cli_option *o)
{
	int n = o->letter ? snprintf(text, size, "-%c, --%s", o->letter, o->name) :
			    snprintf(text, size, "    --%s", o->name);

	if (o->arg)
		n += snprintf(text + n, size - (size_t)n, o->optional ? "[=%s]" : " %s", o->arg);
	return n;
}

void put_option_name(FILE *f, const struct cli_option *o)
{
	char text[200];

	name_of(text, sizeof(text), o);
	fputs(text + strspn(text, " "), f);
}

static bool is_told(const struct cli_option *o)
{
	return o->name && !o->hidden && !o->now;
}

static void put_options(FILE *f, const struct verb *verb)
{
	const struct cli_option *o;
	struct option_walk w;
	char text[200];
	int column = 0;
	bool first = true;

	for (option_walk(&w, verb); (o = option_next(&w));) {
		int n = is_told(o) ? name_of(text, sizeof(text), o) : 0;

		if (n > column && n <= NAME_COLUMNS)
			column = n;
	}
	column += 4;
	for (option_walk(&w, verb); (o = option_next(&w));) {
		int n;

		if (first || o->kind == OPTION_HEADING)
			fputc('\n', f);
		first = false;
		if (o->kind == OPTION_HEADING)
			fprintf(f, "%s:\n", o->what);
		if (!is_told(o))
			continue;
		n = name_of(text, sizeof(text), o);
		fprintf(f, n > column - 4 ? "  %s\n%*s" : "  %s%*s", text,
			n > column - 4 ? column : column - 2 - n, "");
		wrap(f, o->what, column, column);
	}
}

/* ---- formats, drivers, estimators ---- */

static void put_member_option(FILE *f, const struct cvl_option *o)
{
	char text[200];
	int n = snprintf(text, sizeof(text), "  --%s%s%s", o->name, o->arg ? " " : "",
			 o->arg ? o->arg : "");

	fprintf(f, "%s%*s", text, n < 26 ? 28 - n : 2, "");
	wrap(f, o->what, 28, n < 26 ? 28 : n + 2);
}

static const char *name_of_member(const void *list, size_t i)
{
	const struct verb_members *members = list;
	struct verb_member m;

	return members->get(i, &m) ? m.name : NULL;
}

static int help_member(const struct verb *verb, const char *name)
{
	const char *near;

	struct verb_member m;

	for (size_t i = 0; verb->members && verb->members->get(i, &m); i++) {
		if (strcmp(m.name, name) != 0)
			continue;
		printf("%s: %s\n", m.name, m.what);
		if (m.options && m.options->name)
			printf("\nOptions of `coeval %s` for it:\n", verb->name);
		for (const struct cvl_option *o = m.options; o && o->name; o++)
			put_member_option(stdout, o);
		return cli_flush();
	}
	if (!verb->members)
		return cli_usage(verb, "unknown command '%s'", name);
	near = nearest_word(name, name_of_member, verb->members);
	return cli_usage(verb, "unknown name '%s'%s%s%s; `coeval help %s` lists them", name,
			 near ? " (did you mean " : "", near ? near : "", near ? "?)" : "",
			 verb->name);
}

static void put_members(FILE *f, const struct verb *verb)
{
	struct verb_member m;
	int column = 0;

	for (size_t i = 0; verb->members->get(i, &m); i++)
		if ((int)strlen(m.name) > column)
			column = (int)strlen(m.name);
	fprintf(f, "\n%s; `coeval help %s NAME` lists the options of one:\n", verb->members->title,
		verb->name);
	for (size_t i = 0; verb->members->get(i, &m); i++) {
		fprintf(f, "  %-*s  ", column, m.name);
		wrap(f, m.what, column + 4, column + 4);
	}
}

int help_verb(const struct verb *verb, const char *member)
{
	FILE *f = stdout;
	char what[300];

	if (member)
		return help_member(verb, member);
	fputs("usage: coeval ", f);
	put_usage(f, verb);
	for (size_t i = 0; verb->parts && verb->parts[i]; i++) {
		fputs("\n   or: coeval ", f);
		put_usage(f, verb->parts[i]);
	}
	fputs("\n\n", f);
	snprintf(what, sizeof(what), "%c%s.", *verb->what & ~0x20, verb->what + 1);
	wrap(f, what, 0, 0);
	if (verb->options)
		put_options(f, verb);
	if (verb->members)
		put_members(f, verb);
	if (verb->parts)
		fprintf(f, "\nCommands; `coeval help %s COMMAND` explains one:\n", verb->name);
	for (size_t i = 0; verb->parts && verb->parts[i]; i++) {
		int n = fprintf(f, "  %-8s  ", strchr(verb->parts[i]->name, ' ') + 1);

		wrap(f, verb->parts[i]->what, n, n);
	}
	if (verb->notes) {
		fputc('\n', f);
		paragraphs(f, verb->notes);
	}
	if (verb->examples)
		fprintf(f, "\nExample%s:\n%s", strchr(verb->examples, '\n')[1] ? "s" : "",
			verb->examples);
	return cli_flush();
}

void help_all(FILE *f, const struct verb *const *list)
{
	fputs("usage: coeval COMMAND [OPTIONS] ...\n\n"
	      "Coeval puts what many small machines did onto one clock, and says how\nsure it is.\n",
	      f);
	for (int g = 0; g < VERB_GROUPS; g++) {
		fprintf(f, "\n%s:\n", group_titles[g]);
		for (size_t i = 0; list[i]; i++) {
			const struct verb *v = list[i];

			if (v->group != (enum verb_group)g)
				continue;
			fprintf(f, "  %-10s  ", v->name);
			wrap(f, v->what, 14, 14);
			for (size_t k = 0; v->parts && v->parts[k]; k++) {
				fprintf(f, "    %-8s  ", strchr(v->parts[k]->name, ' ') + 1);
				wrap(f, v->parts[k]->what, 14, 14);
			}
		}
	}
	fputs("\n`coeval help COMMAND` explains a command; `coeval --version` prints the version.\n"
	      "Exit status: 0 done; 1 the answer is no; 2 wrong usage; 3 bad input; 4 something\n"
	      "in the environment is missing.\n",
	      f);
}
