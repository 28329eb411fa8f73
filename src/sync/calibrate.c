/* SPDX-License-Identifier: MIT */
#include <coeval/sync.h>

#include <coeval/timeline.h>

#include "core/files.h"
#include "core/room.h"
#include "session/jsonfile.h"
#include "session/lines.h"
#include "sync/student.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1
#define TOGETHER_NS 1000000 /* edges of one happening lie within that */
#define PASSES 10
#define LATE_MAX_NS 1e9

/* An edge of the line as one clock stamped it. */
struct seen {
	int64_t time;
	size_t clock;
};

struct edges {
	struct seen *at;
	size_t n, capacity;
};

/* ---- the edges ---- */

static int add(struct edges *e, int64_t time, size_t clock)
{
	if (cvl_room(&e->at, e->n, &e->capacity, sizeof(*e->at)))
		return CVL_E_NOMEM;
	e->at[e->n++] = (struct seen){ time, clock };
	return 0;
}

static int gather(struct edges *e, struct cvl_timeline *tl, const char *line, struct cvl_error *err)
{
	size_t n = cvl_timeline_streams(tl);
	int *bit = malloc((n + 1) * sizeof(*bit));
	uint64_t *levels = calloc(n + 1, sizeof(*levels));
	struct cvl_slice sl;
	int rc = bit && levels ? 0 : CVL_E_NOMEM;
	bool any = false;

	for (size_t s = 0; s < n && !rc; s++) {
		bit[s] = cvl_trace_line(cvl_timeline_trace(tl, s), line);
		any = any || bit[s] >= 0;
		levels[s] = UINT64_MAX; /* unknown: no rise */
	}
	if (!rc && !any)
		rc = lines_none(tl, line, err);
	while (!rc && (rc = cvl_timeline_next(tl, &sl, err)) > 0) {
		rc = 0;
		for (size_t i = sl.begin; i < sl.end && !rc; i++) {
			int b = bit[sl.stream];

			if (sl.batch->kind[i] == CVL_GAP)
				levels[sl.stream] = UINT64_MAX;
			if (sl.batch->kind[i] != CVL_EDGE || b < 0)
				continue;
			if (~levels[sl.stream] >> b & sl.batch->value[i] >> b & 1 &&
			    cvl_timeline_bound_kind(tl, sl.clock) != CVL_BOUND_NONE)
				rc = add(e, sl.time[i].ns, sl.clock);
			levels[sl.stream] = sl.batch->value[i] | sl.batch->aux[i];
		}
	}
	free(bit);
	free(levels);
	return rc == CVL_E_NOMEM ? cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory") : rc;
}

/* ---- the biases ---- */

struct fit {
	double *late, *sum, *sum2;
	uint64_t *edges;
	size_t n;
};

/* One happening: each clock's distance from the mean of all, as if what is known of their lateness were put right. */
static void use_group(struct fit *f, const struct seen *g, size_t n)
{
	double mean = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			if (g[i].clock == g[j].clock)
				return; /* two edges of one clock: not one happening */
	for (size_t i = 0; i < n; i++)
		mean += ((double)(g[i].time - g[0].time) + f->late[g[i].clock]) / (double)n;
	for (size_t i = 0; i < n; i++) {
		/* who hears late has a map that tells times too early */
		double late = mean - (double)(g[i].time - g[0].time);

		f->sum[g[i].clock] += late;
		f->sum2[g[i].clock] += late * late;
		f->edges[g[i].clock]++;
	}
}

static int by_time(const void *pa, const void *pb)
{
	const struct seen *a = pa, *b = pb;

	return a->time < b->time ? -1 : a->time > b->time;
}

/* Alternating least squares: the happenings' times from the biases and the biases from those. */
static void fit_biases(struct fit *f, struct edges *e)
{
	if (e->n)
		qsort(e->at, e->n, sizeof(*e->at), by_time);
	for (int pass = 0; pass < PASSES; pass++) {
		double mean = 0, clocks = 0;

		for (size_t c = 0; c < f->n; c++)
			f->sum[c] = f->sum2[c] = 0, f->edges[c] = 0;
		for (size_t i = 0, end; i < e->n; i = end) {
			for (end = i + 1;
			     end < e->n && e->at[end].time - e->at[i].time <= TOGETHER_NS;)
				end++;
			if (end - i > 1)
				use_group(f, e->at + i, end - i);
		}
		for (size_t c = 0; c < f->n; c++)
			if (f->edges[c]) {
				f->late[c] = f->sum[c] / (double)f->edges[c];
				mean += f->late[c];
				clocks++;
			}
		for (size_t c = 0; c < f->n && clocks > 0; c++)
			f->late[c] -= f->edges[c] ? mean / clocks : 0;
	}
}

/* 99.9 % of the mean of n edges, whose clocks err alike over about 30 s: at most so many count as independent. */
static double bias_bound(const struct fit *f, size_t c, int64_t span_ns)
{
	double n = (double)f->edges[c], mean = f->sum[c] / n;
	double var = fmax(f->sum2[c] / n - mean * mean, 0);
	double independent = fmax(fmin(n, (double)span_ns / 30e9), 2);

	return student_999(independent - 1) * sqrt(var / independent) + 1;
}

static int keep_biases(struct cvl_calibration *cal, const struct fit *f,
		       const struct cvl_session *session, int64_t span_ns, struct cvl_error *err)
{
	cal->clock = calloc(f->n + 1, sizeof(*cal->clock));
	for (size_t c = 0; cal->clock && c < f->n; c++) {
		struct cvl_bias *b = &cal->clock[cal->n];

		if (!f->edges[c])
			continue;
		b->clock = strdup(cvl_session_clock(session, c)->name);
		if (!b->clock)
			break;
		b->late_ns = f->late[c];
		b->bound_ns = bias_bound(f, c, span_ns);
		b->edges = f->edges[c];
		cal->n++;
	}
	if (!cal->clock)
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	return cal->n ? 0 :
			cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
				 "no edge of %s was seen by two synchronised clocks within 1 ms",
				 cal->line);
}

int cvl_calibrate(struct cvl_calibration **out, struct cvl_session *session, const char *line,
		  struct cvl_error *err)
{
	const struct cvl_timeline_opts opts = { 0 };
	struct cvl_calibration *cal = calloc(1, sizeof(*cal));
	struct cvl_timeline *tl = NULL;
	struct edges e = { 0 };
	struct fit f = { .n = cvl_session_clocks(session) };
	int rc;

	*out = NULL;
	f.late = calloc(f.n + 1, sizeof(*f.late));
	f.sum = calloc(f.n + 1, sizeof(*f.sum));
	f.sum2 = calloc(f.n + 1, sizeof(*f.sum2));
	f.edges = calloc(f.n + 1, sizeof(*f.edges));
	if (!cal || !f.late || !f.sum || !f.sum2 || !f.edges)
		rc = cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	else
		rc = cvl_timeline_open(&tl, session, &opts, err);
	if (!rc)
		rc = gather(&e, tl, line, err);
	if (!rc) {
		snprintf(cal->line, sizeof(cal->line), "%s", line);
		fit_biases(&f, &e);
		rc = keep_biases(cal, &f, session, e.n ? e.at[e.n - 1].time - e.at[0].time : 0,
				 err);
	}
	cvl_timeline_close(tl);
	free(e.at);
	free(f.late);
	free(f.sum);
	free(f.sum2);
	free(f.edges);
	if (rc)
		cvl_calibration_free(cal);
	else
		*out = cal;
	return rc;
}

void cvl_calibration_free(struct cvl_calibration *cal)
{
	for (size_t i = 0; cal && i < cal->n; i++)
		free(cal->clock[i].clock);
	if (cal)
		free(cal->clock);
	free(cal);
}

/* ---- the file ---- */

int cvl_calibration_save(const struct cvl_calibration *cal, const struct cvl_session *session,
			 struct cvl_error *err)
{
	char path[CVL_PATH_MAX];
	json_t *clocks = json_object(), *root;

	for (size_t i = 0; i < cal->n; i++)
		json_object_set_new(clocks, cal->clock[i].clock,
				    json_pack("{s:f, s:f, s:I}", "late_ns", cal->clock[i].late_ns,
					      "bound_ns", cal->clock[i].bound_ns, "edges",
					      (json_int_t)cal->clock[i].edges));
	root = json_pack("{s:i, s:s, s:o}", "coeval_calibration", VERSION, "line", cal->line,
			 "clocks", clocks);
	if (!root || !cvl_path_join(path, cvl_session_path(session), "calibration.json")) {
		json_decref(root);
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	}
	return jsonfile_write(path, root, 12, err);
}

static int load_clock(struct cvl_bias *b, const char *name, json_t *j)
{
	json_int_t edges;

	if (json_unpack(j, "{s:F, s:F, s:I}", "late_ns", &b->late_ns, "bound_ns", &b->bound_ns,
			"edges", &edges) ||
	    !(fabs(b->late_ns) <= LATE_MAX_NS) || !(b->bound_ns >= 0 && b->bound_ns <= LATE_MAX_NS))
		return CVL_E_SYNTAX;
	b->edges = (uint64_t)edges;
	b->clock = strdup(name);
	return b->clock ? 0 : CVL_E_NOMEM;
}

int cvl_calibration_load(struct cvl_calibration **out, const char *path, struct cvl_error *err)
{
	struct cvl_calibration *cal = calloc(1, sizeof(*cal));
	char file[CVL_PATH_MAX];
	json_t *root, *clocks, *j;
	const char *line, *name;
	json_error_t e = { .position = 0 };
	int rc;

	*out = NULL;
	if (!cal || !cvl_path_join(file, path, "calibration.json")) {
		free(cal);
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	}
	path = cvl_is_file(file) ? file : path;
	if (!cvl_is_file(path)) {
		free(cal);
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: no calibration there; `coeval sync --calibrate LINE` makes one", path);
	}
	root = jsonfile_read(path, "coeval_calibration", VERSION,
			     "; `coeval sync --calibrate LINE` makes a new one", err);
	if (!root) {
		free(cal);
		return err ? (int)err->code : CVL_E_SYNTAX;
	}
	rc = CVL_E_SYNTAX;
	if (!json_unpack_ex(root, &e, 0, "{s:s, s:o}", "line", &line, "clocks", &clocks) &&
	    json_is_object(clocks)) {
		rc = 0;
		snprintf(cal->line, sizeof(cal->line), "%s", line);
		cal->clock = calloc(json_object_size(clocks) + 1, sizeof(*cal->clock));
		if (!cal->clock)
			rc = CVL_E_NOMEM;
		json_object_foreach(clocks, name, j)
		{
			if (!rc)
				rc = load_clock(&cal->clock[cal->n], name, j);
			cal->n += !rc;
		}
	}
	json_decref(root);
	if (!rc) {
		*out = cal;
		return 0;
	}
	cvl_calibration_free(cal);
	if (rc == CVL_E_NOMEM)
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
	return cvl_fail(err, CVL_E_SYNTAX, 0, "%s:0: no calibration%s%s", path,
			e.text[0] ? ": " : "", e.text);
}
