/* SPDX-License-Identifier: MIT */
/**
 * Atomic output: a file or directory that gets its name only when complete.
 *
 * It is written beside that name, and renamed at the end. A failure, SIGINT, SIGTERM or SIGHUP
 * removes it, and what the name referred to before stays. Anything but a plain file (a pipe, a
 * device, standard output) is written directly. One at a time.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <pthread.h>
#include <signal.h>

#include <coeval/files.h>
#include <coeval/out.h>

struct output {
	const char *path; /* as given by the user */
	char final[CVL_PATH_MAX];
	char beside[CVL_PATH_MAX]; /* "" if written directly */
	bool is_dir;
	pthread_t watcher; /* watches signals */
	pthread_mutex_t lock;
	sigset_t signals, before;
};

/**
 * Prepare to write @path, "-" or NULL for standard output. Returns 0, CVL_E_IO, CVL_E_LIMIT. @o
 * must not move.
 */
int output_begin(struct output *o, const char *path, bool is_dir, struct cvl_error *err);

/** Descriptor to write to. */
static inline const char *output_path(const struct output *o)
{
	return o->beside[0] ? o->beside : o->path;
}

/** Give it its name if @rc is 0, else remove it. Returns @rc, or the error of renaming. */
int output_end(struct output *o, int rc, struct cvl_error *err);

/** Print the text that @put writes on standard output. */
int output_print(void (*put)(struct cvl_out *out, const void *ctx), const void *ctx,
		 struct cvl_error *err);

/** Write file @path by @put. */
int output_write(const char *path, void (*put)(struct cvl_out *out, const void *ctx),
		 const void *ctx, struct cvl_error *err);

#endif
