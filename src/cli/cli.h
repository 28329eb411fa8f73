/* SPDX-License-Identifier: MIT */
/** Shared by the verbs. */
#ifndef CLI_H
#define CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include <coeval/error.h>
#include <coeval/session.h>
#include <coeval/timeline.h>

#include <coeval/out.h>

struct verb {
	const char *name;
	const char *what;  /* one line for `coeval help` */
	const char *usage; /* after "coeval " */
	const char *help;  /* options, then an example */
	int (*run)(int argc, char **argv, const struct verb *verb);
};

extern const struct verb verb_capture, verb_control, verb_devices, verb_join, verb_import,
	verb_decode, verb_sync, verb_info, verb_show, verb_check, verb_calls, verb_export,
	verb_report, verb_task, verb_flow, verb_power, verb_sim, verb_demo, verb_help, verb_act,
	verb_precision, verb_doctor, verb_session;
/** Of verb_flow. */
extern const struct verb flow_assign_verb;
/** Of verb_task: what is not named is task_show. */
extern const struct verb task_show, task_plan, task_freq, task_bench;
extern const struct verb *const verbs[];

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

/** Options that every verb knows: long options table entries for --help. */
#define CLI_HELP_OPTION                        \
	{                                      \
		"help", no_argument, NULL, 'h' \
	}

/** Write out what printf() was given; says so if it cannot, and returns the exit status. */
int cli_flush(void);

/** Handle 'h' and '?' of getopt; returns the exit status to leave with. */
int cli_option(int c, const struct verb *verb);

/**
 * A line of progress on standard error, when that is a terminal: "what  42 %". Call as often as you like;
 * it draws ten times a second. total 0: bytes so far. The percentage runs once: of a second pass it is told that there is one. Clear it
 * before printing anything else.
 */
struct progress {
	const char *what;
	bool on, drawn;
	bool again; /* what is done went back: a second pass, whose share of all nobody knows */
	uint64_t done;
	int64_t last_ms;
};

void progress_init(struct progress *p, const char *what);
bool progress_show(void *progress, uint64_t done, uint64_t total);
void progress_clear(struct progress *p);

/**
 * Hand the session at @path to @study, with @timeline made ready to open it by: problems are told, and progress is shown as @doing; @study clears it
 * (timeline->progress.ctx) before it prints. Returns the exit status.
 */
int cli_study(const char *path, const char *doing, struct cvl_timeline_opts *timeline,
	      int (*study)(void *request, struct cvl_session *session, struct cvl_error *err),
	      void *request);

/** "1 gap", "2 gaps"; thousands separated. */
void cli_count(struct cvl_out *o, uint64_t n, const char *one);
/** A duration given on the command line, or an exit status: 0 if it could be read. */
int cli_duration(const struct verb *verb, const char *option, const char *text, int64_t *ns);

/** A number from 1 to @max given on the command line, or an exit status: 0 if it could be read. */
int cli_number(const struct verb *verb, const char *option, const char *text, unsigned max,
	       unsigned *out);

/** Print the columns of a table so that they align: rows of @n cells, freed by table_print(). */
struct table {
	size_t columns, rows, capacity;
	char **cell;
};

void table_init(struct table *t, size_t columns);
void table_cell(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** A row of headings, ended by NULL. */
void table_heads(struct table *t, const char *const *heads);
/** Free it unprinted. */
void table_drop(struct table *t);
/** Columns whose letter in @align is 'r' are flushed right. Two blanks between; @indent in front. */
void table_print(struct table *t, struct cvl_out *o, const char *align, const char *indent);

#endif
