/* SPDX-License-Identifier: MIT */
#include "capture/drivers/poll/facts.h"
#include "capture/drivers/poll/skew.h"

#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define DEEP_US 20

struct look {
	const char *root;
	unsigned cpu;
	struct cvl_host_fact *f;
};

const char *cvl_fact_state_name(enum cvl_fact_state state)
{
	static const char *const names[] = { "good", "bad", "unknown" };

	return names[state];
}

/* ---- reading ---- */

/* First line of a file below the root, with printable text; false if there is none. */
__attribute__((format(printf, 4, 5))) static bool line(const struct look *l, char *out, size_t size,
						       const char *fmt, ...)
{
	char path[600];
	int n = snprintf(path, sizeof(path), "%.300s", l->root);
	va_list ap;
	FILE *f;
	bool got;

	va_start(ap, fmt);
	vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, ap);
	va_end(ap);
	f = fopen(path, "re");
	if (!f)
		return false;
	got = fgets(out, (int)size, f) != NULL;
	fclose(f);
	if (!got)
		*out = '\0';
	out[strcspn(out, "\n")] = '\0';
	for (const char *p = out; *p; p++)
		got = got && *p >= ' ' && *p <= '~';
	return got;
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The line of /proc/cpuinfo that begins with @key, in malloc() memory: flags are long. */
static char *cpuinfo(const struct look *l, const char *key)
{
	char path[400], *text = NULL;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%.300s/proc/cpuinfo", l->root);
	f = fopen(path, "re");
	while (f && getline(&text, &room, f) > 0)
		if (!strncmp(text, key, strlen(key))) {
			fclose(f);
			text[strcspn(text, "\n")] = ' ';
			return text;
		}
	if (f)
		fclose(f);
	free(text);
	return NULL;
}

__attribute__((format(printf, 3, 4))) static void
set(struct cvl_host_fact *f, enum cvl_fact_state state, const char *fmt, ...)
{
	va_list ap;

	f->state = state;
	va_start(ap, fmt);
	vsnprintf(f->value, sizeof(f->value), fmt, ap);
	va_end(ap);
}

/* ---- each of them ---- */

static void processors(const struct look *l)
{
	char text[200];

	if (!line(l, text, sizeof(text), "/sys/devices/system/cpu/online") || !digit(*text))
		return;
	if (!facts_in_list(text, l->cpu))
		set(l->f, CVL_FACT_BAD, "processor %u is not one of those online, %.100s", l->cpu,
		    text);
	else
		set(l->f, strchr(text, '-') || strchr(text, ',') ? CVL_FACT_GOOD : CVL_FACT_BAD,
		    "processors %.100s", text);
}

static void tsc(const struct look *l)
{
	char *flags = cpuinfo(l, "flags");
	bool same = flags && strstr(flags, " constant_tsc ");
	bool always = flags && strstr(flags, " nonstop_tsc ");

	if (flags)
		set(l->f, same && always ? CVL_FACT_GOOD : CVL_FACT_BAD,
		    "%s rate, %s in idle states", same ? "constant" : "varying",
		    always ? "runs" : "may stop");
	free(flags);
}

static void clocksource(const struct look *l)
{
	char text[80];

	if (line(l, text, sizeof(text),
		 "/sys/devices/system/clocksource/clocksource0/current_clocksource") &&
	    *text)
		set(l->f,
		    strstr(text, "hpet") || strstr(text, "acpi") ? CVL_FACT_BAD : CVL_FACT_GOOD,
		    "the kernel's clock is %.60s", text);
}

static void isolated(const struct look *l)
{
	char text[200];

	if (!line(l, text, sizeof(text), "/sys/devices/system/cpu/isolated"))
		return;
	if (facts_in_list(text, l->cpu))
		set(l->f, CVL_FACT_GOOD, "processor %u is isolated", l->cpu);
	else
		set(l->f, CVL_FACT_BAD, "processor %u is not isolated", l->cpu);
}

static void timer(const struct look *l)
{
	char text[200];

	if (!line(l, text, sizeof(text), "/sys/devices/system/cpu/nohz_full"))
		return;
	if (facts_in_list(text, l->cpu))
		set(l->f, CVL_FACT_GOOD, "processor %u runs without a timer tick", l->cpu);
	else
		set(l->f, CVL_FACT_BAD, "the kernel's timer interrupts processor %u", l->cpu);
}

static void siblings(const struct look *l)
{
	char text[200];

	if (!line(l, text, sizeof(text),
		  "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", l->cpu) ||
	    !digit(*text))
		return;
	if (strchr(text, ',') || strchr(text, '-'))
		set(l->f, CVL_FACT_BAD, "processors %.100s share one core", text);
	else
		set(l->f, CVL_FACT_GOOD, "processor %u has a core of its own", l->cpu);
}

static void governor(const struct look *l)
{
	char text[80];

	if (line(l, text, sizeof(text), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor",
		 l->cpu) &&
	    *text)
		set(l->f, strcmp(text, "performance") ? CVL_FACT_BAD : CVL_FACT_GOOD, "%.60s",
		    text);
}

static void turbo(const struct look *l)
{
	char text[20];
	bool on;

	if (line(l, text, sizeof(text), "/sys/devices/system/cpu/intel_pstate/no_turbo"))
		on = text[0] == '0';
	else if (line(l, text, sizeof(text), "/sys/devices/system/cpu/cpufreq/boost"))
		on = text[0] != '0';
	else
		return;
	if (!digit(text[0]))
		return;
	set(l->f, on ? CVL_FACT_BAD : CVL_FACT_GOOD, on ? "on" : "off");
}

static void idle(const struct look *l)
{
	char text[40], name[40], deepest[40] = "";
	long most = -1;
	unsigned k;

	for (k = 0; k < 16; k++) {
		long us;

		if (!line(l, text, sizeof(text),
			  "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/latency", l->cpu, k) ||
		    !digit(*text))
			break;
		us = strtol(text, NULL, 10);
		if (!line(l, text, sizeof(text),
			  "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/disable", l->cpu, k) ||
		    text[0] != '0' ||
		    !line(l, name, sizeof(name),
			  "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/name", l->cpu, k))
			continue;
		if (us > most) {
			most = us;
			snprintf(deepest, sizeof(deepest), "%s", name);
		}
	}
	if (most >= 0)
		set(l->f, most > DEEP_US ? CVL_FACT_BAD : CVL_FACT_GOOD,
		    "%.30s takes %ld us to wake", deepest, most);
	else if (k)
		set(l->f, CVL_FACT_GOOD, "none is in use");
}

static void throttling(const struct look *l)
{
	char text[40];

	if (!line(l, text, sizeof(text), "/proc/sys/kernel/sched_rt_runtime_us") ||
	    !(digit(text[text[0] == '-'])))
		return;
	if (text[0] == '-')
		set(l->f, CVL_FACT_GOOD, "off");
	else
		set(l->f, CVL_FACT_BAD, "real-time threads get %.20s us of each period", text);
}

static void interrupts(const struct look *l)
{
	char text[200], word[10] = "";
	const size_t digit = l->cpu / 4;
	size_t n = 0;

	if (!line(l, text, sizeof(text), "/proc/irq/default_smp_affinity") || !*text ||
	    text[strspn(text, "0123456789abcdefABCDEF,")])
		return;
	/* hexadecimal, in groups separated by commas; the last digit is for processors 0 to 3 */
	for (const char *p = text + strlen(text); p-- > text;)
		if (*p != ',' && n++ == digit)
			snprintf(word, sizeof(word), "%c", *p);
	if (strtoul(word, NULL, 16) >> l->cpu % 4 & 1)
		set(l->f, CVL_FACT_BAD, "new interrupts may come to processor %u", l->cpu);
	else
		set(l->f, CVL_FACT_GOOD, "new interrupts go to other processors");
}

static void host(const struct look *l)
{
	char *flags = cpuinfo(l, "flags");
	bool guest = flags && strstr(flags, " hypervisor ");

	if (flags)
		set(l->f, guest ? CVL_FACT_BAD : CVL_FACT_GOOD,
		    guest ? "a virtual machine" : "no hypervisor shows itself");
	free(flags);
}

static void firmware(const struct look *l)
{
	char path[64];

	if (*l->root)
		return;
	snprintf(path, sizeof(path), "/dev/cpu/%u/msr", l->cpu);
	if (access(path, R_OK))
		set(l->f, CVL_FACT_UNKNOWN, "%.60s cannot be read", path);
	else
		set(l->f, CVL_FACT_GOOD, "SMIs are counted, on Intel's processors");
}

static void locking(const struct look *l)
{
	struct rlimit r;

	if (*l->root || getrlimit(RLIMIT_MEMLOCK, &r))
		return;
	if (r.rlim_cur == RLIM_INFINITY || !geteuid())
		set(l->f, CVL_FACT_GOOD, "all memory");
	else
		set(l->f, r.rlim_cur < 128u << 20 ? CVL_FACT_BAD : CVL_FACT_GOOD, "%llu KiB",
		    (unsigned long long)r.rlim_cur / 1024);
}

static void priority(const struct look *l)
{
	const int policy = sched_getscheduler(0);
	struct sched_param before;
	struct rlimit r;

	if (*l->root)
		return;
	if (policy < 0 || sched_getparam(0, &before))
		return;
	/* containers refuse it even to root: try */
	if (!sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 })) {
		sched_setscheduler(0, policy, &before);
		set(l->f, CVL_FACT_GOOD, "real time may be asked for");
	} else if (!getrlimit(RLIMIT_RTPRIO, &r)) {
		set(l->f, CVL_FACT_BAD, "real time is refused (RLIMIT_RTPRIO %llu)",
		    (unsigned long long)r.rlim_cur);
	}
}

static void load(const struct look *l)
{
	char text[80];

	if (line(l, text, sizeof(text), "/proc/loadavg") && digit(*text))
		set(l->f, strtod(text, NULL) < 0.5 ? CVL_FACT_GOOD : CVL_FACT_BAD, "load %.4s",
		    text);
}

static const struct {
	const char *name;
	void (*look)(const struct look *l);
	const char *costs, *advice;
} points[] = {
	{ "processors", processors, "the loop and all else take turns: gaps of whole time slices",
	  "use a machine with two processors or more, and one that is online" },
	{ "tsc", tsc, "ticks are of no known length: brackets hold, ns do not",
	  "use another processor; on a virtual machine, have the host pass the flags on" },
	{ "clock source", clocksource, "the kernel does not trust the TSC itself",
	  "see why in the kernel's log (`dmesg | grep -i tsc`)" },
	{ "isolation", isolated, "other programs take the processor: gaps of 1 to 10 ms and more",
	  "boot with isolcpus=N and capture with cpu=N" },
	{ "timer tick", timer, "100 to 1000 gaps a second of some us",
	  "boot with nohz_full=N rcu_nocbs=N" },
	{ "interrupts", interrupts, "a gap of some us for each interrupt",
	  "boot with irqaffinity= the other processors, and stop irqbalance" },
	{ "core", siblings, "each step may take twice as long while the sibling works",
	  "switch SMT off: echo off > /sys/devices/system/cpu/smt/control" },
	{ "governor", governor,
	  "slow steps at first, and a gap of 10 us or more when the frequency changes",
	  "cpupower frequency-set -g performance" },
	{ "turbo", turbo, "the frequency, and so a step, changes with what the other cores do",
	  "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or 0 > .../cpufreq/boost" },
	{ "idle states", idle,
	  "what wakes from one, a program that writes the lines, is late by so much",
	  "cpupower idle-set -D 20, or boot with processor.max_cstate=1" },
	{ "throttling", throttling,
	  "with prio=N, a gap of 50 ms each second (unless the rest is changed)",
	  "sysctl kernel.sched_rt_runtime_us=-1, where another processor is left for the rest" },
	{ "host", host, "the host takes the processor away, unseen but for steal in /proc/stat",
	  "capture on a machine itself" },
	{ "firmware", firmware, "gaps by system management interrupts cannot be told from others",
	  "modprobe msr, and capture as root; switch off what the BIOS lets you" },
	{ "locked memory", locking, "page faults: gaps of 1 us to ms",
	  "ulimit -l unlimited, or LimitMEMLOCK=infinity in the service" },
	{ "priority", priority, "other programs of the same processor take turns with the loop",
	  "CAP_SYS_NICE, or rtprio in /etc/security/limits.conf; then capture with prio=80" },
	{ "load", load, "who shares caches and memory makes steps longer",
	  "stop what need not run" },
};

size_t facts_read(const char *root, unsigned cpu, struct cvl_host_fact facts[CVL_HOST_FACTS])
{
	size_t n = sizeof(points) / sizeof(points[0]);

	for (size_t i = 0; i < n; i++) {
		const struct look l = { root, cpu, &facts[i] };

		facts[i] = (struct cvl_host_fact){ .name = points[i].name,
						   .state = CVL_FACT_UNKNOWN,
						   .value = "not told here",
						   .costs = points[i].costs,
						   .advice = points[i].advice };
		points[i].look(&l);
	}
	return n;
}

void facts_counters(const struct poll_skew *skew, int other, struct cvl_host_fact *fact)
{
	*fact = (struct cvl_host_fact){
		.name = "counters",
		.state = CVL_FACT_UNKNOWN,
		.value = "not measured",
		.costs =
			"stamps of two processors cannot be compared as they are: add what they differ by",
		.advice =
			"have what is compared stamped by one processor; look for tsc in the kernel's log"
	};
	if (skew->exchanges)
		set(fact, skew->apart > skew->step ? CVL_FACT_BAD : CVL_FACT_GOOD,
		    "step of %" PRIu64 "; shown %" PRIu64
		    " ticks apart from processor %d, at most %" PRIu64,
		    skew->step, skew->apart, other, poll_skew_limit(skew));
}
