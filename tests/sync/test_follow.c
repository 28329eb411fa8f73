/* SPDX-License-Identifier: MIT */
/* `coeval sync --follow` on a session that another process writes at the same time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <coeval/session.h>

#include "core/random.h"

#define CLOCKS 3
#define RATE 8000000
#define SECONDS 150
#define BREAK 60        /* in which second nobody hears anything for some time */
#define SECOND_US 25000 /* how long a second of the world takes */

static char dir[256], session[300];

static int make_dir(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(dir, sizeof(dir), "%s/coeval-follow-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return -1;
	snprintf(session, sizeof(session), "%s/s", dir);
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static int remove_dir(void **state)
{
	(void)state;
	return nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void must(int rc, const struct cvl_error *err)
{
	if (rc) {
		fprintf(stderr, "%s\n", err->text);
		_exit(1);
	}
}

static struct cvl_tick tick_at(size_t clock, double s)
{
	static const double off[CLOCKS] = { 30e-6, -45e-6, 110e-6 };

	return (struct cvl_tick){ (uint64_t)(s * (1 + off[clock]) * RATE) };
}

/* What one clock records in second @k: a beacon, and ten edges. */
static void write_second(struct cvl_writer *w, size_t clock, int k, struct sim_random *r)
{
	struct cvl_error err;
	bool deaf = k >= BREAK && k < BREAK + 8 + 4 * (int)clock;

	if (!deaf)
		must(cvl_writer_beacon(w, tick_at(clock, k + 300e-9 * fabs(sim_normal(r))), 1,
				       (uint64_t)(100 + k), &err),
		     &err);
	for (int i = 1; i <= 10; i++) {
		struct cvl_tick t = tick_at(clock, k + i / 11.0 + 1e-3 * (double)clock);
		uint64_t level = (uint64_t)i & 1;

		must(cvl_writer_edges(w, &t, &level, 1, &err), &err);
	}
	must(cvl_writer_flush(w, &err), &err);
}

/* In a process of its own: writing as a capture would, in haste. */
static void capture(int ready)
{
	const char *const lines[] = { "D0" };
	struct cvl_writer *w[CLOCKS];
	struct sim_random r = { 5 };
	struct cvl_session *s;
	struct cvl_error err;

	must(cvl_session_create(&s, session, &err), &err);
	for (size_t c = 0; c < CLOCKS; c++) {
		char name[8];
		const struct cvl_store_desc desc = {
			.clock = name, .rate_hz = RATE, .lines = lines, .n_lines = 1
		};
		const struct cvl_origin origin = { "test", "-", NULL };

		snprintf(name, sizeof(name), "n%zu", c);
		must(cvl_session_add(s, &desc, &origin, &w[c], &err), &err);
		write_second(w[c], c, 0, &r);
	}
	if (write(ready, "!", 1) != 1)
		_exit(1);
	for (int k = 1; k < SECONDS; k++) {
		for (size_t c = 0; c < CLOCKS; c++)
			write_second(w[c], c, k, &r);
		usleep(SECOND_US);
	}
	for (size_t c = 0; c < CLOCKS; c++)
		must(cvl_session_finish(s, w[c], tick_at(c, SECONDS), &err), &err);
	cvl_session_close(s);
	_exit(0);
}

/* @writer: must still be at work when the first line comes; 0: nobody is. */
static char *output_of(const char *command, pid_t writer, size_t *lines)
{
	size_t n = 0, capacity = 1 << 22;
	char *text = malloc(capacity);
	FILE *f = popen(command, "r");

	assert_non_null(f);
	assert_non_null(text);
	if (writer) {
		assert_non_null(fgets(text, 1000, f));
		n = strlen(text);
		assert_int_equal(waitpid(writer, NULL, WNOHANG), 0);
	}
	while (n + 1 < capacity) {
		size_t got = fread(text + n, 1, capacity - 1 - n, f);

		if (!got)
			break;
		n += got;
	}
	text[n] = '\0';
	assert_int_equal(pclose(f), 0);
	*lines = 0;
	for (const char *p = text; *p; p++)
		*lines += *p == '\n';
	return text;
}

static void what_is_followed_is_what_is_there_in_the_end(void **state)
{
	char follow[700], show[700], mark, *seen, *whole;
	size_t lines, all;
	int ready[2], status;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		capture(ready[1]);
	assert_int_equal(read(ready[0], &mark, 1), 1);
	snprintf(follow, sizeof(follow), "%s sync --follow %s", COEVAL_BINARY, session);
	seen = output_of(follow, child, &lines);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	snprintf(show, sizeof(show), "%s show --bounds %s", COEVAL_BINARY, session);
	whole = output_of(show, 0, &all);
	assert_int_equal(all, lines);
	assert_true(lines >= CLOCKS * (size_t)(SECONDS - 20) * 10);
	/* nothing that was printed was taken back: the end knows the same times */
	if (strcmp(seen, whole)) {
		size_t i = 0, line = 1;

		for (; seen[i] && seen[i] == whole[i]; i++)
			line += seen[i] == '\n';
		fail_msg("line %zu differs:\n%.100s\n%.100s", line, seen + i, whole + i);
	}
	free(seen);
	free(whole);
}

static void what_does_not_grow_is_shown_at_once(void **state)
{
	char command[700], *text;
	size_t lines;

	(void)state;
	snprintf(command, sizeof(command), "%s sync --follow --json %s", COEVAL_BINARY, session);
	text = output_of(command, 0, &lines);
	assert_true(lines > 1000);
	assert_int_equal(text[0], '{');
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_followed_is_what_is_there_in_the_end),
		cmocka_unit_test(what_does_not_grow_is_shown_at_once),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
