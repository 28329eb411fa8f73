/* SPDX-License-Identifier: MIT */
/** Shared by the verbs. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stdio.h>

#include <coeval/error.h>
#include <coeval/select.h>
#include <coeval/session.h>
#include <coeval/timeline.h>

#include <coeval/option.h>
#include <coeval/out.h>

#include "options.h"

/** Sections of `coeval help`. */
enum verb_group { VERB_GET, VERB_TIE, VERB_LOOK, VERB_ASK, VERB_HARDWARE, VERB_HELP, VERB_GROUPS };

/** A format, driver or estimator, and its options. */
struct verb_member {
	const char *name, *what;
	const struct cvl_option *options; /* or NULL */
};

/** The members of a table that a verb chooses from. */
struct verb_members {
	const char *title;                            /* "Formats (--format)" */
	bool (*get)(size_t i, struct verb_member *m); /* false: past the last */
};

struct verb {
	const char *name; /* for a part both words: "session verify" */
	enum verb_group group;
	const char *what;     /* one line for `coeval help` */
	const char *operands; /* "SESSION [FILE...]": words without blanks; NULL: none */
	const struct cli_option *options;
	const char *notes;    /* paragraphs below the options; or NULL */
	const char *examples; /* one per line */
	const struct verb_members *members;
	const struct verb *const *parts; /* NULL-terminated */
	/* argv[0] is the verb. NULL: it only has parts. */
	int (*run)(int argc, char **argv, const struct verb *verb);
};

/** All verbs, in display order, NULL-terminated. */
extern const struct verb *const verbs[];

/** The verb or part named by argv[0] and argv[1]; *@used: words consumed. NULL: none. */
const struct verb *verb_find(int argc, char **argv, int *used);

/** Non-fatal problems: printed on standard error, counted for the exit status. */
struct problems {
	unsigned long told, damage; /* damage: those of bad input, for exit status 3 */
	struct cvl_report report;
};

void problems_init(struct problems *p);

/** Print an error and return its exit status. */
int cli_fail(const struct cvl_error *err);

/** Print a usage error with the verb's usage line; returns 2. */
int cli_usage(const struct verb *verb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Exit status at the end of a verb: @rc's, else 3 if damage was reported, else 0. */
int cli_end(int rc, const struct cvl_error *err, const struct problems *p);

/** Flush stdout; reports failure and returns the exit status. */
int cli_flush(void);

/**
 * A line of progress on standard error, if that is a terminal: "what  42 %". Call as often as you
 * like; it draws ten times a second. total 0: bytes so far. The percentage runs once: a second pass
 * is only announced. Clear it before printing anything else.
 */
struct progress {
	const char *what;
	bool on, drawn;
	bool again; /* a second pass, whose share of the whole is unknown */
	uint64_t done;
	int64_t last_ms;
};

/** Monotonic. */
int64_t cli_now_ms(void);

void progress_init(struct progress *p, const char *what);
bool progress_show(void *progress, uint64_t done, uint64_t total);
void progress_clear(struct progress *p);

/**
 * Run @study on the session at @path, with @timeline prepared for opening it: problems are printed,
 * and progress is shown as @doing; @study clears it (timeline->progress.ctx) before it prints.
 * Returns the exit status.
 */
int cli_study(const char *path, const char *doing, struct cvl_timeline_opts *timeline,
	      int (*study)(void *request, struct cvl_session *session, struct cvl_error *err),
	      void *request);

/** The two of "A..B", as given; old spellings are reported to @report. */
int cli_pair(struct cvl_selector pair[2], const char *text, const struct cvl_report *report,
	     struct cvl_error *err);

/** Open a session to change it: unlike cvl_session_create() none is created. */
int cli_change(struct cvl_session **s, const char *path, const struct cvl_report *report,
	       struct cvl_error *err);

/** "1 gap", "2 gaps"; thousands separated; between @before and @after. */
void cli_count(struct cvl_out *o, const char *before, uint64_t n, const char *one,
	       const char *after);
/**
 * Shared option rows, over struct cvl_timeline_opts: --from, --until and --node.
 */
extern const struct cli_option range_options[];

#define RANGE_OPTIONS(offset)                                                \
	{                                                                    \
		.kind = OPTION_GROUP, .at = (offset), .group = range_options \
	}
#define JSON_OPTION(offset)                                          \
	{                                                            \
		"json", 0, NULL, OPTION_FLAG, (offset), "print JSON" \
	}
#define JOBS_OPTION(offset)                                                                        \
	{                                                                                          \
		"jobs", 0, "N", OPTION_NUMBER, (offset),                                           \
			"threads (default: one for each processor); the output is the same", 1, 64 \
	}
#define STRICT_OPTION(offset)                                       \
	{                                                           \
		"strict", 0, NULL, OPTION_FLAG, (offset),           \
			"stop at damage instead of recording a gap" \
	}
#define NOMINAL_OPTION(offset)                                                  \
	{                                                                       \
		"nominal", 0, NULL, OPTION_FLAG, (offset),                      \
			"leave sync.json aside: times as the clocks claim them" \
	}

/** A table with aligned columns: rows of @n cells, freed by table_print(). */
struct table {
	size_t columns, rows, capacity;
	char **cell;
};

void table_init(struct table *t, size_t columns);
void table_cell(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** Begin with a row of headings: "task|mean us". */
void table_heads(struct table *t, const char *heads);
/** Cells of text. */
#define table_row(t, ...) \
	table_put(t, (const char *[]){ __VA_ARGS__ }, sizeof((const char *[]){ __VA_ARGS__ }))
void table_put(struct table *t, const char *const *cell, size_t bytes);
#define table_counts(t, ...) \
	table_numbers(t, (const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }))
void table_numbers(struct table *t, const uint64_t *n, size_t bytes);
/** Where it is not @known: "-". */
void table_bound(struct table *t, bool known, int64_t ns);
void table_time(struct table *t, bool known, struct cvl_time at);
/** Free it without printing. */
void table_drop(struct table *t);
/**
 * Columns whose letter in @align is 'r' are right-aligned, separated by two blanks; @indent
 * precedes.
 */
void table_print(struct table *t, struct cvl_out *o, const char *align, const char *indent);

#endif
