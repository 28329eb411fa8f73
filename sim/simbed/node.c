/* SPDX-License-Identifier: MIT */
#include "sim/simbed/node.h"

#include "sim/devices/cc1101_chip.h"
#include "sim/devices/fx2_device.h"
#include "sim/simbed/mock.h"
#include "sim/simbed/simclock.h"
#include "wire/beacon.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT "1-1"
#define PINS 64                /* changes of the radio's line that are waiting for their tick */
#define HEARD_AHEAD 4          /* packets that the chip knows to be coming */
#define CHIP_AHEAD_NS 50000000 /* most of a host's wait that counts as the chip's time, at once */
#define LOOK_S 0.002
#define RESTART_S 0.1
#define RESTARTS_MAX 20
#define BOOT_NS 1000000000000 /* what the host's clock showed at the world's start */
#define UNIX_NS 1700000000000000000

struct pin_change {
	uint64_t tick;
	bool level;
};

struct node {
	const struct bed *bed;
	const struct node_opts *opts;
	struct bed_course course;
	struct mock *mock;
	struct fx2_device *device;
	struct cc1101_chip chip;
	struct simclock *clock;
	char clock_path[4096], filler[4096], metrics[4096];
	int64_t set_back_ns;    /* of the wall clock */
	struct timespec spoken; /* when the host last talked to the chip */
	struct timespec looked;

	uint64_t next;   /* tick up to which levels were given */
	uint64_t begun;  /* first tick of the segment */
	unsigned starts; /* of the device, up to it */
	size_t next_edge, next_heard;
	uint8_t pins;
	struct pin_change pin[PINS];
	size_t n_pins;
	bool radio_level;
	/* a stretch of the oscillator's course, as a chord */
	uint64_t chord_from, chord_to;
	double chord_ns, chord_slope;

	FILE *log;
	size_t next_event;
	const struct node_event *now; /* the current event */
	uint64_t until;               /* tick */
	pid_t pid;
	int status;
	unsigned restarts; /* of captures that failed by themselves */
	bool over;
	struct node_usage used;
	uint64_t next_memory; /* tick of the next look at it */
};

/* ---- time ---- */

static double time_of(struct node *n, uint64_t tick)
{
	if (tick < n->chord_from || tick >= n->chord_to) {
		uint64_t part = n->course.clock->group->rate_hz / 16;

		n->chord_from = tick;
		n->chord_to = tick + part;
		n->chord_ns = bed_time(&n->course, tick);
		n->chord_slope = (bed_time(&n->course, tick + part) - n->chord_ns) / (double)part;
	}
	return n->chord_ns + n->chord_slope * (double)(tick - n->chord_from);
}

/* Real time since *@then, which becomes now, ns. */
static int64_t since(struct timespec *then)
{
	struct timespec before = *then;

	clock_gettime(CLOCK_MONOTONIC, then);
	return (then->tv_sec - before.tv_sec) * 1000000000 + then->tv_nsec - before.tv_nsec;
}

static void set_clock(struct node *n, uint64_t tick)
{
	int64_t t = (int64_t)time_of(n, tick);

	simclock_set(n->clock, BOOT_NS + t, UNIX_NS + t - n->set_back_ns);
}

/* ---- the radio ---- */

static void on_pin(void *ctx, int pin, bool level, int64_t now_ns)
{
	struct node *n = ctx;
	uint64_t tick = clock_stamp(n->course.clock, &n->course.osc, (double)now_ns);

	if (pin || n->n_pins == PINS)
		return;
	n->pin[n->n_pins++] = (struct pin_change){ tick > n->next ? tick : n->next, level };
}

static void radio_to(struct node *n, int64_t t)
{
	while (n->next_heard < n->course.n_heard && n->chip.n_air < HEARD_AHEAD) {
		const struct bed_heard *h = &n->course.heard[n->next_heard];
		struct chip_air air = {
			.start_ns = h->start_ns,
			.carrier_milli = cc1101_carrier_milli(n->bed->radio.reg),
			.rate_milli = cc1101_rate_milli(n->bed->radio.reg),
			.sync_word = BEACON_SYNC_WORD,
			.n = h->packet->n,
			.rssi = 40,
			.lqi = 20,
		};

		memcpy(air.bytes, h->packet->bytes, h->packet->n);
		if (h->start_ns > n->chip.now_ns)
			chip_hear(&n->chip, &air);
		n->next_heard++;
	}
	chip_advance(&n->chip, t);
}

/* The host's time passes for the chip too, while it waits for it. */
static int spi(void *ctx, const uint8_t *tx, uint8_t *rx, size_t len)
{
	struct node *n = ctx;
	int64_t waited = since(&n->spoken), t = (int64_t)time_of(n, fx2_device_tick(n->device));

	if (waited > CHIP_AHEAD_NS)
		waited = 0;
	if (n->chip.now_ns + waited > t)
		t = n->chip.now_ns + waited;
	radio_to(n, t);
	return chip_transfer(&n->chip, tx, rx, len);
}

/* ---- the lines ---- */

static void end_segment(struct node *n)
{
	if (n->next > n->begun)
		fprintf(n->log, "%" PRIu64 " %" PRIu64 "\n", n->begun, n->next);
}

static void levels(void *ctx, uint64_t first, size_t len, uint8_t *out)
{
	struct node *n = ctx;
	uint64_t at = first, end = first + len;
	size_t used = 0;

	if (first != n->next || fx2_device_starts(n->device) != n->starts) {
		n->starts = fx2_device_starts(n->device);
		end_segment(n);
		n->begun = first;
	}
	n->next = first;
	radio_to(n, (int64_t)time_of(n, end));
	while (at < end) {
		uint64_t to = end;

		for (; n->next_edge < n->course.n_edges && n->course.edge[n->next_edge].tick <= at;
		     n->next_edge++)
			n->pins = n->course.edge[n->next_edge].pins;
		for (; used < n->n_pins && n->pin[used].tick <= at; used++)
			n->radio_level = n->pin[used].level;
		if (n->next_edge < n->course.n_edges && n->course.edge[n->next_edge].tick < to)
			to = n->course.edge[n->next_edge].tick;
		if (used < n->n_pins && n->pin[used].tick < to)
			to = n->pin[used].tick;
		memset(out + (at - first), n->pins | n->radio_level << BED_RADIO_LINE, to - at);
		at = to;
	}
	memmove(n->pin, n->pin + used, (n->n_pins - used) * sizeof(*n->pin));
	n->n_pins -= used;
	n->next = end;
	set_clock(n, end);
}

/* ---- what happens to it ---- */

static void capture_ended(void *ctx, pid_t pid, int status);

static uint64_t last_tick(const struct node *n)
{
	return clock_stamp(n->course.clock, &n->course.osc, (double)n->bed->w->duration_ns);
}

static int start_capture(struct node *n, struct cvl_error *err)
{
	const char *name = n->course.clock->name;
	uint64_t rate = n->course.clock->group->rate_hz, at = fx2_device_tick(n->device);
	char hz[24], duration[40], page[4200], preload[4200];
	char *argv[] = { (char *)n->opts->coeval,
			 "capture",
			 "--driver",
			 "fx2",
			 "--rate",
			 hz,
			 "--radio",
			 "spidev0.0",
			 "--name",
			 (char *)name,
			 "-o",
			 (char *)n->opts->session,
			 "--duration",
			 duration,
			 "--names",
			 "ROUND,TX,RX,FRAME",
			 "--metrics",
			 n->metrics,
			 NULL };
	const char *env[] = { page, preload, NULL };
	uint64_t end = last_tick(n);

	snprintf(hz, sizeof(hz), "%" PRIu64, rate);
	snprintf(duration, sizeof(duration), "%.6fs",
		 (double)(end > at ? end - at : rate) / (double)rate);
	snprintf(page, sizeof(page), SIMCLOCK_ENV "=%s", n->clock_path);
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s:%s", n->opts->preload,
		 getenv("LD_PRELOAD"));
	unlink(n->metrics);
	n->pid = mock_spawn(n->mock, argv, env, capture_ended, n, err);
	return n->pid < 0 ? (int)n->pid : 0;
}

static void say(const struct node *n, const char *what, const struct cvl_error *err)
{
	fprintf(stderr, "coeval-simbed: %s: %s: %s\n", n->course.clock->name, what, err->text);
}

static void finish(struct node *n)
{
	n->over = true;
	mock_quit(n->mock);
}

/* Advance time to the end of the event, though nothing is sampled. */
static void pass_time(struct node *n)
{
	mock_lock(n->mock);
	fx2_device_skip(n->device, n->until);
	set_clock(n, fx2_device_tick(n->device));
	mock_unlock(n->mock);
}

static void plug_in(void *ctx)
{
	struct node *n = ctx;
	struct cvl_error err;

	pass_time(n);
	n->now = NULL;
	if (mock_replug(n->mock, PORT, &err))
		say(n, "plugging in", &err);
}

/* Whatever is free on its disk. Returns whether it could be taken. */
static bool fill_disk(const struct node *n)
{
	int fd = open(n->filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	struct statvfs v;
	bool full = fd >= 0 && !statvfs(n->opts->session, &v) &&
		    !posix_fallocate(fd, 0, (off_t)(v.f_bavail * v.f_frsize));

	if (fd >= 0)
		close(fd);
	return full;
}

static void begin_event(struct node *n, const struct node_event *e)
{
	n->used.faults[e->what]++;
	n->now = e;
	n->until = fx2_device_tick(n->device) + e->ticks;
	switch (e->what) {
	case NODE_UNPLUG:
		mock_unplug(n->mock, PORT);
		mock_after(n->mock, 0.2, plug_in, n);
		return;
	case NODE_KILL:
	case NODE_DIE: kill(n->pid, SIGKILL); return;
	case NODE_FULL: fill_disk(n); return;
	case NODE_DEAF: n->chip.fault = CHIP_DEAD_HIGH; return;
	case NODE_STEP: n->set_back_ns += 1000000000; break;
	case NODE_OVERFLOW:
	case NODE_FAULTS: break;
	}
	n->now = NULL;
}

/* ---- what it takes ---- */

/* Peak memory of the capture, KiB; 0 when it is not known. */
static long peak_kib(pid_t pid)
{
	char path[64], line[128];
	long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

/* The peak up to a tenth of the world's time, and up to the end. */
static void look_at_memory(struct node *n, uint64_t tick)
{
	uint64_t second = n->course.clock->group->rate_hz;
	long kib;

	if (n->pid <= 0 || tick < n->next_memory)
		return;
	n->next_memory = tick + second;
	kib = peak_kib(n->pid);
	if (tick <= last_tick(n) / 10 && kib > n->used.early_kib)
		n->used.early_kib = kib;
	if (kib > n->used.peak_kib)
		n->used.peak_kib = kib;
}

/*
 * What the capture's own metrics say of its work on samples; a killed one takes its last second
 * with it.
 */
static void add_samples_cpu(struct node *n)
{
	char line[512];
	FILE *f = fopen(n->metrics, "re");
	double s;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "coeval_cpu_seconds_total{%*[^}]} %lf", &s) == 1)
			n->used.samples_cpu_s += s;
	if (f)
		fclose(f);
}

/* Of all captures that have ended: the node starts no other processes. */
static double children_cpu_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* ---- the loop ---- */

/* Now and then: is something due, or over? */
static void look(void *ctx)
{
	struct node *n = ctx;
	int64_t passed = since(&n->looked);
	bool running;
	uint64_t tick;

	if (n->over)
		return;
	mock_lock(n->mock);
	tick = fx2_device_tick(n->device);
	running = fx2_device_running(n->device);
	/* while nothing is sampled, the time that the host waits is the time that passes */
	if (fx2_device_rate(n->device) && !running) {
		tick += (uint64_t)((double)passed * 1e-9 * (double)fx2_device_rate(n->device));
		fx2_device_skip(n->device, tick);
		set_clock(n, tick);
	}
	if (n->now && n->now->what == NODE_DEAF && tick >= n->until) {
		n->chip.fault = CHIP_SOUND;
		n->now = NULL;
	}
	mock_unlock(n->mock);
	look_at_memory(n, tick);
	if (!n->now && n->next_event < n->opts->n_events &&
	    n->opts->event[n->next_event].tick <= tick && running && n->pid > 0)
		begin_event(n, &n->opts->event[n->next_event++]);
	mock_after(n->mock, LOOK_S, look, n);
}

static void start_again(void *ctx)
{
	struct node *n = ctx;
	struct cvl_error err;

	if (n->now && n->now->what == NODE_UNPLUG) {
		mock_after(n->mock, RESTART_S, start_again, n);
		return;
	}
	pass_time(n);
	n->now = NULL;
	if (start_capture(n, &err)) {
		say(n, "starting again", &err);
		finish(n);
	}
}

static void capture_ended(void *ctx, pid_t pid, int status)
{
	struct node *n = ctx;
	enum node_fault what = n->now ? n->now->what : NODE_FAULTS;
	bool killed = what == NODE_KILL || what == NODE_FULL;
	/*
	 * one that fails by itself is started again as a service is: the analyzer may have gone
	 * just as it began
	 */
	bool failed = status && what != NODE_DIE && n->restarts < RESTARTS_MAX;

	(void)pid;
	n->pid = 0;
	add_samples_cpu(n);
	n->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (what == NODE_FULL)
		unlink(n->filler);
	n->restarts += failed && !killed;
	if ((killed && n->until < last_tick(n)) ||
	    (failed && !killed && fx2_device_tick(n->device) < last_tick(n)))
		mock_after(n->mock, killed ? 0.01 : RESTART_S, start_again, n);
	else
		finish(n);
}

/* ---- from begin to end ---- */

static int make_clock(struct node *n, struct cvl_error *err)
{
	int fd;

	snprintf(n->clock_path, sizeof(n->clock_path), "%s.clock", n->opts->session);
	snprintf(n->filler, sizeof(n->filler), "%s/filler", n->opts->session);
	snprintf(n->metrics, sizeof(n->metrics), "%s.prom", n->opts->session);
	fd = open(n->clock_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || ftruncate(fd, sizeof(*n->clock)))
		return cvl_fail_errno(err, "create", n->clock_path);
	n->clock = mmap(NULL, sizeof(*n->clock), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (n->clock == MAP_FAILED) {
		n->clock = NULL;
		return cvl_fail_errno(err, "map", n->clock_path);
	}
	return 0;
}

static int set_up(struct node *n, size_t i, struct cvl_error *err)
{
	struct fx2_device_opts device = { .seed = n->bed->w->seed + i, .levels = levels, .ctx = n };
	int rc = bed_course_make(&n->course, n->bed, i, err);

	if (!rc)
		rc = make_clock(n, err);
	if (!rc) {
		n->log = fopen(n->opts->log, "we");
		if (!n->log)
			rc = cvl_fail_errno(err, "create", n->opts->log);
	}
	if (!rc) {
		n->device = fx2_device_new(&device);
		n->mock = n->device ? mock_new(err) : NULL;
		rc = n->mock ? 0 : CVL_E_ENV;
	}
	if (rc)
		return rc;
	n->chip.on_pin = on_pin;
	n->chip.ctx = n;
	n->chip.spi_byte_ns = 1600; /* 5 MHz */
	set_clock(n, 0);
	chip_reset(&n->chip, (int64_t)n->course.clock->start - 5000000000);
	for (size_t k = 0; k < n->opts->n_events; k++)
		if (n->opts->event[k].what == NODE_OVERFLOW)
			fx2_device_trouble(n->device, FX2_OVERFLOW, n->opts->event[k].tick,
					   n->opts->event[k].ticks);
	rc = mock_add_fx2(n->mock, PORT, n->device, err);
	return rc ? rc : mock_add_spidev(n->mock, "spidev0.0", spi, n, err);
}

/* It stays mounted: what is on it is to be read. */
static int mount_disk(const struct node_opts *o, struct cvl_error *err)
{
	char size[40];

	if (!o->disk_bytes)
		return 0;
	snprintf(size, sizeof(size), "size=%" PRIu64, o->disk_bytes);
	if ((mkdir(o->session, 0777) && errno != EEXIST) ||
	    mount("coeval-simbed", o->session, "tmpfs", MS_NODEV | MS_NOSUID, size))
		return cvl_fail_errno(err, "mount a disk of its own at", o->session);
	return 0;
}

int node_run(const struct bed *bed, size_t i, const struct node_opts *opts, struct node_usage *used,
	     struct cvl_error *err)
{
	struct node *n = calloc(1, sizeof(*n));
	int rc;

	*used = (struct node_usage){ 0 };

	if (!n)
		return cvl_no_memory(err);
	n->bed = bed;
	n->opts = opts;
	rc = mount_disk(opts, err);
	if (!rc)
		rc = set_up(n, i, err);
	if (!rc)
		rc = start_capture(n, err);
	if (!rc) {
		since(&n->looked);
		mock_after(n->mock, LOOK_S, look, n);
		mock_run(n->mock);
		end_segment(n);
		rc = n->status;
	}
	if (n->mock)
		mock_free(n->mock);
	if (n->device)
		fx2_device_free(n->device);
	if (n->log && fclose(n->log) && rc >= 0)
		rc = cvl_fail_errno(err, "write", opts->log);
	if (n->clock)
		munmap(n->clock, sizeof(*n->clock));
	unlink(n->clock_path);
	unlink(n->metrics);
	bed_course_free(&n->course);
	n->used.capture_cpu_s = children_cpu_s();
	*used = n->used;
	free(n);
	return rc;
}
