/* SPDX-License-Identifier: MIT */
/*
 * Samples from a file or a pipe: any analyzer whose program writes them there. Samples are
 * little-endian units of 1 to 8 bytes, without a header.
 */
#include "capture/drivers/driver.h"

#include <coeval/store.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)1 << 18)

struct file {
	const struct driver_sink *sink;
	struct driver_analyzer analyzer;
	char where[300];
	int fd;
	bool own, stopping, ended;
	unsigned char buf[CHUNK];
};

static void file_close(void *state)
{
	struct file *f = state;

	if (f->own && f->fd >= 0)
		close(f->fd);
	free(f);
}

static int check(const struct cvl_device_opts *o, unsigned *unit, struct cvl_error *err)
{
	if (!o->rate_hz || !o->lines)
		return cvl_hint(err, CVL_HINT_RATE_LINES,
				cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					 "samples need a rate and a number of lines"));
	*unit = o->unit;
	if (!*unit)
		for (*unit = 1; *unit * 8 < o->lines; *unit *= 2)
			;
	if (o->lines > CVL_LINES_MAX || *unit > 8 || *unit * 8 < o->lines)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"samples of %u bytes cannot hold %u lines (1 to 8 bytes)", *unit,
				o->lines);
	return 0;
}

static int open_at(void **state, const struct cvl_device_opts *o, const struct driver_sink *sink,
		   const char *path, int flags, struct cvl_error *err)
{
	struct file *f;
	unsigned unit = 0;
	int rc = check(o, &unit, err);

	*state = NULL;
	if (rc)
		return rc;
	f = calloc(1, sizeof(*f));
	if (!f)
		return cvl_no_memory(err);
	f->sink = sink;
	f->own = strcmp(path, "-") != 0;
	f->fd = f->own ? open(path, O_RDONLY | O_CLOEXEC | flags) : STDIN_FILENO;
	if (f->fd < 0) {
		rc = cvl_fail_errno(err, "open", path);
		file_close(f);
		return rc;
	}
	snprintf(f->where, sizeof(f->where), "%s", path);
	f->analyzer = (struct driver_analyzer){ .where = f->where,
						.serial = "",
						.rate_hz = o->rate_hz,
						.lines = o->lines,
						.unit = unit };
	*state = f;
	return 0;
}

static int file_open(void **state, const struct cvl_device_opts *o, const struct driver_sink *sink,
		     struct cvl_error *err)
{
	struct stat st;

	if (!o->devices)
		return cvl_hint(
			err, CVL_HINT_DEVICE,
			cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "name the file of samples"));
	if (!stat(o->devices, &st) && !S_ISREG(st.st_mode))
		return cvl_hint(err, CVL_HINT_PIPE,
				cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					 "%s is not a regular file", o->devices));
	return open_at(state, o, sink, o->devices, 0, err);
}

static int pipe_open(void **state, const struct cvl_device_opts *o, const struct driver_sink *sink,
		     struct cvl_error *err)
{
	return open_at(state, o, sink, o->devices ? o->devices : "-", O_NONBLOCK, err);
}

static size_t file_analyzers(void *state, const struct driver_analyzer **list)
{
	*list = &((struct file *)state)->analyzer;
	return 1;
}

static int file_start(void *state, struct cvl_error *err)
{
	(void)state, (void)err;
	return 0;
}

static size_t file_wait_for(void *state, struct pollfd *fds, size_t max, int *timeout_ms)
{
	const struct file *f = state;

	if (f->stopping || !max) {
		*timeout_ms = 0;
		return 0;
	}
	fds[0] = (struct pollfd){ .fd = f->fd, .events = POLLIN };
	return 1;
}

static int file_work(void *state, struct cvl_error *err)
{
	struct file *f = state;
	struct pollfd ready = { .fd = f->fd, .events = POLLIN };
	ssize_t n;

	if (f->stopping || f->ended)
		return 0;
	if (poll(&ready, 1, 0) <= 0)
		return 1;
	n = read(f->fd, f->buf, sizeof(f->buf));
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 1 :
							   cvl_fail_errno(err, "read", f->where);
	if (!n) {
		f->ended = true;
		return 0;
	}
	n = f->sink->samples(f->sink->ctx, 0, f->buf, (size_t)n, err);
	return n ? (int)n : 1;
}

static int file_stop(void *state, struct cvl_error *err)
{
	(void)err;
	((struct file *)state)->stopping = true;
	return 0;
}

static const struct cvl_option file_options[] = {
	{ "device", "FILE", "the path; has to be given" },
	{ "rate", "HZ", "sampling rate; required" },
	{ "lines", "N", "1 to 64 (default: 8)" },
	{ "unit-size", "N", "bytes per sample (default: as few as hold the lines)" },
	{ "names", "A,B,...", "names of the lines" },
	{ "radio", "DEVICE", "CC1101 that hears beacons: spidev0.0" },
	{ "profile", "NAME", "its settings (default: grace)" },
	{ "radio-line", "N", "line that its GDO0 is wired to, counted from 1 (default: 8)" },
	{ "beacon-period", "TIME", "from one number of Grace's beacons to the next (default: 1s)" },
	{ 0 },
};

const struct driver driver_file = {
	.pub = { .name = "file",
		 .what = "samples from a file, as another analyzer's program left them",
		 .options = file_options },
	.open = file_open,
	.analyzers = file_analyzers,
	.start = file_start,
	.wait_for = file_wait_for,
	.work = file_work,
	.stop = file_stop,
	.close = file_close,
};

static const struct cvl_option pipe_options[] = {
	{ "device", "FILE", "the path (default: standard input)" },
	{ "rate", "HZ", "sampling rate; required" },
	{ "lines", "N", "1 to 64 (default: 8)" },
	{ "unit-size", "N", "bytes per sample (default: as few as hold the lines)" },
	{ "names", "A,B,...", "names of the lines" },
	{ "radio", "DEVICE", "CC1101 that hears beacons: spidev0.0" },
	{ "profile", "NAME", "its settings (default: grace)" },
	{ "radio-line", "N", "line that its GDO0 is wired to, counted from 1 (default: 8)" },
	{ "beacon-period", "TIME", "from one number of Grace's beacons to the next (default: 1s)" },
	{ 0 },
};

const struct driver driver_pipe = {
	.pub = { .name = "pipe",
		 .what = "samples from a pipe (default: standard input), as another analyzer's program sends them",
		 .options = pipe_options },
	.open = pipe_open,
	.analyzers = file_analyzers,
	.start = file_start,
	.wait_for = file_wait_for,
	.work = file_work,
	.stop = file_stop,
	.close = file_close,
};
