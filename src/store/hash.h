/* SPDX-License-Identifier: MIT */
/** SHA-256 of imported input, to detect that the same data is imported again. */
#ifndef SESSION_HASH_H
#define SESSION_HASH_H

#include <coeval/error.h>

#define CVL_HASH_TEXT 80

/**
 * Hash of the tree under @path ("sha256:..."): the relative path and contents of each regular file,
 * in path order. If @path is a file, only its contents are hashed. @progress, in bytes, may be
 * NULL.
 */
int cvl_hash_tree(const char *path, char out[CVL_HASH_TEXT], const struct cvl_progress *progress,
		  struct cvl_error *err);

#endif
