/* SPDX-License-Identifier: MIT */
/*
 * derived/observations with any bytes in it, beside a session of two clocks. If the first byte is odd
 * the rest are blocks whose checksums are right.
 */
#include <coeval/session.h>
#include <coeval/sync.h>

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/core/crc32c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static char path[300];
static char head[8 + 64];

static void must(int rc, const struct cvl_error *err)
{
	if (rc < 0) {
		fprintf(stderr, "%s\n", err->text);
		abort();
	}
}

static void make_session(const char *dir)
{
	static const char *const lines[] = { "PPS" };
	const struct cvl_origin origin = { "fuzz", "-", NULL };
	struct cvl_session *s;
	struct cvl_error err;

	must(cvl_session_create(&s, dir, &err), &err);
	for (int c = 0; c < 2; c++) {
		const struct cvl_store_desc desc = {
			.clock = c ? "b" : "a", .rate_hz = 1000, .lines = lines, .n_lines = 1
		};
		struct cvl_writer *w;

		must(cvl_session_add(s, &desc, &origin, &w, &err), &err);
		for (uint64_t k = 1; k < 30; k++)
			must(cvl_writer_beacon(w, (struct cvl_tick){ 1000 * k + k % 3 }, 1, k,
					       &err),
			     &err);
		must(cvl_session_finish(s, w, (struct cvl_tick){ 30000 }, &err), &err);
	}
	cvl_session_close(s);
}

static void solve(struct cvl_session *session)
{
	const struct cvl_sync_opts opts = { .max_drift_ppm = 100 };
	struct cvl_sync *sync;
	struct cvl_error err;

	if (!cvl_sync_run(&sync, session, &opts, &err))
		cvl_sync_free(sync);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct cvl_session *session;
	struct cvl_error err;
	FILE *f;

	if (!session) {
		char dir[64], at[128];

		snprintf(dir, sizeof(dir), "/tmp/coeval-fuzz-XXXXXX");
		if (!mkdtemp(dir))
			abort();
		snprintf(at, sizeof(at), "%s/s", dir);
		make_session(at);
		must(cvl_session_open(&session, at, NULL, &err), &err);
		solve(session);
		snprintf(path, sizeof(path), "%s/derived/observations", at);
		f = fopen(path, "r");
		if (!f || fread(head, sizeof(head), 1, f) != 1)
			abort();
		fclose(f);
	}
	if (!n)
		return 0;
	f = fopen(path, "w");
	if (!f)
		abort();
	fwrite(head, sizeof(head), 1, f);
	if (data[0] & 1) {
		for (data++, n--; n > 1;) {
			const size_t take = data[0] + 1u < n ? data[0] + 1u : n - 1;
			const uint32_t block[2] = { htole32((uint32_t)take),
						    htole32(cvl_crc32c(0, data + 1, take)) };

			fwrite(block, sizeof(block), 1, f);
			fwrite(data + 1, take, 1, f);
			data += take + 1;
			n -= take + 1;
		}
	} else {
		fwrite(data + 1, 1, n - 1, f);
	}
	fclose(f);
	solve(session);
	return 0;
}
