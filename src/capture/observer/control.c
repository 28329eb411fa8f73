/* SPDX-License-Identifier: MIT */
#include "capture/observer/control.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <coeval/capture.h>
#include <coeval/files.h>

#define CLIENTS 8
#define LINE_BYTES 256
#define ANSWER_BYTES 65536

struct client {
	int fd;         /* -1: none */
	uint64_t heard; /* sequence number of its last command, or of its connection */
	size_t n;
	char line[LINE_BYTES];
};

struct control {
	int fd;
	char *path;
	char *(*command)(void *ctx, char *line);
	void *ctx;
	uint64_t heard; /* commands and clients so far */
	struct client client[CLIENTS];
};

static int address(struct sockaddr_un *a, const char *path, struct cvl_error *err)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) + 1 >= sizeof(a->sun_path)) /* one more while it is opened */
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"%s: the path of a socket has at most %zu characters", path,
				sizeof(a->sun_path) - 2);
	memcpy(a->sun_path, path, strlen(path));
	return 0;
}

/* Whether a server answers at @a. */
static bool is_served(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool served = fd >= 0 && !connect(fd, (const struct sockaddr *)a, sizeof(*a));

	if (fd >= 0)
		close(fd);
	return served;
}

int control_open(struct control **out, const char *path, char *(*command)(void *ctx, char *line),
		 void *ctx, struct cvl_error *err)
{
	struct control *c = calloc(1, sizeof(*c));
	struct sockaddr_un a, early; /* it gets its name only when it listens */
	struct stat there;
	int rc = address(&a, path, err);

	*out = NULL;
	if (!c || rc) {
		free(c);
		return rc ? rc : cvl_no_memory(err);
	}
	early = a;
	early.sun_path[strlen(path)] = '~';
	c->fd = -1;
	c->command = command;
	c->ctx = ctx;
	for (size_t i = 0; i < CLIENTS; i++)
		c->client[i].fd = -1;
	if (is_served(&a)) {
		rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
			      "%s: another observer listens there; name another socket", path);
		goto fail;
	}
	if (!lstat(path, &there) && !S_ISSOCK(there.st_mode)) {
		rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			      "%s: exists and is not a socket; name another one", path);
		goto fail;
	}
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	unlink(early.sun_path);
	if (c->fd < 0 || bind(c->fd, (struct sockaddr *)&early, sizeof(early)) ||
	    chmod(early.sun_path, 0660) || listen(c->fd, CLIENTS) || rename(early.sun_path, path)) {
		rc = cvl_fail_errno(err, "listen", path);
		unlink(early.sun_path);
		goto fail;
	}
	c->path = strdup(path);
	*out = c;
	return 0;
fail:
	if (c->fd >= 0)
		close(c->fd);
	free(c);
	return rc;
}

size_t control_wait_for(const struct control *c, struct pollfd *fds, size_t max)
{
	size_t n = 0;

	if (max)
		fds[n++] = (struct pollfd){ .fd = c->fd, .events = POLLIN };
	for (size_t i = 0; i < CLIENTS && n < max; i++)
		if (c->client[i].fd >= 0)
			fds[n++] = (struct pollfd){ .fd = c->client[i].fd, .events = POLLIN };
	return n;
}

static void hang_up(struct client *k)
{
	close(k->fd);
	k->fd = -1;
	k->n = 0;
}

/* A client that does not take an answer at once does not get it. */
static bool answer(const struct client *k, const char *text)
{
	const size_t n = text ? strlen(text) : 0;
	struct iovec part[] = { { (void *)(uintptr_t)text, n }, { (char[]){ '\n' }, 1 } };
	const struct msghdr line = { .msg_iov = part, .msg_iovlen = 2 };

	return text && sendmsg(k->fd, &line, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n + 1;
}

static void serve(struct control *c, struct client *k)
{
	ssize_t got = recv(k->fd, k->line + k->n, sizeof(k->line) - 1 - k->n, MSG_DONTWAIT);
	char *end;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		hang_up(k);
		return;
	}
	k->n += (size_t)got;
	k->line[k->n] = '\0';
	while ((end = memchr(k->line, '\n', k->n))) {
		size_t used = (size_t)(end - k->line) + 1;
		char *text;
		bool sent;

		*end = '\0';
		if (end > k->line && end[-1] == '\r')
			end[-1] = '\0';
		text = c->command(c->ctx, k->line);
		sent = answer(k, text);
		free(text);
		k->heard = ++c->heard;
		if (!sent) {
			hang_up(k);
			return;
		}
		memmove(k->line, k->line + used, k->n - used + 1);
		k->n -= used;
	}
	if (k->n == sizeof(k->line) - 1) {
		answer(k, "{\"error\":\"the line is too long\"}");
		hang_up(k);
	}
}

/* A slot for one more client; if all are taken, that of the client that was silent for longest. */
static struct client *make_room(struct control *c)
{
	struct client *idlest = &c->client[0];

	for (size_t i = 0; i < CLIENTS; i++) {
		if (c->client[i].fd < 0)
			return &c->client[i];
		if (c->client[i].heard < idlest->heard)
			idlest = &c->client[i];
	}
	hang_up(idlest);
	return idlest;
}

void control_work(struct control *c)
{
	for (size_t i = 0; i < CLIENTS; i++)
		if (c->client[i].fd >= 0)
			serve(c, &c->client[i]);
	for (size_t i = 0; i < CLIENTS; i++) { /* the rest comes next time */
		int fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct client *k;

		if (fd < 0)
			break;
		k = make_room(c);
		k->fd = fd;
		k->heard = ++c->heard;
		serve(c, k); /* its command has usually come with it */
	}
}

void control_close(struct control *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < CLIENTS; i++)
		if (c->client[i].fd >= 0)
			close(c->client[i].fd);
	close(c->fd);
	if (c->path)
		unlink(c->path);
	free(c->path);
	free(c);
}

char *cvl_capture_ask(const char *path, const char *line, struct cvl_error *err)
{
	char of_session[CVL_PATH_MAX];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char *text = calloc(1, ANSWER_BYTES);
	struct sockaddr_un a;
	size_t n = 0;

	if (fd < 0 || !text) {
		cvl_no_memory(err);
		goto fail;
	}
	if (cvl_is_dir(path) && cvl_path_join(of_session, path, "capture/control"))
		path = of_session;
	if (address(&a, path, err))
		goto fail;
	if (connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		if (errno == ENOENT || errno == ENOTDIR || errno == ECONNREFUSED)
			cvl_fail(
				err, CVL_E_ENV, CVL_NO_OFFSET,
				"%s: no capture listens there; start one with a control socket, and name that or its session",
				path);
		else
			cvl_fail_errno(err, "reach an observer", path);
		goto fail;
	}
	if (send(fd, line, strlen(line), MSG_NOSIGNAL) < 0 || send(fd, "\n", 1, MSG_NOSIGNAL) < 0) {
		cvl_fail_errno(err, "write to", path);
		goto fail;
	}
	while (n < ANSWER_BYTES - 1 && !memchr(text, '\n', n)) {
		ssize_t got = recv(fd, text + n, ANSWER_BYTES - 1 - n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: the observer hung up", path);
			goto fail;
		}
		n += (size_t)got;
	}
	text[strcspn(text, "\n")] = '\0';
	close(fd);
	return text;
fail:
	if (fd >= 0)
		close(fd);
	free(text);
	return NULL;
}
