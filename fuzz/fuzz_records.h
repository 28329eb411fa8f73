/* SPDX-License-Identifier: MIT */
/** A session of two clocks with records of every kind, "one" and "t*o", for targets that ask it. */
#ifndef FUZZ_RECORDS_H
#define FUZZ_RECORDS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <coeval/session.h>

static inline void must(int rc, const struct cvl_error *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "%s\n", err->text);
	abort();
}

/* Edges, readings, events, spans and a gap. */
static inline void write_clock(struct cvl_session *s, const char *name)
{
	static const struct cvl_origin origin = { .format = "fuzz", .path = "-" };
	const struct cvl_store_field field = { "value", CVL_STORE_U64 };
	const char *lines[] = { "A", "B" }, *channels[] = { "mA" };
	const struct cvl_store_desc desc = { .clock = name,
					     .rate_hz = 1000000,
					     .lines = lines,
					     .n_lines = 2,
					     .channels = channels,
					     .n_channels = 1 };
	struct cvl_error err;
	struct cvl_writer *w;
	int event;

	must(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	event = cvl_writer_declare(w, "some thing", &field, 1, &err);
	for (uint64_t k = 0; k < 300; k++) {
		const struct cvl_tick tick = { 100 * k + 10 };
		const uint64_t levels = k % 4;
		const union cvl_store_value v = { .u = UINT64_MAX - k };

		must(cvl_writer_edges(w, &tick, &levels, 1, &err), &err);
		must(cvl_writer_sample(w, tick, 0, (double)k, &err), &err);
		must(cvl_writer_event(w, tick, event, &v, &err), &err);
		must(cvl_writer_span(w, tick, !(k & 1), k / 2, "span", &err), &err);
		if (k == 150)
			must(cvl_writer_gap(w, (struct cvl_tick){ tick.count + 1 },
					    (struct cvl_tick){ tick.count + 50 }, 7,
					    CVL_GAP_OVERFLOW, &err),
			     &err);
	}
	must(cvl_session_finish(s, w, (struct cvl_tick){ 40000 }, &err), &err);
}

static inline struct cvl_session *session_of_records(const char *folder)
{
	struct cvl_session *s;
	struct cvl_error err;

	must(cvl_session_create(&s, folder, &err), &err);
	write_clock(s, "one");
	write_clock(s, "t*o");
	cvl_session_close(s);
	must(cvl_session_open(&s, folder, NULL, &err), &err);
	return s;
}

#endif
