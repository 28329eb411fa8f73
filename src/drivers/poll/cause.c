/* SPDX-License-Identifier: MIT */
#include "drivers/poll/cause.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* MSR_SMI_COUNT of Intel's processors (SDM 4, table 2-2). */
#define SMI_COUNT 0x34

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
	FILE *f = fopen("/proc/stat", "re");
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

void poll_watch_open(struct poll_watch *w, unsigned cpu)
{
	char path[64];

	*w = (struct poll_watch){ .cpu = cpu };
	snprintf(path, sizeof(path), "/dev/cpu/%u/msr", cpu);
	w->msr = open(path, O_RDONLY | O_CLOEXEC);
	w->smi = smis(w);
	w->steal = steal(w);
}

void poll_watch_close(struct poll_watch *w)
{
	if (w->msr >= 0)
		close(w->msr);
	w->msr = -1;
}

const char *poll_cause(struct poll_watch *w, const struct poll_seen *gap, char detail[POLL_DETAIL])
{
	uint64_t smi = w->smi, stolen = w->steal;

	if (gap->asked) {
		w->smi = smis(w);
		w->steal = steal(w);
	}
	smi = w->smi - smi;
	stolen = w->steal - stolen;
	snprintf(detail, POLL_DETAIL,
		 "%s%" PRIu32 " preemptions, %" PRIu32 " faults, %s; %" PRIu64 " SMIs and %" PRIu64
		 " ms stolen since the gap before",
		 gap->asked ? "" : "too short to ask: ", gap->preempted, gap->faults,
		 gap->moved ? "moved to another processor" : "not moved", smi,
		 stolen * 1000 / (uint64_t)sysconf(_SC_CLK_TCK));
	if (gap->moved)
		return "migration";
	if (!gap->asked)
		return "unknown";
	return gap->faults    ? "page fault" :
	       gap->preempted ? "preempted" :
	       smi            ? "smi" :
	       stolen         ? "steal" :
				"unknown";
}
