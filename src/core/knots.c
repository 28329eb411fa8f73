/* SPDX-License-Identifier: MIT */
#include "core/knots.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/crc32c.h"
#include "core/sha256.h"

#define MAGIC "coevalkn"
#define VERSION 1

/* All numbers are little-endian; doubles are written as the 64 bits of IEEE 754. */
struct wire_knot {
	uint64_t tick;
	int64_t ns;
	int64_t bound_ns;
	uint32_t frac;
	uint32_t zero;
};

struct wire_edge {
	uint64_t rate_ppb, drift_ppb, wander_ppb_s;
};

struct wire_header {
	uint32_t crc; /* of the rest of the block, as in every block */
	uint32_t version;
	char magic[8];
	uint64_t n;
	uint64_t rate_hz;
	uint32_t kind;
	uint32_t zero;
	struct wire_edge before, after;
	struct wire_knot first, last;
};

struct wire_block {
	uint32_t crc;
	uint32_t n;      /* knots in it */
	uint64_t number; /* of its first knot */
	struct wire_knot knot[KNOTS_IN_BLOCK];
	uint8_t rest[KNOTS_BLOCK - 16 - KNOTS_IN_BLOCK * sizeof(struct wire_knot)];
};

_Static_assert(CVL_BOUND_NONE == 0 && CVL_BOUND_GUESS == 1 && CVL_BOUND_STATISTICAL == 2 &&
		       CVL_BOUND_PROVEN == 3,
	       "kinds are stored as these numbers");
_Static_assert(CVL_MAP_DIGEST == CVL_SHA256_TEXT, "the digest is a SHA-256");
_Static_assert(sizeof(struct wire_knot) == 32, "no padding");
_Static_assert(sizeof(struct wire_header) == 152, "no padding");
_Static_assert(sizeof(struct wire_block) == KNOTS_BLOCK, "a block is a page");

static uint32_t crc_of(const void *block)
{
	return cvl_crc32c(0, (const uint8_t *)block + 4, KNOTS_BLOCK - 4);
}

static uint64_t bits_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return htole64(bits);
}

static double of_bits(uint64_t bits)
{
	double v;

	bits = le64toh(bits);
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static struct wire_knot to_wire(const struct cvl_knot *k)
{
	return (struct wire_knot){ htole64(k->tick.count), (int64_t)htole64((uint64_t)k->time.ns),
				   (int64_t)htole64((uint64_t)k->bound_ns), htole32(k->frac), 0 };
}

static struct cvl_knot from_wire(const struct wire_knot *w)
{
	return (struct cvl_knot){ { le64toh(w->tick) },
				  { (int64_t)le64toh((uint64_t)w->ns) },
				  le32toh(w->frac),
				  (int64_t)le64toh((uint64_t)w->bound_ns) };
}

static bool ordered(const struct cvl_knot *a, const struct cvl_knot *b)
{
	return a->tick.count < b->tick.count &&
	       (a->time.ns < b->time.ns || (a->time.ns == b->time.ns && a->frac <= b->frac));
}

/* ---- reading ---- */

/* So many pages are in memory at most, and around each of them what the kernel adds to a fault. */
#define PAGES_HELD 16

enum block_state { UNREAD, GOOD, BAD };

struct knots {
	char *path;
	const uint8_t *bytes; /* mapped */
	size_t size, blocks, n;
	struct cvl_knot first, last;
	atomic_size_t recent; /* block in which knots were last found */
	atomic_size_t held;   /* blocks read since pages were last given back */
	atomic_size_t bad;    /* number of the first damaged block seen; SIZE_MAX: none */
	atomic_uchar state[]; /* of each block */
};

static const struct wire_block *block_at(const struct knots *k, size_t i)
{
	return (const struct wire_block *)(const void *)(k->bytes + (i + 1) * KNOTS_BLOCK);
}

static size_t knots_in(const struct knots *k, size_t i)
{
	return i + 1 < k->blocks ? KNOTS_IN_BLOCK : k->n - i * KNOTS_IN_BLOCK;
}

static bool is_right(const struct knots *k, size_t i)
{
	const struct wire_block *b = block_at(k, i);
	struct cvl_knot before = k->first;
	size_t n = knots_in(k, i);

	if (le32toh(b->crc) != crc_of(b) || le32toh(b->n) != n ||
	    le64toh(b->number) != i * KNOTS_IN_BLOCK)
		return false;
	for (size_t j = 0; j < n; j++) {
		struct cvl_knot at = from_wire(&b->knot[j]);

		if (at.bound_ns < 0 || ((i || j) && !ordered(&before, &at)))
			return false;
		before = at;
	}
	return before.tick.count <= k->last.tick.count && before.time.ns <= k->last.time.ns;
}

/* Block @i, or NULL if it is damaged. */
static const struct wire_block *read_block(struct knots *k, size_t i)
{
	unsigned char state = atomic_load_explicit(&k->state[i], memory_order_relaxed);

	if (state == UNREAD) {
		size_t none = SIZE_MAX;

		state = is_right(k, i) ? GOOD : BAD;
		atomic_store_explicit(&k->state[i], state, memory_order_relaxed);
		atomic_fetch_add_explicit(&k->held, 1, memory_order_relaxed);
		if (state == BAD)
			atomic_compare_exchange_strong(&k->bad, &none, i);
	}
	return state == GOOD ? block_at(k, i) : NULL;
}

/* Pages given back are read again when needed, and then compared again. */
static void give_back(struct knots *k, size_t most)
{
	unsigned char good;

	if (atomic_load_explicit(&k->held, memory_order_relaxed) <= most)
		return;
	atomic_store_explicit(&k->held, 0, memory_order_relaxed);
	for (size_t i = 0; i < k->blocks; i++) {
		good = GOOD;
		atomic_compare_exchange_strong_explicit(&k->state[i], &good, UNREAD,
							memory_order_relaxed, memory_order_relaxed);
	}
	madvise((void *)(uintptr_t)k->bytes, k->size, MADV_DONTNEED);
}

const char *knots_path(const struct knots *k)
{
	return k->path;
}

/* A place: a tick or a time. */
struct place {
	bool by_time;
	uint64_t tick;
	int64_t ns;
};

static bool not_after(const struct wire_knot *w, const struct place *at)
{
	return at->by_time ? (int64_t)le64toh((uint64_t)w->ns) <= at->ns :
			     le64toh(w->tick) <= at->tick;
}

/* The last good block that begins not after @at; blocks if there is none. */
static size_t find_block(struct knots *k, const struct place *at)
{
	size_t low = 0, high = k->blocks, found = k->blocks;

	while (low < high) {
		size_t mid = (low + high) / 2, good = mid;
		const struct wire_block *b = NULL;

		while (good < high && !(b = read_block(k, good)))
			good++;
		if (b && not_after(&b->knot[0], at)) {
			found = good;
			low = good + 1;
		} else {
			high = mid;
		}
	}
	return found;
}

/* Whether the knots around @at begin in block @i. */
static bool holds(struct knots *k, size_t i, const struct place *at)
{
	const struct wire_block *b = i < k->blocks ? read_block(k, i) : NULL, *next;

	if (!b || !not_after(&b->knot[0], at))
		return false;
	if (!not_after(&b->knot[knots_in(k, i) - 1], at))
		return true;
	next = i + 1 < k->blocks ? read_block(k, i + 1) : NULL;
	return next && !not_after(&next->knot[0], at);
}

static void find(struct knots *k, const struct place *at, struct knots_pair *p)
{
	size_t i = atomic_load_explicit(&k->recent, memory_order_relaxed), low = 0, high;
	const struct wire_block *b;

	*p = (struct knots_pair){ .a = k->first, .b = k->last };
	if (!holds(k, i, at) && !holds(k, ++i, at)) {
		i = find_block(k, at);
		give_back(k, 0);
	}
	give_back(k, PAGES_HELD);
	b = i < k->blocks ? read_block(k, i) : NULL;
	if (b) {
		atomic_store_explicit(&k->recent, i, memory_order_relaxed);
		high = knots_in(k, i);
		while (low < high) {
			size_t mid = (low + high) / 2;

			if (not_after(&b->knot[mid], at))
				low = mid + 1;
			else
				high = mid;
		}
		if (low)
			p->a = from_wire(&b->knot[low - 1]);
		if (low && low < knots_in(k, i)) {
			p->b = from_wire(&b->knot[low]);
			return;
		}
	} else {
		i = SIZE_MAX; /* everything up to the next good block is lost */
		p->damaged = true;
	}
	while (++i < k->blocks) {
		b = read_block(k, i);
		if (b && !not_after(&b->knot[0], at)) {
			p->b = from_wire(&b->knot[0]);
			break;
		}
		p->damaged = true;
	}
	if (!ordered(&p->a, &p->b)) /* each block is right, but they do not follow each other */
		*p = (struct knots_pair){ k->first, k->last, true };
}

void knots_at_tick(struct knots *k, uint64_t tick, struct knots_pair *p)
{
	find(k, &(struct place){ .tick = tick }, p);
}

void knots_at_time(struct knots *k, int64_t ns, struct knots_pair *p)
{
	find(k, &(struct place){ .by_time = true, .ns = ns }, p);
}

bool knots_get(struct knots *k, size_t i, struct cvl_knot *knot)
{
	const struct wire_block *b = read_block(k, i / KNOTS_IN_BLOCK);

	if (b)
		*knot = from_wire(&b->knot[i % KNOTS_IN_BLOCK]);
	give_back(k, PAGES_HELD);
	return b != NULL;
}

bool knots_damaged(const struct knots *k, struct cvl_error *err)
{
	size_t bad = atomic_load(&k->bad);

	if (bad < SIZE_MAX)
		cvl_fail(
			err, CVL_E_CHECKSUM, (bad + 1) * KNOTS_BLOCK,
			"%s:%zu: damaged: %zu knots of the clock map are lost, and the bound around them is unknown",
			k->path, (bad + 1) * KNOTS_BLOCK, knots_in(k, bad));
	return bad < SIZE_MAX;
}

size_t knots_verify(struct knots *k)
{
	size_t bad = 0;

	for (size_t i = 0; i < k->blocks; i++) {
		bad += !read_block(k, i);
		give_back(k, PAGES_HELD);
	}
	return bad;
}

static struct cvl_map_edge edge_from(const struct wire_edge *w)
{
	return (struct cvl_map_edge){ of_bits(w->rate_ppb), of_bits(w->drift_ppb),
				      of_bits(w->wander_ppb_s) };
}

static int bad_header(const char *path, const char *what, struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_SYNTAX, 0, "%s:0: not a file of knots: %s", path, what);
}

static int read_header(const uint8_t *block, const char *path, uint64_t size,
		       struct cvl_map_spec *spec, struct cvl_knot ends[2], struct cvl_error *err)
{
	struct wire_header h;
	uint64_t blocks;

	memcpy(&h, block, sizeof(h));
	if (memcmp(h.magic, MAGIC, sizeof(h.magic)) != 0)
		return bad_header(path, "it begins with something else", err);
	if (le32toh(h.version) != VERSION)
		return cvl_fail(err, CVL_E_UNSUPPORTED, 0,
				"%s:0: has version %u; this coeval reads version %d", path,
				le32toh(h.version), VERSION);
	if (le32toh(h.crc) != crc_of(block))
		return cvl_fail(err, CVL_E_CHECKSUM, 0, "%s:0: the header is damaged", path);
	blocks = le64toh(h.n) / KNOTS_IN_BLOCK + (le64toh(h.n) % KNOTS_IN_BLOCK != 0);
	if (!h.n || le32toh(h.kind) > CVL_BOUND_PROVEN ||
	    blocks > (uint64_t)INT64_MAX / KNOTS_BLOCK - 1)
		return bad_header(path, "a number is out of range", err);
	if (size != (blocks + 1) * KNOTS_BLOCK)
		return cvl_fail(err, CVL_E_SYNTAX, size,
				"%s:%" PRIu64 ": ends here; it should have %" PRIu64 " bytes", path,
				size, (blocks + 1) * KNOTS_BLOCK);
	*spec = (struct cvl_map_spec){ .rate_hz = le64toh(h.rate_hz),
				       .n = (size_t)le64toh(h.n),
				       .before = edge_from(&h.before),
				       .after = edge_from(&h.after),
				       .kind = (enum cvl_bound_kind)le32toh(h.kind) };
	ends[0] = from_wire(&h.first);
	ends[1] = from_wire(&h.last);
	if (ends[0].bound_ns < 0 || ends[1].bound_ns < 0 ||
	    (spec->n > 1 ? !ordered(&ends[0], &ends[1]) : ends[0].tick.count != ends[1].tick.count))
		return bad_header(path, "its ends are not in order", err);
	return 0;
}

int knots_open(struct knots **out, const char *path, struct cvl_map_spec *spec,
	       struct cvl_knot ends[2], struct cvl_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	uint8_t block[KNOTS_BLOCK];
	struct knots *k = NULL;
	size_t blocks;
	struct stat st;
	void *map;

	*out = NULL;
	if (fd < 0)
		return cvl_fail_errno(err, "open", path);
	if (fstat(fd, &st))
		rc = cvl_fail_errno(err, "open", path);
	else if (!S_ISREG(st.st_mode) || pread(fd, block, sizeof(block), 0) != sizeof(block))
		rc = bad_header(path, "it is too short", err);
	rc = rc ? rc : read_header(block, path, (uint64_t)st.st_size, spec, ends, err);
	if (rc)
		goto out;
	blocks = (size_t)st.st_size / KNOTS_BLOCK - 1;
	k = calloc(1, sizeof(*k) + blocks);
	if (k)
		k->path = strdup(path);
	if (!k || !k->path) {
		rc = cvl_no_memory(err);
		goto out;
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		rc = cvl_fail_errno(err, "map", path);
		goto out;
	}
	k->bytes = map;
	k->size = (size_t)st.st_size;
	k->blocks = blocks;
	k->n = spec->n;
	k->first = ends[0];
	k->last = ends[1];
	atomic_store(&k->bad, SIZE_MAX);
	*out = k;
	k = NULL;
out:
	knots_close(k);
	close(fd);
	return rc;
}

void knots_close(struct knots *k)
{
	if (!k)
		return;
	if (k->bytes)
		munmap((void *)(uintptr_t)k->bytes, k->size);
	free(k->path);
	free(k);
}

/* ---- writing ---- */

struct knots_writer {
	FILE *file;
	char *path;
	struct wire_knot first, last;
	uint64_t n;
	struct sha256_ctx sha;
	struct wire_block block;
};

int knots_create(struct knots_writer **out, const char *path, struct cvl_error *err)
{
	struct knots_writer *w = calloc(1, sizeof(*w));
	int rc;

	*out = w;
	if (!w || !(w->path = strdup(path))) {
		free(w);
		*out = NULL;
		return cvl_no_memory(err);
	}
	sha256_init(&w->sha);
	w->file = fopen(path, "we");
	/* the header comes last: a file that was not finished has none */
	if (w->file && !fseeko(w->file, KNOTS_BLOCK, SEEK_SET))
		return 0;
	*out = NULL;
	rc = cvl_fail_errno(err, "create", path);
	knots_finish(w, NULL, NULL, NULL);
	return rc;
}

static int put_block(struct knots_writer *w, void *block, struct cvl_error *err)
{
	const uint32_t crc = htole32(crc_of(block));

	memcpy(block, &crc, sizeof(crc));
	sha256_update(&w->sha, KNOTS_BLOCK, block);
	return fwrite(block, KNOTS_BLOCK, 1, w->file) == 1 ? 0 :
							     cvl_fail_errno(err, "write", w->path);
}

static int flush(struct knots_writer *w, struct cvl_error *err)
{
	const uint32_t n =
		(uint32_t)(w->n % KNOTS_IN_BLOCK ? w->n % KNOTS_IN_BLOCK : KNOTS_IN_BLOCK);
	int rc;

	w->block.n = htole32(n);
	w->block.number = htole64(w->n - n);
	rc = put_block(w, &w->block, err);
	memset(&w->block, 0, sizeof(w->block));
	return rc;
}

int knots_put(struct knots_writer *w, const struct cvl_knot *knot, struct cvl_error *err)
{
	w->last = to_wire(knot);
	if (!w->n)
		w->first = w->last;
	w->block.knot[w->n++ % KNOTS_IN_BLOCK] = w->last;
	return w->n % KNOTS_IN_BLOCK ? 0 : flush(w, err);
}

static struct wire_edge edge_to(const struct cvl_map_edge *e)
{
	return (struct wire_edge){ bits_of(e->rate_ppb), bits_of(e->drift_ppb),
				   bits_of(e->wander_ppb_s) };
}

static int put_header(struct knots_writer *w, const struct cvl_map_spec *spec,
		      struct cvl_error *err)
{
	const struct wire_header h = { .version = htole32(VERSION),
				       .magic = MAGIC,
				       .n = htole64(w->n),
				       .rate_hz = htole64(spec->rate_hz),
				       .kind = htole32((uint32_t)spec->kind),
				       .before = edge_to(&spec->before),
				       .after = edge_to(&spec->after),
				       .first = w->first,
				       .last = w->last };
	uint8_t block[KNOTS_BLOCK] = { 0 };

	memcpy(block, &h, sizeof(h));
	rewind(w->file);
	return put_block(w, block, err);
}

int knots_finish(struct knots_writer *w, const struct cvl_map_spec *spec,
		 char digest[CVL_MAP_DIGEST], struct cvl_error *err)
{
	int rc = 0;

	if (spec && w->n % KNOTS_IN_BLOCK)
		rc = flush(w, err);
	if (spec && !rc)
		rc = put_header(w, spec, err);
	if (w->file && fclose(w->file) && spec && !rc)
		rc = cvl_fail_errno(err, "write", w->path);
	if (!rc && digest)
		cvl_sha256_digits(&w->sha, digest);
	if (rc || !spec)
		unlink(w->path);
	free(w->path);
	free(w);
	return rc;
}
