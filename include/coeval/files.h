/* SPDX-License-Identifier: MIT */
/** Small helpers for files and paths. */
#ifndef COEVAL_FILES_H
#define COEVAL_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include <coeval/api.h>
#include <coeval/error.h>

CVL_BEGIN_DECLS

#define CVL_PATH_MAX 4096

/** "@dir/@name" into @out; false if it does not fit. */
CVL_API bool cvl_path_join(char out[CVL_PATH_MAX], const char *dir, const char *name);

/** Last component of @path without trailing slashes, into @out. "." and "/" give "trace". */
CVL_API void cvl_path_base(char *out, size_t size, const char *path);

/** Make @name a valid file name: letters, digits, '_', '-', '.' stay, others become '_'. */
CVL_API void cvl_path_clean(char *name);

/** Whether there is one at @path, following links. */
CVL_API bool cvl_is_dir(const char *path);
CVL_API bool cvl_is_file(const char *path);

/**
 * Atomically replace @path with @n bytes: written beside it, synced, renamed. When this returns the
 * file survives a crash of the machine.
 */
CVL_API int cvl_write_whole(const char *path, const void *bytes, size_t n, struct cvl_error *err);

/** The same, faster: after a crash of the machine @path may have its old contents. */
CVL_API int cvl_write_soon(const char *path, const void *bytes, size_t n, struct cvl_error *err);

/**
 * Sync the directory @path, so that files created or renamed in it survive a crash of the machine.
 */
CVL_API int cvl_sync_dir(const char *path, struct cvl_error *err);
/** The same for the directory that @path is in. */
CVL_API int cvl_sync_parent(const char *path, struct cvl_error *err);

/**
 * Read all of @path, at most @max bytes, and append a NUL; free() it. NULL with @err filled:
 * CVL_E_LIMIT, CVL_E_NOMEM, or as cvl_fail_errno().
 */
CVL_API char *cvl_read_whole(const char *path, size_t max, size_t *n, struct cvl_error *err);

/**
 * Copy the tree @from to the new directory @to: regular files and directories, following links.
 * @progress, in bytes, may be NULL. A failure leaves what was copied so far.
 */
CVL_API int cvl_copy_tree(const char *from, const char *to, const struct cvl_progress *progress,
			  struct cvl_error *err);

/** Remove @path and, if it is a directory, all that is in it; links are not followed. */
CVL_API int cvl_remove_tree(const char *path, struct cvl_error *err);

CVL_END_DECLS

#endif
