/* SPDX-License-Identifier: MIT */
/* Importing from a path, memory and a descriptor, and the same file twice. */
#include "test_import.h"

#include <fcntl.h>

static const char text[] = "Time [s],a\n0.0,0\n0.5,1\n";
static const char other[] = "Time [s],a\n0.0,0\n0.6,1\n";

static size_t told;

static void tell(void *ctx, const struct cvl_error *problem)
{
	(void)ctx;
	assert_int_equal(problem->code, CVL_E_MISMATCH);
	assert_non_null(strstr(problem->text, "in the session already: clock x,"));
	told++;
}

static const struct cvl_report report = { tell, NULL };
static const struct cvl_import_opts opts = { .report = &report };

static struct cvl_session *open_session(char dir[32])
{
	struct cvl_session *s;

	told = 0;
	strcpy(dir, "/tmp/coeval-test-XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(cvl_session_create(&s, dir, NULL), 0);
	return s;
}

static void close_session(struct cvl_session *s, const char *dir)
{
	cvl_session_close(s);
	nftw(dir, imported_unlink, 8, FTW_DEPTH | FTW_PHYS);
}

static void the_format_is_found_and_the_same_data_are_told(void **state)
{
	struct cvl_session *s;
	struct cvl_error err;
	int ends[2];
	char dir[32];

	(void)state;
	s = open_session(dir);
	assert_int_equal(cvl_import_memory(s, "d/x.csv", text, sizeof(text) - 1, NULL, &opts, &err),
			 0);
	assert_int_equal(told, 0);
	assert_string_equal(cvl_session_clock(s, 0)->name, "x");
	assert_string_equal(cvl_session_clock(s, 0)->format, "csv");
	assert_string_equal(cvl_session_clock(s, 0)->origin, "d/x.csv");
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text, sizeof(text) - 1), sizeof(text) - 1);
	close(ends[1]);
	assert_int_equal(cvl_import_fd(s, "y", ends[0], "csv", &opts, &err), 0);
	assert_int_equal(fcntl(ends[0], F_GETFD) >= 0, 1); /* still open */
	close(ends[0]);
	assert_int_equal(told, 1);
	assert_int_equal(cvl_import_memory(s, "z", other, sizeof(other) - 1, NULL, &opts, &err), 0);
	assert_int_equal(told, 1);
	assert_int_equal(cvl_session_clocks(s), 3);
	cvl_session_close(s);
	/* it is kept */
	assert_int_equal(cvl_session_create(&s, dir, &err), 0);
	assert_int_equal(cvl_import_memory(s, "w", text, sizeof(text) - 1, NULL, &opts, &err), 0);
	assert_int_equal(told, 2);
	close_session(s, dir);
}

static void what_a_descriptor_was_read_of_before_is_left_out(void **state)
{
	struct cvl_session *s;
	struct cvl_error err;
	char dir[32];
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(f);
	fprintf(f, "a line of something else\n%s", text);
	fflush(f);
	assert_int_equal(lseek(fileno(f), 25, SEEK_SET), 25);
	s = open_session(dir);
	assert_int_equal(cvl_import_fd(s, "x.csv", fileno(f), NULL, &opts, &err), 0);
	assert_int_equal(cvl_import_memory(s, "y.csv", text, sizeof(text) - 1, NULL, &opts, &err),
			 0);
	assert_int_equal(told, 1);
	fclose(f);
	close_session(s, dir);
}

static void what_cannot_be_read_is_refused_as_from_a_path(void **state)
{
	struct cvl_session *s;
	struct cvl_error err;
	char dir[32];

	(void)state;
	s = open_session(dir);
	assert_int_equal(cvl_import_memory(s, "x", "", 0, NULL, &opts, &err), CVL_E_TRUNCATED);
	assert_int_equal(cvl_import_memory(s, "x", "?", 1, NULL, &opts, &err), CVL_E_MAGIC);
	assert_int_equal(cvl_import_memory(s, "x", "?", 1, "no", &opts, &err), CVL_E_USAGE);
	assert_int_equal(cvl_import_fd(s, "x", -1, NULL, &opts, &err), CVL_E_IO);
	close_session(s, dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_format_is_found_and_the_same_data_are_told),
		cmocka_unit_test(what_a_descriptor_was_read_of_before_is_left_out),
		cmocka_unit_test(what_cannot_be_read_is_refused_as_from_a_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
