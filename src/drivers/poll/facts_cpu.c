/* SPDX-License-Identifier: MIT */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "drivers/poll/facts.h"

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

unsigned facts_best_cpu(unsigned *others)
{
	FILE *f = fopen("/sys/devices/system/cpu/isolated", "re");
	char isolation[200] = "";
	unsigned best = 0, n = 0;
	cpu_set_t set_of;
	bool alone = false;

	*others = 0;
	if (f) {
		if (!fgets(isolation, sizeof(isolation), f))
			*isolation = '\0';
		fclose(f);
	}
	if (sched_getaffinity(0, sizeof(set_of), &set_of))
		return 0;
	for (unsigned i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &set_of))
			continue;
		n++;
		if (!alone)
			best = i;
		alone = alone || facts_in_list(isolation, i);
	}
	*others = n ? n - 1 : 0;
	return best;
}
