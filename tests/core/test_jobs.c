/* SPDX-License-Identifier: MIT */
#include "core/jobs.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>

#include "tier.h"

#define TASKS 100

struct batch {
	atomic_int done[TASKS];
	uint64_t plain[TASKS]; /* not atomic: jobs_finish() makes it visible */
	atomic_int unblocked;
	pthread_t caller;
};

static void task(void *ctx, size_t i)
{
	struct batch *b = ctx;
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	if (!pthread_equal(pthread_self(), b->caller) && !sigismember(&blocked, SIGINT))
		b->unblocked++;
	b->done[i]++;
	b->plain[i] = 1 + i * i;
}

static void each_task_is_done_once(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads < 6; threads++) {
		struct jobs *j = jobs_open(threads);

		assert_non_null(j);
		assert_int_equal(jobs_threads(j), threads);
		for (unsigned round = 0; round < tier(300, 3000, 30000); round++) {
			struct batch b = { .caller = pthread_self() };
			const size_t n = round % (TASKS + 1);

			jobs_begin(j, n, task, &b);
			jobs_finish(j);
			assert_int_equal(b.unblocked, 0);
			for (size_t i = 0; i < TASKS; i++) {
				assert_int_equal(b.done[i], i < n);
				assert_int_equal(b.plain[i], i < n ? 1 + i * i : 0);
			}
		}
		jobs_close(j);
	}
	assert_true(jobs_processors() >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_task_is_done_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
