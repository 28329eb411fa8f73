/* SPDX-License-Identifier: MIT */
/*
 * session.json and sync.json with any bytes in them. The first byte chooses which of the two is
 * hostile.
 */
#include <coeval/session.h>
#include <coeval/sync.h>
#include <coeval/timeline.h>
#include <coeval/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz_trace.h"

static const char good_session[] =
	"{\"coeval_session\": 1, \"uuid\": \"u\", \"created\": \"c\", \"epoch_unix_ns\": 0, \"clocks\": []}";

static void use(const char *dir)
{
	struct cvl_session *session;
	struct cvl_sync *sync = NULL;
	struct cvl_verify *verify;
	struct cvl_error err;

	if (cvl_session_open(&session, dir, NULL, &err))
		return;
	if (cvl_sync_load(&sync, session, &err) > 0)
		for (size_t i = 0; i < sync->n; i++)
			for (uint64_t tick = 1; sync->clock[i].map && tick; tick <<= 7) {
				int64_t bound;

				cvl_map_time(sync->clock[i].map, (struct cvl_tick){ tick }, &bound);
				if (bound < 0)
					abort();
			}
	cvl_sync_free(sync);
	cvl_session_close(session);
	if (!cvl_verify_session(&verify, dir, NULL, &err))
		cvl_verify_free(verify);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static char dir[64];

	if (!dir[0]) {
		snprintf(dir, sizeof(dir), "/tmp/coeval-fuzz-XXXXXX");
		if (!mkdtemp(dir))
			abort();
	}
	if (!n)
		return 0;
	if (data[0] & 1) {
		fuzz_put(dir, "session.json", data + 1, n - 1);
		fuzz_put(dir, "sync.json", "{}", 2);
	} else {
		fuzz_put(dir, "session.json", good_session, sizeof(good_session) - 1);
		fuzz_put(dir, "sync.json", data + 1, n - 1);
	}
	use(dir);
	return 0;
}
