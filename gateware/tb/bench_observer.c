#include "link.h"
#include <time.h>
int main(void)
{
	struct link l;
	struct status s;
	link_open(&l);
	link_status(&l, &s);
	printf("flags %u mask %x time %llu\n", s.flags, s.mask, (unsigned long long)s.time);
	link_start(&l, TL_FINE);
	for (int i = 0; i < 5; i++) {
		tl_sim_lines(l.sim, i + 1);
		printf("pin at %llu\n", (unsigned long long)tl_sim_cycle(l.sim));
		tl_sim_run(l.sim, 100);
	}
	link_status(&l, &s);
	printf("flags %u mask %x time %llu ring %u\n", s.flags, s.mask, (unsigned long long)s.time,
	       s.ring);
	link_drain(&l);
	for (size_t i = 0; i < l.n; i++)
		printf("%08x\n", l.packets[i]);
	clock_t a = clock();
	tl_sim_run(l.sim, 3000000);
	printf("%g Mcycles/s\n", 3.0 / ((double)(clock() - a) / CLOCKS_PER_SEC));
	link_drain(&l);
	for (size_t i = 0; i < l.n; i++)
		printf("%08x\n", l.packets[i]);
	link_close(&l);
}
