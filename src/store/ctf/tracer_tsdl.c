/* SPDX-License-Identifier: MIT */
#include "store/ctf/tracer_tsdl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/files.h>
#include "wire/trace_ring.h"

#define METADATA_MAX ((size_t)16 << 20)

static int load_one(struct tsdl *t, const char *path, size_t length, struct cvl_error *err)
{
	int rc;

	*t = (struct tsdl){ .path = strndup(path, length) };
	if (!t->path)
		return cvl_no_memory(err);
	t->text = cvl_read_whole(t->path, METADATA_MAX, &t->n, err);
	if (!t->text)
		return err ? err->code : CVL_E_IO;
	rc = cvl_trace_parse(&t->trace, t->text, t->n, t->path, err);
	if (rc)
		return rc;
	t->layout = (uint32_t)cvl_trace_env_number(t->trace, "layout");
	if (!t->layout)
		return cvl_fail(err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
				"%s: metadata lacks the layout that firmware/lib/tracer writes",
				t->path);
	return 0;
}

int tsdl_load(struct tsdl_list *l, const char *files, struct cvl_error *err)
{
	*l = (struct tsdl_list){ 0 };
	if (!files || !*files)
		return cvl_hint(
			err, CVL_HINT_METADATA,
			cvl_fail(
				err, CVL_E_USAGE, CVL_NO_OFFSET,
				"give the metadata for the packets, which the program's tracepoints "
				"print when they are compiled for this machine"));
	for (const char *at = files; at; at = strchr(at, ',')) {
		int rc;

		at += *at == ',';
		if (l->n >= TSDL_MAX) {
			tsdl_free(l);
			return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					"more than %d metadata files", TSDL_MAX);
		}
		rc = load_one(&l->item[l->n++], at, strcspn(at, ","), err);
		if (rc) {
			tsdl_free(l);
			return rc;
		}
	}
	return 0;
}

const struct tsdl *tsdl_find(const struct tsdl_list *l, uint32_t layout, const char *where,
			     struct cvl_error *err)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->item[i].layout == layout)
			return &l->item[i];
	cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
		 "%s: its program has tracepoint layout %" PRIu32 ", and %s%s of layout %" PRIu32
		 "; print the metadata of that program",
		 where, layout, l->item[0].path, l->n > 1 ? " and the others are not, but" : " is",
		 l->item[0].layout);
	return NULL;
}

void tsdl_set_end(const struct tsdl *t, void *packet, size_t n)
{
	struct tracer_packet *p = packet;
	uint64_t last = (uint64_t)p->timestamp_begin[1] << 32 | p->timestamp_begin[0];
	struct cvl_stream *stream;
	struct cvl_batch batch;

	p->timestamp_end[0] = p->timestamp_end[1] = UINT32_MAX;
	if (!cvl_stream_memory(&stream, t->trace, packet, n, t->path, NULL, NULL)) {
		while (cvl_stream_next(stream, &batch, NULL) > 0)
			for (size_t i = 0; i < batch.n; i++)
				if (batch.kind[i] != CVL_GAP && batch.tick[i].count > last)
					last = batch.tick[i].count;
		cvl_stream_close(stream);
	}
	p->timestamp_end[0] = (uint32_t)last;
	p->timestamp_end[1] = (uint32_t)(last >> 32);
}

void tsdl_free(struct tsdl_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		cvl_trace_close(l->item[i].trace);
		free(l->item[i].text);
		free(l->item[i].path);
	}
	*l = (struct tsdl_list){ 0 };
}
