/* SPDX-License-Identifier: MIT */
/*
 * The index of a stream: the first 16 bytes are the size of the stream and the tick looked for,
 * the rest is the file.
 */
#include "../src/store/ctf/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct index_spot s;
	uint64_t size, from;
	char path[40];
	int fd;

	if (n < 16)
		return 0;
	memcpy(&size, data, 8);
	memcpy(&from, data + 8, 8);
	fd = memfd_create("index", 0);
	if (fd < 0 || write(fd, data + 16, n - 16) != (ssize_t)(n - 16))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (index_find(path, size, from, &s)) {
		if (s.first.offset >= size || s.first.packet_size / 8 > size - s.first.offset)
			abort();
		if (s.has_before && (s.before.timestamp_end >= from ||
				     s.before.offset + s.before.packet_size / 8 != s.first.offset))
			abort();
	}
	close(fd);
	return 0;
}
