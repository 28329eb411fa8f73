/* SPDX-License-Identifier: MIT */
#ifndef VIEW_METRICS_H
#define VIEW_METRICS_H

#include "view/model.h"

/** Text for Prometheus: how far the clocks of @m are, what they lost, how well they are tied. */
int view_metrics(struct model *m, struct cvl_out *o, struct cvl_error *err);

#endif
