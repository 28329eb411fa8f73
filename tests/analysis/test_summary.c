/* SPDX-License-Identifier: MIT */
/*
 * What a session holds, counted; a study of it by every estimator; and the page that is made of
 * that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <coeval/files.h>
#include <coeval/report.h>
#include <coeval/sim.h>
#include <coeval/summary.h>

#include "test_scratch.h"

static char simulated[300], stored[300];

static const char world[] = "name: small\nduration: 100s\nseed: 5\n"
			    "clocks: [{ name: n, count: 3, oscillator: { offset_sd_ppm: 40 } }]\n"
			    "beacons: [{ receiver: { normal_ns: 500 } }]\n"
			    "pulses: [{ line: PPS, clocks: 'n*', jitter: { normal_ns: 300 } }]\n";

static void must(int rc, const struct cvl_error *err)
{
	if (rc)
		fail_msg("%s", err->text);
}

/* Two lines, a channel, events of two names, and gaps of three causes. */
static void store_one(void)
{
	static const char *const lines[] = { "a", "b" }, *const channels[] = { "volts" };
	static const struct cvl_store_field field = { "n", CVL_STORE_U64 };
	const struct cvl_store_desc desc = { .clock = "desk",
					     .rate_hz = 1000,
					     .base_tick = 0,
					     .lines = lines,
					     .n_lines = 2,
					     .channels = channels,
					     .n_channels = 1 };
	const struct cvl_origin origin = { .format = "test", .path = "-" };
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_error err;
	int boot, tick;

	must(cvl_session_create(&s, stored, &err), &err);
	must(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	boot = cvl_writer_declare(w, "boot", &field, 1, &err);
	tick = cvl_writer_declare(w, "tick", &field, 1, &err);
	assert_true(boot >= 0 && tick >= 0);
	must(cvl_writer_levels(w, (struct cvl_tick){ 0 }, 0, &err), &err);
	for (uint64_t i = 1; i <= 100; i++) {
		const union cvl_store_value v = { .u = i };
		struct cvl_tick at = { 100 * i };
		uint64_t level = i & 3;

		must(cvl_writer_edges(w, &at, &level, 1, &err), &err);
		must(cvl_writer_event(w, at, i % 10 ? tick : boot, &v, &err), &err);
		must(cvl_writer_sample(w, at, 0, 1.5, &err), &err);
	}
	must(cvl_writer_gap(w, (struct cvl_tick){ 10100 }, (struct cvl_tick){ 10200 }, 7,
			    CVL_GAP_OVERFLOW, &err),
	     &err);
	must(cvl_writer_gap(w, (struct cvl_tick){ 10300 }, (struct cvl_tick){ 10400 }, 5,
			    CVL_GAP_OVERFLOW, &err),
	     &err);
	must(cvl_writer_gap(w, (struct cvl_tick){ 10500 }, (struct cvl_tick){ 10600 },
			    CVL_LOST_UNKNOWN, CVL_GAP_DISCONNECTED, &err),
	     &err);
	must(cvl_writer_gap(w, (struct cvl_tick){ 10700 }, (struct cvl_tick){ 10800 }, 2,
			    CVL_GAP_PACKETS, &err),
	     &err);
	must(cvl_session_finish(s, w, (struct cvl_tick){ 20000 }, &err), &err);
	cvl_session_close(s);
}

static int make_all(void **state)
{
	struct cvl_sim *sim;
	struct cvl_error err;

	if (make_scratch(state))
		return -1;
	snprintf(simulated, sizeof(simulated), "%s/sim", scratch);
	snprintf(stored, sizeof(stored), "%s/stored", scratch);
	store_one();
	must(cvl_sim_parse(&sim, world, strlen(world), "world", &err), &err);
	must(cvl_sim_run(sim, simulated, NULL, &err), &err);
	cvl_sim_free(sim);
	return 0;
}

struct opened {
	struct cvl_session *session;
	struct cvl_timeline *tl;
	struct cvl_analysis *a[2];
};

static struct opened open_it(const char *path, const struct cvl_timeline_opts *opts)
{
	struct opened o = { 0 };
	struct cvl_error err;

	must(cvl_session_open(&o.session, path, NULL, &err), &err);
	must(cvl_timeline_open(&o.tl, o.session, opts, &err), &err);
	for (int i = 0; i < 2; i++)
		must(cvl_summary_open(&o.a[i], o.tl, &err), &err);
	return o;
}

static void close_it(struct opened *o)
{
	for (int i = 0; i < 2; i++)
		cvl_analysis_free(o->a[i]);
	cvl_timeline_close(o->tl);
	cvl_session_close(o->session);
}

/* ---- counting ---- */

static void summary_counts_what_was_stored(void **state)
{
	struct opened o = open_it(stored, NULL);
	const struct cvl_summary *s = cvl_summary_result(o.a[0]);
	const struct cvl_summary_clock *c;
	const struct cvl_summary_stream *st;
	struct cvl_error err;

	(void)state;
	must(cvl_analyse(o.tl, o.a, 2, &err), &err);
	assert_int_equal(s->n_clocks, 1);
	assert_int_equal(s->n_streams, 1);
	assert_null(s->sync);
	c = &s->clock[0];
	assert_int_equal(c->records, 300);
	assert_int_equal(s->records, 300);
	assert_int_equal(c->kinds[CVL_EVENT], 100);
	assert_int_equal(c->kinds[CVL_SAMPLE], 100);
	assert_int_equal(c->gaps, 4);
	assert_int_equal(c->lost, 12);
	assert_int_equal(c->why[CVL_GAP_OVERFLOW].gaps, 2);
	assert_int_equal(c->why[CVL_GAP_OVERFLOW].lost, 12);
	assert_int_equal(c->why[CVL_GAP_DISCONNECTED].gaps, 1);
	assert_int_equal(c->why[CVL_GAP_DISCONNECTED].lost, 0);
	assert_int_equal(c->why[CVL_GAP_PACKETS].lost, 2);
	assert_int_equal(c->why[CVL_GAP_CORRUPT].gaps, 0);
	assert_true(c->any);
	assert_int_equal(c->first.ns, 0);
	assert_int_equal(c->last.ns, INT64_C(20000000000)); /* where the capture ended */
	st = &s->stream[0];
	assert_ptr_equal(st->clock, c);
	assert_int_equal(st->n_lines, 2);
	assert_string_equal(st->line[1], "b");
	assert_int_equal(st->n_channels, 1);
	assert_string_equal(st->channel[0], "volts");
	assert_int_equal(st->n_events, 2);
	assert_string_equal(st->event[0].name, "boot");
	assert_int_equal(st->event[0].n, 10);
	assert_string_equal(st->event[1].name, "tick");
	assert_int_equal(st->event[1].n, 90);
	/* another of the same pass says the same */
	assert_memory_equal(cvl_summary_result(o.a[1])->clock[0].kinds, c->kinds, sizeof(c->kinds));
	close_it(&o);
}

static void summary_of_a_range_ends_in_it(void **state)
{
	const struct cvl_timeline_opts opts = {
		.has_from = true, .has_until = true, .from = { 2000000000 }, .until = { 5000000000 }
	};
	struct opened o = open_it(stored, &opts);
	const struct cvl_summary *s = cvl_summary_result(o.a[0]);
	struct cvl_error err;

	(void)state;
	must(cvl_analyse(o.tl, o.a, 1, &err), &err);
	assert_int_equal(s->clock[0].kinds[CVL_EVENT], 31);
	assert_int_equal(s->clock[0].gaps, 0);
	assert_int_equal(s->clock[0].first.ns, 2000000000);
	assert_int_equal(s->clock[0].last.ns, 5000000000);
	close_it(&o);
}

/* ---- a study ---- */

static struct cvl_study *study_of(struct cvl_session *session, const char *estimator)
{
	static const struct cvl_sync_opts opts = {
		.pulse = { { .line = "PPS", .rising = true, .period_ns = 1000000000 } },
		.n_pulse = 1,
	};
	struct cvl_study *study;
	struct cvl_error err;

	must(cvl_study_make(&study, session, &opts, estimator, &err), &err);
	return study;
}

static struct cvl_session *open_simulated(void)
{
	struct cvl_session *s;
	struct cvl_error err;

	must(cvl_session_open(&s, simulated, NULL, &err), &err);
	return s;
}

static void study_compares_estimators_with_the_truth(void **state)
{
	struct cvl_session *s = open_simulated();
	struct cvl_study *study = study_of(s, "line");
	const struct cvl_study_result *main = &study->result[study->main];
	size_t scored = 0;

	(void)state;
	assert_string_equal(main->info->name, "line");
	assert_non_null(study->truth);
	for (size_t i = 0; i < study->n; i++) {
		const struct cvl_study_result *r = &study->result[i];

		if (!r->sync)
			continue;
		scored += r->score.n > 0;
		assert_false(r->info->messages);
		for (size_t k = 1; r->score.n && k < CVL_STUDY_QUANTILES; k++)
			assert_true(r->quantile[k - 1] <= r->quantile[k]);
	}
	assert_true(scored >= 4);
	assert_int_equal(main->tied, 3);
	assert_true(main->score.coverage > 0.99);
	assert_int_equal(study->n_clocks, 3);
	for (size_t i = 0; i < study->n_clocks; i++) {
		const struct cvl_study_clock *c = &study->clock[i];

		assert_true(c->n_marks >= 150); /* beacons and pulses */
		for (size_t k = 1; k < c->n_marks; k++)
			assert_true(c->mark_t[k - 1] <= c->mark_t[k]);
	}
	for (size_t k = 1; k < study->n_residuals; k++)
		assert_true(fabs(study->residual[k - 1]) <= fabs(study->residual[k]));
	cvl_study_free(study);
	cvl_session_close(s);
}

static void study_says_why_there_is_none(void **state)
{
	const struct cvl_sync_opts opts = { 0 };
	struct cvl_study *study;
	struct cvl_session *s;
	struct cvl_error err;

	(void)state;
	must(cvl_session_open(&s, stored, NULL, &err), &err);
	/* one clock needs no tie */
	must(cvl_study_make(&study, s, &opts, NULL, &err), &err);
	assert_int_equal(study->n, 1);
	assert_int_equal(study->n_residuals, 0);
	for (size_t i = 0; cvl_report_figure_name(i); i++)
		assert_false(cvl_report_figure_fits(i, study) &&
			     strstr(cvl_report_figure_name(i), "residual"));
	cvl_study_free(study);
	cvl_study_free(NULL);
	cvl_session_close(s);
}

/* ---- the page ---- */

static char *written(void (*put)(struct cvl_out *o, const struct cvl_study *s, size_t i),
		     const struct cvl_study *s, size_t i)
{
	struct cvl_out *o = malloc(sizeof(*o));
	char path[400], *text;
	size_t bytes;
	struct cvl_error err;

	snprintf(path, sizeof(path), "%s/out", scratch);
	assert_non_null(o);
	must(cvl_out_open(o, path, &err), &err);
	put(o, s, i);
	must(cvl_out_close(o, &err), &err);
	free(o);
	text = cvl_read_whole(path, 1 << 24, &bytes, &err);
	assert_non_null(text);
	return text;
}

static void put_page(struct cvl_out *o, const struct cvl_study *s, size_t i)
{
	static const struct cvl_sync_opts opts = { 0 };
	const struct cvl_report_page page = { .path = "a<b", .opts = &opts };

	(void)i;
	cvl_report_html(o, s, &page);
}

static void put_figure(struct cvl_out *o, const struct cvl_study *s, size_t i)
{
	cvl_report_figure(o, i, s);
}

static void page_has_the_figures_that_fit(void **state)
{
	struct cvl_session *s = open_simulated();
	struct cvl_study *study = study_of(s, NULL);
	char *page = written(put_page, study, 0);
	size_t n = 0;

	(void)state;
	assert_non_null(strstr(page, "a&#60;b"));
	assert_null(strstr(page, "a<b"));
	for (; cvl_report_figure_name(n); n++) {
		char *figure = written(put_figure, study, n), id[100];

		assert_true(cvl_report_figure_fits(n, study));
		assert_memory_equal(figure, "<svg ", 5);
		assert_non_null(strstr(page, figure));
		snprintf(id, sizeof(id), "<figure id=\"%s\">", cvl_report_figure_name(n));
		assert_non_null(strstr(page, id));
		free(figure);
	}
	assert_int_equal(n, 6);
	free(page);
	cvl_study_free(study);
	cvl_session_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(summary_counts_what_was_stored),
		cmocka_unit_test(summary_of_a_range_ends_in_it),
		cmocka_unit_test(study_compares_estimators_with_the_truth),
		cmocka_unit_test(study_says_why_there_is_none),
		cmocka_unit_test(page_has_the_figures_that_fit),
	};

	return cmocka_run_group_tests(tests, make_all, remove_scratch);
}
