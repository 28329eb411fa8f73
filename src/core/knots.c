/* SPDX-License-Identifier: MIT */
#include "core/knots_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What a writer is changing is read so many times, with a pause between. */
#define TRIES 100
#define PAUSE_NS 1000000

static double of_bits(uint64_t bits)
{
	double v;

	bits = le64toh(bits);
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static struct cvl_knot from_wire(const struct wire_knot *w)
{
	return (struct cvl_knot){ { le64toh(w->tick) },
				  { (int64_t)le64toh((uint64_t)w->ns) },
				  le32toh(w->frac),
				  (int64_t)le64toh((uint64_t)w->bound_ns) };
}

/* So many pages are in memory at most, and around each of them what the kernel adds to a fault. */
#define PAGES_HELD 16

enum block_state { UNREAD, GOOD, BAD };

struct knots {
	char *path;
	const uint8_t *bytes; /* mapped up to the last full block */
	size_t size, blocks, n;
	struct cvl_map_spec spec;
	struct cvl_knot first, last;
	uint32_t slot;
	struct wire_block tail; /* a copy: its slot will be overwritten */
	atomic_size_t recent;   /* block in which knots were last found */
	atomic_size_t held;     /* blocks read since pages were last given back */
	atomic_size_t bad;      /* number of the first damaged block seen; SIZE_MAX: none */
	atomic_uchar *state;    /* of each block */
};

static bool is_tail(const struct knots *k, size_t i)
{
	return i == k->n / KNOTS_IN_BLOCK;
}

static const struct wire_block *block_at(const struct knots *k, size_t i)
{
	if (is_tail(k, i))
		return &k->tail;
	return (const struct wire_block *)(const void *)(k->bytes + knots_full_at(i));
}

static size_t knots_in(const struct knots *k, size_t i)
{
	return is_tail(k, i) ? k->n % KNOTS_IN_BLOCK : KNOTS_IN_BLOCK;
}

static bool is_right(const struct knots *k, size_t i)
{
	const struct wire_block *b = block_at(k, i);
	struct cvl_knot before = k->first;
	size_t n = knots_in(k, i);

	if (le32toh(b->crc) != knots_crc(b) || le32toh(b->n) != n ||
	    le64toh(b->number) != i * KNOTS_IN_BLOCK)
		return false;
	for (size_t j = 0; j < n; j++) {
		struct cvl_knot at = from_wire(&b->knot[j]);

		if (at.bound_ns < 0 || ((i || j) && !knots_ordered(&before, &at)))
			return false;
		if (!i && !j &&
		    (at.tick.count != k->first.tick.count || at.time.ns != k->first.time.ns ||
		     at.frac != k->first.frac))
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
	if (!knots_ordered(&p->a,
			   &p->b)) /* each block is right, but they do not follow each other */
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
	uint64_t at;

	if (bad == SIZE_MAX)
		return false;
	at = is_tail(k, bad) ? knots_slot_at(k->slot) : knots_full_at(bad);
	cvl_fail(
		err, CVL_E_CHECKSUM, at,
		"%s:%" PRIu64
		": damaged: %zu knots of the clock map are lost, and the bound around them is unknown",
		k->path, at, knots_in(k, bad));
	return true;
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

/* ---- opening ---- */

/* The blocks that a writer overwrites. */
struct head {
	uint8_t header[KNOTS_BLOCK];
	struct wire_block slot[KNOTS_SLOTS];
};

static struct cvl_map_edge edge_from(const struct wire_edge *w)
{
	return (struct cvl_map_edge){ of_bits(w->rate_ppb), of_bits(w->drift_ppb),
				      of_bits(w->wander_ppb_s) };
}

static int bad_header(const struct knots *k, const char *what, struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_SYNTAX, 0, "%s:0: not a file of knots: %s", k->path, what);
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
	return !*bytes && !memcmp(bytes, bytes + 1, n - 1);
}

/* @torn: it may have been overwritten just now. */
static int read_header(const struct knots *k, int fd, struct head *head, struct wire_header *h,
		       bool *torn, struct cvl_error *err)
{
	ssize_t got;

	*torn = false;
	memset(head, 0, sizeof(*head));
	while ((got = pread(fd, head, sizeof(*head), 0)) < 0 && errno == EINTR)
		;
	if (got < 0)
		return cvl_fail_errno(err, "read", k->path);
	if (is_zero(head->header, sizeof(*h)))
		return cvl_fail(err, CVL_E_MISSING, 0,
				"%s:0: there is no header: nothing was committed", k->path);
	memcpy(h, head->header, sizeof(*h));
	*torn = le32toh(h->crc) != knots_crc(head->header);
	if (memcmp(h->magic, KNOTS_MAGIC, sizeof(h->magic)) != 0)
		return bad_header(k, "it begins with something else", err);
	if (le32toh(h->version) != KNOTS_VERSION)
		return cvl_fail(err, CVL_E_UNSUPPORTED, 0,
				"%s:0: has version %u; this coeval reads version %d", k->path,
				le32toh(h->version), KNOTS_VERSION);
	return *torn ? cvl_fail(err, CVL_E_CHECKSUM, 0, "%s:0: the header is damaged", k->path) : 0;
}

static int read_state(struct knots *k, const struct wire_state *s, struct cvl_error *err)
{
	const uint64_t n = le64toh(s->n);

	if (!n || n / KNOTS_IN_BLOCK > (uint64_t)PTRDIFF_MAX / KNOTS_BLOCK - KNOTS_HEAD - 1 ||
	    le32toh(s->kind) > CVL_BOUND_PROVEN || le32toh(s->slot) >= KNOTS_SLOTS)
		return bad_header(k, "a number is out of range", err);
	k->n = (size_t)n;
	k->slot = le32toh(s->slot);
	k->first = from_wire(&s->first);
	k->last = from_wire(&s->last);
	k->spec = (struct cvl_map_spec){ .rate_hz = le64toh(s->rate_hz),
					 .n = k->n,
					 .before = edge_from(&s->before),
					 .after = edge_from(&s->after),
					 .kind = (enum cvl_bound_kind)le32toh(s->kind) };
	if (k->first.bound_ns < 0 || k->last.bound_ns < 0 ||
	    (n > 1 ? !knots_ordered(&k->first, &k->last) :
		     memcmp(&s->first, &s->last, sizeof(s->first)) != 0))
		return bad_header(k, "its ends are not in order", err);
	return 0;
}

static void forget(struct knots *k)
{
	if (k->bytes)
		munmap((void *)(uintptr_t)k->bytes, k->size);
	free(k->state);
	k->bytes = NULL;
	k->state = NULL;
}

/* Let @k be the map of @s. */
static int take(struct knots *k, int fd, const struct head *head, const struct wire_state *s,
		struct cvl_error *err)
{
	int rc = read_state(k, s, err);
	struct stat st;
	void *map;

	forget(k);
	if (rc)
		return rc;
	k->tail = head->slot[k->slot];
	k->blocks = k->n / KNOTS_IN_BLOCK + (k->n % KNOTS_IN_BLOCK != 0);
	k->size = (size_t)knots_full_at(k->n / KNOTS_IN_BLOCK);
	/* after the header was read: what it counts is in the file by then */
	if (fstat(fd, &st))
		return cvl_fail_errno(err, "read", k->path);
	if ((uint64_t)st.st_size < k->size)
		return cvl_fail(err, CVL_E_SYNTAX, (uint64_t)st.st_size,
				"%s:%" PRIu64 ": ends here; it should have %zu bytes", k->path,
				(uint64_t)st.st_size, k->size);
	k->state = calloc(k->blocks, sizeof(*k->state));
	if (!k->state)
		return cvl_no_memory(err);
	map = mmap(NULL, k->size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return cvl_fail_errno(err, "map", k->path);
	k->bytes = map;
	return 0;
}

static bool is_damaged(const struct knots *k, size_t i)
{
	return i < k->blocks && !is_right(k, i);
}

/*
 * After a power failure the header may count knots that never reached the disk. As long as all
 * those of the last durable commit are there, it is followed nevertheless.
 */
static int read_once(struct knots *k, int fd, bool *torn, struct cvl_error *err)
{
	struct wire_header h;
	struct head head;
	uint64_t durable;
	int rc = read_header(k, fd, &head, &h, torn, err);

	if (rc)
		return rc;
	durable = le64toh(h.durable.n);
	rc = take(k, fd, &head, &h.newest, err);
	*torn = !rc && is_damaged(k, k->n / KNOTS_IN_BLOCK);
	if (durable &&
	    (rc || (durable % KNOTS_IN_BLOCK && is_damaged(k, (size_t)(durable / KNOTS_IN_BLOCK)))))
		rc = take(k, fd, &head, &h.durable, err);
	return rc;
}

/* Writers lock their file. */
static bool is_written(int fd)
{
	if (flock(fd, LOCK_SH | LOCK_NB))
		return errno == EWOULDBLOCK;
	flock(fd, LOCK_UN);
	return false;
}

static int read_file(struct knots *k, int fd, struct cvl_error *err)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	bool torn = false, written = true;
	int rc = read_once(k, fd, &torn, err);

	for (int i = 0; torn && written && i < TRIES; i++) {
		written = is_written(fd);
		if (written)
			nanosleep(&pause, NULL);
		rc = read_once(k, fd, &torn, err);
	}
	return rc;
}

int knots_open(struct knots **out, const char *path, struct cvl_map_spec *spec,
	       struct cvl_knot ends[2], struct cvl_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	struct knots *k;

	*out = NULL;
	if (fd < 0)
		return cvl_fail_errno(err, "open", path);
	k = calloc(1, sizeof(*k));
	if (k)
		k->path = strdup(path);
	rc = k && k->path ? read_file(k, fd, err) : cvl_no_memory(err);
	close(fd);
	if (rc) {
		knots_close(k);
		return rc;
	}
	atomic_store(&k->bad, SIZE_MAX);
	if (k->n % KNOTS_IN_BLOCK)
		read_block(k, k->blocks - 1); /* whether it is damaged is known now */
	*spec = k->spec;
	ends[0] = k->first;
	ends[1] = k->last;
	*out = k;
	return 0;
}

void knots_close(struct knots *k)
{
	if (!k)
		return;
	forget(k);
	free(k->path);
	free(k);
}
