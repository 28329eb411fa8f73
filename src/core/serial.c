/* SPDX-License-Identifier: MIT */
#include "core/serial.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

static const struct {
	unsigned baud;
	speed_t speed;
} speeds[] = {
	{ 1200, B1200 },       { 2400, B2400 },       { 4800, B4800 },       { 9600, B9600 },
	{ 19200, B19200 },     { 38400, B38400 },     { 57600, B57600 },     { 115200, B115200 },
	{ 230400, B230400 },   { 460800, B460800 },   { 500000, B500000 },   { 921600, B921600 },
	{ 1000000, B1000000 }, { 1500000, B1500000 }, { 2000000, B2000000 }, { 3000000, B3000000 },
};

int serial_why(const char *path, struct cvl_error *err)
{
	switch (errno) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: no such port; plug it in, or see /dev/serial/by-id and /dev/usbtmc*",
			path);
	case EACCES:
	case EPERM:
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: no permission; serial ports belong to the group dialout: `sudo adduser $USER dialout`, then log in again",
			path);
	case EBUSY:
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				"%s: in use by another program; close that", path);
	default: return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: %s", path, strerror(errno));
	}
}

int serial_open(int *fd, const char *path, unsigned baud, struct cvl_error *err)
{
	speed_t speed = 0;
	struct termios t;

	for (size_t i = 0; i < sizeof(speeds) / sizeof(*speeds); i++)
		if (speeds[i].baud == baud)
			speed = speeds[i].speed;
	if (!speed)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"%s: %u baud is not a rate of serial ports; 115200 is usual", path,
				baud);
	*fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0)
		return serial_why(path, err);
	if (tcgetattr(*fd, &t)) {
		close(*fd);
		*fd = -1;
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: not a serial port", path);
	}
	cfmakeraw(&t);
	t.c_cflag &= ~(tcflag_t)(CRTSCTS | CSTOPB);
	t.c_cflag |= CLOCAL | CREAD;
	cfsetspeed(&t, speed);
	if (ioctl(*fd, TIOCEXCL) || tcsetattr(*fd, TCSANOW, &t)) {
		serial_why(path, err);
		close(*fd);
		*fd = -1;
		return CVL_E_ENV;
	}
	tcflush(*fd, TCIOFLUSH);
	return 0;
}

int serial_connect(int *fd, const char *path, struct cvl_error *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(a.sun_path))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: socket path too long", path);
	memcpy(a.sun_path, path, strlen(path));
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd >= 0 && !connect(*fd, (struct sockaddr *)&a, sizeof(a)))
		return 0;
	cvl_fail_errno(err, "connect to", path);
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return CVL_E_IO;
}
