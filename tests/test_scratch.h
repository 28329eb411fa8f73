/* SPDX-License-Identifier: MIT */
/**
 * A directory for the files of a test program: make_scratch() and remove_scratch() are for
 * cmocka_run_group_tests(). After cmocka.h.
 */
#ifndef TEST_SCRATCH_H
#define TEST_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

static char scratch[200];

static inline int make_scratch(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(scratch, sizeof(scratch), "%s/coeval-test-XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(scratch) ? 0 : -1;
}

static inline int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static inline int remove_scratch(void **state)
{
	(void)state;
	return nftw(scratch, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
