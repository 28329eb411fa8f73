/* SPDX-License-Identifier: MIT */
#include "core/spill.h"

#include <coeval/error.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIECE (64u << 10) /* files grow by whole ones */

int spill_open(void)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd;

	folder = folder && *folder ? folder : "/var/tmp";
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 ||
	    (size_t)snprintf(path, sizeof(path), "%s/coeval-XXXXXX", folder) >= sizeof(path))
		return fd;
	/* not all file systems can */
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/*
 * Let @s have @room bytes in a file. Its blocks are reserved, so that a full disk is met here and
 * not when it is written. False: @s is as before.
 */
static bool in_file(struct spill *s, size_t room)
{
	int fd = s->file ? s->fd : spill_open();
	void *at = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!posix_fallocate(fd, 0, (off_t)room))
		at = s->file ? mremap(s->at, s->room, room, MREMAP_MAYMOVE) :
			       mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		if (!s->file)
			close(fd);
		return false;
	}
	if (!s->file) {
		if (s->at)
			memcpy(at, s->at, s->room);
		free(s->at);
	}
	*s = (struct spill){ at, room, true, fd };
	return true;
}

static int in_memory(struct spill *s, size_t room)
{
	uint8_t *at = calloc(1, room);

	if (!at)
		return CVL_E_NOMEM;
	if (s->at)
		memcpy(at, s->at, s->room);
	spill_free(s);
	*s = (struct spill){ .at = at, .room = room };
	return 0;
}

int spill_room(struct spill *s, size_t bytes)
{
	size_t room = s->room ? s->room : 4096;

	if (bytes <= s->room)
		return 0;
	if (bytes > SIZE_MAX / 2)
		return CVL_E_NOMEM;
	while (room < bytes && room < SPILL_BYTES)
		room *= 2;
	if (room < bytes)
		room = (bytes + bytes / 4 + PIECE) / PIECE * PIECE;
	return room > SPILL_BYTES && in_file(s, room) ? 0 : in_memory(s, room);
}

void spill_rest(const struct spill *s)
{
	if (s->file)
		madvise(s->at, s->room, MADV_DONTNEED);
}

void spill_scattered(const struct spill *s, bool scattered)
{
	if (s->file)
		madvise(s->at, s->room, scattered ? MADV_RANDOM : MADV_NORMAL);
}

void spill_free(struct spill *s)
{
	if (s->file) {
		munmap(s->at, s->room);
		close(s->fd);
	} else {
		free(s->at);
	}
	*s = (struct spill){ 0 };
}
