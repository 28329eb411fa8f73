/* SPDX-License-Identifier: MIT */
/**
 * A session's report: how well its clocks are synchronised, as a page to be read and printed, and
 * each figure of it. What is told is a study (coeval/study.h). Errors of writing stay in the struct
 * cvl_out, as for everything that is written there.
 */
#ifndef COEVAL_REPORT_H
#define COEVAL_REPORT_H

#include <coeval/api.h>
#include <coeval/out.h>
#include <coeval/study.h>

CVL_BEGIN_DECLS

/** What the page tells besides the study. */
struct cvl_report_page {
	const char *path;                 /* of the session, as it is to be shown */
	const struct cvl_sync *saved;     /* sync.json, or NULL */
	const struct cvl_sync_opts *opts; /* that the study was made with */
};

/**
 * The page: HTML that is XML as well, with all figures in it; it needs no network and no scripts.
 */
CVL_API void cvl_report_html(struct cvl_out *out, const struct cvl_study *study,
			     const struct cvl_report_page *page);

/** Name of figure @i, as of a file without ".svg"; NULL past the last. */
CVL_API const char *cvl_report_figure_name(size_t i);

/** Whether @study has what figure @i draws. */
CVL_API bool cvl_report_figure_fits(size_t i, const struct cvl_study *study);

/** Figure @i, which fits, as one <svg>, for HTML or behind an XML declaration. */
CVL_API void cvl_report_figure(struct cvl_out *out, size_t i, const struct cvl_study *study);

CVL_END_DECLS

#endif
