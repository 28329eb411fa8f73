/* SPDX-License-Identifier: MIT */
#include "core/knots_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sha256.h"

struct knots_writer {
	int fd;
	char *path;
	struct cvl_knot first, last;
	uint64_t n;    /* knots that were put */
	uint64_t full; /* blocks that were written */
	bool lost;     /* what the kernel failed to sync, it no longer knows of */
	struct wire_state newest, durable;
	struct sha256_ctx sha;   /* of the full blocks */
	struct wire_block block; /* knots that are in none of them */
};

static uint64_t bits_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return htole64(bits);
}

static struct wire_knot to_wire(const struct cvl_knot *k)
{
	return (struct wire_knot){ htole64(k->tick.count), (int64_t)htole64((uint64_t)k->time.ns),
				   (int64_t)htole64((uint64_t)k->bound_ns), htole32(k->frac), 0 };
}

static struct wire_edge edge_to(const struct cvl_map_edge *e)
{
	return (struct wire_edge){ bits_of(e->rate_ppb), bits_of(e->drift_ppb),
				   bits_of(e->wander_ppb_s) };
}

static uint32_t in_block(const struct knots_writer *w)
{
	return (uint32_t)(w->n - w->full * KNOTS_IN_BLOCK);
}

/* Open @path, lock it, and make room for header and tails. */
static int open_new(const char *path, int *fd, struct cvl_error *err)
{
	struct stat st;
	int rc;

	*fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (*fd < 0)
		return cvl_fail_errno(err, "create", path);
	if (flock(*fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		rc = cvl_fail(err, CVL_E_IO, CVL_NO_OFFSET, "%s: is being written already", path);
	else if (fstat(*fd, &st))
		rc = cvl_fail_errno(err, "create", path);
	else if (st.st_size)
		rc = cvl_fail(err, CVL_E_IO, CVL_NO_OFFSET, "%s: exists already", path);
	else if (ftruncate(*fd, KNOTS_HEAD * KNOTS_BLOCK))
		rc = cvl_fail_errno(err, "create", path);
	else
		return 0;
	close(*fd);
	return rc;
}

int knots_create(struct knots_writer **out, const char *path, struct cvl_error *err)
{
	struct knots_writer *w = calloc(1, sizeof(*w));
	int rc;

	*out = NULL;
	if (w)
		w->path = strdup(path);
	rc = w && w->path ? open_new(path, &w->fd, err) : cvl_no_memory(err);
	if (!rc) {
		sha256_init(&w->sha);
		*out = w;
		return 0;
	}
	if (w)
		free(w->path);
	free(w);
	return rc;
}

static int put_block(struct knots_writer *w, void *block, uint64_t at, struct cvl_error *err)
{
	const uint32_t crc = htole32(knots_crc(block));
	const char *p = block;
	size_t left = KNOTS_BLOCK;

	memcpy(block, &crc, sizeof(crc));
	while (left) {
		ssize_t put = pwrite(w->fd, p, left, (off_t)at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return cvl_fail_errno(err, "write", w->path);
		p += put;
		at += (uint64_t)put;
		left -= (size_t)put;
	}
	return 0;
}

/* Write the knots that are in no full block. */
static int put_rest(struct knots_writer *w, uint64_t at, struct cvl_error *err)
{
	w->block.n = htole32(in_block(w));
	w->block.number = htole64(w->full * KNOTS_IN_BLOCK);
	return put_block(w, &w->block, at, err);
}

static int put_full(struct knots_writer *w, struct cvl_error *err)
{
	int rc;

	if (in_block(w) < KNOTS_IN_BLOCK)
		return 0;
	rc = put_rest(w, knots_full_at(w->full), err);
	if (rc)
		return rc;
	sha256_update(&w->sha, KNOTS_BLOCK, (const uint8_t *)&w->block);
	memset(&w->block, 0, sizeof(w->block));
	w->full++;
	return 0;
}

int knots_put(struct knots_writer *w, const struct cvl_knot *knot, struct cvl_error *err)
{
	int rc;

	if (knot->bound_ns < 0)
		return cvl_fail(err, CVL_E_RANGE, w->n, "%s: a knot has a negative bound", w->path);
	if (w->n && !knots_ordered(&w->last, knot))
		return cvl_fail(err, CVL_E_ORDER, w->n, "%s: a knot is out of order", w->path);
	rc = put_full(w, err);
	if (rc)
		return rc;
	w->last = *knot;
	if (!w->n)
		w->first = *knot;
	w->block.knot[in_block(w)] = to_wire(knot);
	w->n++;
	return 0;
}

/* One that neither the newest commit nor the last durable one has its tail in. */
static uint32_t free_slot(const struct knots_writer *w)
{
	uint32_t slot = 0;

	while ((w->newest.n && le32toh(w->newest.slot) == slot) ||
	       (w->durable.n && le32toh(w->durable.slot) == slot))
		slot++;
	return slot;
}

static struct wire_state state_of(const struct knots_writer *w, const struct cvl_map_spec *spec)
{
	return (struct wire_state){ .n = htole64(w->n),
				    .rate_hz = htole64(spec->rate_hz),
				    .kind = htole32((uint32_t)spec->kind),
				    .before = edge_to(&spec->before),
				    .after = edge_to(&spec->after),
				    .first = to_wire(&w->first),
				    .last = to_wire(&w->last) };
}

/* @block, of KNOTS_BLOCK bytes, becomes the header. */
static void make_header(uint8_t *block, const struct wire_state *newest,
			const struct wire_state *durable)
{
	const struct wire_header h = { .version = htole32(KNOTS_VERSION),
				       .magic = KNOTS_MAGIC,
				       .newest = *newest,
				       .durable = *durable };

	memset(block, 0, KNOTS_BLOCK);
	memcpy(block, &h, sizeof(h));
}

static int sync_file(struct knots_writer *w, struct cvl_error *err)
{
	if (w->lost)
		errno = EIO;
	else if (!fdatasync(w->fd))
		return 0;
	w->lost = true;
	return cvl_fail_errno(err, "sync", w->path);
}

int knots_commit(struct knots_writer *w, const struct cvl_map_spec *spec, bool durable,
		 struct cvl_error *err)
{
	/* aligned, so that it is copied to the kernel's page in one step */
	_Alignas(KNOTS_BLOCK) uint8_t header[KNOTS_BLOCK];
	struct wire_state state;
	int rc;

	if (!w->n)
		return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET, "%s: a map needs a knot", w->path);
	rc = put_full(w, err);
	state = state_of(w, spec);
	state.slot = htole32(free_slot(w));
	if (!rc && in_block(w))
		rc = put_rest(w, knots_slot_at(le32toh(state.slot)), err);
	if (!rc && durable)
		rc = sync_file(w, err);
	if (rc)
		return rc;
	make_header(header, &state, durable ? &state : &w->durable);
	rc = put_block(w, header, 0, err);
	if (rc)
		return rc;
	w->newest = state;
	if (durable)
		rc = sync_file(w, err);
	if (durable && !rc)
		w->durable = state;
	return rc;
}

/* Digest of the full blocks, the tail and the header, as if there had been one commit. */
static void digest_of(struct knots_writer *w, const struct cvl_map_spec *spec,
		      char digest[CVL_MAP_DIGEST])
{
	const struct wire_state state = state_of(w, spec), none = { 0 };
	uint8_t header[KNOTS_BLOCK];
	uint32_t crc;

	if (in_block(w))
		sha256_update(&w->sha, KNOTS_BLOCK, (const uint8_t *)&w->block);
	make_header(header, &state, &none);
	crc = htole32(knots_crc(header));
	memcpy(header, &crc, sizeof(crc));
	sha256_update(&w->sha, KNOTS_BLOCK, header);
	cvl_sha256_digits(&w->sha, digest);
}

int knots_finish(struct knots_writer *w, const struct cvl_map_spec *spec,
		 char digest[CVL_MAP_DIGEST], struct cvl_error *err)
{
	int rc = spec ? knots_commit(w, spec, false, err) : 0;

	if (spec && !rc && digest)
		digest_of(w, spec, digest);
	if (!w->newest.n)
		unlink(w->path);
	if (close(w->fd) && spec && !rc)
		rc = cvl_fail_errno(err, "write", w->path);
	free(w->path);
	free(w);
	return rc;
}
