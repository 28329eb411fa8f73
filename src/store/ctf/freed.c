/* SPDX-License-Identifier: MIT */
#include "store/ctf/freed.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <coeval/record.h>

#include "core/crc32c.h"
#include "store/ctf/internal.h"

/* As cvl_writer_gap() writes it, with a header of 4 bytes. */
struct gap_record {
	uint32_t header;
	uint64_t to, lost;
	uint8_t why;
} __attribute__((packed));

_Static_assert(sizeof(struct wire_packet) + sizeof(struct gap_record) + WIRE_CRC_BYTES <=
		       FREED_BYTES,
	       "it has room");

size_t freed_packet(uint8_t packet[FREED_BYTES], const uint8_t uuid[16], const struct freed *f,
		    bool gap)
{
	const uint64_t begin = gap ? f->begin : f->end;
	const struct gap_record record = {
		htole32(WIRE_GAP | (uint32_t)begin << WIRE_ID_BITS),
		htole64(f->end),
		htole64(CVL_LOST_UNKNOWN),
		CVL_GAP_FREED,
	};
	const size_t n = sizeof(struct wire_packet) + (gap ? sizeof(record) : 0);
	struct wire_packet h = {
		.magic = htole32(CTF_MAGIC),
		.timestamp_begin = htole64(begin),
		.timestamp_end = htole64(f->end),
		.content_size = htole64((uint64_t)n * 8),
		.packet_size = htole64(f->bytes * 8),
		.packet_seq_num = htole64(f->sequence),
		.events_discarded = htole64(f->discarded),
	};
	uint32_t crc;

	memcpy(h.uuid, uuid, sizeof(h.uuid));
	memcpy(packet, &h, sizeof(h));
	memcpy(packet + sizeof(h), &record, n - sizeof(h));
	crc = htole32(cvl_crc32c(0, packet, n));
	memcpy(packet + n, &crc, sizeof(crc));
	return n + sizeof(crc);
}

void freed_read(int fd, struct freed *f)
{
	struct wire_packet h;

	*f = (struct freed){ 0 };
	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || le32toh(h.magic) != CTF_MAGIC ||
	    !freed_is(le64toh(h.packet_size) / 8, le64toh(h.content_size) / 8))
		return;
	*f = (struct freed){
		.bytes = le64toh(h.packet_size) / 8,
		.begin = le64toh(h.timestamp_begin),
		.end = le64toh(h.timestamp_end),
		.sequence = le64toh(h.packet_seq_num),
		.discarded = le64toh(h.events_discarded),
	};
}

int freed_write(int fd, const uint8_t uuid[16], const struct freed *f)
{
	uint8_t packet[FREED_BYTES];
	const size_t n = freed_packet(packet, uuid, f, true);

	if (pwrite(fd, packet, n, 0) != (ssize_t)n || fdatasync(fd) ||
	    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)n,
		      (off_t)(f->bytes - n)))
		return -errno;
	return 0;
}
