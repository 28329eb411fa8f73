/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "import/input.h"

static struct cvl_input *memory(const void *bytes, size_t n)
{
	struct cvl_input *in;

	assert_int_equal(cvl_input_memory(&in, bytes, n, "mem.txt", NULL), 0);
	return in;
}

static void lines_lose_their_ends(void **state)
{
	static const char text[] = "one\ntwo\r\n\nfour";
	static const struct {
		const char *line;
		uint64_t offset;
		bool ended;
	} want[] = {
		{ "one", 0, true }, { "two", 4, true }, { "", 9, true }, { "four", 10, false }
	};
	struct cvl_input *in = memory(text, strlen(text));
	char *line;
	size_t len;
	uint64_t offset;
	bool ended;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(cvl_input_line(in, &line, &len, &offset, &ended, NULL), 1);
		assert_string_equal(line, want[i].line);
		assert_int_equal(len, strlen(want[i].line));
		assert_int_equal(offset, want[i].offset);
		assert_int_equal(ended, want[i].ended);
	}
	assert_int_equal(cvl_input_line(in, &line, &len, &offset, &ended, NULL), 0);
	assert_int_equal(cvl_input_offset(in), strlen(text));
	cvl_input_close(in);
}

static void a_nul_byte_is_a_syntax_error_where_it_stands(void **state)
{
	struct cvl_input *in = memory("a\nb\0c\n", 6);
	struct cvl_error err;
	char *line;
	size_t len;
	uint64_t offset;
	bool ended;

	(void)state;
	assert_int_equal(cvl_input_line(in, &line, &len, &offset, &ended, &err), 1);
	assert_int_equal(cvl_input_line(in, &line, &len, &offset, &ended, &err), CVL_E_SYNTAX);
	assert_int_equal(err.offset, 3);
	assert_non_null(strstr(err.text, "mem.txt"));
	cvl_input_close(in);
}

static void a_line_longer_than_the_window_is_refused(void **state)
{
	const size_t n = CVL_INPUT_WINDOW + 10;
	char *text = malloc(n);
	struct cvl_input *in;
	struct cvl_error err;
	char *line;
	size_t len;
	uint64_t offset;
	bool ended;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', n);
	text[1] = '\n';
	in = memory(text, n);
	assert_int_equal(cvl_input_line(in, &line, &len, &offset, &ended, &err), 1);
	assert_int_equal(cvl_input_line(in, &line, &len, &offset, &ended, &err), CVL_E_LIMIT);
	assert_int_equal(err.offset, 2);
	cvl_input_close(in);
	/* With its end, the longest line just fits. */
	in = memory(text + 2, CVL_INPUT_WINDOW);
	text[2 + CVL_INPUT_WINDOW - 1] = '\n';
	assert_int_equal(cvl_input_line(in, &line, &len, &offset, &ended, &err), 1);
	assert_int_equal(len, CVL_INPUT_WINDOW - 1);
	cvl_input_close(in);
	free(text);
}

static void peeking_consumes_nothing(void **state)
{
	struct cvl_input *in = memory("abcdef", 6);
	const unsigned char *p;

	(void)state;
	assert_int_equal(cvl_input_peek(in, 3, &p, NULL), 6);
	assert_memory_equal(p, "abcdef", 6);
	assert_int_equal(cvl_input_offset(in), 0);
	cvl_input_skip(in, 2);
	assert_int_equal(cvl_input_offset(in), 2);
	assert_int_equal(cvl_input_peek(in, 100, &p, NULL), 4);
	assert_memory_equal(p, "cdef", 4);
	cvl_input_skip(in, 4);
	assert_int_equal(cvl_input_peek(in, 1, &p, NULL), 0);
	assert_int_equal(cvl_input_size(in), 6);
	cvl_input_close(in);
}

/* A pipe that gives a few bytes at a time, several windows in all. */
static void a_pipe_is_read_to_its_end(void **state)
{
	const size_t total = 3 * CVL_INPUT_WINDOW + 12345;
	const unsigned char *p;
	struct cvl_input *in;
	char path[] = "/tmp/coeval-test-XXXXXX", fifo[64];
	size_t seen = 0;
	ssize_t n;
	pid_t pid;
	int status;

	(void)state;
	assert_non_null(mkdtemp(path));
	snprintf(fifo, sizeof(fifo), "%s/fifo", path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		FILE *f = fopen(fifo, "w");

		for (size_t i = 0; f && i < total; i++) {
			fputc((int)(i * 7 % 251), f);
			if (i % 70001 == 0)
				fflush(f);
		}
		_exit(f && !fclose(f) ? 0 : 1);
	}
	assert_int_equal(cvl_input_open(&in, fifo, NULL), 0);
	assert_int_equal(cvl_input_size(in), 0);
	while ((n = cvl_input_peek(in, 1 + seen % 100000, &p, NULL)) > 0) {
		size_t take = (size_t)n > 33333 ? 33333 : (size_t)n;

		assert_int_equal(cvl_input_offset(in), seen);
		for (size_t i = 0; i < take; i++)
			if (p[i] != (seen + i) * 7 % 251)
				fail_msg("byte %zu is wrong", seen + i);
		cvl_input_skip(in, take);
		seen += take;
	}
	assert_int_equal(n, 0);
	assert_int_equal(seen, total);
	cvl_input_close(in);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	unlink(fifo);
	rmdir(path);
}

static void what_cannot_be_read_is_named(void **state)
{
	const unsigned char *p;
	struct cvl_error err;
	struct cvl_input *in;

	(void)state;
	assert_int_equal(cvl_input_open(&in, "/nonexistent/file", &err), CVL_E_IO);
	assert_non_null(strstr(err.text, "/nonexistent/file"));
	assert_null(in);
	assert_int_equal(cvl_input_open(&in, "/", &err), 0);
	assert_int_equal(cvl_input_peek(in, 1, &p, &err), CVL_E_IO);
	assert_int_equal(err.offset, 0);
	cvl_input_close(in);
}

static void clocks_are_called_after_files(void **state)
{
	static const struct {
		const char *file, *node, *clock;
	} cases[] = {
		{ "/a/b.c/desk one.vcd", NULL, "desk_one" },
		{ "dump", NULL, "dump" },
		{ "a.b.sr", NULL, "a.b" },
		{ "/x/.hidden", NULL, "_hidden" },
		{ "/x/..", NULL, "_" },
		{ "x.sr", "node.7", "node.7" },
		{ "x.sr", "a/b", "a_b" },
		{ "", NULL, "clock" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct cvl_import_opts opts = { .node = cases[i].node };
		struct cvl_input *in;
		char name[32];

		assert_int_equal(cvl_input_memory(&in, "", 0, cases[i].file, NULL), 0);
		cvl_input_clock_name(in, &opts, name, sizeof(name));
		assert_string_equal(name, cases[i].clock);
		cvl_input_close(in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_lose_their_ends),
		cmocka_unit_test(a_nul_byte_is_a_syntax_error_where_it_stands),
		cmocka_unit_test(a_line_longer_than_the_window_is_refused),
		cmocka_unit_test(peeking_consumes_nothing),
		cmocka_unit_test(a_pipe_is_read_to_its_end),
		cmocka_unit_test(what_cannot_be_read_is_named),
		cmocka_unit_test(clocks_are_called_after_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
