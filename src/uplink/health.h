/* SPDX-License-Identifier: MIT */
/** How the nodes of a collector are, as files: for views, and for Prometheus' text collector. */
#ifndef UPLINK_HEALTH_H
#define UPLINK_HEALTH_H

#include "uplink/collector.h"

/** Path of the first below the session. */
#define HEALTH_FILE "collect/nodes.json"

/** Replace HEALTH_FILE. @patience_ms: a node that was not heard for so long is silent. */
int health_save(const struct collector *c, const struct spool *spool, int64_t now_ms,
		int64_t patience_ms, struct cvl_error *err);

/** Replace the file @path. */
int health_metrics(const struct collector *c, const struct spool *spool, int64_t now_ms,
		   int64_t patience_ms, const char *path, struct cvl_error *err);

#endif
