/* SPDX-License-Identifier: MIT */
/**
 * The JSON files of a session: each names its kind and version, and carries the SHA-256 of all the
 * rest of it, so that one that was damaged or edited is not taken for what was written.
 */
#ifndef SESSION_JSONFILE_H
#define SESSION_JSONFILE_H

#include <jansson.h>

#include <coeval/error.h>

/**
 * Replace @path by @root, which is taken over, with its checksum; reals have @digits digits (0:
 * all). CVL_E_NOMEM if @root is NULL.
 */
int jsonfile_write(const char *path, json_t *root, int digits, struct cvl_error *err);

/**
 * Read @path, whose key @kind holds its version: @version and older can be read. A file without a
 * checksum is an older one and as good. NULL with @err filled: CVL_E_SYNTAX, CVL_E_UNSUPPORTED,
 * CVL_E_CHECKSUM, CVL_E_NOMEM, what cvl_fail_errno() says.
 */
json_t *jsonfile_read(const char *path, const char *kind, int version, struct cvl_error *err);

/** The same whatever its checksum: of a file that is read to be looked at. */
json_t *jsonfile_read_as_it_is(const char *path, const char *kind, int version,
			       struct cvl_error *err);

/** Whether what jsonfile_read() returned carries a checksum. */
bool jsonfile_has_checksum(const json_t *root);

#endif
