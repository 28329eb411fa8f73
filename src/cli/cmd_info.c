/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "clocks_print.h"
#include "info_live.h"
#include "output.h"

#include <coeval/summary.h>

#include <time.h>

static const char *rate_text(char out[40], uint64_t hz)
{
	if (hz % 1000000 == 0)
		snprintf(out, 40, "%llu MHz", (unsigned long long)(hz / 1000000));
	else if (hz % 1000 == 0)
		snprintf(out, 40, "%llu kHz", (unsigned long long)(hz / 1000));
	else
		snprintf(out, 40, "%llu Hz", (unsigned long long)hz);
	return out;
}

/* ---- text ---- */

static void print_clocks(const struct cvl_summary *s, struct cvl_out *o)
{
	struct table t;
	char text[40];

	table_heads(&t, "clock|node|rate|streams|records|gaps|lost|late|from s|to s");
	for (size_t i = 0; i < s->n_clocks; i++) {
		const struct cvl_summary_clock *c = &s->clock[i];

		table_row(&t, c->clock->name, c->clock->node, rate_text(text, c->clock->rate_hz));
		table_counts(&t, c->streams, c->records, c->gaps, c->lost, c->late);
		table_time(&t, c->any, c->first);
		table_time(&t, c->any, c->last);
	}
	table_print(&t, o, "llrrrrrrrr", "  ");
}

static void print_sync(const struct cvl_sync *sync, struct cvl_out *o)
{
	if (!sync) {
		cvl_out_text(
			o,
			"\nnot synchronised: times are what each clock itself claims (see `coeval help sync`)\n");
		return;
	}
	cvl_out_printf(o, "\nsynchronised by %s to %s\n", sync->estimator, sync->reference);
	clocks_table(sync, o, "  ");
	clocks_reasons(sync, o, false, "  ");
}

static void print_streams(const struct cvl_summary *s, struct cvl_out *o)
{
	struct table t;

	cvl_out_text(o, "\nstreams\n");
	table_heads(&t, "stream|clock|packets|records|gaps|late|bytes");
	for (size_t i = 0; i < s->n_streams; i++) {
		const struct cvl_summary_stream *st = &s->stream[i];

		table_row(&t, st->name, st->clock ? st->clock->clock->name : "-");
		table_counts(&t, st->stats.packets, st->stats.records, st->stats.gaps,
			     st->stats.late, st->stats.bytes);
	}
	table_print(&t, o, "llrrrrr", "  ");
}

static void print_names(struct cvl_out *o, const struct cvl_summary_stream *st,
			const char *const *name, size_t n, bool *any)
{
	if (!n || !st->clock)
		return;
	cvl_out_text(o, *any ? "  " : "\nlines and channels\n  ");
	*any = true;
	cvl_out_name(o, st->clock->clock->name);
	cvl_out_char(o, ':');
	for (size_t i = 0; i < n; i++) {
		cvl_out_char(o, ' ');
		cvl_out_name(o, name[i]);
	}
	cvl_out_char(o, '\n');
}

static void print_epoch(const struct cvl_session *session, struct cvl_out *o)
{
	int64_t epoch = cvl_session_epoch(session);
	time_t s = (time_t)(epoch / 1000000000);
	char date[40];
	struct tm tm;

	if (!epoch)
		return;
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", gmtime_r(&s, &tm));
	cvl_out_printf(
		o, "time 0 is %s.%09lld UTC, as %s claims\n", date, (long long)(epoch % 1000000000),
		cvl_session_clocks(session) ? cvl_session_clock(session, 0)->name : "nobody");
}

/* What can be made again, if it takes much. */
static void print_derived(const struct cvl_session *session, struct cvl_out *o)
{
	const uint64_t bytes = cvl_session_derived(session);

	if (bytes < 1000000)
		return;
	cvl_out_printf(o, "\n%llu MB can be made again: clock maps and counts (",
		       (unsigned long long)(bytes / 1000000));
	cvl_out_text(o, "`coeval session clean --derived ");
	cvl_out_name(o, cvl_session_path(session));
	cvl_out_text(o, "`)\n");
}

static void print_text(struct cvl_out *o, const void *summary)
{
	const struct cvl_summary *s = summary;
	size_t resets = 0;
	bool any = false;

	cvl_out_name(o, cvl_session_path(s->session));
	for (size_t i = 0; i < s->n_clocks; i++)
		resets += s->clock[i].clock->first_epoch >= 0 && s->clock[i].clock->epoch > 1;
	cli_count(o, ": ", s->n_clocks - resets, "clock", "");
	if (resets)
		cli_count(o, " (", resets, "reset", ")");
	cvl_out_text(o, ", ");
	cli_count(o, "", s->n_streams, "stream", ", ");
	cli_count(o, "", s->records, "record", ", ");
	cli_count(o, "", s->gaps, "gap", "\n");
	print_epoch(s->session, o);
	cvl_out_text(o, "\nclocks\n");
	print_clocks(s, o);
	print_sync(s->sync, o);
	for (size_t i = 0; i < s->n_streams; i++) {
		const struct cvl_summary_stream *st = &s->stream[i];

		print_names(o, st, st->line, st->n_lines, &any);
		print_names(o, st, st->channel, st->n_channels, &any);
	}
	print_streams(s, o);
	print_derived(s->session, o);
}

/* ---- JSON ---- */

static void put_gaps(struct js *j, const struct cvl_summary_clock *c)
{
	js_open(j, "gaps_by_cause", '{');
	for (int why = 0; why < CVL_GAPS; why++) {
		if (!c->why[why].gaps)
			continue;
		js_open(j, cvl_gap_name((enum cvl_gap)why), '{');
		js_counts(j, "gaps known_lost", c->why[why].gaps, c->why[why].lost);
		js_close(j, '}');
	}
	js_close(j, '}');
}

static void put_clock(struct js *j, const struct cvl_summary_clock *k)
{
	const struct cvl_clock *c = k->clock;

	js_open(j, NULL, '{');
	js_texts(j, "name node clock", c->name, c->node, c->clock);
	js_count(j, "epoch", c->epoch);
	js_counts(j, "rate_hz resolution_ticks", c->rate_hz, c->resolution);
	js_texts(j, "format origin hash", c->format, c->origin, c->hash);
	js_bool(j, "finished", !c->unfinished);
	js_counts(j, "records gaps lost late", k->records, k->gaps, k->lost, k->late);
	js_open(j, "kinds", '{');
	for (int n = 0; n < CVL_KINDS; n++)
		if (k->kinds[n])
			js_count(j, cvl_kind_name((enum cvl_kind)n), k->kinds[n]);
	js_close(j, '}');
	if (k->gaps)
		put_gaps(j, k);
	js_known(j, "from_ns", k->first.ns, k->any);
	js_known(j, "to_ns", k->last.ns, k->any);
	if (k->sync) {
		js_open(j, "sync", '{');
		clocks_put(j, k->sync);
		js_close(j, '}');
	}
	js_close(j, '}');
}

static void put_stream(struct js *j, const struct cvl_summary_stream *st)
{
	js_open(j, NULL, '{');
	js_texts(j, "name clock", st->name, st->clock ? st->clock->clock->name : NULL);
	js_counts(j, "packets records gaps late bytes", st->stats.packets, st->stats.records,
		  st->stats.gaps, st->stats.late, st->stats.bytes);
	if (st->n_lines)
		js_list(j, "lines", st->line, st->n_lines);
	if (st->n_channels)
		js_list(j, "channels", st->channel, st->n_channels);
	if (st->n_events) {
		js_open(j, "events", '[');
		for (size_t i = 0; i < st->n_events; i++) {
			js_open(j, NULL, '{');
			js_text(j, "name", st->event[i].name);
			js_count(j, "n", st->event[i].n);
			js_close(j, '}');
		}
		js_close(j, ']');
	}
	js_close(j, '}');
}

static void print_json(struct cvl_out *o, const void *summary)
{
	const struct cvl_summary *s = summary;
	struct js j = js_begin(o);

	js_texts(&j, "session uuid", cvl_session_path(s->session), cvl_session_uuid(s->session));
	js_int(&j, "epoch_unix_ns", cvl_session_epoch(s->session));
	js_count(&j, "derived_bytes", cvl_session_derived(s->session));
	js_texts(&j, "estimator reference", s->sync ? s->sync->estimator : NULL,
		 s->sync ? s->sync->reference : NULL);
	js_open(&j, "clocks", '[');
	for (size_t i = 0; i < s->n_clocks; i++)
		put_clock(&j, &s->clock[i]);
	js_close(&j, ']');
	js_open(&j, "streams", '[');
	for (size_t i = 0; i < s->n_streams; i++)
		put_stream(&j, &s->stream[i]);
	js_close(&j, ']');
	js_end(&j);
}

/* ---- the verb ---- */

struct request {
	struct cvl_timeline_opts opts;
	struct follow_options follow;
	bool json;
};

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	FOLLOW_OPTIONS(AT(follow),
		       "of a growing session: how far its clocks are, until its writer ends or ^C"),
	JSON_OPTION(AT(json)),
	STRICT_OPTION(AT(opts.strict)),
	{ 0 },
};

/* Problems are told again next time: what has any is read again. */
struct told {
	const struct cvl_report *to;
	size_t n;
};

static void tell_on(void *ctx, const struct cvl_error *problem)
{
	struct told *t = ctx;

	t->n++;
	cvl_tell(t->to, problem);
}

static int summarise(void *request, struct cvl_session *session, struct cvl_error *err)
{
	const struct request *r = request;
	struct cvl_timeline_opts opts = r->opts;
	struct told told = { .to = opts.report };
	const struct cvl_report report = { tell_on, &told };
	struct cvl_analysis *a = NULL;
	struct cvl_timeline *tl = NULL;
	int rc;

	opts.report = &report;
	rc = cvl_timeline_open(&tl, session, &opts, err);
	if (!rc)
		rc = cvl_summary_open(&a, tl, err);
	if (!rc && (opts.strict || !cvl_summary_recall(a))) {
		rc = cvl_analyse(tl, &a, 1, err);
		if (!rc && !told.n)
			cvl_summary_keep(a);
	}
	progress_clear(r->opts.progress.ctx);
	if (!rc)
		rc = output_print(r->json ? print_json : print_text, cvl_summary_result(a), err);
	cvl_analysis_free(a);
	cvl_timeline_close(tl);
	return rc;
}

static int follow(const char *path, struct request *r)
{
	struct info_live *live = info_live_new(r->json);
	struct cvl_error err;
	int rc;

	if (!live) {
		cvl_no_memory(&err);
		return cli_fail(&err);
	}
	rc = follow_study(path, &r->follow, &r->opts, &info_live_view, live);
	info_live_free(live);
	return rc;
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .json = false };
	struct operands operands;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	rc = follow_check(verb, &r.follow, NULL);
	if (rc)
		return rc;
	return r.follow.on ? follow(operands.v[0], &r) :
			     cli_study(operands.v[0], "reading", &r.opts, summarise, &r);
}

const struct verb verb_info = {
	.name = "info",
	.group = VERB_LOOK,
	.what = "what a session holds, and how well each clock is tied",
	.operands = "SESSION|TRACE",
	.options = options,
	.examples = "  coeval info s/\n"
		    "  coeval info s/ --follow\n",
	.run = run,
};
