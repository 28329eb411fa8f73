/* SPDX-License-Identifier: MIT */
#ifndef BENCH_VIEW_PAGE_H
#define BENCH_VIEW_PAGE_H

#include "bench.h"

/** The page of `coeval view` in a browser: how soon, how smoothly, in how much memory it shows what. */
int view_page(const struct bench *b);

#endif
