/* SPDX-License-Identifier: MIT */
/* derived/counts.json with any bytes in it, beside a session of one clock. */
#include <coeval/summary.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(int rc, const struct cvl_error *err)
{
	if (rc < 0) {
		fprintf(stderr, "%s\n", err->text);
		abort();
	}
}

static void make_session(const char *dir)
{
	const struct cvl_store_desc desc = { .clock = "c", .rate_hz = 1000 };
	const struct cvl_origin origin = { "fuzz", "-", NULL };
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_error err;

	must(cvl_session_create(&s, dir, &err), &err);
	must(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	must(cvl_writer_beacon(w, (struct cvl_tick){ 5 }, 1, 1, &err), &err);
	must(cvl_session_finish(s, w, (struct cvl_tick){ 9 }, &err), &err);
	cvl_session_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static char dir[64], path[128];
	static struct cvl_session *session;
	struct cvl_analysis *a;
	struct cvl_timeline *tl;
	struct cvl_error err;
	FILE *f;

	if (!session) {
		snprintf(dir, sizeof(dir), "/tmp/coeval-fuzz-XXXXXX");
		if (!mkdtemp(dir))
			abort();
		snprintf(path, sizeof(path), "%s/s", dir);
		make_session(path);
		must(cvl_session_open(&session, path, NULL, &err), &err);
		/* there is one that holds, to begin with */
		must(cvl_timeline_open(&tl, session, NULL, &err), &err);
		must(cvl_summary_open(&a, tl, &err), &err);
		must(cvl_analyse(tl, &a, 1, &err), &err);
		cvl_summary_keep(a);
		cvl_analysis_free(a);
		cvl_timeline_close(tl);
		snprintf(path, sizeof(path), "%s/s/derived/counts.json", dir);
		must(cvl_timeline_open(&tl, session, NULL, &err), &err);
		must(cvl_summary_open(&a, tl, &err), &err);
		if (!cvl_summary_recall(a))
			abort();
		cvl_analysis_free(a);
		cvl_timeline_close(tl);
	}
	f = fopen(path, "w");
	if (!f)
		abort();
	fwrite(data, 1, n, f);
	fclose(f);
	must(cvl_timeline_open(&tl, session, NULL, &err), &err);
	must(cvl_summary_open(&a, tl, &err), &err);
	cvl_summary_recall(a);
	cvl_analysis_free(a);
	cvl_timeline_close(tl);
	return 0;
}
