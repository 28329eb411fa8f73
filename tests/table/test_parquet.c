/* SPDX-License-Identifier: MIT */
/*
 * What a small reader of Parquet, written here, finds in files of tables drawn from a seed: the
 * cells that were put in, in pages and row groups of any size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <coeval/session.h>

#include "table/internal.h"
#include "table/packing.h"
#include "table/parquet.h"
#include "test_draw.h"
#include "test_scratch.h"
#include "tier.h"

/* ---- a reader of numbers ---- */

struct bytes {
	const uint8_t *p, *end;
};

static uint64_t varint(struct bytes *b)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		assert_true(b->p < b->end && shift < 70);
		v |= (uint64_t)(*b->p & 0x7f) << shift;
		if (*b->p++ < 0x80)
			return v;
	}
}

static int64_t zigzag(struct bytes *b)
{
	const uint64_t v = varint(b);

	return (int64_t)(v >> 1 ^ -(v & 1));
}

/* Bits [at, at + width) of @p. */
static uint64_t bits(const uint8_t *p, size_t at, unsigned width)
{
	uint64_t v = 0;

	for (unsigned k = 0; k < width; k++)
		v |= (uint64_t)(p[(at + k) / 8] >> ((at + k) & 7) & 1) << k;
	return v;
}

static size_t unpack_deltas(struct bytes *b, uint64_t *v)
{
	const uint64_t block = varint(b), minis = varint(b), n = varint(b);
	const uint64_t mini = block / minis;
	uint64_t last = (uint64_t)zigzag(b);

	if (n)
		v[0] = last;
	for (size_t i = 1; i < n;) {
		const uint64_t least = (uint64_t)zigzag(b);
		const uint8_t *width = b->p;

		b->p += minis;
		for (uint64_t m = 0; m < minis && i < n; m++) {
			assert_true(width[m] <= 64 && b->p + mini * width[m] / 8 <= b->end);
			for (uint64_t k = 0; k < mini && i < n; k++, i++)
				v[i] = last += least + bits(b->p, k * width[m], width[m]);
			b->p += mini * width[m] / 8;
		}
	}
	return n;
}

static void unpack_runs(struct bytes *b, int32_t *v, size_t n, unsigned width)
{
	for (size_t i = 0; i < n;) {
		const uint64_t head = varint(b);
		uint64_t count = head >> 1;

		if (head & 1) {
			assert_true(b->p + count * width <= b->end);
			for (uint64_t k = 0; k < 8 * count && i < n; k++)
				v[i++] = (int32_t)bits(b->p, k * width, width);
			b->p += count * width;
		} else {
			assert_true(count && count <= n - i);
			for (; count; count--)
				v[i++] = (int32_t)bits(b->p, 0, width);
			b->p += (width + 7) / 8;
		}
	}
}

/* ---- packing ---- */

#define MANY 5000

/* Numbers as they come: any width, the same for a while, from one end to the other. */
static uint64_t draw_value(struct draw *d, unsigned shape, uint64_t last)
{
	switch (shape % 7) {
	case 0: return draw_u64(d);
	case 1: return draw_u64(d) >> (draw_u64(d) & 63);
	case 2: return last;
	case 3: return last == (uint64_t)INT64_MIN ? INT64_MAX : (uint64_t)INT64_MIN;
	case 4: return draw_u64(d) % 20 ? last : draw_u64(d) % 10;
	case 5: return last + draw_u64(d) % 1000;
	default: return (uint64_t) - (int64_t)(draw_u64(d) % 3);
	}
}

static void numbers_of_any_width_are_packed(void **state)
{
	static uint64_t v[MANY], got[MANY];
	static int32_t c[MANY], got_c[MANY];
	struct draw d = draw_begin(1);

	(void)state;
	for (unsigned round = 0; round < tier(100, 1000, 100000); round++) {
		const size_t n = draw_u64(&d) % (round % 4 ? 300 : MANY);
		const unsigned width = 1 + (unsigned)draw_below(&d, 31);
		struct buffer b = { 0 };
		struct bytes r;

		for (size_t i = 0; i < n; i++) {
			v[i] = draw_value(&d, round, i ? v[i - 1] : 0);
			c[i] = (int32_t)(v[i] & (((uint64_t)1 << width) - 1));
		}
		pack_deltas(&b, v, n);
		assert_false(b.failed);
		r = (struct bytes){ b.at, b.at + b.n };
		assert_int_equal(unpack_deltas(&r, got), n);
		assert_ptr_equal(r.p, r.end);
		assert_memory_equal(got, v, n * sizeof(*v));
		b.n = 0;
		pack_runs(&b, c, n, width);
		r = (struct bytes){ b.at, b.at + b.n };
		unpack_runs(&r, got_c, n, width);
		assert_ptr_equal(r.p, r.end);
		assert_memory_equal(got_c, c, n * sizeof(*c));
		buffer_free(&b);
	}
}

/* ---- a reader of files ---- */

struct thrift {
	struct bytes *b;
	unsigned field, type;
};

static bool next_field(struct thrift *t)
{
	const unsigned head = *t->b->p++;

	assert_true(t->b->p <= t->b->end);
	if (!head)
		return false;
	t->type = head & 15;
	t->field = head >> 4 ? t->field + (head >> 4) : (unsigned)zigzag(t->b);
	return true;
}

static size_t list_of(struct bytes *b)
{
	const unsigned head = *b->p++;

	return head >> 4 == 15 ? varint(b) : head >> 4;
}

static struct bytes binary(struct bytes *b)
{
	const uint64_t n = varint(b);
	const struct bytes r = { b->p, b->p + n };

	assert_true(n <= (uint64_t)(b->end - b->p));
	b->p += n;
	return r;
}

static void skip_value(struct bytes *b, unsigned type)
{
	struct thrift t = { .b = b };
	unsigned of;
	size_t n;

	switch (type) {
	case 1:
	case 2: break;
	case 3: b->p++; break;
	case 4:
	case 5:
	case 6: varint(b); break;
	case 8: binary(b); break;
	case 9:
		of = *b->p & 15;
		for (n = list_of(b); n; n--)
			skip_value(b, of);
		break;
	case 12:
		while (next_field(&t))
			skip_value(b, t.type);
		break;
	default: fail_msg("type %u", type);
	}
}

struct chunk {
	int64_t codec, values, data, dictionary, nulls;
	uint64_t least, most;
	bool ranged;
};

static void read_statistics(struct bytes *b, struct chunk *k)
{
	for (struct thrift t = { .b = b }; next_field(&t);) {
		struct bytes v;

		if (t.field == 3) {
			k->nulls = zigzag(b);
			continue;
		}
		v = binary(b);
		memcpy(t.field == 5 ? &k->most : &k->least, v.p, 8);
		k->ranged = true;
	}
}

static void read_chunk(struct bytes *b, struct chunk *k)
{
	*k = (struct chunk){ .data = -1 };
	for (struct thrift outer = { .b = b }; next_field(&outer);) {
		if (outer.field != 3) {
			skip_value(b, outer.type);
			continue;
		}
		for (struct thrift t = { .b = b }; next_field(&t);) {
			switch (t.field) {
			case 4: k->codec = zigzag(b); break;
			case 5: k->values = zigzag(b); break;
			case 9: k->data = zigzag(b); break;
			case 11: k->dictionary = zigzag(b); break;
			case 12: read_statistics(b, k); break;
			default: skip_value(b, t.type);
			}
		}
	}
}

/* A page at @b, decompressed into @to: the number of values. */
static size_t read_page(struct bytes *b, const struct chunk *k, struct buffer *to)
{
	int64_t raw = 0, bytes = 0, n = 0;

	for (struct thrift t = { .b = b }; next_field(&t);) {
		if (t.field == 2)
			raw = zigzag(b);
		else if (t.field == 3)
			bytes = zigzag(b);
		else if (t.field == 5 || t.field == 7)
			for (struct thrift in = { .b = b }; next_field(&in);) {
				const int64_t v = zigzag(b);

				n = in.field == 1 ? v : n;
			}
		else
			skip_value(b, t.type);
	}
	assert_true(bytes <= b->end - b->p);
	to->n = 0;
	assert_non_null(buffer_room(to, (size_t)raw + 1));
	if (k->codec) {
		z_stream z = { .next_in = (uint8_t *)b->p, .avail_in = (uInt)bytes };

		assert_int_equal(k->codec, 2);
		assert_int_equal(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
		z.next_out = to->at;
		z.avail_out = (uInt)raw;
		assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
		assert_int_equal(z.avail_out, 0);
		inflateEnd(&z);
	} else {
		assert_int_equal(raw, bytes);
		memcpy(to->at, b->p, (size_t)raw);
	}
	to->n = (size_t)raw;
	b->p += bytes;
	return (size_t)n;
}

/* ---- tables ---- */

#define COLUMNS 9
#define ROWS 20000

static const struct cvl_column columns[COLUMNS] = {
	{ "int", CVL_COLUMN_INT, false, "" },       { "int_null", CVL_COLUMN_INT, true, "" },
	{ "uint_null", CVL_COLUMN_UINT, true, "" }, { "double", CVL_COLUMN_DOUBLE, true, "" },
	{ "bool", CVL_COLUMN_BOOL, false, "" },     { "bool_null", CVL_COLUMN_BOOL, true, "" },
	{ "name", CVL_COLUMN_NAME, false, "" },     { "name_null", CVL_COLUMN_NAME, true, "" },
	{ "text", CVL_COLUMN_TEXT, true, "" },
};

/* All rows that were put into a table. */
static struct {
	uint64_t number[COLUMNS][ROWS];
	char text[ROWS][24];
	bool null[COLUMNS][ROWS];
	size_t n;
} all;

static void draw_cell(struct draw *d, unsigned shape, size_t c, size_t r, struct cvl_names *names)
{
	const uint64_t last = r ? all.number[c][r - 1] : 0;
	char name[40];

	all.null[c][r] =
		columns[c].nullable && (shape % 5 == 0 || (shape % 5 == 1 && draw_u64(d) % 3) ||
					(shape % 5 == 2 && draw_u64(d) % 200 == 0));
	switch (columns[c].type) {
	case CVL_COLUMN_BOOL: all.number[c][r] = shape % 2 ? draw_u64(d) & 1 : last; break;
	case CVL_COLUMN_NAME:
		snprintf(name, sizeof(name), "n\xc3\xa4me %u",
			 (unsigned)(draw_u64(d) % (1 + shape % 90)));
		all.number[c][r] = (uint64_t)names_put(names, name, strlen(name));
		break;
	case CVL_COLUMN_TEXT:
		snprintf(all.text[r], sizeof(all.text[r]), "%.*s", (int)(draw_u64(d) % 20),
			 "{\"a\": \"\xe2\x86\x92 twelve\"}");
		break;
	default: all.number[c][r] = draw_value(d, shape, last);
	}
	if (all.null[c][r])
		all.number[c][r] = 0;
}

/* Rows [begin, all.n) as a table hands them on. */
static struct cvl_rows *make_rows(size_t begin, struct cvl_names *const *names)
{
	struct cvl_rows *rows = calloc(1, sizeof(*rows));
	const size_t n = all.n - begin;

	rows->n = n;
	rows->n_columns = COLUMNS;
	rows->column = calloc(COLUMNS, sizeof(*rows->column));
	for (size_t c = 0; c < COLUMNS; c++) {
		struct cvl_cells *k = &rows->column[c];
		int32_t at = 0;

		k->values = calloc(n + 1, 8);
		k->bytes = calloc(n + 1, sizeof(all.text[0]));
		k->names = names[c];
		for (size_t i = 0; i < n; i++) {
			const uint64_t v = all.number[c][begin + i];

			if (all.null[c][begin + i] && !k->nulls++)
				k->valid = memset(malloc(n / 8 + 1), 0xff, n / 8 + 1);
			if (all.null[c][begin + i])
				k->valid[i / 8] &= (uint8_t) ~(1u << (i & 7));
			switch (columns[c].type) {
			case CVL_COLUMN_BOOL: ((uint8_t *)k->values)[i] = (uint8_t)v; break;
			case CVL_COLUMN_NAME: ((int32_t *)k->values)[i] = (int32_t)v; break;
			case CVL_COLUMN_TEXT:
				if (!all.null[c][begin + i]) {
					memcpy(k->bytes + at, all.text[begin + i],
					       strlen(all.text[begin + i]));
					at += (int32_t)strlen(all.text[begin + i]);
				}
				((int32_t *)k->values)[i + 1] = at;
				break;
			default: ((uint64_t *)k->values)[i] = v;
			}
		}
	}
	return rows;
}

/* Values of a page of column @c, whose first row is @r. */
static void check_page(struct bytes b, size_t c, size_t r, size_t n,
		       const struct buffer *dictionary, const struct cvl_names *names)
{
	static int32_t level[ROWS], code[ROWS];
	static uint64_t v[ROWS];
	size_t present = 0, k = 0;
	unsigned width;

	for (size_t i = 0; i < n; i++)
		level[i] = 1;
	if (columns[c].nullable) {
		uint32_t length;
		struct bytes levels;

		memcpy(&length, b.p, 4);
		levels = (struct bytes){ b.p + 4, b.p + 4 + length };
		unpack_runs(&levels, level, n, 1);
		assert_ptr_equal(levels.p, levels.end);
		b.p = levels.end;
	}
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(level[i], !all.null[c][r + i]);
		present += (size_t)level[i];
	}
	switch (columns[c].type) {
	case CVL_COLUMN_INT:
	case CVL_COLUMN_UINT: assert_int_equal(unpack_deltas(&b, v), present); break;
	case CVL_COLUMN_NAME:
		width = *b.p++;
		unpack_runs(&b, code, present, width);
		break;
	default: break;
	}
	for (size_t i = 0; i < n; i++) {
		const char *name = all.text[r + i];
		uint32_t length;

		if (!level[i])
			continue;
		switch (columns[c].type) {
		case CVL_COLUMN_BOOL:
			assert_int_equal(bits(b.p, k, 1), all.number[c][r + i]);
			break;
		case CVL_COLUMN_DOUBLE:
			assert_memory_equal(b.p, &all.number[c][r + i], 8);
			b.p += 8;
			break;
		case CVL_COLUMN_NAME:
			name = (const char *)dictionary->at;
			for (int32_t skip = code[k]; skip; skip--) {
				memcpy(&length, name, 4);
				name += 4 + length;
			}
			memcpy(&length, name, 4);
			assert_int_equal(length, strlen(cvl_names_at(names, all.number[c][r + i])));
			assert_memory_equal(name + 4, cvl_names_at(names, all.number[c][r + i]),
					    length);
			break;
		case CVL_COLUMN_TEXT:
			memcpy(&length, b.p, 4);
			assert_int_equal(length, strlen(name));
			assert_memory_equal(b.p + 4, name, length);
			b.p += 4 + length;
			break;
		default: assert_true(v[k] == all.number[c][r + i]);
		}
		k++;
	}
	if (columns[c].type == CVL_COLUMN_BOOL)
		b.p += (k + 7) / 8;
	assert_ptr_equal(b.p, b.end);
}

static void check_chunk(const uint8_t *file, size_t bytes, const struct chunk *k, size_t c,
			size_t r, const struct cvl_names *names)
{
	struct buffer dictionary = { 0 }, page = { 0 };
	struct bytes at = { file + k->data, file + bytes };
	int64_t done = 0, nulls = 0;

	if (k->dictionary) {
		struct bytes d = { file + k->dictionary, file + bytes };

		read_page(&d, k, &dictionary);
		assert_ptr_equal(d.p, at.p);
	}
	while (done < k->values) {
		const size_t n = read_page(&at, k, &page);

		check_page((struct bytes){ page.at, page.at + page.n }, c, r + (size_t)done, n,
			   &dictionary, names);
		done += (int64_t)n;
	}
	for (size_t i = r; i < r + (size_t)k->values; i++) {
		nulls += all.null[c][i];
		if (all.null[c][i] || !k->ranged)
			continue;
		if (columns[c].type == CVL_COLUMN_INT)
			assert_true((int64_t)all.number[c][i] >= (int64_t)k->least &&
				    (int64_t)all.number[c][i] <= (int64_t)k->most);
		else
			assert_true(all.number[c][i] >= k->least && all.number[c][i] <= k->most);
	}
	assert_int_equal(k->nulls, nulls);
	assert_int_equal(k->ranged, columns[c].type <= CVL_COLUMN_UINT && nulls < k->values);
	buffer_free(&dictionary);
	buffer_free(&page);
}

static void check_file(const char *path, size_t most, struct cvl_names *const *names)
{
	static uint8_t file[4 << 20];
	FILE *f = fopen(path, "r");
	const size_t n = fread(file, 1, sizeof(file), f);
	size_t row = 0;
	uint32_t length;
	struct bytes b;

	fclose(f);
	assert_true(n < sizeof(file) && n >= 12);
	assert_memory_equal(file, "PAR1", 4);
	assert_memory_equal(file + n - 4, "PAR1", 4);
	memcpy(&length, file + n - 8, 4);
	b = (struct bytes){ file + n - 8 - length, file + n - 8 };
	for (struct thrift t = { .b = &b }; next_field(&t);) {
		if (t.field == 3) {
			assert_int_equal(zigzag(&b), all.n);
			continue;
		}
		if (t.field != 4) {
			skip_value(&b, t.type);
			continue;
		}
		for (size_t groups = list_of(&b); groups; groups--) {
			struct chunk chunk[COLUMNS];

			for (struct thrift g = { .b = &b }; next_field(&g);) {
				if (g.field != 1) {
					skip_value(&b, g.type);
					continue;
				}
				assert_int_equal(list_of(&b), COLUMNS);
				for (size_t c = 0; c < COLUMNS; c++)
					read_chunk(&b, &chunk[c]);
			}
			for (size_t c = 0; c < COLUMNS; c++) {
				assert_true(chunk[c].values && chunk[c].values <= (int64_t)most);
				check_chunk(file, n, &chunk[c], c, row, names[c]);
			}
			row += (size_t)chunk[0].values;
		}
	}
	assert_ptr_equal(b.p, b.end);
	assert_int_equal(row, all.n);
}

static void a_file_holds_what_was_put_in(void **state)
{
	struct draw d = draw_begin(2);
	struct cvl_session *session;
	struct cvl_table *t, table;
	struct cvl_error err;
	char path[300];

	(void)state;
	snprintf(path, sizeof(path), "%s/session", scratch);
	assert_int_equal(cvl_session_create(&session, path, &err), 0);
	assert_int_equal(cvl_table_open(&t, session, "clocks", NULL, &err), 0);
	table = *t;
	table.column = columns;
	table.n_columns = COLUMNS;
	snprintf(path, sizeof(path), "%s/file.parquet", scratch);
	for (unsigned round = 0; round < tier(30, 200, 10000); round++) {
		const struct parquet_opts opts = { 1 + draw_u64(&d) % 3000,
						   3000 + draw_u64(&d) % 9000 };
		struct cvl_names *names[COLUMNS] = { 0 };
		struct parquet *p;

		for (size_t c = 0; c < COLUMNS; c++)
			names[c] = names_new();
		all.n = 0;
		assert_int_equal(parquet_open(&p, &table, path, &opts, &err), 0);
		for (unsigned puts = draw_u64(&d) % 4; puts; puts--) {
			const size_t begin = all.n;
			struct cvl_rows *rows;

			all.n += draw_u64(&d) % (ROWS / 4);
			for (size_t c = 0; c < COLUMNS; c++) {
				const unsigned shape = (unsigned)draw_u64(&d) & 0xffff;

				for (size_t r = begin; r < all.n; r++)
					draw_cell(&d, shape, c, r, names[c]);
			}
			rows = make_rows(begin, names);
			assert_int_equal(parquet_put(p, rows, &err), 0);
			cvl_rows_free(rows);
		}
		assert_int_equal(parquet_finish(p, &err), 0);
		check_file(path, opts.group_rows, names);
		parquet_free(p);
		for (size_t c = 0; c < COLUMNS; c++)
			names_free(names[c]);
	}
	if (table.facts != t->facts)
		free(table.facts);
	cvl_table_close(t);
	cvl_session_close(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_any_width_are_packed),
		cmocka_unit_test(a_file_holds_what_was_put_in),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
