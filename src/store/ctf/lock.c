/* SPDX-License-Identifier: MIT */
#include "store/ctf/lock.h"

#include "store/ctf/wire.h"

#include <coeval/files.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#define TRIES \
	500 /* readers have the lock for a moment, to see whether it is free; a child of a writer that was killed, too */
#define TRY_US 4000

bool stream_lock(int fd)
{
	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB); i++) {
		if (errno != EWOULDBLOCK || i == TRIES) /* some file systems have no locks */
			return false;
		usleep(TRY_US);
	}
	return true;
}

bool stream_locked(const char *trace)
{
	char path[CVL_PATH_MAX];
	bool locked = false;
	int fd;

	if (!cvl_path_join(path, trace, WIRE_STREAM_FILE))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		locked = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
		close(fd);
	}
	return locked;
}

int stream_keep_lock(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}
