/* SPDX-License-Identifier: MIT */
#include "store/ctf/index.h"

#include <coeval/files.h>

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
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

/* Whether entry @e follows @before, which is NULL for the first, in bytes. */
static bool follows(const struct wire_index_entry *e, const struct wire_index_entry *before,
		    uint64_t size)
{
	uint64_t bytes = e->packet_size / 8;

	return e->offset == (before ? before->offset + before->packet_size / 8 : 0) &&
	       e->packet_size % 8 == 0 && bytes && bytes <= size && e->offset <= size - bytes &&
	       e->timestamp_begin <= e->timestamp_end;
}

static bool has_header(int fd)
{
	struct wire_index_header h;

	return read(fd, &h, sizeof(h)) == sizeof(h) && be32toh(h.magic) == WIRE_INDEX_MAGIC &&
	       be32toh(h.major) == 1 && be32toh(h.minor) == 1 &&
	       be32toh(h.entry_size) == sizeof(struct wire_index_entry);
}

/*
 * Call @seen with each entry and the one before it (NULL: none), until it returns false. False where there
 * is no index, or where its entries do not follow each other. All up to the place are read, 72 bytes a
 * packet: half of them could be left out, but then one that lies would not be noticed.
 */
static bool walk(const char *path, uint64_t size,
		 bool (*seen)(void *ctx, const struct wire_index_entry *e,
			      const struct wire_index_entry *before),
		 void *ctx)
{
	struct wire_index_entry block[ENTRIES_AT_ONCE], before = { 0 };
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool right = fd >= 0 && has_header(fd), more = right;
	uint64_t n = 0;

	while (more) {
		const ssize_t got = read(fd, block, sizeof(block));

		for (ssize_t i = 0; i < got / (ssize_t)sizeof(*block) && more; i++, n++) {
			const struct wire_index_entry e = to_host(&block[i]);

			right = follows(&e, n ? &before : NULL, size);
			more = right && seen(ctx, &e, n ? &before : NULL);
			before = e;
		}
		more = more && got == (ssize_t)sizeof(block);
	}
	if (fd >= 0)
		close(fd);
	return right;
}

/* ---- the packet before a tick ---- */

struct search {
	uint64_t from;
	struct wire_index_entry last, before;
	uint64_t n; /* entries before it */
	bool back;  /* they do not follow each other in time */
};

static bool is_before(void *ctx, const struct wire_index_entry *e,
		      const struct wire_index_entry *before)
{
	struct search *s = ctx;

	s->back = before && before->timestamp_end > e->timestamp_begin;
	if (s->back || e->timestamp_end >= s->from)
		return false;
	s->before = s->last;
	s->last = *e;
	s->n++;
	return true;
}

bool index_find(const char *path, uint64_t size, uint64_t from, struct index_spot *spot)
{
	struct search s = { .from = from };
	const bool right = walk(path, size, is_before, &s);

	*spot = (struct index_spot){ s.last, s.before, s.n > 1 };
	return right && !s.back && s.n > 0;
}

/* ---- late records behind a range ---- */

struct late {
	uint64_t offset, to;
	uint64_t end; /* of the packets that the index has */
	bool found;
};

static bool begins_behind(void *ctx, const struct wire_index_entry *e,
			  const struct wire_index_entry *before)
{
	struct late *l = ctx;

	(void)before;
	l->end = e->offset + e->packet_size / 8;
	l->found = e->offset > l->offset && e->timestamp_begin <= l->to;
	return !l->found;
}

bool index_begins_by(const char *path, uint64_t size, uint64_t offset, uint64_t to)
{
	struct late l = { .offset = offset, .to = to };

	return !walk(path, size, begins_behind, &l) || l.found || l.end != size;
}

struct wire_index_entry index_entry(const struct wire_packet *p, uint64_t offset)
{
	return (struct wire_index_entry){
		.offset = htobe64(offset),
		.packet_size = htobe64(le64toh(p->packet_size)),
		.content_size = htobe64(le64toh(p->content_size)),
		.timestamp_begin = htobe64(le64toh(p->timestamp_begin)),
		.timestamp_end = htobe64(le64toh(p->timestamp_end)),
		.events_discarded = htobe64(le64toh(p->events_discarded)),
		.packet_seq_num = htobe64(le64toh(p->packet_seq_num)),
	};
}

int index_create(const char *trace, int how, struct cvl_error *err)
{
	const struct wire_index_header h = {
		htobe32(WIRE_INDEX_MAGIC),
		htobe32(1),
		htobe32(1),
		htobe32(sizeof(struct wire_index_entry)),
	};
	char folder[CVL_PATH_MAX], path[CVL_PATH_MAX];
	int fd, rc;

	if (!cvl_path_join(folder, trace, "index") ||
	    !cvl_path_join(path, folder, WIRE_STREAM_FILE ".idx"))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", trace);
	if (mkdir(folder, 0777) && errno != EEXIST)
		return cvl_fail_errno(err, "make the directory", folder);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
	if (fd < 0)
		return cvl_fail_errno(err, "create", path);
	if (write(fd, &h, sizeof(h)) == sizeof(h))
		return fd;
	rc = cvl_fail_errno(err, "write", path);
	close(fd);
	return rc;
}
