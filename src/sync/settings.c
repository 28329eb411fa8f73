/* SPDX-License-Identifier: MIT */
#include "sync/settings.h"

#include <stdio.h>
#include <string.h>

#include "sync/rules_json.h"

#define DRIFTS \
	(sizeof(((struct cvl_sync_opts *)0)->drift) / sizeof(((struct cvl_sync_opts *)0)->drift[0]))

/* ---- writing ---- */

json_t *settings_pulses(const struct cvl_sync_opts *o)
{
	json_t *list = json_array();

	for (size_t i = 0; i < o->n_pulse; i++) {
		const struct cvl_pulse_rule *r = &o->pulse[i];
		json_t *j = json_pack("{s:s, s:s, s:I}", "line", r->line, "edge",
				      r->rising ? "rise" : "fall", "period_ns",
				      (json_int_t)r->period_ns);

		if (r->error_ns) {
			json_object_set_new(j, "error_ns", json_integer(r->error_ns));
			json_object_set_new(j, "error_is_max", json_boolean(r->error_is_max));
		}
		json_array_append_new(list, j);
	}
	return list;
}

json_t *settings_asked(const struct cvl_sync_opts *o)
{
	json_t *asked = json_object(), *drift = json_object();

	for (size_t i = 0; i < o->n_drift; i++)
		json_object_set_new(drift, o->drift[i].clock, json_real(o->drift[i].ppm));
	if (o->max_drift_ppm > 0)
		json_object_set_new(asked, "max_drift_ppm", json_real(o->max_drift_ppm));
	if (o->n_drift)
		json_object_set(asked, "drift_ppm", drift);
	if (o->has_wander)
		json_object_set_new(asked, "wander_ppb_s", json_real(o->wander_ppb_s));
	if (o->reference)
		json_object_set_new(asked, "reference", json_string(o->reference));
	if (*o->align)
		json_object_set_new(asked, "align", json_string(o->align));
	if (o->start_bound_ns)
		json_object_set_new(asked, "start_bound_ns", json_integer(o->start_bound_ns));
	json_decref(drift);
	return asked;
}

/* ---- reading ---- */

static int malformed(const char *what, size_t i, struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_SYNTAX, 0, "sync.json: settings: malformed %s %zu", what, i + 1);
}

static int recall_pulses(struct cvl_sync_opts *o, json_t *list, struct cvl_error *err)
{
	json_t *j;
	size_t i;

	json_array_foreach(list, i, j)
	{
		struct cvl_pulse_rule *r = &o->pulse[o->n_pulse];
		const char *line, *edge;
		json_int_t period;

		if (o->n_pulse == CVL_RULES_MAX ||
		    json_unpack(j, "{s:s, s:s, s:I}", "line", &line, "edge", &edge, "period_ns",
				&period) ||
		    strlen(line) >= sizeof(r->line) || period <= 0 ||
		    (strcmp(edge, "rise") != 0 && strcmp(edge, "rising") != 0 &&
		     strcmp(edge, "fall") != 0 && strcmp(edge, "falling") != 0))
			return malformed("pulse rule", i, err);
		memset(r, 0, sizeof(*r));
		memcpy(r->line, line, strlen(line) + 1);
		r->rising = edge[0] == 'r';
		r->period_ns = period;
		r->error_ns = json_integer_value(json_object_get(j, "error_ns"));
		r->error_is_max = json_is_true(json_object_get(j, "error_is_max"));
		if (r->error_ns < 0)
			return malformed("pulse rule", i, err);
		o->n_pulse++;
	}
	return 0;
}

/* @sync has names that outlive the JSON. Limits equal to @usual are left out. */
static void recall_drift(struct cvl_sync_opts *o, json_t *drift, double usual,
			 const struct cvl_sync *sync)
{
	for (size_t i = 0; i < sync->n && o->n_drift < DRIFTS; i++) {
		double ppm = json_number_value(json_object_get(drift, sync->clock[i].clock));

		if (ppm > 0 && ppm != usual) {
			o->drift[o->n_drift].clock = sync->clock[i].clock;
			o->drift[o->n_drift++].ppm = ppm;
		}
	}
}

static void recall_limits(struct cvl_sync_opts *o, json_t *from, const struct cvl_sync *sync)
{
	json_t *drift = json_object_get(from, "max_drift_ppm"),
	       *wander = json_object_get(from, "wander_ppb_s");

	if (json_number_value(drift) > 0)
		o->max_drift_ppm = json_number_value(drift);
	/* older files store only each clock's limit, which was 200 unless the user changed it */
	if (json_is_object(drift))
		recall_drift(o, drift, 200, sync);
	else
		recall_drift(o, json_object_get(from, "drift_ppm"), 0, sync);
	if (json_is_number(wander) && json_number_value(wander) >= 0) {
		o->has_wander = true;
		o->wander_ppb_s = json_number_value(wander);
	}
}

/* What decided which pulses were heard. */
static void recall_deciding(struct cvl_sync_opts *o, json_t *asked)
{
	const char *align = json_string_value(json_object_get(asked, "align"));
	json_int_t start = json_integer_value(json_object_get(asked, "start_bound_ns"));

	if (align && !*o->align)
		snprintf(o->align, sizeof(o->align), "%s", align);
	if (start > 0 && !o->start_bound_ns)
		o->start_bound_ns = start;
}

static void recall_reference(struct cvl_sync_opts *o, const char *name, const struct cvl_sync *sync)
{
	const struct cvl_clock_sync *c = name ? cvl_sync_find(sync, name) : NULL;

	if (c)
		o->reference = c->clock;
}

int cvl_sync_recall(struct cvl_sync_opts *o, const struct cvl_sync *sync, struct cvl_error *err)
{
	const struct cvl_sync_opts given = *o;
	struct rule_set rules = { 0 };
	json_t *root, *asked;
	json_int_t period;
	int rc;

	if (o->n_match || o->n_pulse || o->beacon_period_ns || !sync->settings)
		return 0;
	root = json_loads(sync->settings, 0, NULL);
	if (!root)
		return cvl_no_memory(err);
	rc = recall_pulses(o, json_object_get(root, "pulse"), err);
	if (!rc && json_array_size(json_object_get(root, "match"))) {
		rc = rules_recall(&rules, sync->settings, err);
		o->recalled = sync->settings;
		rules_free(&rules);
	}
	period = json_integer_value(json_object_get(root, "beacon_period_ns"));
	if (period > 0)
		o->beacon_period_ns = period;
	asked = json_object_get(root, "asked");
	if (!(o->max_drift_ppm > 0) && !o->n_drift && !o->has_wander)
		recall_limits(o, asked ? asked : root, sync);
	recall_deciding(o, asked);
	if (!o->reference)
		recall_reference(o,
				 asked ? json_string_value(json_object_get(asked, "reference")) :
					 sync->reference,
				 sync);
	json_decref(root);
	if (rc)
		*o = given;
	return rc;
}

void cvl_sync_recalled(const struct cvl_sync_opts *o, void (*see)(void *ctx, const char *name),
		       void *ctx)
{
	json_t *root = o->recalled ? json_loads(o->recalled, 0, NULL) : NULL, *j;
	const char *last = "";
	size_t i;

	json_array_foreach(json_object_get(root, "match"), i, j)
	{
		const char *name = json_string_value(json_object_get(j, "name"));

		if (name && strcmp(name, last) != 0)
			see(ctx, name);
		last = name ? name : "";
	}
	json_decref(root);
}
