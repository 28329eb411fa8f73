/* SPDX-License-Identifier: MIT */
/*
 * Where its numbers come from: clocks within 200 ppm and beacons once a second as in Grace (Sec.
 * III), receiver jitter of 487 ns as its Fig. 5a gives for a pair, some beacons missed and some
 * late as any radio has them. The rates hold still: this world is short.
 */
#include <coeval/sim.h>

#include <coeval/array.h>
#include <coeval/files.h>
#include <coeval/format.h>
#include <coeval/timeline.h>

#include "core/random.h"
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
#define SLOT_NS (FRAME_NS / OBSERVERS)
#define FLIGHT_NS 12000.0 /* from the start of a packet to its reception */

#define OBSERVERS CVL_SIM_DEMO_OBSERVERS
#define RATE_HZ CVL_SIM_DEMO_RATE
#define SENDER 1

/* A line of an observer changed at a true time (ns since the sender of beacons started). */
struct demo_edge {
	double true_ns;
	uint8_t line, level;
};

struct demo_observer {
	char name[24];
	double rate_off_ppm;    /* positive: its clock runs fast */
	double start_ns;        /* true time of its first sample */
	struct demo_edge *edge; /* in order of time */
	size_t n_edges, capacity;
	struct {
		uint64_t tick, seq;
	} * beacon;
	size_t n_beacons;
};

struct cvl_sim_demo {
	uint64_t seed;
	unsigned seconds;
	struct demo_observer observer[OBSERVERS];
};

/* Lines of the nodes; the last is the analyzer's eighth. */
enum { LINE_SLOT, LINE_SEND, LINE_RECEIVE, LINE_FRAME, LINE_BEACON = 7 };

/* Sample at which observer @o first sees what happens at @true_ns. */
static uint64_t demo_tick(const struct demo_observer *o, double true_ns)
{
	double ticks = (true_ns - o->start_ns) * 1e-9 * RATE_HZ * (1 + o->rate_off_ppm * 1e-6);

	return ticks <= 0 ? 0 : (uint64_t)ceil(ticks);
}

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

	for (unsigned slot = 0; slot < OBSERVERS && !rc; slot++) {
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

static int hear_beacons(const struct cvl_sim_demo *w, struct demo_observer *o, struct sim_random *r,
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
		rc = add_pulse(o, t, BEACON_HIGH_NS, LINE_BEACON, err);
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

int cvl_sim_demo_make(struct cvl_sim_demo **demo, uint64_t seed, unsigned seconds,
		      struct cvl_error *err)
{
	struct cvl_sim_demo *w = calloc(1, sizeof(*w));
	struct sim_random r = { seed };
	int rc = w ? 0 : cvl_no_memory(err);

	*demo = w;
	if (rc)
		return rc;
	*w = (struct cvl_sim_demo){ .seed = seed, .seconds = seconds };
	for (unsigned i = 0; i < OBSERVERS && !rc; i++) {
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

void cvl_sim_demo_free(struct cvl_sim_demo *demo)
{
	for (unsigned i = 0; demo && i < OBSERVERS; i++) {
		free(demo->observer[i].edge);
		free(demo->observer[i].beacon);
	}
	free(demo);
}

double cvl_sim_demo_rate_off_ppm(const struct cvl_sim_demo *demo, unsigned i)
{
	return demo->observer[i].rate_off_ppm;
}

/* Raw samples, one byte each. */
static int write_samples(const struct cvl_sim_demo *w, const struct demo_observer *o,
			 const char *path, struct cvl_error *err)
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

/* CSV: tick,sender,seq */
static int write_beacons(const struct demo_observer *o, const char *path, struct cvl_error *err)
{
	FILE *f = fopen(path, "we");
	bool ok;

	if (!f)
		return cvl_fail_errno(err, "create", path);
	fprintf(f, "tick,sender,seq\n");
	for (size_t i = 0; i < o->n_beacons; i++)
		fprintf(f, "%llu,%d,%llu\n", (unsigned long long)o->beacon[i].tick, SENDER,
			(unsigned long long)o->beacon[i].seq);
	ok = !ferror(f);
	return fclose(f) || !ok ? cvl_fail_errno(err, "write", path) : 0;
}

int cvl_sim_demo_capture(const struct cvl_sim_demo *demo, const char *dir, const char *path,
			 struct cvl_error *err)
{
	struct cvl_session *s;
	int rc = cvl_session_create(&s, path, err);

	for (unsigned i = 0; i < OBSERVERS && !rc; i++) {
		const struct demo_observer *o = &demo->observer[i];
		char samples[CVL_PATH_MAX + 40], beacons[CVL_PATH_MAX + 40];
		const struct cvl_import_opts opts = {
			.node = o->name,
			.rate_hz = RATE_HZ,
			.channels = 8,
			.names = "SLOT,SEND,RECEIVE,FRAME,D4,D5,D6,BEACON",
			.beacons = beacons,
		};

		snprintf(samples, sizeof(samples), "%s/%s.raw", dir, o->name);
		snprintf(beacons, sizeof(beacons), "%s/%s-beacons.csv", dir, o->name);
		rc = write_samples(demo, o, samples, err);
		if (!rc)
			rc = write_beacons(o, beacons, err);
		if (!rc)
			rc = cvl_import(s, samples, "raw", &opts, err);
		unlink(samples); /* hundreds of megabytes that the seed can make again */
	}
	if (s)
		cvl_session_close(s);
	return rc;
}

/* What cvl_sim_demo_compare() goes by. */
struct comparison {
	size_t next[OBSERVERS];
	uint8_t level[OBSERVERS];
	double low, high, shift, sum;
};

/* A record, which may hold the edges of several lines. */
static void compare_record(const struct cvl_sim_demo *w, struct comparison *k, bool nominal,
			   const struct cvl_timeline *tl, const struct cvl_slice *sl, size_t i,
			   struct cvl_sim_demo_score *out)
{
	const struct demo_observer *o = &w->observer[sl->clock];
	uint64_t tick = sl->batch->tick[i].count;
	int64_t bound = cvl_timeline_bound(tl, sl, i);
	uint8_t *level = &k->level[sl->clock];
	size_t *next = &k->next[sl->clock];

	while (*next < o->n_edges && demo_tick(o, o->edge[*next].true_ns) <= tick) {
		const struct demo_edge *e = &o->edge[(*next)++];
		double error = (double)sl->time[i].ns - e->true_ns;

		*level = (uint8_t)((*level & ~(1u << e->line)) | (unsigned)e->level << e->line);
		if (isnan(k->shift))
			k->shift = nominal ? error : round(error / 1e9) * 1e9;
		error -= k->shift;
		out->edges++;
		out->covered += bound != CVL_BOUND_UNKNOWN && fabs(error) <= (double)bound;
		k->sum += fabs(error);
		out->worst_ns = fmax(out->worst_ns, fabs(error));
		k->low = fmin(k->low, error);
		k->high = fmax(k->high, error);
	}
	out->unmatched += *level != sl->batch->value[i];
}

int cvl_sim_demo_compare(const struct cvl_sim_demo *demo, struct cvl_session *session, bool nominal,
			 struct cvl_sim_demo_score *score, struct cvl_error *err)
{
	const struct cvl_timeline_opts opts = { .nominal = nominal };
	struct comparison k = { .low = INFINITY, .high = -INFINITY, .shift = NAN };
	struct cvl_timeline *tl;
	struct cvl_block block;
	struct cvl_slice sl;
	int rc = cvl_timeline_open(&tl, session, &opts, err);

	*score = (struct cvl_sim_demo_score){ 0 };
	if (rc)
		return rc;
	while ((rc = cvl_timeline_next(tl, &block, err)) > 0)
		while (cvl_block_take(&block, &sl))
			for (size_t i = sl.begin; i < sl.end; i++)
				if (sl.batch->kind[i] == CVL_EDGE &&
				    !(sl.batch->flags[i] & CVL_STATE))
					compare_record(demo, &k, nominal, tl, &sl, i, score);
	for (unsigned i = 0; i < OBSERVERS; i++)
		score->unmatched += demo->observer[i].n_edges - k.next[i];
	score->mean_ns = k.sum / (double)(score->edges ? score->edges : 1);
	score->apart_ns = k.high - k.low;
	cvl_timeline_close(tl);
	return rc;
}
