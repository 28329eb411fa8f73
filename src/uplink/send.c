/* SPDX-License-Identifier: MIT */
/* A node's end, as it runs. */
#include <coeval/uplink.h>

#include "timeline/watch.h"
#include "uplink/run.h"
#include "uplink/sender.h"

#include <coeval/files.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SESSION_MS 200 /* between looks at the session's list of clocks, if something changed */
#define IDLE_MS 2000   /* the same if nothing did: not all is told */
#define LOOK_MS 20     /* between looks at the streams */
#define FLUSH_MS 2000
#define SESSION_WAIT_MS 10000

struct sending {
	const struct cvl_send_opts *opts;
	struct cvl_report report;
	struct outgoing *source;
	struct carrier *carrier;
	struct sender *sender;
	struct watch *watch;
	int lock_fd;
	int64_t listed_ms, looked_ms, told_ms;
	bool changed,
		fresh; /* something did, since the list was read; since streams were looked at */
};

/* What is watched are the streams of the session as it is now. */
static void watch_it(const struct sending *s, const char *path)
{
	struct cvl_session *session;

	if (cvl_session_open(&session, path, NULL, NULL))
		return;
	watch_session(s->watch, session);
	cvl_session_close(session);
}

static int look(struct sending *s, const char *path, int64_t now, int *wait, struct cvl_error *err)
{
	const bool news = watch_changed(s->watch);
	bool list;
	int rc;

	s->changed = s->changed || news;
	s->fresh = s->fresh || news;
	if (!watch_works(s->watch)) { /* one user can have only so many: then it is looked at */
		s->fresh = true;
		*wait = SESSION_MS;
	}
	list = now - s->listed_ms >= (s->changed ? SESSION_MS : IDLE_MS);
	if (!list && !s->fresh)
		return 0;
	if (!list && now - s->looked_ms < LOOK_MS) {
		*wait = LOOK_MS;
		return 0;
	}
	rc = outgoing_look(s->source, list, err);
	s->looked_ms = now;
	s->fresh = false;
	if (list && !rc) {
		watch_it(s, path);
		s->listed_ms = now;
		s->changed = news; /* what came while it was read */
	}
	return rc;
}

static int tell_progress(struct sending *s, int64_t now, struct cvl_error *err)
{
	struct sender_state state;

	if (now - s->told_ms < SESSION_MS)
		return 0;
	s->told_ms = now;
	sender_state(s->sender, &state);
	return cvl_progress_tell(&s->opts->uplink.progress, state.stored, state.bytes, err);
}

/* 0: it grows; 1: stopped. What was ended before a capture goes on with it is not all that will come. */
static int wait_for_session(struct sending *s, const char *path, int stop_fd, struct cvl_error *err)
{
	for (int64_t until = run_now_ms() + SESSION_WAIT_MS; run_now_ms() < until;) {
		char file[CVL_PATH_MAX];

		if (cvl_path_join(file, path, "session.json") && cvl_is_file(file) &&
		    !outgoing_look(s->source, true, err) && outgoing_grows(s->source))
			return 0;
		if (run_wait(stop_fd, -1, -1, SESSION_MS))
			return 1;
	}
	return 0; /* whatever there is */
}

/*
 * One sender at a time: two would do no harm, but all would go twice. Where it cannot be told, it is not. 0:
 * it is ours; 1: stopped. The lock goes with the process.
 */
static int wait_for_turn(struct sending *s, const char *path, int stop_fd)
{
	char folder[CVL_PATH_MAX], file[CVL_PATH_MAX];
	bool told = false;

	if (!cvl_path_join(file, path, "session.json") || !cvl_is_file(file) ||
	    !cvl_path_join(folder, path, "capture") || !cvl_path_join(file, folder, "send.lock") ||
	    (mkdir(folder, 0777) && errno != EEXIST))
		return 0;
	s->lock_fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	while (s->lock_fd >= 0 && flock(s->lock_fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		if (!told && !s->opts->wait && s->opts->uplink.tell)
			s->opts->uplink.tell(
				s->opts->uplink.ctx, false,
				"another process sends this session; waiting for it to end");
		told = true;
		if (run_wait(stop_fd, -1, -1, SESSION_MS))
			return 1;
	}
	return 0;
}

static int run(struct sending *s, const char *path, int stop_fd, struct cvl_error *err)
{
	struct sender_state state;
	int rc = s->opts->wait ? wait_for_session(s, path, stop_fd, err) : 0;

	rc = rc ? rc : wait_for_turn(s, path, stop_fd);
	if (!rc)
		rc = outgoing_look(s->source, true, err);
	if (rc)
		return rc < 0 ? rc : 0;
	for (;;) {
		const int64_t now = run_now_ms();
		int wait = IDLE_MS, due;

		rc = look(s, path, now, &wait, err);

		rc = rc ? rc : sender_work(s->sender, now, &due, err);
		rc = rc ? rc : tell_progress(s, now, err);
		if (rc)
			return rc;
		sender_state(s->sender, &state);
		if (state.done)
			return 0;
		if (run_wait(stop_fd, carrier_fd(s->carrier), watch_fd(s->watch),
			     due < wait ? due : wait))
			return 0;
	}
}

int cvl_send_run(const char *path, const struct cvl_send_opts *opts, int stop_fd,
		 struct cvl_send_result *result, struct cvl_error *err)
{
	struct sending s = { .opts = opts, .lock_fd = -1, .report = run_report(&opts->uplink) };
	struct sender_opts how = { .path = path, .keep = opts->keep_bytes, .report = &s.report };
	struct nats_opts nats;
	struct sender_state state;
	int rc = run_settings(&nats, &opts->uplink, opts->node, err);

	*result = (struct cvl_send_result){ 0 };
	if (!rc && opts->keep_bytes && opts->keep_bytes < CVL_SEND_KEEP_LEAST)
		rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			      "cannot keep within %llu bytes: %d is the least",
			      (unsigned long long)opts->keep_bytes, CVL_SEND_KEEP_LEAST);
	s.listed_ms = s.looked_ms = s.told_ms = INT64_MIN / 2;
	if (getrandom(&how.seed, sizeof(how.seed), GRND_NONBLOCK) < 0)
		how.seed = (uint64_t)run_now_ms();
	if (!rc)
		rc = watch_open(&s.watch, err);
	if (!rc)
		rc = outgoing_open(&s.source, path, &s.report, err);
	if (!rc)
		rc = nats_carrier_open(&s.carrier, &nats, err);
	if (!rc)
		rc = sender_open(&s.sender, s.source, s.carrier, &how, err);
	if (!rc)
		rc = run(&s, path, stop_fd, err);
	if (s.sender) {
		sender_tell_live(s.sender);
		sender_state(s.sender, &state);
		*result = (struct cvl_send_result){
			state.clocks, state.given_up, state.bytes, state.stored,
			state.again,  state.freed,    state.lost,  state.done,
		};
		carrier_flush(s.carrier, FLUSH_MS);
	}
	sender_close(s.sender);
	carrier_close(s.carrier);
	outgoing_close(s.source);
	watch_close(s.watch);
	if (s.lock_fd >= 0)
		close(s.lock_fd);
	return rc;
}
