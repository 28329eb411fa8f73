/* SPDX-License-Identifier: MIT */
#include <coeval/sync.h>

#include <coeval/timeline.h>

#include <coeval/files.h>
#include <coeval/array.h>
#include "store/jsonfile.h"
#include "store/lines.h"
#include "sync/bias.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LATE_MAX_NS 1e9

struct edges {
	struct bias_edge *at;
	size_t n, capacity;
};

/* ---- the edges ---- */

/* 99.9 % bound in standard deviations. */
#define SD_999 3.29

static int add(struct edges *e, const struct cvl_timeline *tl, const struct cvl_slice *sl, size_t i)
{
	const struct cvl_clock *c = cvl_session_clock(cvl_timeline_session(tl), sl->clock);
	const struct cvl_bound b = cvl_timeline_bound_parts(tl, sl, i);
	const bool bracketed = sl->batch->bracket && sl->batch->bracket[i] > c->resolution;
	const double map = b.map == CVL_BOUND_UNKNOWN ? 0 : (double)b.map / SD_999;

	if (cvl_room(&e->at, e->n, &e->capacity, sizeof(*e->at)))
		return CVL_E_NOMEM;
	e->at[e->n++] = (struct bias_edge){
		.time = sl->time[i].ns,
		.clock = sl->clock,
		/* rounding errors are uniform */
		.sd = bracketed ? map : hypot(map, (double)b.capture / sqrt(3)),
		.fixed = bracketed ? (double)b.capture : 0,
	};
	return 0;
}

/* Rises of line @bit (negative: the stream has none); @levels before and after. */
static int rises(struct edges *e, struct cvl_timeline *tl, const struct cvl_slice *sl, int bit,
		 uint64_t *levels)
{
	int rc = 0;

	for (size_t i = sl->begin; i < sl->end && !rc; i++) {
		if (sl->batch->kind[i] == CVL_GAP)
			*levels = UINT64_MAX;
		if (sl->batch->kind[i] != CVL_EDGE || bit < 0)
			continue;
		if (~*levels >> bit & sl->batch->value[i] >> bit & 1 &&
		    cvl_timeline_bound_kind(tl, sl->clock) != CVL_BOUND_NONE)
			rc = add(e, tl, sl, i);
		*levels = sl->batch->value[i] | sl->batch->aux[i];
	}
	return rc;
}

static int gather(struct edges *e, struct cvl_timeline *tl, const char *line, struct cvl_error *err)
{
	size_t n = cvl_timeline_streams(tl);
	int *bit = malloc((n + 1) * sizeof(*bit));
	uint64_t *levels = calloc(n + 1, sizeof(*levels));
	struct cvl_block block;
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
	while (!rc && (rc = cvl_timeline_next(tl, &block, err)) > 0) {
		rc = 0;
		while (!rc && cvl_block_take(&block, &sl))
			rc = rises(e, tl, &sl, bit[sl.stream], &levels[sl.stream]);
	}
	free(bit);
	free(levels);
	return rc == CVL_E_NOMEM ? cvl_no_memory(err) : rc;
}

/* ---- the biases ---- */

static int keep_biases(struct cvl_calibration *cal, const struct bias *bias,
		       const struct cvl_session *session, struct cvl_error *err)
{
	const size_t n = cvl_session_clocks(session);

	cal->clock = calloc(n + 1, sizeof(*cal->clock));
	for (size_t c = 0; cal->clock && c < n; c++) {
		struct cvl_bias *b = &cal->clock[cal->n];

		if (!bias[c].edges)
			continue;
		b->clock = strdup(cvl_session_clock(session, c)->name);
		if (!b->clock)
			return cvl_no_memory(err);
		b->late_ns = bias[c].late_ns;
		b->bound_ns = bias[c].bound_ns;
		b->edges = bias[c].edges;
		cal->n++;
	}
	if (!cal->clock)
		return cvl_no_memory(err);
	return cal->n ? 0 :
			cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
				 "no edge of %s was seen by two synchronised clocks within 1 ms",
				 cal->line);
}

int cvl_calibrate(struct cvl_calibration **out, struct cvl_session *session, const char *line,
		  const struct cvl_progress *progress, struct cvl_error *err)
{
	struct cvl_timeline_opts opts = { 0 };
	struct cvl_calibration *cal = calloc(1, sizeof(*cal));
	struct cvl_timeline *tl = NULL;
	struct edges e = { 0 };
	struct bias *bias = calloc(cvl_session_clocks(session) + 1, sizeof(*bias));
	int rc;

	*out = NULL;
	if (progress)
		opts.progress = *progress;
	if (!cal || !bias)
		rc = cvl_no_memory(err);
	else
		rc = cvl_timeline_open(&tl, session, &opts, err);
	if (!rc)
		rc = gather(&e, tl, line, err);
	if (!rc && bias_find(e.at, e.n, bias, cvl_session_clocks(session)))
		rc = cvl_no_memory(err);
	if (!rc) {
		snprintf(cal->line, sizeof(cal->line), "%s", line);
		rc = keep_biases(cal, bias, session, err);
	}
	cvl_timeline_close(tl);
	free(e.at);
	free(bias);
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
	root = json_pack("{s:i, s:s, s:o}", "coeval_calibration", JSONFILE_CALIBRATION, "line",
			 cal->line, "clocks", clocks);
	if (!root || !cvl_path_join(path, cvl_session_path(session), "calibration.json")) {
		json_decref(root);
		return cvl_no_memory(err);
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
		return cvl_no_memory(err);
	}
	path = cvl_is_file(file) ? file : path;
	if (!cvl_is_file(path)) {
		free(cal);
		return cvl_hint(
			err, CVL_HINT_CALIBRATE,
			cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: no calibration found", path));
	}
	root = jsonfile_read(path, "coeval_calibration", JSONFILE_CALIBRATION, err);
	if (!root) {
		free(cal);
		return cvl_hint(err, CVL_HINT_CALIBRATE, err ? (int)err->code : CVL_E_SYNTAX);
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
		return cvl_no_memory(err);
	return cvl_fail(err, CVL_E_SYNTAX, 0, "%s:0: not a calibration%s%s", path,
			e.text[0] ? ": " : "", e.text);
}
