/* SPDX-License-Identifier: MIT */
#include "uplink/health.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <coeval/files.h>

#include "core/metrics.h"
#include "core/out_keep.h"

static const char *state_of(const struct collector_node *n, int64_t now_ms, int64_t patience_ms)
{
	if (n->live.ended)
		return "ended";
	return n->heard_ms == INT64_MIN || now_ms - n->heard_ms >= patience_ms ? "silent" : "awake";
}

static double silent_s(const struct collector_node *n, int64_t now_ms)
{
	return n->heard_ms == INT64_MIN ? 0 : (double)(now_ms - n->heard_ms) * 1e-3;
}

static json_t *node_json(const struct collector_node *n, const struct spool *spool, int64_t now_ms,
			 int64_t patience_ms)
{
	json_t *clocks = json_array();
	uint64_t bytes = 0;
	json_t *j;

	for (size_t i = 0; i < spool_traces(spool); i++) {
		const struct spool_trace *t = spool_trace(spool, i);

		if (strcmp(t->node, n->name) != 0)
			continue;
		bytes += t->synced;
		json_array_append_new(clocks, json_string(t->name));
	}
	j = json_pack("{s:s, s:s, s:o, s:I, s:f, s:I}", "node", n->name, "state",
		      state_of(n, now_ms, patience_ms), "clocks", clocks, "stored_bytes",
		      (json_int_t)bytes, "silent_s", silent_s(n, now_ms), "refused",
		      (json_int_t)n->refused);
	if (n->lives) {
		json_object_set_new(j, "backlog_bytes", json_integer((json_int_t)n->live.backlog));
		json_object_set_new(j, "dropped_bytes", json_integer((json_int_t)n->live.dropped));
		json_object_set_new(j, "version", json_string(n->live.version));
		if (n->live.disk_free <= INT64_MAX)
			json_object_set_new(j, "disk_free_bytes",
					    json_integer((json_int_t)n->live.disk_free));
	}
	if (n->why[0])
		json_object_set_new(j, "why", json_string(n->why));
	return j;
}

int health_save(const struct collector *c, const struct spool *spool, int64_t now_ms,
		int64_t patience_ms, struct cvl_error *err)
{
	json_t *list = json_array(), *root;
	char path[CVL_PATH_MAX], *text;
	int rc;

	for (size_t i = 0; i < collector_nodes(c); i++)
		json_array_append_new(list,
				      node_json(collector_node(c, i), spool, now_ms, patience_ms));
	root = json_pack("{s:i, s:I, s:o}", "coeval_nodes", 1, "unix_s", (json_int_t)time(NULL),
			 "nodes", list);
	text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	if (!text)
		return cvl_no_memory(err);
	rc = cvl_path_join(path, spool_path(spool), HEALTH_FILE) ?
		     cvl_write_soon(path, text, strlen(text), err) :
		     0;
	free(text);
	return rc;
}

/* ---- metrics ---- */

static void of_nodes(struct cvl_out *o, enum metric m, const struct collector *c, int64_t now_ms,
		     int64_t patience_ms)
{
	metric_head(o, m);
	for (size_t i = 0; i < collector_nodes(c); i++) {
		const struct collector_node *n = collector_node(c, i);

		if (m == METRIC_BACKLOG && n->lives)
			metric_node(o, m, n->name, (double)n->live.backlog);
		if (m == METRIC_HEARD)
			metric_node(o, m, n->name, silent_s(n, now_ms));
		if (m == METRIC_REFUSED)
			metric_node(o, m, n->name, (double)n->refused);
		if (m == METRIC_UP)
			metric_node(o, m, n->name,
				    !strcmp(state_of(n, now_ms, patience_ms), "awake"));
	}
}

static void of_clocks(struct cvl_out *o, enum metric m, const struct spool *spool)
{
	metric_head(o, m);
	for (size_t i = 0; i < spool_traces(spool); i++) {
		const struct spool_trace *t = spool_trace(spool, i);

		metric_value(o, m, t->name,
			     (double)(m == METRIC_STORED    ? t->synced :
				      m == METRIC_CONFLICTS ? t->conflicts :
							      t->again));
	}
}

int health_metrics(const struct collector *c, const struct spool *spool, int64_t now_ms,
		   int64_t patience_ms, const char *path, struct cvl_error *err)
{
	struct cvl_out *o = malloc(sizeof(*o));
	int rc;

	if (!o)
		return cvl_no_memory(err);
	out_keep(o, false);
	of_nodes(o, METRIC_UP, c, now_ms, patience_ms);
	of_nodes(o, METRIC_HEARD, c, now_ms, patience_ms);
	of_nodes(o, METRIC_BACKLOG, c, now_ms, patience_ms);
	of_nodes(o, METRIC_REFUSED, c, now_ms, patience_ms);
	of_clocks(o, METRIC_STORED, spool);
	of_clocks(o, METRIC_AGAIN, spool);
	of_clocks(o, METRIC_CONFLICTS, spool);
	metric_disk(o, spool_path(spool));
	cvl_out_drain(o);
	rc = o->error ? cvl_no_memory(err) : cvl_write_soon(path, o->kept, o->n_kept, err);
	free(o->kept);
	free(o);
	return rc;
}
