/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "report/report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct clock_info {
	uint64_t records, gaps, late, lost, kinds[CVL_KINDS];
	bool seen;
	int64_t first, last, bound_min, bound_max;
};

struct info {
	struct cvl_session *session;
	struct cvl_timeline *tl;
	struct clock_info *clock;
};

/* A capture goes on behind its last record: nothing happened there, which is not the same as an end. */
static void see_ends(struct info *in)
{
	for (size_t i = 0; i < cvl_timeline_streams(in->tl); i++) {
		int clock = cvl_timeline_stream_clock(in->tl, i);
		struct cvl_stream_stats st;
		int64_t end;

		if (clock < 0 || !in->clock[clock].seen ||
		    !cvl_trace_ours(cvl_timeline_trace(in->tl, i)))
			continue;
		cvl_stream_stats(cvl_timeline_stream(in->tl, i), &st);
		end = cvl_map_time(cvl_timeline_map(in->tl, (size_t)clock), st.end, NULL).ns;
		if (end > in->clock[clock].last)
			in->clock[clock].last = end;
	}
}

static int scan(struct info *in, struct cvl_error *err)
{
	struct cvl_slice sl;
	int rc;

	while ((rc = cvl_timeline_next(in->tl, &sl, err)) > 0) {
		struct clock_info *c = &in->clock[sl.clock];

		for (size_t i = sl.begin; i < sl.end; i++) {
			int64_t t = sl.time[i].ns;

			c->kinds[sl.batch->kind[i]]++;
			c->late += sl.batch->flags[i] & CVL_LATE ? 1 : 0;
			if (sl.batch->kind[i] == CVL_GAP) {
				c->gaps++;
				if (sl.batch->value[i] != CVL_LOST_UNKNOWN &&
				    sl.batch->cls[i] != CVL_GAP_PACKETS)
					c->lost += sl.batch->value[i];
			} else if (!(sl.batch->flags[i] & CVL_STATE)) {
				c->records++;
			}
			if (!c->seen || t < c->first)
				c->first = t;
			if (!c->seen || t > c->last)
				c->last = t;
			c->seen = true;
		}
	}
	if (!rc)
		see_ends(in);
	return rc;
}

static size_t streams_of(const struct info *in, size_t clock)
{
	size_t n = 0;

	for (size_t i = 0; i < cvl_timeline_streams(in->tl); i++)
		n += cvl_timeline_stream_clock(in->tl, i) == (int)clock;
	return n;
}

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

static void put_seconds(struct table *t, bool known, int64_t ns)
{
	char text[CVL_TIME_TEXT];

	cvl_time_text(text, (struct cvl_time){ ns });
	table_cell(t, "%s", known ? text : "-");
}

static void print_clocks(const struct info *in, struct cvl_out *o)
{
	static const char *const heads[] = { "clock",   "node", "rate", "streams",
					     "records", "gaps", "lost", "late",
					     "from s",  "to s", NULL };
	struct table t;
	char text[40];

	table_init(&t, 10);
	table_heads(&t, heads);
	for (size_t i = 0; i < cvl_session_clocks(in->session); i++) {
		const struct cvl_clock *c = cvl_session_clock(in->session, i);
		const struct clock_info *k = &in->clock[i];

		table_cell(&t, "%s", c->name);
		table_cell(&t, "%s", c->node);
		table_cell(&t, "%s", rate_text(text, c->rate_hz));
		table_cell(&t, "%zu", streams_of(in, i));
		table_cell(&t, "%llu", (unsigned long long)k->records);
		table_cell(&t, "%llu", (unsigned long long)k->gaps);
		table_cell(&t, "%llu", (unsigned long long)k->lost);
		table_cell(&t, "%llu", (unsigned long long)k->late);
		put_seconds(&t, k->seen, k->first);
		put_seconds(&t, k->seen, k->last);
	}
	table_print(&t, o, "llrrrrrrrr", "  ");
}

static void print_sync(const struct info *in, struct cvl_out *o)
{
	const struct cvl_sync *sync = cvl_timeline_sync(in->tl);

	if (!sync) {
		cvl_out_text(
			o,
			"\nnot synchronised: times are what each clock itself claims (see `coeval help sync`)\n");
		return;
	}
	cvl_out_printf(o, "\nsynchronised by %s to %s\n", sync->estimator, sync->reference);
	report_sync_table(sync, o, "  ");
	for (size_t i = 0; i < sync->n; i++)
		if (sync->clock[i].verdict != CVL_GOOD)
			cvl_out_printf(o, "  %s: %s\n", sync->clock[i].clock,
				       sync->clock[i].reason);
}

static void print_streams(const struct info *in, struct cvl_out *o)
{
	static const char *const heads[] = { "stream", "clock", "packets", "records",
					     "gaps",   "late",  "bytes",   NULL };
	struct table t;

	cvl_out_text(o, "\nstreams\n");
	table_init(&t, 7);
	table_heads(&t, heads);
	for (size_t i = 0; i < cvl_timeline_streams(in->tl); i++) {
		int clock = cvl_timeline_stream_clock(in->tl, i);
		struct cvl_stream_stats st;

		cvl_stream_stats(cvl_timeline_stream(in->tl, i), &st);
		table_cell(&t, "%s", cvl_timeline_stream_name(in->tl, i));
		table_cell(&t, "%s",
			   clock < 0 ? "-" : cvl_session_clock(in->session, (size_t)clock)->name);
		table_cell(&t, "%llu", (unsigned long long)st.packets);
		table_cell(&t, "%llu", (unsigned long long)st.records);
		table_cell(&t, "%llu", (unsigned long long)st.gaps);
		table_cell(&t, "%llu", (unsigned long long)st.late);
		table_cell(&t, "%llu", (unsigned long long)st.bytes);
	}
	table_print(&t, o, "llrrrrr", "  ");
}

static void print_lines(const struct info *in, struct cvl_out *o)
{
	bool any = false;

	for (size_t i = 0; i < cvl_timeline_streams(in->tl); i++) {
		const struct cvl_trace *trace = cvl_timeline_trace(in->tl, i);
		int clock = cvl_timeline_stream_clock(in->tl, i);

		if (clock < 0 || !cvl_trace_ours(trace))
			continue;
		for (int k = 0; k < 2; k++) {
			const char *what = k ? "channel" : "line";
			uint64_t n = cvl_trace_env_number(trace, k ? "channels" : "lines");

			if (!n)
				continue;
			cvl_out_text(o, any ? "" : "\nlines and channels\n");
			any = true;
			cvl_out_text(o, "  ");
			cvl_out_name(o, cvl_session_clock(in->session, (size_t)clock)->name);
			cvl_out_char(o, ':');
			for (uint64_t l = 0; l < n && l < CVL_CHANNELS_MAX; l++) {
				const char *name = cvl_trace_env_at(trace, what, (size_t)l);

				cvl_out_char(o, ' ');
				cvl_out_name(o, name ? name : "?");
			}
			cvl_out_char(o, '\n');
		}
	}
}

static void print_text(const struct info *in, struct cvl_out *o)
{
	size_t clocks = cvl_session_clocks(in->session);
	uint64_t records = 0, gaps = 0;
	int64_t epoch = cvl_session_epoch(in->session);

	for (size_t i = 0; i < clocks; i++) {
		records += in->clock[i].records;
		gaps += in->clock[i].gaps;
	}
	cvl_out_name(o, cvl_session_path(in->session));
	cvl_out_text(o, ": ");
	cli_count(o, clocks, "clock");
	cvl_out_text(o, ", ");
	cli_count(o, cvl_timeline_streams(in->tl), "stream");
	cvl_out_text(o, ", ");
	cli_count(o, records, "record");
	cvl_out_text(o, ", ");
	cli_count(o, gaps, "gap");
	cvl_out_char(o, '\n');
	if (epoch) {
		time_t s = (time_t)(epoch / 1000000000);
		char date[40];
		struct tm tm;

		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", gmtime_r(&s, &tm));
		cvl_out_printf(o, "time 0 is %s.%09lld UTC, as %s claims\n", date,
			       (long long)(epoch % 1000000000),
			       clocks ? cvl_session_clock(in->session, 0)->name : "nobody");
	}
	cvl_out_text(o, "\nclocks\n");
	print_clocks(in, o);
	print_sync(in, o);
	print_lines(in, o);
	print_streams(in, o);
}

/* ---- JSON ---- */

static json_t *clock_json(const struct info *in, size_t i)
{
	const struct cvl_clock *c = cvl_session_clock(in->session, i);
	const struct cvl_sync *sync = cvl_timeline_sync(in->tl);
	const struct cvl_clock_sync *s = sync ? cvl_sync_of(sync, in->session, i) : NULL;
	const struct clock_info *k = &in->clock[i];
	json_t *kinds = json_object(), *j;

	for (int n = 0; n < CVL_KINDS; n++)
		if (k->kinds[n])
			json_object_set_new(kinds, cvl_kind_name((enum cvl_kind)n),
					    json_integer((json_int_t)k->kinds[n]));
	j = json_pack("{s:s, s:s, s:I, s:I, s:s, s:s, s:s, s:b, s:I, s:I, s:I, s:I, s:o, s:o, s:o}",
		      "name", c->name, "node", c->node, "rate_hz", (json_int_t)c->rate_hz,
		      "resolution_ticks", (json_int_t)c->resolution, "format", c->format, "origin",
		      c->origin, "hash", c->hash, "finished", !c->unfinished, "records",
		      (json_int_t)k->records, "gaps", (json_int_t)k->gaps, "lost",
		      (json_int_t)k->lost, "late", (json_int_t)k->late, "kinds", kinds, "from_ns",
		      k->seen ? json_integer(k->first) : json_null(), "to_ns",
		      k->seen ? json_integer(k->last) : json_null());
	if (s)
		json_object_set_new(j, "sync", report_sync_json(s));
	return j;
}

static void print_json(const struct info *in, struct cvl_out *o)
{
	const struct cvl_sync *sync = cvl_timeline_sync(in->tl);
	json_t *clocks = json_array(), *streams = json_array(), *root;

	for (size_t i = 0; i < cvl_session_clocks(in->session); i++)
		json_array_append_new(clocks, clock_json(in, i));
	for (size_t i = 0; i < cvl_timeline_streams(in->tl); i++) {
		int clock = cvl_timeline_stream_clock(in->tl, i);
		struct cvl_stream_stats st;

		cvl_stream_stats(cvl_timeline_stream(in->tl, i), &st);
		json_array_append_new(
			streams,
			json_pack("{s:s, s:s?, s:I, s:I, s:I, s:I, s:I}", "name",
				  cvl_timeline_stream_name(in->tl, i), "clock",
				  clock < 0 ? NULL :
					      cvl_session_clock(in->session, (size_t)clock)->name,
				  "packets", (json_int_t)st.packets, "records",
				  (json_int_t)st.records, "gaps", (json_int_t)st.gaps, "late",
				  (json_int_t)st.late, "bytes", (json_int_t)st.bytes));
	}
	root = json_pack("{s:o, s:s, s:I, s:s?, s:s?, s:o, s:o}", "session",
			 report_text(cvl_session_path(in->session)), "uuid",
			 cvl_session_uuid(in->session), "epoch_unix_ns",
			 (json_int_t)cvl_session_epoch(in->session), "estimator",
			 sync ? sync->estimator : NULL, "reference", sync ? sync->reference : NULL,
			 "clocks", clocks, "streams", streams);
	report_json(o, root);
}

struct request {
	struct cvl_timeline_opts opts;
	bool json;
};

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	JSON_OPTION(AT(json)),
	STRICT_OPTION(AT(opts.strict)),
	{ 0 },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { 0 };
	struct operands operands;
	struct problems problems;
	struct progress progress;
	struct info in = { 0 };
	struct cvl_error err;
	struct cvl_out *o;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	problems_init(&problems);
	progress_init(&progress, "reading");
	r.opts.report = &problems.report;
	r.opts.progress = (struct cvl_progress){ progress_show, &progress };
	rc = cvl_session_open(&in.session, operands.v[0], &problems.report, &err);
	if (rc)
		return cli_fail(&err);
	in.clock = calloc(cvl_session_clocks(in.session) + 1, sizeof(*in.clock));
	o = malloc(sizeof(*o));
	rc = !in.clock || !o ? cvl_no_memory(&err) :
			       cvl_timeline_open(&in.tl, in.session, &r.opts, &err);
	if (!rc)
		rc = scan(&in, &err);
	progress_clear(&progress);
	if (!rc) {
		cvl_out_init(o, STDOUT_FILENO, "standard output");
		if (r.json)
			print_json(&in, o);
		else
			print_text(&in, o);
		rc = cvl_out_flush(o, &err);
	}
	cvl_timeline_close(in.tl);
	cvl_session_close(in.session);
	free(in.clock);
	free(o);
	return cli_end(rc, &err, &problems);
}

const struct verb verb_info = {
	.name = "info",
	.group = VERB_LOOK,
	.what = "what a session holds, and how well each clock is tied",
	.operands = "SESSION|TRACE",
	.options = options,
	.examples = "  coeval info s/\n",
	.run = run,
};
