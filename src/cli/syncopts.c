/* SPDX-License-Identifier: MIT */
#include "cli/syncopts.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "sync/rules.h"

/* Cut the last word off @text, behind a colon; NULL: there is none. */
static char *last_word(char *text)
{
	char *at = strrchr(text, ':');

	if (at)
		*at++ = '\0';
	return at;
}

static bool is_edge(const char *text)
{
	return !strcmp(text, "rise") || !strcmp(text, "rising") || !strcmp(text, "fall") ||
	       !strcmp(text, "falling");
}

/* LINE:rise:1s[:+-300ns[:max]]; the line's own name may hold colons. */
static int parse_pulse(const struct verb *verb, char *text, struct cvl_sync_opts *o)
{
	struct cvl_pulse_rule *r = &o->pulse[o->n_pulse];
	char *word = last_word(text), *edge;
	bool good = word != NULL;

	if (o->n_pulse == CVL_RULES_MAX)
		return cli_usage(verb, "at most %d pulse rules", CVL_RULES_MAX);
	*r = (struct cvl_pulse_rule){ .error_is_max = word && !strcmp(word, "max") };
	if (r->error_is_max)
		word = last_word(text);
	if (word && !strncmp(word, "+-", 2)) {
		good = !cvl_duration_parse(word + 2, &r->error_ns) && r->error_ns > 0;
		word = last_word(text);
	} else if (r->error_is_max) {
		good = false;
	}
	edge = word ? last_word(text) : NULL;
	if (!good || !edge || !*text || strlen(text) >= sizeof(r->line) || !is_edge(edge) ||
	    cvl_duration_parse(word, &r->period_ns) || r->period_ns <= 0)
		return cli_usage(
			verb,
			"--pulse takes LINE:rise:PERIOD or LINE:fall:PERIOD, such as PPS:rise:1s, and "
			"how far each clock's own source may be off: PPS:rise:1s:+-300ns");
	snprintf(r->line, sizeof(r->line), "%s", text);
	r->rising = edge[0] == 'r';
	o->n_pulse++;
	return 0;
}

static int parse_drift(const struct verb *verb, char *text, struct cvl_sync_opts *o)
{
	char *number = strrchr(text, '='), *end;
	double ppm;

	ppm = strtod(number ? number + 1 : text, &end);
	if (*end || end == text || !(ppm > 0 && ppm < 100000))
		return cli_usage(verb,
				 "--max-drift takes parts per million, such as 50 or CLOCK=50");
	if (!number) {
		o->max_drift_ppm = ppm;
		return 0;
	}
	if (o->n_drift == sizeof(o->drift) / sizeof(*o->drift))
		return cli_usage(verb, "too many --max-drift");
	*number = '\0';
	o->drift[o->n_drift].clock = text;
	o->drift[o->n_drift++].ppm = ppm;
	return 0;
}

int sync_option(struct sync_options *o, int c, char *arg, const struct verb *verb)
{
	struct cvl_sync_opts *opts = &o->opts;
	char *end;
	int rc;

	switch (c) {
	case SYNC_OPT_MATCH:
		if (opts->n_match == CVL_RULES_MAX)
			return cli_usage(verb, "at most %d rules", CVL_RULES_MAX);
		opts->match = o->match;
		o->match[opts->n_match++] = arg;
		return 0;
	case SYNC_OPT_PULSE: return parse_pulse(verb, arg, opts);
	case SYNC_OPT_ALIGN: opts->align = arg; return 0;
	case SYNC_OPT_START_BOUND:
		rc = cli_duration(verb, "--start-bound", arg, &opts->start_bound_ns);
		if (!rc && opts->start_bound_ns <= 0)
			rc = cli_usage(verb, "--start-bound takes a time above 0");
		return rc;
	case SYNC_OPT_BEACON:
		rc = cli_duration(verb, "--beacon", arg, &opts->beacon_period_ns);
		if (!rc && opts->beacon_period_ns <= 0)
			rc = cli_usage(verb, "--beacon takes a period above 0");
		return rc;
	case SYNC_OPT_ESTIMATOR: opts->estimator = arg; return 0;
	case SYNC_OPT_REFERENCE: opts->reference = arg; return 0;
	case SYNC_OPT_DRIFT: return parse_drift(verb, arg, opts);
	case SYNC_OPT_WANDER:
		opts->wander_ppb_s = strtod(arg, &end);
		opts->has_wander = true;
		if (*end || end == arg || !(opts->wander_ppb_s >= 0))
			return cli_usage(verb, "--wander takes ppb a second, such as 10, not '%s'",
					 arg);
		return 0;
	case SYNC_OPT_CALIBRATION: o->calibration = arg; return 0;
	case SYNC_OPT_STRICT: opts->strict = true; return 0;
	default: return -1;
	}
}

/* ---- as it was done before ---- */

static void recall_pulses(struct cvl_sync_opts *o, json_t *list)
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
		    strlen(line) >= sizeof(r->line) || period <= 0)
			continue;
		snprintf(r->line, sizeof(r->line), "%s", line);
		r->rising = edge[0] == 'r';
		r->error_ns = json_integer_value(json_object_get(j, "error_ns"));
		r->error_is_max = json_is_true(json_object_get(j, "error_is_max"));
		r->period_ns = period;
		o->n_pulse++;
	}
}

/* Rules of files are kept in sync.json as such, and have to be named again. */
static void recall_rules(struct sync_options *o, json_t *list)
{
	const char *const *built_in = rules_builtin();
	json_t *j;
	size_t i;

	json_array_foreach(list, i, j)
	{
		const char *name = json_string_value(json_object_get(j, "name"));

		for (size_t k = 0; name && built_in[k]; k++)
			if (!strcmp(name, built_in[k]) && o->opts.n_match < CVL_RULES_MAX) {
				o->opts.match = o->match;
				o->match[o->opts.n_match++] = built_in[k];
			}
	}
}

/* The first clock's limit stands for all; clocks with others are named. */
static void recall_drift(struct cvl_sync_opts *o, json_t *drift, const struct cvl_sync *sync)
{
	size_t most = sizeof(o->drift) / sizeof(*o->drift);
	const char *name;
	json_t *v;

	json_object_foreach(drift, name, v)
	{
		double ppm = json_number_value(v);

		if (!(ppm > 0))
			continue;
		if (!(o->max_drift_ppm > 0))
			o->max_drift_ppm = ppm;
		for (size_t i = 0; ppm != o->max_drift_ppm && i < sync->n && o->n_drift < most; i++)
			if (!strcmp(sync->clock[i].clock, name)) {
				o->drift[o->n_drift].clock = sync->clock[i].clock;
				o->drift[o->n_drift++].ppm = ppm;
			}
	}
}

void sync_options_recall(struct sync_options *o, const struct cvl_sync *sync,
			 const struct cvl_session *session)
{
	json_t *root = sync->settings ? json_loads(sync->settings, 0, NULL) : NULL;
	json_t *wander = json_object_get(root, "wander_ppb_s");
	json_int_t period = json_integer_value(json_object_get(root, "beacon_period_ns"));

	recall_pulses(&o->opts, json_object_get(root, "pulse"));
	recall_rules(o, json_object_get(root, "match"));
	recall_drift(&o->opts, json_object_get(root, "max_drift_ppm"), sync);
	if (period > 0)
		o->opts.beacon_period_ns = period;
	if (json_is_number(wander)) {
		o->opts.has_wander = true;
		o->opts.wander_ppb_s = json_number_value(wander);
	}
	if (cvl_session_find(session, sync->reference) >= 0)
		o->opts.reference = sync->reference;
	json_decref(root);
}

int sync_options_calibrate(struct sync_options *o, const char *path, struct cvl_error *err)
{
	int rc;

	if (o->calibration && !strcmp(o->calibration, "none"))
		return 0;
	rc = cvl_calibration_load(&o->loaded, o->calibration ? o->calibration : path, err);
	o->opts.calibration = o->loaded;
	return rc == CVL_E_ENV && !o->calibration ? 0 : rc;
}

void sync_options_free(struct sync_options *o)
{
	cvl_calibration_free(o->loaded);
	o->loaded = NULL;
}
