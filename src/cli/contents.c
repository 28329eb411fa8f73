/* SPDX-License-Identifier: MIT */
#include "contents.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct held {
	struct cvl_contents in;
	int64_t from, to; /* ns on the clock's own timeline */
};

static int look(const struct cvl_session *s, size_t clock, struct held *h, struct cvl_error *err)
{
	struct progress progress;
	struct cvl_map *map;
	int rc;

	progress_init(&progress, "reading");
	rc = cvl_session_contents(s, clock, &h->in,
				  &(struct cvl_progress){ progress_show, &progress }, err);
	progress_clear(&progress);
	if (rc)
		return rc;
	map = cvl_session_nominal(s, clock);
	if (!map)
		return cvl_no_memory(err);
	h->from = cvl_map_time(map, h->in.first, NULL).ns;
	h->to = cvl_map_time(map, h->in.last, NULL).ns;
	cvl_map_free(map);
	return 0;
}

static void put_string(struct cvl_out *o, const char *before, const char *text)
{
	cvl_out_text(o, before);
	cvl_out_json(o, text, strlen(text));
}

static void put_json(struct cvl_out *o, const struct cvl_session *s, const struct contents *c,
		     const struct held *held, size_t n)
{
	put_string(o, "{\"session\":", cvl_session_path(s));
	cvl_out_text(o, ",\"clocks\":[");
	for (size_t i = 0; i < n; i++) {
		const struct cvl_clock *clock = cvl_session_clock(s, c->first + i);
		const struct held *h = &held[i];

		put_string(o, i ? ",{\"name\":" : "{\"name\":", clock->name);
		put_string(o, ",\"node\":", clock->node);
		put_string(o, ",\"format\":", clock->format);
		put_string(o, ",\"origin\":", clock->origin);
		cvl_out_printf(o,
			       ",\"rate_hz\":%" PRIu64 ",\"lines\":%" PRIu64
			       ",\"channels\":%" PRIu64 ",\"events\":%zu,\"records\":%" PRIu64
			       ",\"gaps\":%" PRIu64,
			       clock->rate_hz, h->in.lines, h->in.channels, h->in.events,
			       h->in.records, h->in.gaps);
		if (h->in.any)
			cvl_out_printf(o, ",\"from_ns\":%" PRId64 ",\"to_ns\":%" PRId64 "}",
				       h->from, h->to);
		else
			cvl_out_text(o, ",\"from_ns\":null,\"to_ns\":null}");
	}
	cvl_out_text(o, "]}\n");
}

static void put_time(struct table *t, bool known, int64_t ns)
{
	char text[CVL_TIME_TEXT];

	cvl_time_text(text, (struct cvl_time){ ns });
	table_cell(t, "%s", known ? text : "-");
}

static void put_text(struct cvl_out *o, const struct cvl_session *s, const struct contents *c,
		     const struct held *held, size_t n)
{
	static const char *const heads[] = { "clock",   "rate Hz", "lines",  "channels", "events",
					     "records", "gaps",    "from s", "to s",     NULL };
	size_t apart = 0; /* distinct clocks */
	struct table t;

	cvl_out_name(o, cvl_session_path(s));
	cvl_out_text(o, ": ");
	cli_count(o, n, "clock");
	if (c->what) {
		cvl_out_text(o, " of ");
		cli_count(o, c->n, c->what);
	}
	cvl_out_char(o, '\n');
	table_init(&t, 9);
	table_heads(&t, heads);
	for (size_t i = 0; i < n; i++) {
		const struct cvl_clock *clock = cvl_session_clock(s, c->first + i);
		const struct held *h = &held[i];

		table_cell(&t, "%s", clock->name);
		table_cell(&t, "%" PRIu64, clock->rate_hz);
		table_cell(&t, "%" PRIu64, h->in.lines);
		table_cell(&t, "%" PRIu64, h->in.channels);
		table_cell(&t, "%zu", h->in.events);
		table_cell(&t, "%" PRIu64, h->in.records);
		table_cell(&t, "%" PRIu64, h->in.gaps);
		put_time(&t, h->in.any, h->from);
		put_time(&t, h->in.any, h->to);
	}
	table_print(&t, o, "lrrrrrrrr", "  ");
	for (size_t i = 0; i < cvl_session_clocks(s); i++)
		apart += cvl_session_clock(s, i)->same_as < 0;
	cvl_out_text(o, apart > 1 ? "next: coeval sync " : "next: coeval show ");
	cvl_out_name(o, cvl_session_path(s));
	cvl_out_char(o, '\n');
}

int contents_print(const struct cvl_session *s, const struct contents *c, struct cvl_error *err)
{
	const size_t n = cvl_session_clocks(s) - c->first;
	struct held *held = calloc(n + 1, sizeof(*held));
	struct cvl_out *o = malloc(sizeof(*o));
	int rc = held && o ? 0 : cvl_no_memory(err);

	for (size_t i = 0; i < n && !rc; i++)
		rc = look(s, c->first + i, &held[i], err);
	if (!rc) {
		cvl_out_init(o, STDOUT_FILENO, "standard output");
		if (c->json)
			put_json(o, s, c, held, n);
		else
			put_text(o, s, c, held, n);
		rc = cvl_out_close(o, err);
	}
	free(held);
	free(o);
	return rc;
}
