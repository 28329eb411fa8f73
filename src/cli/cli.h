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

/** What `coeval help` lists a verb under. */
enum verb_group { VERB_GET, VERB_TIE, VERB_LOOK, VERB_ASK, VERB_HARDWARE, VERB_HELP, VERB_GROUPS };

/** A format, a driver or an estimator, and what it heeds. */
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
	const char *name; /* of a part both words: "session verify" */
	enum verb_group group;
	const char *what;     /* one line for `coeval help` */
	const char *operands; /* "SESSION [FILE...]": words without blanks; NULL: none */
	const struct cli_option *options;
	const char *notes;    /* paragraphs below the options; or NULL */
	const char *examples; /* a line each */
	const struct verb_members *members;
	const struct verb *const *parts; /* ended by NULL */
	/* argv[0] is the verb. NULL: it is its parts only. */
	int (*run)(int argc, char **argv, const struct verb *verb);
};

/** All verbs, as they are told, ended by NULL. */
extern const struct verb *const verbs[];

/** The verb or part that argv[0], argv[1] name; *@used words. NULL: none. */
const struct verb *verb_find(int argc, char **argv, int *used);

/** Problems that were survived: told on standard error, counted for the exit status. */
struct problems {
	unsigned long told, damage; /* damage: those of bad input, which make the exit status 3 */
	struct cvl_report report;
};

void problems_init(struct problems *p);

/** Say what went wrong and return the exit status that goes with it. */
int cli_fail(const struct cvl_error *err);

/** Wrong usage: says so with the verb's usage line; returns 2. */
int cli_usage(const struct verb *verb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Exit status at the end of a verb: @rc's, else 3 if damage was told, else 0. */
int cli_end(int rc, const struct cvl_error *err, const struct problems *p);

/** Write out what printf() was given; says so if it cannot, and returns the exit status. */
int cli_flush(void);

/**
 * A line of progress on standard error, when that is a terminal: "what  42 %". Call as often as you
 *                                                                       like; it draws ten times a
 *                                                                       second. total 0: bytes so
 *                                                                       far. The percentage runs
 *                                                                       once: of a second pass it
 *                                                                       is told that there is one.
 *                                                                       Clear it before printing
 *                                                                       anything else.
 */
struct progress {
	const char *what;
	bool on, drawn;
	bool again; /* what is done went back: a second pass, whose share of the whole is unknown */
	uint64_t done;
	int64_t last_ms;
};

void progress_init(struct progress *p, const char *what);
bool progress_show(void *progress, uint64_t done, uint64_t total);
void progress_clear(struct progress *p);

/**
 * Hand the session at @path to @study, with @timeline made ready to open it by: problems are told,
 * and progress is shown as @doing; @study clears it (timeline->progress.ctx) before it prints.
 * Returns the exit status.
 */
int cli_study(const char *path, const char *doing, struct cvl_timeline_opts *timeline,
	      int (*study)(void *request, struct cvl_session *session, struct cvl_error *err),
	      void *request);

/** The two of "A..B", as somebody gave it; old spellings are told to @report. */
int cli_pair(struct cvl_selector pair[2], const char *text, const struct cvl_report *report,
	     struct cvl_error *err);

/** Open a session to change it: unlike cvl_session_create() nothing is made. */
int cli_change(struct cvl_session **s, const char *path, const struct cvl_report *report,
	       struct cvl_error *err);

/** "1 gap", "2 gaps"; thousands separated; between @before and @after. */
void cli_count(struct cvl_out *o, const char *before, uint64_t n, const char *one,
	       const char *after);
/**
 * Rows of tables of options that verbs share, over struct cvl_timeline_opts: --from, --until and
 * --node.
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

/** Print the columns of a table so that they align: rows of @n cells, freed by table_print(). */
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
/** Free it unprinted. */
void table_drop(struct table *t);
/**
 * Columns whose letter in @align is 'r' are flushed right. Two blanks between; @indent in front.
 */
void table_print(struct table *t, struct cvl_out *o, const char *align, const char *indent);

#endif
