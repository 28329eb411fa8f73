/* SPDX-License-Identifier: MIT */
/*
 * A simulated TraceLab observer in real time: SPI behind a Unix socket, the UART behind a pseudo-terminal. Its world: T1
 * toggles every 10 ms from START on, T2 makes a burst of edges one cycle apart each second if --burst says how many, the PPS
 * comes 0.3 s after START and each 1.00001 s from then on. The ADC reads a ramp.
 *
 *   tracelab_device SOCKET TTY [--burst N] [--stuck] [--spill FILE]
 *
 * TTY is made a link to the terminal. It ends when the host hangs up. --stuck: SPI shows zeros. --spill: what SPI showed goes there too.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "drivers/driver.h"
#include "sim/tracelab_fpga.h"

#define TOGGLE 1000000ull   /* cycles */
#define SECOND 100001000ull /* a PPS of the host's crystal, which is 10 ppm off */
#define FIRST_PPS 30000000ull

struct world {
	uint64_t burst, start;
	bool begun;
	uint16_t levels;
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Of a thing that happens at @first and every @period from then on, when next. */
static uint64_t next_of(uint64_t after, uint64_t first, uint64_t period)
{
	return after < first ? first : first + ((after - first) / period + 1) * period;
}

static uint64_t next(void *ctx, uint64_t after, uint16_t *levels)
{
	struct world *w = ctx;
	uint64_t t, toggle, up, down, burst = UINT64_MAX, at;

	if (!w->begun) {
		w->begun = true;
		w->start = after;
	}
	t = after - w->start;
	toggle = next_of(t, TOGGLE, TOGGLE);
	up = next_of(t, FIRST_PPS, SECOND);
	down = next_of(t, FIRST_PPS + 1000000, SECOND);
	if (w->burst) {
		uint64_t in = (t + 1) % 100000000;

		burst = in < w->burst ? t + 1 : next_of(t, 100000000, 100000000);
	}
	at = least(least(toggle, burst), least(up, down));
	if (at == toggle)
		w->levels ^= 1;
	if (at == burst)
		w->levels ^= 2;
	if (at == up)
		w->levels |= 1 << TL_LINE_PPS;
	if (at == down)
		w->levels &= (uint16_t) ~(1u << TL_LINE_PPS);
	*levels = w->levels;
	return w->start + at;
}

static uint32_t reading(void *ctx, uint64_t n)
{
	(void)ctx;
	return (uint32_t)(n & 0xfff);
}

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

static int serve(struct fpga *f, int spi, int tty, bool stuck, FILE *spill)
{
	const int64_t begin = driver_waited();
	uint8_t bytes[8192];

	for (;;) {
		struct pollfd fds[] = { { .fd = spi, .events = POLLIN },
					{ .fd = tty, .events = POLLIN } };
		ssize_t n;

		/* a terminal that nobody has opened yet says so all the time */
		if (poll(fds, 2, 5) < 0)
			return 1;
		fpga_run(f, (uint64_t)(driver_waited() - begin) / 10);
		n = fds[1].revents & POLLIN ? read(tty, bytes, sizeof(bytes)) : 0;
		if (n > 0)
			fpga_uart_in(f, bytes, (size_t)n);
		n = (ssize_t)fpga_uart_out(f, bytes, sizeof(bytes));
		if (n > 0 && write(tty, bytes, (size_t)n) != n)
			return 1;
		if (!(fds[0].revents & (POLLIN | POLLHUP)))
			continue;
		n = recv(spi, bytes, 4 * (TL_BLOCK_WORDS + 1), MSG_PEEK);
		if (n <= 0)
			return 0;
		if (n < 4 * (TL_BLOCK_WORDS + 1))
			continue;
		n = recv(spi, bytes, sizeof(bytes), 0);
		fpga_spi(f, bytes, (size_t)n);
		if (stuck)
			memset(bytes, 0, (size_t)n);
		if (spill)
			fwrite(bytes, 1, (size_t)n, spill);
		if (send(spi, bytes, (size_t)n, MSG_NOSIGNAL) != n)
			return 0;
	}
}

int main(int argc, char **argv)
{
	struct world w = { 0 };
	const struct fpga_opts opts = { next, reading, &w, 0 };
	struct fpga *f = fpga_new(&opts);
	FILE *spill = NULL;
	bool stuck = false;
	int fd, tty, spi, rc;

	for (int i = 3; i < argc; i++) {
		if (!strcmp(argv[i], "--stuck"))
			stuck = true;
		else if (i + 1 < argc && !strcmp(argv[i], "--burst"))
			w.burst = strtoull(argv[++i], NULL, 10);
		else if (i + 1 < argc && !strcmp(argv[i], "--spill"))
			spill = fopen(argv[++i], "we");
	}
	if (argc < 3 || !f)
		return 2;
	tty = make_tty(argv[2]);
	fd = listen_at(argv[1]);
	if (tty < 0 || fd < 0) {
		perror("tracelab_device");
		return 4;
	}
	spi = accept(fd, NULL, NULL);
	rc = spi < 0 ? 4 : serve(f, spi, tty, stuck, spill);
	if (spill)
		fclose(spill);
	fpga_free(f);
	return rc;
}
