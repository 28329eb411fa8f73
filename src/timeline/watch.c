/* SPDX-License-Identifier: MIT */
#include "timeline/watch.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

/* A stream that is appended to or closed, a new one. */
#define TRACE_EVENTS (IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO)
/* Files of the session are replaced by renaming. */
#define SESSION_EVENTS IN_MOVED_TO

struct watch {
	int notes, wake, both;
	int session; /* the watch of its directory */
	bool works;
};

static bool join(const struct watch *w, int fd)
{
	return !epoll_ctl(w->both, EPOLL_CTL_ADD, fd, &(struct epoll_event){ .events = EPOLLIN });
}

int watch_open(struct watch **out, struct cvl_error *err)
{
	struct watch *w = malloc(sizeof(*w));
	int rc = 0;

	*out = NULL;
	if (!w)
		return cvl_no_memory(err);
	*w = (struct watch){ .session = -1 };
	w->notes = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	w->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	w->both = epoll_create1(EPOLL_CLOEXEC);
	if (w->wake < 0 || w->both < 0 || !join(w, w->wake) ||
	    (w->notes >= 0 && !join(w, w->notes)))
		rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "cannot wait for changes: %s",
			      strerror(errno));
	w->works = w->notes >= 0;
	if (rc)
		watch_close(w);
	else
		*out = w;
	return rc;
}

void watch_close(struct watch *w)
{
	if (!w)
		return;
	if (w->notes >= 0)
		close(w->notes);
	if (w->wake >= 0)
		close(w->wake);
	if (w->both >= 0)
		close(w->both);
	free(w);
}

static int add(struct watch *w, const char *path, uint32_t events)
{
	int id = w->notes < 0 ? -1 : inotify_add_watch(w->notes, path, events);

	w->works = w->works && id >= 0;
	return id;
}

void watch_session(struct watch *w, const struct cvl_session *session)
{
	w->works = w->notes >= 0;
	w->session = add(w, cvl_session_path(session), SESSION_EVENTS);
	for (size_t i = 0; i < cvl_session_clocks(session); i++)
		if (cvl_session_clock(session, i)->growing)
			add(w, cvl_session_clock(session, i)->trace, TRACE_EVENTS);
}

bool watch_works(const struct watch *w)
{
	return w->works;
}

int watch_fd(const struct watch *w)
{
	return w->both;
}

/* Of the session's own files only its list of clocks counts: whoever follows writes the others. */
static bool counts(const struct watch *w, const struct inotify_event *e)
{
	return e->wd != w->session || e->mask & IN_Q_OVERFLOW ||
	       (e->len && !strcmp(e->name, "session.json"));
}

bool watch_changed(struct watch *w)
{
	_Alignas(struct inotify_event) char notes[16 * (sizeof(struct inotify_event) + NAME_MAX)];
	bool any = false;
	ssize_t n;

	while (w->notes >= 0 && (n = read(w->notes, notes, sizeof(notes))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *e = (const void *)(notes + at);

			any = any || counts(w, e);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	return any;
}

void watch_wait(const struct watch *w, bool for_changes, int64_t ms)
{
	struct pollfd fd = { .fd = for_changes ? w->both : w->wake, .events = POLLIN };

	poll(&fd, 1, ms < 0 ? -1 : ms > INT_MAX ? INT_MAX : (int)ms);
}

void watch_wake(const struct watch *w)
{
	const uint64_t one = 1;
	const int was = errno;

	/* it fails only if it would count beyond 2^64: then it is readable already */
	if (write(w->wake, &one, sizeof(one)) < 0)
		errno = was;
}
