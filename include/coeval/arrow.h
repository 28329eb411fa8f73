/* SPDX-License-Identifier: MIT */
/**
 * Tables by the Arrow C data and C stream interfaces, for pandas, polars, DuckDB and others in the
 * same process, without copying.
 *
 * The three structs are those of the interfaces' specification (Apache Arrow, "The Arrow C data
 * interface", "The Arrow C stream interface"), under the guards that it names, so that several
 * libraries may declare them.
 *
 * A CVL_COLUMN_NAME is dictionary-encoded, with int32 numbers; its dictionary may have more names in
 * a later batch. Facts (cvl_table_fact()) are the schema's metadata.
 */
#ifndef COEVAL_ARROW_H
#define COEVAL_ARROW_H

#include <stdint.h>

#include <coeval/api.h>
#include <coeval/table.h>

CVL_BEGIN_DECLS

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

#endif

/**
 * @t as a stream, which owns it from here on and closes it when it is released; then @done, unless
 * NULL, is called with @ctx, from whichever thread released it. CVL_E_NOMEM: @t is still the
 * caller's.
 */
CVL_API int cvl_arrow_stream(struct ArrowArrayStream *out, struct cvl_table *t,
			     void (*done)(void *ctx), void *ctx, struct cvl_error *err);

/** The schema of @t. False: out of memory. */
CVL_API bool cvl_arrow_schema(struct ArrowSchema *out, const struct cvl_table *t);

/** @rows, of @t, as a batch; they are freed in any case. False: out of memory. */
CVL_API bool cvl_arrow_rows(struct ArrowArray *out, const struct cvl_table *t,
			    struct cvl_rows *rows);

CVL_END_DECLS

#endif
