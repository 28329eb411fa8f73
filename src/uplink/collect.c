/* SPDX-License-Identifier: MIT */
/* The collector's end, as it runs. */
#include <coeval/uplink.h>

#include "uplink/collector.h"
#include "uplink/health.h"
#include "uplink/run.h"
#include "uplink/server.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <coeval/files.h>

#define HEALTH_MS 1000
#define TELL_MS 200
#define PATIENCE_MS 3000
#define FLUSH_MS 2000
#define STREAM_BYTES ((uint64_t)10 << 30)

struct collecting {
	const struct cvl_collect_opts *opts;
	struct cvl_report report;
	struct spool *spool;
	struct carrier *carrier;
	struct collector *collector;
	struct server *server;
	char folder[CVL_PATH_MAX], key[CVL_PATH_MAX], ca[CVL_PATH_MAX];
	int64_t health_ms, told_ms;
	bool health_failed;
};

static void raise_limits(void)
{
	struct rlimit l;

	if (!getrlimit(RLIMIT_NOFILE, &l) && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}

static int64_t patience(const struct cvl_collect_opts *o)
{
	return o->patience_ms ? o->patience_ms : PATIENCE_MS;
}

/* What is shown of it may fail: it goes on, and says so once. */
static void show_health(struct collecting *k, int64_t now)
{
	const struct cvl_collect_opts *o = k->opts;
	struct cvl_error problem;
	int rc = health_save(k->collector, k->spool, now, patience(o), &problem);

	if (!rc && o->metrics)
		rc = health_metrics(k->collector, k->spool, now, patience(o), o->metrics, &problem);
	if (rc && !k->health_failed)
		cvl_tell(&k->report, &problem);
	k->health_failed = rc != 0;
	k->health_ms = now;
}

static int tell_progress(struct collecting *k, int64_t now, struct cvl_error *err)
{
	uint64_t stored = 0;

	if (now - k->told_ms < TELL_MS)
		return 0;
	k->told_ms = now;
	for (size_t i = 0; i < spool_traces(k->spool); i++)
		stored += spool_trace(k->spool, i)->synced;
	return cvl_progress_tell(&k->opts->uplink.progress, stored, 0, err);
}

static int run(struct collecting *k, int stop_fd, struct cvl_error *err)
{
	struct collector_state state;

	for (;;) {
		const int64_t now = run_now_ms();
		int wait;
		int rc = collector_work(k->collector, now, &wait, err);

		rc = rc ? rc : tell_progress(k, now, err);
		if (rc)
			return rc;
		if (now - k->health_ms >= HEALTH_MS) {
			show_health(k, now);
			if (k->server && !server_runs(k->server) && k->opts->uplink.tell)
				k->opts->uplink.tell(k->opts->uplink.ctx, true,
						     "nats-server ended, and is started again");
		}
		collector_state(k->collector, &state);
		if (k->opts->until_ended && state.ended)
			return 0;
		/* a little is let come together: one sync for many messages */
		if (run_wait(stop_fd, wait < TELL_MS ? -1 : carrier_fd(k->carrier), -1,
			     wait < HEALTH_MS ? wait : HEALTH_MS))
			return 0;
	}
}

static int start_server(struct collecting *k, const char *path, struct nats_opts *nats,
			struct cvl_error *err)
{
	const struct cvl_collect_opts *o = k->opts;
	struct server_opts opts = { .folder = k->folder, .listen = o->listen, .keys = o->keys };
	char *real = realpath(path, NULL);
	struct statvfs v;
	int rc;

	if (!real || !cvl_path_join(k->folder, real, "collect/server")) {
		free(real);
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", path);
	}
	free(real);
	if (!nats->stream_bytes)
		nats->stream_bytes = STREAM_BYTES;
	if (!statvfs(path, &v) && nats->stream_bytes > (uint64_t)v.f_bavail * v.f_frsize / 2)
		nats->stream_bytes = (uint64_t)v.f_bavail * v.f_frsize / 2;
	opts.store_bytes = nats->stream_bytes + nats->stream_bytes / 8;
	rc = server_start(&k->server, &opts, err);
	if (!rc)
		nats->url = server_url(k->server);
	return rc;
}

/* The collector's own, out of a folder of keys. */
static int take_keys(struct collecting *k, struct nats_opts *nats, struct cvl_error *err)
{
	if (!k->opts->keys)
		return 0;
	if (!cvl_path_join(k->key, k->opts->keys, "collector.nk") ||
	    !cvl_path_join(k->ca, k->opts->keys, "ca.pem"))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long",
				k->opts->keys);
	nats->key = nats->key ? nats->key : k->key;
	nats->ca = nats->ca ? nats->ca : k->ca;
	return 0;
}

static void sum_up(const struct collecting *k, struct cvl_collect_result *r)
{
	struct collector_state state;

	collector_state(k->collector, &state);
	r->nodes = collector_nodes(k->collector);
	r->clocks = spool_traces(k->spool);
	for (size_t i = 0; i < r->clocks; i++) {
		r->bytes += spool_trace(k->spool, i)->end;
		r->packets += spool_trace(k->spool, i)->packets;
	}
	r->again = state.again;
	r->conflicts = state.conflicts;
	r->refused = state.refused;
}

int cvl_collect_run(const char *path, const struct cvl_collect_opts *opts, int stop_fd,
		    struct cvl_collect_result *result, struct cvl_error *err)
{
	struct collecting k = { .opts = opts, .report = run_report(&opts->uplink) };
	struct cvl_uplink_opts uplink = opts->uplink;
	struct nats_opts nats;
	int rc;

	*result = (struct cvl_collect_result){ 0 };
	k.health_ms = k.told_ms = INT64_MIN / 2;
	if (opts->local_server)
		uplink.url = "nats://127.0.0.1"; /* until it is known */
	rc = run_settings(&nats, &uplink, NULL, err);
	if (rc)
		return rc;
	nats.shard = opts->shard;
	nats.replicas = opts->replicas;
	nats.stream_bytes = opts->stream_bytes;
	raise_limits();
	rc = spool_open(&k.spool, &(struct spool_opts){ path, opts->quota_bytes, &k.report }, err);
	if (!rc)
		rc = take_keys(&k, &nats, err);
	if (!rc && opts->local_server)
		rc = start_server(&k, path, &nats, err);
	if (!nats.stream_bytes)
		nats.stream_bytes = STREAM_BYTES;
	if (!rc)
		rc = nats_carrier_open(&k.carrier, &nats, err);
	if (!rc)
		rc = collector_open(
			&k.collector, k.spool, k.carrier,
			&(struct collector_opts){ opts->shard, opts->shards, &k.report }, err);
	if (!rc)
		rc = run(&k, stop_fd, err);
	if (k.collector) {
		show_health(&k, run_now_ms());
		sum_up(&k, result);
	}
	collector_close(k.collector);
	if (k.carrier) /* the last acknowledgement would get lost */
		carrier_flush(k.carrier, FLUSH_MS);
	carrier_close(k.carrier);
	server_stop(k.server);
	spool_close(k.spool);
	return rc;
}
