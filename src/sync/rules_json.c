/* SPDX-License-Identifier: MIT */
#include "sync/rules_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *side_json(const struct rule_side *side)
{
	json_t *key = json_array();

	for (size_t i = 0; i < side->n_keys; i++)
		json_array_append_new(key, json_string(side->key[i]));
	return json_pack("{s:s, s:o}", "event", side->event, "key", key);
}

json_t *rules_json(const struct rule_set *rules)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rules->n; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:o, s:o, s:I}", "name", rules->rule[i].name,
						"send", side_json(&rules->rule[i].send), "receive",
						side_json(&rules->rule[i].receive), "window_ns",
						(json_int_t)rules->rule[i].window_ns));
	return list;
}

/* JSON is YAML, so what was kept is read as a rule file is; only the window is told otherwise there. */
int rules_recall(struct rule_set *set, const char *settings, struct cvl_error *err)
{
	json_t *root = settings ? json_loads(settings, 0, NULL) : NULL;
	json_t *list = json_object_get(root, "match"), *rule;
	char *text = NULL;
	size_t i;
	int rc = 0;

	json_array_foreach(list, i, rule)
	{
		json_int_t window = json_integer_value(json_object_get(rule, "window_ns"));
		char ns[32];

		snprintf(ns, sizeof(ns), "%lldns", (long long)window);
		json_object_del(rule, "window_ns");
		if (window > 0)
			json_object_set_new(rule, "window", json_string(ns));
	}
	if (json_array_size(list))
		text = json_dumps(list, 0);
	if (text)
		rc = rules_parse(set, text, strlen(text), "sync.json, its matching rules", err);
	else if (json_array_size(list))
		rc = cvl_no_memory(err);
	free(text);
	json_decref(root);
	return rc;
}
