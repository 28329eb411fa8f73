/* SPDX-License-Identifier: MIT */
/**
 * A session's report: how well its clocks are synchronised, as a part of a page and its figures. Its
 * data are a study (coeval/study.h). Write errors are kept in the struct cvl_out.
 */
#ifndef COEVAL_REPORT_H
#define COEVAL_REPORT_H

#include <coeval/api.h>
#include <coeval/out.h>
#include <coeval/study.h>

CVL_BEGIN_DECLS

/** What the page shows besides the study. */
struct cvl_report_page {
	const char *path;                 /* of the session, as shown */
	const struct cvl_sync *saved;     /* sync.json, or NULL */
	const struct cvl_sync_opts *opts; /* that the study was made with */
};

/**
 * A style and a section, with all figures, for the body of an HTML page, which cvl_view_save() makes.
 * Both are well-formed XML, too.
 */
CVL_API void cvl_report_html(struct cvl_out *out, const struct cvl_study *study,
			     const struct cvl_report_page *page);

/** Name of figure @i, a file name without ".svg"; NULL past the last. */
CVL_API const char *cvl_report_figure_name(size_t i);

/** Whether @study has the data of figure @i. */
CVL_API bool cvl_report_figure_fits(size_t i, const struct cvl_study *study);

/** Figure @i as one <svg> element, for HTML or after an XML declaration. It must fit. */
CVL_API void cvl_report_figure(struct cvl_out *out, size_t i, const struct cvl_study *study);

CVL_END_DECLS

#endif
