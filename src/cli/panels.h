/* SPDX-License-Identifier: MIT */
/** Figures with a panel for each clock: what one looked like over time. */
#ifndef CLI_PANELS_H
#define CLI_PANELS_H

#include "cli/figures.h"

extern const struct figure panels_rate, panels_bound, panels_residuals;

#endif
