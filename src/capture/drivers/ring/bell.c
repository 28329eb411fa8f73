/* SPDX-License-Identifier: MIT */
#include "capture/drivers/ring/bell.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <coeval/files.h>
#include "core/serial.h"

#define BAUD 115200
#define MESSAGE_MAX 65536
#define HUSH_ROUNDS 64 /* a core that rings faster than this is heard next time */

static int open_queue(struct bell_list *l, const char *name, struct cvl_error *err)
{
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = 1 };
	mqd_t queue = mq_open(name, O_RDONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0600, &attr);

	if (queue < 0)
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"mq:%s: cannot open that message queue: %s; its name is a / and a word",
			name, strerror(errno));
	l->bell[l->n].fd = queue;
	if (mq_getattr(queue, &attr) || attr.mq_msgsize < 1 || attr.mq_msgsize > MESSAGE_MAX) {
		mq_close(queue);
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"mq:%s: messages of %ld bytes; a doorbell needs one", name,
				attr.mq_msgsize);
	}
	l->bell[l->n++].message = attr.mq_msgsize;
	return 0;
}

static int open_file(struct bell_list *l, char *path, struct cvl_error *err)
{
	int *fd = &l->bell[l->n].fd;
	unsigned baud = BAUD;
	struct stat st;
	char *colon = strrchr(path, ':');
	int rc = 0;

	if (colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1)) {
		baud = (unsigned)strtoul(colon + 1, NULL, 10);
		*colon = '\0';
	}
	if (stat(path, &st))
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: %s; make it (mkfifo), or start what has it, before the capture", path,
			strerror(errno));
	l->bell[l->n].message = 0;
	if (S_ISSOCK(st.st_mode)) {
		rc = serial_connect(fd, path, err);
		if (!rc)
			fcntl(*fd, F_SETFL, O_NONBLOCK);
	} else if (S_ISCHR(st.st_mode))
		rc = serial_open(fd, path, baud, err);
	else if (!S_ISFIFO(st.st_mode))
		return cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"%s: not a doorbell; expected a FIFO, a socket, a serial port or mq:/NAME",
			path);
	else {
		/* open for writing too, so that it does not end when the ringing side closes */
		*fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		if (*fd < 0)
			rc = cvl_fail_errno(err, "open", path);
	}
	l->n += !rc;
	return rc;
}

int bell_open(struct bell_list *l, const char *text, struct cvl_error *err)
{
	char *copy = strdup(text), *rest = NULL;
	int rc = copy ? 0 : cvl_no_memory(err);

	*l = (struct bell_list){ 0 };
	for (char *one = copy ? strtok_r(copy, ",", &rest) : NULL; one && !rc;
	     one = strtok_r(NULL, ",", &rest)) {
		if (l->n == BELLS_MAX)
			rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "more than %d doorbells",
				      BELLS_MAX);
		else if (!strncmp(one, "mq:", 3))
			rc = open_queue(l, one + 3, err);
		else
			rc = open_file(l, one, err);
	}
	if (!rc && !l->n)
		rc = cvl_hint(err, CVL_HINT_BELL,
			      cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				       "name a doorbell: PATH or mq:/NAME"));
	free(copy);
	if (rc)
		bell_close(l);
	return rc;
}

size_t bell_wait_for(const struct bell_list *l, struct pollfd *fds, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n && n < max; i++)
		if (l->bell[i].fd >= 0)
			fds[n++] = (struct pollfd){ .fd = l->bell[i].fd, .events = POLLIN };
	return n;
}

int bell_hush(struct bell_list *l)
{
	char message[MESSAGE_MAX];
	int broke = 0;

	for (size_t i = 0; i < l->n; i++) {
		ssize_t n = 1;

		for (int k = 0; k < HUSH_ROUNDS && n > 0 && l->bell[i].fd >= 0; k++)
			n = l->bell[i].message ?
				    mq_receive(l->bell[i].fd, message, sizeof(message), NULL) :
				    read(l->bell[i].fd, message, sizeof(message));
		if (l->bell[i].fd < 0 || n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
			continue;
		close(l->bell[i].fd);
		l->bell[i].fd = -1;
		broke = 1;
	}
	return broke;
}

void bell_close(struct bell_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->bell[i].fd >= 0)
			close(l->bell[i].fd);
	l->n = 0;
}
