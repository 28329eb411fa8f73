/* SPDX-License-Identifier: MIT */
#include "support.h"

/* all benchmarks have a `data`, and something in another file */
unsigned data[64];
unsigned add_up(void);

void initialise_benchmark(void)
{
	for (unsigned i = 0; i < 64; i++)
		data[i] = i;
}

int benchmark(void)
{
	return (int)add_up();
}

int verify_benchmark(int result)
{
	return result == 64 * 63 / 2;
}
