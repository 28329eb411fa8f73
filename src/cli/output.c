/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void discard(const struct output *o)
{
	cvl_remove_tree(o->beside, NULL);
}

/* Waits for terminating signals, and cleans up. */
static void *watch(void *arg)
{
	struct output *o = arg;
	sigset_t one;
	int sig;

	if (sigwait(&o->signals, &sig))
		return NULL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_mutex_lock(&o->lock); /* never unlocked: nothing is renamed any more */
	discard(o);
	signal(sig, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, sig);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	raise(sig);
	return NULL;
}

static void start_watching(struct output *o)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

	sigemptyset(&o->signals);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		struct sigaction now;

		if (!sigaction(ends[i], NULL, &now) && now.sa_handler != SIG_IGN)
			sigaddset(&o->signals, ends[i]);
	}
	pthread_mutex_init(&o->lock, NULL);
	pthread_sigmask(SIG_BLOCK, &o->signals, &o->before);
	if (pthread_create(&o->watcher, NULL, watch, o)) {
		pthread_sigmask(SIG_SETMASK, &o->before, NULL);
		sigemptyset(&o->signals); /* no watcher: a signal leaves the temporary file */
	}
}

static void stop_watching(struct output *o)
{
	pthread_mutex_lock(&o->lock); /* a late caller waits here for the exit */
	if (!sigisemptyset(&o->signals)) {
		pthread_cancel(o->watcher);
		pthread_join(o->watcher, NULL);
	}
}

static void stopped(struct output *o)
{
	pthread_mutex_unlock(&o->lock);
	pthread_mutex_destroy(&o->lock);
	pthread_sigmask(SIG_SETMASK, &o->before, NULL);
}

/* The mode of @path, or that of a new file. */
static mode_t mode_of(const char *path, bool is_dir)
{
	mode_t mask = umask(0);
	struct stat st;

	umask(mask);
	if (!stat(path, &st))
		return st.st_mode & 07777;
	return (is_dir ? 0777 : 0666) & ~mask;
}

int output_begin(struct output *o, const char *path, bool is_dir, struct cvl_error *err)
{
	struct stat st;
	bool exists;
	int fd;

	*o = (struct output){ .path = path, .is_dir = is_dir };
	if (!path || !strcmp(path, "-"))
		return 0;
	exists = !stat(path, &st);
	if (exists && !(is_dir ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode)))
		return 0; /* a pipe or a device; or opening it fails later */
	if (exists && access(path, W_OK))
		return cvl_fail_errno(err, "write", path);
	if (!exists || !realpath(path, o->final)) { /* a link is preserved */
		if (strlen(path) >= sizeof(o->final))
			return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", path);
		strcpy(o->final, path);
	}
	for (size_t n = strlen(o->final); n > 1 && o->final[n - 1] == '/'; n--)
		o->final[n - 1] = '\0';
	if ((size_t)snprintf(o->beside, sizeof(o->beside), "%s.XXXXXX", o->final) >=
	    sizeof(o->beside))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", path);
	if (is_dir) {
		if (!mkdtemp(o->beside) || chmod(o->beside, mode_of(o->final, true)))
			return cvl_fail_errno(err, "make the directory", path);
	} else {
		fd = mkstemp(o->beside);
		if (fd < 0)
			return cvl_fail_errno(err, "create", path);
		(void)!fchmod(fd, mode_of(o->final, false));
		close(fd);
	}
	start_watching(o);
	return 0;
}

/* Move the files of a directory into an existing one that is not empty. */
static int move_files(const struct output *o)
{
	char from[CVL_PATH_MAX], to[CVL_PATH_MAX];
	DIR *dir = opendir(o->beside);
	const struct dirent *entry;
	int rc = dir ? 0 : -1;

	while (!rc && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (!cvl_path_join(from, o->beside, entry->d_name) ||
		    !cvl_path_join(to, o->final, entry->d_name)) {
			errno = ENAMETOOLONG;
			rc = -1;
		} else {
			rc = rename(from, to);
		}
	}
	if (dir)
		closedir(dir);
	return rc ? rc : rmdir(o->beside);
}

static int give_name(const struct output *o)
{
	int rc = rename(o->beside, o->final);

	return rc && o->is_dir && (errno == ENOTEMPTY || errno == EEXIST) ? move_files(o) : rc;
}

/* Messages use the name given by the user. */
static void rename_in_message(const struct output *o, struct cvl_error *err)
{
	char *at = strstr(err->text, o->beside), rest[CVL_ERROR_TEXT];

	if (!at)
		return;
	snprintf(rest, sizeof(rest), "%s", at + strlen(o->beside));
	snprintf(at, sizeof(err->text) - (size_t)(at - err->text), "%s%s", o->path, rest);
}

int output_end(struct output *o, int rc, struct cvl_error *err)
{
	if (!o->beside[0])
		return rc;
	stop_watching(o);
	if (!rc && give_name(o))
		rc = cvl_fail_errno(err, "write", o->path);
	else if (rc)
		rename_in_message(o, err);
	if (rc)
		discard(o);
	stopped(o);
	return rc;
}

int output_write(const char *path, void (*put)(struct cvl_out *out, const void *ctx),
		 const void *ctx, struct cvl_error *err)
{
	struct cvl_out *out = malloc(sizeof(*out));
	struct output output;
	int rc;

	if (!out)
		return cvl_no_memory(err);
	rc = output_begin(&output, path, false, err);
	if (!rc) {
		rc = cvl_out_open(out, output_path(&output), err);
		if (!rc) {
			put(out, ctx);
			rc = cvl_out_close(out, err);
		}
		rc = output_end(&output, rc, err);
	}
	free(out);
	return rc;
}

int output_print(void (*put)(struct cvl_out *out, const void *ctx), const void *ctx,
		 struct cvl_error *err)
{
	struct cvl_out *out = malloc(sizeof(*out));
	int rc;

	if (!out)
		return cvl_no_memory(err);
	cvl_out_init(out, STDOUT_FILENO, "standard output");
	put(out, ctx);
	rc = cvl_out_flush(out, err);
	free(out);
	return rc;
}
