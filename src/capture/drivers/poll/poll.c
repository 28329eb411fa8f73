/* SPDX-License-Identifier: MIT */
/* Lines that this machine reads itself, as a capture driver: the loop has a thread of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/drivers/poll/about.h"
#include "capture/drivers/poll/clock.h"
#include "capture/drivers/poll/facts.h"
#include "capture/drivers/poll/guard.h"
#include "capture/drivers/poll/internal.h"

#define RING ((size_t)1 << 19) /* entries: half a second at a million a second */
#define TURN 65536             /* of them before others get a turn */
#define QUIET_MS 2
#define CALIBRATE_MS 200
#define ASK_NS 10000 /* shorter gaps are not worth the query, which takes about a us */
#define PARTS 10     /* of a second: adjacent gaps are reported this often */
#define EXCHANGES 20000
#define EXCHANGE_MS 100
#define BEGIN_NS 5000000000
#define HANDED_ON_NS 20000000

static void poll_close(void *state)
{
	struct device *d = state;

	if (d->threaded) {
		atomic_store(&d->loop->stop, true);
		/* reports that wait will not be taken */
		for (struct poll_seen seen; !atomic_load(&d->ended);)
			if (!poll_take(d->loop, &seen))
				sched_yield();
		pthread_join(d->thread, NULL);
	}
	if (d->moved)
		sched_setaffinity(0, sizeof(d->before), &d->before);
	if (d->loop && d->loop->ring)
		munmap(d->loop->ring, RING * sizeof(*d->loop->ring));
	free(d->loop);
	poll_watch_close(&d->watch);
	poll_source_close(&d->source);
	free(d);
}

/* ---- opening ---- */

static int choose_cpu(struct device *d, struct cvl_error *err)
{
	unsigned others;
	int best = (int)facts_best_cpu("", &others);

	CPU_ZERO(&d->before);
	sched_getaffinity(0, sizeof(d->before), &d->before);
	if (d->source.cpu < 0)
		d->source.cpu = best;
	if (d->source.cpu >= CPU_SETSIZE || d->source.cpu >= sysconf(_SC_NPROCESSORS_CONF))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"cpu=%d: this machine has no such processor", d->source.cpu);
	d->others = d->before;
	CPU_CLR((size_t)d->source.cpu, &d->others);
	if (!CPU_COUNT(&d->others))
		poll_say(d, true,
			 "no other processor than the loop's: gaps will be as long as time slices");
	return 0;
}

static int make_loop(struct device *d, uint64_t hz, struct cvl_error *err)
{
	const size_t bytes = RING * sizeof(*d->loop->ring);
	const double tick_ns = 1e9 / (double)hz;
	void *ring;

	d->loop = aligned_alloc(64, (sizeof(*d->loop) + 63) & ~(size_t)63);
	if (!d->loop)
		return cvl_no_memory(err);
	memset(d->loop, 0, sizeof(*d->loop));
	ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		    -1, 0);
	if (ring == MAP_FAILED)
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET,
				"out of memory: the ring takes %zu MiB", bytes >> 20);
	d->loop->ring = ring;
	d->loop->size = RING;
	d->loop->lines = d->source.lines;
	d->loop->gap_ticks = (uint64_t)((double)d->source.gap_ns / tick_ns);
	d->loop->asked_ticks = (uint64_t)(ASK_NS / tick_ns);
	d->loop->part_ticks = hz / PARTS;
	return 0;
}

/* While the loop is not running: it occupies both processors. */
static void measure_counters(struct device *d)
{
	const struct poll_skew_opts o = { .cpu = { d->source.cpu, d->other },
					  .exchanges = d->other < 0 ? 0 : EXCHANGES,
					  .ms = EXCHANGE_MS };
	struct poll_skew now;

	poll_skew_measure(&now, &o);
	poll_skew_join(&d->skew, &now);
	d->told.step = d->skew.step;
}

static int open_loop(struct device *d, struct cvl_error *err)
{
	uint64_t hz;
	int rc;

	if (!poll_clock_there())
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				"this processor has no RDTSCP, by which the loop tells the time");
	hz = poll_clock_rate(CALIBRATE_MS, &d->off_ppb);
	d->analyzer.rate_hz = hz;
	rc = choose_cpu(d, err);
	if (rc)
		return rc;
	poll_skew_open(&d->skew);
	d->other = poll_skew_other(d->source.cpu);
	measure_counters(d);
	/*
	 * the rate was measured wherever this thread ran, and its two ends may be of different
	 * processors
	 */
	d->off_ppb += 2 * poll_skew_slack(&d->skew) * 1000000000 / (hz / 1000 * CALIBRATE_MS + 1);
	rc = make_loop(d, hz, err);
	if (!rc)
		poll_watch_open(&d->watch, "", (unsigned)d->source.cpu);
	return rc;
}

static int poll_open(void **state, const struct cvl_device_opts *opts,
		     const struct driver_sink *sink, struct cvl_error *err)
{
	struct device *d = calloc(1, sizeof(*d));
	int rc;

	*state = NULL;
	if (!d)
		return cvl_no_memory(err);
	d->sink = sink;
	d->source.fd = d->watch.msr = -1;
	d->told.sink = sink;
	d->told.watch = &d->watch;
	rc = poll_source_parse(&d->source, opts->devices, err);
	if (!rc)
		rc = poll_source_open(&d->source, err);
	d->analyzer = (struct driver_analyzer){
		.where = d->source.text,
		.serial = "",
		.rate_hz = 1000000000,
		.lines = poll_source_lines(&d->source),
		.unit = 8,
		.resolution = 1,
		.edges_within = true,
		.events = poll_records_events,
		.n_events = POLL_RECORD_CLASSES,
	};
	d->gpio.source = &d->source;
	if (!rc && loops(d))
		rc = open_loop(d, err);
	if (rc) {
		poll_close(d);
		return rc;
	}
	*state = d;
	return 0;
}

static size_t poll_analyzers(void *state, const struct driver_analyzer **list)
{
	*list = &((struct device *)state)->analyzer;
	return 1;
}

/* ---- the loop's thread ---- */

static void *loop_thread(void *state)
{
	struct device *d = state;
	const struct sched_param p = { .sched_priority = d->source.priority };
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)d->source.cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		d->pinned = errno;
	if (p.sched_priority && sched_setscheduler(0, SCHED_FIFO, &p))
		d->prior = errno;
	if (mlockall(MCL_CURRENT))
		d->locked = errno;
	d->gone = !poll_guard_run(d->loop);
	atomic_store(&d->ended, true);
	return NULL;
}

static int start_gpio(struct device *d, struct cvl_error *err)
{
	struct poll_seen now = { .kind = POLL_LEVELS };
	int error;

	now.from = (uint64_t)driver_monotonic_ns();
	error = poll_gpio_levels(&d->source, &now.levels);
	now.to = (uint64_t)driver_monotonic_ns();
	if (error)
		return cvl_fail(err, CVL_E_IO, CVL_NO_OFFSET, "%s: cannot be read: %s",
				d->source.text, strerror(error));
	d->gpio.levels = now.levels;
	d->gpio.last = now.from;
	d->gpio.began = now.from;
	d->gpio.sure = now.to + (uint64_t)d->source.latency_ns;
	/* a bracket may begin this much earlier */
	d->told.origin = now.from - (uint64_t)d->source.latency_ns;
	return poll_records_seen(&d->told, &now, err);
}

static int poll_start(void *state, struct cvl_error *err)
{
	struct device *d = state;
	const int64_t until = driver_monotonic_ns() + BEGIN_NS;
	int rc;

	if (!loops(d))
		return 0;
	d->moved = CPU_COUNT(&d->others) && !sched_setaffinity(0, sizeof(d->others), &d->others);
	rc = pthread_create(&d->thread, NULL, loop_thread, d);
	if (rc)
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "no thread for the loop: %s",
				strerror(rc));
	d->threaded = true;
	while (!atomic_load(&d->loop->head))
		if (driver_monotonic_ns() > until)
			return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
					"processor %d does not get to the loop: what runs there?",
					d->source.cpu);
		else
			nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
	poll_say_refused(d);
	poll_say_clock(d);
	return 0;
}

static size_t poll_wait_for(void *state, struct pollfd *fds, size_t max, int *timeout_ms)
{
	const struct device *d = state;
	const int ms = d->busy || d->stopping ? 0 : QUIET_MS;

	if (loops(d) || d->stopping) {
		*timeout_ms = *timeout_ms < ms ? *timeout_ms : ms;
		return 0;
	}
	if (!max)
		return 0;
	*fds = (struct pollfd){ .fd = d->source.fd, .events = POLLIN };
	return 1;
}

/* ---- at work ---- */

static int drain(struct device *d, struct cvl_error *err)
{
	const uint64_t safe = atomic_load(&d->loop->safe);
	struct poll_seen seen;
	int rc = 0, n = 0;

	while (n < TURN && !rc && poll_take(d->loop, &seen)) {
		rc = poll_records_seen(&d->told, &seen, err);
		n++;
	}
	d->busy = n == TURN;
	if (!rc && !d->busy && safe)
		rc = poll_records_until(&d->told, safe, err);
	return rc;
}

static int read_gpio(struct device *d, struct cvl_error *err)
{
	struct gpio_v2_line_event e[64];
	struct poll_seen made[POLL_GPIO_MADE];
	const int64_t now = driver_monotonic_ns();
	int rc = d->told.origin ? 0 : start_gpio(d, err);

	while (!rc) {
		ssize_t got = read(d->source.fd, e, sizeof(e));

		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return cvl_fail(err, CVL_E_IO, CVL_NO_OFFSET, "%s: cannot be read: %s",
					d->source.text, strerror(errno));
		if (got <= 0)
			break;
		for (size_t i = 0; i < (size_t)got / sizeof(*e) && !rc; i++) {
			unsigned n = poll_gpio_event(&d->gpio, &e[i], made);

			for (unsigned k = 0; k < n && !rc; k++)
				rc = poll_records_seen(&d->told, &made[k], err);
		}
	}
	/*
	 * later stamps may be reported as this much earlier, and the kernel delivers them in a
	 * thread
	 */
	return rc ? rc :
		    poll_records_until(&d->told,
				       (uint64_t)(now - d->source.latency_ns - HANDED_ON_NS), err);
}

static int poll_work(void *state, struct cvl_error *err)
{
	struct device *d = state;
	/* before the ring is emptied: nothing is added after it */
	const bool ended = loops(d) ? atomic_load(&d->ended) : d->stopping;
	int rc = loops(d) ? drain(d, err) : read_gpio(d, err);

	/* early: it is stored even if the capture is cut off */
	if (!rc && !d->described) {
		d->described = true;
		rc = about_machine(&d->told, &d->source, d->analyzer.rate_hz, d->off_ppb, &d->skew,
				   d->other, err);
	}
	if (rc)
		return rc;
	if (!ended || d->busy)
		return 1;
	rc = poll_records_rest(&d->told, err);
	if (!rc && loops(d)) {
		measure_counters(d);
		rc = about_counters(&d->told, &d->skew, d->other, err);
	}
	if (!rc && loops(d) && !d->gone)
		rc = poll_records_stats(&d->told, d->loop, err);
	if (!rc && loops(d))
		rc = poll_broke_off(d, err);
	if (!rc)
		poll_say_oddities(d);
	return rc;
}

static int poll_stop(void *state, struct cvl_error *err)
{
	struct device *d = state;

	(void)err;
	d->stopping = true;
	if (d->loop)
		atomic_store(&d->loop->stop, true);
	return 0;
}

static const struct cvl_option poll_options[] = {
	{ "device", "WHAT[,SETTING...]",
	  "shm:PATH[@OFFSET], mmio:PATH[@OFFSET], ioport:ADDRESS or gpiochip:PATH; width=BYTES, mask=BITS, lines=A+B, cpu=N, prio=N, gap=TIME, latency=TIME, reverse" },
	{ "names", "A,B,...", "names of the lines" },
	{ 0 },
};

const struct driver driver_poll = {
	.pub = { .name = "poll",
		 .what = "lines that this machine sees itself: shared memory, registers, a parallel port, GPIO",
		 .options = poll_options },
	.open = poll_open,
	.analyzers = poll_analyzers,
	.start = poll_start,
	.wait_for = poll_wait_for,
	.work = poll_work,
	.stop = poll_stop,
	.close = poll_close,
	.list = poll_source_list,
};
