/* SPDX-License-Identifier: MIT */
#include "capture/observer/stream.h"

#include "store/samples.h"
#include <coeval/files.h>
#include "core/text.h"
#include "capture/observer/anchor.h"
#include "capture/observer/packet_stream.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Reserved for the last packet and session.json, in case the disk fills up. */
#define BALLAST_BYTES ((off_t)256 << 10)
#define EVENTS_MAX 8

struct stream {
	struct cvl_session *session;
	struct stream_opts opts;
	struct cvl_samples *samples;
	struct packet_stream *packets; /* instead of samples, if the analyzer delivers such */
	struct radio_ear *ear;
	char name[256];
	char dir[CVL_PATH_MAX], anchor_path[CVL_PATH_MAX], ballast[CVL_PATH_MAX];
	char *line[CVL_LINES_MAX];
	size_t n_lines;
	uint64_t rate_hz;
	unsigned unit;
	int event[EVENTS_MAX]; /* classes of its analyzer, as numbered by the writer */
	bool resumed, started, ended, failed, edges_within;
	bool replayed;        /* from a file or a pipe: its time is unknown */
	struct cvl_tick last; /* of the resumed capture */
	struct anchor start;
	uint64_t stop_tick; /* nothing is accepted after this; 0: no end */
	struct stream_counters count;
};

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- opening ---- */

static int make_places(struct stream *s, struct cvl_error *err)
{
	char file[300];

	if (!cvl_path_join(s->dir, cvl_session_path(s->session), "capture"))
		goto too_long;
	if (mkdir(s->dir, 0777) && !cvl_is_dir(s->dir))
		return cvl_fail_errno(err, "make the directory", s->dir);
	snprintf(file, sizeof(file), "%s.json", s->name);
	if (!cvl_path_join(s->anchor_path, s->dir, file))
		goto too_long;
	snprintf(file, sizeof(file), "%s.ballast", s->name);
	if (!cvl_path_join(s->ballast, s->dir, file))
		goto too_long;
	return 0;
too_long:
	return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long",
			cvl_session_path(s->session));
}

/* Without it a full disk costs the space of the last gap, no more. */
static void put_ballast(const struct stream *s)
{
	static const char block[65536];
	FILE *f = fopen(s->ballast, "we");

	for (off_t n = 0; f && n < BALLAST_BYTES; n += (off_t)sizeof(block))
		if (fwrite(block, sizeof(block), 1, f) != 1)
			break;
	if (f)
		fclose(f);
}

static int open_clock(struct stream *s, const struct driver_analyzer *a, const char *driver,
		      struct cvl_error *err)
{
	const struct cvl_store_desc desc = {
		.clock = s->name,
		.node = s->opts.node,
		.rate_hz = a->rate_hz,
		.start_unix_ns = s->opts.start_unix_ns,
		.lines = (const char *const *)s->line,
		.n_lines = a->lines,
		.edges_within = a->edges_within,
		.resolution = a->resolution,
		.channels = a->channels,
		.n_channels = a->n_channels,
	};
	const struct cvl_origin origin = { .format = driver, .path = a->where };
	int at = -1;

	for (size_t i = 0; i < cvl_session_clocks(s->session); i++)
		if (!strcmp(cvl_session_clock(s->session, i)->name, s->name))
			at = (int)i;
	s->resumed = at >= 0;
	s->replayed = !strcmp(driver, "file") || !strcmp(driver, "pipe") || cvl_is_file(a->where);
	if (s->resumed) {
		s->opts.start_unix_ns = cvl_session_clock(s->session, (size_t)at)->start_unix_ns;
		return cvl_samples_resume(&s->samples, s->session, (size_t)at, &desc, a->unit,
					  &s->last, err);
	}
	return cvl_samples_open(&s->samples, s->session, &desc, &origin, a->unit, err);
}

static int see_rise(void *ctx, struct cvl_tick tick, struct cvl_writer *w, struct cvl_error *err)
{
	struct stream *s = ctx;
	double since =
		(double)(driver_boottime_ns() - s->start.late) * (1 - DRIVER_CRYSTAL_PPM * 1e-6);
	struct cvl_tick now = { s->start.tick };

	if (since > 0)
		now.count += (uint64_t)(since * 1e-9 * (double)s->rate_hz);
	return radio_rise(s->ear, tick, now.count > tick.count ? now : tick, w, err);
}

int stream_open(struct stream **out, struct cvl_session *session, const struct driver_analyzer *a,
		const struct driver *driver, const struct stream_opts *opts, struct cvl_error *err)
{
	struct stream *s = calloc(1, sizeof(*s));
	int rc;

	*out = s;
	if (!s)
		return cvl_no_memory(err);
	s->session = session;
	s->opts = *opts;
	s->rate_hz = a->rate_hz;
	s->unit = a->unit;
	s->n_lines = a->lines;
	s->edges_within = a->edges_within;
	snprintf(s->name, sizeof(s->name), "%s", opts->clock);
	cvl_path_clean(s->name);
	rc = make_places(s, err);
	if (!rc && a->metadata) {
		rc = packet_stream_open(&s->packets, session, a, driver->pub.name, s->name,
					opts->node, err);
		goto opened;
	}
	if (!rc)
		rc = cvl_names_fill(s->line, a->lines, a->names, err);
	if (!rc && opts->names)
		rc = cvl_names_fill(s->line, a->lines, opts->names, err);
	if (!rc && opts->radio && opts->radio_line >= a->lines)
		rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			      "%s: the radio's line is number %u, and there are %u", s->name,
			      opts->radio_line + 1, a->lines);
	if (!rc)
		rc = open_clock(s, a, driver->pub.name, err);
	for (size_t i = 0; i < a->n_events && !rc; i++) {
		int class = cvl_writer_declare(cvl_samples_writer(s->samples), a->events[i].name,
					       a->events[i].field, a->events[i].n, err);

		assert(i < EVENTS_MAX);
		s->event[i] = class;
		rc = class < 0 ? class : 0;
	}
	if (!rc && opts->radio) {
		const struct cvl_watch watch = { see_rise, s, opts->radio_line };

		s->ear = radio_listen(opts->radio, a->rate_hz);
		rc = s->ear ? radio_declare(s->ear, cvl_samples_writer(s->samples), err) :
			      cvl_no_memory(err);
		cvl_samples_watch(s->samples, &watch);
	}
opened:
	if (rc) {
		stream_close(s, NULL);
		*out = NULL;
		return rc;
	}
	put_ballast(s);
	return 0;
}

/* ---- errors ---- */

__attribute__((format(printf, 3, 4))) static void say(const struct stream *s, bool problem,
						      const char *fmt, ...)
{
	char text[600];
	va_list ap;
	int n = snprintf(text, sizeof(text), "%s: ", s->name);

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	s->opts.tell(s->opts.ctx, problem, text);
}

/*
 * Whether @rc is a write error, or a core misbehaves. Then this stream ends here, with what can
 * still be stored of it, and the others continue.
 */
static int give_up(struct stream *s, int rc, const struct cvl_error *why)
{
	bool full = rc == CVL_E_FULL;

	if (!full && rc != CVL_E_IO && (rc != CVL_E_LIMIT || !s->packets))
		return rc;
	say(s, true, "%s%s; this stream ends here, with a gap. What was captured is kept",
	    full ? "no room left: " : "", why->text);
	unlink(s->ballast);
	s->failed = s->ended = true;
	if (s->packets)
		return 0;
	cvl_samples_gap(s->samples, full ? CVL_GAP_DISK_FULL : CVL_GAP_UNKNOWN, CVL_LOST_UNKNOWN,
			NULL);
	s->count.gaps++;
	return 0;
}

/* ---- samples ---- */

static int skip(struct stream *s, const struct driver_loss *loss, struct cvl_error *err)
{
	struct cvl_error problem;
	int rc;

	if (s->ended)
		return 0;
	s->count.gaps++;
	s->count.lost += loss->samples;
	rc = cvl_samples_skip(s->samples, loss->why, loss->samples, loss->slack, &problem);
	if (s->ear)
		radio_slip(s->ear, loss->slack);
	if (s->stop_tick && cvl_samples_count(s->samples) >= s->stop_tick)
		s->ended = true;
	if (rc && err)
		*err = problem;
	return rc ? give_up(s, rc, &problem) : 0;
}

static void set_stop(struct stream *s)
{
	if (s->opts.duration_ns)
		s->stop_tick = s->start.tick +
			       (uint64_t)((double)s->opts.duration_ns * 1e-9 * (double)s->rate_hz);
}

/*
 * @ticks of @loss are stored; at least one tick is left, whatever part of the range that cuts off.
 */
static void take_off(struct driver_loss *loss, uint64_t ticks)
{
	int64_t left = (int64_t)loss->samples - (int64_t)ticks, slack = (int64_t)loss->slack;
	uint64_t least = left - slack > 1 ? (uint64_t)(left - slack) : 1;
	uint64_t most = left + slack > 1 ? (uint64_t)(left + slack) : 1;

	loss->samples = least + (most - least + 1) / 2;
	loss->slack = loss->samples - least;
}

/*
 * Record how well the claimed start is known: by this machine's clock, and by UTC if something
 * disciplines that.
 */
static int state_start(struct stream *s, struct cvl_error *err)
{
	const int64_t start = s->opts.start_unix_ns, utc = anchor_utc_error();
	char host[ANCHOR_HOST];
	struct cvl_clock_facts facts = { .host = host };
	int at = cvl_session_find(s->session, s->name);

	anchor_host(&s->start, host);
	facts.host_bound_ns = 1 + (s->start.unix_late > start ? s->start.unix_late - start : 0);
	if (start - s->start.unix_early > facts.host_bound_ns)
		facts.host_bound_ns = start - s->start.unix_early;
	facts.start_bound_ns = utc ? facts.host_bound_ns + utc : 0;
	return at < 0 ? 0 : cvl_session_state(s->session, (size_t)at, &facts, err);
}

int stream_started(struct stream *s, int64_t early, int64_t late, struct cvl_error *err)
{
	struct anchor before;
	struct driver_loss loss = { .why = CVL_GAP_UNFINISHED };
	struct cvl_error problem;
	uint64_t from, behind;

	s->started = true;
	if (s->packets) {
		if (strcmp(packet_stream_name(s->packets), s->name) != 0)
			say(s, false, "the session has another run of it; this one is the epoch %s",
			    packet_stream_name(s->packets));
		s->start = anchor_between(0, early, late);
		return 0;
	}
	from = cvl_samples_count(s->samples);
	s->start = anchor_between(from, early, late);
	set_stop(s);
	if (!s->resumed || !from) {
		int rc = anchor_save(&s->start, s->anchor_path, &problem);

		if (!rc && !s->replayed)
			rc = state_start(s, &problem);
		if (rc && err)
			*err = problem;
		return rc ? give_up(s, rc, &problem) : 0;
	}
	if (anchor_load(&before, s->anchor_path, &problem)) {
		const int64_t start = s->opts.start_unix_ns;
		double ns = (double)from * 1e9 / (double)s->rate_hz;

		say(s, true,
		    "%s; by the wall clock, it is known to a second how long nothing was captured",
		    problem.text);
		before = (struct anchor){ .tick = from };
		before.unix_early = start + (int64_t)(ns * (1 - DRIVER_CRYSTAL_PPM * 1e-6));
		before.unix_late = start + (int64_t)(ns * (1 + DRIVER_CRYSTAL_PPM * 1e-6));
	}
	loss = anchor_loss(&before, &s->start, s->rate_hz, CVL_GAP_UNFINISHED);
	/* the anchor is some ticks before or after the last stored one */
	behind = before.tick > from ? before.tick - from : 0;
	loss.samples += behind;
	if (from > before.tick)
		take_off(&loss, from - before.tick);
	s->start.tick = from + loss.samples;
	set_stop(s);
	return skip(s, &loss, err);
}

/* No more than up to the stop tick. */
static size_t up_to_the_end(struct stream *s, size_t n)
{
	uint64_t have = cvl_samples_count(s->samples), rest;

	if (!s->stop_tick)
		return n;
	rest = have < s->stop_tick ? (s->stop_tick - have) * s->unit : 0;
	if (rest > n)
		return n;
	s->ended = true;
	return (size_t)rest;
}

int stream_samples(struct stream *s, const void *bytes, size_t n, struct cvl_error *err)
{
	struct cvl_error problem;
	double begin = cpu_s();
	uint64_t before;
	int rc;

	if (s->ended)
		return 0;
	n = up_to_the_end(s, n);
	before = cvl_samples_count(s->samples);
	rc = cvl_samples_feed(s->samples, bytes, n, &problem);
	s->count.samples += cvl_samples_count(s->samples) - before;
	s->count.bytes += n;
	s->count.cpu_s += cpu_s() - begin;
	if (rc && err)
		*err = problem;
	return rc ? give_up(s, rc, &problem) : 0;
}

/* Write @r at @tick. */
static int put_record(struct stream *s, const struct driver_record *r, uint64_t at,
		      struct cvl_error *err)
{
	struct cvl_writer *w = cvl_samples_writer(s->samples);
	const struct cvl_tick tick = { at };
	uint64_t to;
	int rc;

	switch (r->what) {
	case DRIVER_LEVELS: return cvl_writer_levels(w, tick, r->levels, err);
	case DRIVER_EDGE:
		return s->edges_within ? cvl_writer_edge_within(w, tick, r->half, r->levels, err) :
					 cvl_writer_edges(w, &tick, &r->levels, 1, err);
	case DRIVER_SAMPLE: return cvl_writer_sample(w, tick, r->cls, r->value, err);
	case DRIVER_PULSE: return cvl_writer_pulse(w, tick, r->cls, err);
	case DRIVER_SUMMARY:
	case DRIVER_EVENT: return cvl_writer_event(w, tick, s->event[r->cls], r->field, err);
	case DRIVER_GAP:
		s->count.gaps++;
		s->count.lost += r->gap.lost == CVL_LOST_UNKNOWN ? 0 : r->gap.lost;
		if (!r->gap.lines_known)
			cvl_writer_forget_levels(w);
		to = r->gap.to == CVL_TICK_UNKNOWN ? CVL_TICK_UNKNOWN : r->gap.to + (at - r->tick);
		rc = cvl_writer_gap(w, tick, (struct cvl_tick){ to }, r->gap.lost, r->gap.why, err);
		return rc ? rc : cvl_writer_restate(w, tick, err);
	case DRIVER_SLIP:
		return cvl_writer_slip(w, (struct cvl_tick){ r->slip.from + (at - r->tick) }, tick,
				       r->slip.half, err);
	case DRIVER_NOTHING: return 0;
	}
	return 0;
}

int stream_records(struct stream *s, const struct driver_record *r, size_t n, struct cvl_error *err)
{
	struct cvl_error problem;
	double begin = cpu_s();
	int rc = 0;

	for (size_t i = 0; i < n && !rc && !s->failed; i++) {
		uint64_t tick = s->start.tick + r[i].tick;

		if (r[i].what == DRIVER_SUMMARY) {
			tick = cvl_samples_count(s->samples);
			rc = put_record(s, &r[i], tick ? tick - 1 : 0, &problem);
			continue;
		}
		if (s->ended)
			continue;
		if (s->stop_tick && tick >= s->stop_tick) {
			cvl_samples_advance(s->samples, s->stop_tick);
			s->ended = true;
			continue;
		}
		rc = put_record(s, &r[i], tick, &problem);
		cvl_samples_advance(s->samples, tick + (r[i].what != DRIVER_NOTHING));
	}
	s->count.samples = cvl_samples_count(s->samples) - s->start.tick;
	s->count.cpu_s += cpu_s() - begin;
	if (rc && err)
		*err = problem;
	return rc ? give_up(s, rc, &problem) : 0;
}

int stream_packet(struct stream *s, const struct driver_packet *packet, struct cvl_error *err)
{
	struct cvl_error problem;
	bool restarted = false;
	int rc;

	if (s->ended)
		return 0;
	rc = packet_stream_add(s->packets, packet, &restarted, &problem);
	if (restarted && !rc)
		say(s, true, "its processor was reset; what follows is the epoch %s",
		    packet_stream_name(s->packets));
	s->count.packets++;
	s->count.bytes += packet->n;
	s->count.samples = packet_stream_ticks(s->packets);
	if (rc && err)
		*err = problem;
	return rc ? give_up(s, rc, &problem) : 0;
}

int stream_lost(struct stream *s, const struct driver_loss *loss, struct cvl_error *err)
{
	anchor_widen(&s->start, s->rate_hz, loss->slack);
	return skip(s, loss, err);
}

int stream_flush(struct stream *s, struct cvl_error *err)
{
	struct cvl_error problem;
	struct anchor now;
	uint64_t count;
	int rc;

	if (s->ended || !s->started)
		return 0;
	if (s->packets) {
		rc = packet_stream_flush(s->packets, &problem);
		if (rc && err)
			*err = problem;
		return rc ? give_up(s, rc, &problem) : 0;
	}
	count = cvl_samples_count(s->samples);
	if (!count)
		return 0;
	rc = cvl_writer_flush_until(cvl_samples_writer(s->samples), (struct cvl_tick){ count - 1 },
				    &problem);
	now = anchor_at(&s->start, s->rate_hz, count);
	if (!rc)
		rc = anchor_save(&now, s->anchor_path, &problem);
	if (rc && err)
		*err = problem;
	return rc ? give_up(s, rc, &problem) : 0;
}

/* ---- asking ---- */

bool stream_ended(const struct stream *s)
{
	/* the clock of packets may have stopped: use the host's */
	if (s->packets && s->started && s->opts.duration_ns &&
	    driver_boottime_ns() - s->start.early >= s->opts.duration_ns)
		return true;
	return s->ended;
}

bool stream_failed(const struct stream *s)
{
	return s->failed;
}

const char *stream_name(const struct stream *s)
{
	return s->name;
}

uint64_t stream_rate(const struct stream *s)
{
	return s->packets ? packet_stream_rate(s->packets) : s->rate_hz;
}

struct stream_counters stream_counters(const struct stream *s)
{
	struct stream_counters c = s->count;

	if (s->samples)
		c.edges = cvl_writer_count(cvl_samples_writer(s->samples));
	if (s->ear)
		c.beacons = radio_counters(s->ear).paired;
	return c;
}

struct radio_counters stream_radio_counters(const struct stream *s)
{
	return s->ear ? radio_counters(s->ear) : (struct radio_counters){ 0 };
}

int stream_close(struct stream *s, struct cvl_error *err)
{
	int rc = 0;

	if (!s)
		return 0;
	unlink(s->ballast);
	if (s->samples)
		rc = cvl_samples_close(s->samples, 0, err);
	if (s->packets)
		rc = packet_stream_close(s->packets, !s->failed, err);
	radio_ear_close(s->ear);
	cvl_names_free(s->line, s->n_lines);
	free(s);
	return rc;
}
