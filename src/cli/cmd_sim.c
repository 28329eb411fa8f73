/* SPDX-License-Identifier: MIT */
/*
 * Simulate a world from a file: the session that captures of it would have produced, and the truth.
 */
#include "cli.h"
#include "json.h"
#include "output.h"

#include <coeval/files.h>
#include <coeval/sim.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAMPLES_MAX 16

struct sim {
	struct cvl_sim *world;
	struct cvl_sim_info info;
	const char *file, *session;
	struct {
		const char *clock, *path;
	} samples[SAMPLES_MAX];
	size_t n_samples, n_late; /* faults after the end that --duration sets */
	bool seeded, json;
	uint64_t seed, records;
	char truth[CVL_PATH_MAX];
	int64_t duration_ns;
};

/* CLOCK=FILE */
static int take_samples(const struct verb *verb, void *to, char *text)
{
	struct sim *s = to;
	char *path = strchr(text, '=');

	if (s->n_samples == SAMPLES_MAX)
		return cli_usage(verb, "at most %d --samples", SAMPLES_MAX);
	if (!path || path == text || !path[1])
		return cli_usage(verb, "--samples takes CLOCK=FILE, not '%s'", text);
	*path++ = '\0';
	s->samples[s->n_samples].clock = text;
	s->samples[s->n_samples++].path = path;
	return 0;
}

#define AT(member) offsetof(struct sim, member)

static const struct cli_option options[] = {
	{ "output", 'o', "SESSION", OPTION_DIR, AT(session),
	  "the session to make; it must not exist", .must = true },
	{ "seed", 0, "N", OPTION_WHOLE, AT(seed), "draw it anew (default: what the world says)",
	  OPTION_GIVEN(struct sim, seeded) },
	{ "duration", 0, "TIME", OPTION_DURATION, AT(duration_ns),
	  "make it shorter or longer, such as 90s or 2h", 1, INT64_MAX },
	{ "samples", 0, "CLOCK=FILE", OPTION_TEXT, 0,
	  "also the lines of this clock as raw samples, a byte each; 8 MHz make 29 GB an hour; may be repeated",
	  .take = take_samples },
	JSON_OPTION(AT(json)),
	{ 0 },
};

static bool has_clock(const struct cvl_sim *world, const char *wanted)
{
	char name[CVL_SIM_NAME];

	for (size_t i = 0; cvl_sim_clock(world, i, name); i++)
		if (!strcmp(name, wanted))
			return true;
	return false;
}

/* Check everything before creating anything. */
static int load(struct sim *s, struct cvl_error *err)
{
	int rc = cvl_sim_load(&s->world, s->file, err);

	if (rc)
		return rc;
	if (s->seeded)
		cvl_sim_seed(s->world, s->seed);
	if (s->duration_ns) {
		struct cvl_error why;

		rc = cvl_sim_duration(s->world, s->duration_ns, &s->n_late, &why);
		if (rc)
			return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					"%s does not go with this --duration: %s", s->file,
					why.text);
	}
	cvl_sim_info(s->world, &s->info);
	for (size_t i = 0; i < s->n_samples; i++)
		if (!has_clock(s->world, s->samples[i].clock))
			return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s has no clock '%s'",
					s->file, s->samples[i].clock);
	if (!access(s->session, F_OK))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"%s already exists; name another directory", s->session);
	return 0;
}

static int make(struct sim *s, struct cvl_error *err)
{
	struct progress progress;
	int rc;

	progress_init(&progress, "simulating");
	rc = cvl_sim_run(s->world, s->session, &(struct cvl_progress){ progress_show, &progress },
			 err);
	progress_clear(&progress);
	for (size_t i = 0; i < s->n_samples && !rc; i++)
		rc = cvl_sim_samples(s->world, s->samples[i].clock, s->samples[i].path, err);
	return rc;
}

/* ---- output ---- */

static void period_text(char text[32], int64_t ns)
{
	static const struct {
		int64_t ns;
		const char *name;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } };
	size_t i = 0;

	while (ns % units[i].ns)
		i++;
	snprintf(text, 32, "%lld%s", (long long)(ns / units[i].ns), units[i].name);
}

#define COMMAND (CVL_PATH_MAX + 200)

/*
 * The command that puts this world onto one timeline. Beacons are in the session; pulses and
 * messages must be named.
 */
static void next_command(const struct sim *s, bool with_pulses, char text[COMMAND])
{
	const struct cvl_sim_info *w = &s->info;
	char beacon[64] = "", edges[100] = "", period[32];

	if (w->senders && w->beacon_period_ns != 1000000000) {
		period_text(period, w->beacon_period_ns);
		snprintf(beacon, sizeof(beacon), " --beacon %s", period);
	}
	if (with_pulses && w->pulse_line) {
		period_text(period, w->pulse_period_ns);
		snprintf(edges, sizeof(edges), " --pulse %s:rise:%s", w->pulse_line, period);
	}
	snprintf(text, COMMAND, "coeval sync %s%s%s%s", s->session, beacon, edges,
		 w->messages ? " --match examples/rules/radio.yaml" : "");
}

static int count_records(const char *path, uint64_t *n, struct cvl_error *err)
{
	const struct cvl_timeline_opts opts = { .nominal = true };
	struct cvl_session *session;
	struct cvl_timeline *tl = NULL;
	struct cvl_block block;
	int rc = cvl_session_open(&session, path, NULL, err);

	*n = 0;
	if (rc)
		return rc;
	rc = cvl_timeline_open(&tl, session, &opts, err);
	while (!rc && (rc = cvl_timeline_next(tl, &block, err)) > 0) {
		*n += block.records;
		rc = 0;
	}
	if (tl)
		cvl_timeline_close(tl);
	cvl_session_close(session);
	return rc;
}

static void print_text(struct cvl_out *o, const void *sim)
{
	const struct sim *s = sim;
	const struct cvl_sim_info *w = &s->info;
	char command[COMMAND];

	cvl_out_printf(o, "%s: ", w->name);
	cli_count(o, "", w->clocks, "clock", "");
	cvl_out_printf(o, " for %.15g s (simulated, seed %llu), ", (double)w->duration_ns / 1e9,
		       (unsigned long long)w->seed);
	cli_count(o, "", s->records, "record", ".\n");
	if (s->n_late)
		cli_count(o, "", s->n_late, "fault",
			  " of this world would come after that, and did not.\n");
	cvl_out_printf(o, "\n  session  %s\n  truth    %s\n", s->session, s->truth);
	for (size_t i = 0; i < s->n_samples; i++)
		cvl_out_printf(o, "  samples  %s (%s)\n", s->samples[i].path, s->samples[i].clock);
	next_command(s, !w->senders, command);
	cvl_out_printf(o, "\nnext: %s\n", command);
	if (w->senders && w->pulses) {
		next_command(s, true, command);
		cvl_out_printf(o, "  or:  %s\n", command);
	}
}

static void print_json(struct cvl_out *o, const void *sim)
{
	const struct sim *s = sim;
	const struct cvl_sim_info *w = &s->info;
	struct js j = js_begin(o);
	char command[COMMAND];

	js_bool(&j, "simulated", true);
	js_text(&j, "world", w->name);
	js_count(&j, "seed", w->seed);
	js_int(&j, "duration_ns", w->duration_ns);
	js_counts(&j, "clocks records", w->clocks, s->records);
	js_texts(&j, "session truth", s->session, s->truth);
	js_open(&j, "samples", '[');
	for (size_t i = 0; i < s->n_samples; i++) {
		js_open(&j, NULL, '{');
		js_texts(&j, "clock file", s->samples[i].clock, s->samples[i].path);
		js_close(&j, '}');
	}
	js_close(&j, ']');
	next_command(s, !w->senders, command);
	js_text(&j, "next", command);
	js_end(&j);
}

static int tell(struct sim *s, struct cvl_error *err)
{
	int rc = count_records(s->session, &s->records, err);

	if (!rc && !cvl_path_join(s->truth, s->session, "truth.json"))
		rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", s->session);
	return rc ? rc : output_print(s->json ? print_json : print_text, s, err);
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct sim *s = calloc(1, sizeof(*s));
	struct operands operands;
	struct cvl_error err;
	int rc;

	if (!s) {
		cvl_no_memory(&err);
		return cli_fail(&err);
	}
	rc = options_read(verb, s, argc, argv, &operands);
	if (rc < 0) {
		s->file = operands.v[0];
		rc = load(s, &err);
		if (!rc)
			rc = make(s, &err);
		if (!rc)
			rc = tell(s, &err);
		rc = rc ? cli_fail(&err) : 0;
	}
	cvl_sim_free(s->world);
	free(s);
	return rc;
}

const struct verb verb_sim = {
	.name = "sim",
	.group = VERB_GET,
	.what = "make the session of a simulated world, with the truth beside it",
	.operands = "WORLD.yaml",
	.options = options,
	.notes = "docs/sim.md tells what a world can have in it.\n",
	.examples = "  coeval sim examples/worlds/nominal.yaml -o s --duration 10m\n",
	.run = run,
};
