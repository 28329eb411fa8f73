/* SPDX-License-Identifier: MIT */
/**
 * The JSON files of a session: each has its kind, its version and a SHA-256 of everything else in
 * it, so that damage and edits are detected.
 */
#ifndef SESSION_JSONFILE_H
#define SESSION_JSONFILE_H

#include <jansson.h>

#include <coeval/error.h>

/** Versions that are written, and read with those before them. */
#define JSONFILE_SESSION 1
#define JSONFILE_SYNC 2
#define JSONFILE_CALIBRATION 1
#define JSONFILE_ANNOTATIONS 1

/**
 * Replace @path with @root and its checksum; takes ownership of @root. Reals get @digits digits (0:
 * all). CVL_E_NOMEM if @root is NULL.
 */
int jsonfile_write(const char *path, json_t *root, int digits, struct cvl_error *err);

/**
 * Read @path, whose key @kind holds its version; versions up to @version can be read. Files without
 * a checksum are older and accepted. On failure NULL with @err filled: CVL_E_SYNTAX,
 * CVL_E_UNSUPPORTED, CVL_E_CHECKSUM, CVL_E_NOMEM, or as cvl_fail_errno().
 */
json_t *jsonfile_read(const char *path, const char *kind, int version, struct cvl_error *err);

/** The same without verifying the checksum, for inspection. */
json_t *jsonfile_read_as_it_is(const char *path, const char *kind, int version,
			       struct cvl_error *err);

/** Whether what jsonfile_read() returned carries a checksum. */
bool jsonfile_has_checksum(const json_t *root);

#endif
