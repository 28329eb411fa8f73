/* SPDX-License-Identifier: MIT */
/*
 * Writes a session as captures do, in haste: grow SESSION CLOCKS SECONDS SECOND_US [steady]. All clocks
 * hear the same beacon each second and see the same edges, at whole tenths of a second; unless they are
 * steady the one before the last falls silent half-way and ends there, and the last one comes after a
 * third.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <coeval/session.h>

#include "core/random.h"

#define RATE 8000000
#define CLOCKS_MOST 200

static void must(int rc, const struct cvl_error *err)
{
	if (rc) {
		fprintf(stderr, "%s\n", err->text);
		exit(1);
	}
}

static struct cvl_tick tick_at(unsigned clock, double s)
{
	const double ppm = (double)(clock * 37 % 101) - 50;

	return (struct cvl_tick){ (uint64_t)(1000 * clock + s * (1 + ppm * 1e-6) * RATE) };
}

static struct cvl_writer *begin(struct cvl_session *s, unsigned clock)
{
	static const char *const lines[] = { "D0", "D1" };
	static const struct cvl_origin origin = { "test", "-", NULL };
	struct cvl_writer *w;
	struct cvl_error err;
	char name[8];
	const struct cvl_store_desc desc = {
		.clock = name, .rate_hz = RATE, .lines = lines, .n_lines = 2
	};

	snprintf(name, sizeof(name), "n%u", clock);
	must(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	return w;
}

static void write_second(struct cvl_writer *w, unsigned clock, unsigned k, struct sim_random *r)
{
	struct cvl_error err;

	must(cvl_writer_beacon(w, tick_at(clock, k + .01 + 300e-9 * fabs(sim_normal(r))), 1,
			       100 + k, &err),
	     &err);
	for (unsigned i = 1; i < 10; i++) {
		const struct cvl_tick t = tick_at(clock, k + i / 10.0);
		const uint64_t level = i & 1;

		must(cvl_writer_edges(w, &t, &level, 1, &err), &err);
	}
	must(cvl_writer_flush(w, &err), &err);
}

int main(int argc, char **argv)
{
	const unsigned clocks = argc > 4 ? (unsigned)atoi(argv[2]) : 0,
		       seconds = argc > 4 ? (unsigned)atoi(argv[3]) : 0;
	const bool steady = argc > 5;
	struct cvl_writer *w[CLOCKS_MOST] = { NULL };
	struct sim_random r = { 5 };
	struct cvl_session *s;
	struct cvl_error err;

	if (clocks < 3 || clocks > CLOCKS_MOST || !seconds)
		return 2;
	must(cvl_session_create(&s, argv[1], &err), &err);
	for (unsigned k = 0; k < seconds; k++) {
		for (unsigned c = 0; c < clocks; c++) {
			if (!steady && ((c == clocks - 1 && k < seconds / 3) ||
					(c == clocks - 2 && k >= seconds / 2)))
				continue;
			if (!w[c])
				w[c] = begin(s, c);
			write_second(w[c], c, k, &r);
		}
		usleep((useconds_t)atoi(argv[4]));
	}
	for (unsigned c = 0; c < clocks; c++)
		must(cvl_session_finish(
			     s, w[c],
			     tick_at(c, !steady && c == clocks - 2 ? seconds / 2 : seconds), &err),
		     &err);
	cvl_session_close(s);
	return 0;
}
