/* SPDX-License-Identifier: MIT */
#include <coeval/packets.h>

#include <coeval/files.h>
#include "store/ctf/freed.h"
#include "store/ctf/lock.h"
#include "store/ctf/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct cvl_packets {
	char path[CVL_PATH_MAX]; /* of the stream */
	int fd;
	uint64_t end;
};

int cvl_packets_open(struct cvl_packets **out, const char *path, const char *metadata, size_t n,
		     struct cvl_error *err)
{
	struct cvl_packets *p = malloc(sizeof(*p));
	char file[CVL_PATH_MAX];
	int rc = 0;

	*out = NULL;
	if (!p)
		return cvl_no_memory(err);
	p->end = 0;
	p->fd = -1;
	if (!cvl_path_join(file, path, "metadata") ||
	    !cvl_path_join(p->path, path, WIRE_STREAM_FILE))
		rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", path);
	else if (mkdir(path, 0777))
		rc = cvl_fail_errno(err, "make the directory", path);
	else
		rc = cvl_write_whole(file, metadata, n, err);
	if (!rc) {
		p->fd = open(p->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (p->fd < 0)
			rc = cvl_fail_errno(err, "create", p->path);
	}
	if (rc) {
		free(p);
		return rc;
	}
	stream_lock(p->fd);
	*out = p;
	return 0;
}

int cvl_packets_resume(struct cvl_packets **out, const char *path, uint64_t keep,
		       struct cvl_error *err)
{
	struct cvl_packets *p = malloc(sizeof(*p));
	int rc = 0;

	*out = NULL;
	if (!p)
		return cvl_no_memory(err);
	p->end = keep;
	p->fd = -1;
	if (!cvl_path_join(p->path, path, WIRE_STREAM_FILE))
		rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", path);
	if (!rc) {
		p->fd = open(p->path, O_WRONLY | O_CLOEXEC);
		if (p->fd < 0)
			rc = cvl_fail_errno(err, "open", p->path);
	}
	if (!rc && !stream_lock(p->fd))
		rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
			      "%s: another capture is writing to it; stop that first", p->path);
	if (!rc && ftruncate(p->fd, (off_t)keep))
		rc = cvl_fail_errno(err, "write", p->path);
	if (rc) {
		if (p->fd >= 0)
			close(p->fd);
		free(p);
		return rc;
	}
	*out = p;
	return 0;
}

int cvl_packets_add(struct cvl_packets *p, const void *packet, size_t n, struct cvl_error *err)
{
	const uint8_t *bytes = packet;
	size_t done = 0;

	while (done < n) {
		ssize_t put = pwrite(p->fd, bytes + done, n - done, (off_t)(p->end + done));

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0) {
			int rc = cvl_fail_errno(err, "write", p->path);

			if (ftruncate(p->fd, (off_t)p->end))
				return rc; /* readers stop before a packet that is cut short */
			return rc;
		}
		done += (size_t)put;
	}
	p->end += n;
	return 0;
}

int packets_add_freed(struct cvl_packets *p, const void *packet, size_t n, uint64_t bytes,
		      struct cvl_error *err)
{
	int rc = cvl_packets_add(p, packet, n, err);

	if (rc)
		return rc;
	p->end -= n;
	if (!ftruncate(p->fd, (off_t)(p->end + bytes))) {
		p->end += bytes;
		return 0;
	}
	rc = cvl_fail_errno(err, "write", p->path);
	if (ftruncate(p->fd, (off_t)p->end))
		return rc; /* readers stop before what is cut short */
	return rc;
}

int cvl_packets_flush(struct cvl_packets *p, struct cvl_error *err)
{
	return fdatasync(p->fd) ? cvl_fail_errno(err, "write", p->path) : 0;
}

int packets_keep_lock(const struct cvl_packets *p)
{
	return stream_keep_lock(p->fd);
}

int cvl_packets_close(struct cvl_packets *p, struct cvl_error *err)
{
	int rc;

	if (!p)
		return 0;
	rc = cvl_packets_flush(p, err);
	if (close(p->fd) && !rc)
		rc = cvl_fail_errno(err, "write", p->path);
	free(p);
	return rc;
}
