/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "writer.h"

#define PACKET_LOG2 14
#define PACKETS 64
#define SYNC_MS 5000 /* exit() waits for a slow disk no longer */
#define NS 1000000000u

/* One per program. */
static struct program {
	struct tracer t;
	struct tracer_linux o;
	int bell;                           /* rung when a packet is complete; -1: none */
	enum { LINE, QUEUE, FIFO } bell_is; /* a line: to the writer */
	pid_t pid;                          /* that began to trace */
} program = { .bell = -1 };

/* Does nothing: all its tracepoints are off. */
static struct tracer silent;

static struct tracer *refuse(const char *what, const char *name, const char *why)
{
	fprintf(stderr, "tracer: cannot %s %s: %s; the program continues without a trace\n", what,
		name, why);
	return &silent;
}

/* ---- clocks ---- */

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

static uint64_t monotonic(void *ctx)
{
	(void)ctx;
	return clock_ns(CLOCK_MONOTONIC);
}

#if defined(__x86_64__) || defined(__i386__)
static uint64_t tsc(void *ctx)
{
	(void)ctx;
	return __builtin_ia32_rdtsc();
}

static uint64_t tsc_rate(void)
{
	uint64_t ns = clock_ns(CLOCK_MONOTONIC), ticks = tsc(NULL);

	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	ns = clock_ns(CLOCK_MONOTONIC) - ns;
	ticks = tsc(NULL) - ticks;
	return (uint64_t)((double)ticks * NS / (double)ns + 0.5);
}
#endif

/* Choose the clock, and say in @origin when it showed 0, if that is known. */
static void choose_clock(struct tracer_linux *o, struct tracer_origin *origin)
{
	uint64_t now, unix_ns, unix_s, ticks, ns;

	if (o->clock) {
		origin->rate_hz = o->rate_hz;
		return;
	}
	o->clock = monotonic;
	o->rate_hz = NS;
#if defined(__x86_64__) || defined(__i386__)
	if (o->tsc) {
		o->clock = tsc;
		o->rate_hz = tsc_rate();
	}
#endif
	origin->rate_hz = o->rate_hz;
	now = o->clock(NULL);
	unix_ns = clock_ns(CLOCK_REALTIME);
	/* unix time less what it shows, in whole seconds and ticks */
	ns = now % o->rate_hz * NS / o->rate_hz;
	unix_s = unix_ns / NS - now / o->rate_hz;
	ticks = unix_ns % NS;
	if (ticks < ns) {
		ticks += NS;
		unix_s--;
	}
	ticks -= ns;
	origin->offset_s = (int64_t)unix_s;
	origin->offset =
		o->rate_hz == NS ? ticks : (uint64_t)((double)ticks * (double)o->rate_hz / NS);
}

/* ---- doorbell ---- */

/* Async-signal-safe. A bell that is full has been rung. */
static void ring_bell(void *ctx, uint32_t end)
{
	const int before = errno;

	(void)ctx;
	(void)end;
	if (program.bell < 0)
		return;
	switch (program.bell_is) {
	case LINE: (void)!send(program.bell, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT); break;
	case QUEUE: (void)!mq_send(program.bell, "", 1, 0); break;
	case FIFO: (void)!write(program.bell, "", 1); break;
	}
	errno = before;
}

static int open_bell(const char *path)
{
	program.bell_is = strncmp(path, "mq:", 3) ? FIFO : QUEUE;
	if (program.bell_is == QUEUE)
		program.bell = mq_open(path + 3, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	/*
	 * for reading too: it is there before who reads it, and no signal comes when that one goes
	 */
	else
		program.bell = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return program.bell < 0 ? -1 : 0;
}

/* ---- the writer ---- */

static void close_all_but(int a, int b)
{
	const unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);

	if (low > 0)
		syscall(SYS_close_range, 0u, low - 1u, 0u);
	if (high > low + 1u)
		syscall(SYS_close_range, low + 1u, high - 1u, 0u);
	syscall(SYS_close_range, high + 1u, UINT_MAX, 0u);
}

/* A process that is not a child of the program, so that its wait() never returns it. */
static int start_writer(struct writer *w)
{
	sigset_t all, before;
	int line[2], status = 0;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, line))
		return -1;
	w->line = line[1];
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (!pid) {
		pid = fork();
		if (pid)
			_exit(pid < 0);
		setsid();
		close_all_but(w->stream, w->line);
		writer_run(w);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && status) {
		pid = -1;
		errno = EAGAIN; /* fork() failed there, or something killed it */
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(line[1]);
	if (pid < 0) {
		close(line[0]);
		return -1;
	}
	program.bell = line[0];
	program.bell_is = LINE;
	return 0;
}

void tracer_linux_sync(struct tracer *t)
{
	struct pollfd answer = { .fd = program.bell, .events = POLLIN };
	const char sync = WRITER_SYNC;
	char byte;

	if (t == &silent)
		return;
	tracer_flush(t);
	if (program.bell < 0 || program.bell_is != LINE)
		return;
	/* a line that is full is being read: there is room soon */
	while (send(program.bell, &sync, 1, MSG_NOSIGNAL) < 0)
		if (errno != EAGAIN || usleep(1000))
			return;
	if (poll(&answer, 1, SYNC_MS) > 0)
		(void)!read(program.bell, &byte, 1);
}

static void at_exit(void)
{
	if (getpid() == program.pid)
		tracer_linux_sync(&program.t);
	else
		tracer_flush(&program.t);
}

/* ---- beginning ---- */

static int write_metadata(const char *path, const struct tracer_declarations *d,
			  const struct tracer_origin *origin)
{
	FILE *f = fopen(path, "we");
	int rc;

	if (!f)
		return -1;
	rc = tracer_metadata(f, d, origin);
	return fclose(f) ? -1 : rc;
}

/* Make the directory, its metadata and its stream. Returns the stream's descriptor, or -1. */
static int make_trace(const char *to, const struct tracer_declarations *d,
		      const struct tracer_origin *origin)
{
	char path[PATH_MAX];

	if (mkdir(to, 0777) && errno != EEXIST)
		return -1;
	if ((size_t)snprintf(path, sizeof(path), "%s/metadata", to) >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (write_metadata(path, d, origin))
		return -1;
	snprintf(path, sizeof(path), "%s/stream", to);
	return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

/*
 * Memory for the ring: @fd -1: of this program and its children alone. What a file had before
 * stays, so that its drain sees the restart.
 */
static void *map_ring(int fd, uint64_t bytes)
{
	struct stat st;
	void *at;

	if (fd >= 0 &&
	    (fstat(fd, &st) || ((uint64_t)st.st_size < bytes && ftruncate(fd, (off_t)bytes))))
		return NULL;
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0),
		  fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

static int start_ring(const struct tracer_declarations *d, const struct tracer_origin *origin,
		      uint64_t bytes, void **memory)
{
	char path[PATH_MAX];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s.metadata", program.o.ring) >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (write_metadata(path, d, origin))
		return -1;
	fd = open(program.o.ring, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	*memory = fd < 0 ? NULL : map_ring(fd, bytes);
	if (fd >= 0)
		close(fd);
	return *memory ? 0 : -1;
}

static const char *reason(enum tracer_refusal refusal)
{
	switch (refusal) {
	case TRACER_TOO_LARGE: return "an event is larger than a packet";
	case TRACER_BAD_SIZES: return "packets and their size have to be powers of two";
	default: return "its settings make no sense";
	}
}

struct tracer *tracer_linux_start(const struct tracer_linux *opts,
				  const struct tracer_declarations *d)
{
	struct tracer_linux *o = &program.o;
	struct tracer_origin origin = { 0 };
	struct tracer_config config = { .mode = TRACE_STREAM };
	struct writer w = { .t = &program.t, .stream = -1 };
	const char *place = opts->to ? opts->to : opts->ring;
	enum tracer_refusal refusal;
	char host[256] = "";
	void *memory = NULL;

	if (program.pid)
		return refuse("begin", "a second trace", "there is one a program");
	if (!opts->to == !opts->ring)
		return refuse("begin", "a trace", "name either .to or .ring");
	*o = *opts;
	gethostname(host, sizeof(host) - 1);
	origin.node = o->node ? o->node : host;
	choose_clock(o, &origin);
	config.platform.clock64 = o->clock;
	config.platform.ctx = o->ctx;
	config.platform.packet_done = ring_bell;
	config.packet_log2 = o->packet_log2 ? o->packet_log2 : PACKET_LOG2;
	config.packets = o->packets ? o->packets : PACKETS;
	config.core = o->core;
	config.rate_hz = o->rate_hz;
	if (o->ring && o->newest)
		config.mode = TRACE_OVERWRITE;
	if (config.packet_log2 > TRACE_PACKET_LOG2_MAX ||
	    config.packets > (1u << 27) >> config.packet_log2)
		return refuse("trace to", place, reason(TRACER_BAD_SIZES));
	w.ring_bytes = TRACER_RING_BYTES(config.packet_log2, config.packets);

	if (o->ring) {
		if (start_ring(d, &origin, w.ring_bytes, &memory))
			return refuse("trace to", place, strerror(errno));
		if (o->bell && open_bell(o->bell))
			fprintf(stderr,
				"tracer: cannot ring %s: %s; a capture has to look by itself\n",
				o->bell, strerror(errno));
	} else {
		memory = map_ring(-1, w.ring_bytes);
		w.packet = malloc((size_t)1 << config.packet_log2);
		w.stream = memory && w.packet ? make_trace(o->to, d, &origin) : -1;
		if (w.stream < 0)
			return refuse("trace to", place, strerror(errno));
	}
	refusal = tracer_init(&program.t, memory, (uint32_t)w.ring_bytes, &config, d->layout);
	if (refusal)
		return refuse("trace to", place, reason(refusal));
	if (program.t.ring->stamp_bits != d->stamp_bits)
		return refuse(
			"trace to", place,
			"tracer.c was compiled with other settings: give all files -DTRACER_CONFIG='\"linux/config.h\"'");
	if (o->to) {
		int failed = start_writer(&w);

		close(w.stream);
		free(w.packet);
		if (failed)
			return refuse("trace to", place, strerror(errno));
	}
	program.pid = getpid();
	atexit(at_exit);
	return &program.t;
}
