/* SPDX-License-Identifier: MIT */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture/drivers/poll/facts.h"

int facts_in_list(const char *list, unsigned cpu)
{
	while (*list) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (end == list)
			return 0;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (cpu >= first && cpu <= last)
			return 1;
		list = end + (*end == ',');
	}
	return 0;
}

static void read_list(const char *root, const char *name, char *list, int size)
{
	char path[400];
	FILE *f;

	snprintf(path, sizeof(path), "%.300s/sys/devices/system/cpu/%s", root, name);
	f = fopen(path, "re");
	if (!f || !fgets(list, size, f))
		*list = '\0';
	if (f)
		fclose(f);
}

/* Programs are not given isolated processors, yet may ask for them: try. */
static bool may_run_on(const char *root, unsigned cpu, const cpu_set_t *now)
{
	cpu_set_t one;
	bool may;

	if (*root)
		return true;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	may = !sched_setaffinity(0, sizeof(one), &one);
	sched_setaffinity(0, sizeof(*now), now);
	return may;
}

unsigned facts_best_cpu(const char *root, unsigned *others)
{
	char isolation[200], online[200];
	unsigned last = 0, n = 0, best = CPU_SETSIZE;
	cpu_set_t now;

	*others = 0;
	read_list(root, "isolated", isolation, sizeof(isolation));
	read_list(root, "online", online, sizeof(online));
	CPU_ZERO(&now);
	if (!*root && sched_getaffinity(0, sizeof(now), &now))
		return 0;
	for (unsigned i = 0; i < CPU_SETSIZE; i++) {
		if (best == CPU_SETSIZE && facts_in_list(isolation, i) && may_run_on(root, i, &now))
			best = i;
		if (*root ? facts_in_list(online, i) : CPU_ISSET(i, &now)) {
			last = i;
			n++;
		}
	}
	if (best == CPU_SETSIZE)
		best = last;
	if (n)
		*others = n - !!(*root ? facts_in_list(online, best) : CPU_ISSET(best, &now));
	return best;
}
