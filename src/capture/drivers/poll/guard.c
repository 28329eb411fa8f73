/* SPDX-License-Identifier: MIT */
#include "capture/drivers/poll/guard.h"

#include <setjmp.h>
#include <signal.h>

/* Of this thread: where it continues when its memory is gone. */
static _Thread_local sigjmp_buf *way_out;

static void gone(int number)
{
	if (way_out)
		siglongjmp(*way_out, 1);
	/* not ours: it recurs as soon as this returns */
	signal(number, SIG_DFL);
}

bool poll_guard_run(struct poll_loop *l)
{
	struct sigaction act = { .sa_handler = gone }, before;
	sigjmp_buf here;
	bool whole;

	sigemptyset(&act.sa_mask);
	sigaction(SIGBUS, &act, &before);
	whole = !sigsetjmp(here, 1);
	if (whole) {
		way_out = &here;
		poll_loop_run(l);
	}
	way_out = NULL;
	sigaction(SIGBUS, &before, NULL);
	return whole;
}
