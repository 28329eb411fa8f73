/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <coeval/sync.h>
#include <coeval/timeline.h>

#include <stdio.h>
#include <string.h>

#define RUNS 5
#define NODES 4
#define EVENTS 10000000 /* of all nodes */
#define HZ 8000000

/*
 * Rules of every kind, over single nodes, groups and pairs, whose events occur all the time.
 */
static const char rules[] =
	"- { after: n1.SEND:rise, then: other.RECEIVE:rise, within: 500us }\n"
	"- { after: SEND:rise, never: RECEIVE:rise, within: 5us }\n"
	"- { after: n2.LED:rise, then: n2.LED:fall, within: 20ms }\n"
	"- { after: n3.WAKE:rise, then: any other.WAKE:rise, within: 50ms }\n"
	"- { after: n1.FRAME:rise, then: other.FRAME:rise, within: -20ms to 20ms }\n"
	"- { state: LED:high, at most: 200ms }\n"
	"- { state: n1.SEND:high, at most: 2ms }\n"
	"- { state: WAKE:high, at least: 1us }\n"
	"- { state: n4.RADIO:low, at most: 1s }\n"
	"- { never: n1.SEND:high, while: n2.SEND:high }\n"
	"- { never: n3.SEND:high, while: n3.RECEIVE:high }\n"
	"- { never: n2.FAULT:rise }\n"
	"- { never: n4.SEND:rise, while: n4.RADIO:low }\n"
	"- { order: [n1.SEND:rise, n1.SEND:fall] }\n"
	"- { order: [n2.LED:rise, n2.LED:fall] }\n"
	"- { order: [n1.FRAME:rise, n2.FRAME:rise] }\n"
	"- { count: n1.SEND:rise, at most: 50, in: 10ms }\n"
	"- { count: any n?.SEND:rise, at most: 200, in: 10ms }\n"
	"- { event: n1.FRAME:rise, every: 10ms +- 9ms }\n"
	"- { event: n2.FRAME:rise, every: 10ms +- 9ms }\n";

static int write_rules(const struct bench *b, const char *path)
{
	FILE *f = fopen(path, "w");

	if (f && fputs(rules, f) >= 0 && !fclose(f))
		return 0;
	return bench_fail(b, CVL_E_IO, "%s cannot be written", path);
}

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * A line changes every 40 us or so, each of the eight as often as any other, but for FAULT, which
 * never does.
 */
static int write_node(struct cvl_session *s, unsigned node, struct cvl_error *err)
{
	static const char *const lines[] = { "SEND",  "RECEIVE", "LED",   "WAKE",
					     "FRAME", "RADIO",   "CLOCK", "FAULT" };
	static const struct cvl_origin origin = { .format = "bench", .path = "-" };
	char name[8];
	const struct cvl_store_desc desc = {
		.clock = name, .rate_hz = HZ, .lines = lines, .n_lines = 8
	};
	uint64_t state = 0x9e3779b97f4a7c15u + node, tick = node;
	uint64_t levels = 0;
	struct cvl_writer *w;
	int rc;

	snprintf(name, sizeof(name), "n%u", node + 1);
	rc = cvl_session_add(s, &desc, &origin, &w, err);
	for (unsigned i = 0; i < EVENTS / NODES && !rc; i++) {
		uint64_t r = draw(&state);

		tick += 1 + r % 640;
		levels ^= (uint64_t)1 << (r >> 32) % 7;
		rc = cvl_writer_edges(w, &(struct cvl_tick){ tick }, &levels, 1, err);
	}
	return rc ? rc : cvl_session_finish(s, w, (struct cvl_tick){ tick }, err);
}

/* Knots a second apart, 1 us of bound, as beacons make them. */
static int tie(struct cvl_session *s, struct cvl_error *err)
{
	static struct cvl_knot knot[200];
	struct cvl_clock_sync clock[NODES] = { { 0 } };
	struct cvl_sync sync = { .estimator = "bench",
				 .reference = "n1",
				 .settings = "{}",
				 .n = NODES,
				 .clock = clock };
	int rc = 0;

	for (unsigned i = 0; i < 200; i++)
		knot[i] = (struct cvl_knot){ .tick.count = (uint64_t)i * HZ,
					     .time.ns = i * INT64_C(1000000000),
					     .bound_ns = 800 + i % 7 * 50 };
	snprintf(sync.session, sizeof(sync.session), "%s", cvl_session_uuid(s));
	for (unsigned i = 0; i < NODES && !rc; i++) {
		const struct cvl_map_spec spec = {
			.rate_hz = HZ, .knots = knot, .n = 200, .kind = CVL_BOUND_STATISTICAL
		};

		clock[i].clock = (char *)(uintptr_t)cvl_session_clock(s, i)->name;
		clock[i].verdict = CVL_GOOD;
		rc = cvl_map_new(&clock[i].map, &spec, err);
	}
	if (!rc)
		rc = cvl_sync_save(&sync, s, err);
	for (unsigned i = 0; i < NODES; i++)
		cvl_map_free(clock[i].map);
	return rc;
}

static int write_session(const struct bench *b, const char *path)
{
	struct cvl_session *s = NULL;
	struct cvl_error err;
	int rc = cvl_session_create(&s, path, &err);

	bench_doing(b, "making %s", path);
	for (unsigned i = 0; i < NODES && !rc; i++)
		rc = write_node(s, i, &err);
	if (!rc)
		rc = tie(s, &err);
	cvl_session_close(s);
	return rc ? bench_fail(b, rc, "%s", err.text) : 0;
}

static int run(const struct bench *b)
{
	struct bench_row row = { .name = "check, 20 rules, 10 M events: a pass over the records",
				 .goal = 0.6 };
	char session[BENCH_PATH_MAX], file[BENCH_PATH_MAX];
	const char *const ours[] = { b->coeval, "check", session, file, NULL };
	const char *const pass[] = { b->coeval, "export", session, "--to", "null", NULL };
	int status;
	const struct bench_command check = { .argv = ours, .status = &status },
				   null = { .argv = pass };
	int rc;

	bench_path(b, session, "check");
	bench_path(b, file, "check.yaml");
	rc = write_rules(b, file);
	if (!rc)
		rc = write_session(b, session);
	bench_heads(b);
	if (!rc)
		rc = bench_compare(b, &row, RUNS, &check, &null);
	if (!rc && status > 1)
		rc = bench_fail(b, CVL_E_NO, "check ended with status %d", status);
	bench_remove(session);
	bench_remove(file);
	return rc;
}

const struct bench_group bench_check = {
	.name = "check",
	.what = "rules held against a timeline",
	.run = run,
};
