/* SPDX-License-Identifier: MIT */
#include "capture/drivers/poll/cause.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* MSR_SMI_COUNT of Intel's processors (SDM 4, table 2-2). */
#define SMI_COUNT 0x34
/* A measured frequency is never twice the same: this much is a change. */
#define FREQUENCY_PART 16

__attribute__((format(printf, 2, 3))) static FILE *open_below(const struct poll_watch *w,
							      const char *fmt, ...)
{
	char path[600];
	int n = snprintf(path, sizeof(path), "%.300s", w->root);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, ap);
	va_end(ap);
	return fopen(path, "re");
}

static uint64_t smis(const struct poll_watch *w)
{
	uint64_t n = 0;

	if (w->msr < 0 || pread(w->msr, &n, sizeof(n), SMI_COUNT) != (ssize_t)sizeof(n))
		return 0;
	return n & UINT32_MAX;
}

/* The eighth number of the processor's line (proc_stat(5)). */
static uint64_t steal(const struct poll_watch *w)
{
	FILE *f = open_below(w, "/proc/stat");
	char line[400];
	unsigned cpu;
	uint64_t v = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "cpu%u %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &cpu, &v) == 2 &&
		    cpu == w->cpu) {
			fclose(f);
			return v;
		}
	if (f)
		fclose(f);
	return 0;
}

/* A number of the processor's cpufreq (admin-guide/pm/cpufreq), 0: unknown. */
static uint64_t of_frequency(const struct poll_watch *w, const char *name)
{
	FILE *f = open_below(w, "/sys/devices/system/cpu/cpu%u/cpufreq/%s", w->cpu, name);
	uint64_t v = 0;

	if (f && fscanf(f, "%" SCNu64, &v) != 1)
		v = 0;
	if (f)
		fclose(f);
	return v;
}

static struct poll_counts count(const struct poll_watch *w)
{
	return (struct poll_counts){
		.smi = smis(w),
		.steal = steal(w),
		.transitions = of_frequency(w, "stats/total_trans"),
		.khz = of_frequency(w, "scaling_cur_freq"),
	};
}

void poll_watch_open(struct poll_watch *w, const char *root, unsigned cpu)
{
	char path[64];

	*w = (struct poll_watch){ .root = root, .cpu = cpu };
	snprintf(path, sizeof(path), "/dev/cpu/%u/msr", cpu);
	w->msr = *root ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	w->last = count(w);
}

void poll_watch_close(struct poll_watch *w)
{
	if (w->msr >= 0)
		close(w->msr);
	w->msr = -1;
}

static bool frequency_changed(const struct poll_counts *a, const struct poll_counts *b)
{
	const uint64_t apart = a->khz > b->khz ? a->khz - b->khz : b->khz - a->khz;

	return b->transitions > a->transitions ||
	       (a->khz && b->khz && apart > a->khz / FREQUENCY_PART);
}

const char *poll_cause(struct poll_watch *w, const struct poll_seen *gap, char detail[POLL_DETAIL])
{
	const struct poll_counts before = w->last;
	uint64_t smi, stolen;
	bool frequency;
	int n;

	if (gap->asked)
		w->last = count(w);
	smi = w->last.smi > before.smi ? w->last.smi - before.smi : 0;
	stolen = w->last.steal > before.steal ? w->last.steal - before.steal : 0;
	frequency = frequency_changed(&before, &w->last);
	n = snprintf(detail, POLL_DETAIL,
		     "%s%" PRIu32 " preemptions, %" PRIu32 " stops, %" PRIu32
		     " faults, %s; %" PRIu64 " SMIs and %" PRIu64 " ms stolen since the gap before",
		     gap->asked ? "" : "too short to ask: ", gap->preempted, gap->slept,
		     gap->faults, gap->moved ? "moved to another processor" : "not moved", smi,
		     stolen * 1000 / (uint64_t)sysconf(_SC_CLK_TCK));
	if (frequency)
		snprintf(detail + n, POLL_DETAIL - (size_t)n, "; %" PRIu64 " MHz, then %" PRIu64,
			 before.khz / 1000, w->last.khz / 1000);
	if (gap->moved)
		return "migration";
	if (!gap->asked)
		return "unknown";
	return gap->faults    ? "page fault" :
	       gap->slept     ? "stopped" :
	       gap->preempted ? "preempted" :
	       smi            ? "smi" :
	       stolen         ? "steal" :
	       frequency      ? "frequency" :
				"unknown";
}
