/* SPDX-License-Identifier: MIT */
#include <coeval/files.h>
#include "capture/observer/observer_internal.h"
#include "core/metrics.h"
#include "core/out_keep.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

const char *observer_state_name(enum observer_state s)
{
	static const char *const names[] = {
		[OBSERVER_IDLE] = "idle",       [OBSERVER_PREPARED] = "prepared",
		[OBSERVER_RUNNING] = "running", [OBSERVER_STOPPING] = "stopping",
		[OBSERVER_DONE] = "done",
	};

	return names[s];
}

static json_t *stream_json(const struct stream *s)
{
	struct stream_counters c = stream_counters(s);
	struct radio_counters r = stream_radio_counters(s);

	return json_pack("{s:s, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:b}", "name",
			 stream_name(s), "seconds", (double)c.samples / (double)stream_rate(s),
			 "edges", (json_int_t)c.edges, "gaps", (json_int_t)c.gaps, "lost_samples",
			 (json_int_t)c.lost, "beacons", (json_int_t)c.beacons,
			 "beacons_without_edge", (json_int_t)r.without, "edges_without_beacon",
			 (json_int_t)r.bare, "packets_refused", (json_int_t)r.refused, "beacon_dbm",
			 r.last_dbm, "failed", stream_failed(s));
}

char *watch_status(const struct cvl_capture *o)
{
	json_t *list = json_array(), *root;
	char *text;

	for (size_t i = 0; i < o->n && o->stream[i]; i++)
		json_array_append_new(list, stream_json(o->stream[i]));
	root = json_pack("{s:s, s:s, s:s, s:i, s:o}", "state", observer_state_name(o->state),
			 "session", o->opts->session, "driver", o->opts->driver->name, "analyzers",
			 (int)o->n, "clocks", list);
	text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	return text;
}

static void put(struct cvl_out *out, const struct cvl_capture *o, enum metric m,
		double (*value)(const struct stream *s))
{
	metric_head(out, m);
	for (size_t i = 0; i < o->n && o->stream[i]; i++)
		metric_value(out, m, stream_name(o->stream[i]), value(o->stream[i]));
}

static double seconds_of(const struct stream *s)
{
	return (double)stream_counters(s).samples / (double)stream_rate(s);
}

static double edges_of(const struct stream *s)
{
	return (double)stream_counters(s).edges;
}

static double gaps_of(const struct stream *s)
{
	return (double)stream_counters(s).gaps;
}

static double lost_of(const struct stream *s)
{
	return (double)stream_counters(s).lost / (double)stream_rate(s);
}

static double beacons_of(const struct stream *s)
{
	return (double)stream_counters(s).beacons;
}

static double unpaired_of(const struct stream *s)
{
	return (double)stream_radio_counters(s).without;
}

static double refused_of(const struct stream *s)
{
	return (double)stream_radio_counters(s).refused;
}

static double cpu_of(const struct stream *s)
{
	return stream_counters(s).cpu_s;
}

static double up_of(const struct stream *s)
{
	return !stream_ended(s);
}

static double down(const struct stream *s)
{
	(void)s;
	return 0;
}

int watch_metrics(const struct cvl_capture *o, const char *path, struct cvl_error *err)
{
	struct cvl_out *out = malloc(sizeof(*out));
	int rc;

	if (!out)
		return cvl_no_memory(err);
	out_keep(out, false);
	put(out, o, METRIC_UP, o->state == OBSERVER_DONE ? down : up_of);
	put(out, o, METRIC_CAPTURED, seconds_of);
	put(out, o, METRIC_RECORDS, edges_of);
	put(out, o, METRIC_GAPS, gaps_of);
	put(out, o, METRIC_LOST, lost_of);
	put(out, o, METRIC_BEACONS, beacons_of);
	put(out, o, METRIC_BEACONS_BARE, unpaired_of);
	put(out, o, METRIC_REFUSED, refused_of);
	put(out, o, METRIC_CPU, cpu_of);
	metric_disk(out, o->opts->session);
	cvl_out_drain(out);
	rc = out->error ? cvl_no_memory(err) : cvl_write_soon(path, out->kept, out->n_kept, err);
	free(out->kept);
	free(out);
	return rc;
}

void watch_notify(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd;

	if (!path || (*path != '/' && *path != '@') || strlen(path) >= sizeof(a.sun_path))
		return;
	memcpy(a.sun_path, path, strlen(path));
	if (*path == '@')
		a.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&a,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
	close(fd);
}
