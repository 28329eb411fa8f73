/* SPDX-License-Identifier: MIT */
/** What a tracer wrote, read back by the library's own reader of CTF, event by event. */
#ifndef TRACER_READ_H
#define TRACER_READ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/ctf.h>

#include "tracer/metadata.h"

#define READ_FIELDS 4096

/** An event with its fields in a row, elements of arrays and members of structs as well. */
struct read_event {
	const char *name; /* NULL: a gap */
	uint64_t tick;
	enum cvl_gap why; /* of a gap */
	uint64_t lost;
	bool late;
	size_t n;
	struct cvl_value field[READ_FIELDS];
	bool in_fields;
};

static inline void read_value(void *ctx, const char *name, const struct cvl_value *value)
{
	struct read_event *e = ctx;

	(void)name;
	if (!e->in_fields)
		return;
	if (e->n == READ_FIELDS)
		abort();
	e->field[e->n++] = *value;
}

static inline void read_begin(void *ctx, const char *name, const struct cvl_type *type, uint64_t n)
{
	(void)ctx, (void)name, (void)type, (void)n;
}

static inline void read_end(void *ctx, const struct cvl_type *type)
{
	(void)ctx, (void)type;
}

static inline bool read_scope(void *ctx, enum cvl_scope scope)
{
	struct read_event *e = ctx;

	e->in_fields = scope == CVL_SCOPE_FIELDS;
	return e->in_fields;
}

/** Metadata of @d, parsed. */
static inline struct cvl_trace *read_metadata(const struct tracer_declarations *d)
{
	struct cvl_trace *trace = NULL;
	struct cvl_error err;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f ||
	    tracer_metadata(f, d, &(struct tracer_origin){ .node = "probe", .rate_hz = 1000000 }) ||
	    fclose(f))
		abort();
	if (cvl_trace_parse(&trace, text, n, "metadata", &err)) {
		printf("%s\n%s", err.text, text);
		abort();
	}
	free(text);
	return trace;
}

/**
 * Call @tell with each event and gap in the packets at @bytes. Returns how many there were, or -1
 * if they cannot be read to the end without a complaint.
 */
static inline long read_packets(const struct cvl_trace *trace, const void *bytes, size_t n,
				void (*tell)(void *ctx, const struct read_event *e), void *ctx)
{
	const struct cvl_stream_opts strict = { .strict = true };
	struct read_event e;
	const struct cvl_visitor visitor = {
		read_value, read_begin, read_end, read_scope, &e, NULL
	};
	struct cvl_stream *stream;
	struct cvl_batch b;
	struct cvl_error err;
	long count = 0;
	int rc;

	if (cvl_stream_memory(&stream, trace, bytes, n, "ring", &strict, &err)) {
		printf("%s\n", err.text);
		return -1;
	}
	while ((rc = cvl_stream_next(stream, &b, &err)) > 0) {
		for (size_t i = 0; i < b.n; i++, count++) {
			const struct cvl_event_class *class = cvl_stream_class(stream, &b, i);

			e.name = class ? class->name : NULL;
			e.tick = b.tick[i].count;
			e.why = (enum cvl_gap)b.cls[i];
			e.lost = b.value[i];
			e.late = b.flags[i] & CVL_LATE;
			e.n = 0;
			if (class && (rc = cvl_stream_visit(stream, &b, i, &visitor, &err)) < 0)
				break;
			tell(ctx, &e);
		}
		if (rc < 0)
			break;
	}
	if (rc < 0)
		printf("%s\n", err.text);
	cvl_stream_close(stream);
	return rc < 0 ? -1 : count;
}

/** An event as a line of text: name@tick, and its fields; gap@tick/why/how many. */
static inline void read_text(void *out, const struct read_event *e)
{
	FILE *f = out;

	fprintf(f, "%s@%llu", e->name ? e->name : "gap", (unsigned long long)e->tick);
	if (e->late)
		fputs("<", f);
	if (!e->name)
		fprintf(f, "/%s/%lld", cvl_gap_name(e->why), (long long)e->lost);
	for (size_t i = 0; i < e->n; i++) {
		const struct cvl_value *v = &e->field[i];

		putc(' ', f);
		if (v->type->kind == CVL_TYPE_STRING)
			fprintf(f, "\"%.*s\"", (int)v->s.len, v->s.text);
		else if (v->type->kind == CVL_TYPE_FLOAT)
			fprintf(f, "%.17g", v->f);
		else if (v->type->kind == CVL_TYPE_ENUM ? v->type->elem->is_signed :
							  v->type->is_signed)
			fprintf(f, "%lld", (long long)v->i);
		else
			fprintf(f, "%llu", (unsigned long long)v->u);
	}
	putc('\n', f);
}

/** All events of some packets as text, for the caller to free; NULL if they cannot be read. */
static inline char *read_all_text(const struct cvl_trace *trace, const void *bytes, size_t n)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);
	long count;

	if (!f)
		abort();
	count = read_packets(trace, bytes, n, read_text, f);
	fclose(f);
	if (count < 0) {
		free(text);
		return NULL;
	}
	return text;
}

#endif
