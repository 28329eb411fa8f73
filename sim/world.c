/* SPDX-License-Identifier: MIT */
/*
 * Recording of a simulated world: each clock's ticks as a capture would have stored them, and the
 * truth beside it.
 */
#include "sim/happen.h"
#include "sim/runs.h"
#include "store/maps.h"

#include <coeval/session.h>

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Wall-clock time at the world's start, and how well observers know it (NTP on a wireless network).
 */
#define UNIX_START 1700000000000000000
#define WALL_CLOCK_SD_NS 5e6
#define WALL_CLOCK_BOUND 5 /* sd, that the claim is stated to be within */

/* ---- the truth ---- */

/* From one reset of a clock, or its start, to the next, or its end. */
struct epoch {
	double from, to; /* true times, ns */
	int64_t back;    /* what is counted from its start is so many ticks ahead of its counter */
};

static void add_knot(struct cvl_knot *k, size_t *n, const struct world_clock *c,
		     const struct oscillator *o, double t, bool before_jump)
{
	double tick = clock_counts(c, o, before_jump ? t - 1e-3 : t), whole = floor(tick), time;

	if (tick < 0 || (*n && whole <= (double)k[*n - 1].tick.count))
		return;
	time = t - (tick - whole) * 1e9 / (double)c->group->rate_hz;
	if (*n && time < (double)k[*n - 1].time.ns + k[*n - 1].frac * 0x1p-32)
		return;
	k[*n] = (struct cvl_knot){ .tick = { (uint64_t)whole },
				   .time = { (int64_t)floor(time) },
				   .frac = (uint32_t)((time - floor(time)) * 0x1p32) };
	++*n;
}

/* Up to where its ticks first go back: beyond, no function of the tick is true. */
static double true_until(const struct epoch *e, const struct oscillator *o)
{
	double end = e->to;

	for (size_t i = 0; i < o->n_jumps; i++)
		if (o->jump[i].ns < 0 && o->jump[i].at >= e->from)
			end = fmin(end, o->jump[i].at);
	return end;
}

static int true_map(struct cvl_map **map, const struct epoch *e, const struct world_clock *c,
		    const struct oscillator *o, struct cvl_error *err)
{
	struct cvl_knot *k = calloc(o->n + 2 + 2 * WORLD_LIST, sizeof(*k));
	struct cvl_map_spec spec = { .rate_hz = c->group->rate_hz,
				     .knots = k,
				     .kind = CVL_BOUND_PROVEN };
	double end = true_until(e, o), last = e->from;
	int rc;

	if (!k)
		return cvl_no_memory(err);
	add_knot(k, &spec.n, c, o, e->from, false);
	for (size_t i = 0; i <= o->n && last < end; i++) {
		double t = (double)i * o->step_ns;

		if (t <= e->from)
			continue;
		t = fmin(t, end);
		for (size_t j = 0; j < o->n_jumps; j++)
			if (o->jump[j].at > last && o->jump[j].at < t) {
				add_knot(k, &spec.n, c, o, o->jump[j].at, true);
				add_knot(k, &spec.n, c, o, o->jump[j].at, false);
			}
		add_knot(k, &spec.n, c, o, t, t == end);
		last = t;
	}
	for (size_t i = 0; i < spec.n; i++)
		k[i].tick.count -= (uint64_t)e->back;
	rc = cvl_map_new(map, &spec, err);
	free(k);
	return rc;
}

static int new_truth(struct cvl_sync **out, const struct world *w, const struct world_air *air,
		     struct cvl_error *err)
{
	struct cvl_sync *s = calloc(1, sizeof(*s));
	char settings[80];

	*out = s;
	if (s)
		s->clock = calloc(air->n_clocks * (WORLD_LIST + 1) + 1, sizeof(*s->clock));
	if (!s || !s->clock)
		return cvl_no_memory(err);
	snprintf(settings, sizeof(settings), "{\"world\": \"%s\", \"seed\": %lld}", w->name,
		 (long long)w->seed);
	s->estimator = strdup("truth");
	s->reference = strdup("true time");
	s->settings = strdup(settings);
	s->epoch_unix_ns = UNIX_START;
	return s->estimator && s->reference && s->settings ? 0 : cvl_no_memory(err);
}

/* ---- the capture ---- */

struct recorder {
	const struct world_air *air;
	const struct world_clock *c;
	struct oscillator osc;
	struct epoch epoch;
	struct cvl_writer *writer;
	uint64_t last, end;
	int sent, received; /* event classes */
	struct sim_random delays;
	uint32_t slips; /* recorded, by their place among the faults */
	struct cvl_error *err;
};

/* What its counter stands at when something happens at @t. */
static uint64_t stamp(const struct recorder *r, double t)
{
	return clock_stamp(r->c, &r->osc, t) - (uint64_t)r->epoch.back;
}

/* A narrow counter is extended from one record to the next, as every capture does. */
static uint64_t extended(struct recorder *r, uint64_t tick)
{
	unsigned bits = r->c->group->bits;

	if (bits && bits < 64) {
		uint64_t mask = ((uint64_t)1 << bits) - 1;

		tick = r->last + (((tick & mask) - r->last) & mask);
	}
	r->last = tick;
	r->end = tick > r->end ? tick : r->end;
	return tick;
}

/* What a capture stores of the slips that ended before @t. */
static int record_slips(struct recorder *r, double t)
{
	const struct world *w = r->air->w;
	int rc = 0;

	for (size_t i = 0; i < w->n_faults && !rc; i++) {
		const struct world_fault *f = &w->fault[i];
		double end = (double)(f->at_ns + f->for_ns);
		struct cvl_tick from, to;

		if (f->kind != WORLD_SLIP || fnmatch(f->who, r->c->name, 0) || end > t ||
		    (double)f->at_ns < r->epoch.from || r->slips >> i & 1)
			continue;
		r->slips |= 1u << i;
		from.count = stamp(r, (double)f->at_ns);
		to.count = stamp(r, end);
		rc = cvl_writer_gap(r->writer, from, (struct cvl_tick){ to.count - 1 },
				    CVL_LOST_UNKNOWN, CVL_GAP_DISCONNECTED, r->err);
		if (!rc)
			rc = cvl_writer_slip(
				r->writer, (struct cvl_tick){ from.count ? from.count - 1 : 0 }, to,
				(uint64_t)ceil(f->amount * 1e-9 * (double)r->c->group->rate_hz) + 1,
				r->err);
		r->last = to.count;
	}
	return rc;
}

static int record(struct recorder *r, const struct happening *e)
{
	struct cvl_tick tick = { extended(r, stamp(r, e->t)) };
	union cvl_store_value v[2] = {
		{ .u = e->number },
		{ .s = r->air->clock[e->who < r->air->n_clocks ? e->who : 0].name }
	};
	switch ((enum happening_kind)e->kind) {
	case HAPPEN_EDGE: return cvl_writer_edges(r->writer, &tick, &e->number, 1, r->err);
	case HAPPEN_BEACON: return cvl_writer_beacon(r->writer, tick, e->who, e->number, r->err);
	case HAPPEN_SENT: return cvl_writer_event(r->writer, tick, r->sent, v, r->err);
	case HAPPEN_RECEIVED: return cvl_writer_event(r->writer, tick, r->received, v, r->err);
	}
	return 0;
}

static int declare(struct recorder *r)
{
	const struct cvl_store_field sent[] = { { "seq", CVL_STORE_U64 },
						{ "to", CVL_STORE_STRING } };
	const struct cvl_store_field received[] = { { "seq", CVL_STORE_U64 },
						    { "from", CVL_STORE_STRING } };

	if (!r->air->n_messages)
		return 0;
	r->sent = cvl_writer_declare(r->writer, "radio_send", sent, 2, r->err);
	r->received = r->sent < 0 ?
			      r->sent :
			      cvl_writer_declare(r->writer, "radio_receive", received, 2, r->err);
	return r->received < 0 ? r->received : 0;
}

static uint64_t disorder_of(const struct world_clock *c)
{
	return (uint64_t)ceil((double)c->group->disorder_ns * 1e-9 * (double)c->group->rate_hz);
}

/* Its clock, or the next epoch of that. */
static int open_epoch(struct recorder *r, struct cvl_session *s)
{
	const struct world *w = r->air->w;
	const char *lines[CVL_LINES_MAX];
	struct sim_random draw = world_random(w->seed, r->c->name, "wall clock");
	const bool first = r->epoch.from <= r->c->start;
	struct cvl_store_desc desc = {
		.clock = r->c->name,
		.rate_hz = r->c->group->rate_hz,
		.resolution = r->c->group->resolution,
		.disorder_ticks = disorder_of(r->c),
		.lines = lines,
		.n_lines = clock_lines(r->air, r->c, lines),
	};
	const struct cvl_origin origin = { .format = "sim", .path = w->name };
	int rc;

	if (first) {
		desc.start_unix_ns =
			UNIX_START + (int64_t)(r->c->start + WALL_CLOCK_SD_NS * sim_normal(&draw));
		desc.start_bound_ns = (int64_t)(WALL_CLOCK_BOUND * WALL_CLOCK_SD_NS);
	} else {
		desc.epoch_of = r->c->name;
		desc.after.count = r->end;
		desc.base_tick = stamp(r, r->epoch.from);
	}
	r->end = r->last = desc.base_tick;
	rc = cvl_session_add(s, &desc, &origin, &r->writer, r->err);
	if (!rc)
		rc = declare(r);
	if (!rc && desc.n_lines)
		rc = cvl_writer_levels(r->writer, (struct cvl_tick){ desc.base_tick }, 0, r->err);
	return rc;
}

static int end_epoch(struct recorder *r, struct cvl_session *s, struct cvl_sync *truth)
{
	const struct cvl_clock *c = cvl_session_clock(s, cvl_session_clocks(s) - 1);
	const uint64_t end = stamp(r, r->epoch.to);
	struct cvl_clock_sync *t = &truth->clock[truth->n];
	struct cvl_writer *writer = r->writer;
	char folder[CVL_PATH_MAX];
	int rc;

	r->writer = NULL;
	r->end = end > r->end ? end : r->end;
	rc = cvl_session_finish(s, writer, (struct cvl_tick){ r->end }, r->err);
	if (rc)
		return rc;
	truth->n++;
	rc = true_map(&t->map, &r->epoch, r->c, &r->osc, r->err);
	if (!rc && cvl_path_join(folder, cvl_session_path(s), MAPS_OF_TRUTH))
		rc = maps_move(folder, &t->map, r->err);
	t->clock = strdup(c->name);
	t->verdict = CVL_GOOD;
	snprintf(t->reason, sizeof(t->reason), "simulated");
	return rc || t->clock ? rc : cvl_no_memory(r->err);
}

static int64_t resolved(const struct recorder *r, double ticks)
{
	const int64_t resolution = (int64_t)r->c->group->resolution;

	return (int64_t)floor(ticks) / resolution * resolution;
}

/* The next epoch from @t on: its clock's first, or what follows its next reset; false: none. */
static bool next_epoch(struct recorder *r, bool first)
{
	const struct world *w = r->air->w;
	const double t = first ? -1 : r->epoch.to;
	const struct world_fault *reset = NULL;
	struct epoch *e = &r->epoch;
	double end = (double)w->duration_ns;

	e->from = r->c->start;
	e->back = 0;
	for (size_t i = 0; i < w->n_faults; i++) {
		const struct world_fault *f = &w->fault[i];
		const double at = (double)f->at_ns;

		if (f->kind != WORLD_RESET || fnmatch(f->who, r->c->name, 0) || at <= r->c->start)
			continue;
		if (at > t && at < end)
			end = at;
		else if (at == t)
			reset = f;
	}
	e->to = end;
	if (first)
		return true;
	if (!reset || (double)(reset->at_ns + reset->for_ns) >= end)
		return false;
	e->from = (double)(reset->at_ns + reset->for_ns);
	e->back = resolved(r, clock_counts(r->c, &r->osc, e->from)) -
		  resolved(r, reset->amount * 1e-9 * (double)r->c->group->rate_hz);
	return true;
}

static int by_stored(const void *pa, const void *pb)
{
	const struct happening *a = pa, *b = pb;

	if (a->stored != b->stored)
		return a->stored < b->stored ? -1 : 1;
	return a->t < b->t ? -1 : a->t > b->t;
}

/* The levels of all lines after each edge. */
static void find_levels(struct happening *at, size_t n)
{
	uint64_t levels = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t bit = (uint64_t)1 << at[i].line;

		if (at[i].kind == HAPPEN_EDGE)
			at[i].number = levels = at[i].level ? levels | bit : levels & ~bit;
	}
}

/* Bring the next @n happenings into the order in which they are stored. */
static void put_in_disorder(struct recorder *r, struct happening *at, size_t n)
{
	const double late = (double)r->c->group->disorder_ns;

	if (late <= 0)
		return;
	for (size_t i = 0; i < n; i++)
		at[i].stored = at[i].t + late * sim_uniform(&r->delays);
	qsort(at, n, sizeof(*at), by_stored);
}

static int record_epoch(struct recorder *r, struct happenings *h, size_t *i)
{
	size_t end = *i;
	int rc = 0;

	while (end < h->n && h->at[end].t < r->epoch.to)
		end++;
	find_levels(h->at + *i, end - *i);
	put_in_disorder(r, h->at + *i, end - *i);
	for (; *i < end && !rc; ++*i) {
		rc = record_slips(r, h->at[*i].t);
		if (!rc)
			rc = record(r, &h->at[*i]);
	}
	return rc;
}

static int record_clock(struct recorder *r, struct cvl_session *s, struct cvl_sync *truth)
{
	struct happenings h = { 0 };
	size_t i = 0;
	int rc;

	r->delays = world_random(r->air->w->seed, r->c->name, "disorder");
	rc = oscillator_make(&r->osc, r->air->w, &r->c->group->oscillator, r->c->name, r->err);

	if (!rc)
		rc = clock_happenings(&h, r->air, r->c, r->err);
	for (bool more = next_epoch(r, true); more && !rc; more = next_epoch(r, false)) {
		rc = open_epoch(r, s);
		rc = rc ? rc : record_epoch(r, &h, &i);
		rc = rc ? rc : end_epoch(r, s, truth);
	}
	free(h.at);
	cvl_writer_abandon(r->writer);
	oscillator_free(&r->osc);
	return rc;
}

int world_run(const struct world *w, const char *path, const struct cvl_progress *progress,
	      struct cvl_error *err)
{
	struct cvl_session *s = NULL;
	struct cvl_sync *truth = NULL;
	struct world_air air;
	int rc = world_check(w, err);

	if (rc)
		return rc;
	if (!access(path, F_OK))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: already exists", path);
	rc = air_make(&air, w, err);
	if (!rc)
		rc = new_truth(&truth, w, &air, err);
	if (!rc)
		rc = cvl_session_create(&s, path, err);
	for (size_t i = 0; i < air.n_clocks && !rc; i++) {
		struct recorder r = { .air = &air, .c = &air.clock[i], .err = err };

		rc = cvl_progress_tell(progress, i, air.n_clocks, err);
		if (!rc)
			rc = record_clock(&r, s, truth);
	}
	if (!rc) {
		snprintf(truth->session, sizeof(truth->session), "%s", cvl_session_uuid(s));
		rc = cvl_truth_save(truth, s, err);
	}
	cvl_session_close(s);
	cvl_sync_free(truth);
	air_free(&air);
	return rc;
}

/* ---- raw samples ---- */

static int put_samples(struct run_file *f, const struct world_clock *c, const struct oscillator *o,
		       const struct happenings *h, double end_ns, struct cvl_error *err)
{
	uint64_t at = 0, end = clock_stamp(c, o, end_ns) / c->group->resolution;
	uint8_t level = 0;
	int rc = 0;

	for (size_t i = 0; i < h->n && !rc; i++) {
		const struct happening *e = &h->at[i];
		uint64_t look = clock_stamp(c, o, e->t) / c->group->resolution;

		if (e->kind != HAPPEN_EDGE || e->line > 7)
			continue;
		if (look > at) {
			rc = runs_put(f, level, look - at, err);
			at = look;
		}
		level = (uint8_t)((level & ~(1u << e->line)) | (unsigned)e->level << e->line);
	}
	if (!rc && end > at)
		rc = runs_put(f, level, end - at, err);
	return rc ? rc : runs_end(f, err);
}

static int write_samples(const struct world *w, const struct world_air *air,
			 const struct world_clock *c, const char *path, struct cvl_error *err)
{
	struct run_file *f = calloc(1, sizeof(*f));
	struct happenings h = { 0 };
	struct oscillator o = { 0 };
	int rc;

	if (!f)
		return cvl_no_memory(err);
	f->path = path;
	f->fd = -1;
	rc = oscillator_make(&o, w, &c->group->oscillator, c->name, err);
	if (!rc)
		rc = clock_happenings(&h, air, c, err);
	if (!rc) {
		f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		rc = f->fd < 0 ? cvl_fail_errno(err, "create", path) :
				 put_samples(f, c, &o, &h, (double)w->duration_ns, err);
	}
	if (f->fd >= 0 && close(f->fd) && !rc)
		rc = cvl_fail_errno(err, "write", path);
	free(h.at);
	oscillator_free(&o);
	free(f);
	return rc;
}

int world_samples(const struct world *w, const char *clock, const char *path, struct cvl_error *err)
{
	struct world_air air;
	int rc = world_check(w, err);

	if (rc)
		return rc;
	rc = air_make(&air, w, err);
	if (!rc) {
		size_t i = 0;

		while (i < air.n_clocks && strcmp(air.clock[i].name, clock))
			i++;
		rc = i == air.n_clocks ? cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
						  "the world has no clock '%s'", clock) :
					 write_samples(w, &air, &air.clock[i], path, err);
	}
	air_free(&air);
	return rc;
}
