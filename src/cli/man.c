/* SPDX-License-Identifier: MIT */
/*
 * Manual pages, from the tables: `coeval man` prints coeval(1), `coeval man VERB` coeval-VERB(1).
 */
#include "help.h"

#include <coeval/files.h>

#include <stdlib.h>
#include <string.h>

static const char description[] =
	".SH DESCRIPTION\n"
	"Coeval takes traces that were captured on different clocks, works out from observations how each clock ran, and shows "
	"everything on one timeline. Every time on it has a bound: the half\\-width, in nanoseconds, of the interval in which the true "
	"time lies.\n"
	".PP\n"
	"A session is a directory with one CTF trace per clock, a file\n.I session.json\nthat describes them, and a file\n.I sync.json\n"
	"with the clock maps. The traces hold the ticks as they were captured and are never corrected;\n.B coeval sync\n"
	"can be run again at any time. A loss in a trace is kept and shown as a gap.\n"
	".SH COMMANDS\n";

static const char status[] =
	".SH EXIT STATUS\n"
	".TP\n0\nDone.\n"
	".TP\n1\nThe answer is no: a check failed, or the clocks cannot be put onto one timeline.\n"
	".TP\n2\nWrong usage.\n"
	".TP\n3\nBad input; the message names the file and the byte offset.\n"
	".TP\n4\nSomething in the environment is missing; the message says what to do.\n";

static const char examples[] =
	"  coeval import -o testbed --format raw --channels 3 --rate 24M \\\n"
	"    --names tx,rx,pps capture.raw\n"
	"  coeval sync testbed --pulse pps:rise:1s\n"
	"  coeval show testbed --bounds\n"
	"  coeval report testbed -o testbed.html\n"
	"  coeval export testbed --to vcd -o testbed.vcd\n";

/* Up to @n bytes of @s as they are. */
static void text(FILE *f, const char *s, size_t n)
{
	bool begin = true;

	for (; *s && n; s++, n--) {
		if (begin && (*s == '.' || *s == '\''))
			fputs("\\&", f);
		begin = *s == '\n';
		if (*s == '\\')
			fputs("\\e", f);
		else if (*s == '-')
			fputs("\\-", f);
		else
			fputc(*s, f);
	}
}

static void whole(FILE *f, const char *s)
{
	text(f, s, strlen(s));
}

/* Indented lines are preformatted. */
static void paragraphs(FILE *f, const char *s)
{
	bool literal = false;

	for (; *s; s += strcspn(s, "\n"), s += *s == '\n') {
		if (literal != (*s == ' ')) {
			literal = !literal;
			fputs(literal ? ".PP\n.nf\n.RS 4\n" : ".RE\n.fi\n", f);
		}
		if (*s == '\n')
			fputs(".PP\n", f);
		else
			text(f, s, strcspn(s, "\n") + 1);
	}
	if (literal)
		fputs(".RE\n.fi\n", f);
}

static void heading(FILE *f, const char *name, const char *what)
{
	fputs(".\\\" SPDX-License-Identifier: MIT\n.\\\" Made by `coeval man`.\n.TH \"COEVAL", f);
	for (const char *c = name; *c; c++)
		fputc(*c == ' ' ? '-' : *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c, f);
	fputs("\" \"1\" \"\" \"coeval " COEVAL_VERSION "\" \"User Commands\"\n.SH NAME\ncoeval", f);
	for (const char *c = name; *c; c++)
		fputs(*c == ' ' ? "\\-" : (char[]){ *c, 0 }, f);
	fputs(" \\- ", f);
	whole(f, what);
	fputs("\n.SH SYNOPSIS\n", f);
}

static void synopsis(FILE *f, const struct verb *verb)
{
	char *line = NULL;
	size_t n;
	FILE *m = open_memstream(&line, &n);

	if (!m)
		return;
	put_usage(m, verb);
	if (!fclose(m)) {
		fputs(".B coeval ", f);
		whole(f, line);
		fputs("\n.br\n", f);
	}
	free(line);
}

static void options(FILE *f, const struct verb *verb)
{
	const struct cli_option *o;
	struct option_walk w;

	fputs(".SH OPTIONS\n", f);
	for (option_walk(&w, verb); (o = option_next(&w));) {
		if (o->kind == OPTION_HEADING) {
			fputs(".SS ", f);
			whole(f, o->what);
			fputc('\n', f);
		}
		if (!o->name || o->hidden || o->now)
			continue;
		fputs(".TP\n", f);
		if (o->letter)
			fprintf(f, "\\fB\\-%c\\fR, ", o->letter);
		fputs("\\fB\\-\\-", f);
		whole(f, o->name);
		fputs("\\fR", f);
		if (o->arg) {
			fputs(o->optional ? "[=\\fI" : " \\fI", f);
			whole(f, o->arg);
			fputs(o->optional ? "\\fR]" : "\\fR", f);
		}
		fputc('\n', f);
		whole(f, o->what);
		fputs(".\n", f);
		for (size_t i = 0; option_word(o, i); i++) {
			const bool last = !option_word(o, i + 1);

			fputs(!i ? "One of\n" : last ? "or\n" : "", f);
			fprintf(f, ".BR %s %s\n", option_word(o, i),
				last                  ? "." :
				option_word(o, i + 2) ? "," :
							"");
		}
	}
	fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nExplain the command.\n", f);
}

static void members(FILE *f, const struct verb_members *list)
{
	struct verb_member m;

	fputs(".SH ", f);
	for (const char *c = list->title; *c && *c != ' '; c++)
		fputc(*c & ~0x20, f);
	fputc('\n', f);
	for (size_t i = 0; list->get(i, &m); i++) {
		fprintf(f, ".TP\n.B %s\n", m.name);
		whole(f, m.what);
		fputs(".\n", f);
		if (m.options && m.options->name)
			fputs(".RS\n", f);
		for (const struct cvl_option *o = m.options; o && o->name; o++) {
			fputs(".TP\n\\fB\\-\\-", f);
			whole(f, o->name);
			fputs("\\fR ", f);
			if (o->arg) {
				fputs("\\fI", f);
				whole(f, o->arg);
				fputs("\\fR", f);
			}
			fputc('\n', f);
			whole(f, o->what);
			fputs(".\n", f);
		}
		if (m.options && m.options->name)
			fputs(".RE\n", f);
	}
}

static void commands(FILE *f)
{
	for (int g = 0; g < VERB_GROUPS; g++) {
		fprintf(f, ".SS %s\n", group_titles[g]);
		for (size_t i = 0; verbs[i]; i++) {
			if (verbs[i]->group != (enum verb_group)g)
				continue;
			fprintf(f, ".TP\n.B %s\n", verbs[i]->name);
			whole(f, verbs[i]->what);
			fputs(".\n", f);
			for (size_t k = 0; verbs[i]->parts && verbs[i]->parts[k]; k++) {
				fprintf(f, ".TP\n.B %s\n", verbs[i]->parts[k]->name);
				whole(f, verbs[i]->parts[k]->what);
				fputs(".\n", f);
			}
		}
	}
}

static void example(FILE *f, const char *lines)
{
	fputs(".SH EXAMPLES\n", f);
	paragraphs(f, lines);
}

static void page(FILE *f, const struct verb *verb)
{
	char name[60];

	snprintf(name, sizeof(name), " %s", verb->name);
	heading(f, name, verb->what);
	synopsis(f, verb);
	for (size_t i = 0; verb->parts && verb->parts[i]; i++)
		synopsis(f, verb->parts[i]);
	fputs(".SH DESCRIPTION\n", f);
	fputc(*verb->what & ~0x20, f);
	whole(f, verb->what + 1);
	fputs(".\n", f);
	if (verb->notes) {
		fputs(".PP\n", f);
		paragraphs(f, verb->notes);
	}
	if (verb->options)
		options(f, verb);
	if (verb->members)
		members(f, verb->members);
	fputs(status, f);
	if (verb->examples)
		example(f, verb->examples);
	fputs(".SH SEE ALSO\n.BR coeval (1)", f);
	for (size_t i = 0; verb->parts && verb->parts[i]; i++)
		fprintf(f, ",\n.BR coeval\\-%.*s\\-%s (1)", (int)strcspn(verb->parts[i]->name, " "),
			verb->parts[i]->name, strchr(verb->parts[i]->name, ' ') + 1);
	fputc('\n', f);
}

static void first_page(FILE *f)
{
	heading(f, "",
		"put the traces of many clocks onto one timeline, with a bound on every time");
	fputs(".B coeval\n.I command\n.RI [ options \"] ...\"\n.br\n.B coeval help\n.RI [ command ]\n.br\n"
	      ".B coeval \\-\\-version\n",
	      f);
	fputs(description, f);
	commands(f);
	fputs(status, f);
	example(f, examples);
	fputs(".SH SEE ALSO\n", f);
	for (size_t i = 0; verbs[i]; i++)
		fprintf(f, ".BR coeval\\-%s (1),\n", verbs[i]->name);
	fputs(".BR babeltrace2 (1),\n.BR gtkwave (1),\n.BR sigrok\\-cli (1)\n", f);
}

struct request {
	const char *output;
};

static const struct cli_option man_options[] = {
	{ "output", 'o', "DIR", OPTION_DIR, offsetof(struct request, output),
	  "write all pages into this directory, which has to be there" },
	{ 0 },
};

/* The page of @verb, or coeval(1), into a file named after it. */
static int write_page(const char *dir, const struct verb *verb, struct cvl_error *err)
{
	char path[CVL_PATH_MAX], *text = NULL;
	size_t n = 0;
	FILE *f;
	int at = snprintf(path, sizeof(path), "%s/coeval%s%s.1", dir, verb ? "-" : "",
			  verb ? verb->name : "");

	if (at >= (int)sizeof(path))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", dir);
	for (char *c = path + strlen(dir); *c; c++)
		if (*c == ' ')
			*c = '-';
	f = open_memstream(&text, &n);
	if (!f)
		return cvl_no_memory(err);
	if (verb)
		page(f, verb);
	else
		first_page(f);
	at = fclose(f) ? cvl_no_memory(err) : cvl_write_whole(path, text, n, err);
	free(text);
	return at;
}

static int write_all(const char *dir)
{
	struct cvl_error err;
	int rc = write_page(dir, NULL, &err);

	for (size_t i = 0; verbs[i] && !rc; i++) {
		rc = write_page(dir, verbs[i], &err);
		for (size_t k = 0; verbs[i]->parts && verbs[i]->parts[k] && !rc; k++)
			rc = write_page(dir, verbs[i]->parts[k], &err);
	}
	return rc ? cli_fail(&err) : 0;
}

static int run_man(int argc, char **argv, const struct verb *verb)
{
	const struct verb *about;
	struct request r = { 0 };
	struct operands operands;
	int rc = options_read(verb, &r, argc, argv, &operands), used;

	if (rc >= 0)
		return rc;
	if (r.output)
		return write_all(r.output);

	if (!operands.n) {
		first_page(stdout);
		return cli_flush();
	}
	about = verb_find(operands.n, operands.v, &used);
	if (!about)
		return cli_usage(verb, "unknown command '%s'", operands.v[0]);
	page(stdout, about);
	return cli_flush();
}

const struct verb verb_man = {
	.name = "man",
	.what = "print a manual page, in roff",
	.options = man_options,
	.operands = "[COMMAND...]",
	.run = run_man,
};
