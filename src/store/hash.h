/* SPDX-License-Identifier: MIT */
/** SHA-256 of what was imported, so that a copy can be told from its origin. */
#ifndef SESSION_HASH_H
#define SESSION_HASH_H

#include <coeval/error.h>

#define CVL_HASH_TEXT 80

/**
 * Hash of the tree under @path ("sha256:..."): of each regular file's relative path and contents,
 * in the order of the paths. For a file, of its contents alone. @progress, in bytes, may be NULL.
 */
int cvl_hash_tree(const char *path, char out[CVL_HASH_TEXT], const struct cvl_progress *progress,
		  struct cvl_error *err);

#endif
