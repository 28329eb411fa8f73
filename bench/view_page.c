/* SPDX-License-Identifier: MIT */
/* The page in a browser, driven by view_page.mjs, which prints a line "KEY VALUE" for each figure of a run. */
#include "view_page.h"

#include <coeval/session.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "edges.h"
#include "tests/tier.h"

#define CLOCKS 125
#define TASKS 8
#define CALLS 300000u
#define MESSAGES 100000u
#define HZ 10000000u
#define FLUSHES 100

static const struct cvl_origin origin = { .format = "bench", .path = "-" };

/* ---- calls and messages ---- */

struct node {
	struct cvl_writer *w;
	int entry, leave, change, sent, got;
};

static int open_node(struct cvl_session *s, unsigned i, struct node *n, struct cvl_error *err)
{
	const struct cvl_store_field addr = { "addr", CVL_STORE_U64 },
				     next = { "next", CVL_STORE_U64 },
				     seq = { "seq", CVL_STORE_U64 };
	char name[20];
	const struct cvl_store_desc desc = { .clock = name, .rate_hz = HZ };
	int rc;

	snprintf(name, sizeof(name), "n%u", i);
	rc = cvl_session_add(s, &desc, &origin, &n->w, err);
	if (rc)
		return rc;
	n->entry = cvl_writer_declare(n->w, "func_entry", &addr, 1, err);
	n->leave = cvl_writer_declare(n->w, "func_exit", &addr, 1, err);
	n->change = cvl_writer_declare(n->w, "task_switch", &next, 1, err);
	n->sent = cvl_writer_declare(n->w, "radio_send", &seq, 1, err);
	n->got = cvl_writer_declare(n->w, "radio_receive", &seq, 1, err);
	return 0;
}

static int put(struct node *n, uint64_t tick, int class, uint64_t value, struct cvl_error *err)
{
	return cvl_writer_event(n->w, (struct cvl_tick){ tick }, class,
				&(union cvl_store_value){ .u = value }, err);
}

/* In turns of 1 ms: each node runs one of its tasks, which calls, and sends to a neighbour. */
static int write_turns(struct node *node, struct cvl_error *err)
{
	const unsigned per_turn = 3, turns = CALLS / CLOCKS / per_turn;
	uint64_t seq = 0;
	int rc = 0;

	for (unsigned turn = 0; turn < turns && !rc; turn++)
		for (unsigned i = 0; i < CLOCKS && !rc; i++) {
			const uint64_t at = (uint64_t)turn * HZ / 1000 + i * 60;
			/* to the next node, or to the one before */
			const unsigned other = turn & 1 ? i + 1 : i - 1;
			const bool sends = seq < MESSAGES && other < CLOCKS;
			struct node *n = &node[i];

			rc = put(n, at, n->change, (turn + i) % TASKS, err);
			for (unsigned k = 0; k < per_turn && !rc; k++)
				rc = put(n, at + 1 + k, n->entry, 0x1000 + 16 * ((turn + k) % 40),
					 err);
			for (unsigned k = per_turn; k-- && !rc;)
				rc = put(n, at + 20 - k, n->leave, 0x1000 + 16 * ((turn + k) % 40),
					 err);
			if (sends && !rc)
				rc = put(n, at + 25, n->sent, seq, err);
			if (sends && !rc)
				rc = put(&node[other], at + 50, node[other].got, seq, err);
			seq += sends;
		}
	return rc;
}

static int calls_session(const struct bench *b, const char *path)
{
	struct node *node = calloc(CLOCKS, sizeof(*node));
	struct cvl_session *s = NULL;
	struct cvl_error err;
	int rc = node ? cvl_session_create(&s, path, &err) : CVL_E_NOMEM;

	bench_doing(b, "making %s", path);
	for (unsigned i = 0; i < CLOCKS && !rc; i++)
		rc = open_node(s, i, &node[i], &err);
	rc = rc ? rc : write_turns(node, &err);
	for (unsigned i = 0; i < CLOCKS && !rc; i++)
		rc = cvl_session_finish(s, node[i].w, (struct cvl_tick){ 2 * HZ }, &err);
	cvl_session_close(s);
	free(node);
	return rc ? bench_fail(b, rc, "%s", err.text) : 0;
}

static int tie(const struct bench *b, const char *path)
{
	char rule[BENCH_PATH_MAX];
	const char *const argv[] = { b->coeval, "sync", path, "--match", rule, NULL };
	struct bench_usage usage = { 0 };

	snprintf(rule, sizeof(rule), "%s/../rules/radio.yaml", b->worlds);
	return bench_run(b, &(struct bench_command){ .argv = argv }, &usage);
}

/* ---- a capture ---- */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* In a process of its own: store a packet every 100 ms once the file @go is there; when, goes to @log. */
static void capture(const char *path, const char *go, const char *log)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	static const char *const lines[] = { "a" };
	const struct cvl_store_desc desc = {
		.clock = "live", .rate_hz = 1000000, .lines = lines, .n_lines = 1
	};
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_error err;
	FILE *f = fopen(log, "w");
	int rc = cvl_session_create(&s, path, &err);

	rc = rc ? rc : cvl_session_add(s, &desc, &origin, &w, &err);
	/* something, so that its metadata are there */
	rc = rc ? rc : cvl_writer_edges(w, &(struct cvl_tick){ 0 }, &(uint64_t){ 0 }, 1, &err);
	rc = rc ? rc : cvl_writer_flush(w, &err);
	while (access(go, F_OK))
		nanosleep(&pause, NULL);
	for (unsigned i = 0; i < FLUSHES && f && !rc; i++) {
		nanosleep(&pause, NULL);
		for (unsigned k = 0; k < 100 && !rc; k++) {
			const struct cvl_tick tick = { i * 100000 + k * 1000 };
			const uint64_t level = k & 1;

			rc = cvl_writer_edges(w, &tick, &level, 1, &err);
		}
		rc = rc ? rc : cvl_writer_flush(w, &err);
		fprintf(f, "%u %lld\n", i * 100000 + 99000, (long long)now_ms());
		fflush(f);
	}
	_exit(rc != 0);
}

/* ---- figures ---- */

static const struct {
	const char *key, *name, *unit;
	double goal;
} figures[] = {
	{ "paint", "first full paint, levels of detail there", "ms", 1000 },
	{ "frames", "edges: p95 of 600 frames of moving : page empty", "x", 1.05 },
	{ "blank", "edges: frames with a row blank", "", 0 },
	{ "calls", "300,000 calls, 100,000 messages: p95 of a frame : page empty", "x", 1.05 },
	{ "browser", "memory of the page's scripts after that", "MiB", 300 },
	{ "server", "memory of the server after that", "MiB", 64 },
	{ "live", "a packet stored to its pixels, p95", "ms", 200 },
	{ "tiles", "10 pages at once in one browser here: p95 of a request for tiles", "ms", 50 },
	{ "clients", "10 clients at once, without pages: p95 of a request for 30 tiles", "ms", 50 },
};

#define FIGURES (sizeof(figures) / sizeof(*figures))

static void read_figures(const char *path, struct bench_figure f[FIGURES], char *why, size_t n)
{
	char line[300], key[20];
	FILE *file = fopen(path, "r");
	double v;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "SKIP ", 5))
			snprintf(why, n, "%.*s", (int)strcspn(line + 5, "\n"), line + 5);
		else if (sscanf(line, "%19s %lf", key, &v) == 2)
			for (size_t i = 0; i < FIGURES; i++)
				if (!strcmp(key, figures[i].key))
					bench_add(&f[i].measured, v);
	if (file)
		fclose(file);
}

static int drive(const struct bench *b, const char *const sessions[3], const char *go,
		 const char *log)
{
	struct bench_figure f[FIGURES] = { 0 };
	char script[BENCH_PATH_MAX], output[BENCH_PATH_MAX], why[200] = "";
	const char *const argv[] = { "node",      script,      b->coeval, b->dir, sessions[0],
				     sessions[1], sessions[2], go,        log,    NULL };
	struct bench_usage usage = { 0 };
	int rc, status = 0;

	snprintf(script, sizeof(script), "%s/../../bench/view_page.mjs", b->worlds);
	bench_path(b, output, "figures");
	bench_doing(b, "looking at pages");
	rc = bench_run(b,
		       &(struct bench_command){ .argv = argv, .output = output, .status = &status },
		       &usage);
	for (size_t i = 0; i < FIGURES; i++) {
		f[i].name = figures[i].name;
		f[i].unit = figures[i].unit;
		f[i].goal = figures[i].goal;
		f[i].less_is_better = f[i].real = true;
	}
	if (!rc)
		read_figures(output, f, why, sizeof(why));
	bench_done(b);
	if (*why || status)
		fprintf(stderr, "SKIP view page: %s\n", *why ? why : "node failed");
	for (size_t i = 0; i < FIGURES && !rc; i++)
		if (f[i].measured.n)
			bench_figure_put(b, &f[i]);
	return rc;
}

int view_page(const struct bench *b)
{
	char edges[BENCH_PATH_MAX], calls[BENCH_PATH_MAX], live[BENCH_PATH_MAX], go[BENCH_PATH_MAX],
		log[BENCH_PATH_MAX];
	struct bench_row row = { 0 };
	pid_t pid = -1;
	int rc;

	if (!bench_installed(&row, "node") || !bench_installed(&row, "npm") ||
	    !bench_installed(&row, "chromium")) {
		fprintf(stderr, "SKIP view page: %s\n", row.skip);
		return 0;
	}
	bench_path(b, edges, "edges");
	bench_path(b, calls, "calls");
	bench_path(b, live, "live");
	bench_path(b, go, "go");
	bench_path(b, log, "stored");
	rc = edges_session(b, edges, CLOCKS, tier(10000000, 10000000, 1000000000));
	rc = rc ? rc : calls_session(b, calls);
	rc = rc ? rc : tie(b, calls);
	if (!rc) {
		fflush(NULL);
		pid = fork();
		if (!pid)
			capture(live, go, log);
		rc = drive(b, (const char *const[]){ edges, calls, live }, go, log);
	}
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	bench_remove(edges);
	bench_remove(calls);
	bench_remove(live);
	return rc;
}
