/* SPDX-License-Identifier: MIT */
/**
 * Files in a session's folder of what can be made again. They hold as long as the files that they
 * were made from are as they were.
 */
#ifndef STORE_DERIVED_H
#define STORE_DERIVED_H

#include <coeval/files.h>
#include <coeval/session.h>

#include <stdbool.h>

/** Enough for derived_stamp(). */
#define DERIVED_STAMP 240

/**
 * Path of file @name in that folder, which @make creates. False: there can be none, as for traces that
 * are no session, beside which nothing is written.
 */
bool derived_path(const struct cvl_session *s, const char *name, bool make,
		  char path[CVL_PATH_MAX]);

/** Sizes and times of change of the file @stream in directory @trace, and of its metadata. False: there are none. */
bool derived_stamp(const char *trace, const char *stream, char text[DERIVED_STAMP]);

#endif
