/* SPDX-License-Identifier: MIT */
#include "capture/observer/anchor.h"

#include <coeval/files.h>

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

#define VERSION 1

/* How far the wall clock may have been set between two boots, unless it was wrong altogether. */
#define WALL_CLOCK_NS 1000000000

static int64_t wall_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void this_boot(char id[40])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!f || !fgets(id, 40, f))
		id[0] = '\0';
	id[strcspn(id, "\n")] = '\0';
	if (f)
		fclose(f);
}

static struct anchor with_wall_clock(uint64_t tick, int64_t early, int64_t late)
{
	struct anchor a = { .tick = tick, .early = early, .late = late };
	int64_t off = wall_now() - driver_boottime_ns();

	a.unix_early = early + off;
	a.unix_late = late + off;
	return a;
}

struct anchor anchor_between(uint64_t tick, int64_t early, int64_t late)
{
	struct anchor a = with_wall_clock(tick, early, late);

	this_boot(a.boot);
	return a;
}

void anchor_host(const struct anchor *a, char host[ANCHOR_HOST])
{
	const int64_t step = 100000000; /* a clock that is being slewed stays the same clock */

	snprintf(host, ANCHOR_HOST, "%s%+" PRId64, a->boot,
		 (a->unix_early - a->early + step / 2) / step);
}

int64_t anchor_utc_error(void)
{
	struct timex t = { 0 };
	int state = adjtimex(&t);

	return state < 0 || state == TIME_ERROR || t.status & STA_UNSYNC ? 0 : t.maxerror * 1000;
}

struct anchor anchor_at(const struct anchor *a, uint64_t rate_hz, uint64_t tick)
{
	double ns = (double)(tick - a->tick) * 1e9 / (double)rate_hz, off = ns * DRIVER_CRYSTAL_PPM;
	int64_t now = driver_boottime_ns(), early = a->early + (int64_t)(ns - off * 1e-6),
		late = a->late + (int64_t)(ns + off * 1e-6) + 1;
	struct anchor moved;

	if (now < late)
		late = now;
	moved = with_wall_clock(tick, early < late ? early : late, late);
	memcpy(moved.boot, a->boot, sizeof(moved.boot));
	return moved;
}

void anchor_widen(struct anchor *a, uint64_t rate_hz, uint64_t slack)
{
	int64_t ns = (int64_t)((double)slack * 1e9 / (double)rate_hz) + 1;

	a->early -= ns;
	a->late += ns;
	a->unix_early -= ns;
	a->unix_late += ns;
}

struct driver_loss anchor_loss(const struct anchor *from, const struct anchor *to, uint64_t rate_hz,
			       enum cvl_gap why)
{
	if (*from->boot && !strcmp(from->boot, to->boot) && from->early <= to->late)
		return driver_loss_between(rate_hz, why, from->early, from->late, to->early,
					   to->late);
	return driver_loss_between(rate_hz, why, from->unix_early, from->unix_late,
				   to->unix_early - WALL_CLOCK_NS, to->unix_late + WALL_CLOCK_NS);
}

int anchor_save(const struct anchor *a, const char *path, struct cvl_error *err)
{
	char text[400];
	int n = snprintf(text, sizeof(text),
			 "{\"coeval_anchor\": %d, \"tick\": %" PRIu64 ", \"early_ns\": %" PRId64
			 ", \"late_ns\": %" PRId64 ", \"unix_early_ns\": %" PRId64
			 ", \"unix_late_ns\": %" PRId64 ", \"boot\": \"%s\"}\n",
			 VERSION, a->tick, a->early, a->late, a->unix_early, a->unix_late, a->boot);

	return cvl_write_soon(path, text, (size_t)n, err);
}

int anchor_load(struct anchor *a, const char *path, struct cvl_error *err)
{
	json_t *root = json_load_file(path, 0, NULL);
	json_int_t tick, early, late, unix_early, unix_late;
	int version = VERSION; /* of files that do not name theirs */
	const char *boot;
	bool good;

	if (root && !json_unpack(root, "{s:i}", "coeval_anchor", &version) && version > VERSION) {
		json_decref(root);
		return cvl_fail(err, CVL_E_UNSUPPORTED, 0,
				"%s:0: version %d is not supported; this coeval reads up to %d",
				path, version, VERSION);
	}
	good = root && !json_unpack(root, "{s:I, s:I, s:I, s:I, s:I, s:s}", "tick", &tick,
				    "early_ns", &early, "late_ns", &late, "unix_early_ns",
				    &unix_early, "unix_late_ns", &unix_late, "boot", &boot);
	if (good) {
		*a = (struct anchor){ (uint64_t)tick, early, late, unix_early, unix_late, "" };
		snprintf(a->boot, sizeof(a->boot), "%s", boot);
		good = tick >= 0 && early <= late && unix_early <= unix_late;
	}
	json_decref(root);
	return good ? 0 :
		      cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET, "%s is missing or damaged", path);
}
