/* SPDX-License-Identifier: MIT */
extern unsigned data[64];

unsigned add_up(void)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < 64; i++)
		sum += data[i];
	return sum;
}
