/* SPDX-License-Identifier: MIT */
/*
 * Packets of tracers from byte streams: a serial port, a socket of an emulator, a FIFO, or a file
 * with such bytes. The driver sleeps until something arrives.
 */
#include "capture/drivers/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <coeval/files.h>
#include "core/serial.h"
#include "decode/packet_row.h"
#include "decode/unpack.h"
#include "store/ctf/tracer_tsdl.h"

#define LINES_MAX 16
#define BAUD 115200
#define CHUNK 16384

struct line {
	struct serial *serial;
	size_t index;
	char name[100], path[CVL_PATH_MAX];
	unsigned baud;
	int fd;
	bool ended;
	const struct tsdl *tsdl;
	struct unpack unpack;
	struct packet_row row;
	bool any, told_foreign, told_skipped, told_repeated;
};

struct serial {
	const struct driver_sink *sink;
	struct tsdl_list tsdl;
	struct line *line;
	struct driver_analyzer analyzer[LINES_MAX];
	size_t n;
	bool stopping;
};

static void serial_close(void *state)
{
	struct serial *s = state;

	for (size_t i = 0; i < s->n; i++)
		if (s->line[i].fd > STDIN_FILENO)
			close(s->line[i].fd);
	free(s->line);
	tsdl_free(&s->tsdl);
	free(s);
}

/* ---- what --device says: [NAME=]PATH[:BAUD],... ---- */

static int read_device(struct line *l, const char *text, size_t n, struct cvl_error *err)
{
	char copy[CVL_PATH_MAX], *path = copy, *mark, *end;

	if (n >= sizeof(copy) || !n)
		return cvl_hint(err, CVL_HINT_DEVICE,
				cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					 "name the lines: [NAME=]PATH[:BAUD],..."));
	memcpy(copy, text, n);
	copy[n] = '\0';
	l->baud = BAUD;
	mark = strchr(copy, '=');
	if (mark) {
		*mark = '\0';
		path = mark + 1;
	}
	end = strrchr(path, ':');
	if (end && end[1] && strspn(end + 1, "0123456789") == strlen(end + 1)) {
		l->baud = (unsigned)strtoul(end + 1, NULL, 10);
		*end = '\0';
	}
	if (mark)
		snprintf(l->name, sizeof(l->name), "%.90s", copy);
	else
		cvl_path_base(l->name, sizeof(l->name), strcmp(path, "-") ? path : "line");
	if (!mark && strrchr(l->name, '.') > l->name)
		*strrchr(l->name, '.') = '\0';
	snprintf(l->path, sizeof(l->path), "%s", path);
	return 0;
}

static int open_line(struct line *l, struct cvl_error *err)
{
	struct stat st;

	if (!strcmp(l->path, "-"))
		return 0;
	if (stat(l->path, &st))
		return errno == ENOENT ? cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
						  "%s: no such line; is it plugged in?", l->path) :
					 cvl_fail_errno(err, "look at", l->path);
	if (S_ISSOCK(st.st_mode))
		return serial_connect(&l->fd, l->path, err);
	if (S_ISCHR(st.st_mode))
		return serial_open(&l->fd, l->path, l->baud, err);
	l->fd = open(l->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return l->fd < 0 ? cvl_fail_errno(err, "open", l->path) : 0;
}

/* ---- packets ---- */

static void say(struct line *l, bool *once, const char *text)
{
	char copy[400];

	if (*once)
		return;
	*once = true;
	snprintf(copy, sizeof(copy), "%s: %s", l->name, text);
	l->serial->sink->tell(l->serial->sink->ctx, SIZE_MAX, true, copy);
}

static int see_packet(void *ctx, struct tracer_packet *p, size_t n, struct cvl_error *err)
{
	struct line *l = ctx;
	const enum packet_row_is is = packet_row_put(&l->row, p, n);
	const struct driver_packet packet = {
		.bytes = p,
		.n = n,
		.begin = (uint64_t)p->timestamp_begin[1] << 32 | p->timestamp_begin[0],
		.end = (uint64_t)p->timestamp_end[1] << 32 | p->timestamp_end[0],
		.restarted = is == PACKET_RESTARTED,
	};

	l->any = true;
	if (is == PACKET_REPEATED) {
		say(l, &l->told_repeated,
		    "packets arrive with numbers that were there before, and are left out: is something "
		    "sent twice, or do two cores call themselves the same?");
		return 0;
	}
	return l->serial->sink->packet(l->serial->sink->ctx, l->index, &packet, err);
}

static int open_serial(void **state, const struct cvl_device_opts *o,
		       const struct driver_sink *sink, struct cvl_error *err)
{
	struct serial *s = calloc(1, sizeof(*s));
	int rc;

	*state = NULL;
	if (!s)
		return cvl_no_memory(err);
	s->sink = sink;
	s->line = calloc(LINES_MAX, sizeof(*s->line));
	rc = s->line ? tsdl_load(&s->tsdl, o->metadata, err) : cvl_no_memory(err);
	for (const char *at = o->devices ? o->devices : "-"; at && !rc; at = strchr(at, ',')) {
		struct line *l = &s->line[s->n];

		if (s->n == LINES_MAX) {
			rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "more than %d lines",
				      LINES_MAX);
			break;
		}
		at += *at == ',';
		*l = (struct line){ .serial = s, .index = s->n++, .fd = STDIN_FILENO };
		rc = read_device(l, at, strcspn(at, ","), err);
		if (!rc)
			rc = open_line(l, err);
	}
	if (!rc && s->tsdl.n != 1 && s->tsdl.n != s->n)
		rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			      "%zu files of metadata for %zu lines: name one for all, or one each",
			      s->tsdl.n, s->n);
	for (size_t i = 0; i < s->n && !rc; i++) {
		struct line *l = &s->line[i];

		l->tsdl = &s->tsdl.item[s->tsdl.n == 1 ? 0 : i];
		unpack_init(&l->unpack, l->tsdl->layout, see_packet, l);
		s->analyzer[i] = (struct driver_analyzer){
			.where = l->path,
			.serial = "",
			.name = l->name,
			.metadata = l->tsdl->text,
			.n_metadata = l->tsdl->n,
		};
	}
	if (rc) {
		serial_close(s);
		return rc;
	}
	*state = s;
	return 0;
}

static size_t serial_analyzers(void *state, const struct driver_analyzer **list)
{
	*list = ((struct serial *)state)->analyzer;
	return ((struct serial *)state)->n;
}

static int serial_start(void *state, struct cvl_error *err)
{
	(void)state, (void)err;
	return 0;
}

static size_t serial_wait_for(void *state, struct pollfd *fds, size_t max, int *timeout_ms)
{
	const struct serial *s = state;
	size_t n = 0;

	if (s->stopping)
		*timeout_ms = 0;
	for (size_t i = 0; i < s->n && n < max; i++)
		if (!s->line[i].ended)
			fds[n++] = (struct pollfd){ .fd = s->line[i].fd, .events = POLLIN };
	return n;
}

/* ---- reading ---- */

static void tell_problems(struct line *l)
{
	char text[200];

	if (l->unpack.foreign && l->unpack.foreign_layout != l->unpack.layout) {
		snprintf(text, sizeof(text),
			 "packets of layout %" PRIu32
			 " arrive, and the metadata are of layout %" PRIu32
			 ": print the metadata of the program that runs there",
			 l->unpack.foreign_layout, l->unpack.layout);
		say(l, &l->told_foreign, text);
	} else if (l->unpack.foreign) {
		snprintf(text, sizeof(text),
			 "packets of core %u arrive among those of core %u: a line is one core's",
			 l->unpack.foreign_core, l->unpack.core);
		say(l, &l->told_foreign, text);
	}
	if (l->unpack.skipped)
		say(l, &l->told_skipped,
		    "bytes arrive that are no packet: damaged ones are left out, and show as gaps");
}

/* One read; notes the end of the line. */
static int read_line(struct line *l, struct cvl_error *err)
{
	static const struct timespec none;
	struct pollfd ready = { .fd = l->fd, .events = POLLIN };
	uint8_t chunk[CHUNK];
	ssize_t n;
	int rc;

	if (ppoll(&ready, 1, &none, NULL) <= 0)
		return 0;
	n = read(l->fd, chunk, sizeof(chunk));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	l->ended = n <= 0;
	if (n < 0 && errno != EIO && errno != ECONNRESET) /* what an unplugged port returns */
		return cvl_fail_errno(err, "read", l->path);
	rc = n > 0 ? unpack_push(&l->unpack, chunk, (size_t)n, err) : 0;
	tell_problems(l);
	return rc;
}

static int serial_work(void *state, struct cvl_error *err)
{
	struct serial *s = state;
	bool alive = false;

	for (size_t i = 0; i < s->n; i++) {
		struct line *l = &s->line[i];
		int rc = l->ended ? 0 : read_line(l, err);

		if (rc)
			return rc;
		alive = alive || !l->ended;
	}
	if (alive && !s->stopping)
		return 1;
	for (size_t i = 0; i < s->n; i++) {
		struct line *l = &s->line[i];
		int rc = unpack_end(&l->unpack, err);

		if (rc)
			return rc;
		tell_problems(l);
		if (!l->any)
			say(l, &(bool){ false }, "no packet arrived");
	}
	return 0;
}

static int serial_stop(void *state, struct cvl_error *err)
{
	(void)err;
	((struct serial *)state)->stopping = true;
	return 0;
}

static const struct cvl_option serial_options[] = {
	{ "device", "[NAME=]PATH[:BAUD],...",
	  "ports, sockets, FIFOs or files, such as m4=/dev/ttyUSB0:921600 (default: standard input)" },
	{ "metadata", "FILE,...", "what the traced programs declare: one for all, or one each" },
	{ 0 },
};

const struct driver driver_serial = {
	.pub = { .name = "serial",
		 .what = "packets of firmware/lib/tracer from serial ports, sockets, FIFOs or a file",
		 .options = serial_options },
	.open = open_serial,
	.analyzers = serial_analyzers,
	.start = serial_start,
	.wait_for = serial_wait_for,
	.work = serial_work,
	.stop = serial_stop,
	.close = serial_close,
};
