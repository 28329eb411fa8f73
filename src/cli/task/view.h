/* SPDX-License-Identifier: MIT */
/** What tasks cost, as text, JSON and CSV. */
#ifndef CLI_TASK_VIEW_H
#define CLI_TASK_VIEW_H

#include <coeval/tasks.h>

#include "cli.h"

struct task_alias {
	uint64_t number;
	char *name;
};

struct task_view {
	struct cvl_session *session;
	struct cvl_timeline *tl;
	struct cvl_tasks_opts opts;
	const struct cvl_tasks_result *tasks;
	struct task_alias *alias;
	size_t n_aliases, room_aliases;
	bool each;                             /* every run, too */
	uint64_t hz;                           /* that --cpu told; for CSV */
	const char *policy, *adaption, *cache; /* for CSV; NULL: no such column */
};

/** Take "3=fft" or "3 fft": 1 if it was of that form, else 0, or a negative code. */
int task_names_add(struct task_view *v, const char *text, struct cvl_error *err);
/** One a line of the file; what follows '#' is a comment. */
int task_names_load(struct task_view *v, const char *path, struct cvl_error *err);
void task_names_free(struct task_view *v);

/** Name of a task: as it was given or marked, else its number, into @text. */
const char *task_view_name(const struct task_view *v, const struct cvl_task *t, char text[24]);

void task_view_text(const struct task_view *v, struct cvl_out *o);
void task_view_json(const struct task_view *v, struct cvl_out *o);
/** As `coeval task freq` reads it: the mean of each task, or with v->each every run. */
void task_view_csv(const struct task_view *v, struct cvl_out *o);

#endif
