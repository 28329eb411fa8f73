/* SPDX-License-Identifier: MIT */
#include "support.h"

double data[16];

/* the same name as another benchmark's, of another type */
static double add_up(void)
{
	double sum = 0;

	for (unsigned i = 0; i < 16; i++)
		sum += data[i];
	return sum;
}

void initialise_benchmark(void)
{
	for (unsigned i = 0; i < 16; i++)
		data[i] = 0.5;
}

int benchmark(void)
{
	return (int)(add_up() + add_up());
}

int verify_benchmark(int result)
{
	return result == 16;
}
