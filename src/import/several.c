/* SPDX-License-Identifier: MIT */
/*
 * Several files at a time: each goes into a session of its own, which is taken in when those before
 * it are in. What cannot be done so is imported again in its turn, as if it were alone: a file that
 * fails, has many problems, has a clock of a name that is taken.
 */
#include <coeval/format.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <coeval/files.h>
#include "core/jobs.h"
#include "store/beside.h"

/* Problems of a file that are kept until its turn. */
#define PROBLEMS_MAX 32
#define TELL_NS 50000000

struct several {
	struct cvl_session *s;
	const struct cvl_import_opts *opts;
	const char *format;
	struct file *file;
	size_t n;
	struct file *now; /* imported by the caller's thread */
	uint64_t bytes;   /* of all; 0: unknown */
	atomic_bool ending;
	pthread_mutex_t lock;
	pthread_cond_t one_done;
};

struct file {
	struct several *all;
	const char *path;
	struct cvl_session *beside;
	struct cvl_error *problem;
	size_t n_problems;
	uint64_t bytes;
	atomic_uint_least64_t done_bytes;
	bool again;      /* can be read twice */
	bool good, done; /* imported beside, or not; guarded by the lock */
};

/* ---- beside ---- */

static void keep_problem(void *ctx, const struct cvl_error *problem)
{
	struct file *f = ctx;

	if (!f->problem)
		f->problem = calloc(PROBLEMS_MAX, sizeof(*f->problem));
	if (f->problem && f->n_problems < PROBLEMS_MAX)
		f->problem[f->n_problems] = *problem;
	f->n_problems++;
}

/* A second pass over the file is not shown. */
static void note_bytes(struct file *f, uint64_t done, uint64_t total)
{
	const double share = total && f->bytes ? (double)done / (double)total : 1;
	const uint64_t bytes = total && f->bytes ? (uint64_t)(share * (double)f->bytes) : done;

	if (bytes > f->done_bytes)
		f->done_bytes = bytes;
}

static bool note_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct file *f = ctx;

	note_bytes(f, done, total);
	return !f->all->ending && f->n_problems <= PROBLEMS_MAX;
}

static void import_beside(void *ctx, size_t i)
{
	struct several *all = ctx;
	struct file *f = &all->file[i];
	const struct cvl_report report = { keep_problem, f };
	struct cvl_import_opts opts = *all->opts;
	bool good;

	opts.report = &report;
	opts.progress = (struct cvl_progress){ note_progress, f };
	good = f->again && !all->ending && !session_open_beside(&f->beside, all->s, i, NULL) &&
	       !cvl_import(f->beside, f->path, all->format, &opts, NULL) &&
	       (!f->n_problems || f->problem) && f->n_problems <= PROBLEMS_MAX;
	pthread_mutex_lock(&all->lock);
	f->good = good;
	f->done = true;
	pthread_cond_signal(&all->one_done);
	pthread_mutex_unlock(&all->lock);
}

/* ---- in turn ---- */

static int tell(struct several *all, struct cvl_error *err)
{
	uint64_t done = 0;

	for (size_t i = 0; i < all->n; i++)
		done += all->file[i].done_bytes;
	return cvl_progress_tell(&all->opts->progress, done, all->bytes, err);
}

static bool tell_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct several *all = ctx;

	note_bytes(all->now, done, total);
	return !tell(all, NULL);
}

static int wait_for(struct several *all, const struct file *f, struct cvl_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&all->lock);
	while (!f->done && !rc) {
		struct timespec at;

		clock_gettime(CLOCK_REALTIME, &at);
		at.tv_nsec += TELL_NS;
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&all->one_done, &all->lock, &at);
		rc = tell(all, err);
	}
	pthread_mutex_unlock(&all->lock);
	return rc;
}

static void forget(struct file *f)
{
	session_close_beside(f->beside);
	free(f->problem);
	f->beside = NULL;
	f->problem = NULL;
}

static int take_in(struct several *all, struct file *f, struct cvl_error *err)
{
	struct cvl_import_opts opts = *all->opts;
	bool in;

	in = f->good && !session_take_in(all->s, f->beside, NULL);
	for (size_t i = 0; i < f->n_problems && in; i++)
		cvl_tell(opts.report, &f->problem[i]);
	forget(f);
	if (in)
		return 0;
	all->now = f;
	opts.progress = (struct cvl_progress){ tell_progress, all };
	return cvl_import(all->s, f->path, all->format, &opts, err);
}

/* @jobs: NULL: none but the caller's thread, which imports nothing beside. */
static int import_all(struct several *all, struct jobs *jobs, struct cvl_error *err)
{
	int rc = 0;

	if (jobs)
		jobs_begin(jobs, all->n, import_beside, all);
	for (size_t i = 0; i < all->n && !rc; i++) {
		rc = jobs ? wait_for(all, &all->file[i], err) : 0;
		rc = rc ? rc : take_in(all, &all->file[i], err);
	}
	all->ending = true;
	if (jobs)
		jobs_finish(jobs);
	for (size_t i = 0; i < all->n; i++)
		forget(&all->file[i]);
	session_clean_beside(all->s, NULL, NULL, NULL);
	return rc;
}

/* Pipes can be read once. */
static void look(struct several *all, const char *const *paths)
{
	bool known = true;

	for (size_t i = 0; i < all->n; i++) {
		struct file *f = &all->file[i];
		struct stat st;
		bool is = strcmp(paths[i], "-") && !stat(paths[i], &st);

		f->all = all;
		f->path = paths[i];
		f->again = is && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
		f->bytes = is && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
		known = known && f->bytes;
		all->bytes += f->bytes;
	}
	all->bytes = known ? all->bytes : 0;
}

int cvl_import_all(struct cvl_session *s, const char *const *paths, size_t n, const char *format,
		   const struct cvl_import_opts *opts, struct cvl_error *err)
{
	struct several all = { .s = s, .opts = opts, .format = format, .n = n };
	unsigned threads = opts->jobs ? opts->jobs : jobs_processors();
	struct jobs *jobs = NULL;
	int rc = session_clean_beside(s, NULL, NULL, err);

	if (rc)
		return rc;
	if (threads > n)
		threads = (unsigned)n;
	all.file = calloc(n + 1, sizeof(*all.file));
	if (threads > 1)
		jobs = jobs_open(threads + 1);
	if (!all.file || (threads > 1 && !jobs)) {
		free(all.file);
		jobs_close(jobs);
		return cvl_no_memory(err);
	}
	look(&all, paths);
	pthread_mutex_init(&all.lock, NULL);
	pthread_cond_init(&all.one_done, NULL);
	rc = import_all(&all, jobs && jobs_threads(jobs) > 1 ? jobs : NULL, err);
	pthread_cond_destroy(&all.one_done);
	pthread_mutex_destroy(&all.lock);
	jobs_close(jobs);
	free(all.file);
	return rc;
}
