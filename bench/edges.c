/* SPDX-License-Identifier: MIT */
#include "edges.h"

#include <coeval/session.h>

#include <math.h>
#include <stdio.h>

#include "core/random.h"

#define AT_ONCE 4096
#define HZ 100000000u

/* @n edges of eight lines, 1 us apart for each clock on average. */
static int write_edges(struct cvl_writer *w, struct sim_random *r, unsigned n, uint64_t *now,
		       struct cvl_error *err)
{
	static struct cvl_tick tick[AT_ONCE];
	static uint64_t level[AT_ONCE];
	uint64_t last = 0;
	int rc = 0;

	while (n && !rc) {
		const unsigned some = n < AT_ONCE ? n : AT_ONCE;

		for (unsigned i = 0; i < some; i++) {
			const uint64_t draw = sim_u64(r);

			*now += 1 + (uint64_t)(-99 * log1p(-sim_uniform(r)));
			tick[i].count = *now;
			level[i] = last ^= 1u << (draw >> 32) % 8;
		}
		rc = cvl_writer_edges(w, tick, level, some, err);
		n -= some;
	}
	return rc;
}

int edges_session(const struct bench *b, const char *path, unsigned clocks, unsigned edges)
{
	static const struct cvl_origin origin = { .format = "bench", .path = "-" };
	static const char *const lines[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	struct sim_random r = { 1 };
	struct cvl_session *s;
	struct cvl_error err;
	int rc = cvl_session_create(&s, path, &err);

	bench_doing(b, "making %s", path);
	for (unsigned i = 0; i < clocks && !rc; i++) {
		char name[20];
		const struct cvl_store_desc desc = {
			.clock = name, .rate_hz = HZ, .lines = lines, .n_lines = 8
		};
		struct cvl_writer *w;
		uint64_t now = sim_u64(&r) % 1000;

		snprintf(name, sizeof(name), "c%u", i);
		rc = cvl_session_add(s, &desc, &origin, &w, &err);
		rc = rc ? rc : write_edges(w, &r, edges / clocks, &now, &err);
		rc = rc ? rc : cvl_session_finish(s, w, (struct cvl_tick){ now }, &err);
	}
	cvl_session_close(s);
	return rc ? bench_fail(b, rc, "%s", err.text) : 0;
}
