/* SPDX-License-Identifier: MIT */
#include "view/ask.h"

#include <string.h>

int view_ask_check(const struct verb *verb, const struct view_ask *a)
{
	if (a->line && a->points)
		return cli_usage(verb, "--line or --between, not both");
	if (!a->power && (a->line || a->points || a->unit != 0))
		return cli_usage(
			verb,
			"name the channel of power: --power CHANNEL (`coeval info` lists channels)");
	return -1;
}

static int load_power(struct view_ask *a, const struct cvl_report *report, struct cvl_error *err)
{
	a->energy =
		(struct cvl_power_opts){ .watts = a->power, .unit = a->unit != 0 ? a->unit : 1 };
	if (a->points) {
		a->energy.between = a->select;
		return cli_pair(a->select, a->points, report, err);
	}
	if (!a->line)
		return 0;
	a->energy.line = a->select;
	return cvl_selector_parse(a->select, a->line, strlen(a->line), err);
}

int view_ask_load(struct view_ask *a, struct cvl_view_studies *to, const struct cvl_report *report,
		  struct cvl_error *err)
{
	int rc;

	a->config = cvl_calls_config_new();
	rc = a->config ? calls_options_load(&a->calls, a->config, err) : cvl_no_memory(err);
	if (!rc && a->check)
		rc = cvl_check_rules_load(&a->rules, a->check, err);
	if (!rc && a->flow) {
		rc = cvl_flow_map_load(&a->map, a->flow, false, err);
		a->has_map = !rc;
	}
	if (!rc && a->power)
		rc = load_power(a, report, err);
	*to = (struct cvl_view_studies){ a->config, a->rules, a->has_map ? &a->map : NULL,
					 a->power ? &a->energy : NULL };
	return rc;
}

void view_ask_free(struct view_ask *a)
{
	cvl_calls_config_free(a->config);
	cvl_check_rules_free(a->rules);
	if (a->has_map)
		cvl_flow_map_free(&a->map);
	for (size_t i = 0; i < 2; i++)
		cvl_selector_free(&a->select[i]);
}
