/* SPDX-License-Identifier: MIT */
/** One analysis each, over a timeline that is at its start, as intervals and places. */
#ifndef VIEW_STUDY_H
#define VIEW_STUDY_H

#include <coeval/view.h>

#include "view/intervals.h"

/** CVL_E_NO: there is nothing that it could be about; else as the analysis. */
typedef int study_fn(struct intervals *all, struct cvl_timeline *tl,
		     const struct cvl_view_studies *ask, struct cvl_error *err);

study_fn study_gaps, study_check, study_calls, study_flow, study_tasks, study_power, study_loops;

#endif
