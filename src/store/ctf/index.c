/* SPDX-License-Identifier: MIT */
#include "store/ctf/index.h"

#include <endian.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define ENTRIES_AT_ONCE 512

static struct wire_index_entry to_host(const struct wire_index_entry *e)
{
	return (struct wire_index_entry){
		be64toh(e->offset),         be64toh(e->packet_size),
		be64toh(e->content_size),   be64toh(e->timestamp_begin),
		be64toh(e->timestamp_end),  be64toh(e->events_discarded),
		be64toh(e->stream_id),      be64toh(e->stream_instance_id),
		be64toh(e->packet_seq_num),
	};
}

static bool follows(const struct wire_index_entry *e, const struct wire_index_entry *before,
		    uint64_t size)
{
	uint64_t bytes = e->packet_size / 8;

	return e->offset == (before ? before->offset + before->packet_size / 8 : 0) &&
	       e->packet_size % 8 == 0 && bytes && bytes <= size && e->offset <= size - bytes &&
	       e->timestamp_begin <= e->timestamp_end &&
	       (!before || before->timestamp_end <= e->timestamp_begin);
}

static bool has_header(int fd)
{
	struct wire_index_header h;

	return read(fd, &h, sizeof(h)) == sizeof(h) && be32toh(h.magic) == WIRE_INDEX_MAGIC &&
	       be32toh(h.major) == 1 && be32toh(h.minor) == 1 &&
	       be32toh(h.entry_size) == sizeof(struct wire_index_entry);
}

/*
 * All entries up to the place are read: 72 bytes a packet. Half of them could be left out, but then
 * one that lies would not be noticed.
 */
static bool walk(int fd, uint64_t size, uint64_t from, struct index_spot *spot)
{
	struct wire_index_entry block[ENTRIES_AT_ONCE], last = { 0 }, before = { 0 };
	uint64_t n = 0;

	for (;;) {
		ssize_t got = read(fd, block, sizeof(block));

		for (ssize_t i = 0; i < got / (ssize_t)sizeof(*block); i++, n++) {
			struct wire_index_entry e = to_host(&block[i]);

			if (!follows(&e, n ? &last : NULL, size))
				return false;
			if (e.timestamp_end >= from)
				goto found;
			before = last;
			last = e;
		}
		if (got < (ssize_t)sizeof(block))
			break;
	}
found:
	*spot = (struct index_spot){ last, before, n > 1 };
	return n > 0;
}

bool index_find(const char *path, uint64_t size, uint64_t from, struct index_spot *spot)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool found = fd >= 0 && has_header(fd) && walk(fd, size, from, spot);

	if (fd >= 0)
		close(fd);
	return found;
}
