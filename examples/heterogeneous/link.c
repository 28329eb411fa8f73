/* SPDX-License-Identifier: MIT */
#include "link.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS 20000000000u

void *link_map(const char *path, size_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	void *at = MAP_FAILED;

	if (fd >= 0 && lseek(fd, 0, SEEK_END) < (off_t)bytes && ftruncate(fd, (off_t)bytes)) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0)
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		perror(path);
		exit(4);
	}
	close(fd);
	return at;
}

int link_bell(const char *directory, unsigned slave)
{
	const uint64_t from = link_now();
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if ((size_t)snprintf(to.sun_path, sizeof(to.sun_path), "%s/bell%u", directory, slave) >=
	    sizeof(to.sun_path)) {
		fprintf(stderr, "%s: too long for the path of a socket\n", directory);
		exit(4);
	}
	while (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		if (fd < 0 || link_now() - from > PATIENCE_NS) {
			perror(to.sun_path);
			exit(4);
		}
		link_sleep(20000000);
	}
	return fd;
}

void link_ring(int bell)
{
	/* a slave that does not take them any more has enough of them */
	if (send(bell, "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return;
}

uint64_t link_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void link_sleep(uint64_t ns)
{
	nanosleep(&(struct timespec){ (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) }, NULL);
}
