/* SPDX-License-Identifier: MIT */
/**
 * Writes rows of a table as a stream of Arrow IPC messages ("Arrow columnar format", streaming
 * format, version 5): the batches of coeval/arrow.h as they are. A dictionary comes before the first
 * batch that needs it, and again, as a whole, when it has grown: not every reader knows additions.
 */
#ifndef TABLE_IPC_H
#define TABLE_IPC_H

#include <coeval/arrow.h>
#include <coeval/out.h>

#include "table/buffer.h"

struct ipc {
	struct cvl_out *out;
	const struct cvl_table *table;
	struct ArrowSchema schema;
	int64_t *names;        /* of each column's dictionary, as many as were written; -1: none */
	struct buffer message; /* the head of one */
	bool failed;           /* not enough memory */
};

/** Write the schema of @t to @out. What was begun is to be ended also after an error. */
int ipc_begin(struct ipc *w, struct cvl_out *out, const struct cvl_table *t, struct cvl_error *err);
/** Write @rows, which are freed in any case, and hand them on at once. */
int ipc_put(struct ipc *w, struct cvl_rows *rows, struct cvl_error *err);
/** End the stream, unless @rc is not 0. */
int ipc_end(struct ipc *w, int rc, struct cvl_error *err);

#endif
