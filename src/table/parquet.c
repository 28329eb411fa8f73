/* SPDX-License-Identifier: MIT */
/*
 * "PAR1", row groups, footer, length of the footer, "PAR1". A row group is a chunk of pages for each
 * column, in front of which is that of the dictionary. By the specification of Apache Parquet,
 * parquet.thrift; pages are of version 1, which every reader knows.
 */
#include "table/parquet.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "table/packing.h"
#include "table/thrift.h"

#define PAGE_ROWS 65536
#define GROUP_ROWS (1u << 20)
#define GROUP_BYTES (64u << 20)
#define LEVEL 2
#define MAGIC "PAR1"

enum type { BOOLEAN = 0, INT64 = 2, DOUBLE = 5, BYTE_ARRAY = 6 };
enum encoding { PLAIN = 0, RLE = 3, DELTA_BINARY_PACKED = 5, RLE_DICTIONARY = 8 };
enum codec { UNCOMPRESSED = 0, GZIP = 2 };
enum converted { UTF8 = 0, UINT_64 = 14 };

/* A column of the row group. */
struct chunk {
	struct buffer pages;
	enum codec codec;
	const struct cvl_names *names;
	int64_t raw; /* bytes before compression */
	int64_t values, nulls;
	bool any; /* value that is not NULL, from least to most */
	uint64_t least, most;
};

struct parquet {
	char *path;
	const struct cvl_column *column;
	size_t n_columns;
	struct parquet_opts opts;
	struct chunk *chunk;
	size_t rows;          /* of the row group */
	struct buffer facts;  /* key and value, each with its NUL */
	struct buffer groups; /* what the footer says of the row groups so far */
	size_t n_facts, n_groups;
	int64_t all_rows, at; /* at: bytes of the file */
	struct buffer body, packed, out;
	z_stream z;
	bool compresses; /* z is in use */
};

static enum type type_of(const struct cvl_column *c)
{
	switch (c->type) {
	case CVL_COLUMN_INT:
	case CVL_COLUMN_UINT: return INT64;
	case CVL_COLUMN_DOUBLE: return DOUBLE;
	case CVL_COLUMN_BOOL: return BOOLEAN;
	default: return BYTE_ARRAY;
	}
}

static enum encoding encoding_of(const struct cvl_column *c)
{
	switch (c->type) {
	case CVL_COLUMN_INT:
	case CVL_COLUMN_UINT: return DELTA_BINARY_PACKED;
	case CVL_COLUMN_NAME: return RLE_DICTIONARY;
	default: return PLAIN;
	}
}

/* ---- pages ---- */

/* Rows [begin, end) of a column that are not NULL, as they are in memory. */
static const void *present(struct buffer *to, const struct cvl_cells *c, size_t begin, size_t end,
			   size_t size, size_t *n)
{
	const char *values = (const char *)c->values + begin * size;

	*n = end - begin;
	if (!c->nulls)
		return values;
	to->n = 0;
	for (size_t i = begin; i < end; i++, values += size)
		if (!cvl_cells_null(c, i))
			buffer_put(to, values, size);
	*n = to->n / size;
	return to->at;
}

static void put_levels(struct parquet *p, const struct cvl_cells *c, size_t begin, size_t end)
{
	const size_t at = p->body.n, n = end - begin;
	uint32_t length;
	int32_t *level;

	buffer_zeros(&p->body, sizeof(length));
	p->packed.n = 0;
	level = (int32_t *)buffer_room(&p->packed, n * sizeof(*level));
	if (!level)
		return;
	for (size_t i = 0; i < n; i++)
		level[i] = !cvl_cells_null(c, begin + i);
	pack_runs(&p->body, level, n, 1);
	if (p->body.failed)
		return;
	length = htole32((uint32_t)(p->body.n - at - sizeof(length)));
	memcpy(p->body.at + at, &length, sizeof(length));
}

static void note_range(struct chunk *k, const uint64_t *v, size_t n, bool is_signed)
{
	/* so that signed numbers compare as unsigned ones */
	const uint64_t flip = is_signed ? (uint64_t)1 << 63 : 0;
	uint64_t least = k->any ? k->least ^ flip : UINT64_MAX, most = k->any ? k->most ^ flip : 0;

	for (size_t i = 0; i < n; i++) {
		least = (v[i] ^ flip) < least ? v[i] ^ flip : least;
		most = (v[i] ^ flip) > most ? v[i] ^ flip : most;
	}
	k->any = k->any || n;
	k->least = least ^ flip;
	k->most = most ^ flip;
}

static void put_bools(struct buffer *to, const struct cvl_cells *c, size_t begin, size_t end)
{
	const uint8_t *v = c->values;
	unsigned byte = 0, n = 0;

	for (size_t i = begin; i < end; i++) {
		if (cvl_cells_null(c, i))
			continue;
		byte |= (unsigned)v[i] << n;
		if (++n < 8)
			continue;
		buffer_byte(to, byte);
		byte = n = 0;
	}
	if (n)
		buffer_byte(to, byte);
}

static void put_texts(struct buffer *to, const struct cvl_cells *c, size_t begin, size_t end)
{
	const int32_t *offset = c->values;

	for (size_t i = begin; i < end; i++) {
		const uint32_t length = (uint32_t)(offset[i + 1] - offset[i]);

		if (cvl_cells_null(c, i))
			continue;
		buffer_number(to, length, 4);
		buffer_put(to, c->bytes + offset[i], length);
	}
}

static void put_doubles(struct buffer *to, const uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buffer_number(to, v[i], 8);
}

static void put_values(struct parquet *p, size_t column, const struct cvl_cells *c, size_t begin,
		       size_t end)
{
	const enum cvl_column_type type = p->column[column].type;
	struct chunk *k = &p->chunk[column];
	const void *v;
	unsigned width;
	size_t n;

	switch (type) {
	case CVL_COLUMN_INT:
	case CVL_COLUMN_UINT:
		v = present(&p->packed, c, begin, end, 8, &n);
		note_range(k, v, n, type == CVL_COLUMN_INT);
		pack_deltas(&p->body, v, n);
		break;
	case CVL_COLUMN_DOUBLE:
		v = present(&p->packed, c, begin, end, 8, &n);
		put_doubles(&p->body, v, n);
		break;
	case CVL_COLUMN_NAME:
		v = present(&p->packed, c, begin, end, 4, &n);
		width = pack_width((uint32_t)cvl_names_count(c->names) - 1);
		buffer_byte(&p->body, width);
		pack_runs(&p->body, v, n, width);
		break;
	case CVL_COLUMN_BOOL: put_bools(&p->body, c, begin, end); break;
	default: put_texts(&p->body, c, begin, end);
	}
}

/* p->body as the codec of @k wants it; NULL: it failed. */
static const struct buffer *compress_page(struct parquet *p, struct chunk *k)
{
	int rc;

	if (k->codec == UNCOMPRESSED)
		return &p->body;
	p->packed.n = 0;
	if (deflateReset(&p->z) != Z_OK)
		return NULL;
	p->z.next_in = p->body.at;
	p->z.avail_in = (uInt)p->body.n;
	do {
		/* not by deflateBound(), which some zlibs count too low for a few bytes */
		p->z.next_out = buffer_room(&p->packed, p->body.n + p->body.n / 64 + 64);
		if (!p->z.next_out)
			return NULL;
		p->z.avail_out = (uInt)(p->packed.room - p->packed.n);
		rc = deflate(&p->z, Z_FINISH);
		p->packed.n = p->packed.room - p->z.avail_out;
	} while (rc == Z_OK);
	return rc == Z_STREAM_END ? &p->packed : NULL;
}

/* p->body becomes a page: of @n values of the column, or of @n names of its dictionary at @to. */
static int put_page(struct parquet *p, struct chunk *k, struct buffer *to, size_t n,
		    enum encoding encoding, bool dictionary, struct cvl_error *err)
{
	const size_t begin = to->n;
	struct thrift t = { .to = to };
	const struct buffer *bytes;

	if (p->body.failed || p->packed.failed)
		return cvl_no_memory(err);
	if (p->body.n > INT32_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: a page is too large",
				p->path);
	bytes = compress_page(p, k);
	if (!bytes)
		return cvl_no_memory(err);
	/* what is hardly smaller is not worth the time, neither here nor where it is read */
	if (!k->values && !dictionary && bytes->n + bytes->n / 16 > p->body.n) {
		k->codec = UNCOMPRESSED;
		bytes = &p->body;
	}
	thrift_begin(&t, 0);
	thrift_i32(&t, 1, dictionary ? 2 : 0);
	thrift_i32(&t, 2, (int32_t)p->body.n);
	thrift_i32(&t, 3, (int32_t)bytes->n);
	thrift_begin(&t, dictionary ? 7 : 5);
	thrift_i32(&t, 1, (int32_t)n);
	thrift_i32(&t, 2, (int32_t)encoding);
	if (!dictionary) {
		thrift_i32(&t, 3, RLE);
		thrift_i32(&t, 4, RLE);
	}
	thrift_end(&t);
	thrift_end(&t);
	k->raw += (int64_t)(to->n - begin + p->body.n);
	buffer_put(to, bytes->at, bytes->n);
	return to->failed ? cvl_no_memory(err) : 0;
}

static int put_rows(struct parquet *p, const struct cvl_rows *rows, size_t begin, size_t end,
		    struct cvl_error *err)
{
	int rc = 0;

	for (size_t c = 0; c < p->n_columns && !rc; c++) {
		const struct cvl_cells *cells = &rows->column[c];
		struct chunk *k = &p->chunk[c];

		p->body.n = 0;
		if (p->column[c].nullable)
			put_levels(p, cells, begin, end);
		put_values(p, c, cells, begin, end);
		k->names = cells->names;
		rc = put_page(p, k, &k->pages, end - begin, encoding_of(&p->column[c]), false, err);
		k->values += (int64_t)(end - begin);
		for (size_t i = begin; i < end && cells->nulls; i++)
			k->nulls += cvl_cells_null(cells, i);
	}
	p->rows += end - begin;
	return rc;
}

static int begin_compression(struct parquet *p, struct cvl_error *err)
{
	p->z = (z_stream){ 0 };
	/* 16: with the head of gzip */
	if (deflateInit2(&p->z, LEVEL, Z_DEFLATED, 16 + MAX_WBITS, MAX_MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return cvl_no_memory(err);
	p->compresses = true;
	return 0;
}

/* Between calls it would take more memory than most tables. */
static void end_compression(struct parquet *p)
{
	if (p->compresses)
		deflateEnd(&p->z);
	p->compresses = false;
	buffer_free(&p->body);
	buffer_free(&p->packed);
}

int parquet_put(struct parquet *p, const struct cvl_rows *rows, struct cvl_error *err)
{
	/* pages of like size */
	const size_t pages = (rows->n + p->opts.page_rows - 1) / p->opts.page_rows;
	int rc = pages ? begin_compression(p, err) : 0;

	for (size_t i = 0; i < pages && !rc; i++) {
		const size_t begin = rows->n * i / pages, end = rows->n * (i + 1) / pages;

		if (p->rows + end - begin > p->opts.group_rows || parquet_held(p) > GROUP_BYTES)
			rc = parquet_flush(p, err);
		rc = rc ? rc : put_rows(p, rows, begin, end, err);
	}
	end_compression(p);
	return rc;
}

/* ---- the file ---- */

/* Add @b to the file. */
static int append(struct parquet *p, const struct buffer *b, int fd, struct cvl_error *err)
{
	for (size_t n = 0; n < b->n;) {
		const ssize_t put = write(fd, b->at + n, b->n - n);

		if (put < 0 && errno != EINTR)
			return cvl_fail_errno(err, "write", p->path);
		n += put > 0 ? (size_t)put : 0;
	}
	p->at += (int64_t)b->n;
	return 0;
}

static int put_dictionary(struct parquet *p, struct chunk *k, struct cvl_error *err)
{
	const size_t n = cvl_names_count(k->names);

	p->body.n = 0;
	for (size_t i = 0; i < n; i++) {
		const char *name = cvl_names_at(k->names, i);

		buffer_number(&p->body, strlen(name), 4);
		buffer_put(&p->body, name, strlen(name));
	}
	return put_page(p, k, &p->out, n, PLAIN, true, err);
}

static void put_statistics(struct thrift *t, const struct chunk *k)
{
	const uint64_t least = htole64(k->least), most = htole64(k->most);

	thrift_begin(t, 12);
	thrift_i64(t, 3, k->nulls);
	if (k->any) {
		thrift_binary(t, 5, &most, 8);
		thrift_binary(t, 6, &least, 8);
	}
	thrift_end(t);
}

/* What the footer says of column @c, whose chunk, of @bytes, begins at @at with its dictionary. */
static void describe_chunk(struct parquet *p, struct thrift *t, size_t c, int64_t at,
			   int64_t dictionary, int64_t bytes)
{
	const enum encoding encoding = encoding_of(&p->column[c]);
	const struct chunk *k = &p->chunk[c];

	thrift_begin(t, 0);
	thrift_i64(t, 2, at);
	thrift_begin(t, 3);
	thrift_i32(t, 1, (int32_t)type_of(&p->column[c]));
	thrift_list(t, 2, THRIFT_I32, encoding == PLAIN ? 2 : 3);
	thrift_i32(t, 0, PLAIN);
	thrift_i32(t, 0, RLE);
	if (encoding != PLAIN)
		thrift_i32(t, 0, (int32_t)encoding);
	thrift_list(t, 3, THRIFT_BINARY, 1);
	thrift_text(t, 0, p->column[c].name);
	thrift_i32(t, 4, (int32_t)k->codec);
	thrift_i64(t, 5, k->values);
	thrift_i64(t, 6, k->raw);
	thrift_i64(t, 7, bytes);
	thrift_i64(t, 9, at + dictionary);
	if (dictionary)
		thrift_i64(t, 11, at);
	put_statistics(t, k);
	thrift_end(t);
	thrift_end(t);
}

static int write_chunk(struct parquet *p, struct thrift *t, size_t c, int fd, struct cvl_error *err)
{
	struct chunk *k = &p->chunk[c];
	const int64_t at = p->at;
	int rc = 0;

	p->out.n = 0;
	if (p->column[c].type == CVL_COLUMN_NAME)
		rc = put_dictionary(p, k, err);
	rc = rc ? rc : append(p, &p->out, fd, err);
	rc = rc ? rc : append(p, &k->pages, fd, err);
	describe_chunk(p, t, c, at, (int64_t)p->out.n, p->at - at);
	return rc;
}

static int write_group(struct parquet *p, int fd, struct cvl_error *err)
{
	const int64_t at = p->at;
	struct thrift t = { .to = &p->groups };
	int64_t raw = 0;
	int rc = 0;

	thrift_begin(&t, 0);
	thrift_list(&t, 1, THRIFT_STRUCT, p->n_columns);
	for (size_t c = 0; c < p->n_columns && !rc; c++) {
		rc = write_chunk(p, &t, c, fd, err);
		raw += p->chunk[c].raw;
	}
	thrift_i64(&t, 2, raw);
	thrift_i64(&t, 3, (int64_t)p->rows);
	thrift_i64(&t, 5, at);
	thrift_i64(&t, 6, p->at - at);
	thrift_end(&t);
	p->n_groups++;
	p->all_rows += (int64_t)p->rows;
	p->rows = 0;
	for (size_t c = 0; c < p->n_columns; c++) {
		buffer_free(&p->chunk[c].pages);
		p->chunk[c] = (struct chunk){ .codec = GZIP };
	}
	return rc ? rc : p->groups.failed ? cvl_no_memory(err) : 0;
}

/* The file, at its end. */
static int reopen(const struct parquet *p, struct cvl_error *err)
{
	const int fd = open(p->path, O_WRONLY | O_APPEND | O_CLOEXEC);

	return fd < 0 ? cvl_fail_errno(err, "open", p->path) : fd;
}

static int reclose(const struct parquet *p, int fd, int rc, struct cvl_error *err)
{
	return close(fd) && !rc ? cvl_fail_errno(err, "write", p->path) : rc;
}

int parquet_flush(struct parquet *p, struct cvl_error *err)
{
	const bool compresses = p->compresses;
	int fd, rc;

	if (!p->rows)
		return 0;
	fd = reopen(p, err);
	if (fd < 0)
		return fd;
	rc = compresses ? 0 : begin_compression(p, err);
	rc = rc ? rc : write_group(p, fd, err);
	if (!compresses)
		end_compression(p);
	return reclose(p, fd, rc, err);
}

static void put_column(struct thrift *t, const struct cvl_column *c)
{
	thrift_begin(t, 0);
	thrift_i32(t, 1, (int32_t)type_of(c));
	thrift_i32(t, 3, c->nullable);
	thrift_text(t, 4, c->name);
	if (c->type == CVL_COLUMN_NAME || c->type == CVL_COLUMN_TEXT) {
		thrift_i32(t, 6, UTF8);
		thrift_begin(t, 10);
		thrift_begin(t, 1);
		thrift_end(t);
		thrift_end(t);
	} else if (c->type == CVL_COLUMN_UINT) {
		thrift_i32(t, 6, UINT_64);
		thrift_begin(t, 10);
		thrift_begin(t, 10);
		thrift_i8(t, 1, 64);
		thrift_bool(t, 2, false);
		thrift_end(t);
		thrift_end(t);
	}
	thrift_end(t);
}

static void put_footer(struct parquet *p, struct buffer *to)
{
	const char *fact = (const char *)p->facts.at;
	struct thrift t = { .to = to };

	thrift_begin(&t, 0);
	thrift_i32(&t, 1, 2);
	thrift_list(&t, 2, THRIFT_STRUCT, p->n_columns + 1);
	thrift_begin(&t, 0);
	thrift_text(&t, 4, "schema");
	thrift_i32(&t, 5, (int32_t)p->n_columns);
	thrift_end(&t);
	for (size_t c = 0; c < p->n_columns; c++)
		put_column(&t, &p->column[c]);
	thrift_i64(&t, 3, p->all_rows);
	thrift_list(&t, 4, THRIFT_STRUCT, p->n_groups);
	buffer_put(to, p->groups.at, p->groups.n);
	thrift_list(&t, 5, THRIFT_STRUCT, p->n_facts);
	for (size_t i = 0; i < p->n_facts; i++) {
		thrift_begin(&t, 0);
		thrift_text(&t, 1, fact);
		fact += strlen(fact) + 1;
		thrift_text(&t, 2, fact);
		fact += strlen(fact) + 1;
		thrift_end(&t);
	}
	thrift_text(&t, 6, "coeval " COEVAL_VERSION);
	/* without it readers do not use the least and the most */
	thrift_list(&t, 7, THRIFT_STRUCT, p->n_columns);
	for (size_t c = 0; c < p->n_columns; c++) {
		thrift_begin(&t, 0);
		thrift_begin(&t, 1);
		thrift_end(&t);
		thrift_end(&t);
	}
	thrift_end(&t);
}

int parquet_finish(struct parquet *p, struct cvl_error *err)
{
	int fd, rc = parquet_flush(p, err);
	size_t n;

	if (rc)
		return rc;
	p->out.n = 0;
	put_footer(p, &p->out);
	n = p->out.n;
	buffer_number(&p->out, n, 4);
	buffer_put(&p->out, MAGIC, 4);
	if (p->out.failed)
		return cvl_no_memory(err);
	if (n > INT32_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: too many row groups",
				p->path);
	fd = reopen(p, err);
	return fd < 0 ? fd : reclose(p, fd, append(p, &p->out, fd, err), err);
}

size_t parquet_held(const struct parquet *p)
{
	size_t n = 0;

	for (size_t c = 0; c < p->n_columns; c++)
		n += p->chunk[c].pages.n;
	return n;
}

static int create(struct parquet *p, struct cvl_error *err)
{
	struct buffer magic = { .at = (uint8_t[4]){ 'P', 'A', 'R', '1' }, .n = 4 };
	const int fd = open(p->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		return cvl_fail_errno(err, "create", p->path);
	return reclose(p, fd, append(p, &magic, fd, err), err);
}

int parquet_open(struct parquet **out, const struct cvl_table *t, const char *path,
		 const struct parquet_opts *opts, struct cvl_error *err)
{
	struct parquet *p = calloc(1, sizeof(*p));
	const char *key, *value;
	int rc;

	*out = NULL;
	if (!p)
		return cvl_no_memory(err);
	if (opts)
		p->opts = *opts;
	p->opts.page_rows = p->opts.page_rows ? p->opts.page_rows : PAGE_ROWS;
	p->opts.group_rows = p->opts.group_rows ? p->opts.group_rows : GROUP_ROWS;
	p->path = strdup(path);
	p->column = cvl_table_columns(t, &p->n_columns);
	p->chunk = calloc(p->n_columns + 1, sizeof(*p->chunk));
	for (size_t c = 0; p->chunk && c < p->n_columns; c++)
		p->chunk[c].codec = GZIP;
	for (; (key = cvl_table_fact(t, p->n_facts, &value)); p->n_facts++) {
		buffer_put(&p->facts, key, strlen(key) + 1);
		buffer_put(&p->facts, value, strlen(value) + 1);
	}
	rc = p->path && p->chunk && !p->facts.failed ? create(p, err) : cvl_no_memory(err);
	if (rc)
		parquet_free(p);
	else
		*out = p;
	return rc;
}

void parquet_free(struct parquet *p)
{
	if (!p)
		return;
	end_compression(p);
	for (size_t c = 0; p->chunk && c < p->n_columns; c++)
		buffer_free(&p->chunk[c].pages);
	free(p->chunk);
	buffer_free(&p->facts);
	buffer_free(&p->groups);
	buffer_free(&p->out);
	free(p->path);
	free(p);
}
