/* SPDX-License-Identifier: MIT */
/* A critical path is the same, however little the first pass could keep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <coeval/analysis.h>
#include <coeval/calls.h>
#include <coeval/session.h>
#include <coeval/timeline.h>

struct opened {
	struct cvl_session *session;
	struct cvl_timeline *tl;
	struct cvl_analysis *a;
};

static const struct cvl_calls_result *path(struct opened *o, size_t kept)
{
	const struct cvl_calls_opts calls = { .kept = kept, .path = "process_image" };
	const struct cvl_timeline_opts opts = { 0 };
	struct cvl_error err;
	int rc = cvl_session_open(&o->session, COEVAL_SOURCE_DIR "/examples/calls/sobel", NULL,
				  &err);

	rc = rc ? rc : cvl_timeline_open(&o->tl, o->session, &opts, &err);
	rc = rc ? rc : cvl_calls_open(&o->a, o->tl, &calls, &err);
	rc = rc ? rc : cvl_analyse(o->tl, &o->a, 1, &err);
	if (rc)
		fail_msg("%s", err.text);
	return cvl_calls_result(o->a);
}

static void shut(struct opened *o)
{
	cvl_analysis_free(o->a);
	cvl_timeline_close(o->tl);
	cvl_session_close(o->session);
}

static void what_was_not_kept_is_read_again(void **state)
{
	struct opened all, few;
	const struct cvl_calls_result *a = path(&all, 0), *b = path(&few, 8);

	(void)state;
	assert_int_equal(a->kept->spans.left_out, 0);
	assert_true(b->kept->spans.left_out > 0);
	assert_true(a->n_steps > 5);
	assert_int_equal(a->n_steps, b->n_steps);
	for (size_t i = 0; i < a->n_steps; i++) {
		assert_true(a->step[i].begin.ns == b->step[i].begin.ns);
		assert_true(a->step[i].end.ns == b->step[i].end.ns);
		assert_int_equal(a->step[i].thread, b->step[i].thread);
		assert_string_equal(a->step[i].text, b->step[i].text);
	}
	assert_true(cvl_calls_bound(few.a, b->step[0].begin) ==
		    cvl_calls_bound(all.a, a->step[0].begin));
	shut(&all);
	shut(&few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_not_kept_is_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
