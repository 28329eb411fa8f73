/* SPDX-License-Identifier: MIT */
/*
 * Long calls are cancelled by their progress callback: at once and midway; what was stored by
 * then is whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <coeval/files.h>
#include <coeval/format.h>
#include <coeval/sync.h>
#include <coeval/timeline.h>
#include <coeval/verify.h>

#include "../sim/world.h"
#include "test_scratch.h"

#define SAMPLES (5u << 20)

/* Tells how often it is called, and cancels at one of the calls. */
struct count {
	uint64_t calls, cancel_at;
};

static bool tell(void *ctx, uint64_t done, uint64_t total)
{
	struct count *n = ctx;

	(void)done, (void)total;
	return n->calls++ != n->cancel_at;
}

static char session[300], out[300], raw[300], csv[300], rule[300];

/* ---- what is there beforehand ---- */

static void write_file(const char *path, const void *bytes, size_t n)
{
	struct cvl_error err;

	if (cvl_write_soon(path, bytes, n, &err))
		fail_msg("%s", err.text);
}

/* Serial text at 10 samples a bit: idle, and a byte every 2000 samples. */
static void make_raw(void)
{
	uint8_t *bytes = malloc(SAMPLES);

	assert_non_null(bytes);
	for (size_t i = 0; i < SAMPLES; i++) {
		size_t at = i % 2000 / 10;

		bytes[i] = at >= 10 || at == 9 || (at && (0x155u >> at & 1));
	}
	write_file(raw, bytes, SAMPLES);
	free(bytes);
}

static void make_csv(void)
{
	const size_t rows = 120000;
	char *text = malloc(rows * 24 + 100);
	size_t n;

	assert_non_null(text);
	n = (size_t)sprintf(text, "Time [s],a,b\n");
	for (size_t i = 0; i < rows; i++)
		n += (size_t)sprintf(text + n, "%.6f,%d,%d\n", (double)i * 1e-6, (int)(i & 1),
				     (int)(i >> 1 & 1));
	write_file(csv, text, n);
	free(text);
}

static void make_world(struct world *w)
{
	*w = (struct world){ .name = "w", .seed = 7, .duration_ns = INT64_C(200000000000) };
	w->clocks[w->n_clocks++] =
		(struct world_clocks){ .name = "node",
				       .count = 3,
				       .rate_hz = 8000000,
				       .resolution = 1,
				       .bits = 64,
				       .oscillator = { .offset_sd_ppm = 30, .walk_ppb = 10 } };
	w->sender[w->n_senders++] = (struct world_sender){ .id = 1,
							   .period_ns = 1000000000,
							   .first_number = 1,
							   .heard_by = "*",
							   .receiver = { .normal_ns = 400 } };
	w->message[w->n_messages++] = (struct world_message){ .from = "*",
							      .to = "*",
							      .per_second = 10,
							      .latency_min_ns = 5000,
							      .latency_exp_ns = 20000,
							      .back_factor = 1 };
}

static int make_all(void **state)
{
	struct world w;
	struct cvl_error err;

	if (make_scratch(state))
		return -1;
	snprintf(session, sizeof(session), "%s/s", scratch);
	snprintf(out, sizeof(out), "%s/out", scratch);
	snprintf(raw, sizeof(raw), "%s/x.bin", scratch);
	snprintf(csv, sizeof(csv), "%s/x.csv", scratch);
	snprintf(rule, sizeof(rule), "%s", COEVAL_SOURCE_DIR "/examples/rules/radio.yaml");
	make_raw();
	make_csv();
	make_world(&w);
	return world_run(&w, session, NULL, &err);
}

/* ---- the calls: each makes or reads a session, and returns what the long call did ---- */

static struct cvl_session *open_it(const char *path)
{
	char kept[400];
	struct cvl_session *s;
	struct cvl_error err;

	/* what an earlier call kept would spare this one its work */
	snprintf(kept, sizeof(kept), "%s/derived", path);
	if (!access(kept, F_OK))
		assert_int_equal(cvl_remove_tree(kept, NULL), 0);
	if (cvl_session_open(&s, path, NULL, &err))
		fail_msg("%s", err.text);
	return s;
}

static struct cvl_session *create(void)
{
	struct cvl_session *s;
	struct cvl_error err;

	if (cvl_session_create(&s, out, &err))
		fail_msg("%s", err.text);
	return s;
}

static int import(const char *path, const struct cvl_progress *p)
{
	const struct cvl_import_opts opts = { .rate_hz = 1000000, .channels = 1, .progress = *p };
	struct cvl_session *s = create();
	struct cvl_error err;
	int rc = cvl_import(s, path, NULL, &opts, &err);

	cvl_session_close(s);
	return rc;
}

static int import_raw(const struct cvl_progress *p)
{
	return import(raw, p);
}

static int import_csv(const struct cvl_progress *p)
{
	return import(csv, p);
}

static int import_ctf(const struct cvl_progress *p)
{
	return import(session, p);
}

static int join(const struct cvl_progress *p)
{
	struct cvl_session *s = create(), *from = open_it(session);
	struct cvl_error err;
	int rc = cvl_session_join(s, from, false, p, &err);

	assert_int_equal(cvl_session_clocks(s), rc ? 0 : cvl_session_clocks(from));
	cvl_session_close(from);
	cvl_session_close(s);
	return rc;
}

static int verify(const struct cvl_progress *p)
{
	const struct cvl_verify_opts opts = { .progress = *p };
	struct cvl_verify *v;
	struct cvl_error err;
	int rc = cvl_verify_session(&v, session, &opts, &err);

	if (!rc)
		assert_int_equal(v->problems, 0);
	assert_int_equal(rc && v, 0);
	if (!rc)
		cvl_verify_free(v);
	return rc;
}

static int export(const struct cvl_progress *p)
{
	const struct cvl_timeline_opts opts = { .progress = *p };
	struct cvl_session *s = open_it(session);
	struct cvl_timeline *tl;
	struct cvl_error err;
	char path[320];
	int rc = 0;

	for (size_t i = 0; !rc && cvl_exporters[i]; i++) {
		/* a disk of the timestamping kernel cannot hold what these clocks are */
		if (!strcmp(cvl_exporters[i]->name, "ett-text"))
			continue;
		snprintf(path, sizeof(path), "%s-export%s", out, cvl_exporters[i]->suffix);
		assert_int_equal(cvl_timeline_open(&tl, s, &opts, &err), 0);
		rc = cvl_exporters[i]->write(tl, path, &err);
		cvl_timeline_close(tl);
		if (rc && rc != CVL_E_CANCELLED) {
			print_message("%s: %s\n", cvl_exporters[i]->name, err.text);
			rc = 0;
		}
		if (!access(path, F_OK))
			cvl_remove_tree(path, NULL);
	}
	cvl_session_close(s);
	return rc;
}

static int sync_by(const char *estimator, bool match, const struct cvl_progress *p)
{
	const char *rules[] = { rule };
	const struct cvl_sync_opts opts = {
		.estimator = estimator, .match = rules, .n_match = match, .progress = *p
	};
	struct cvl_session *s = open_it(session);
	struct cvl_sync *sync;
	struct cvl_error err;
	int rc = cvl_sync_run(&sync, s, &opts, &err);

	assert_true(!rc == !!sync);
	if (rc && rc != CVL_E_CANCELLED)
		fail_msg("%s", err.text);
	cvl_sync_free(sync);
	cvl_session_close(s);
	return rc;
}

static int sync_smooth(const struct cvl_progress *p)
{
	return sync_by("smooth", false, p);
}

static int sync_interval(const struct cvl_progress *p)
{
	return sync_by("interval", true, p);
}

static int sync_hull(const struct cvl_progress *p)
{
	return sync_by("hull", true, p);
}

static int advise(const struct cvl_progress *p)
{
	const char *rules[] = { rule };
	const struct cvl_sync_opts opts = { .match = rules, .n_match = 1, .progress = *p };
	struct cvl_session *s = open_it(session);
	struct cvl_advice *advice = NULL;
	struct cvl_observations *obs;
	struct cvl_error err;
	int rc = cvl_observe(&obs, s, &opts, &err);

	if (!rc)
		rc = cvl_sync_advise(&advice, obs, NULL, 0, &err);
	assert_true(!rc == !!advice);
	cvl_advice_free(advice);
	cvl_observations_free(obs);
	cvl_session_close(s);
	return rc;
}

static int decode(const struct cvl_progress *p)
{
	const struct cvl_progress none = { 0 };
	struct cvl_decode d = { .protocol = CVL_PROTOCOL_UART, .baud = 100000 };
	struct cvl_session *s;
	struct cvl_error err;
	int rc;

	strcpy(d.line, "D0");
	assert_int_equal(import(raw, &none), 0);
	s = create();
	rc = cvl_decode(s, 0, &d, NULL, p, &err);
	if (rc && rc != CVL_E_CANCELLED)
		fail_msg("%s", err.text);
	assert_int_equal(cvl_session_clocks(s), rc ? 1 : 2);
	cvl_session_close(s);
	return rc;
}

static int calibrate(const struct cvl_progress *p)
{
	const struct cvl_progress none = { 0 };
	struct cvl_calibration *cal = NULL;
	struct cvl_session *s;
	struct cvl_error err;
	int rc;

	assert_int_equal(import(raw, &none), 0);
	s = open_it(out);
	rc = cvl_calibrate(&cal, s, "D0", p, &err);
	assert_null(cal);
	cvl_session_close(s);
	return rc == CVL_E_NO ? 0 : rc; /* one clock: there is nothing to find */
}

static int simulate(const struct cvl_progress *p)
{
	struct cvl_error err;
	struct world w;

	make_world(&w);
	return world_run(&w, out, p, &err);
}

static const struct {
	const char *name;
	int (*run)(const struct cvl_progress *p);
} calls[] = {
	{ "import raw", import_raw },
	{ "import csv", import_csv },
	{ "import ctf", import_ctf },
	{ "join", join },
	{ "verify", verify },
	{ "export", export },
	{ "sync by smooth", sync_smooth },
	{ "sync by interval", sync_interval },
	{ "sync by hull", sync_hull },
	{ "advise", advise },
	{ "decode", decode },
	{ "calibrate", calibrate },
	{ "simulate", simulate },
};

/* ---- the test ---- */

static void check_left(const char *name)
{
	struct cvl_verify *v;
	struct cvl_error err;
	size_t problems = 0;

	if (access(out, F_OK))
		return; /* nothing was stored */
	if (cvl_verify_session(&v, out, NULL, &err))
		fail_msg("%s: %s", name, err.text);
	for (size_t i = 0; i < v->n; i++)
		for (size_t k = 0; k < v->part[i].problems && k < CVL_VERIFY_TOLD; k++, problems++)
			print_message("%s: %s\n", name, v->part[i].problem[k]);
	assert_int_equal(problems, 0);
	cvl_verify_free(v);
	assert_int_equal(cvl_remove_tree(out, NULL), 0);
}

static void a_call_ends_where_it_is_cancelled(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct count all = { .cancel_at = UINT64_MAX };
		const struct cvl_progress count = { tell, &all };
		uint64_t at[4];

		assert_int_equal(calls[i].run(&count), 0);
		check_left(calls[i].name);
		if (!all.calls)
			fail_msg("%s: no progress", calls[i].name);
		at[0] = 0;
		at[1] = all.calls > 1;
		at[2] = all.calls / 2;
		at[3] = all.calls - 1;
		for (size_t k = 0; k < 4; k++) {
			struct count one = { .cancel_at = at[k] };
			const struct cvl_progress cancel = { tell, &one };

			if (k && at[k] <= at[k - 1])
				continue;
			if (calls[i].run(&cancel) != CVL_E_CANCELLED)
				fail_msg("%s: continues after call %llu of %llu", calls[i].name,
					 (unsigned long long)at[k], (unsigned long long)all.calls);
			assert_int_equal(one.calls, at[k] + 1);
			check_left(calls[i].name);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_ends_where_it_is_cancelled),
	};

	return cmocka_run_group_tests(tests, make_all, remove_scratch);
}
