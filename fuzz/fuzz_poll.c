/* SPDX-License-Identifier: MIT */
/*
 * What users say of sources, points and processors; and any run of what a loop may see, made into
 * records.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/drivers/poll/facts.h"
#include "capture/drivers/poll/source.h"
#include "capture/drivers/poll/records.h"

static int see(void *ctx, size_t analyzer, const struct driver_record *r, size_t n,
	       struct cvl_error *err)
{
	uint64_t *sum = ctx;

	(void)analyzer, (void)err;
	for (size_t i = 0; i < n; i++)
		*sum += r[i].tick + (r[i].what == DRIVER_EVENT && r[i].cls == POLL_RECORD_GAP ?
					     strlen(r[i].field[2].s) :
					     0);
	return 0;
}

static void records(const uint8_t *data, size_t n)
{
	static struct poll_records t;
	struct poll_watch watch = { .root = "/there/is/none", .msr = -1 };
	uint64_t sum = 0, at = 1000;
	const struct driver_sink sink = { .records = see, .ctx = &sum };

	memset(&t, 0, sizeof(t));
	t.sink = &sink;
	t.watch = &watch;
	for (size_t i = 0; i + 4 <= n; i += 4) {
		struct poll_seen s = { .kind = (enum poll_kind)(data[i] % 4), .lost = data[i + 1] };

		s.from = at + data[i + 2];
		s.to = s.from + data[i + 3];
		s.moved = data[i] & 64;
		poll_records_seen(&t, &s, NULL);
		if (data[i] & 128)
			poll_records_until(&t, at, NULL);
		at += data[i + 1];
	}
	poll_records_until(&t, UINT64_MAX, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct poll_source source;
	struct cvl_error err;
	char *text = malloc(n + 1);

	if (!text)
		return 0;
	memcpy(text, data, n);
	text[n] = '\0';
	if (!poll_source_parse(&source, text, &err) &&
	    (poll_source_lines(&source) < 1 || poll_source_lines(&source) > 64))
		abort();
	facts_in_list(text, 3);
	records(data, n);
	free(text);
	return 0;
}
