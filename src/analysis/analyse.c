/* SPDX-License-Identifier: MIT */
#include <coeval/analysis.h>

#include <stdlib.h>

int cvl_analysis_push(struct cvl_analysis *a, const struct cvl_slice *slice, struct cvl_error *err)
{
	return a->kind->push(a, slice, err);
}

int cvl_analysis_end(struct cvl_analysis *a, struct cvl_time last, struct cvl_error *err)
{
	return a->kind->end(a, last, err);
}

void cvl_analysis_free(struct cvl_analysis *a)
{
	if (a)
		a->kind->free(a);
}

/* What several analyses together need of the streams. */
struct wanted {
	struct cvl_pick *pick; /* per stream */
	bool **classes;
	size_t n;
};

static bool add_classes(struct wanted *w, size_t stream, const struct cvl_pick *p)
{
	struct cvl_pick *sum = &w->pick[stream];

	if (!p->n_classes)
		return true;
	if (!sum->n_classes) {
		w->classes[stream] = calloc(p->n_classes, sizeof(bool));
		if (!w->classes[stream])
			return false;
		sum->classes = w->classes[stream];
		sum->n_classes = p->n_classes;
	}
	for (size_t i = 0; i < p->n_classes && i < sum->n_classes; i++)
		w->classes[stream][i] |= p->classes[i];
	return true;
}

/* False: out of memory. */
static bool add_wish(struct wanted *w, struct cvl_analysis *a)
{
	for (size_t stream = 0; stream < w->n; stream++) {
		struct cvl_pick p = { 0 };

		a->kind->want(a, stream, &p);
		w->pick[stream].kinds |= p.kinds;
		w->pick[stream].lines |= p.lines;
		if (!add_classes(w, stream, &p))
			return false;
	}
	return true;
}

static int read_all(struct cvl_timeline *tl, struct cvl_analysis *const *a, size_t n,
		    struct cvl_error *err)
{
	struct cvl_block block;
	struct cvl_slice slice;
	int rc;

	while ((rc = cvl_timeline_next(tl, &block, err)) > 0)
		while (cvl_block_take(&block, &slice))
			for (size_t i = 0; i < n; i++) {
				rc = cvl_analysis_push(a[i], &slice, err);
				if (rc)
					return rc;
			}
	for (size_t i = 0; i < n && !rc; i++)
		rc = cvl_analysis_end(a[i], cvl_timeline_until(tl), err);
	return rc;
}

static void stop_picking(struct cvl_timeline *tl, struct wanted *w)
{
	for (size_t i = 0; i < w->n; i++) {
		cvl_timeline_pick(tl, i, NULL);
		free(w->classes[i]);
	}
	free(w->pick);
	free(w->classes);
}

int cvl_analyse(struct cvl_timeline *tl, struct cvl_analysis *const *analyses, size_t n,
		struct cvl_error *err)
{
	struct wanted w = { .n = cvl_timeline_streams(tl) };
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		if (!analyses[i]->kind->want)
			return read_all(tl, analyses, n, err);
	w.pick = calloc(w.n + 1, sizeof(*w.pick));
	w.classes = calloc(w.n + 1, sizeof(*w.classes));
	if (!w.pick || !w.classes) {
		free(w.pick);
		free(w.classes);
		return cvl_no_memory(err);
	}
	for (size_t i = 0; i < n && !rc; i++)
		if (!add_wish(&w, analyses[i]))
			rc = cvl_no_memory(err);
	for (size_t i = 0; i < w.n && !rc; i++)
		cvl_timeline_pick(tl, i, &w.pick[i]);
	if (!rc)
		rc = read_all(tl, analyses, n, err);
	stop_picking(tl, &w);
	return rc;
}
