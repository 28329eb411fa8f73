/* SPDX-License-Identifier: MIT */
/* Has one function only, and cannot tell whether it was right. */
#include "support.h"

volatile int data;

int benchmark(void)
{
	data++;
	return data;
}
