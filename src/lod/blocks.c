/* SPDX-License-Identifier: MIT */
#include "lod/blocks.h"

#include <coeval/array.h>
#include <coeval/files.h>

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/crc32c.h"
#include "lod/build.h"

#define BLOCK_BYTES 8192
#define NUMBER_MAX 10 /* bytes */

/* ---- a cell ---- */

unsigned char *lod_number_put(unsigned char *w, uint64_t v)
{
	for (; v > 127; v >>= 7)
		*w++ = (unsigned char)(v | 128);
	*w++ = (unsigned char)v;
	return w;
}

/* NULL: it does not end. */
static inline const unsigned char *take_number(const unsigned char *p, const unsigned char *end,
					       uint64_t *v)
{
	*v = 0;
	for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
		*v |= (uint64_t)(*p & 127) << shift;
		if (!(*p++ & 128))
			return p;
	}
	return NULL;
}

static unsigned char *put_double(unsigned char *w, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	bits = htole64(bits);
	memcpy(w, &bits, sizeof(bits));
	return w + sizeof(bits);
}

static double take_double(const unsigned char *p)
{
	uint64_t bits;
	double v;

	memcpy(&bits, p, sizeof(bits));
	bits = le64toh(bits);
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static bool has_readings(uint32_t track, size_t channels)
{
	return track >= LOD_CHANNELS && track - LOD_CHANNELS < channels;
}

size_t lod_cell_room(const struct cvl_lod_cell *cell)
{
	return (4 + 3 * cell->n) * NUMBER_MAX + 24 * cell->n;
}

unsigned char *lod_cell_put(unsigned char *w, const struct cvl_lod_cell *c, uint64_t distance,
			    size_t channels)
{
	uint64_t lines = 0, odd = 0;
	uint32_t track = LOD_LINES;
	size_t n = 0;
	bool levels;

	for (; n < c->n && c->sum[n].track < LOD_LINES; n++) {
		lines |= (uint64_t)1 << c->sum[n].track;
		odd |= (c->sum[n].count & 1) << c->sum[n].track;
	}
	levels = (c->before.now ^ odd) != c->after.now || c->before.known != c->after.known;
	w = lod_number_put(w, distance);
	w = lod_number_put(w, lines);
	for (size_t i = 0; i < n; i++) {
		w = lod_number_put(w, c->sum[i].count);
		w = lod_number_put(w, c->sum[i].ticks);
	}
	w = lod_number_put(w, (uint64_t)(c->n - n) << 1 | levels);
	for (size_t i = n; i < c->n; i++) {
		const struct cvl_lod_sum *s = &c->sum[i];

		w = lod_number_put(w, s->track - track);
		w = lod_number_put(w, s->count);
		if (s->track == LOD_KINDS + CVL_GAP)
			w = lod_number_put(w, s->ticks);
		if (has_readings(s->track, channels)) {
			w = put_double(w, s->min);
			w = put_double(w, s->max);
			w = put_double(w, s->total);
		}
		track = s->track;
	}
	if (levels) {
		w = lod_number_put(w, c->after.now);
		w = lod_number_put(w, c->after.known);
	}
	return w;
}

/*
 * The cell at @p, whose sums go to @sum, in which @room are free. Its bucket and the levels before it
 * are set. NULL: not a cell.
 */
static const unsigned char *take_cell(const unsigned char *p, const unsigned char *end,
				      struct cvl_lod_cell *c, struct cvl_lod_sum **sum,
				      size_t *room, size_t channels)
{
	uint64_t lines, others, v, odd = 0;
	uint32_t track = LOD_LINES;
	size_t n = 0;

	p = take_number(p, end, &lines);
	while (*room < LOD_LINES)
		if (cvl_room(sum, *room, room, sizeof(**sum)))
			return NULL;
	for (; p && lines; lines &= lines - 1, n++) {
		struct cvl_lod_sum *s = &(*sum)[n];

		*s = (struct cvl_lod_sum){ .track = (uint32_t)__builtin_ctzll(lines) };
		p = take_number(p, end, &s->count);
		p = p ? take_number(p, end, &s->ticks) : NULL;
		odd |= (s->count & 1) << s->track;
	}
	p = p ? take_number(p, end, &others) : NULL;
	if (!p || others >> 1 > (uint64_t)(end - p))
		return NULL;
	c->n = n + (others >> 1);
	while (c->n > *room)
		if (cvl_room(sum, *room, room, sizeof(**sum)))
			return NULL;
	c->sum = *sum;
	for (; n < c->n; n++) {
		struct cvl_lod_sum *s = &(*sum)[n];

		p = take_number(p, end, &v);
		*s = (struct cvl_lod_sum){ .track = track += (uint32_t)v };
		p = p ? take_number(p, end, &s->count) : NULL;
		if (p && track == LOD_KINDS + CVL_GAP)
			p = take_number(p, end, &s->ticks);
		if (!p || (has_readings(track, channels) && end - p < 24))
			return NULL;
		if (has_readings(track, channels)) {
			s->min = take_double(p);
			s->max = take_double(p + 8);
			s->total = take_double(p + 16);
			p += 24;
		}
	}
	c->after = (struct cvl_levels){ c->before.now ^ odd, c->before.known };
	if (others & 1) {
		p = take_number(p, end, &c->after.now);
		p = p ? take_number(p, end, &c->after.known) : NULL;
	}
	return p;
}

/* ---- writing ---- */

static int close_block(struct lod_blocks *b, struct lod_list *l)
{
	struct lod_block *block = &l->open;

	if (cvl_room(&l->block, l->n, &l->room, sizeof(*l->block)) ||
	    spill_room(&b->spill, b->n_bytes + block->bytes))
		return CVL_E_NOMEM;
	memcpy((unsigned char *)b->spill.at + b->n_bytes, l->bytes, block->bytes);
	b->bytes = b->spill.at;
	block->at = b->n_bytes;
	block->crc = cvl_crc32c(0, l->bytes, block->bytes);
	b->n_bytes += block->bytes;
	l->block[l->n++] = *block;
	*block = (struct lod_block){ 0 };
	return 0;
}

uint64_t lod_cell_gap(const struct cvl_lod_cell *c, unsigned level)
{
	for (size_t i = c->n; i-- > 0;)
		if (c->sum[i].track == LOD_KINDS + CVL_GAP)
			return (c->bucket << 2 * level) + c->sum[i].ticks;
	return 0;
}

int lod_blocks_put(struct lod_blocks *b, unsigned level, const struct cvl_lod_cell *cell)
{
	struct lod_list *l = &b->level[level];
	const size_t need = l->open.bytes + lod_cell_room(cell);
	const uint64_t until = lod_cell_gap(cell, level);

	if (need > l->room_bytes) {
		unsigned char *grown = realloc(l->bytes, need + BLOCK_BYTES);

		if (!grown)
			return CVL_E_NOMEM;
		l->bytes = grown;
		l->room_bytes = need + BLOCK_BYTES;
	}
	if (!l->open.bytes) {
		l->open.first = l->open.last = cell->bucket;
		l->open.before = cell->before;
		l->open.gap_until = l->gap_until;
	}
	l->open.bytes = (uint32_t)(lod_cell_put(l->bytes + l->open.bytes, cell,
						cell->bucket - l->open.last, b->channels) -
				   l->bytes);
	l->open.last = cell->bucket;
	l->gap_until = until > l->gap_until ? until : l->gap_until;
	return l->open.bytes >= BLOCK_BYTES ? close_block(b, l) : 0;
}

void lod_blocks_free(struct lod_blocks *b)
{
	for (unsigned k = 0; k < CVL_LOD_LEVELS; k++) {
		free(b->level[k].block);
		free(b->level[k].bytes);
	}
	spill_free(&b->spill);
	if (b->mapped)
		munmap(b->file, b->file_bytes);
	*b = (struct lod_blocks){ 0 };
}

/* ---- reading ---- */

struct sums {
	struct cvl_lod_sum *sum;
	size_t room;
};

static void reach(struct lod_reading *r, uint64_t gap)
{
	if (gap > r->begin.gap_until)
		r->begin.gap_until = gap;
}

/* 1: there is no more to be read. */
static int read_block(const struct lod_blocks *b, unsigned level, const struct lod_block *block,
		      const unsigned char *bytes, struct lod_reading *r, struct sums *sums)
{
	const unsigned char *p = bytes, *const end = p + block->bytes;
	struct cvl_lod_cell c = { .bucket = block->first, .after = block->before };

	if (!r->known && block->first <= r->from) {
		r->begin.levels = block->before;
		reach(r, block->gap_until);
	}
	while (p < end) {
		uint64_t distance;
		int rc;

		c.before = c.after;
		p = take_number(p, end, &distance);
		c.bucket += p ? distance : 0;
		p = p ? take_cell(p, end, &c, &sums->sum, &sums->room, b->channels) : NULL;
		if (!p)
			return CVL_E_CHECKSUM;
		if (c.bucket > r->to)
			return 1;
		if (c.bucket < r->from) {
			r->begin.levels = c.after;
			reach(r, lod_cell_gap(&c, level));
			continue;
		}
		r->known = true;
		rc = r->see ? r->see(r->ctx, &c) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

/* The last block that begins at or before bucket @from; 0 if none does. */
static size_t first_block(const struct lod_list *l, uint64_t from)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (l->block[mid].first <= from)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? low - 1 : 0;
}

int lod_blocks_read(const struct lod_blocks *b, unsigned level, struct lod_reading *r)
{
	const struct lod_list *l = &b->level[level];
	struct sums sums = { 0 };
	int rc = 0;

	for (size_t i = first_block(l, r->from); i < l->n && !rc; i++) {
		const struct lod_block *block = &l->block[i];

		if (block->first > r->to)
			break;
		if (b->mapped && cvl_crc32c(0, b->bytes + block->at, block->bytes) != block->crc)
			rc = CVL_E_CHECKSUM;
		else
			rc = read_block(b, level, block, b->bytes + block->at, r, &sums);
	}
	if (!rc && l->open.bytes && l->open.first <= r->to)
		rc = read_block(b, level, &l->open, l->bytes, r, &sums);
	free(sums.sum);
	return rc > 0 ? 0 : rc;
}

/* ---- the file ---- */

/*
 * Little-endian: a head, the blocks of all levels, their bytes. Levels are in turn, and each says how
 * many blocks it has.
 */
#define MAGIC "coeval levels 1\n"
#define TEXT_BYTES 240
#define FACTS 4

struct head {
	char magic[16];
	char text[TEXT_BYTES];
	uint64_t facts[FACTS], channels;
	uint64_t blocks[CVL_LOD_LEVELS];
	uint64_t bytes;
	uint64_t order;           /* of bytes: what is written elsewhere is made again */
	uint32_t crc_blocks, crc; /* of all blocks; of the head, with 0 here */
};

#define ORDER UINT64_C(0x0102030405060708)

static uint32_t head_crc(struct head h)
{
	h.crc = 0;
	return cvl_crc32c(0, &h, sizeof(h));
}

static bool put_all(FILE *f, const void *bytes, size_t n)
{
	return !n || fwrite(bytes, 1, n, f) == n;
}

/*
 * The file that becomes the other one once it is whole: what a killed process left is written over. NULL:
 * it cannot be made, or another process is writing it.
 */
static FILE *open_beside(const char *beside)
{
	const int fd = open(beside, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	struct stat own, there;
	FILE *f;

	if (fd < 0)
		return NULL;
	/* it may have got its final name before it was locked */
	if (flock(fd, LOCK_EX | LOCK_NB) || fstat(fd, &own) || stat(beside, &there) ||
	    own.st_ino != there.st_ino || ftruncate(fd, 0)) {
		close(fd);
		return NULL;
	}
	f = fdopen(fd, "w");
	if (!f)
		close(fd);
	return f;
}

int lod_blocks_save(struct lod_blocks *b, const char *path, const char *text,
		    const uint64_t facts[FACTS], struct cvl_error *err)
{
	struct head h = { .channels = b->channels, .order = ORDER };
	char beside[CVL_PATH_MAX];
	bool ok = true;
	FILE *f;
	int rc;

	memcpy(h.magic, MAGIC, sizeof(h.magic));
	snprintf(h.text, sizeof(h.text), "%s", text);
	memcpy(h.facts, facts, sizeof(h.facts));
	if ((size_t)snprintf(beside, sizeof(beside), "%s.new", path) >= sizeof(beside))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", path);
	for (unsigned k = 0; k < CVL_LOD_LEVELS; k++) {
		struct lod_list *l = &b->level[k];

		if (l->open.bytes && close_block(b, l))
			return cvl_no_memory(err);
		h.blocks[k] = l->n;
		h.crc_blocks = cvl_crc32c(h.crc_blocks, l->block, l->n * sizeof(*l->block));
	}
	h.bytes = b->n_bytes;
	h.crc = head_crc(h);
	f = open_beside(beside);
	if (!f)
		return cvl_fail_errno(err, "write", beside);
	ok = put_all(f, &h, sizeof(h));
	for (unsigned k = 0; k < CVL_LOD_LEVELS && ok; k++)
		ok = put_all(f, b->level[k].block, b->level[k].n * sizeof(struct lod_block));
	ok = ok && put_all(f, b->bytes, b->n_bytes) && !fflush(f);
	rc = ok && !rename(beside, path) ? 0 : cvl_fail_errno(err, "write", path);
	if (rc)
		unlink(beside);
	fclose(f); /* it was locked up to here */
	return rc;
}

/* Whether the head at @p, of @n bytes in all, is intact and of @text. */
static bool good_head(const void *p, size_t n, const char *text, struct head *h)
{
	uint64_t blocks = 0;

	if (n < sizeof(*h))
		return false;
	memcpy(h, p, sizeof(*h));
	if (memcmp(h->magic, MAGIC, sizeof(h->magic)) || head_crc(*h) != h->crc ||
	    h->order != ORDER || h->channels > UINT16_MAX + 1u ||
	    strnlen(h->text, TEXT_BYTES) == TEXT_BYTES || strcmp(h->text, text))
		return false;
	n -= sizeof(*h);
	for (unsigned k = 0; k < CVL_LOD_LEVELS; k++) {
		if (h->blocks[k] > n)
			return false;
		blocks += h->blocks[k];
	}
	return blocks <= n / sizeof(struct lod_block) &&
	       h->bytes == n - blocks * sizeof(struct lod_block) &&
	       h->crc_blocks == cvl_crc32c(0, (const char *)p + sizeof(*h),
					   blocks * sizeof(struct lod_block));
}

static int take_blocks(struct lod_blocks *b, const struct head *h, const char *p)
{
	p += sizeof(*h);
	for (unsigned k = 0; k < CVL_LOD_LEVELS; k++) {
		struct lod_list *l = &b->level[k];
		const size_t bytes = h->blocks[k] * sizeof(*l->block);

		l->n = l->room = h->blocks[k];
		l->block = malloc(bytes + 1);
		if (!l->block)
			return CVL_E_NOMEM;
		memcpy(l->block, p, bytes);
		p += bytes;
		for (size_t i = 0; i < l->n; i++)
			if (l->block[i].at > h->bytes ||
			    l->block[i].bytes > h->bytes - l->block[i].at)
				return CVL_E_CHECKSUM;
	}
	b->bytes = (const unsigned char *)p;
	b->n_bytes = h->bytes;
	return 0;
}

int lod_blocks_load(struct lod_blocks *b, const char *path, const char *text, uint64_t facts[FACTS],
		    struct cvl_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = CVL_E_MISSING;
	struct stat st;
	struct head h;

	*b = (struct lod_blocks){ 0 };
	if (fd < 0)
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET, "%s: no such file", path);
	if (!fstat(fd, &st) && st.st_size > 0)
		b->file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (!b->file || b->file == MAP_FAILED) {
		b->file = NULL;
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET, "%s: empty", path);
	}
	b->mapped = true;
	b->file_bytes = (size_t)st.st_size;
	if (good_head(b->file, b->file_bytes, text, &h)) {
		b->channels = h.channels;
		memcpy(facts, h.facts, sizeof(h.facts));
		rc = take_blocks(b, &h, b->file);
	}
	if (!rc)
		return 0;
	lod_blocks_free(b);
	return cvl_fail(err, rc == CVL_E_NOMEM ? CVL_E_NOMEM : CVL_E_MISSING, CVL_NO_OFFSET,
			"%s: made from something else, or damaged", path);
}
