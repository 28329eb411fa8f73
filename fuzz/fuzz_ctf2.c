/* SPDX-License-Identifier: MIT */
/*
 * Metadata of CTF 2, and a stream by it: an error has the code that was returned, a text, and an offset
 * inside the metadata; what is accepted can be read to its end.
 */
#include <stdlib.h>
#include <string.h>

#include <coeval/ctf.h>

#include "fuzz_some.h"
#include "fuzz_visitor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void take_optional(void *ctx, const char *name, const struct cvl_type *type, bool there)
{
	uint64_t *sum = ctx;

	(void)name, (void)type;
	*sum += there;
}

static void read_all(const struct cvl_trace *trace, const char *bytes, size_t n)
{
	uint64_t ctx[2] = { 0 };
	const struct cvl_visitor visitor = { fuzz_value, fuzz_begin, fuzz_end,
					     NULL,       ctx,        take_optional };
	struct cvl_stream *s;
	struct cvl_batch b;
	struct cvl_error err;

	if (cvl_stream_memory(&s, trace, bytes, n, "stream", NULL, &err))
		return;
	while (cvl_stream_next(s, &b, &err) > 0)
		for (size_t i = 0; i < b.n; i++) {
			if (cvl_stream_visit(s, &b, i, &visitor, &err))
				abort(); /* it was whole when it was skipped */
			if (i < 64)
				fuzz_some(s, trace, &b, i, ctx[0] * 0x9e3779b97f4a7c15u);
		}
	cvl_stream_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const uint8_t *stream = memchr(data, 0, n);
	const size_t text = stream ? (size_t)(stream - data) : n;
	char *metadata = malloc(text + 1);
	struct cvl_error err = { 0 };
	struct cvl_trace *trace;
	int rc;

	if (!metadata)
		abort();
	metadata[0] = 0x1e;
	memcpy(metadata + 1, data, text);
	rc = cvl_trace_parse(&trace, metadata, text + 1, "fuzz", &err);
	if (rc && (rc != (int)err.code || !err.text[0] || trace ||
		   (err.offset > text + 1 && err.offset != CVL_NO_OFFSET)))
		abort();
	if (!rc && stream)
		read_all(trace, (const char *)stream + 1, n - text - 1);
	cvl_trace_close(trace);
	free(metadata);
	return 0;
}
