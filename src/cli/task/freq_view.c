/* SPDX-License-Identifier: MIT */
#include "task/freq_view.h"

#include <math.h>

#include "cli.h"
#include "json.h"

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

	table_heads(
		&t,
		"what goes with what (Pearson), cycles and energy over those at the highest frequency|here|the thesis");
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
	table_row(t, rule->name, how_names[rule->how]);
	table_counts(t, rule->passes, rule->frequencies);
}

static void rules_text(struct cvl_out *o, const struct cvl_freq_result *r)
{
	struct table t;

	table_heads(&t, "rule|numbers|passes|freqs|best|best or better|no worse|saves|slower");
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
	struct table t;

	table_heads(&t, "task|best, MHz|saves|chosen|saves");
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
	struct table t;

	if (!r->n_guesses)
		return;
	table_heads(&t, "not measured everywhere|energy estimate, MHz|learned, MHz");
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

static void put_point(struct js *j, const char *key, const struct cvl_freq_result *r, int p)
{
	js_known(j, key, p < 0 ? 0 : r->point[p].hz, p >= 0);
}

static void put_guesses(struct js *j, const struct cvl_freq_result *r)
{
	js_open(j, "not_measured", '[');
	for (size_t i = 0; i < r->n_guesses; i++) {
		js_open(j, NULL, '{');
		js_text(j, "task", r->guess[i].task);
		put_point(j, "estimate_hz", r, r->guess[i].estimate);
		put_point(j, "learned_hz", r, r->guess[i].learned);
		js_close(j, '}');
	}
	js_close(j, ']');
}

static void put_rule(struct js *j, const struct cvl_freq_rule *rule)
{
	js_texts(j, "rule numbers", rule->name, how_names[rule->how]);
	js_int(j, "passes", rule->passes);
	js_bool(j, "second_frequency", rule->frequencies > 1);
}

static void put_rules(struct js *j, const struct cvl_freq_result *r)
{
	js_open(j, "rules", '[');
	for (size_t i = 0; i < r->n_rules; i++) {
		const struct cvl_freq_score *s = &r->rule[i].score;

		js_open(j, NULL, '{');
		put_rule(j, &r->rule[i]);
		js_counts(j, "tasks best best_or_better no_worse", s->n, s->best, s->better,
			  s->no_worse);
		js_reals(j, "saved slower could_be_saved", s->saved, s->slower, s->could_be);
		js_close(j, '}');
	}
	js_close(j, ']');
}

static void put_correlations(struct js *j, const struct cvl_freq_result *r)
{
	js_open(j, "points", '[');
	for (size_t p = 0; p < r->n_points; p++) {
		js_open(j, NULL, '{');
		js_int(j, "hz", r->point[p].hz);
		js_count(j, "best_for", r->point[p].best_for);
		js_real(j, "pearson_cycles_energy", r->point[p].cycles_energy);
		js_close(j, '}');
	}
	js_close(j, ']');
	js_open(j, "counters", '[');
	for (size_t i = 0; i < CVL_FREQ_COUNTERS; i++) {
		js_open(j, NULL, '{');
		js_text(j, "counter", r->counter[i].name);
		js_int(j, "hz", r->point[r->counter[i].point].hz);
		js_real(j, "pearson_cycles", r->counter[i].cycles);
		js_close(j, '}');
	}
	js_close(j, ']');
	js_open(j, "cycles_per_instruction", '[');
	for (size_t i = 0; i < CVL_FREQ_GROUPS; i++) {
		js_open(j, NULL, '{');
		js_text(j, "group", groups[i].name);
		js_count(j, "tasks", r->per_instruction[i].n);
		js_real(j, "pearson_cycles", r->per_instruction[i].cycles);
		js_close(j, '}');
	}
	js_close(j, ']');
}

static void put_choices(struct js *j, const struct cvl_freq_result *r)
{
	js_open(j, "choices", '[');
	for (size_t i = 0; i < r->n; i++) {
		js_open(j, NULL, '{');
		js_text(j, "task", r->choice[i].task);
		js_ints(j, "best_hz chosen_hz", r->point[r->choice[i].best].hz,
			r->point[r->choice[i].chosen].hz);
		js_close(j, '}');
	}
	js_close(j, ']');
}

static void put_set(struct js *j, const struct cvl_freq_result *r)
{
	js_count(j, "left_out", r->left_out);
	js_bool(j, "true_energies", r->true_known);
	put_correlations(j, r);
	js_reals(j, "static_w alpha_c_f", r->static_w, r->alpha_c);
	put_rules(j, r);
	js_list(j, "not_known", r->unknown, r->n_unknown);
	js_count(j, "learned_from", r->learned_from);
	if (r->choice)
		put_choices(j, r);
}

void freq_json(struct cvl_out *o, const struct cvl_freq_result *r)
{
	struct js j = js_begin(o);

	js_count(&j, "tasks", r->n);
	if (r->n >= 2)
		put_set(&j, r);
	put_guesses(&j, r);
	js_end(&j);
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
	double n = (double)t->sets;
	struct table table;

	table_heads(
		&table,
		"rule|numbers|passes|freqs|best|best or better|no worse|saves|sd|slower|beaten");
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
			table_counts(&table, t->rule[i].beaten);
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

void freq_tally_json(struct cvl_out *o, const struct cvl_freq_tally *t,
		     const struct cvl_freq_result *r)
{
	double n = (double)t->sets;
	struct js j = js_begin(o);

	js_counts(&j, "seeds won", t->sets, t->won);
	js_real(&j, "could_be_saved", t->could_be / n);
	js_open(&j, "rules", '[');
	for (size_t i = 0; i < r->n_rules; i++) {
		js_open(&j, NULL, '{');
		put_rule(&j, &r->rule[i]);
		js_reals(
			&j,
			"best_percent best_or_better_percent no_worse_percent saved saved_sd slower",
			100 * t->rule[i].best / n, 100 * t->rule[i].better / n,
			100 * t->rule[i].no_worse / n, t->rule[i].saved / n, deviation(t, i),
			t->rule[i].slower / n);
		js_count(&j, "beaten", t->rule[i].beaten);
		js_close(&j, '}');
	}
	js_close(&j, ']');
	js_end(&j);
}
