/* SPDX-License-Identifier: MIT */
/* The page of `coeval calls --html`: names are data in it, and it comes to life in a browser. */
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

static char page[300], text[300], graph[300];

static int make_page(void **state)
{
	char session[300], command[1500];

	if (make_scratch(state))
		return -1;
	snprintf(session, sizeof(session), "%s/s", scratch);
	snprintf(page, sizeof(page), "%s/page.html", scratch);
	snprintf(text, sizeof(text), "%s/text", scratch);
	snprintf(graph, sizeof(graph), "%s/graph.svg", scratch);
	make_session(session);
	snprintf(command, sizeof(command), "%s calls %s --html %s --svg %s >%s", COEVAL_BINARY,
		 session, page, graph, text);
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
	char *all = read_all(page), *at;
	unsigned scripts = 0;

	(void)state;
	assert_null(strstr(all, "<img"));
	for (at = all; (at = strstr(at, "</script>")) != NULL; at++)
		scripts++;
	assert_int_equal(scripts, 2);
	assert_non_null(strstr(all, "\\u003c/script\\u003e\\u003cimg src=x"));
	free(all);
	all = read_all(graph);
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

/* As a hand would: search, go to the hit, zoom, back to all of it. */
static void use_it(void)
{
	static const char script[] =
		"<script>const $ = id => document.getElementById(id); $('search').value = 'break'; $('search').oninput();"
		"$('next').onclick(); $('canvas').dispatchEvent(new WheelEvent('wheel', { deltaY: -300, cancelable: true }));"
		"$('in').onclick(); $('all').onclick();</script>\n";
	FILE *f = fopen(page, "a");

	assert_non_null(f);
	fputs(script, f);
	fclose(f);
}

static void a_browser_shows_it(void **state)
{
	char command[2000], dom[300], *all;

	(void)state;
	if (system("command -v chromium >/dev/null 2>&1")) {
		printf("SKIP: chromium is not installed\n");
		skip();
	}
	snprintf(dom, sizeof(dom), "%s/dom", scratch);
	use_it();
	snprintf(
		command, sizeof(command),
		"HOME=%s timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir=%s/profile --dump-dom file://%s >%s 2>/dev/null",
		scratch, scratch, page, dom);
	if (system(command)) {
		printf("SKIP: chromium does not run here\n");
		skip();
	}
	all = read_all(dom);
	assert_non_null(strstr(all, "2 spans, 0 messages, 1 gap, 50.00 us"));
	assert_non_null(strstr(all, "<title>calls: "));
	assert_null(strstr(all, "owned</title>"));
	assert_non_null(strstr(all, "1 of 1 hit"));
	assert_non_null(strstr(all, "itself 20.00 us, hidden by losses 10.00 us"));
	assert_non_null(strstr(all, "records were lost within it"));
	assert_null(strstr(all, "<img"));
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_never_markup),
		cmocka_unit_test(text_moves_no_cursor),
		cmocka_unit_test(a_browser_shows_it),
	};

	return cmocka_run_group_tests(tests, make_page, remove_scratch);
}
