/* SPDX-License-Identifier: MIT */
/* `coeval sync --follow` and `show --follow` on a session that another process writes at the same time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <pthread.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <coeval/analysis.h>
#include <coeval/follow.h>
#include <coeval/select.h>
#include <coeval/session.h>

#include "core/random.h"

#define CLOCKS 3
#define RATE 8000000
#define SECONDS 600
#define BREAK 240      /* the second from which no clock hears anything for some time */
#define SECOND_US 6000 /* how long a second of the world takes */

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

/* @writer: must still be running when the first line comes; 0: none. */
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
	char follow[700], show[700], mark, *seen, *whole, *shown;
	size_t lines, all;
	FILE *other;
	int ready[2], status;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		capture(ready[1]);
	assert_int_equal(read(ready[0], &mark, 1), 1);
	snprintf(show, sizeof(show), "%s show --follow --bounds %s >%s/shown", COEVAL_BINARY,
		 session, dir);
	other = popen(show, "r");
	assert_non_null(other);
	snprintf(follow, sizeof(follow), "%s sync --follow %s", COEVAL_BINARY, session);
	seen = output_of(follow, child, &lines);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	snprintf(show, sizeof(show), "%s show --bounds %s", COEVAL_BINARY, session);
	whole = output_of(show, 0, &all);
	/* nothing that was printed was taken back: the end knows the same times */
	if (strcmp(seen, whole)) {
		size_t i = 0, line = 1;

		for (; seen[i] && seen[i] == whole[i]; i++)
			line += seen[i] == '\n';
		fail_msg("line %zu differs:\n%.300s\n%.300s", line, seen + i, whole + i);
	}
	assert_int_equal(all, lines);
	assert_true(lines >= CLOCKS * (size_t)(SECONDS - 20) * 10);
	assert_int_equal(pclose(other), 0);
	snprintf(show, sizeof(show), "cat %s/shown", dir);
	shown = output_of(show, 0, &all);
	assert_true(!strcmp(shown, whole));
	free(shown);
	free(seen);
	free(whole);
}

/* ---- the library's own loop, with analyses in it ---- */

/* All that is in the records, in their order; and what a selector finds. */
struct digest {
	struct cvl_analysis analysis;
	struct cvl_timeline *tl;
	uint64_t hash, records;
	bool ended;
	struct cvl_selector sel, *list[1];
	struct cvl_selection *selection; /* or NULL */
};

static void want_all(struct cvl_analysis *a, size_t stream, struct cvl_pick *pick)
{
	const struct digest *d = (const struct digest *)a;

	if (d->selection)
		cvl_select_want(d->selection, stream, pick);
	else
		*pick = (struct cvl_pick){ .kinds = UINT32_MAX, .lines = UINT64_MAX };
}

static void mix(struct digest *d, uint64_t v)
{
	d->hash = (d->hash ^ v) * 0x9e3779b97f4a7c15u;
	d->hash ^= d->hash >> 29;
}

static int digest_push(struct cvl_analysis *a, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct digest *d = (struct digest *)a;
	struct cvl_match m;

	(void)err;
	for (size_t i = sl->begin; i < sl->end; i++) {
		if (d->selection && !(cvl_select_match(d->selection, sl, i, &m) && m.happened))
			continue;
		mix(d, sl->clock);
		mix(d, sl->batch->tick[i].count);
		mix(d, (uint64_t)sl->time[i].ns);
		mix(d, (uint64_t)cvl_timeline_bound(d->tl, sl, i));
		mix(d, sl->batch->kind[i]);
		mix(d, sl->batch->value[i]);
		d->records++;
	}
	return 0;
}

static int digest_end(struct cvl_analysis *a, struct cvl_time last, struct cvl_error *err)
{
	(void)last, (void)err;
	((struct digest *)a)->ended = true;
	return 0;
}

static void digest_free(struct cvl_analysis *a)
{
	struct digest *d = (struct digest *)a;

	cvl_select_close(d->selection);
	cvl_selector_free(&d->sel);
	d->selection = NULL;
}

static const struct cvl_analysis_kind digest_kind = { "digest", want_all, digest_push, digest_end,
						      digest_free };

static void digest_open(struct digest *d, struct cvl_timeline *tl, const char *selector)
{
	struct cvl_error err;

	*d = (struct digest){ .analysis = { &digest_kind }, .tl = tl };
	if (!selector)
		return;
	must(cvl_selector_parse(&d->sel, selector, strlen(selector), &err), &err);
	d->list[0] = &d->sel;
	must(cvl_select_open(&d->selection, d->list, 1, tl, NULL, &err), &err);
}

/* A session that is written second by second while it is followed. */
struct grown {
	char path[300];
	struct cvl_session *s;
	struct cvl_writer *w[CLOCKS];
	size_t n;
	int64_t early_ns; /* that the second clock claims to have begun */
	struct sim_random r;
};

static void add_one(struct grown *g)
{
	static const char *const lines[] = { "D0" };
	char name[8];
	const struct cvl_store_desc desc = {
		.clock = name,
		.rate_hz = RATE,
		.start_unix_ns = 1700000000000000000 - (g->n == 1 ? g->early_ns : 0),
		.lines = lines,
		.n_lines = 1,
	};
	const struct cvl_origin origin = { "test", "-", NULL };
	struct cvl_error err;

	snprintf(name, sizeof(name), "n%zu", g->n);
	must(cvl_session_add(g->s, &desc, &origin, &g->w[g->n], &err), &err);
	g->n++;
}

static void grown_begin(struct grown *g, const char *name, size_t clocks)
{
	struct cvl_error err;

	*g = (struct grown){ .r = { 7 } };
	snprintf(g->path, sizeof(g->path), "%s/%s", dir, name);
	must(cvl_session_create(&g->s, g->path, &err), &err);
	while (g->n < clocks)
		add_one(g);
}

static void grown_end(struct grown *g, int seconds)
{
	struct cvl_error err;

	for (size_t c = 0; c < g->n; c++)
		if (g->w[c])
			must(cvl_session_finish(g->s, g->w[c], tick_at(c, seconds), &err), &err);
	cvl_session_close(g->s);
}

static const char *const selectors[] = { NULL, "n1.D0:rise" };

static void push_all(struct cvl_follow *f, struct digest *d, size_t n)
{
	struct cvl_timeline *tl = cvl_follow_timeline(f);
	struct cvl_block block;
	struct cvl_slice slice;
	struct cvl_error err;
	int rc;

	for (size_t i = 0; i < n && !d[i].tl; i++)
		digest_open(&d[i], tl, selectors[i]);
	while ((rc = cvl_timeline_next(tl, &block, &err)) > 0)
		while (cvl_block_take(&block, &slice))
			for (size_t i = 0; i < n; i++)
				must(cvl_analysis_push(&d[i].analysis, &slice, &err), &err);
	must(rc, &err);
}

static void analyses_of_what_grows_find_what_they_find_in_the_end(void **state)
{
	const struct cvl_follow_opts opts = { .save = true };
	struct digest seen[2] = { 0 }, whole[2];
	struct cvl_analysis *list[] = { &whole[0].analysis, &whole[1].analysis };
	struct cvl_session *s;
	struct cvl_timeline *tl;
	struct cvl_follow *f;
	struct cvl_error err;
	struct grown g;
	int news, more = 0;

	(void)state;
	grown_begin(&g, "analyses", CLOCKS);
	must(cvl_follow_open(&f, g.path, &opts, &err), &err);
	for (int k = 0; k < 500; k++) {
		for (size_t c = 0; c < CLOCKS; c++)
			write_second(g.w[c], c, k, &g.r);
		news = cvl_follow_wait(f, 0, &err);
		assert_true(news == CVL_FOLLOW_MORE || news == CVL_FOLLOW_NOTHING);
		assert_true(cvl_follow_settled(f).ns <= cvl_follow_estimated(f).ns);
		if (news)
			push_all(f, seen, 2);
		more += news;
	}
	assert_true(more > 2 && seen[0].records > 1000 && seen[1].records > 200);
	grown_end(&g, 500);
	while ((news = cvl_follow_wait(f, -1, &err)) == CVL_FOLLOW_MORE)
		push_all(f, seen, 2);
	assert_int_equal(news, CVL_FOLLOW_ENDED);
	assert_int_equal(cvl_follow_settled(f).ns, INT64_MAX);

	must(cvl_session_open(&s, g.path, NULL, &err), &err);
	must(cvl_timeline_open(&tl, s, NULL, &err), &err);
	for (int i = 0; i < 2; i++)
		digest_open(&whole[i], tl, selectors[i]);
	must(cvl_analyse(tl, list, 2, &err), &err);
	for (int i = 0; i < 2; i++) {
		must(cvl_analysis_end(&seen[i].analysis, CVL_TIME_MAX, &err), &err);
		assert_int_equal(seen[i].records, whole[i].records);
		assert_int_equal(seen[i].hash, whole[i].hash);
		cvl_analysis_free(&seen[i].analysis);
		cvl_analysis_free(&whole[i].analysis);
	}
	cvl_timeline_close(tl);
	cvl_session_close(s);
	cvl_follow_close(f);
}

/* A clock that comes later: the timeline is another one, and continues where the first ended. */
static void clocks_may_be_added(void **state)
{
	const struct cvl_follow_opts opts = { .save = true };
	struct digest d = { 0 };
	struct cvl_follow *f;
	struct cvl_error err;
	struct grown g;
	uint64_t first = 0;
	int news, renewed = 0;

	(void)state;
	grown_begin(&g, "added", 2);
	must(cvl_follow_open(&f, g.path, &opts, &err), &err);
	for (int k = 0; k < 600; k++) {
		if (k == 450)
			add_one(&g);
		for (size_t c = 0; c < g.n; c++)
			write_second(g.w[c], c, k, &g.r);
		news = cvl_follow_wait(f, 0, &err);
		must(news < 0 ? news : 0, &err);
		if (news == CVL_FOLLOW_RENEWED) {
			renewed++;
			first = d.records;
			cvl_analysis_free(&d.analysis);
			d = (struct digest){ 0 };
		}
		if (news)
			push_all(f, &d, 1);
	}
	grown_end(&g, 600);
	while ((news = cvl_follow_wait(f, -1, &err)) == CVL_FOLLOW_MORE)
		push_all(f, &d, 1);
	assert_int_equal(news, CVL_FOLLOW_ENDED);
	assert_int_equal(renewed, 1);
	/*
	 * each second a beacon, ten edges and a packet's levels, but for its first; the second
	 * timeline begins with levels of two lines; 8 and 12 beacons were not heard
	 */
	assert_in_range(first + d.records, (2 * 600 + 150) * 12 - 23, (2 * 600 + 150) * 12 - 18);
	cvl_analysis_free(&d.analysis);
	cvl_follow_close(f);
}

static size_t edges_of_second(struct cvl_follow *f)
{
	struct cvl_block block;
	struct cvl_slice sl;
	struct cvl_error err;
	size_t n = 0;
	int rc;

	while ((rc = cvl_timeline_next(cvl_follow_timeline(f), &block, &err)) > 0)
		while (cvl_block_take(&block, &sl))
			for (size_t i = sl.begin; i < sl.end && sl.clock == 1; i++)
				n += sl.batch->kind[i] == CVL_EDGE &&
				     !(sl.batch->flags[i] & CVL_STATE);
	must(rc, &err);
	return n;
}

/*
 * One clock ends, and then another is added: what the first stored and was not shown yet is not
 * lost, although the times that it claims are far off.
 */
static void what_ended_is_shown_after_another_came(void **state)
{
	const struct cvl_follow_opts opts = { .sync.max_drift_ppm = 200 };
	struct grown g = { .r = { 7 }, .early_ns = 5000000000 };
	struct cvl_follow *f;
	struct cvl_error err;
	int news, renewed = 0;
	size_t n = 0;

	(void)state;
	snprintf(g.path, sizeof(g.path), "%s/ended", dir);
	must(cvl_session_create(&g.s, g.path, &err), &err);
	while (g.n < 2)
		add_one(&g);
	must(cvl_follow_open(&f, g.path, &opts, &err), &err);
	for (int k = 0; k < 600; k++) {
		if (k == 440) {
			must(cvl_session_finish(g.s, g.w[1], tick_at(1, 440), &err), &err);
			g.w[1] = NULL;
		}
		if (k == 450)
			add_one(&g);
		for (size_t c = 0; c < g.n; c++)
			if (g.w[c])
				write_second(g.w[c], c, k, &g.r);
		news = cvl_follow_wait(f, 0, &err);
		must(news < 0 ? news : 0, &err);
		renewed += news == CVL_FOLLOW_RENEWED;
		if (news)
			n += edges_of_second(f);
	}
	grown_end(&g, 600);
	while ((news = cvl_follow_wait(f, -1, &err)) != CVL_FOLLOW_ENDED) {
		must(news < 0 ? news : 0, &err);
		renewed += news == CVL_FOLLOW_RENEWED;
		n += edges_of_second(f);
	}
	assert_true(renewed > 0);
	assert_in_range(n, 440 * 10 - 1, 440 * 10);
	cvl_follow_close(f);
}

static void following_can_be_cancelled(void **state)
{
	struct cvl_follow_opts opts = { .sync.estimator = "line" };
	struct cvl_follow *f;
	struct cvl_error err;
	struct grown g;

	(void)state;
	assert_int_equal(cvl_follow_open(&f, dir, &opts, &err), CVL_E_USAGE);
	assert_string_equal(
		err.text,
		"estimator 'line' cannot follow a session that grows; those that can: interval, smooth, lag, kalman");
	opts.sync.estimator = "kalman";
	opts.look_ms = 10;
	grown_begin(&g, "cancelled", 2);
	must(cvl_follow_open(&f, g.path, &opts, &err), &err);
	for (size_t c = 0; c < g.n; c++)
		write_second(g.w[c], c, 0, &g.r);
	assert_int_equal(cvl_follow_wait(f, 50, &err), CVL_FOLLOW_NOTHING);
	assert_null(cvl_follow_timeline(f));
	assert_string_equal(cvl_follow_waits_for(f), "n0");
	cvl_follow_cancel(f);
	assert_int_equal(cvl_follow_wait(f, -1, &err), CVL_E_CANCELLED);
	cvl_follow_close(f);
	grown_end(&g, 1);
}

/* Whether the system tells of changes in the folder of the tests. */
static bool changes_are_told(void)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char path[400], note[400];
	bool told = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/probe", dir);
	if (fd >= 0 && inotify_add_watch(fd, dir, IN_CREATE) >= 0 && (f = fopen(path, "w"))) {
		fclose(f);
		told = read(fd, note, sizeof(note)) > 0;
		unlink(path);
	}
	if (fd >= 0)
		close(fd);
	return told;
}

/* When sync.json was last written, which every pass does. */
static int64_t written(const struct grown *g)
{
	char path[400];
	struct stat st;

	snprintf(path, sizeof(path), "%s/sync.json", g->path);
	return stat(path, &st) ? 0 : (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

static bool readable(const struct cvl_follow *f)
{
	struct pollfd fd = { .fd = cvl_follow_fd(f), .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static void *cancel_soon(void *follow)
{
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	cvl_follow_cancel(follow);
	return NULL;
}

/* While nothing is written nothing is read; a change, and a cancel, are noticed at once. */
static void nothing_is_looked_at_in_vain(void **state)
{
	const struct cvl_follow_opts opts = { .save = true, .look_ms = 10 };
	struct digest d = { 0 };
	struct cvl_follow *f;
	struct cvl_error err;
	pthread_t thread;
	struct grown g;
	int64_t before;
	int news;

	(void)state;
	if (!changes_are_told()) {
		print_message("SKIP: inotify tells nothing here\n");
		skip();
	}
	grown_begin(&g, "idle", 2);
	must(cvl_follow_open(&f, g.path, &opts, &err), &err);
	for (int k = 0; k < 500; k++)
		for (size_t c = 0; c < g.n; c++)
			write_second(g.w[c], c, k, &g.r);
	while ((news = cvl_follow_wait(f, 3000, &err)) > 0)
		push_all(f, &d, 1);
	must(news, &err);
	assert_true(d.records > 0);
	before = written(&g);
	assert_true(before > 0);
	assert_int_equal(cvl_follow_wait(f, 1500, &err), CVL_FOLLOW_NOTHING);
	assert_true(written(&g) == before);
	assert_false(readable(f));

	for (int k = 500; k < 620; k++)
		for (size_t c = 0; c < g.n; c++)
			write_second(g.w[c], c, k, &g.r);
	assert_true(readable(f));
	assert_int_equal(cvl_follow_wait(f, 4000, &err), CVL_FOLLOW_MORE);
	push_all(f, &d, 1);

	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, f), 0);
	while ((news = cvl_follow_wait(f, 4000, &err)) > 0)
		push_all(f, &d, 1);
	assert_int_equal(news, CVL_E_CANCELLED);
	pthread_join(thread, NULL);
	cvl_analysis_free(&d.analysis);
	cvl_follow_close(f);
	grown_end(&g, 620);
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
		cmocka_unit_test(analyses_of_what_grows_find_what_they_find_in_the_end),
		cmocka_unit_test(clocks_may_be_added),
		cmocka_unit_test(what_ended_is_shown_after_another_came),
		cmocka_unit_test(following_can_be_cancelled),
		cmocka_unit_test(nothing_is_looked_at_in_vain),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
