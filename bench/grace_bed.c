/* SPDX-License-Identifier: MIT */
#include "grace.h"

#include <coeval/error.h>

#include <stdio.h>

#define RUNS 3
#define ONE_S 30

#define NODES 16
#define NODES_S 60

#define FAULTY 10
#define EACH 2
#define FAULTS "unplug:2,overflow:2,kill:2,full:2"
#define DISK "16777216"

/* ---- what one analyzer takes ---- */

static int one_analyzer(const struct bench *b)
{
	struct bench_figure f = { .name = "one analyzer, 8 MHz: our CPU time a captured second",
				  .unit = "%",
				  .less_is_better = true,
				  .goal = 3 };
	struct bench_series whole = { 0 };

	for (int i = 0; i < RUNS; i++) {
		static struct grace_bed_run r;
		double s;
		int rc;

		r = (struct grace_bed_run){ .nodes = 1, .seconds = ONE_S, .faults = "" };
		bench_doing(b, "%s: run %d", f.name, i + 1);
		rc = grace_bed_start(b, &r);
		if (rc)
			return rc;
		s = grace_number(&r, "seconds");
		bench_add(&f.measured, 100 * grace_number(&r, "samples_cpu_s") / s);
		bench_add(&whole, 100 * grace_number(&r, "capture_cpu_s") / s);
	}
	snprintf(f.note, sizeof(f.note),
		 "its work on samples; the whole process %.2f %%, with libusb, the kernel and the "
		 "emulation's library",
		 bench_median(&whole));
	bench_figure_put(b, &f);
	return 0;
}

/* ---- many ---- */

/* What must be 0. */
static double wrong(const struct grace_bed_run *r)
{
	return grace_number(r, "invented") + grace_number(r, "missing") +
	       grace_number(r, "narrow_slips") + grace_number(r, "wrong_beacons") +
	       grace_number(r, "unopened");
}

static void put_wrong(const struct bench *b, const char *name, const struct grace_bed_run *r)
{
	char note[200];

	snprintf(note, sizeof(note),
		 "%.0f edges and %.0f beacons stored, %.0f of %.0f slips too narrow",
		 grace_number(r, "edges"), grace_number(r, "beacons"),
		 grace_number(r, "narrow_slips"), grace_number(r, "slips"));
	grace_put(b, name, "", true, 0, wrong(r), note);
}

static int sixteen(const struct bench *b)
{
	static struct grace_bed_run r;
	double rms, nominal;
	char note[200];
	int rc;

	r = (struct grace_bed_run){ .nodes = NODES, .seconds = NODES_S, .faults = "" };
	bench_doing(b, "%d observers x %d s", NODES, NODES_S);
	rc = grace_bed_start(b, &r);
	if (rc)
		return rc;
	rms = grace_number(&r, "rms_ns");
	nominal = grace_number(&r, "nominal_rms_ns");
	put_wrong(b, "16 observers x 60 s at 8 MHz: invented, missing, misplaced, unopened", &r);
	grace_put(b, "the same: gaps (samples lost)", "", true, 0, grace_number(&r, "gaps"), "");
	snprintf(note, sizeof(note), "%.1f ns rms of a pair against %.1f ns", rms, nominal);
	grace_put(b, "the same: error against the clock room's nominal world", "x", true, 1.15,
		  rms / nominal, note);
	snprintf(note, sizeof(note), "median bound %.0f ns", grace_number(&r, "median_bound_ns"));
	grace_put(b, "the same: errors within their bound", "%", false, 99.8,
		  100 * grace_number(&r, "coverage"), note);
	return 0;
}

static int faults(const struct bench *b)
{
	static const char *const kind[] = { "unplug", "overflow", "kill", "full" };
	static const char name[] = "unplug, overflow, kill -9, full disk: invented, missing, ...";
	static struct grace_bed_run r;
	double least = FAULTY * EACH;
	char why[200], note[200];
	int rc, n = 0;

	if (grace_no_bed(b, true, why)) {
		grace_skip(b, name, why);
		return 0;
	}
	r = (struct grace_bed_run){
		.nodes = FAULTY, .seconds = NODES_S, .faults = FAULTS, .disk = DISK
	};
	bench_doing(b, "faults");
	rc = grace_bed_start(b, &r);
	if (rc)
		return rc;
	put_wrong(b, name, &r);
	for (size_t i = 0; i < sizeof(kind) / sizeof(*kind); i++) {
		char key[32];
		double v;

		snprintf(key, sizeof(key), "faults_%s", kind[i]);
		v = grace_number(&r, key);
		least = v < least ? v : least;
		n += snprintf(note + n, sizeof(note) - (size_t)n, "%s%s %.0f", i ? ", " : "",
			      kind[i], v);
	}
	grace_put(b, "the same: times that each befell a node, at least", "", false, FAULTY * EACH,
		  least, note);
	snprintf(note, sizeof(note), "%.0f gaps, %.0f edges in them; %.0f ns rms",
		 grace_number(&r, "gaps"), grace_number(&r, "in_gaps"), grace_number(&r, "rms_ns"));
	grace_put(b, "the same: errors within their bound", "%", false, 99,
		  100 * grace_number(&r, "coverage"), note);
	return 0;
}

int grace_bed(const struct bench *b)
{
	char why[200];
	int rc;

	if (grace_no_bed(b, false, why)) {
		grace_skip(b, "test bed", why);
		return 0;
	}
	rc = one_analyzer(b);
	rc = rc ? rc : sixteen(b);
	return rc ? rc : faults(b);
}
