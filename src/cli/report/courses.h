/* SPDX-License-Identifier: MIT */
/** What clocks looked like over time: figures with a panel for each. */
#ifndef CLI_REPORT_COURSES_H
#define CLI_REPORT_COURSES_H

#include "report/figures.h"

extern const struct figure figure_rate, figure_bound, figure_residuals;

#endif
