/* SPDX-License-Identifier: MIT */
#include "export/fst_file.h"

#include "core/utf8.h"

#include <coeval/array.h>

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK_HEADER = 0, BLOCK_GEOMETRY = 3, BLOCK_HIERARCHY = 4, BLOCK_CHANGES = 8 };
enum { SCOPE = 254, SCOPE_END = 255, SCOPE_MODULE = 0 };
enum { VAR_REAL = 3, VAR_WIRE = 16, VAR_STRING = 21 };

#define HEADER_BYTES 330
#define VARINT_MAX 10
#define NAME_MAX_BYTES 500 /* GTKWave keeps as many */
/* Changes and times of a block before they are compressed. */
#define SECTION_BYTES ((size_t)4 << 20)
/* What is shorter is not worth compressing. */
#define SHORT 32
#define LEVEL 4
/* Times are close to random: a longer search takes time, and finds little. */
#define LEVEL_TIMES 1
#define GZIP 16 /* added to zlib's windowBits */

struct bytes {
	uint8_t *p;
	size_t n, cap;
};

struct var {
	struct bytes changes;
	uint32_t last;  /* index of the time of its last change */
	uint32_t value; /* where its value is */
	enum fst_type type;
};

struct fst {
	struct cvl_out out;
	int64_t zero;
	z_stream z, z_times;
	struct bytes hierarchy, geometry;
	struct var *var;
	struct bytes now, first; /* values; and those at the begin of the block */
	size_t n_vars, vars_room, scopes;
	uint64_t sections, end; /* of all */
	bool begun;
	/* the block */
	struct bytes times, block, index;
	uint32_t n_times;
	uint64_t begin;
	size_t pending; /* bytes of changes and times */
};

/* ---- bytes ---- */

static bool room(struct fst *f, struct bytes *b, size_t n)
{
	size_t cap = 2 * b->cap + n;
	uint8_t *grown;

	if (b->cap - b->n >= n)
		return true;
	grown = realloc(b->p, cap);
	if (!grown) {
		f->out.error = ENOMEM;
		return false;
	}
	b->p = grown;
	b->cap = cap;
	return true;
}

static void put(struct fst *f, struct bytes *b, const void *p, size_t n)
{
	if (!n || !room(f, b, n))
		return;
	memcpy(b->p + b->n, p, n);
	b->n += n;
}

static void put_u8(struct fst *f, struct bytes *b, uint8_t v)
{
	put(f, b, &v, 1);
}

static void put_u64(struct fst *f, struct bytes *b, uint64_t v)
{
	v = htobe64(v);
	put(f, b, &v, sizeof(v));
}

/* LEB128. */
static inline void put_varint(struct fst *f, struct bytes *b, uint64_t v)
{
	if (!room(f, b, VARINT_MAX))
		return;
	for (; v >= 0x80; v >>= 7)
		b->p[b->n++] = (uint8_t)(v | 0x80);
	b->p[b->n++] = (uint8_t)v;
}

/* The same of a number with a sign, @v >= 0: one bit more. */
static void put_signed(struct fst *f, struct bytes *b, uint64_t v)
{
	if (!room(f, b, VARINT_MAX))
		return;
	for (; v >= 0x40; v >>= 7)
		b->p[b->n++] = (uint8_t)(v | 0x80);
	b->p[b->n++] = (uint8_t)v;
}

/* Append @n bytes to @b by @z. Returns how many they became. */
static size_t deflate_to(struct fst *f, z_stream *z, struct bytes *b, const void *p, size_t n)
{
	const size_t most = deflateBound(z, n);

	if (!room(f, b, most))
		return 0;
	z->next_in = (uint8_t *)(uintptr_t)p;
	z->avail_in = (unsigned)n;
	z->next_out = b->p + b->n;
	z->avail_out = (unsigned)most;
	deflate(z, Z_FINISH);
	deflateReset(z);
	b->n += most - z->avail_out;
	return most - z->avail_out;
}

/* The same, or @n bytes as they are where that is not less. */
static size_t squeeze(struct fst *f, z_stream *z, struct bytes *b, const struct bytes *from)
{
	const size_t at = b->n;
	size_t n = from->n > SHORT ? deflate_to(f, z, b, from->p, from->n) : 0;

	if (n && n < from->n)
		return n;
	b->n = at;
	put(f, b, from->p, from->n);
	return from->n;
}

static void write_bytes(struct fst *f, const struct bytes *b)
{
	if (b->n)
		cvl_out_bytes(&f->out, (const char *)b->p, b->n);
}

static void write_u64(struct fst *f, uint64_t v)
{
	v = htobe64(v);
	cvl_out_bytes(&f->out, (const char *)&v, sizeof(v));
}

/* The head of a block of @n more bytes. */
static void write_head(struct fst *f, uint8_t type, size_t n)
{
	cvl_out_char(&f->out, (char)type);
	write_u64(f, n + 8);
}

/* ---- file ---- */

/* Times and counts are known at the end only. */
static void header(const struct fst *f, uint8_t out[HEADER_BYTES])
{
	const uint64_t memory = SECTION_BYTES, length = HEADER_BYTES - 1;
	const uint64_t numbers[] = { htobe64(memory), htobe64(f->scopes), htobe64(f->n_vars),
				     htobe64(f->n_vars), htobe64(f->sections) };
	const uint64_t times[] = { htobe64(length), 0, htobe64(f->end) };
	const uint64_t zero = htobe64((uint64_t)f->zero);
	const double e = 2.7182818284590452354; /* tells the byte order of reals */

	memset(out, 0, HEADER_BYTES);
	out[0] = BLOCK_HEADER;
	memcpy(out + 1, times, sizeof(times));
	memcpy(out + 25, &e, sizeof(e));
	memcpy(out + 33, numbers, sizeof(numbers));
	out[73] = (uint8_t)-9; /* ns */
	memcpy(out + 74, "coeval " COEVAL_VERSION, sizeof("coeval " COEVAL_VERSION));
	memcpy(out + HEADER_BYTES - sizeof(zero), &zero, sizeof(zero));
}

static void free_bytes(struct bytes *b)
{
	free(b->p);
	*b = (struct bytes){ 0 };
}

static void free_all(struct fst *f)
{
	for (size_t i = 0; i < f->n_vars; i++)
		free_bytes(&f->var[i].changes);
	free(f->var);
	free(f->hierarchy.p);
	free(f->geometry.p);
	free(f->now.p);
	free(f->first.p);
	free(f->times.p);
	free(f->block.p);
	free(f->index.p);
	deflateEnd(&f->z);
	deflateEnd(&f->z_times);
	free(f);
}

int fst_open(struct fst **out, const char *path, int64_t zero, struct cvl_error *err)
{
	struct fst *f = calloc(1, sizeof(*f));
	uint8_t empty[HEADER_BYTES] = { 0 };
	int rc;

	*out = NULL;
	if (!f)
		return cvl_no_memory(err);
	f->zero = zero;
	rc = deflateInit(&f->z, LEVEL) == Z_OK && deflateInit(&f->z_times, LEVEL_TIMES) == Z_OK ?
		     cvl_out_open(&f->out, path, err) :
		     cvl_no_memory(err);
	if (!rc && lseek(f->out.fd, 0, SEEK_CUR) < 0) {
		cvl_out_close(&f->out, NULL);
		rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			      "%s: an FST file cannot be written to a pipe: its header is "
			      "completed at the end",
			      path);
	}
	if (rc) {
		free_all(f);
		return rc;
	}
	cvl_out_bytes(&f->out, (const char *)empty, sizeof(empty));
	*out = f;
	return 0;
}

bool fst_failed(const struct fst *f)
{
	return f->out.error || f->out.closed;
}

/* ---- declarations ---- */

/* Names end at whitespace, as in VCD; what is no UTF-8 would end the reading of some programs. */
static void put_name(struct fst *f, const char *s)
{
	const size_t all = strnlen(s, NAME_MAX_BYTES);
	size_t len;

	for (size_t i = 0; i < all; i += len ? len : 1) {
		len = utf8_length(s + i, all - i);
		if (!len || (unsigned char)s[i] <= ' ' || s[i] == 0x7f || s[i] == '$')
			put_u8(f, &f->hierarchy, '_');
		else
			put(f, &f->hierarchy, s + i, len);
	}
	if (!all)
		put_u8(f, &f->hierarchy, '_');
	put_u8(f, &f->hierarchy, 0);
}

void fst_scope(struct fst *f, const char *name)
{
	put_u8(f, &f->hierarchy, name ? SCOPE : SCOPE_END);
	if (!name)
		return;
	put_u8(f, &f->hierarchy, SCOPE_MODULE);
	put_name(f, name);
	put_u8(f, &f->hierarchy, 0); /* no component */
	f->scopes++;
}

void fst_var(struct fst *f, enum fst_type type, const char *name)
{
	static const uint8_t types[] = { VAR_WIRE, VAR_REAL, VAR_STRING }, lengths[] = { 1, 8, 0 };
	static const uint32_t geometries[] = { 1, 0, UINT32_MAX };
	struct var v = { .value = (uint32_t)f->now.n, .type = type };
	double none = NAN;

	put_u8(f, &f->hierarchy, types[type]);
	put_u8(f, &f->hierarchy, 0); /* no direction */
	put_name(f, name);
	put_varint(f, &f->hierarchy, lengths[type]);
	put_varint(f, &f->hierarchy, 0); /* of no other's values */
	put_varint(f, &f->geometry, geometries[type]);
	put(f, &f->now, type == FST_BIT ? (const void *)"x" : &none, lengths[type]);
	if (cvl_room(&f->var, f->n_vars, &f->vars_room, sizeof(*f->var)))
		f->out.error = ENOMEM;
	if (!f->out.error)
		f->var[f->n_vars++] = v;
}

/* Readers leave out the values at the begin of a block whose first time is its begin. */
static void put_first(struct fst *f)
{
	double v;

	for (unsigned i = 0; i < f->n_vars && f->begun; i++) {
		const uint8_t *now = f->now.p + f->var[i].value;

		if (f->var[i].type == FST_BIT)
			fst_bit(f, i, (char)*now);
		if (f->var[i].type != FST_REAL)
			continue;
		memcpy(&v, now, sizeof(v));
		fst_real(f, i, v);
	}
}

void fst_begin(struct fst *f)
{
	z_stream gzip = { 0 };
	size_t n;

	put(f, &f->first, f->now.p, f->now.n);
	n = squeeze(f, &f->z, &f->block, &f->geometry);
	write_head(f, BLOCK_GEOMETRY, 16 + n);
	write_u64(f, f->geometry.n);
	write_u64(f, f->n_vars);
	write_bytes(f, &f->block);
	f->block.n = 0;
	if (deflateInit2(&gzip, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP, MAX_MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		f->out.error = ENOMEM;
		return;
	}
	n = deflate_to(f, &gzip, &f->block, f->hierarchy.p, f->hierarchy.n);
	deflateEnd(&gzip);
	write_head(f, BLOCK_HIERARCHY, 8 + n);
	write_u64(f, f->hierarchy.n);
	write_bytes(f, &f->block);
	f->block.n = 0;
	free_bytes(&f->hierarchy);
	free_bytes(&f->geometry);
	f->begun = !f->out.error;
	fst_time(f, 0);
	put_first(f);
}

/* ---- changes ---- */

/* Append each variable's changes to the block, and where they are to the index. */
static void put_changes(struct fst *f)
{
	struct var *v = f->var;
	const size_t pack = f->block.n;
	size_t last = 0, absent = 0, kept = 0;

	put_u8(f, &f->block, 'Z');
	f->index.n = 0;
	for (size_t i = 0; i < f->n_vars; i++) {
		const size_t at = f->block.n, n = v[i].changes.n;

		kept += v[i].changes.cap;
		if (!n) {
			absent++;
			continue;
		}
		if (absent)
			put_varint(f, &f->index, absent << 1);
		absent = 0;
		put_signed(f, &f->index, (at - pack - last) << 1 | 1);
		last = at - pack;
		put_varint(f, &f->block, n);
		if (squeeze(f, &f->z, &f->block, &v[i].changes) == n) { /* as it is: no length */
			f->block.n = at;
			put_varint(f, &f->block, 0);
			put(f, &f->block, v[i].changes.p, n);
		}
		v[i].changes.n = v[i].last = 0;
	}
	if (absent)
		put_varint(f, &f->index, absent << 1);
	for (size_t i = 0; i < f->n_vars && kept > 4 * SECTION_BYTES; i++)
		free_bytes(&v[i].changes); /* others may need as much next time */
}

static void end_section(struct fst *f)
{
	const size_t uncompressed = f->pending - f->times.n;
	struct bytes *b = &f->block;
	size_t n;

	b->n = 0;
	f->index.n = 0;
	put_varint(f, b, f->first.n);
	put_varint(f, b, squeeze(f, &f->z, &f->index, &f->first));
	put_varint(f, b, f->n_vars);
	put(f, b, f->index.p, f->index.n);
	put_varint(f, b, f->n_vars);
	put_changes(f);
	put(f, b, f->index.p, f->index.n);
	put_u64(f, b, f->index.n);
	n = squeeze(f, &f->z_times, b, &f->times);
	put_u64(f, b, f->times.n);
	put_u64(f, b, n);
	put_u64(f, b, f->n_times);
	write_head(f, BLOCK_CHANGES, 24 + b->n);
	write_u64(f, f->begin);
	write_u64(f, f->end);
	write_u64(f, uncompressed);
	write_bytes(f, b);
	f->first.n = 0;
	put(f, &f->first, f->now.p, f->now.n);
	f->sections++;
	f->times.n = f->n_times = 0;
	f->pending = 0;
}

void fst_time(struct fst *f, uint64_t t)
{
	if (!f->begun || ((f->sections || f->n_times) && t <= f->end))
		return;
	if (f->pending >= SECTION_BYTES)
		end_section(f);
	if (!f->n_times)
		f->begin = t;
	f->pending -= f->times.n;
	put_varint(f, &f->times, f->n_times ? t - f->end : t);
	f->pending += f->times.n;
	f->n_times++;
	f->end = t;
}

/*
 * Begin a change of @v. Returns how many times ago its last one was. What would fill the memory at
 * one time goes on a ns later.
 */
static inline uint64_t steps(struct fst *f, struct var *v)
{
	uint32_t last;

	if (f->pending >= 4 * SECTION_BYTES)
		fst_time(f, f->end + 1);
	last = v->last;
	v->last = f->n_times - 1;
	return v->last - last;
}

void fst_bit(struct fst *f, unsigned var, char level)
{
	struct var *v = &f->var[var];
	uint64_t d;
	size_t n;

	if (f->out.error)
		return;
	if (!f->begun) {
		f->now.p[v->value] = (uint8_t)level;
		return;
	}
	d = steps(f, v);
	n = v->changes.n;
	f->now.p[v->value] = (uint8_t)level;
	put_varint(f, &v->changes, level == 'x' ? d << 4 | 1 : d << 2 | (level == '1' ? 2 : 0));
	f->pending += v->changes.n - n;
}

void fst_real(struct fst *f, unsigned var, double value)
{
	struct var *v = &f->var[var];
	uint64_t d;
	size_t n;

	if (f->out.error)
		return;
	d = steps(f, v);
	n = v->changes.n;
	memcpy(f->now.p + v->value, &value, sizeof(value));
	put_varint(f, &v->changes, d << 1 | 1);
	put(f, &v->changes, &value, sizeof(value));
	f->pending += v->changes.n - n;
}

void fst_text(struct fst *f, unsigned var, const char *s, size_t len)
{
	struct var *v = &f->var[var];
	uint64_t d;
	size_t n;

	if (f->out.error)
		return;
	d = steps(f, v);
	n = v->changes.n;
	put_varint(f, &v->changes, d << 1);
	put_varint(f, &v->changes, len);
	put(f, &v->changes, s, len);
	f->pending += v->changes.n - n;
}

int fst_close(struct fst *f, struct cvl_error *err)
{
	uint8_t bytes[HEADER_BYTES];
	int rc;

	if (f->n_times)
		end_section(f);
	cvl_out_drain(&f->out);
	header(f, bytes);
	if (!f->out.error && pwrite(f->out.fd, bytes, sizeof(bytes), 0) != sizeof(bytes))
		f->out.error = errno;
	rc = cvl_out_close(&f->out, err);
	free_all(f);
	return rc;
}
