/* SPDX-License-Identifier: MIT */
/* Names in what `coeval calls` prints and draws are only names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>

#include <coeval/session.h>

#include <coeval/files.h>
#include "test_scratch.h"

#define EVIL "</script><img src=x onerror=document.title='owned'><!--&"

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

static void make_session(const char *path)
{
	static const struct cvl_origin origin = { .format = "test", .path = "-" };
	const struct cvl_store_desc desc = { .clock = "n1", .node = "n1", .rate_hz = 1000000 };
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_error err;

	ok(cvl_session_create(&s, path, &err), &err);
	ok(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	ok(cvl_writer_span(w, (struct cvl_tick){ 10 }, true, 1, EVIL, &err), &err);
	ok(cvl_writer_span(w, (struct cvl_tick){ 20 }, true, 2, "line\nbreak\x1b[2J", &err), &err);
	ok(cvl_writer_gap(w, (struct cvl_tick){ 30 }, (struct cvl_tick){ 40 }, 7, CVL_GAP_OVERFLOW,
			  &err),
	   &err);
	ok(cvl_writer_span(w, (struct cvl_tick){ 50 }, false, 2, "line\nbreak\x1b[2J", &err), &err);
	ok(cvl_writer_span(w, (struct cvl_tick){ 60 }, false, 1, EVIL, &err), &err);
	ok(cvl_session_finish(s, w, (struct cvl_tick){ 60 }, &err), &err);
	cvl_session_close(s);
}

static char text[300], graph[300];

static int make_texts(void **state)
{
	char session[300], command[1500];

	if (make_scratch(state))
		return -1;
	snprintf(session, sizeof(session), "%s/s", scratch);
	snprintf(text, sizeof(text), "%s/text", scratch);
	snprintf(graph, sizeof(graph), "%s/graph.svg", scratch);
	make_session(session);
	snprintf(command, sizeof(command), "%s calls %s --svg %s >%s", COEVAL_BINARY, session,
		 graph, text);
	return system(command) ? -1 : 0;
}

static char *read_all(const char *path)
{
	struct cvl_error err;
	size_t n;
	char *all = cvl_read_whole(path, 1 << 24, &n, &err);

	if (!all)
		fail_msg("%s", err.text);
	return all;
}

static void names_are_never_markup(void **state)
{
	char *all = read_all(graph);

	(void)state;
	assert_null(strstr(all, "<img"));
	free(all);
}

static void text_moves_no_cursor(void **state)
{
	char *all = read_all(text);

	(void)state;
	assert_null(strchr(all, '\x1b'));
	assert_non_null(strstr(all, "line\\nbreak\\e[2J"));
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_never_markup),
		cmocka_unit_test(text_moves_no_cursor),
	};

	return cmocka_run_group_tests(tests, make_texts, remove_scratch);
}
