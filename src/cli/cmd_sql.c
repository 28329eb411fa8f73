/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "sql_print.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/check.h>
#include <coeval/files.h>
#include <coeval/power.h>
#include <coeval/sql.h>

#define FILE_MAX (4 << 20)

struct request {
	struct cvl_sql_opts opts;
	struct cvl_power_opts power;
	const char *file, *rules;
	unsigned memory_mb;
	bool box, csv, json;
	/* at work */
	struct cvl_sql *sql;
	struct sql_print print;
	struct cvl_error *err;
};

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "file", 'f', "QUERY.sql", OPTION_FILE, AT(file), "run the statements in that file" },
	RANGE_OPTIONS(AT(opts.timeline)),
	NOMINAL_OPTION(AT(opts.timeline.nominal)),
	{ "rules", 0, "RULES.yaml", OPTION_FILE, AT(rules),
	  "of the table `violations`: check by these" },
	{ "power", 0, "CHANNEL", OPTION_SELECTOR, AT(power.watts),
	  "of the table `power`: samples in watts" },
	{ "timeout", 0, "TIME", OPTION_DURATION, AT(opts.timeout_ns),
	  "stop a statement that takes longer", 1, INT64_MAX },
	{ "memory", 0, "MB", OPTION_NUMBER, AT(memory_mb),
	  "what a statement may take (default: 1024)", 1, 1 << 20 },
	{ .kind = OPTION_HEADING, .what = "Output" },
	{ "box", 0, NULL, OPTION_FLAG, AT(box), "a table for people (the default)" },
	{ "csv", 0, NULL, OPTION_FLAG, AT(csv), "CSV, with a header" },
	{ "json", 0, NULL, OPTION_FLAG, AT(json), "a list of objects for each statement" },
	{ 0 },
};

/* ---- ^C ---- */

static volatile sig_atomic_t interrupts;

static void interrupted(int sig)
{
	(void)sig;
	if (++interrupts > 2) /* a function of SQLite can be long at work */
		_exit(130);
}

static bool go_on(void *ctx, uint64_t done, uint64_t total)
{
	(void)ctx, (void)done, (void)total;
	return !interrupts;
}

static void catch_interrupts(void)
{
	/* without SA_RESTART: it also ends waiting for a line */
	const struct sigaction catch = { .sa_handler = interrupted };
	struct sigaction now;

	if (!sigaction(SIGINT, NULL, &now) && now.sa_handler != SIG_IGN)
		sigaction(SIGINT, &catch, NULL);
}

/* ---- statements ---- */

static int run_text(struct request *r, const char *text, size_t n)
{
	const struct cvl_sql_sink sink = sql_print_sink(&r->print);
	struct cvl_error flushed;
	int rc = cvl_sql_run(r->sql, text, n, &sink, r->err);

	sql_print_drop(&r->print);
	if (cvl_out_flush(r->print.out, &flushed) && !rc) {
		*r->err = flushed;
		rc = flushed.code;
	}
	return r->print.out->closed ? 0 : rc;
}

static int run_file(struct request *r, const char *path)
{
	size_t n;
	char *text = cvl_read_whole(path, FILE_MAX, &n, r->err);
	int rc = text ? run_text(r, text, n) : (int)r->err->code;

	free(text);
	return rc;
}

/* ---- a prompt ---- */

static void list_tables(const struct request *r)
{
	const char *name, *what;
	struct table t;

	table_init(&t, 2);
	for (size_t i = 0; (name = cvl_sql_table(r->sql, i, &what)); i++)
		table_row(&t, name, what);
	table_print(&t, r->print.out, "ll", "");
}

/* Columns of table @wanted, or of all. */
static int show_schema(struct request *r, const char *wanted)
{
	const char *name, *what;
	bool any = false;
	char text[2 * CVL_ERROR_TEXT];
	int rc = 0;

	for (size_t i = 0; (name = cvl_sql_table(r->sql, i, &what)) && !rc; i++) {
		if (*wanted && strcmp(name, wanted) != 0)
			continue;
		any = true;
		snprintf(text, sizeof(text),
			 "SELECT name AS \"%s\", type FROM pragma_table_info('%s')", name, name);
		rc = run_text(r, text, strlen(text));
	}
	return rc || any ? rc :
			   cvl_fail(r->err, CVL_E_USAGE, CVL_NO_OFFSET,
				    "no table '%s'; .tables lists them", wanted);
}

/* A line that begins with a dot. 1: the end is asked for. */
static int run_dot(struct request *r, char *line)
{
	char *word = line + strcspn(line, " \t"), *argument = word + strspn(word, " \t");

	*word = '\0';
	if (!strcmp(line, ".quit") || !strcmp(line, ".exit"))
		return 1;
	if (!strcmp(line, ".tables"))
		list_tables(r);
	else if (!strcmp(line, ".schema"))
		return show_schema(r, argument);
	else if (!strcmp(line, ".help"))
		cvl_out_text(r->print.out, ".tables     the tables\n"
					   ".schema T   columns of table T, or of all\n"
					   ".quit       the end, as ^D\n"
					   "Statements end with a semicolon; ^C stops one.\n");
	else
		return cvl_fail(r->err, CVL_E_USAGE, CVL_NO_OFFSET,
				"unknown command '%s'; .help lists them", line);
	return cvl_out_flush(r->print.out, r->err);
}

/* The same as the only query. */
static int run_query_dot(struct request *r, const char *query)
{
	char *line = strdup(query);
	const int rc = line ? run_dot(r, line) : cvl_no_memory(r->err);

	free(line);
	return rc < 0 ? rc : 0;
}

static bool is_blank(const char *s)
{
	return !s[strspn(s, " \t\r\n;")];
}

struct pending {
	char *text;
	size_t n, room;
};

static int add_line(struct pending *p, const char *line, size_t n, struct cvl_error *err)
{
	if (p->n + n + 1 > p->room) {
		const size_t room = 2 * (p->n + n + 1);
		char *grown = realloc(p->text, room);

		if (!grown)
			return cvl_no_memory(err);
		p->text = grown;
		p->room = room;
	}
	memcpy(p->text + p->n, line, n);
	p->n += n;
	p->text[p->n] = '\0';
	return 0;
}

/* A line, or what it completes. */
static int take_line(struct request *r, struct pending *p, char *line, size_t n)
{
	int rc;

	if (!p->n && *line == '.') {
		line[strcspn(line, "\r\n")] = '\0';
		return run_dot(r, line);
	}
	rc = add_line(p, line, n, r->err);
	if (rc || !cvl_sql_complete(p->text))
		return rc;
	rc = run_text(r, p->text, p->n);
	p->n = 0;
	return rc;
}

/* Statements from standard input; at a terminal, errors are told and it goes on. */
static int run_lines(struct request *r)
{
	const bool ask = isatty(STDIN_FILENO) == 1;
	struct pending p = { 0 };
	size_t room = 0;
	char *line = NULL;
	ssize_t n;
	int rc = 0;

	if (ask)
		fputs("Statements end with a semicolon; .help lists commands.\n", stderr);
	for (;;) {
		interrupts = 0;
		if (ask)
			fputs(p.n && !is_blank(p.text) ? "   ...> " : "coeval> ", stderr);
		n = getline(&line, &room, stdin);
		if (n < 0 && ferror(stdin) && errno == EINTR && ask) {
			clearerr(stdin);
			p.n = 0;
			fputc('\n', stderr);
			continue;
		}
		if (n < 0)
			break;
		rc = take_line(r, &p, line, (size_t)n);
		if (rc > 0 || (rc < 0 && !ask))
			break;
		if (rc < 0)
			cli_fail(r->err);
		rc = 0;
	}
	if (n < 0 && !rc && p.n && !is_blank(p.text))
		rc = run_text(r, p.text, p.n); /* without a semicolon */
	if (ask && n < 0)
		fputc('\n', stderr);
	free(line);
	free(p.text);
	return rc > 0 ? 0 : rc;
}

/* ---- the verb ---- */

static int work(struct request *r, struct cvl_session *session, const char *query)
{
	struct cvl_out *o = malloc(sizeof(*o));
	int rc = o ? cvl_sql_open(&r->sql, session, &r->opts, r->err) : cvl_no_memory(r->err);

	if (!rc)
		rc = cvl_out_open(o, NULL, r->err);
	if (rc) {
		free(o);
		return rc;
	}
	r->print = (struct sql_print){ .out = o,
				       .format = r->csv  ? SQL_CSV :
						 r->json ? SQL_JSON :
							   SQL_BOX };
	if (r->file)
		rc = run_file(r, r->file);
	else if (query && *query == '.')
		rc = run_query_dot(r, query);
	else
		rc = query ? run_text(r, query, strlen(query)) : run_lines(r);
	free(o);
	return rc;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .power.unit = 1 };
	struct cvl_check_rules *rules = NULL;
	struct cvl_session *session = NULL;
	struct operands operands;
	struct problems problems;
	struct cvl_error err;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	if (r.box + r.csv + r.json > 1)
		return cli_usage(verb, "one of --box, --csv and --json");
	if (r.file && operands.n > 1)
		return cli_usage(verb, "a query or --file, not both");
	problems_init(&problems);
	r.err = &err;
	r.opts.timeline.report = &problems.report;
	r.opts.timeline.progress.fn = go_on;
	r.opts.power = r.power.watts ? &r.power : NULL;
	r.opts.memory = (uint64_t)r.memory_mb << 20;
	rc = r.rules ? cvl_check_rules_load(&rules, r.rules, &err) : 0;
	r.opts.check = rules;
	catch_interrupts();
	if (!rc)
		rc = cvl_session_open(&session, operands.v[0], &problems.report, &err);
	if (!rc)
		rc = work(&r, session, operands.n > 1 ? operands.v[1] : NULL);
	cvl_sql_close(r.sql);
	cvl_session_close(session);
	cvl_check_rules_free(rules);
	return cli_end(rc, &err, &problems);
}

const struct verb verb_sql = {
	.name = "sql",
	.group = VERB_ASK,
	.what = "ask by SQL: edges, samples, events, spans, marks, gaps, clocks, calls, tasks as tables",
	.operands = "SESSION [QUERY]",
	.options = options,
	.notes =
		"`coeval sql SESSION .tables` lists the tables, .schema NAME the columns of one (docs/sql.md). Without QUERY, statements are read from standard input, at a terminal with a prompt.\n"
		"\n"
		"Times and half-widths are in ns; an unknown one is NULL. surely_before(t1, b1, t2, b2), maybe_before(), sure_duration() and bound_pair() compare times with their bounds. Statements see the session and memory of their own, and no files.\n",
	.examples =
		"  coeval sql s/ 'SELECT clock, line, count(*), max(bound_ns) FROM edges GROUP BY clock, line'\n"
		"  coeval sql s/ --csv 'SELECT * FROM gaps' >gaps.csv\n",
	.run = run,
};
