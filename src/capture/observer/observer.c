/* SPDX-License-Identifier: MIT */
#include "capture/observer/observer_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <coeval/files.h>

#define HOUSEKEEPING_NS 1000000000
#define STOPPING_NS 5000000000 /* a driver that has not ended by then is closed */
#define FDS_MAX 64
#define AT_ONCE INT64_MIN
#define RADIO_LINE 8 /* the default */

static int64_t unix_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- what the driver passes on ---- */

static int see_samples(void *ctx, size_t analyzer, const void *bytes, size_t n,
		       struct cvl_error *err)
{
	struct cvl_capture *o = ctx;

	return analyzer < o->n && o->stream[analyzer] ?
		       stream_samples(o->stream[analyzer], bytes, n, err) :
		       0;
}

static int see_records(void *ctx, size_t analyzer, const struct driver_record *r, size_t n,
		       struct cvl_error *err)
{
	struct cvl_capture *o = ctx;

	return analyzer < o->n && o->stream[analyzer] ?
		       stream_records(o->stream[analyzer], r, n, err) :
		       0;
}

static int see_packet(void *ctx, size_t analyzer, const struct driver_packet *packet,
		      struct cvl_error *err)
{
	struct cvl_capture *o = ctx;

	return analyzer < o->n && o->stream[analyzer] ?
		       stream_packet(o->stream[analyzer], packet, err) :
		       0;
}

static int see_loss(void *ctx, size_t analyzer, const struct driver_loss *loss,
		    struct cvl_error *err)
{
	struct cvl_capture *o = ctx;

	return analyzer < o->n && o->stream[analyzer] ?
		       stream_lost(o->stream[analyzer], loss, err) :
		       0;
}

static void tell(const struct cvl_capture *o, bool problem, const char *text)
{
	if (o->opts->tell)
		o->opts->tell(o->opts->ctx, problem, text);
}

static void see_text(void *ctx, size_t analyzer, bool problem, const char *text)
{
	const struct cvl_capture *o = ctx;
	char line[700];

	if (o->n > 1 && analyzer < o->n && o->stream[analyzer]) {
		snprintf(line, sizeof(line), "%s: %s", stream_name(o->stream[analyzer]), text);
		text = line;
	}
	tell(o, problem, text);
}

static void see_own_text(void *ctx, bool problem, const char *text)
{
	tell(ctx, problem, text);
}

/* ---- from idle to running ---- */

static int prepare(struct cvl_capture *o, struct cvl_error *err)
{
	const struct cvl_capture_opts *p = o->opts;
	const struct radio_opts radio = { p->radio, p->profile, p->period_ns };
	int rc = 0;

	if (o->state != OBSERVER_IDLE)
		return 0;
	if (!o->session)
		rc = cvl_session_create(&o->session, p->session, err);
	if (!rc && !o->driver) {
		o->sink = (struct driver_sink){
			.samples = see_samples,
			.lost = see_loss,
			.tell = see_text,
			.ctx = o,
			.records = see_records,
			.packet = see_packet,
		};
		rc = o->how->open(&o->driver, &p->device, &o->sink, err);
	}
	if (!rc && p->radio && !o->radio) {
		rc = radio_open(&o->radio, &radio, err);
		if (!rc)
			radio_tell(o->radio, see_own_text, o);
	}
	if (rc)
		return rc;
	o->n = o->how->analyzers(o->driver, &o->analyzer);
	if (o->n > ANALYZERS_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"%zu analyzers; one observer takes %d", o->n, ANALYZERS_MAX);
	o->state = OBSERVER_PREPARED;
	return 0;
}

static int open_streams(struct cvl_capture *o, struct cvl_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < o->n && !rc; i++) {
		char name[256];
		const struct stream_opts so = {
			.clock = name,
			.node = o->analyzer[i].name ? o->analyzer[i].name : o->opts->name,
			.names = o->opts->device.names,
			.radio = o->radio,
			.radio_line = (o->opts->radio_line ? o->opts->radio_line : RADIO_LINE) - 1,
			.start_unix_ns = unix_now(),
			.duration_ns = o->opts->duration_ns,
			.tell = see_own_text,
			.ctx = o,
		};

		if (o->analyzer[i].name)
			snprintf(name, sizeof(name), "%.200s", o->analyzer[i].name);
		else
			snprintf(name, sizeof(name), i ? "%.200s-%zu" : "%.200s", o->opts->name,
				 i + 1);
		rc = stream_open(&o->stream[i], o->session, &o->analyzer[i], o->how, &so, err);
	}
	return rc;
}

/*
 * Publish the socket's path as SESSION/capture/control, so that it is found by the session's name.
 * Otherwise users must name the socket.
 */
static void link_control(const struct cvl_capture *o, bool there)
{
	char path[CVL_PATH_MAX], *socket;

	if (!o->control || !o->session ||
	    !cvl_path_join(path, cvl_session_path(o->session), "capture/control"))
		return;
	unlink(path);
	socket = there ? realpath(o->opts->control, NULL) : NULL;
	if (socket && symlink(socket, path))
		tell(o, true,
		     "the session does not tell of its socket: name the socket itself to steer it");
	free(socket);
}

static int start(struct cvl_capture *o, struct cvl_error *err)
{
	int64_t before;
	int rc = open_streams(o, err);

	if (rc)
		return rc;
	before = driver_boottime_ns();
	rc = o->how->start(o->driver, err);
	o->began = driver_boottime_ns();
	for (size_t i = 0; i < o->n && !rc; i++)
		rc = stream_started(o->stream[i], before, o->began, err);
	if (rc)
		return rc;
	if (o->radio)
		radio_look(o->radio);
	link_control(o, true);
	o->state = OBSERVER_RUNNING;
	o->housekept = o->flushed = o->began;
	watch_notify("READY=1\nSTATUS=capturing");
	return 0;
}

static int stop(struct cvl_capture *o, struct cvl_error *err)
{
	if (o->state != OBSERVER_RUNNING) {
		if (o->state != OBSERVER_STOPPING)
			o->state = OBSERVER_DONE;
		return 0;
	}
	o->state = OBSERVER_STOPPING;
	o->stopped = driver_monotonic_ns();
	return o->how->stop(o->driver, err);
}

/* ---- commands ---- */

static char *refusal(const char *text)
{
	size_t n = strlen(text);
	char *out = malloc(n + 16);

	if (!out)
		return NULL;
	strcpy(out, "{\"error\":\"");
	for (size_t i = 0, at = strlen(out); i <= n;
	     i++) /* messages contain no control characters */
		out[at++] = text[i] == '"' || text[i] == '\\' ? '\'' : text[i];
	strcat(out, "\"}");
	return out;
}

/* "", "now", "+2.5", "1700000000.25" */
static bool parse_when(const char *text, int64_t *at)
{
	char *end;
	double v;

	text += strspn(text, " ");
	if (!*text || !strcmp(text, "now")) {
		*at = AT_ONCE;
		return true;
	}
	v = strtod(text, &end);
	if (*end || !(v >= 0) || v > 9e9)
		return false;
	*at = (*text == '+' ? unix_now() : 0) + (int64_t)(v * 1e9);
	return true;
}

/* Things only the driver knows. */
static char *ask_driver(struct cvl_capture *o, const char *line)
{
	struct cvl_error err;
	char *text;

	if (o->state != OBSERVER_RUNNING)
		return refusal("it is not capturing");
	text = o->how->command(o->driver, line, &err);
	return text ? text : refusal(err.text);
}

static char *command(void *ctx, char *line)
{
	struct cvl_capture *o = ctx;
	struct cvl_error err;
	int rc = 0;

	if (!strcmp(line, "prepare")) {
		rc = prepare(o, &err);
	} else if (!strncmp(line, "start", 5) && (!line[5] || line[5] == ' ')) {
		int64_t at;

		if (o->state > OBSERVER_PREPARED)
			return refusal("it has been started already");
		if (!parse_when(line + 5, &at))
			return refusal("start takes nothing, a Unix time in seconds, or +SECONDS");
		rc = prepare(o, &err);
		if (!rc)
			o->start_at = at;
	} else if (!strcmp(line, "stop")) {
		rc = stop(o, &err);
	} else if (!strncmp(line, "act", 3) && o->how->command) {
		return ask_driver(o, line);
	} else if (strcmp(line, "status") != 0) {
		return refusal("commands: prepare, start [WHEN], stop, status");
	}
	return rc ? refusal(err.text) : watch_status(o);
}

/* ---- the loop ---- */

static int64_t flush_ns(const struct cvl_capture *o)
{
	return o->opts->flush_ns ? o->opts->flush_ns : HOUSEKEEPING_NS;
}

static int flush(struct cvl_capture *o, struct cvl_error *err)
{
	const int64_t now = driver_boottime_ns();
	int rc = 0;

	if (o->state != OBSERVER_RUNNING || now - o->flushed < flush_ns(o))
		return 0;
	o->flushed = now;
	for (size_t i = 0; i < o->n && !rc; i++)
		rc = stream_flush(o->stream[i], err);
	return rc;
}

static int housekeep(struct cvl_capture *o, struct cvl_error *err)
{
	int64_t now = driver_boottime_ns(), longest = 0;
	struct cvl_error problem;

	if (now - o->housekept < HOUSEKEEPING_NS)
		return 0;
	o->housekept = now;
	watch_notify("WATCHDOG=1");
	if (o->state != OBSERVER_RUNNING)
		return 0;
	if (o->radio)
		radio_look(o->radio);
	for (size_t i = 0; i < o->n; i++) {
		double s = (double)stream_counters(o->stream[i]).samples /
			   (double)stream_rate(o->stream[i]);

		longest = s * 1e9 > (double)longest ? (int64_t)(s * 1e9) : longest;
	}
	if (o->opts->metrics && watch_metrics(o, o->opts->metrics, &problem))
		tell(o, true, problem.text);
	return cvl_progress_tell(&o->opts->progress, (uint64_t)longest,
				 (uint64_t)o->opts->duration_ns, err);
}

static bool all_ended(const struct cvl_capture *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (!stream_ended(o->stream[i]))
			return false;
	return true;
}

static int timeout_ms(const struct cvl_capture *o)
{
	int64_t ns = HOUSEKEEPING_NS;

	if (o->state == OBSERVER_RUNNING) {
		const int64_t due = o->flushed + flush_ns(o), kept = o->housekept + HOUSEKEEPING_NS;

		ns = (due < kept ? due : kept) - driver_boottime_ns();
	}
	if (o->state == OBSERVER_PREPARED && o->start_at) {
		ns = o->start_at == AT_ONCE ? 0 : o->start_at - unix_now();
		ns = ns > HOUSEKEEPING_NS ? HOUSEKEEPING_NS : ns;
	}
	return ns <= 0 ? 0 : (int)(ns / 1000000) + 1;
}

size_t cvl_capture_wait_for(struct cvl_capture *o, struct pollfd *fds, size_t max, int *timeout)
{
	const int due = o->state == OBSERVER_DONE ? 0 : timeout_ms(o);
	size_t n = 0;

	if (*timeout < 0 || *timeout > due)
		*timeout = due;
	if (o->control)
		n += control_wait_for(o->control, fds, max);
	if (o->state == OBSERVER_RUNNING || o->state == OBSERVER_STOPPING)
		n += o->how->wait_for(o->driver, fds + n, max - n, timeout);
	return n;
}

int cvl_capture_stop(struct cvl_capture *o, struct cvl_error *err)
{
	if (o->state != OBSERVER_STOPPING)
		return stop(o, err);
	o->state = OBSERVER_DONE;
	return 0;
}

int cvl_capture_work(struct cvl_capture *o, struct cvl_error *err)
{
	int rc = 0;

	if (o->control)
		control_work(o->control);
	if (o->state == OBSERVER_PREPARED && o->start_at &&
	    (o->start_at == AT_ONCE || unix_now() >= o->start_at))
		rc = start(o, err);
	if (!rc && (o->state == OBSERVER_RUNNING || o->state == OBSERVER_STOPPING)) {
		rc = o->how->work(o->driver, err);
		if (!rc || (o->stopped && driver_monotonic_ns() - o->stopped > STOPPING_NS))
			o->state = OBSERVER_DONE;
		rc = rc < 0 ? rc : 0;
	}
	if (!rc && o->state == OBSERVER_RUNNING && all_ended(o))
		rc = stop(o, err);
	if (!rc)
		rc = flush(o, err);
	if (!rc)
		rc = housekeep(o, err);
	return rc ? rc : o->state != OBSERVER_DONE;
}

/* ---- begin and end ---- */

static void sum_up(const struct cvl_capture *o, struct cvl_capture_result *r)
{
	for (size_t i = 0; i < o->n && o->stream[i]; i++) {
		struct stream_counters c = stream_counters(o->stream[i]);
		double s = (double)c.samples / (double)stream_rate(o->stream[i]);

		r->clocks++;
		r->failed += stream_failed(o->stream[i]);
		r->seconds = s > r->seconds ? s : r->seconds;
		r->edges += c.edges;
		r->packets += c.packets;
		r->beacons += c.beacons;
		r->gaps += c.gaps;
		r->lost += c.lost;
		r->bytes += c.bytes;
		r->cpu_s += c.cpu_s;
	}
}

int cvl_capture_open(struct cvl_capture **out, const struct cvl_capture_opts *opts,
		     struct cvl_error *err)
{
	int rc = cvl_capture_check(opts, err);
	struct cvl_capture *o;

	*out = NULL;
	if (rc)
		return rc;
	o = calloc(1, sizeof(*o));
	if (!o)
		return cvl_no_memory(err);
	o->opts = opts;
	o->how = driver_of(opts->driver);
	if (opts->control)
		rc = control_open(&o->control, opts->control, command, o, err);
	if (!rc && !opts->wait) {
		rc = prepare(o, err);
		o->start_at = opts->start_unix_ns ? opts->start_unix_ns : AT_ONCE;
	}
	if (rc) {
		cvl_capture_close(o, &(struct cvl_capture_result){ 0 }, NULL);
		return rc;
	}
	if (o->start_at != AT_ONCE)
		watch_notify("READY=1\nSTATUS=waiting to be started");
	*out = o;
	return 0;
}

int cvl_capture_close(struct cvl_capture *o, struct cvl_capture_result *result,
		      struct cvl_error *err)
{
	struct cvl_error closing;
	int rc = 0;

	*result = (struct cvl_capture_result){ 0 };
	if (!o)
		return 0;
	watch_notify("STOPPING=1");
	sum_up(o, result);
	if (o->opts->metrics && o->n && o->state == OBSERVER_DONE)
		watch_metrics(o, o->opts->metrics, NULL);
	for (size_t i = 0; i < o->n; i++) {
		int closed = stream_close(o->stream[i], &closing);

		if (closed && !rc && !result->failed) {
			rc = closed;
			if (err)
				*err = closing;
		}
	}
	if (o->driver)
		o->how->close(o->driver);
	radio_close(o->radio);
	link_control(o, false);
	control_close(o->control);
	cvl_session_close(o->session);
	if (!rc && result->failed)
		rc = cvl_fail(err, CVL_E_IO, CVL_NO_OFFSET,
			      "%s: %zu of %zu clocks could not be written to the end",
			      o->opts->session, result->failed, result->clocks);
	free(o);
	return rc;
}

/*
 * Wait for something to do, and check for a request to stop. One signal at a time: until it is
 * read, poll() would report it again and again.
 */
static bool wait_for_work(struct cvl_capture *o, int stop_fd)
{
	char signal[sizeof(struct signalfd_siginfo)];
	struct pollfd fds[FDS_MAX] = { { .fd = stop_fd, .events = POLLIN } };
	int timeout = -1;
	size_t n = 1 + cvl_capture_wait_for(o, fds + 1, FDS_MAX - 1, &timeout);

	return poll(fds, n, timeout) > 0 && fds[0].revents &&
	       (read(stop_fd, signal, sizeof(signal)) >= 0 || errno != EAGAIN);
}

int cvl_capture_run(const struct cvl_capture_opts *opts, int stop_fd,
		    struct cvl_capture_result *result, struct cvl_error *err)
{
	struct cvl_capture *o;
	int rc = cvl_capture_open(&o, opts, err), closed;

	for (rc = rc ? rc : 1; rc > 0;) {
		rc = wait_for_work(o, stop_fd) ? cvl_capture_stop(o, err) : 0;
		rc = rc ? rc : cvl_capture_work(o, err);
	}
	closed = cvl_capture_close(o, result, rc ? NULL : err);
	return rc ? rc : closed;
}
