/* SPDX-License-Identifier: MIT */
#include "lab/channel.h"

#include "core/serial.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/usb/tmc.h>

#define CONNECT_MS 5000
/* What an endless talker may say while it is drained. */
#define DRAIN_BYTES (1 << 20)

int64_t lab_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int stopped(struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET, "stopped");
}

static int gone(const struct channel *c, struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: it is gone; check that it is plugged in and has power, then try again",
			c->name);
}

/* Wait for @events. Returns 1, 0 at the deadline, or an error. */
static int wait_for(const struct channel *c, short events, int64_t deadline_ms,
		    struct cvl_error *err)
{
	struct pollfd fds[2] = { { .fd = c->fd, .events = events },
				 { .fd = c->stop_fd, .events = POLLIN } };

	for (;;) {
		int64_t left = deadline_ms - lab_now_ms();
		int n = poll(fds, 2, left < 0 ? 0 : left > 60000 ? 60000 : (int)left);

		if (n < 0 && errno != EINTR)
			return cvl_fail_errno(err, "wait for", c->name);
		if (n > 0 && fds[1].revents)
			return stopped(err);
		if (n > 0)
			return 1;
		if (left <= 0)
			return 0;
	}
}

/* Wait until a connection stands. */
static int connected(const struct channel *c, struct cvl_error *err)
{
	int failed = 0, rc = wait_for(c, POLLOUT, lab_now_ms() + CONNECT_MS, err);
	socklen_t size = sizeof(failed);

	if (rc < 0)
		return rc;
	if (!rc)
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: no response; check that the instrument is on and in this network",
			c->name);
	if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &failed, &size))
		failed = errno;
	return failed ? cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				 "%s: %s; see that the instrument's SCPI port is on", c->name,
				 strerror(failed)) :
			0;
}

static int open_tcp(struct channel *c, const char *where, struct cvl_error *err)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(where, ':');
	struct addrinfo *found = NULL;
	char host[256];
	int rc;

	if (!colon || colon == where || !colon[1] || (size_t)(colon - where) >= sizeof(host))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"%s: an address in a network is tcp:HOST:PORT", c->name);
	snprintf(host, sizeof(host), "%.*s", (int)(colon - where), where);
	rc = getaddrinfo(host, colon + 1, &hints, &found);
	if (rc)
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: %s", c->name, gai_strerror(rc));
	c->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		rc = cvl_fail_errno(err, "open", c->name);
	else if (!connect(c->fd, found->ai_addr, found->ai_addrlen))
		rc = 0;
	else if (errno == EINPROGRESS)
		rc = connected(c, err);
	else
		rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: %s", c->name, strerror(errno));
	freeaddrinfo(found);
	return rc;
}

int channel_open(struct channel *c, const char *address, unsigned baud, int stop_fd,
		 struct cvl_error *err)
{
	int rc = 0;

	*c = (struct channel){ .fd = -1, .stop_fd = stop_fd, .name = address };
	if (!strncmp(address, "tcp:", 4)) {
		rc = open_tcp(c, address + 4, err);
	} else if (!strncmp(address, "/dev/usbtmc", 11)) {
		c->usbtmc = true;
		c->fd = open(address, O_RDWR | O_CLOEXEC);
		if (c->fd < 0)
			rc = serial_why(address, err);
	} else {
		rc = serial_open(&c->fd, address, baud, err);
	}
	if (rc)
		channel_close(c);
	return rc;
}

void channel_close(struct channel *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

/* The driver of USBTMC waits by itself, in pieces short enough to see a stop between them. */
static int read_usbtmc(struct channel *c, void *bytes, size_t n, int64_t deadline_ms,
		       struct cvl_error *err)
{
	for (;;) {
		struct pollfd stop = { .fd = c->stop_fd, .events = POLLIN };
		int64_t left = deadline_ms - lab_now_ms();
		uint32_t ms = left < 100 ? 100 : left > 1000 ? 1000 : (uint32_t)left;
		ssize_t got;

		if (poll(&stop, 1, 0) > 0)
			return stopped(err);
		if (left <= 0)
			return 0;
		ioctl(c->fd, USBTMC_IOCTL_SET_TIMEOUT, &ms);
		got = read(c->fd, bytes, n);
		if (got > 0)
			return (int)got;
		if (got < 0 && errno != ETIMEDOUT && errno != EINTR && errno != EAGAIN)
			return gone(c, err);
	}
}

int channel_read(struct channel *c, void *bytes, size_t n, int64_t deadline_ms,
		 struct cvl_error *err)
{
	if (n > INT32_MAX)
		n = INT32_MAX;
	if (c->usbtmc)
		return read_usbtmc(c, bytes, n, deadline_ms, err);
	for (;;) {
		int rc = wait_for(c, POLLIN, deadline_ms, err);
		ssize_t got;

		if (rc <= 0)
			return rc;
		got = read(c->fd, bytes, n);
		if (got > 0)
			return (int)got;
		if (!got || (errno != EAGAIN && errno != EINTR))
			return gone(c, err);
	}
}

int channel_write(struct channel *c, const void *bytes, size_t n, int64_t deadline_ms,
		  struct cvl_error *err)
{
	const char *b = bytes;

	while (n) {
		int rc = c->usbtmc ? 1 : wait_for(c, POLLOUT, deadline_ms, err);
		ssize_t put;

		if (rc < 0)
			return rc;
		if (!rc)
			return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
					"%s: it takes no bytes; see that it is on", c->name);
		put = write(c->fd, b, n);
		if (put < 0 && errno != EAGAIN && errno != EINTR)
			return gone(c, err);
		if (put > 0) {
			b += put;
			n -= (size_t)put;
		}
	}
	return 0;
}

int channel_drain(struct channel *c, struct cvl_error *err)
{
	char bytes[512];
	int got = 1;

	if (c->usbtmc)
		return 0;
	for (size_t n = 0; got > 0 && n < DRAIN_BYTES; n += (size_t)got)
		got = channel_read(c, bytes, sizeof(bytes), 0, err);
	return got < 0 ? got : 0;
}

int lab_sleep(int stop_fd, int64_t ms, struct cvl_error *err)
{
	const struct channel c = { .fd = -1, .stop_fd = stop_fd };
	int rc = wait_for(&c, 0, lab_now_ms() + ms, err);

	return rc < 0 ? rc : 0;
}

char *lab_excerpt(char *out, size_t size, const void *bytes, size_t n)
{
	/* each byte takes up to four characters, then come quotes, dots and the end */
	size_t fits = (size - 8) / 4, skip = n > fits ? n - fits : 0, k = 0;
	const unsigned char *b = bytes;

	if (!n) {
		snprintf(out, size, "nothing");
		return out;
	}
	out[k++] = '"';
	if (skip)
		k += (size_t)snprintf(out + k, size - k, "...");
	for (size_t i = skip; i < n; i++) {
		if (b[i] == '\n' || b[i] == '\r') {
			out[k++] = '\\';
			out[k++] = b[i] == '\n' ? 'n' : 'r';
		} else if (b[i] >= ' ' && b[i] < 127) {
			out[k++] = (char)b[i];
		} else {
			k += (size_t)snprintf(out + k, size - k, "\\x%02x", b[i]);
		}
	}
	out[k++] = '"';
	out[k] = '\0';
	return out;
}
