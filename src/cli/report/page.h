/* SPDX-License-Identifier: MIT */
/**
 * A study as a page to be read and printed: HTML that needs nothing else. It is also XML, so that it can be checked.
 */
#ifndef CLI_REPORT_PAGE_H
#define CLI_REPORT_PAGE_H

#include <stdio.h>

#include "report/study.h"

struct page {
	const char *path;             /* of the session */
	const struct cvl_sync *saved; /* sync.json, or NULL */
	const struct cvl_sync_opts *opts;
	const struct study *study;
	char *const *figure; /* in the order of figures[], as SVG; NULL: nothing to draw */
};

/** Errors of writing stay in @f. */
void page_put(const struct page *p, FILE *f);

#endif
