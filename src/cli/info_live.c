/* SPDX-License-Identifier: MIT */
#include "info_live.h"

#include "json.h"

#include <coeval/array.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVERY_MS 1000

/* What came of a clock. */
struct seen {
	uint64_t records, gaps;
	bool any;
	struct cvl_time last;
	struct cvl_tick tick; /* of the last */
	int64_t capture;      /* of its bound */
};

/* What a table depends on. */
struct state {
	uint64_t records;
	int64_t settled, estimated;
	size_t clocks, silent;
	char waits_for[100];
};

struct info_live {
	struct cvl_out out;
	bool json, terminal;
	struct seen *clock;
	size_t n, room;
	struct cvl_timeline *tl;
	struct state printed;
	bool any; /* something was printed */
	int64_t printed_ms;
};

/* ---- counting ---- */

static int begin(void *live, struct cvl_timeline *tl, struct cvl_error *err)
{
	struct info_live *l = live;
	const size_t n = cvl_session_clocks(cvl_timeline_session(tl));

	for (l->tl = tl; l->n < n; l->n++) {
		if (cvl_room(&l->clock, l->n, &l->room, sizeof(*l->clock)))
			return cvl_no_memory(err);
		l->clock[l->n] = (struct seen){ 0 };
	}
	return 0;
}

static int slice(void *live, const struct cvl_slice *sl, struct cvl_error *err)
{
	struct info_live *l = live;
	struct seen *c = &l->clock[sl->clock];
	const size_t last = sl->end - 1;

	(void)err;
	for (size_t i = sl->begin; i < sl->end; i++)
		if (sl->batch->kind[i] == CVL_GAP)
			c->gaps++;
		else if (!(sl->batch->flags[i] & CVL_STATE))
			c->records++;
	if (!c->any || sl->time[last].ns >= c->last.ns) {
		c->last = sl->time[last];
		c->tick = sl->batch->tick[last];
		c->capture = cvl_timeline_bound_parts(l->tl, sl, last).capture;
	}
	c->any = true;
	return 0;
}

/* ---- printing ---- */

static bool is_known(int64_t ns)
{
	return ns > INT64_MIN && ns < CVL_TIME_MAX.ns;
}

/* Where the clock that is furthest has come to. */
static int64_t reach(const struct info_live *l, const struct state *now)
{
	int64_t most = is_known(now->estimated) ? now->estimated : INT64_MIN;

	for (size_t i = 0; i < l->n; i++)
		if (l->clock[i].any && l->clock[i].last.ns > most)
			most = l->clock[i].last.ns;
	return most;
}

static const char *verdict_of(const struct info_live *l, size_t clock)
{
	const struct cvl_sync *sync = cvl_timeline_sync(l->tl);
	const struct cvl_clock_sync *c =
		sync ? cvl_sync_of(sync, cvl_timeline_session(l->tl), clock) : NULL;

	return c ? cvl_verdict_name(c->verdict) : NULL;
}

/* Of its last record, by now. */
static int64_t bound_of(const struct info_live *l, size_t clock)
{
	const struct seen *c = &l->clock[clock];
	struct cvl_bound b = cvl_timeline_clock_bound(l->tl, clock, c->tick);

	b.capture = c->capture;
	return c->any ? cvl_bound_total(b) : CVL_BOUND_UNKNOWN;
}

static void print_time(struct cvl_out *o, const char *what, int64_t ns)
{
	char text[CVL_TIME_TEXT];

	cvl_time_text(text, (struct cvl_time){ ns });
	if (is_known(ns))
		cvl_out_printf(o, "%s %s s", what, text);
	else
		cvl_out_printf(o, "%s %s", what, ns == INT64_MIN ? "-" : "the end");
}

static void print_text(struct info_live *l, const struct cvl_follow *f, const struct state *now)
{
	const struct cvl_session *session = cvl_timeline_session(l->tl);
	struct cvl_out *o = &l->out;
	struct table t;

	if (now->settled == CVL_TIME_MAX.ns) {
		cvl_out_text(o, "ended: all of it is settled");
	} else {
		print_time(o, "settled up to", now->settled);
		print_time(o, ", estimated up to", now->estimated);
	}
	if (*now->waits_for) {
		cvl_out_text(o, ", waiting for ");
		cvl_out_name(o, now->waits_for);
	}
	cvl_out_char(o, '\n');
	table_heads(&t, "clock|records|gaps|last s|bound|quiet s|verdict|silent");
	for (size_t i = 0; i < l->n; i++) {
		const struct seen *c = &l->clock[i];
		const char *verdict = verdict_of(l, i);

		table_row(&t, cvl_session_clock(session, i)->name);
		table_counts(&t, c->records, c->gaps);
		table_time(&t, c->any, c->last);
		table_bound(&t, bound_of(l, i) != CVL_BOUND_UNKNOWN, bound_of(l, i));
		table_time(&t, c->any, (struct cvl_time){ reach(l, now) - c->last.ns });
		table_row(&t, verdict ? verdict : "-", cvl_follow_silent(f, i) ? "yes" : "no");
	}
	table_print(&t, o, "lrrrrrll", "  ");
}

static void print_json(struct info_live *l, const struct cvl_follow *f, const struct state *now)
{
	const struct cvl_session *session = cvl_timeline_session(l->tl);
	struct js j = js_begin(&l->out);

	js_bool(&j, "ended", now->settled == CVL_TIME_MAX.ns);
	js_known(&j, "settled_ns", now->settled, is_known(now->settled));
	js_known(&j, "estimated_ns", now->estimated, is_known(now->estimated));
	js_text(&j, "waits_for", *now->waits_for ? now->waits_for : NULL);
	js_open(&j, "clocks", '[');
	for (size_t i = 0; i < l->n; i++) {
		const struct seen *c = &l->clock[i];

		js_open(&j, NULL, '{');
		js_text(&j, "name", cvl_session_clock(session, i)->name);
		js_counts(&j, "records gaps", c->records, c->gaps);
		js_known(&j, "last_ns", c->last.ns, c->any);
		js_bound(&j, "bound_ns", bound_of(l, i));
		js_known(&j, "quiet_ns", reach(l, now) - c->last.ns, c->any);
		js_text(&j, "verdict", verdict_of(l, i));
		js_bool(&j, "silent", cvl_follow_silent(f, i));
		js_close(&j, '}');
	}
	js_close(&j, ']');
	js_end(&j);
}

static int print(struct info_live *l, const struct cvl_follow *f, const struct state *now,
		 struct cvl_error *err)
{
	if (l->terminal) {
		fputs("\033[H\033[J", stdout); /* to the top, and clear what is below */
		fflush(stdout);
	} else if (l->any && !l->json) {
		cvl_out_char(&l->out, '\n');
	}
	(l->json ? print_json : print_text)(l, f, now);
	l->any = true;
	l->printed = *now;
	return cvl_out_flush(&l->out, err);
}

/* ---- when ---- */

static void look(const struct info_live *l, const struct cvl_follow *f, struct state *now)
{
	const char *who = cvl_follow_waits_for(f);

	memset(now, 0, sizeof(*now)); /* it is compared as a whole */
	now->settled = cvl_follow_settled(f).ns;
	now->estimated = cvl_follow_estimated(f).ns;
	now->clocks = l->n;
	for (size_t i = 0; i < l->n; i++) {
		now->records += l->clock[i].records + l->clock[i].gaps;
		now->silent += cvl_follow_silent(f, i);
	}
	snprintf(now->waits_for, sizeof(now->waits_for), "%s", who ? who : "");
}

static int flush(void *live, const struct cvl_follow *f, bool last, struct cvl_error *err)
{
	struct info_live *l = live;
	const int64_t ms = cli_now_ms();
	struct state now;
	bool changed;
	int rc = 0;

	if (!cvl_follow_timeline(f))
		return 0;
	if (!l->tl)
		rc = begin(l, cvl_follow_timeline(f), err);
	if (rc)
		return rc;
	look(l, f, &now);
	changed = !l->any || memcmp(&now, &l->printed, sizeof(now)) != 0;
	if (!last && l->any && ms - l->printed_ms < EVERY_MS)
		return 0;
	if (changed || l->terminal) {
		l->printed_ms = ms;
		rc = print(l, f, &now, err);
	}
	return rc ? rc : l->out.closed;
}

const struct follow_view info_live_view = {
	.estimated = true,
	.every_ms = EVERY_MS,
	.begin = begin,
	.slice = slice,
	.flush = flush,
};

struct info_live *info_live_new(bool json)
{
	struct info_live *l = calloc(1, sizeof(*l));

	if (l) {
		cvl_out_init(&l->out, STDOUT_FILENO, "standard output");
		l->json = json;
		l->terminal = !json && isatty(STDOUT_FILENO) == 1;
	}
	return l;
}

void info_live_free(struct info_live *l)
{
	if (l)
		free(l->clock);
	free(l);
}
