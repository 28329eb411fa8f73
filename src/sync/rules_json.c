/* SPDX-License-Identifier: MIT */
#include "sync/rules_json.h"

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
		json_array_append_new(
			list, json_pack("{s:s, s:o, s:o, s:I, s:b}", "name", rules->rule[i].name,
					"send", side_json(&rules->rule[i].send), "receive",
					side_json(&rules->rule[i].receive), "window_ns",
					(json_int_t)rules->rule[i].window_ns, "many",
					rules->rule[i].many));
	return list;
}

int rules_recall(struct rule_set *set, const char *settings, struct cvl_error *err)
{
	json_t *root = settings ? json_loads(settings, 0, NULL) : NULL;
	json_t *list = json_object_get(root, "match");
	char *text = json_array_size(list) ? json_dumps(list, 0) : NULL;
	int rc = text ? rules_parse_kept(set, text, strlen(text), "sync.json, its matching rules",
					 err) :
		 json_array_size(list) ? cvl_no_memory(err) :
					 0;

	free(text);
	json_decref(root);
	return rc;
}
