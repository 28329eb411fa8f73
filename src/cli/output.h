/* SPDX-License-Identifier: MIT */
/**
 * A file or directory that has its name when it is whole, and not before.
 *
 * It is written beside that name, and renamed at the end. A failure, SIGINT, SIGTERM or SIGHUP
 * removes it: what stood under the name stays. What is no plain file (a pipe, a device, standard
 * output) is written to directly. One at a time.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <pthread.h>
#include <signal.h>

#include <coeval/files.h>
#include <coeval/out.h>

struct output {
	const char *path; /* as the user gave it */
	char final[CVL_PATH_MAX];
	char beside[CVL_PATH_MAX]; /* "" if it is written to directly */
	bool is_dir;
	pthread_t watcher; /* of signals */
	pthread_mutex_t lock;
	sigset_t signals, before;
};

/**
 * Prepare to write @path, "-" or NULL for standard output. Returns 0, CVL_E_IO, CVL_E_LIMIT. @o
 * must stay where it is.
 */
int output_begin(struct output *o, const char *path, bool is_dir, struct cvl_error *err);

/** Where to write to. */
static inline const char *output_path(const struct output *o)
{
	return o->beside[0] ? o->beside : o->path;
}

/** Give it its name if @rc is 0, else remove it. Returns @rc, or why it could not be renamed. */
int output_end(struct output *o, int rc, struct cvl_error *err);

/** Print what @put writes on standard output, as text for people. */
int output_print(void (*put)(struct cvl_out *out, const void *ctx), const void *ctx,
		 struct cvl_error *err);

/** Make @path, a file, of what @put writes. */
int output_write(const char *path, void (*put)(struct cvl_out *out, const void *ctx),
		 const void *ctx, struct cvl_error *err);

#endif
