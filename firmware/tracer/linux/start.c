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

/* Of the program, of which there is one. */
static struct program {
	struct tracer t;
	struct tracer_linux o;
	int bell;     /* written to when a packet is complete; -1: nobody listens */
	int is_queue; /* it is a message queue */
	int done;     /* the writer's answers; -1: there is no writer */
	pid_t pid;    /* that began to trace */
} program = { .bell = -1, .done = -1 };

/* Does nothing: all its tracepoints are off. */
static struct tracer silent;

static struct tracer *refuse(const char *what, const char *name, const char *why)
{
	fprintf(stderr, "tracer: cannot %s %s: %s; the program goes on without a trace\n", what,
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
	int before = errno;

	(void)ctx;
	(void)end;
	if (program.bell >= 0 && (program.is_queue ? mq_send(program.bell, "", 1, 0) :
						     (int)write(program.bell, "", 1)) < 0)
		errno = before;
}

static int open_bell(const char *path)
{
	program.is_queue = !strncmp(path, "mq:", 3);
	if (program.is_queue)
		program.bell = mq_open(path + 3, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	else /* for reading too: it is there before who reads it */
		program.bell = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return program.bell < 0 ? -1 : 0;
}

/* ---- the writer ---- */

static void close_all_but(int a, int b, int c)
{
	int keep[3] = { a, b, c };
	unsigned from = 0;

	for (int i = 0; i < 3; i++)
		for (int k = i + 1; k < 3; k++)
			if (keep[k] < keep[i]) {
				int swap = keep[i];

				keep[i] = keep[k];
				keep[k] = swap;
			}
	for (int i = 0; i < 3; i++) {
		if ((unsigned)keep[i] > from)
			syscall(SYS_close_range, from, (unsigned)keep[i] - 1u, 0u);
		from = (unsigned)keep[i] + 1u;
	}
	syscall(SYS_close_range, from, UINT_MAX, 0u);
}

/* A process that is nobody's child, so that no wait() of the program's meets it. */
static int start_writer(struct writer *w)
{
	sigset_t all, before;
	int bell[2], done[2], status = 0;
	pid_t pid;

	if (pipe2(bell, O_CLOEXEC | O_NONBLOCK))
		return -1;
	if (pipe2(done, O_CLOEXEC)) {
		close(bell[0]);
		close(bell[1]);
		return -1;
	}
	w->bell = bell[0];
	w->done = done[1];
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (!pid) {
		pid = fork();
		if (pid)
			_exit(pid < 0);
		setsid();
		close_all_but(w->stream, w->bell, w->done);
		writer_run(w);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && status)
		pid = -1;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(bell[0]);
	close(done[1]);
	if (pid < 0) {
		close(bell[1]);
		close(done[0]);
		return -1;
	}
	program.bell = bell[1];
	program.done = done[0];
	return 0;
}

void tracer_linux_sync(struct tracer *t)
{
	struct pollfd answer = { .fd = program.done, .events = POLLIN };
	char byte = WRITER_SYNC;

	if (t == &silent)
		return;
	tracer_flush(t);
	/* a full pipe is being read: there is room soon */
	while (program.done >= 0 && write(program.bell, &byte, 1) < 0)
		if (errno != EAGAIN || usleep(1000))
			return;
	if (program.done >= 0 && poll(&answer, 1, SYNC_MS) > 0 && read(program.done, &byte, 1) < 0)
		return;
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

/* Memory for the ring: @fd -1: of this program and its children alone. What a file had before stays, so that its drain sees the restart. */
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
