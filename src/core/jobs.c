/* SPDX-License-Identifier: MIT */
#include "core/jobs.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define THREADS_MAX 64
/* To sleep and be woken takes longer than most work that comes next. */
#define SPINS 20000

struct jobs {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	pthread_t thread[THREADS_MAX];
	unsigned n_threads; /* besides the caller's */
	bool closing;
	/* the batch */
	void (*task)(void *ctx, size_t i);
	void *ctx;
	size_t n, next;
	atomic_size_t finished;
	atomic_uint begun; /* batches */
};

unsigned jobs_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

/* Do tasks while there are any. The lock is held before and after. */
static void take_tasks(struct jobs *j)
{
	while (j->next < j->n) {
		const size_t i = j->next++;

		pthread_mutex_unlock(&j->lock);
		j->task(j->ctx, i);
		pthread_mutex_lock(&j->lock);
		if (++j->finished == j->n)
			pthread_cond_signal(&j->done);
	}
}

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static void *wait_for_work(void *jobs)
{
	struct jobs *j = jobs;
	unsigned seen = 0;

	pthread_mutex_lock(&j->lock);
	while (!j->closing) {
		seen = j->begun;
		take_tasks(j);
		pthread_mutex_unlock(&j->lock);
		for (unsigned i = 0; i < SPINS && j->begun == seen; i++)
			relax();
		pthread_mutex_lock(&j->lock);
		while (!j->closing && j->begun == seen)
			pthread_cond_wait(&j->work, &j->lock);
	}
	pthread_mutex_unlock(&j->lock);
	return NULL;
}

struct jobs *jobs_open(unsigned threads)
{
	struct jobs *j = calloc(1, sizeof(*j));
	sigset_t all, before;

	if (!j)
		return NULL;
	pthread_mutex_init(&j->lock, NULL);
	pthread_cond_init(&j->work, NULL);
	pthread_cond_init(&j->done, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (j->n_threads + 1 < threads && j->n_threads < THREADS_MAX &&
	       !pthread_create(&j->thread[j->n_threads], NULL, wait_for_work, j))
		j->n_threads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return j;
}

void jobs_close(struct jobs *j)
{
	if (!j)
		return;
	pthread_mutex_lock(&j->lock);
	j->closing = true;
	j->begun++;
	pthread_cond_broadcast(&j->work);
	pthread_mutex_unlock(&j->lock);
	for (unsigned i = 0; i < j->n_threads; i++)
		pthread_join(j->thread[i], NULL);
	pthread_cond_destroy(&j->work);
	pthread_cond_destroy(&j->done);
	pthread_mutex_destroy(&j->lock);
	free(j);
}

unsigned jobs_threads(const struct jobs *j)
{
	return j->n_threads + 1;
}

void jobs_begin(struct jobs *j, size_t n, void (*task)(void *ctx, size_t i), void *ctx)
{
	pthread_mutex_lock(&j->lock);
	j->task = task;
	j->ctx = ctx;
	j->next = 0;
	j->finished = 0;
	j->n = n;
	j->begun++;
	pthread_cond_broadcast(&j->work);
	pthread_mutex_unlock(&j->lock);
}

void jobs_finish(struct jobs *j)
{
	pthread_mutex_lock(&j->lock);
	take_tasks(j);
	pthread_mutex_unlock(&j->lock);
	for (unsigned i = 0; i < SPINS && j->finished < j->n; i++)
		relax();
	pthread_mutex_lock(&j->lock);
	while (j->finished < j->n)
		pthread_cond_wait(&j->done, &j->lock);
	j->n = j->next = 0;
	pthread_mutex_unlock(&j->lock);
}
