/* SPDX-License-Identifier: MIT */
/* A table as a stream of Arrow record batches, which take its columns over as they are. */
#include <coeval/arrow.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table/internal.h"

/* ---- schemas ---- */

static char *join(const char *const *key, const char *const *value, size_t n)
{
	size_t size = 4;
	char *text, *w;

	for (size_t i = 0; i < n; i++)
		size += 8 + strlen(key[i]) + strlen(value[i]);
	text = malloc(size);
	if (!text)
		return NULL;
	w = text;
	memcpy(w, &(int32_t){ (int32_t)n }, 4);
	w += 4;
	for (size_t i = 0; i < 2 * n; i++) {
		const char *s = i & 1 ? value[i / 2] : key[i / 2];
		const int32_t len = (int32_t)strlen(s);

		memcpy(w, &len, 4);
		memcpy(w + 4, s, (size_t)len);
		w += 4 + len;
	}
	return text;
}

/* What a schema or an array owns; its children are allocated with it. */
static void release_schema(struct ArrowSchema *s)
{
	for (int64_t i = 0; i < s->n_children; i++)
		if (s->children[i] && s->children[i]->release)
			s->children[i]->release(s->children[i]);
	if (s->dictionary && s->dictionary->release)
		s->dictionary->release(s->dictionary);
	for (int64_t i = 0; i < s->n_children; i++)
		free(s->children[i]);
	free(s->children);
	free(s->dictionary);
	free((char *)s->name);
	free((char *)s->metadata);
	s->release = NULL;
}

static const char *format_of(enum cvl_column_type type)
{
	switch (type) {
	case CVL_COLUMN_INT: return "l";
	case CVL_COLUMN_UINT: return "L";
	case CVL_COLUMN_DOUBLE: return "g";
	case CVL_COLUMN_BOOL: return "b";
	case CVL_COLUMN_NAME: return "i";
	case CVL_COLUMN_TEXT: return "u";
	default: return "z";
	}
}

static bool column_schema(struct ArrowSchema *s, const struct cvl_column *c)
{
	*s = (struct ArrowSchema){ .format = format_of(c->type),
				   .name = strdup(c->name),
				   .flags = c->nullable ? ARROW_FLAG_NULLABLE : 0,
				   .release = release_schema };
	if (c->type == CVL_COLUMN_NAME) {
		s->dictionary = calloc(1, sizeof(*s->dictionary));
		if (s->dictionary)
			*s->dictionary =
				(struct ArrowSchema){ .format = "u", .release = release_schema };
		return s->name && s->dictionary;
	}
	return s->name;
}

static bool table_schema(struct ArrowSchema *s, const struct cvl_table *t)
{
	const char *key[16], *value[16];
	size_t n, facts = 0;
	const struct cvl_column *c = cvl_table_columns(t, &n);

	while (facts < 16 && (key[facts] = cvl_table_fact(t, facts, &value[facts])))
		facts++;
	*s = (struct ArrowSchema){ .format = "+s",
				   .name = strdup(""),
				   .metadata = join(key, value, facts),
				   .children = calloc(n + 1, sizeof(*s->children)),
				   .release = release_schema };
	if (!s->name || !s->metadata || !s->children)
		return false;
	for (size_t i = 0; i < n; i++) {
		s->children[i] = calloc(1, sizeof(**s->children));
		s->n_children++;
		if (!s->children[i] || !column_schema(s->children[i], &c[i]))
			return false;
	}
	return true;
}

/* ---- arrays ---- */

static void release_array(struct ArrowArray *a)
{
	for (int64_t i = 0; i < a->n_children; i++)
		if (a->children[i] && a->children[i]->release)
			a->children[i]->release(a->children[i]);
	if (a->dictionary && a->dictionary->release)
		a->dictionary->release(a->dictionary);
	for (int64_t i = 0; i < a->n_children; i++)
		free(a->children[i]);
	for (int64_t i = 0; i < a->n_buffers; i++)
		free((void *)a->buffers[i]);
	free(a->children);
	free(a->dictionary);
	free(a->buffers);
	a->release = NULL;
}

/* The texts of a dictionary. */
static bool names_array(struct ArrowArray *a, const struct cvl_names *names)
{
	const size_t n = cvl_names_count(names);
	int32_t *offset = calloc(n + 1, sizeof(*offset));
	const void **buffers = calloc(3, sizeof(*buffers));
	size_t bytes = 0;
	char *text;

	for (size_t i = 0; i < n; i++)
		bytes += strlen(cvl_names_at(names, i));
	text = malloc(bytes + 1);
	if (!offset || !buffers || !text || bytes > INT32_MAX) {
		free(offset);
		free(buffers);
		free(text);
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		const char *s = cvl_names_at(names, i);
		const size_t len = strlen(s);

		memcpy(text + offset[i], s, len);
		offset[i + 1] = offset[i] + (int32_t)len;
	}
	buffers[1] = offset;
	buffers[2] = text;
	*a = (struct ArrowArray){
		.length = (int64_t)n, .n_buffers = 3, .buffers = buffers, .release = release_array
	};
	return true;
}

/* A bit each of @n bytes. */
static uint8_t *pack(const uint8_t *bytes, size_t n)
{
	uint8_t *bits = calloc(1, n / 8 + 1);

	for (size_t i = 0; bits && i < n; i++)
		bits[i / 8] |= (uint8_t)(bytes[i] << (i & 7));
	return bits;
}

/* Takes what @c holds. */
static bool column_array(struct ArrowArray *a, enum cvl_column_type type, struct cvl_cells *c,
			 size_t n)
{
	const bool text = type == CVL_COLUMN_TEXT || type == CVL_COLUMN_BYTES;

	*a = (struct ArrowArray){ .length = (int64_t)n,
				  .null_count = (int64_t)c->nulls,
				  .n_buffers = text ? 3 : 2,
				  .buffers = calloc(3, sizeof(*a->buffers)),
				  .release = release_array };
	if (!a->buffers)
		return false;
	a->buffers[0] = c->valid;
	c->valid = NULL;
	if (type == CVL_COLUMN_BOOL) {
		a->buffers[1] = pack(c->values, n);
	} else {
		a->buffers[1] = c->values;
		c->values = NULL;
	}
	if (text) {
		a->buffers[2] = c->bytes ? c->bytes : calloc(1, 1);
		c->bytes = NULL;
	}
	if (type == CVL_COLUMN_NAME) {
		a->dictionary = calloc(1, sizeof(*a->dictionary));
		if (!a->dictionary || !names_array(a->dictionary, c->names))
			return false;
	}
	return a->buffers[1] && (!text || a->buffers[2]);
}

static bool rows_array(struct ArrowArray *a, const struct cvl_column *c, struct cvl_rows *rows)
{
	*a = (struct ArrowArray){ .length = (int64_t)rows->n,
				  .n_buffers = 1,
				  .buffers = calloc(1, sizeof(*a->buffers)),
				  .children = calloc(rows->n_columns + 1, sizeof(*a->children)),
				  .release = release_array };
	if (!a->buffers || !a->children)
		return false;
	for (size_t i = 0; i < rows->n_columns; i++) {
		a->children[i] = calloc(1, sizeof(**a->children));
		a->n_children++;
		if (!a->children[i] ||
		    !column_array(a->children[i], c[i].type, &rows->column[i], rows->n))
			return false;
	}
	return true;
}

bool cvl_arrow_rows(struct ArrowArray *out, const struct cvl_table *t, struct cvl_rows *rows)
{
	size_t n;
	const struct cvl_column *c = cvl_table_columns(t, &n);
	const bool done = rows_array(out, c, rows);

	cvl_rows_free(rows);
	if (!done)
		release_array(out);
	return done;
}

bool cvl_arrow_schema(struct ArrowSchema *out, const struct cvl_table *t)
{
	if (table_schema(out, t))
		return true;
	release_schema(out);
	return false;
}

/* ---- streams ---- */

struct stream {
	struct cvl_table *table;
	void (*done)(void *ctx);
	void *ctx;
	struct cvl_error err;
};

static int get_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
	const struct stream *s = self->private_data;

	return cvl_arrow_schema(out, s->table) ? 0 : ENOMEM;
}

static int get_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
	struct stream *s = self->private_data;
	struct cvl_rows *rows;
	int rc = cvl_table_next(s->table, &rows, &s->err);

	memset(out, 0, sizeof(*out));
	if (rc < 0)
		return rc == CVL_E_NOMEM ? ENOMEM : EIO;
	return !rc || cvl_arrow_rows(out, s->table, rows) ? 0 : ENOMEM;
}

static const char *get_last_error(struct ArrowArrayStream *self)
{
	const struct stream *s = self->private_data;

	return s->err.text;
}

static void release_stream(struct ArrowArrayStream *self)
{
	struct stream *s = self->private_data;

	cvl_table_close(s->table);
	if (s->done)
		s->done(s->ctx);
	free(s);
	self->release = NULL;
}

int cvl_arrow_stream(struct ArrowArrayStream *out, struct cvl_table *t, void (*done)(void *ctx),
		     void *ctx, struct cvl_error *err)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s)
		return cvl_no_memory(err);
	s->table = t;
	s->done = done;
	s->ctx = ctx;
	*out = (struct ArrowArrayStream){ .get_schema = get_schema,
					  .get_next = get_next,
					  .get_last_error = get_last_error,
					  .release = release_stream,
					  .private_data = s };
	return 0;
}
