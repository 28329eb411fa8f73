/* SPDX-License-Identifier: MIT */
#include "syncopts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int take_pulse(const struct verb *verb, void *to, char *text)
{
	struct cvl_sync_opts *o = &((struct sync_options *)to)->opts;

	if (o->n_pulse == CVL_RULES_MAX)
		return cli_usage(verb, "at most %d pulse rules", CVL_RULES_MAX);
	if (cvl_pulse_parse(&o->pulse[o->n_pulse], text, NULL))
		return cli_usage(
			verb,
			"--pulse takes LINE:rise:PERIOD or LINE:fall:PERIOD, such as PPS:rise:1s, and "
			"how far each clock's own source may be off: PPS:rise:1s:+-300ns");
	o->n_pulse++;
	return 0;
}

static int take_drift(const struct verb *verb, void *to, char *text)
{
	struct cvl_sync_opts *o = &((struct sync_options *)to)->opts;
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

static int take_match(const struct verb *verb, void *to, char *text)
{
	struct sync_options *o = to;

	if (o->opts.n_match == CVL_RULES_MAX)
		return cli_usage(verb, "at most %d rules", CVL_RULES_MAX);
	o->opts.match = o->match;
	o->match[o->opts.n_match++] = text;
	return 0;
}

static int take_align(const struct verb *verb, void *to, char *text)
{
	struct cvl_sync_opts *o = &((struct sync_options *)to)->opts;

	if (strlen(text) >= sizeof(o->align))
		return cli_usage(verb, "--align takes the name of a line");
	snprintf(o->align, sizeof(o->align), "%s", text);
	return 0;
}

static int take_wander(const struct verb *verb, void *to, char *text)
{
	struct cvl_sync_opts *o = &((struct sync_options *)to)->opts;
	char *end;

	o->wander_ppb_s = strtod(text, &end);
	o->has_wander = true;
	if (*end || end == text || !(o->wander_ppb_s >= 0))
		return cli_usage(verb, "--wander takes ppb a second, such as 10, not '%s'", text);
	return 0;
}

const char *estimator_name(size_t i)
{
	const struct cvl_estimator_info *info = cvl_sync_estimator(i);

	return info ? info->name : NULL;
}

static bool estimator_member(size_t i, struct verb_member *m)
{
	const struct cvl_estimator_info *info = cvl_sync_estimator(i);

	if (info)
		*m = (struct verb_member){ info->name, info->what, info->options };
	return info != NULL;
}

const struct verb_members estimator_members = { "Estimators (--estimator)", estimator_member };

#define AT(member) offsetof(struct sync_options, member)

const struct cli_option sync_options_table[] = {
	{ .kind = OPTION_HEADING,
	  .what = "What ties the clocks (default: the rules of sync.json)" },
	{ "match", 0, "RULE", OPTION_FILE, 0,
	  "messages between events: lttng-tcp, linux-tcp, linux-udp, ros2, ros2-dds, tracer, or a YAML file of rules; may be repeated",
	  .take = take_match },
	{ "pulse", 0, "LINE:EDGE:PERIOD[:+-ERROR[:max]]", OPTION_LINE, 0,
	  "pulses: every rise or fall of LINE, PERIOD apart; ERROR: each clock has a source of its own, off by that 99.9 % of the time, or at most; may be repeated",
	  .take = take_pulse },
	{ "beacon", 0, "PERIOD", OPTION_DURATION, AT(opts.beacon_period_ns),
	  "time from one beacon to the next (default 1s)", 1, INT64_MAX },
	{ "align", 0, "LINE", OPTION_LINE, 0,
	  "the first edge of LINE is the same one on all clocks: it decides which pulses they heard",
	  .take = take_align },
	{ "start-bound", 0, "TIME", OPTION_DURATION, AT(opts.start_bound_ns),
	  "captures began within TIME of when they claim, where nothing is stated", 1, INT64_MAX },
	{ "reference", 0, "CLOCK", OPTION_CLOCK, AT(opts.reference),
	  "the clock whose time becomes the timeline" },
	{ "max-drift", 0, "[CLOCK=]PPM", OPTION_TEXT, 0,
	  "how far a clock's rate may be off (default: as stated when it was imported; of a pair they add); may be repeated",
	  .take = take_drift },
	{ "wander", 0, "PPB", OPTION_TEXT, 0,
	  "how fast a rate may change, ppb a second (default: not limited)", .take = take_wander },
	{ "calibration", 0, "FILE", OPTION_FILE, AT(calibration),
	  "use the delays found in that session or file; none: use none" },
	{ .kind = OPTION_HEADING, .what = "How" },
	{ "estimator", 0, "NAME", OPTION_WORD, AT(opts.estimator),
	  "the estimator (default: the first that fits the observations)", .word = estimator_name },
	JOBS_OPTION(AT(opts.jobs)),
	STRICT_OPTION(AT(opts.strict)),
	{ 0 },
};

/* ---- recalled settings ---- */

static void put_match(void *ctx, const char *name)
{
	fprintf(ctx, " --match %s", name);
}

static void put_recalled(FILE *f, const struct cvl_sync_opts *o, const struct cvl_sync_opts *given)
{
	cvl_sync_recalled(o, put_match, f);
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

int sync_options_recall_of(struct sync_options *o, const struct cvl_session *session,
			   struct cvl_error *err)
{
	struct cvl_error why;
	int rc;

	if (o->opts.n_match || o->opts.n_pulse || o->opts.beacon_period_ns)
		return 0;
	rc = cvl_sync_load_settings(&o->last, session, &why);
	if (rc > 0)
		rc = sync_options_recall(o, o->last, &why);
	if (rc == CVL_E_NOMEM)
		return cvl_no_memory(err);
	if (rc < 0)
		fprintf(stderr, "coeval: the rules of the last synchronisation are not used: %s\n",
			why.text);
	return 0;
}

int sync_options_recall_from(struct sync_options *o, const char *path, struct cvl_error *err)
{
	struct cvl_session *session;
	int rc = cvl_session_open(&session, path, NULL, err);

	if (rc)
		return 0;
	rc = sync_options_recall_of(o, session, err);
	cvl_session_close(session);
	return rc;
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
	cvl_sync_free(o->last);
	o->last = NULL;
}
