/* SPDX-License-Identifier: MIT */
/* How the nodes are whose sessions are collected into this one. */
#include "view/answers_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <coeval/files.h>

#include "view/metrics.h"

/* As its collector keeps it (src/uplink/health.c). */
#define NODES_FILE "collect/nodes.json"

static json_t *load(const struct model *m)
{
	char path[CVL_PATH_MAX];
	json_t *root = NULL;

	if (cvl_path_join(path, cvl_session_path(m->session), NODES_FILE))
		root = json_load_file(path, 0, NULL);
	return root;
}

bool nodes_are_collected(const struct model *m)
{
	char path[CVL_PATH_MAX];

	return cvl_path_join(path, cvl_session_path(m->session), NODES_FILE) && cvl_is_file(path);
}

static void put_of(struct cvl_out *o, const json_t *node, const char *key)
{
	const json_t *v = json_object_get(node, key);

	if (json_is_number(v))
		put_real(o, key, json_number_value(v));
	else if (json_is_string(v))
		put_text(o, key, json_string_value(v));
}

/* What is seen of its clocks: the widest bound, all losses. */
static void put_clocks(const struct model *m, struct cvl_out *o, const json_t *names)
{
	double bound = 0, gaps = 0, beacons = 0;
	bool any = false, tied = true;
	const json_t *name;
	size_t i;

	json_array_foreach(names, i, name)
	{
		const char *text = json_string_value(name);
		const int clock = text ? cvl_session_find(m->session, text) : -1;
		struct clock_health h;

		if (clock < 0)
			continue;
		clock_health(m, (size_t)clock, &h);
		if (!h.any)
			continue;
		any = true;
		tied = tied && !isnan(h.bound);
		bound = h.bound > bound ? h.bound : bound;
		gaps += h.gaps;
		beacons += h.beacons;
	}
	put_number(o, "clocks", (int64_t)json_array_size(names));
	if (any) {
		put_real(o, "bound_ns", tied ? bound * 1e9 : NAN);
		put_real(o, "gaps", gaps);
		put_real(o, "beacons", beacons);
	}
}

int put_nodes(struct model *m, const struct view_query *q, struct cvl_out *o, struct cvl_error *err)
{
	static const char *const keys[] = { "node",          "state",         "silent_s",
					    "backlog_bytes", "dropped_bytes", "refused",
					    "why",           "version",       "disk_free_bytes" };
	json_t *root = load(m), *node;
	size_t i;

	(void)q, (void)err;
	cvl_out_text(o, "{\"nodes\":[");
	json_array_foreach(json_object_get(root, "nodes"), i, node)
	{
		put_element(o);
		cvl_out_char(o, '{');
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
			put_of(o, node, keys[k]);
		put_clocks(m, o, json_object_get(node, "clocks"));
		cvl_out_char(o, '}');
	}
	cvl_out_text(o, "]}");
	json_decref(root);
	return 0;
}
