/* SPDX-License-Identifier: MIT */
/* Stand-ins written for Coeval's tests, with the functions that BEEBS benchmarks have. */
int benchmark(void);
