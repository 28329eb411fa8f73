/* SPDX-License-Identifier: MIT */
#ifndef VIEW_METRICS_H
#define VIEW_METRICS_H

#include "view/model.h"

/** How a clock is. */
struct clock_health {
	double seconds;       /* captured, by the clock itself */
	double gaps, beacons; /* so far */
	double bound;         /* s, of its latest time; NaN: unknown */
	double watermark;     /* s on the timeline up to which it is stored */
	bool up, any;         /* its writer is at work; it has records */
};

void clock_health(const struct model *m, size_t clock, struct clock_health *h);

/** Text for Prometheus: how far the clocks of @m are, what they lost, how well they are tied. */
int view_metrics(struct model *m, struct cvl_out *o, struct cvl_error *err);

#endif
