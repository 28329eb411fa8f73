/* SPDX-License-Identifier: MIT */
/*
 * A message is ff ff ff ff, the length of its head, the head (a FlatBuffer, by Schema.fbs and
 * Message.fbs of Apache Arrow) and the buffers that the head tells of; all of it in multiples of 8.
 */
#include "table/ipc.h"

#include <stdlib.h>
#include <string.h>

#include "table/flat.h"

#define V5 4

enum header { SCHEMA = 1, DICTIONARY_BATCH = 2, RECORD_BATCH = 3 };
enum type { INT = 2, FLOATING_POINT = 3, BINARY = 4, UTF8 = 5, BOOL = 6 };

static const char zeros[8];

static size_t padded(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

/* Begin a head. Returns where it refers to what it is about. */
static size_t begin(struct ipc *w, enum header header, int64_t body)
{
	const struct flat_field fields[] = {
		{ 2, V5 }, { 1, header }, FLAT_REF, { 8, (uint64_t)body }
	};
	size_t at[4];

	flat_root(&w->message);
	flat_table_at(&w->message, 0, fields, 4, at);
	return at[2];
}

static void put_head(struct ipc *w)
{
	const struct buffer *b = &w->message;
	uint32_t lengths[2];

	if (b->failed) {
		w->failed = true;
		return;
	}
	lengths[0] = UINT32_MAX;
	lengths[1] = htole32((uint32_t)padded(b->n));
	cvl_out_bytes(w->out, (const char *)lengths, sizeof(lengths));
	cvl_out_bytes(w->out, (const char *)b->at, b->n);
	cvl_out_bytes(w->out, zeros, padded(b->n) - b->n);
}

/* ---- the schema ---- */

static void put_integer(struct buffer *b, size_t at, unsigned bits, bool is_signed)
{
	size_t fields[2];

	flat_table_at(b, at, (struct flat_field[]){ { 4, bits }, { 1, is_signed } }, 2, fields);
}

static enum type type_of(char format)
{
	switch (format) {
	case 'g': return FLOATING_POINT;
	case 'b': return BOOL;
	case 'u': return UTF8;
	case 'z': return BINARY;
	default: return INT;
	}
}

static void put_type(struct buffer *b, size_t at, char format)
{
	const struct flat_field is_double = { 2, 2 };
	size_t field;

	switch (type_of(format)) {
	case INT: put_integer(b, at, format == 'i' ? 32 : 64, format != 'L'); return;
	case FLOATING_POINT: flat_table_at(b, at, &is_double, 1, &field); return;
	default: flat_table_at(b, at, NULL, 0, &field); return;
	}
}

/* A dictionary has the number of its column. */
static void put_field(struct buffer *b, size_t at, const struct ArrowSchema *s, size_t number)
{
	const struct ArrowSchema *values = s->dictionary ? s->dictionary : s;
	const struct flat_field fields[] = {
		FLAT_REF,
		{ 1, !!(s->flags & ARROW_FLAG_NULLABLE) },
		{ 1, type_of(*values->format) },
		FLAT_REF,
		{ s->dictionary ? 4 : 0, 0 },
		FLAT_REF,
	};
	const struct flat_field dictionary[] = { { 8, number }, FLAT_REF };
	size_t in[6], of[2];

	flat_table_at(b, at, fields, 6, in);
	flat_text_at(b, in[0], s->name);
	put_type(b, in[3], *values->format);
	if (s->dictionary) {
		flat_table_at(b, in[4], dictionary, 2, of);
		put_integer(b, of[1], 32, true);
	}
	flat_vector_at(b, in[5], 0, 4);
}

static void put_facts(struct buffer *b, size_t at, const struct cvl_table *t)
{
	const struct flat_field fields[] = { FLAT_REF, FLAT_REF };
	const char *key, *value;
	size_t n = 0, in[2];

	while (cvl_table_fact(t, n, &value))
		n++;
	at = flat_vector_at(b, at, n, 4);
	for (size_t i = 0; (key = cvl_table_fact(t, i, &value)); i++) {
		flat_table_at(b, at + 4 * i, fields, 2, in);
		flat_text_at(b, in[0], key);
		flat_text_at(b, in[1], value);
	}
}

int ipc_begin(struct ipc *w, struct cvl_out *out, const struct cvl_table *t, struct cvl_error *err)
{
	const struct flat_field fields[] = { { 2, 0 }, FLAT_REF, FLAT_REF };
	struct buffer *b = &w->message;
	size_t in[3], at;

	*w = (struct ipc){ .out = out, .table = t };
	if (!cvl_arrow_schema(&w->schema, t))
		return cvl_no_memory(err);
	w->names = malloc(((size_t)w->schema.n_children + 1) * sizeof(*w->names));
	if (!w->names)
		return cvl_no_memory(err);
	at = begin(w, SCHEMA, 0);
	flat_table_at(b, at, fields, 3, in);
	at = flat_vector_at(b, in[1], (size_t)w->schema.n_children, 4);
	for (size_t i = 0; i < (size_t)w->schema.n_children; i++) {
		w->names[i] = -1;
		put_field(b, at + 4 * i, w->schema.children[i], i);
	}
	put_facts(b, in[2], t);
	put_head(w);
	return w->failed ? cvl_no_memory(err) : cvl_out_flush(out, err);
}

/* ---- batches ---- */

/* Bytes of buffer @k of @a, of type @format. */
static size_t bytes_of(const struct ArrowArray *a, char format, int64_t k)
{
	const size_t n = (size_t)a->length;

	if (!a->buffers[k])
		return 0;
	if (!k || format == 'b')
		return (n + 7) / 8;
	if (k == 2)
		return (size_t)((const int32_t *)a->buffers[1])[n];
	switch (format) {
	case 'i': return 4 * n;
	case 'u':
	case 'z': return 4 * (n + 1);
	default: return 8 * n;
	}
}

/* Call @fn with each buffer. */
static void each_buffer(struct ArrowArray *const *a, struct ArrowSchema *const *s, size_t n,
			void (*fn)(void *ctx, const void *buffer, size_t bytes), void *ctx)
{
	for (size_t i = 0; i < n; i++)
		for (int64_t k = 0; k < a[i]->n_buffers; k++)
			fn(ctx, a[i]->buffers[k], bytes_of(a[i], *s[i]->format, k));
}

struct layout {
	struct buffer *b;
	size_t at; /* where it is told of the next buffer, which is there: */
	size_t body;
};

static void tell_buffer(void *ctx, const void *buffer, size_t bytes)
{
	struct layout *l = ctx;

	(void)buffer;
	flat_set(l->b, l->at, l->body);
	flat_set(l->b, l->at + 8, bytes);
	l->at += 16;
	l->body += padded(bytes);
}

static void count_buffer(void *ctx, const void *buffer, size_t bytes)
{
	struct layout *l = ctx;

	(void)buffer;
	l->at++;
	l->body += padded(bytes);
}

static void put_buffer(void *ctx, const void *buffer, size_t bytes)
{
	struct cvl_out *o = ctx;

	if (bytes)
		cvl_out_bytes(o, buffer, bytes);
	cvl_out_bytes(o, zeros, padded(bytes) - bytes);
}

/* @n arrays of types @s: a batch of @rows rows, or, if @header says so, dictionary @id. */
static void put_batch(struct ipc *w, enum header header, size_t id, struct ArrowArray *const *a,
		      struct ArrowSchema *const *s, size_t n, int64_t rows)
{
	const struct flat_field dictionary[] = { { 8, id }, FLAT_REF };
	const struct flat_field batch[] = { { 8, (uint64_t)rows }, FLAT_REF, FLAT_REF };
	struct layout count = { 0 }, tell = { .b = &w->message };
	size_t in[3], at;

	each_buffer(a, s, n, count_buffer, &count);
	at = begin(w, header, (int64_t)count.body);
	if (header == DICTIONARY_BATCH) {
		flat_table_at(&w->message, at, dictionary, 2, in);
		at = in[1];
	}
	flat_table_at(&w->message, at, batch, 3, in);
	at = flat_vector_at(&w->message, in[1], n, 16);
	for (size_t i = 0; i < n; i++) {
		flat_set(&w->message, at + 16 * i, (uint64_t)a[i]->length);
		flat_set(&w->message, at + 16 * i + 8, (uint64_t)a[i]->null_count);
	}
	tell.at = flat_vector_at(&w->message, in[2], count.at, 16);
	each_buffer(a, s, n, tell_buffer, &tell);
	put_head(w);
	if (!w->failed)
		each_buffer(a, s, n, put_buffer, w->out);
}

int ipc_put(struct ipc *w, struct cvl_rows *rows, struct cvl_error *err)
{
	struct ArrowArray a;

	if (!cvl_arrow_rows(&a, w->table, rows))
		return cvl_no_memory(err);
	for (size_t i = 0; i < (size_t)a.n_children; i++) {
		struct ArrowArray *dictionary = a.children[i]->dictionary;

		if (!dictionary || dictionary->length == w->names[i])
			continue;
		w->names[i] = dictionary->length;
		put_batch(w, DICTIONARY_BATCH, i, &dictionary, &w->schema.children[i]->dictionary,
			  1, dictionary->length);
	}
	put_batch(w, RECORD_BATCH, 0, a.children, w->schema.children, (size_t)a.n_children,
		  a.length);
	a.release(&a);
	return w->failed ? cvl_no_memory(err) : cvl_out_flush(w->out, err);
}

int ipc_end(struct ipc *w, int rc, struct cvl_error *err)
{
	const uint32_t end[2] = { UINT32_MAX, 0 };

	if (!rc) {
		cvl_out_bytes(w->out, (const char *)end, sizeof(end));
		rc = cvl_out_flush(w->out, err);
	}
	if (w->schema.release)
		w->schema.release(&w->schema);
	free(w->names);
	buffer_free(&w->message);
	return rc;
}
