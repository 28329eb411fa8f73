/* SPDX-License-Identifier: MIT */
#include "grace.h"

#include <coeval/error.h>
#include <coeval/sync.h>
#include <coeval/timeline.h>

#include <string.h>

#define BEACON_LINE 7
#define PIECE ((size_t)1 << 18) /* as a driver hands samples on */

static int hear(void *ctx, struct cvl_tick tick, struct cvl_writer *w, struct cvl_error *err)
{
	struct grace_record *r = ctx;

	return cvl_writer_beacon(w, tick, 0, r->beacons++, err);
}

int grace_record_open(const struct bench *b, struct grace_record *r, const char *path,
		      uint64_t rate_hz)
{
	static const char *const lines[] = { "a", "b", "c", "d", "e", "f", "g", "radio" };
	const struct cvl_store_desc desc = {
		.clock = "node", .rate_hz = rate_hz, .lines = lines, .n_lines = 8
	};
	const struct cvl_origin origin = { .format = "bench", .path = "-" };
	struct cvl_watch watch = { hear, r, BEACON_LINE };
	struct cvl_error err;
	int rc;

	*r = (struct grace_record){ 0 };
	rc = cvl_session_create(&r->session, path, &err);
	if (!rc)
		rc = cvl_samples_open(&r->samples, r->session, &desc, &origin, 1, &err);
	if (rc)
		return bench_fail(b, rc, "%s", err.text);
	cvl_samples_watch(r->samples, &watch);
	return 0;
}

int grace_record_feed(const struct bench *b, struct grace_record *r, const uint8_t *sample,
		      size_t n)
{
	struct cvl_error err;
	int rc = 0;

	for (size_t at = 0; at < n && !rc; at += PIECE)
		rc = cvl_samples_feed(r->samples, sample + at, n - at < PIECE ? n - at : PIECE,
				      &err);
	return rc ? bench_fail(b, rc, "%s", err.text) : 0;
}

int grace_record_close(const struct bench *b, struct grace_record *r, int rc)
{
	struct cvl_error err;
	int closed = r->samples ? cvl_samples_close(r->samples, rc, &err) : 0;

	if (closed && !rc)
		rc = bench_fail(b, closed, "%s", err.text);
	cvl_session_close(r->session);
	return rc;
}

static void read_slice(const struct cvl_slice *s, const struct grace_reader *reader)
{
	for (size_t i = s->begin; i < s->end; i++) {
		const struct cvl_batch *batch = s->batch;

		if (batch->kind[i] == CVL_EDGE && !(batch->flags[i] & CVL_STATE))
			reader->edge(reader->ctx, batch->tick[i], s->time[i]);
		else if (batch->kind[i] == CVL_BEACON && reader->beacon)
			reader->beacon(reader->ctx, batch->tick[i], batch->value[i]);
	}
}

int grace_read(const struct bench *b, const char *path, const struct grace_reader *reader)
{
	const struct cvl_sync_opts opts = { 0 };
	const struct cvl_timeline_opts all = { 0 };
	struct cvl_session *session = NULL;
	struct cvl_timeline *timeline = NULL;
	struct cvl_sync *sync = NULL;
	struct cvl_block block;
	struct cvl_slice slice;
	struct cvl_error err;
	int rc = cvl_session_open(&session, path, NULL, &err);

	if (!rc)
		rc = cvl_sync_run(&sync, session, &opts, &err);
	if (!rc)
		rc = cvl_sync_save(sync, session, &err);
	if (!rc && sync->clock[0].verdict != CVL_GOOD)
		rc = cvl_fail(&err, CVL_E_MISMATCH, CVL_NO_OFFSET, "the clock is not good: %s",
			      sync->clock[0].reason);
	if (!rc)
		rc = cvl_timeline_open(&timeline, session, &all, &err);
	while (!rc && (rc = cvl_timeline_next(timeline, &block, &err)) > 0)
		while (cvl_block_take(&block, &slice)) {
			read_slice(&slice, reader);
			rc = 0;
		}
	cvl_timeline_close(timeline);
	cvl_sync_free(sync);
	cvl_session_close(session);
	return rc ? bench_fail(b, rc, "%s", err.text) : 0;
}
