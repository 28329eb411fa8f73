/* SPDX-License-Identifier: MIT */
#include "capture/drivers/tracelab/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/drivers/driver.h"
#include "capture/drivers/spidev.h"
#include "core/serial.h"

#define ANSWER_NS 300000000

int tracelab_io_open(struct tracelab_io *io, const char *devices, struct cvl_error *err)
{
	char path[SPIDEV_PATH], *comma;
	struct stat st;
	int rc;

	*io = (struct tracelab_io){ .spi = -1, .uart = -1 };
	if (!devices || strlen(devices) >= sizeof(io->where))
		return cvl_hint(err, CVL_HINT_DEVICE,
				cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					 "name the observer's SPI and serial port: "
					 "spidev0.0,/dev/ttyUSB0; or a file of SPI bytes"));
	snprintf(io->where, sizeof(io->where), "%s", devices);
	if (!stat(io->where, &st) && S_ISREG(st.st_mode)) {
		io->bus = TRACELAB_FILE;
		io->spi = open(io->where, O_RDONLY | O_CLOEXEC);
		return io->spi < 0 ? cvl_fail_errno(err, "open", io->where) : 0;
	}
	comma = strchr(io->where, ',');
	if (!comma)
		return cvl_hint(
			err, CVL_HINT_DEVICE,
			cvl_fail(
				err, CVL_E_USAGE, CVL_NO_OFFSET,
				"%s: does not exist; name both SPI and serial port of an observer: %s,/dev/ttyUSB0",
				devices, devices));
	snprintf(io->serial, sizeof(io->serial), "%s", comma + 1);
	*comma = '\0';
	if (!stat(io->where, &st) && S_ISSOCK(st.st_mode)) {
		io->bus = TRACELAB_SOCKET;
		rc = serial_connect(&io->spi, io->where, err);
	} else {
		io->bus = TRACELAB_SPIDEV;
		rc = spidev_path(path, io->where, err);
		if (!rc)
			rc = spidev_open(&io->spi, path, TL_SPI_HZ, err);
	}
	*comma = ',';
	if (!rc)
		rc = serial_open(&io->uart, io->serial, TL_BAUD, err);
	if (rc)
		tracelab_io_close(io);
	return rc;
}

void tracelab_io_close(struct tracelab_io *io)
{
	if (io->spi >= 0)
		close(io->spi);
	if (io->uart >= 0)
		close(io->uart);
	io->spi = io->uart = -1;
}

/* Until all is written. */
static int exchange(struct tracelab_io *io, uint8_t *bytes, size_t n, struct cvl_error *err)
{
	size_t sent = 0, got = 0;

	memset(bytes, 0, n);
	while (sent < n) {
		ssize_t k = send(io->spi, bytes + sent, n - sent, MSG_NOSIGNAL);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return cvl_fail_errno(err, "write to", io->where);
		sent += (size_t)k;
	}
	while (got < n) {
		ssize_t k = recv(io->spi, bytes + got, n - got, 0);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return cvl_fail_errno(err, "read from", io->where);
		if (!k)
			return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
					"%s: the simulated device hung up", io->where);
		got += (size_t)k;
	}
	return 0;
}

ssize_t tracelab_io_read(struct tracelab_io *io, uint8_t *bytes, size_t n, struct cvl_error *err)
{
	ssize_t got = (ssize_t)n;
	int rc = 0;

	switch (io->bus) {
	case TRACELAB_FILE:
		do
			got = read(io->spi, bytes, n);
		while (got < 0 && errno == EINTR);
		rc = got < 0 ? cvl_fail_errno(err, "read", io->where) : 0;
		break;
	case TRACELAB_SOCKET: rc = exchange(io, bytes, n, err); break;
	case TRACELAB_SPIDEV:
		if (spidev_transfer(io->spi, TL_SPI_HZ, NULL, bytes, n))
			rc = cvl_fail_errno(err, "read by SPI from", io->where);
		break;
	}
	return rc ? rc : got;
}

/* Read what the port has. True: the answer to @c is complete. */
static bool take_answer(struct tracelab_io *io, const struct tracelab_command *c,
			struct tracelab_answer *a)
{
	uint8_t byte;

	while (read(io->uart, &byte, 1) == 1)
		if (tracelab_answer_take(&io->answers, byte, a) && a->tag == c->tag &&
		    (a->command == c->command || a->status == TL_CUT))
			return true;
	return false;
}

int tracelab_io_ask(struct tracelab_io *io, struct tracelab_command *c, struct tracelab_answer *a,
		    struct cvl_error *err)
{
	uint8_t out[TRACELAB_FRAME_MAX];
	int64_t end;
	size_t n;

	if (io->uart < 0)
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				"%s: is a file; it takes no commands", io->where);
	c->tag = ++io->tag;
	n = tracelab_command_bytes(c, out);
	errno = EIO; /* if it took only a part */
	if (write(io->uart, out, n) != (ssize_t)n)
		return cvl_fail_errno(err, "write to", io->serial);
	end = driver_monotonic_ns() + ANSWER_NS;
	while (!take_answer(io, c, a)) {
		struct pollfd fd = { .fd = io->uart, .events = POLLIN };
		int64_t left = end - driver_monotonic_ns();

		if (left <= 0 || (poll(&fd, 1, (int)(left / 1000000) + 1) > 0 &&
				  fd.revents & (POLLHUP | POLLERR | POLLNVAL)))
			return cvl_fail(
				err, CVL_E_ENV, CVL_NO_OFFSET,
				"%s: no answer: is this the observer's port, and its FPGA loaded?",
				io->serial);
	}
	return 0;
}
