/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "help.h"

#include <coeval/time.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <coeval/array.h>

/* There can be millions of problems of one kind; their effects are in the gaps and counts. */
#define PROBLEMS_TOLD 20

/* Hints of the library, as options and commands. */
static const char *const hints[CVL_HINTS] = {
	[CVL_HINT_NO_SESSION] = "; `coeval import -o SESSION FILE` makes one",
	[CVL_HINT_NOT_SESSION] = "; `coeval import -o SESSION FILE` makes one of it",
	[CVL_HINT_NAMES] = "; `coeval info` lists them",
	[CVL_HINT_CLOCK_RATE] = "; `coeval import --clock-rate HZ` sets another rate",
	[CVL_HINT_RULES] =
		"; say --match RULE for events that are messages, or --pulse LINE:rise:1s for pulses",
	[CVL_HINT_MESSAGES] = "; say --match RULE",
	[CVL_HINT_PULSES] = "; say --pulse LINE:rise:1s",
	[CVL_HINT_SYNC] = "; run `coeval sync` again",
	[CVL_HINT_CALIBRATE] = "; `coeval sync --calibrate LINE` makes one",
	[CVL_HINT_RATE] = "; pass --rate HZ",
	[CVL_HINT_CHANNELS_RATE] = "; pass --channels N --rate HZ",
	[CVL_HINT_RAW] = "; `--format raw --channels N --rate HZ` reads headerless samples",
	[CVL_HINT_LINES] = " (--lines GLOB)",
	[CVL_HINT_LINE_NAMES] = " (--names)",
	[CVL_HINT_TPIU] = " (--format tpiu)",
	[CVL_HINT_STREAM] = " (--stream N)",
	[CVL_HINT_DECODE_STREAM] = " (:stream=N)",
	[CVL_HINT_DEVICE] = " (--device)",
	[CVL_HINT_DEVICES] = "; `coeval doctor devices` shows what is there",
	[CVL_HINT_PIPE] = "; --driver pipe reads pipes",
	[CVL_HINT_RATE_LINES] = "; pass --rate HZ and --lines N",
	[CVL_HINT_BELL] = " (--bell)",
	[CVL_HINT_METADATA] = " (--metadata FILE)",
	[CVL_HINT_MASK] = " (--mask)",
	[CVL_HINT_MODE] = " (--mode)",
	[CVL_HINT_POWER] = " (--power)",
	[CVL_HINT_KEYS] = "; make them by `coeval collect keys DIR`, and pass --keys DIR",
	[CVL_HINT_KEY] = " (--key, --ca)",
	[CVL_HINT_LISTEN] = "; if its port is taken, pass --listen HOST:PORT",
	[CVL_HINT_NODE] = "; export them one by one with --node",
	[CVL_HINT_POLICY] = " (--policy, --adaption and --cache choose others)",
	[CVL_HINT_CHECK] = " (--rules RULES.yaml)",
	[CVL_HINT_WATTS] = " (--power CHANNEL)",
};

/* Messages contain names from files. */
static void say(const char *what, const struct cvl_error *err)
{
	const char *hint = err->hint < CVL_HINTS ? hints[err->hint] : NULL;
	char text[4 * CVL_ERROR_TEXT];

	cvl_text_name(text, err->text);
	fprintf(stderr, "coeval: %s%s%s\n", what, text, hint ? hint : "");
}

static void tell(void *ctx, const struct cvl_error *problem)
{
	struct problems *p = ctx;

	bool oddity = problem->code == CVL_E_ORDER || problem->code == CVL_E_MISMATCH ||
		      problem->code == CVL_E_UNSUPPORTED;

	if (cvl_exit_status(problem->code) == 3 && !oddity)
		p->damage++;
	if (p->told++ < PROBLEMS_TOLD)
		say(problem->code == CVL_OK ? "note: " : "warning: ", problem);
	else if (p->told == PROBLEMS_TOLD + 1)
		fprintf(stderr, "coeval: warning: more of this kind is not shown\n");
}

void problems_init(struct problems *p)
{
	*p = (struct problems){ .report = { tell, p } };
}

int cli_fail(const struct cvl_error *err)
{
	say("", err);
	return cvl_exit_status(err->code);
}

int cli_usage(const struct verb *verb, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "coeval %s: ", verb->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs("\nusage: coeval ", stderr);
	put_usage(stderr, verb);
	fprintf(stderr, "\nTry `coeval help %s`.\n", verb->name);
	return 2;
}

int cli_end(int rc, const struct cvl_error *err, const struct problems *p)
{
	if (rc < 0)
		return cli_fail(err);
	if (p->damage) {
		fprintf(stderr,
			"coeval: the input was damaged: what could be read is there, the rest is shown as gaps\n");
		return 3;
	}
	return 0;
}

int cli_study(const char *path, const char *doing, struct cvl_timeline_opts *timeline,
	      int (*study)(void *request, struct cvl_session *session, struct cvl_error *err),
	      void *request)
{
	struct cvl_session *session;
	struct problems problems;
	struct progress progress;
	struct cvl_error err;
	int rc;

	problems_init(&problems);
	progress_init(&progress, doing);
	timeline->report = &problems.report;
	timeline->progress = (struct cvl_progress){ progress_show, &progress };
	rc = cvl_session_open(&session, path, &problems.report, &err);
	if (!rc) {
		rc = study(request, session, &err);
		cvl_session_close(session);
	}
	return cli_end(rc, &err, &problems);
}

int cli_pair(struct cvl_selector pair[2], const char *text, const struct cvl_report *report,
	     struct cvl_error *err)
{
	int rc = cvl_selector_pair_parse(pair, text, strlen(text), err);

	for (unsigned i = 0; i < 2 && !rc; i++)
		cvl_selector_tell_old(&pair[i], report);
	return rc == CVL_E_SYNTAX ? (int)(err->code = CVL_E_USAGE) : rc;
}

int cli_change(struct cvl_session **s, const char *path, const struct cvl_report *report,
	       struct cvl_error *err)
{
	int rc = cvl_session_open(s, path, report, err);

	if (rc)
		return rc;
	cvl_session_close(*s);
	return cvl_session_create(s, path, err);
}

int cli_flush(void)
{
	if (!fflush(stdout) || errno == EPIPE)
		return 0;
	fprintf(stderr, "coeval: standard output: cannot write: %s\n", strerror(errno));
	return 4;
}

const struct cli_option range_options[] = {
	{ "from", 0, "TIME", OPTION_DURATION, offsetof(struct cvl_timeline_opts, from),
	  "only records from this time on (1.2, 250ms, 10us)",
	  OPTION_GIVEN(struct cvl_timeline_opts, has_from) },
	{ "until", 0, "TIME", OPTION_DURATION, offsetof(struct cvl_timeline_opts, until),
	  "only records up to this time", OPTION_GIVEN(struct cvl_timeline_opts, has_until) },
	{ "to", 0, "TIME", .now = "until" },
	{ "node", 0, "GLOB", OPTION_NODE, offsetof(struct cvl_timeline_opts, node),
	  "only these nodes or clocks" },
	{ 0 },
};

/* ---- progress ---- */

int64_t cli_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void progress_init(struct progress *p, const char *what)
{
	*p = (struct progress){ .what = what,
				.on = isatty(STDERR_FILENO) == 1,
				.last_ms = cli_now_ms() };
}

bool progress_show(void *progress, uint64_t done, uint64_t total)
{
	struct progress *p = progress;
	int64_t now;

	p->again |= done < p->done;
	p->done = done;
	if (!p->on)
		return true;
	now = cli_now_ms();
	if (now - p->last_ms < 100)
		return true;
	p->last_ms = now;
	p->drawn = true;
	if (p->again)
		fprintf(stderr, "\r%s  finishing \033[K", p->what);
	else if (total)
		fprintf(stderr, "\r%s  %3d %% \033[K", p->what,
			(int)(100.0 * (double)done / (double)total));
	else
		fprintf(stderr, "\r%s  %.1f MB \033[K", p->what, (double)done / 1e6);
	return true;
}

void progress_clear(struct progress *p)
{
	if (p->drawn)
		fprintf(stderr, "\r\033[K");
	p->drawn = false;
}

/* ---- tables ---- */

void cli_count(struct cvl_out *o, const char *before, uint64_t n, const char *one,
	       const char *after)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);

	cvl_out_text(o, before);
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			cvl_out_char(o, ',');
		cvl_out_char(o, digits[i]);
	}
	if (*one)
		cvl_out_printf(o, " %s%s", one, n == 1 ? "" : "s");
	cvl_out_text(o, after);
}

void table_init(struct table *t, size_t columns)
{
	*t = (struct table){ .columns = columns };
}

void table_cell(struct table *t, const char *fmt, ...)
{
	va_list ap;
	char *text = NULL, *cell;

	if (cvl_room(&t->cell, t->rows, &t->capacity, sizeof(*t->cell)))
		abort();
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	cell = malloc(4 * strlen(text) + 1);
	if (!cell)
		abort();
	cvl_text_name(cell, text); /* names come from files */
	free(text);
	t->cell[t->rows++] = cell;
}

void table_heads(struct table *t, const char *heads)
{
	size_t columns = 1;

	for (const char *c = heads; *c; c++)
		columns += *c == '|';
	table_init(t, columns);
	for (size_t n; columns; columns--, heads += n + 1) {
		n = strcspn(heads, "|");
		table_cell(t, "%.*s", (int)n, heads);
	}
}

void table_put(struct table *t, const char *const *cell, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(*cell); i++)
		table_cell(t, "%s", cell[i]);
}

void table_numbers(struct table *t, const uint64_t *n, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(*n); i++)
		table_cell(t, "%llu", (unsigned long long)n[i]);
}

void table_bound(struct table *t, bool known, int64_t ns)
{
	char text[CVL_TIME_TEXT];

	cvl_bound_text(text, ns);
	table_cell(t, "%s", known ? text : "-");
}

void table_time(struct table *t, bool known, struct cvl_time at)
{
	char text[CVL_TIME_TEXT];

	cvl_time_text(text, at);
	table_cell(t, "%s", known ? text : "-");
}

/*
 * Columns on the screen, for text without control characters: UTF-8 continuation bytes take none.
 */
static size_t text_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

void table_drop(struct table *t)
{
	for (size_t i = 0; i < t->rows; i++)
		free(t->cell[i]);
	free(t->cell);
	t->cell = NULL;
	t->rows = t->capacity = 0;
}

void table_print(struct table *t, struct cvl_out *o, const char *align, const char *indent)
{
	size_t width[16] = { 0 };

	for (size_t i = 0; i < t->rows; i++) {
		size_t w = text_width(t->cell[i]);

		if (w > width[i % t->columns])
			width[i % t->columns] = w;
	}
	for (size_t i = 0; i < t->rows; i++) {
		size_t c = i % t->columns, pad = width[c] - text_width(t->cell[i]);
		bool last = c + 1 == t->columns;

		cvl_out_text(o, c ? "  " : indent);
		for (size_t k = 0; align[c] == 'r' && k < pad; k++)
			cvl_out_char(o, ' ');
		cvl_out_text(o, t->cell[i]);
		for (size_t k = 0; align[c] != 'r' && !last && k < pad; k++)
			cvl_out_char(o, ' ');
		if (last)
			cvl_out_char(o, '\n');
	}
	table_drop(t);
}
