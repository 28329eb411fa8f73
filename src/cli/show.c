/* SPDX-License-Identifier: MIT */
#include "show.h"

#include <coeval/fields.h>

#include <stdlib.h>
#include <unistd.h>

struct show {
	struct cvl_out out;
	struct cvl_timeline *tl;
	struct show_style style;
	struct cvl_formatter *formatter;
	struct cvl_selection *selection; /* NULL: everything */
	struct cvl_pick *pick;
};

int show_slice(struct show *s, const struct cvl_slice *sl, struct cvl_error *err)
{
	return cvl_formatter_slice(s->formatter, &s->out, sl, err);
}

/*
 * Request only what the selection needs; but all edges, as changes are shown.
 */
static int pick(struct show *s, struct cvl_error *err)
{
	size_t n = cvl_timeline_streams(s->tl);

	free(s->pick);
	s->pick = calloc(n + 1, sizeof(*s->pick));
	if (!s->pick)
		return cvl_no_memory(err);
	for (size_t i = 0; i < n; i++) {
		cvl_select_want(s->selection, i, &s->pick[i]);
		if (s->pick[i].lines)
			s->pick[i].lines = UINT64_MAX;
		cvl_timeline_pick(s->tl, i, &s->pick[i]);
	}
	return 0;
}

int show_begin(struct show *s, struct cvl_timeline *tl, struct cvl_error *err)
{
	const struct cvl_select_opts opts = { .kinds = UINT32_MAX };
	int rc;

	s->tl = tl;
	if (s->style.format.utc && !cvl_session_epoch(cvl_timeline_session(tl)))
		return cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"%s: no clock of it has a date and time of day; leave out --absolute",
			cvl_session_path(cvl_timeline_session(tl)));
	rc = s->formatter ? 0 : cvl_formatter_open(&s->formatter, &s->style.format, err);
	if (!rc && s->style.n_select) {
		cvl_select_close(s->selection);
		rc = cvl_select_open(&s->selection, s->style.select, s->style.n_select, tl, &opts,
				     err);
	}
	if (!rc)
		rc = cvl_formatter_begin(s->formatter, tl, s->selection, err);
	return rc || !s->selection ? rc : pick(s, err);
}

int show_flush(struct show *s, struct cvl_error *err)
{
	return cvl_out_flush(&s->out, err);
}

int show_timeline(struct show *s, struct cvl_timeline *tl, struct cvl_error *err)
{
	struct cvl_block block;
	int rc = show_begin(s, tl, err);

	if (rc)
		return rc;
	while (!show_is_over(s) && (rc = cvl_timeline_next(tl, &block, err)) > 0) {
		rc = cvl_formatter_block(s->formatter, &s->out, &block, err);
		if (rc)
			break;
	}
	if (rc < 0)
		show_flush(s, NULL);
	else
		rc = show_flush(s, err);
	return rc;
}

static int view_begin(void *show, struct cvl_timeline *tl, struct cvl_error *err)
{
	return show_begin(show, tl, err);
}

static int view_slice(void *show, const struct cvl_slice *sl, struct cvl_error *err)
{
	int rc = show_slice(show, sl, err);

	return rc ? rc : show_is_over(show);
}

static int view_flush(void *show, const struct cvl_follow *f, bool last, struct cvl_error *err)
{
	int rc = show_flush(show, err);

	(void)f, (void)last;
	return rc ? rc : show_is_over(show);
}

const struct follow_view show_view = {
	.begin = view_begin,
	.slice = view_slice,
	.flush = view_flush,
};

struct show *show_new(const struct show_style *style)
{
	struct show *s = calloc(1, sizeof(*s));

	if (s) {
		s->style = *style;
		cvl_out_init(&s->out, STDOUT_FILENO, "standard output");
	}
	return s;
}

void show_free(struct show *s)
{
	if (!s)
		return;
	cvl_formatter_close(s->formatter);
	cvl_select_close(s->selection);
	free(s->pick);
	free(s);
}

bool show_is_over(const struct show *s)
{
	return s->out.closed || s->out.error;
}
