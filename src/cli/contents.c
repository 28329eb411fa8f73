/* SPDX-License-Identifier: MIT */
#include "contents.h"
#include "json.h"

#include <stdlib.h>
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

static void put_json(struct cvl_out *o, const struct cvl_session *s, const struct contents *c,
		     const struct held *held, size_t n)
{
	struct js j = js_begin(o);

	js_text(&j, "session", cvl_session_path(s));
	js_open(&j, "clocks", '[');
	for (size_t i = 0; i < n; i++) {
		const struct cvl_clock *clock = cvl_session_clock(s, c->first + i);
		const struct held *h = &held[i];

		js_open(&j, NULL, '{');
		js_texts(&j, "name node format origin", clock->name, clock->node, clock->format,
			 clock->origin);
		js_counts(&j, "rate_hz lines channels events records gaps", clock->rate_hz,
			  h->in.lines, h->in.channels, h->in.events, h->in.records, h->in.gaps);
		js_known(&j, "from_ns", h->from, h->in.any);
		js_known(&j, "to_ns", h->to, h->in.any);
		js_close(&j, '}');
	}
	js_close(&j, ']');
	js_end(&j);
}

static void put_text(struct cvl_out *o, const struct cvl_session *s, const struct contents *c,
		     const struct held *held, size_t n)
{
	size_t apart = 0; /* distinct clocks */
	struct table t;

	cvl_out_name(o, cvl_session_path(s));
	cli_count(o, ": ", n, "clock", "");
	if (c->what)
		cli_count(o, " of ", c->n, c->what, "");
	cvl_out_char(o, '\n');
	table_heads(&t, "clock|rate Hz|lines|channels|events|records|gaps|from s|to s");
	for (size_t i = 0; i < n; i++) {
		const struct cvl_clock *clock = cvl_session_clock(s, c->first + i);
		const struct held *h = &held[i];

		table_cell(&t, "%s", clock->name);
		table_counts(&t, clock->rate_hz, h->in.lines, h->in.channels, h->in.events,
			     h->in.records, h->in.gaps);
		table_time(&t, h->in.any, (struct cvl_time){ h->from });
		table_time(&t, h->in.any, (struct cvl_time){ h->to });
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
