/* SPDX-License-Identifier: MIT */
/*
 * A connection whose client knows all sleeps. A thread wakes them when files of their sessions change,
 * when something else says so, and now and then, since not every file system tells; what is new is then
 * looked for in the thread of the daemon, which alone uses sessions.
 */
#include "view/news.h"

#ifdef HAVE_MICROHTTPD

#include "view/events.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/out_keep.h"
#include "timeline/watch.h"

#define LOOK_MS 500     /* at least so often */
#define TOGETHER_MS 25  /* what comes within this is told at once */
#define STILL_HERE_S 10 /* an empty event, so that connections that broke are noticed */
#define BLOCK_BYTES 16384

struct stream {
	struct events *e;
	struct MHD_Connection *connection;
	size_t place;
	unsigned version; /* of the session whose files are watched */
	struct news *news;
	char *text; /* not yet sent */
	size_t at, n;
	time_t sent;
	bool asleep;
	struct stream *next;
};

struct events {
	struct places *places;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	struct stream *list;
	struct watch *watch;
	int wake;
	unsigned turn; /* how often all were woken */
	bool end;
};

static time_t now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* ---- the thread ---- */

static void wake_all(struct events *e)
{
	pthread_mutex_lock(&e->lock);
	watch_changed(e->watch);
	e->turn++;
	for (struct stream *s = e->list; s; s = s->next)
		if (s->asleep) {
			s->asleep = false;
			MHD_resume_connection(s->connection);
		}
	pthread_mutex_unlock(&e->lock);
}

static bool ends(struct events *e)
{
	bool end;

	pthread_mutex_lock(&e->lock);
	end = e->end;
	pthread_mutex_unlock(&e->lock);
	return end;
}

static void *work(void *ctx)
{
	const struct timespec together = { .tv_nsec = TOGETHER_MS * 1000000 };
	struct events *e = ctx;
	uint64_t n;

	while (!ends(e)) {
		struct pollfd fd[] = { { .fd = watch_fd(e->watch), .events = POLLIN },
				       { .fd = e->wake, .events = POLLIN } };

		poll(fd, 2, LOOK_MS);
		if (fd[1].revents && read(e->wake, &n, sizeof(n)) < 0 && errno != EAGAIN)
			break;
		wake_all(e);
		nanosleep(&together, NULL);
	}
	return NULL;
}

void events_wake(void *events)
{
	const struct events *e = events;
	const uint64_t one = 1;

	/* it fails only if it would count beyond 2^64: then it is readable already */
	while (write(e->wake, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* ---- a stream ---- */

/* What is new becomes its text, if anything is. */
static int look(struct stream *s, struct model *m, struct cvl_error *err)
{
	struct cvl_out *o = malloc(sizeof(*o));
	bool any = false;
	int rc;

	if (!o)
		return cvl_no_memory(err);
	out_keep(o, false);
	cvl_out_text(o, "data: ");
	rc = news_put(s->news, m, o, &any, err);
	cvl_out_text(o, "\n\n");
	cvl_out_drain(o);
	if (!rc && o->error)
		rc = cvl_no_memory(err);
	if (!rc && any) {
		s->text = o->kept;
		s->n = o->n_kept;
		o->kept = NULL;
	}
	free(o->kept);
	free(o);
	return rc;
}

/* What is wrong is told, and looked at again later: a session may be written just now. */
static void tell(struct stream *s, const struct cvl_error *err)
{
	struct cvl_out *o = malloc(sizeof(*o));

	if (!o)
		return;
	out_keep(o, false);
	cvl_out_text(o, "data: {\"problem\":");
	cvl_out_json(o, err->text, strlen(err->text));
	cvl_out_text(o, "}\n\n");
	cvl_out_drain(o);
	s->text = o->error ? NULL : o->kept;
	s->n = o->n_kept;
	if (o->error)
		free(o->kept);
	free(o);
}

static void still_here(struct stream *s)
{
	if (now_s() - s->sent < STILL_HERE_S)
		return;
	s->text = strdup(":\n\n");
	s->n = s->text ? strlen(s->text) : 0;
}

static ssize_t send_text(struct stream *s, char *to, size_t most)
{
	const size_t n = s->n - s->at < most ? s->n - s->at : most;

	memcpy(to, s->text + s->at, n);
	s->at += n;
	s->sent = now_s();
	if (s->at == s->n) {
		free(s->text);
		s->text = NULL;
		s->at = s->n = 0;
	}
	return (ssize_t)n;
}

static ssize_t more(void *ctx, uint64_t pos, char *to, size_t most)
{
	struct stream *s = ctx;
	struct events *e = s->e;
	struct cvl_error err;
	bool end, again;

	(void)pos;
	do {
		struct model *m;
		unsigned turn;

		if (s->text)
			return send_text(s, to, most);
		pthread_mutex_lock(&e->lock);
		end = e->end;
		turn = e->turn;
		pthread_mutex_unlock(&e->lock);
		m = end ? NULL : places_opened(e->places, s->place);
		if (!m)
			return MHD_CONTENT_READER_END_OF_STREAM;
		if (look(s, m, &err))
			tell(s, &err);
		if (!s->text)
			still_here(s);
		pthread_mutex_lock(&e->lock);
		if (s->version != m->version)
			watch_session(e->watch, m->session);
		s->version = m->version;
		again = s->text || e->turn != turn || e->end; /* else nothing came meanwhile */
		if (!again) {
			s->asleep = true;
			MHD_suspend_connection(s->connection);
		}
		pthread_mutex_unlock(&e->lock);
	} while (again);
	return 0;
}

static void forget(void *ctx)
{
	struct stream *s = ctx, **at;

	pthread_mutex_lock(&s->e->lock);
	for (at = &s->e->list; *at != s;)
		at = &(*at)->next;
	*at = s->next;
	pthread_mutex_unlock(&s->e->lock);
	news_free(s->news);
	free(s->text);
	free(s);
}

struct MHD_Response *events_stream(struct events *e, struct MHD_Connection *c, size_t place)
{
	struct stream *s = calloc(1, sizeof(*s));
	struct news *news = news_new();
	struct MHD_Response *r;

	if (!s || !news) {
		free(s);
		free(news);
		return NULL;
	}
	*s = (struct stream){ .e = e, .connection = c, .place = place, .news = news };
	pthread_mutex_lock(&e->lock);
	s->next = e->list;
	e->list = s;
	pthread_mutex_unlock(&e->lock);
	r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, more, s, forget);
	if (!r)
		forget(s);
	return r;
}

/* ---- begin and end ---- */

int events_open(struct events **out, struct places *places, struct cvl_error *err)
{
	struct events *e = calloc(1, sizeof(*e));
	int rc;

	*out = NULL;
	if (!e)
		return cvl_no_memory(err);
	e->places = places;
	pthread_mutex_init(&e->lock, NULL);
	e->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	rc = e->wake < 0 ? cvl_fail_errno(err, "wait for", "changes") : watch_open(&e->watch, err);
	if (!rc && pthread_create(&e->thread, NULL, work, e))
		rc = cvl_no_memory(err);
	e->started = !rc;
	if (rc)
		events_close(e);
	else
		*out = e;
	return rc;
}

void events_end(struct events *e)
{
	pthread_mutex_lock(&e->lock);
	e->end = true;
	pthread_mutex_unlock(&e->lock);
	events_wake(e);
	if (e->started)
		pthread_join(e->thread, NULL);
	e->started = false;
	wake_all(e);
}

void events_close(struct events *e)
{
	if (!e)
		return;
	if (e->started)
		events_end(e);
	watch_close(e->watch);
	if (e->wake >= 0)
		close(e->wake);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

#endif
