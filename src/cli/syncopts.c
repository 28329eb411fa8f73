/* SPDX-License-Identifier: MIT */
#include "syncopts.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	case SYNC_OPT_ALIGN:
		if (strlen(arg) >= sizeof(opts->align))
			return cli_usage(verb, "--align takes the name of a line");
		snprintf(opts->align, sizeof(opts->align), "%s", arg);
		return 0;
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

/* Rules of one file may share a name. */
static void put_matches(FILE *f, const char *settings)
{
	json_t *root = json_loads(settings, 0, NULL), *list = json_object_get(root, "match"), *j;
	const char *last = "";
	size_t i;

	json_array_foreach(list, i, j)
	{
		const char *name = json_string_value(json_object_get(j, "name"));

		if (name && strcmp(name, last) != 0)
			fprintf(f, " --match %s", name);
		last = name ? name : "";
	}
	json_decref(root);
}

static void put_recalled(FILE *f, const struct cvl_sync_opts *o, const struct cvl_sync_opts *given)
{
	if (o->recalled)
		put_matches(f, o->recalled);
	for (size_t i = 0; i < o->n_pulse; i++) {
		const struct cvl_pulse_rule *r = &o->pulse[i];

		fprintf(f, " --pulse %s:%s:%.9gs", r->line, r->rising ? "rise" : "fall",
			(double)r->period_ns * 1e-9);
		if (r->error_ns)
			fprintf(f, ":+-%.9gns%s", (double)r->error_ns,
				r->error_is_max ? ":max" : "");
	}
	if (strcmp(o->align, given->align) != 0)
		fprintf(f, " --align %s", o->align);
	if (o->start_bound_ns != given->start_bound_ns)
		fprintf(f, " --start-bound %.9gs", (double)o->start_bound_ns * 1e-9);
	if (o->beacon_period_ns && o->beacon_period_ns != 1000000000)
		fprintf(f, " --beacon %.9gs", (double)o->beacon_period_ns * 1e-9);
	if (o->max_drift_ppm > given->max_drift_ppm)
		fprintf(f, " --max-drift %.9g", o->max_drift_ppm);
	for (size_t i = given->n_drift; i < o->n_drift; i++)
		fprintf(f, " --max-drift %s=%.9g", o->drift[i].clock, o->drift[i].ppm);
	if (o->has_wander && !given->has_wander)
		fprintf(f, " --wander %.9g", o->wander_ppb_s);
	if (o->reference && !given->reference)
		fprintf(f, " --reference %s", o->reference);
}

int sync_options_recall(struct sync_options *o, const struct cvl_sync *sync, struct cvl_error *err)
{
	const struct cvl_sync_opts given = o->opts;
	int rc = cvl_sync_recall(&o->opts, sync, err);
	char *text = NULL;
	size_t n;
	FILE *f = rc ? NULL : open_memstream(&text, &n);

	if (!f)
		return rc;
	put_recalled(f, &o->opts, &given);
	if (!fclose(f) && n)
		fprintf(stderr, "with the rules of sync.json:%s\n", text);
	free(text);
	return 0;
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
