/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <coeval/store.h>

#include "capture/observer/anchor.h"
#include "capture/observer/control.h"
#include "test_draw.h"
#include "test_scratch.h"

#define ROUNDS 20000
#define RATE 8000000
#define S 1000000000LL

static void path_of(char out[300], const char *name)
{
	snprintf(out, 300, "%s/%s", scratch, name);
}

static void put_file(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static double unit(struct draw *r)
{
	return (double)(draw_u64(r) >> 11) * 0x1p-53;
}

/* ---- losses ---- */

static bool holds(const struct driver_loss *l, uint64_t truth)
{
	return truth + l->slack >= l->samples && truth <= l->samples + l->slack;
}

static void a_loss_holds_the_truth_for_any_crystal(void **state)
{
	struct draw r = draw_begin(1);

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		double ppm = (2 * unit(&r) - 1) * DRIVER_CRYSTAL_PPM, away = unit(&r) * 20e9,
		       off[4];
		int64_t last = (int64_t)(unit(&r) * 1e15), next = last + (int64_t)away;
		uint64_t truth = (uint64_t)(away * 1e-9 * RATE * (1 + ppm * 1e-6));
		struct driver_loss l;

		for (int k = 0; k < 4; k++)
			off[k] = unit(&r) * 30e6;
		l = driver_loss_between(RATE, CVL_GAP_DISCONNECTED, last - (int64_t)off[0],
					last + (int64_t)off[1], next - (int64_t)off[2],
					next + (int64_t)off[3]);
		if (!holds(&l, truth) || l.slack >= l.samples)
			fail_msg("%.1f ppm, %.0f ns: %llu of %llu +- %llu", ppm, away,
				 (unsigned long long)truth, (unsigned long long)l.samples,
				 (unsigned long long)l.slack);
	}
}

static void a_loss_is_as_narrow_as_what_is_known(void **state)
{
	struct driver_loss l = driver_loss_between(RATE, CVL_GAP_UNFINISHED, 0, 0, S, S);

	(void)state;
	assert_true((double)l.slack <= 1e-6 * RATE * (DRIVER_CRYSTAL_PPM + 1) + 4);
}

/* ---- anchors ---- */

static struct anchor anchor_made(uint64_t tick, int64_t at, int64_t unix_at, const char *boot)
{
	struct anchor a = { tick, at - 1000, at + 1000, unix_at - 1000, unix_at + 1000, "" };

	snprintf(a.boot, sizeof(a.boot), "%s", boot);
	return a;
}

static void within_a_boot_its_clock_counts_and_not_the_wall_clock(void **state)
{
	struct anchor from = anchor_made(0, 5 * S, 1000 * S, "one"),
		      to = anchor_made(0, 8 * S, 900 * S, "one"); /* set back meanwhile */
	struct driver_loss l = anchor_loss(&from, &to, RATE, CVL_GAP_UNFINISHED);

	(void)state;
	assert_true(holds(&l, 3 * RATE));
	assert_true((double)l.slack < 3.1e-6 * RATE * DRIVER_CRYSTAL_PPM);
}

static void between_boots_the_wall_clock_counts_to_a_second(void **state)
{
	struct anchor from = anchor_made(0, 5000 * S, 1000 * S, "one"),
		      to = anchor_made(0, 8 * S, 1030 * S, "two");
	struct driver_loss l = anchor_loss(&from, &to, RATE, CVL_GAP_UNFINISHED);

	(void)state;
	assert_true(holds(&l, 29 * RATE + 1));
	assert_true(holds(&l, 31 * RATE - 1));
	assert_true(l.slack < 2 * RATE);
	/* unknown boot: the same */
	from.boot[0] = to.boot[0] = '\0';
	l = anchor_loss(&from, &to, RATE, CVL_GAP_UNFINISHED);
	assert_true(holds(&l, 30 * RATE));
}

static void a_wall_clock_that_went_back_gives_a_loss_all_the_same(void **state)
{
	struct anchor from = anchor_made(0, 5000 * S, 1000 * S, "one"),
		      to = anchor_made(0, 8 * S, 500 * S, "two");
	struct driver_loss l = anchor_loss(&from, &to, RATE, CVL_GAP_UNFINISHED);

	(void)state;
	assert_true(l.samples >= 1);
	assert_true(l.slack < l.samples);
}

static void what_is_kept_is_read(void **state)
{
	struct anchor a = anchor_between(77, 1 * S, 2 * S), b;
	struct cvl_error err;
	char path[300];

	(void)state;
	path_of(path, "a.json");
	assert_int_equal(anchor_save(&a, path, &err), 0);
	assert_int_equal(anchor_load(&b, path, &err), 0);
	assert_memory_equal(&a, &b, sizeof(a));
}

static void a_missing_or_damaged_anchor_is_none(void **state)
{
	static const char *const bad[] = {
		"",
		"{",
		"[]",
		"{\"tick\": 1}",
		"{\"tick\": -1, \"early_ns\": 1, \"late_ns\": 2, \"unix_early_ns\": 1, \"unix_late_ns\": 2, \"boot\": \"\"}",
		"{\"tick\": 1, \"early_ns\": 3, \"late_ns\": 2, \"unix_early_ns\": 1, \"unix_late_ns\": 2, \"boot\": \"\"}",
		"{\"tick\": 1.5, \"early_ns\": 1, \"late_ns\": 2, \"unix_early_ns\": 1, \"unix_late_ns\": 2, \"boot\": \"\"}",
	};
	struct cvl_error err;
	struct anchor a;
	char path[300];

	(void)state;
	path_of(path, "none.json");
	assert_int_equal(anchor_load(&a, path, &err), CVL_E_MISSING);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_file(path, bad[i], strlen(bad[i]));
		assert_int_equal(anchor_load(&a, path, &err), CVL_E_MISSING);
	}
}

static void an_anchor_names_its_version(void **state)
{
	static const char rest[] =
		"\"tick\": 1, \"early_ns\": 1, \"late_ns\": 2, \"unix_early_ns\": 1, \"unix_late_ns\": 2, \"boot\": \"\"}";
	char path[300], text[300];
	struct cvl_error err;
	struct anchor a;

	(void)state;
	path_of(path, "version.json");
	snprintf(text, sizeof(text), "{%s", rest); /* an older one does not */
	put_file(path, text, strlen(text));
	assert_int_equal(anchor_load(&a, path, &err), 0);
	snprintf(text, sizeof(text), "{\"coeval_anchor\": 2, %s", rest);
	put_file(path, text, strlen(text));
	assert_int_equal(anchor_load(&a, path, &err), CVL_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "version 2 is not supported; this coeval reads up to 1"));
}

/* ---- the control socket ---- */

static char *answer_with(void *ctx, char *line)
{
	(void)ctx;
	return strcmp(line, "stop") ? strdup("{\"error\":\"what?\"}") :
				      strdup("{\"state\":\"done\"}");
}

/* As many as you like, of those who never say a word. */
static int idle_client(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_true(fd >= 0 && strlen(path) < sizeof(a.sun_path));
	memcpy(a.sun_path, path, strlen(path));
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void idle_clients_do_not_lock_out_others(void **state)
{
	struct control *c;
	struct cvl_error err;
	char path[300];
	int idle[40], status;
	pid_t child;

	(void)state;
	path_of(path, "control");
	assert_int_equal(control_open(&c, path, answer_with, NULL, &err), 0);
	for (size_t i = 0; i < sizeof(idle) / sizeof(*idle); i++) {
		idle[i] = idle_client(path);
		control_work(c);
	}
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		char *answer = cvl_capture_ask(path, "stop", &err);

		_exit(!answer || strcmp(answer, "{\"state\":\"done\"}"));
	}
	while (!waitpid(child, &status, WNOHANG)) {
		struct pollfd fds[20];

		poll(fds, control_wait_for(c, fds, 20), 10);
		control_work(c);
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	for (size_t i = 0; i < sizeof(idle) / sizeof(*idle); i++)
		close(idle[i]);
	control_close(c);
}

/* ---- going on with a stream that was cut off ---- */

#define PACKETS 12

static const char *const two_lines[] = { "a", "b" };
static const struct cvl_store_desc desc = {
	.clock = "clock", .rate_hz = RATE, .lines = two_lines, .n_lines = 2
};

struct written {
	char *bytes;
	size_t n, end[PACKETS];        /* of each packet */
	struct cvl_tick last[PACKETS]; /* its last tick */
};

static void add_packet(struct cvl_writer *w, uint64_t from, unsigned n)
{
	struct cvl_error err;

	for (unsigned i = 0; i < n; i++) {
		struct cvl_tick tick = { from + i };
		uint64_t levels = i & 3;

		assert_int_equal(cvl_writer_edges(w, &tick, &levels, 1, &err), 0);
	}
	assert_int_equal(cvl_writer_flush(w, &err), 0);
}

static void read_all(struct written *k, const char *path)
{
	FILE *f = fopen(path, "re");

	assert_non_null(f);
	k->bytes = realloc(k->bytes, k->n);
	assert_non_null(k->bytes);
	assert_int_equal(fread(k->bytes, 1, k->n, f), k->n);
	fclose(f);
}

static void write_packets(struct written *k, const char *dir, const char *stream)
{
	struct cvl_writer *w;
	struct cvl_error err;
	struct stat st;

	assert_int_equal(cvl_writer_open(&w, dir, &desc, &err), 0);
	for (unsigned i = 0; i < PACKETS; i++) {
		add_packet(w, 1000 * i, 3 + 7 * i);
		assert_int_equal(stat(stream, &st), 0);
		k->end[i] = k->n = (size_t)st.st_size;
		k->last[i].count = 1000 * i + 3 + 7 * i - 1;
	}
	cvl_writer_abandon(w);
	read_all(k, stream);
}

/*
 * Resume after @cut bytes, of which @whole packets are good, and look at what is there afterwards.
 */
static void go_on(const struct written *k, const char *dir, const char *stream, size_t cut,
		  size_t whole)
{
	struct written after = { 0 };
	struct cvl_writer *w;
	struct cvl_error err;
	struct cvl_tick last;

	if (cvl_writer_resume(&w, dir, &desc, &last, &err))
		fail_msg("cut at %zu: %s", cut, err.text);
	if (whole)
		assert_int_equal(last.count, k->last[whole - 1].count);
	else
		assert_int_equal(last.count, CVL_TICK_UNKNOWN);
	add_packet(w, 1000000, 5);
	assert_int_equal(cvl_writer_close(w, (struct cvl_tick){ 1000004 }, &err), 0);
	after.n = whole ? k->end[whole - 1] : 0;
	read_all(&after, stream);
	assert_memory_equal(after.bytes, k->bytes, after.n);
	free(after.bytes);
	/* and the same again finds the packet that was added */
	assert_int_equal(cvl_writer_resume(&w, dir, &desc, &last, &err), 0);
	assert_int_equal(last.count, 1000004);
	cvl_writer_abandon(w);
}

static void a_stream_cut_anywhere_goes_on_with_its_whole_packets(void **state)
{
	struct draw r = draw_begin(2);
	struct written k = { 0 };
	char dir[300], stream[310];

	(void)state;
	path_of(dir, "cut");
	snprintf(stream, sizeof(stream), "%s/stream", dir);
	write_packets(&k, dir, stream);
	for (int i = 0; i < 300; i++) {
		/* at and about the packets' ends, and anywhere */
		size_t cut = i < 3 * PACKETS ? k.end[i / 3] + (size_t)(i % 3) - 1 :
					       (size_t)draw_below(&r, k.n + 1);
		size_t whole = 0;

		cut = cut > k.n ? k.n : cut;
		while (whole < PACKETS && k.end[whole] <= cut)
			whole++;
		put_file(stream, k.bytes, cut);
		go_on(&k, dir, stream, cut, whole);
	}
	free(k.bytes);
}

static void a_damaged_last_packet_is_cut_off(void **state)
{
	struct written k = { 0 };
	char dir[300], stream[310];

	(void)state;
	path_of(dir, "damaged");
	snprintf(stream, sizeof(stream), "%s/stream", dir);
	write_packets(&k, dir, stream);
	k.bytes[k.n - 1] ^= 1; /* of its CRC */
	put_file(stream, k.bytes, k.n);
	go_on(&k, dir, stream, k.n, PACKETS - 1);
	free(k.bytes);
}

static void other_lines_are_refused(void **state)
{
	const struct cvl_store_desc other = {
		.clock = "clock", .rate_hz = RATE, .lines = two_lines, .n_lines = 1
	};
	struct cvl_tick last, tick = { 1000000 };
	struct written k = { 0 };
	struct cvl_writer *w;
	struct cvl_error err;
	char dir[300], stream[310];
	uint64_t levels = 1;
	int rc;

	(void)state;
	path_of(dir, "other");
	snprintf(stream, sizeof(stream), "%s/stream", dir);
	write_packets(&k, dir, stream);
	rc = cvl_writer_resume(&w, dir, &other, &last, &err);
	if (!rc) {
		rc = cvl_writer_edges(w, &tick, &levels, 1, &err);
		cvl_writer_abandon(w);
	}
	assert_int_equal(rc, CVL_E_USAGE);
	free(k.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loss_holds_the_truth_for_any_crystal),
		cmocka_unit_test(a_loss_is_as_narrow_as_what_is_known),
		cmocka_unit_test(within_a_boot_its_clock_counts_and_not_the_wall_clock),
		cmocka_unit_test(between_boots_the_wall_clock_counts_to_a_second),
		cmocka_unit_test(a_wall_clock_that_went_back_gives_a_loss_all_the_same),
		cmocka_unit_test(what_is_kept_is_read),
		cmocka_unit_test(a_missing_or_damaged_anchor_is_none),
		cmocka_unit_test(an_anchor_names_its_version),
		cmocka_unit_test(idle_clients_do_not_lock_out_others),
		cmocka_unit_test(a_stream_cut_anywhere_goes_on_with_its_whole_packets),
		cmocka_unit_test(a_damaged_last_packet_is_cut_off),
		cmocka_unit_test(other_lines_are_refused),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
