/* SPDX-License-Identifier: MIT */
#include <coeval/files.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TREE_DEPTH_MAX 16

bool cvl_path_join(char out[CVL_PATH_MAX], const char *dir, const char *name)
{
	size_t n = strlen(dir);

	while (n > 1 && dir[n - 1] == '/')
		n--;
	return (size_t)snprintf(out, CVL_PATH_MAX, "%.*s/%s", (int)n, dir, name) < CVL_PATH_MAX;
}

void cvl_path_base(char *out, size_t size, const char *path)
{
	size_t end = strlen(path), start;

	while (end && path[end - 1] == '/')
		end--;
	for (start = end; start && path[start - 1] != '/'; start--)
		;
	if (end == start || (end - start == 1 && path[start] == '.'))
		snprintf(out, size, "trace");
	else
		snprintf(out, size, "%.*s", (int)(end - start), path + start);
}

void cvl_path_clean(char *name)
{
	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_-.", *c))
			*c = '_';
	if (name[0] == '.')
		name[0] = '_';
}

bool cvl_is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool cvl_is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

int cvl_sync_dir(const char *path, struct cvl_error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return errno == EACCES ?
			       0 :
			       cvl_fail_errno(err, "open", path); /* write-only directory */
	/* some file systems cannot sync directories (EINVAL) */
	if (fsync(fd) && errno != EINVAL)
		rc = cvl_fail_errno(err, "sync", path);
	close(fd);
	return rc;
}

int cvl_sync_parent(const char *path, struct cvl_error *err)
{
	char dir[CVL_PATH_MAX];
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	while (n && path[n - 1] != '/')
		n--;
	while (n > 1 && path[n - 1] == '/')
		n--;
	if (n >= sizeof(dir))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", path);
	snprintf(dir, sizeof(dir), "%.*s", n ? (int)n : 1, n ? path : ".");
	return cvl_sync_dir(dir, err);
}

int cvl_write_whole(const char *path, const void *bytes, size_t n, struct cvl_error *err)
{
	int rc = cvl_write_soon(path, bytes, n, err);

	return rc ? rc : cvl_sync_parent(path, err);
}

int cvl_write_soon(const char *path, const void *bytes, size_t n, struct cvl_error *err)
{
	char temp[CVL_PATH_MAX + 8];
	const char *p = bytes;
	int fd, rc;

	snprintf(temp, sizeof(temp), "%s.new", path);
	fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return cvl_fail_errno(err, "create", temp);
	while (n) {
		ssize_t put = write(fd, p, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			goto fail;
		p += put;
		n -= (size_t)put;
	}
	if (fsync(fd))
		goto fail;
	if (close(fd)) {
		fd = -1;
		goto fail;
	}
	if (!rename(temp, path))
		return 0;
	fd = -1;
fail:
	rc = cvl_fail_errno(err, "write", temp);
	if (fd >= 0)
		close(fd);
	unlink(temp);
	return rc;
}

char *cvl_read_whole(const char *path, size_t max, size_t *n, struct cvl_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t size = 0;

	*n = 0;
	if (fd < 0) {
		cvl_fail_errno(err, "open", path);
		return NULL;
	}
	while (*n <= max) {
		ssize_t got;

		if (*n + 1 >= size) {
			char *grown = realloc(text, size = size ? 2 * size : 65536);

			if (!grown) {
				cvl_no_memory(err);
				goto fail;
			}
			text = grown;
		}
		got = read(fd, text + *n, size - 1 - *n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			cvl_fail_errno(err, "read", path);
			goto fail;
		}
		if (!got) {
			close(fd);
			text[*n] = '\0';
			return text;
		}
		*n += (size_t)got;
	}
	cvl_fail(err, CVL_E_LIMIT, max, "%s: larger than %zu bytes", path, max);
fail:
	close(fd);
	free(text);
	return NULL;
}

struct copying {
	const struct cvl_progress *progress;
	uint64_t done;
};

static int copy_file(struct copying *c, const char *from, const char *to, struct cvl_error *err)
{
	static const size_t chunk = 1 << 20;
	int in = open(from, O_RDONLY | O_CLOEXEC), out = -1, rc = 0;
	char buf[65536];
	bool kernel = true;

	if (in < 0)
		return cvl_fail_errno(err, "open", from);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (out < 0) {
		rc = cvl_fail_errno(err, "create", to);
		goto out;
	}
	for (;;) {
		ssize_t n = kernel ? copy_file_range(in, NULL, out, NULL, chunk, 0) :
				     read(in, buf, sizeof(buf));

		if (n < 0 && kernel) { /* between file systems that cannot */
			kernel = false;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			rc = cvl_fail_errno(err, "read", from);
			break;
		}
		if (!n)
			break;
		c->done += (uint64_t)n;
		rc = cvl_progress_tell(c->progress, c->done, 0, err);
		if (rc)
			goto out;
		for (ssize_t done = 0; !kernel && done < n;) {
			ssize_t put = write(out, buf + done, (size_t)(n - done));

			if (put < 0 && errno != EINTR) {
				rc = cvl_fail_errno(err, "write", to);
				goto out;
			}
			done += put > 0 ? put : 0;
		}
	}
	if (!rc && fsync(out))
		rc = cvl_fail_errno(err, "write", to);
out:
	close(in);
	if (out >= 0)
		close(out);
	return rc;
}

static int copy_level(struct copying *c, const char *from, const char *to, int depth,
		      struct cvl_error *err)
{
	char a[CVL_PATH_MAX], b[CVL_PATH_MAX];
	struct dirent *d;
	DIR *dir;
	int rc = 0;

	if (depth > TREE_DEPTH_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: directories nested too deep",
				from);
	dir = opendir(from);
	if (!dir)
		return cvl_fail_errno(err, "open", from);
	if (mkdir(to, 0777))
		rc = cvl_fail_errno(err, "make the directory", to);
	while (!rc && (d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		if (!cvl_path_join(a, from, d->d_name) || !cvl_path_join(b, to, d->d_name))
			rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", from);
		else if (cvl_is_dir(a))
			rc = copy_level(c, a, b, depth + 1, err);
		else if (cvl_is_file(a))
			rc = copy_file(c, a, b, err);
	}
	closedir(dir);
	return rc ? rc : cvl_sync_dir(to, err);
}

int cvl_copy_tree(const char *from, const char *to, const struct cvl_progress *progress,
		  struct cvl_error *err)
{
	struct copying c = { .progress = progress };
	int rc = copy_level(&c, from, to, 0, err);

	return rc ? rc : cvl_sync_parent(to, err);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

int cvl_remove_tree(const char *path, struct cvl_error *err)
{
	return nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS) ?
		       cvl_fail_errno(err, "remove", path) :
		       0;
}
