/* SPDX-License-Identifier: MIT */
#include "task/freq_view.h"

#include <math.h>

#include "cli.h"

static const char *const how_names[] = { "given", "fitted", "left out" };

/* The highest that the thesis found (table 10.5), or 0, in the order of the counters. */
static const double thesis_counters[CVL_FREQ_COUNTERS] = { -0.345, 0.223, 0.141 };

static const struct {
	const char *name;
	double thesis; /* table 10.7 */
} groups[CVL_FREQ_GROUPS] = {
	{ "all tasks", 0.1166 },
	{ "tasks that save energy", 0.4120 },
	{ "other tasks", 0.0928 },
};

static double mhz(const struct cvl_freq_result *r, size_t p)
{
	return r->point[p].hz * 1e-6;
}

/* Table 10.3, at the thesis's frequencies. */
static double thesis_cycles_energy(double at_mhz)
{
	static const double table[][2] = {
		{ 13, 0.901 }, { 26, 0.915 }, { 40, 0.970 }, { 53, 0.989 }
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (fabs(at_mhz - table[i][0]) < 1)
			return table[i][1];
	return 0;
}

static void number_cell(struct table *t, double v)
{
	if (isnan(v) || v == 0)
		table_cell(t, "-");
	else
		table_cell(t, "%.3f", v);
}

static void percent_cell(struct table *t, int decimals, double share)
{
	table_cell(t, "%.*f %%", decimals, 100 * share);
}

static double share(size_t part, size_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* ---- one set ---- */

static void correlations(struct cvl_out *o, const struct cvl_freq_result *r)
{
	struct table t;

	table_init(&t, 3);
	table_heads(
		&t,
		(const char *[]){
			"what goes with what (Pearson), cycles and energy over those at the highest frequency",
			"here", "the thesis", NULL });
	for (size_t p = 1; p < r->n_points; p++) {
		table_cell(&t, "  cycles and energy at %.1f MHz", mhz(r, p));
		number_cell(&t, r->point[p].cycles_energy);
		number_cell(&t, thesis_cycles_energy(mhz(r, p)));
	}
	for (size_t i = 0; i < CVL_FREQ_COUNTERS; i++) {
		const struct cvl_freq_counter *c = &r->counter[i];

		if (!c->point)
			continue;
		table_cell(&t, "  %s and cycles at %.1f MHz, where it is strongest", c->name,
			   mhz(r, c->point));
		number_cell(&t, c->cycles);
		number_cell(&t, thesis_counters[i]);
	}
	for (size_t i = 0; i < CVL_FREQ_GROUPS; i++) {
		table_cell(&t, "  cycles an instruction and cycles at %.1f MHz: %zu, %s",
			   mhz(r, r->n_points - 1), r->per_instruction[i].n, groups[i].name);
		number_cell(&t, r->per_instruction[i].cycles);
		number_cell(&t, groups[i].thesis);
	}
	table_print(&t, o, "lrr", "");
}

static void set_text(struct cvl_out *o, const struct cvl_freq_result *r)
{
	cvl_out_printf(o, "%zu tasks", r->n);
	if (r->left_out)
		cvl_out_printf(o, ", %zu left out", r->left_out);
	cvl_out_text(o, "; least energy at");
	for (size_t p = 0; p < r->n_points; p++)
		cvl_out_printf(o, "%s %.1f MHz: %zu", p ? "," : "", mhz(r, p),
			       r->point[p].best_for);
	cvl_out_printf(o, ".\nThe best choice for each task saves %.2f %% of energy%s.\n\n",
		       100 * r->could_be,
		       r->true_known ? " (by true energies; rules are fitted to measured ones)" :
				       "");
	correlations(o, r);
	cvl_out_printf(o, "\nstatic power carried to 0 Hz: %.4g mW (device: %.6g)\n",
		       r->static_w * 1e3, r->device_static_w * 1e3);
	cvl_out_printf(o, "mean alpha * C by equation 10.5: %.4g F (device: %.7g)\n", r->alpha_c,
		       r->device_alpha_c);
}

static void list(struct cvl_out *o, const char *const *name, size_t n, const char *between)
{
	for (size_t i = 0; i < n; i++)
		cvl_out_printf(o, "%s%s", i ? between : "", name[i]);
}

static void unknown_text(struct cvl_out *o, const struct cvl_freq_result *r)
{
	if (r->n_unknown) {
		cvl_out_text(o, "not known of any task: ");
		list(o, r->unknown, r->n_unknown, ", ");
		cvl_out_text(o, r->learned == CVL_FREQ_NONE ?
					": no rule can be learned\n" :
					"; linear rules are fitted without it\n");
		cvl_out_text(o, r->n_unusable ? "rules that need it are left out: " : "");
		list(o, r->unusable, r->n_unusable, "; ");
		cvl_out_text(o, r->n_unusable ? "\n" : "");
	}
	if (r->learned != CVL_FREQ_NONE && r->learned_from < r->n)
		cvl_out_printf(
			o,
			"%s is fitted to %zu of %zu tasks: the others lack a counter that it looks at\n",
			r->rule[r->learned].name, r->learned_from, r->n);
}

/* The cells that name a rule. */
static void rule_cells(struct table *t, const struct cvl_freq_rule *rule)
{
	table_cell(t, "%s", rule->name);
	table_cell(t, "%s", how_names[rule->how]);
	table_cell(t, "%u", rule->passes);
	table_cell(t, "%u", rule->frequencies);
}

static void rules_text(struct cvl_out *o, const struct cvl_freq_result *r)
{
	static const char *const heads[] = { "rule",     "numbers", "passes",
					     "freqs",    "best",    "best or better",
					     "no worse", "saves",   "slower",
					     NULL };
	struct table t;

	table_init(&t, 9);
	table_heads(&t, heads);
	for (size_t i = 0; i < r->n_rules; i++) {
		const struct cvl_freq_score *s = &r->rule[i].score;

		rule_cells(&t, &r->rule[i]);
		percent_cell(&t, 1, share(s->best, s->n));
		percent_cell(&t, 1, share(s->better, s->n));
		percent_cell(&t, 1, share(s->no_worse, s->n));
		percent_cell(&t, 2, s->saved);
		percent_cell(&t, 1, s->slower);
	}
	cvl_out_char(o, '\n');
	table_print(&t, o, "llrrrrrrr", "");
	cvl_out_char(o, '\n');
	unknown_text(o, r);
	if (r->learned != CVL_FREQ_NONE)
		cvl_out_printf(o, "%s, left out, %s%s (%s).\n", r->rule[r->learned].name,
			       r->won ? "saves more than every other rule; next is " :
					"does not save more than every other rule: ",
			       r->rule[r->closest].name, how_names[r->rule[r->closest].how]);
	cvl_out_text(
		o,
		"given: the thesis's numbers; fitted: to the tasks they are judged by; left out: for each task to all the others.\n"
		"The thesis, of 69 tasks on an STM32L476: cycles an instruction 78.7 %, which is (61 - 13)/61; the (69 - 13)/69 that it writes is\n"
		"81.2 % (best or better). Saved cycles 87 % (60/69), energy estimate 95.6 % (66/69): no worse.\n");
}

static void choices_text(struct cvl_out *o, const struct cvl_freq_result *r)
{
	static const char *const heads[] = {
		"task", "best, MHz", "saves", "chosen", "saves", NULL
	};
	struct table t;

	table_init(&t, 5);
	table_heads(&t, heads);
	for (size_t i = 0; i < r->n; i++) {
		const struct cvl_freq_choice *c = &r->choice[i];

		table_cell(&t, "%s", c->task);
		table_cell(&t, "%.1f", mhz(r, c->best));
		percent_cell(&t, 2, c->best_saves);
		table_cell(&t, "%.1f", mhz(r, c->chosen));
		percent_cell(&t, 2, c->chosen_saves);
	}
	cvl_out_char(o, '\n');
	table_print(&t, o, "lrrrr", "");
}

static void point_cell(struct table *t, const struct cvl_freq_result *r, int p)
{
	if (p < 0)
		table_cell(t, "not known");
	else
		table_cell(t, "%.1f", mhz(r, (size_t)p));
}

static void guesses_text(struct cvl_out *o, const struct cvl_freq_result *r)
{
	static const char *const heads[] = { "not measured everywhere", "energy estimate, MHz",
					     "learned, MHz", NULL };
	struct table t;

	if (!r->n_guesses)
		return;
	table_init(&t, 3);
	table_heads(&t, heads);
	for (size_t i = 0; i < r->n_guesses; i++) {
		table_cell(&t, "%s", r->guess[i].task);
		point_cell(&t, r, r->guess[i].estimate);
		point_cell(&t, r, r->guess[i].learned);
	}
	cvl_out_char(o, '\n');
	table_print(&t, o, "lrr", "");
}

void freq_text(struct cvl_out *o, const struct cvl_freq_result *r)
{
	if (r->n < 2) {
		cvl_out_text(
			o,
			"Fewer than two tasks have their energy at every frequency: rules cannot be judged.\n");
	} else {
		set_text(o, r);
		rules_text(o, r);
		if (r->choice)
			choices_text(o, r);
	}
	guesses_text(o, r);
}

/* JSON has no NaN. */
static json_t *real(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *point_json(const struct cvl_freq_result *r, int p)
{
	return p < 0 ? json_null() : json_integer((json_int_t)r->point[p].hz);
}

static json_t *guesses_json(const struct cvl_freq_result *r)
{
	json_t *all = json_array();

	for (size_t i = 0; i < r->n_guesses; i++)
		json_array_append_new(all,
				      json_pack("{s:s, s:o, s:o}", "task", r->guess[i].task,
						"estimate_hz", point_json(r, r->guess[i].estimate),
						"learned_hz", point_json(r, r->guess[i].learned)));
	return all;
}

static json_t *rules_json(const struct cvl_freq_result *r)
{
	json_t *all = json_array();

	for (size_t i = 0; i < r->n_rules; i++) {
		const struct cvl_freq_rule *rule = &r->rule[i];
		const struct cvl_freq_score *s = &rule->score;

		json_array_append_new(
			all, json_pack("{s:s, s:s, s:i, s:b, s:I, s:I, s:I, s:I, s:f, s:f, s:f}",
				       "rule", rule->name, "numbers", how_names[rule->how],
				       "passes", (int)rule->passes, "second_frequency",
				       rule->frequencies > 1, "tasks", (json_int_t)s->n, "best",
				       (json_int_t)s->best, "best_or_better", (json_int_t)s->better,
				       "no_worse", (json_int_t)s->no_worse, "saved", s->saved,
				       "slower", s->slower, "could_be_saved", s->could_be));
	}
	return all;
}

json_t *freq_json(const struct cvl_freq_result *r)
{
	json_t *points = json_array(), *with = json_array(), *cpi = json_array(),
	       *unknown = json_array(), *choices = json_array(), *root;

	if (r->n < 2) {
		json_decref(points);
		json_decref(with);
		json_decref(cpi);
		json_decref(unknown);
		json_decref(choices);
		return json_pack("{s:I, s:o}", "tasks", (json_int_t)r->n, "not_measured",
				 guesses_json(r));
	}
	for (size_t p = 0; p < r->n_points; p++)
		json_array_append_new(points,
				      json_pack("{s:I, s:I, s:o}", "hz", (json_int_t)r->point[p].hz,
						"best_for", (json_int_t)r->point[p].best_for,
						"pearson_cycles_energy",
						real(r->point[p].cycles_energy)));
	for (size_t i = 0; i < CVL_FREQ_COUNTERS; i++)
		json_array_append_new(with,
				      json_pack("{s:s, s:I, s:o}", "counter", r->counter[i].name,
						"hz", (json_int_t)r->point[r->counter[i].point].hz,
						"pearson_cycles", real(r->counter[i].cycles)));
	for (size_t i = 0; i < CVL_FREQ_GROUPS; i++)
		json_array_append_new(cpi, json_pack("{s:s, s:I, s:o}", "group", groups[i].name,
						     "tasks", (json_int_t)r->per_instruction[i].n,
						     "pearson_cycles",
						     real(r->per_instruction[i].cycles)));
	for (size_t i = 0; i < r->n_unknown; i++)
		json_array_append_new(unknown, json_string(r->unknown[i]));
	for (size_t i = 0; i < r->n && r->choice; i++)
		json_array_append_new(
			choices, json_pack("{s:s, s:I, s:I}", "task", r->choice[i].task, "best_hz",
					   (json_int_t)r->point[r->choice[i].best].hz, "chosen_hz",
					   (json_int_t)r->point[r->choice[i].chosen].hz));
	root = json_pack("{s:I, s:I, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "tasks",
			 (json_int_t)r->n, "left_out", (json_int_t)r->left_out, "true_energies",
			 r->true_known, "points", points, "counters", with,
			 "cycles_per_instruction", cpi, "static_w", real(r->static_w), "alpha_c_f",
			 real(r->alpha_c), "rules", rules_json(r), "not_known", unknown,
			 "learned_from", (json_int_t)r->learned_from);
	if (r->choice)
		json_object_set(root, "choices", choices);
	json_decref(choices);
	json_object_set_new(root, "not_measured", guesses_json(r));
	return root;
}

/* ---- several sets ---- */

static double deviation(const struct cvl_freq_tally *t, size_t i)
{
	double n = (double)t->sets, mean = t->rule[i].saved / n;

	return t->sets > 1 ? sqrt(fmax(0, t->rule[i].square - n * mean * mean) / (n - 1)) : 0;
}

void freq_tally_text(struct cvl_out *o, const struct cvl_freq_tally *t,
		     const struct cvl_freq_result *r)
{
	static const char *const heads[] = { "rule", "numbers",        "passes",   "freqs",
					     "best", "best or better", "no worse", "saves",
					     "sd",   "slower",         "beaten",   NULL };
	double n = (double)t->sets;
	struct table table;

	table_init(&table, 11);
	table_heads(&table, heads);
	for (size_t i = 0; i < r->n_rules; i++) {
		if (r->rule[i].how == CVL_FREQ_FITTED)
			continue;
		rule_cells(&table, &r->rule[i]);
		percent_cell(&table, 1, t->rule[i].best / n);
		percent_cell(&table, 1, t->rule[i].better / n);
		percent_cell(&table, 1, t->rule[i].no_worse / n);
		percent_cell(&table, 2, t->rule[i].saved / n);
		table_cell(&table, "%.2f", 100 * deviation(t, i));
		percent_cell(&table, 1, t->rule[i].slower / n);
		if (i == r->learned)
			table_cell(&table, "-");
		else
			table_cell(&table, "%zu", t->rule[i].beaten);
	}
	table_print(&table, o, "llrrrrrrrrr", "");
	cvl_out_printf(o, "\nThe best choice for each task saves %.2f %%.\n",
		       100 * t->could_be / n);
	if (r->learned != CVL_FREQ_NONE)
		cvl_out_printf(
			o,
			"%s, left out, saves more than every other rule (linear ones apart) in %zu of %zu seeds; beaten: more than this rule.\n",
			r->rule[r->learned].name, t->won, t->sets);
}

json_t *freq_tally_json(const struct cvl_freq_tally *t, const struct cvl_freq_result *r)
{
	json_t *all = json_array();
	double n = (double)t->sets;

	for (size_t i = 0; i < r->n_rules; i++) {
		const struct cvl_freq_rule *rule = &r->rule[i];

		json_array_append_new(
			all,
			json_pack("{s:s, s:s, s:i, s:b, s:f, s:f, s:f, s:f, s:f, s:f, s:I}", "rule",
				  rule->name, "numbers", how_names[rule->how], "passes",
				  (int)rule->passes, "second_frequency", rule->frequencies > 1,
				  "best_percent", 100 * t->rule[i].best / n,
				  "best_or_better_percent", 100 * t->rule[i].better / n,
				  "no_worse_percent", 100 * t->rule[i].no_worse / n, "saved",
				  t->rule[i].saved / n, "saved_sd", deviation(t, i), "slower",
				  t->rule[i].slower / n, "beaten", (json_int_t)t->rule[i].beaten));
	}
	return json_pack("{s:I, s:I, s:f, s:o}", "seeds", (json_int_t)t->sets, "won",
			 (json_int_t)t->won, "could_be_saved", t->could_be / n, "rules", all);
}
