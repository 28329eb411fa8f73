/* SPDX-License-Identifier: MIT */
#include "core/metrics.h"

#include <sys/statvfs.h>

static const struct {
	const char *name, *type, *what;
} metrics[] = {
	[METRIC_UP] = { "up", "gauge", "1 while the clock is captured" },
	[METRIC_CAPTURED] = { "captured_seconds_total", "counter",
			      "time captured, by the clock itself" },
	[METRIC_RECORDS] = { "edges_total", "counter", "records stored" },
	[METRIC_GAPS] = { "gaps_total", "counter", "known losses" },
	[METRIC_LOST] = { "lost_seconds_total", "counter", "time not observed" },
	[METRIC_BEACONS] = { "beacons_total", "counter", "beacons heard and given to their edge" },
	[METRIC_BEACONS_BARE] = { "beacons_without_edge_total", "counter",
				  "beacons whose edge is not known" },
	[METRIC_REFUSED] = { "packets_refused_total", "counter",
			     "packets with a wrong CRC or content" },
	[METRIC_CPU] = { "cpu_seconds_total", "counter", "processor time spent on samples" },
	[METRIC_BOUND] = { "bound_seconds", "gauge",
			   "half-width of the clock's latest time; NaN: unknown" },
	[METRIC_WATERMARK] = { "watermark_seconds", "gauge",
			       "time on the timeline up to which the clock is stored" },
	[METRIC_DISK] = { "disk_free_bytes", "gauge", "room left for the session" },
	[METRIC_STORED] = { "stored_bytes_total", "counter", "bytes of packets stored durably" },
	[METRIC_BACKLOG] = { "backlog_bytes", "gauge",
			     "bytes of packets that a node has yet to hand over" },
	[METRIC_HEARD] = { "silent_seconds", "gauge", "time since a node was heard last" },
	[METRIC_AGAIN] = { "packets_again_total", "counter", "packets that came again" },
	[METRIC_CONFLICTS] = { "conflicts_total", "counter",
			       "packets that contradict stored ones, and were kept apart" },
};

void metric_head(struct cvl_out *o, enum metric m)
{
	cvl_out_printf(o, "# HELP coeval_%s %s\n# TYPE coeval_%s %s\n", metrics[m].name,
		       metrics[m].what, metrics[m].name, metrics[m].type);
}

/* As a label's value: backslashes, quotes and ends of lines are escaped. */
static void put_label(struct cvl_out *o, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			cvl_out_char(o, '\\');
		if (*text == '\n')
			cvl_out_text(o, "\\n");
		else
			cvl_out_char(o, *text);
	}
}

static void put_value(struct cvl_out *o, enum metric m, const char *label, const char *name,
		      double value)
{
	cvl_out_printf(o, "coeval_%s", metrics[m].name);
	if (name) {
		cvl_out_printf(o, "{%s=\"", label);
		put_label(o, name);
		cvl_out_text(o, "\"}");
	}
	if (value - value == 0)
		cvl_out_printf(o, " %.15g\n", value);
	else
		cvl_out_text(o, " NaN\n");
}

void metric_value(struct cvl_out *o, enum metric m, const char *clock, double value)
{
	put_value(o, m, "clock", clock, value);
}

void metric_node(struct cvl_out *o, enum metric m, const char *node, double value)
{
	put_value(o, m, "node", node, value);
}

void metric_disk(struct cvl_out *o, const char *path)
{
	struct statvfs v;

	if (statvfs(path, &v))
		return;
	metric_head(o, METRIC_DISK);
	metric_value(o, METRIC_DISK, NULL, (double)v.f_bavail * (double)v.f_frsize);
}
