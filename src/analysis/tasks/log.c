/* SPDX-License-Identifier: MIT */
/*
 * Facts kept in order until the runs are known: the latest in memory, earlier ones in a file.
 */
#include <stdlib.h>

#include "analysis/tasks/internal.h"

#define KEPT 65536

static int spill(struct task_study *s)
{
	struct task_log *log = &s->log;

	if (!log->spill)
		log->spill = tmpfile();
	if (!log->spill)
		return cvl_fail_errno(s->err, "create", "a temporary file");
	if (fwrite(log->fact, sizeof(*log->fact), log->n, log->spill) != log->n)
		return cvl_fail_errno(s->err, "write", "a temporary file");
	log->n = 0;
	return 0;
}

struct task_fact *task_log_add(struct task_study *s, const struct cvl_slice *sl, size_t i,
			       enum task_fact_kind kind)
{
	const struct cvl_bound bound = cvl_timeline_bound_parts(s->tl, sl, i);
	struct task_log *log = &s->log;
	struct task_fact *fact;

	if (!log->fact && !(log->fact = calloc(KEPT, sizeof(*log->fact)))) {
		cvl_no_memory(s->err);
		return NULL;
	}
	if (log->n == KEPT && spill(s))
		return NULL;
	fact = &log->fact[log->n++];
	*fact = (struct task_fact){
		.time = sl->time[i].ns,
		.first = sl->time[i].ns,
		.place = s->stream[sl->stream].place,
		.tick = sl->batch->tick[i].count,
		.capture = bound.capture,
		.stream = (uint32_t)sl->stream,
		.clock = (uint32_t)sl->clock,
		.kind = (uint8_t)kind,
	};
	if (sl->batch->kind[i] == CVL_EVENT)
		fact->first = task_earliest(s, sl->stream, fact->time);
	return fact;
}

int task_log_each(struct task_study *s,
		  int (*fn)(struct task_study *s, const struct task_fact *fact))
{
	struct task_log *log = &s->log;
	int rc = 0;

	if (log->spill && log->n)
		rc = spill(s);
	if (!rc && log->spill && (fflush(log->spill) || fseek(log->spill, 0, SEEK_SET)))
		rc = cvl_fail_errno(s->err, "write", "a temporary file");
	while (!rc) {
		if (log->spill)
			log->n = fread(log->fact, sizeof(*log->fact), KEPT, log->spill);
		for (size_t i = 0; i < log->n && !rc; i++)
			rc = fn(s, &log->fact[i]);
		if (!log->spill || !log->n)
			break;
	}
	if (!rc && log->spill && ferror(log->spill))
		rc = cvl_fail_errno(s->err, "read", "a temporary file");
	return rc;
}

void task_log_free(struct task_log *log)
{
	if (log->spill)
		fclose(log->spill);
	free(log->fact);
	*log = (struct task_log){ 0 };
}

struct cvl_bound task_fact_bound(const struct task_study *s, const struct task_fact *fact)
{
	struct cvl_bound b =
		cvl_timeline_clock_bound(s->tl, fact->clock, (struct cvl_tick){ fact->tick });

	b.capture = fact->capture;
	return b;
}
