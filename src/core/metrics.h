/* SPDX-License-Identifier: MIT */
/** Names of metrics, as text for Prometheus: the same whoever tells them. */
#ifndef CORE_METRICS_H
#define CORE_METRICS_H

#include <coeval/out.h>

enum metric {
	METRIC_UP,
	METRIC_CAPTURED,
	METRIC_RECORDS,
	METRIC_GAPS,
	METRIC_LOST,
	METRIC_BEACONS,
	METRIC_BEACONS_BARE,
	METRIC_REFUSED,
	METRIC_CPU,
	METRIC_BOUND,
	METRIC_WATERMARK,
	METRIC_DISK,
	METRIC_STORED,
	METRIC_BACKLOG,
	METRIC_HEARD,
	METRIC_AGAIN,
	METRIC_CONFLICTS,
};

/** What is said of a metric before its values. */
void metric_head(struct cvl_out *o, enum metric m);
/** A value, of clock @clock or, if that is NULL, of all. */
void metric_value(struct cvl_out *o, enum metric m, const char *clock, double value);

/** The same of node @node. */
void metric_node(struct cvl_out *o, enum metric m, const char *node, double value);

/** METRIC_DISK of the file system of @path, if it can be told. */
void metric_disk(struct cvl_out *o, const char *path);

#endif
