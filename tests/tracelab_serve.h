/* SPDX-License-Identifier: MIT */
/**
 * What simulated TraceLab observers share: SPI behind a Unix socket, the UART behind a
 * pseudo-terminal.
 */
#ifndef TRACELAB_SERVE_H
#define TRACELAB_SERVE_H

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#define SERVE_LITTLE 260 /* bytes of the host's smallest transaction */

/** An observer. */
struct served {
	void (*pass)(void *ctx); /* time */
	void (*uart_in)(void *ctx, const uint8_t *bytes, size_t n);
	size_t (*uart_out)(void *ctx, uint8_t *bytes, size_t max);
	void (*spi)(void *ctx, uint8_t *bytes, size_t n);
	void *ctx;
	bool stuck;  /* SPI shows zeros */
	FILE *spill; /* where what SPI showed goes too, or NULL */
};

static int listen_at(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof(a.sun_path))
		return -1;
	memcpy(a.sun_path, path, strlen(path));
	unlink(path);
	return bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 1) ? -1 : fd;
}

static int make_tty(const char *link)
{
	struct termios t;
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || grantpt(fd) || unlockpt(fd) || tcgetattr(fd, &t))
		return -1;
	cfmakeraw(&t);
	if (tcsetattr(fd, TCSANOW, &t) || fcntl(fd, F_SETFL, O_NONBLOCK))
		return -1;
	unlink(link);
	return symlink(ptsname(fd), link) ? -1 : fd;
}

/* Until the host hangs up. */
static int serve(const struct served *o, int spi, int tty)
{
	uint8_t bytes[8192];

	for (;;) {
		struct pollfd fds[] = { { .fd = spi, .events = POLLIN },
					{ .fd = tty, .events = POLLIN } };
		ssize_t n;

		/* a terminal that is not open yet reports that all the time */
		if (poll(fds, 2, 5) < 0)
			return 1;
		o->pass(o->ctx);
		n = fds[1].revents & POLLIN ? read(tty, bytes, sizeof(bytes)) : 0;
		if (n > 0)
			o->uart_in(o->ctx, bytes, (size_t)n);
		n = (ssize_t)o->uart_out(o->ctx, bytes, sizeof(bytes));
		if (n > 0 && write(tty, bytes, (size_t)n) != n)
			return 1;
		if (!(fds[0].revents & (POLLIN | POLLHUP)))
			continue;
		n = recv(spi, bytes, SERVE_LITTLE, MSG_PEEK);
		if (n <= 0)
			return 0;
		if (n < SERVE_LITTLE)
			continue;
		n = recv(spi, bytes, sizeof(bytes), 0);
		o->spi(o->ctx, bytes, (size_t)n);
		if (o->stuck)
			memset(bytes, 0, (size_t)n);
		if (o->spill)
			fwrite(bytes, 1, (size_t)n, o->spill);
		if (send(spi, bytes, (size_t)n, MSG_NOSIGNAL) != n)
			return 0;
	}
}

/* Wait at @path and serve whoever comes, with its UART at @link. */
static int serve_at(const struct served *o, const char *path, const char *link)
{
	int tty = make_tty(link), fd = listen_at(path), spi;

	if (tty < 0 || fd < 0) {
		perror("tracelab_device");
		return 4;
	}
	spi = accept(fd, NULL, NULL);
	return spi < 0 ? 4 : serve(o, spi, tty);
}

#endif
