/* SPDX-License-Identifier: MIT */
/*
 * Where its numbers come from: clocks within 200 ppm and beacons once a second as in Grace (Sec. III), receiver jitter
 * of 487 ns as its Fig. 5a gives for a pair, some beacons missed and some late as any radio has them. The rates hold
 * still: this world is short.
 */
#include "sim/demo_world.h"

#include "core/random.h"
#include <coeval/array.h>
#include "sim/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RATE_OFF_PPM 150.0
#define JITTER_NS 487.0
#define MISSED 0.02
#define LATE 0.01
#define BEACON_HIGH_NS 1e6 /* how long the receiver's line stays up */
#define FRAME_NS 100e6     /* TDMA: one slot for each node */
#define SLOT_NS (FRAME_NS / DEMO_OBSERVERS)
#define FLIGHT_NS 12000.0 /* from the start of a packet to its reception */

/* Lines of the nodes. */
enum { LINE_SLOT, LINE_SEND, LINE_RECEIVE, LINE_FRAME };

static int add_edge(struct demo_observer *o, double t, unsigned line, unsigned level,
		    struct cvl_error *err)
{
	if (cvl_room(&o->edge, o->n_edges, &o->capacity, sizeof(*o->edge)))
		return cvl_no_memory(err);
	o->edge[o->n_edges++] = (struct demo_edge){ t, (uint8_t)line, (uint8_t)level };
	return 0;
}

static int add_pulse(struct demo_observer *o, double t, double length, unsigned line,
		     struct cvl_error *err)
{
	int rc = add_edge(o, t, line, 1, err);

	return rc ? rc : add_edge(o, t + length, line, 0, err);
}

/* What one frame of the protocol does on the pins of node @self. */
static int add_frame(struct demo_observer *o, unsigned self, double start, struct sim_random *r,
		     struct cvl_error *err)
{
	int rc = add_edge(o, start, LINE_FRAME, fmod(start / FRAME_NS + 0.5, 2) < 1, err);

	for (unsigned slot = 0; slot < DEMO_OBSERVERS && !rc; slot++) {
		double at = start + slot * SLOT_NS + 200e3;

		if (slot == self) {
			rc = add_pulse(o, start + slot * SLOT_NS + 1e3, SLOT_NS - 2e3, LINE_SLOT,
				       err);
			for (int k = 0; k < 4 && !rc; k++)
				rc = add_pulse(o, at + k * 5e6, 300e3, LINE_SEND, err);
		} else {
			for (int k = 0; k < 4 && !rc; k++)
				rc = add_pulse(o,
					       at + k * 5e6 + 300e3 + FLIGHT_NS +
						       400 * fabs(sim_normal(r)),
					       50e3, LINE_RECEIVE, err);
		}
	}
	return rc;
}

static int hear_beacons(const struct demo_world *w, struct demo_observer *o, struct sim_random *r,
			struct cvl_error *err)
{
	double end = w->seconds * 1e9;

	o->beacon = calloc(w->seconds + 1, sizeof(*o->beacon));
	if (!o->beacon)
		return cvl_no_memory(err);
	for (unsigned k = 1; k < w->seconds; k++) {
		double t = k * 1e9 + JITTER_NS * sim_normal(r), luck = sim_uniform(r),
		       late = sim_uniform(r);
		int rc;

		if (luck < LATE)
			t += 1000 + 2200 * late;
		if (luck > 1 - MISSED || t < o->start_ns || t + BEACON_HIGH_NS > end)
			continue;
		rc = add_pulse(o, t, BEACON_HIGH_NS, DEMO_BEACON_LINE, err);
		if (rc)
			return rc;
		o->beacon[o->n_beacons].tick = demo_tick(o, t);
		o->beacon[o->n_beacons++].seq = 1000 + k;
	}
	return 0;
}

static int by_time(const void *pa, const void *pb)
{
	const struct demo_edge *a = pa, *b = pb;

	return a->true_ns < b->true_ns ? -1 : a->true_ns > b->true_ns;
}

int demo_world_make(struct demo_world *w, uint64_t seed, unsigned seconds, struct cvl_error *err)
{
	struct sim_random r = { seed };
	int rc = 0;

	*w = (struct demo_world){ .seed = seed, .seconds = seconds };
	for (unsigned i = 0; i < DEMO_OBSERVERS && !rc; i++) {
		struct demo_observer *o = &w->observer[i];

		snprintf(o->name, sizeof(o->name), "observer%u", i + 1);
		o->rate_off_ppm = RATE_OFF_PPM * (2 * sim_uniform(&r) - 1);
		o->start_ns = 300e6 * sim_uniform(&r);
		rc = hear_beacons(w, o, &r, err);
		for (double t = FRAME_NS * 4; t + FRAME_NS < seconds * 1e9 && !rc; t += FRAME_NS)
			rc = add_frame(o, i, t, &r, err);
		if (!rc)
			qsort(o->edge, o->n_edges, sizeof(*o->edge), by_time);
	}
	return rc;
}

void demo_world_free(struct demo_world *w)
{
	for (unsigned i = 0; i < DEMO_OBSERVERS; i++) {
		free(w->observer[i].edge);
		free(w->observer[i].beacon);
	}
}

uint64_t demo_tick(const struct demo_observer *o, double true_ns)
{
	double ticks = (true_ns - o->start_ns) * 1e-9 * DEMO_RATE_HZ * (1 + o->rate_off_ppm * 1e-6);

	return ticks <= 0 ? 0 : (uint64_t)ceil(ticks);
}

int demo_write_samples(const struct demo_world *w, const struct demo_observer *o, const char *path,
		       struct cvl_error *err)
{
	struct run_file *f = calloc(1, sizeof(*f));
	uint64_t end = demo_tick(o, w->seconds * 1e9), at = 0;
	uint8_t level = 0;
	int rc = 0;

	if (!f)
		return cvl_no_memory(err);
	f->path = path;
	f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (f->fd < 0) {
		rc = cvl_fail_errno(err, "create", path);
		goto out;
	}
	for (size_t i = 0; i < o->n_edges && !rc; i++) {
		uint64_t tick = demo_tick(o, o->edge[i].true_ns);

		rc = runs_put(f, level, tick - at, err);
		at = tick;
		level = (uint8_t)((level & ~(1u << o->edge[i].line)) | (unsigned)o->edge[i].level
									       << o->edge[i].line);
	}
	if (!rc)
		rc = runs_put(f, level, end - at, err);
	if (!rc)
		rc = runs_end(f, err);
	close(f->fd);
out:
	free(f);
	return rc;
}

int demo_write_beacons(const struct demo_observer *o, const char *path, struct cvl_error *err)
{
	FILE *f = fopen(path, "we");
	bool ok;

	if (!f)
		return cvl_fail_errno(err, "create", path);
	fprintf(f, "tick,sender,seq\n");
	for (size_t i = 0; i < o->n_beacons; i++)
		fprintf(f, "%llu,%d,%llu\n", (unsigned long long)o->beacon[i].tick, DEMO_SENDER,
			(unsigned long long)o->beacon[i].seq);
	ok = !ferror(f);
	return fclose(f) || !ok ? cvl_fail_errno(err, "write", path) : 0;
}
