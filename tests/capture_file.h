/* SPDX-License-Identifier: MIT */
/*
 * Captures that tests read: our own ones, in tests/data/captures, and real ones of others under the
 * same names where they are at hand.
 */
#ifndef TESTS_CAPTURE_FILE_H
#define TESTS_CAPTURE_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/**
 * Path of our own capture @file (which 0) or of the real one (1: COEVAL_SHARED, or ../shared/data);
 * false: it is not here.
 */
static inline bool capture_file(char *out, size_t size, unsigned which, const char *file)
{
	const char *shared = getenv("COEVAL_SHARED");

	snprintf(out, size, "%s/%s",
		 !which ? COEVAL_SOURCE_DIR "/tests/data/captures" :
		 shared ? shared :
			  COEVAL_SOURCE_DIR "/../shared/data",
		 file);
	return !access(out, R_OK);
}

#endif
