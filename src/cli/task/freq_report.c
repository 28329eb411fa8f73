/* SPDX-License-Identifier: MIT */
#include "task/freq_report.h"
#include "cli.h"

#include <math.h>

const char *const freq_how_names[] = { "given", "fitted", "left out" };

static const struct {
	const char *name;
	enum swo_feature feature;
	double thesis; /* highest that it found (table 10.5), or 0 */
} counters[] = {
	{ "CPI", SWO_F_CPI, -0.345 },  { "LSU", SWO_F_LSU, 0.223 },
	{ "FOLD", SWO_F_FOLD, 0.141 }, { "SLEEP", SWO_F_SLEEP, 0 },
	{ "EXC", SWO_F_EXC, 0 },       { "RAM", SWO_F_RAM, 0 },
	{ "flash", SWO_F_FLASH, 0 },   { "peripherals", SWO_F_PERIPHERAL, 0 },
};

#define COUNTERS (sizeof(counters) / sizeof(*counters))

static const struct {
	const char *name;
	enum freq_group group;
	double thesis; /* table 10.7 */
} groups[] = {
	{ "all tasks", FREQ_ALL, 0.1166 },
	{ "tasks that save energy", FREQ_SAVING, 0.4120 },
	{ "other tasks", FREQ_NOT_SAVING, 0.0928 },
};

#define GROUPS (sizeof(groups) / sizeof(*groups))

static double mhz(const struct freq_set *set, uint32_t p)
{
	return set->point[p].hz * 1e-6;
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

/* The point at which a counter goes best with the cycles. */
static uint32_t strongest(const struct freq_set *set, enum swo_feature f, double *r)
{
	uint32_t best = 0;

	*r = (double)NAN;
	for (uint32_t p = 1; p < set->n_points; p++) {
		double at = freq_counter_cycles(set, f, p);

		if (!isnan(at) && (!best || fabs(at) > fabs(*r))) {
			best = p;
			*r = at;
		}
	}
	return best;
}

static void cell_number(struct table *t, double v, const char *format)
{
	if (isnan(v) || v == 0)
		table_cell(t, "-");
	else
		table_cell(t, format, v);
}

static size_t best_at(const struct freq_set *set, uint32_t p)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n; i++)
		n += freq_best(set, &set->c[i]) == p;
	return n;
}

/* ---- one set ---- */

static void print_correlations(struct cvl_out *o, const struct freq_set *set)
{
	uint32_t last = set->n_points - 1;
	struct table t;

	table_init(&t, 3);
	table_cell(
		&t,
		"what goes with what (Pearson), cycles and energy over those at the highest frequency");
	table_cell(&t, "here");
	table_cell(&t, "the thesis");
	for (uint32_t p = 1; p < set->n_points; p++) {
		table_cell(&t, "  cycles and energy at %.1f MHz", mhz(set, p));
		cell_number(&t, freq_cycles_energy(set, p), "%.3f");
		cell_number(&t, thesis_cycles_energy(mhz(set, p)), "%.3f");
	}
	for (size_t i = 0; i < COUNTERS; i++) {
		double r;
		uint32_t p = strongest(set, counters[i].feature, &r);

		if (!p)
			continue;
		table_cell(&t, "  %s and cycles at %.1f MHz, where it is strongest",
			   counters[i].name, mhz(set, p));
		cell_number(&t, r, "%.3f");
		cell_number(&t, counters[i].thesis, "%.3f");
	}
	for (size_t i = 0; i < GROUPS; i++) {
		size_t n;
		double r = freq_cpi_cycles(set, groups[i].group, last, &n);

		table_cell(&t, "  cycles an instruction and cycles at %.1f MHz: %zu, %s",
			   mhz(set, last), n, groups[i].name);
		cell_number(&t, r, "%.3f");
		cell_number(&t, groups[i].thesis, "%.3f");
	}
	table_print(&t, o, "lrr", "");
}

void freq_print_set(struct cvl_out *o, const struct freq_set *set)
{
	double sum = 0;

	cvl_out_printf(o, "%zu tasks", set->n);
	if (set->left_out)
		cvl_out_printf(o, ", %zu left out", set->left_out);
	cvl_out_text(o, "; least energy at");
	for (uint32_t p = 0; p < set->n_points; p++)
		cvl_out_printf(o, "%s %.1f MHz: %zu", p ? "," : "", mhz(set, p), best_at(set, p));
	for (size_t i = 0; i < set->n; i++)
		sum += 1 - set->c[i].truth[freq_best(set, &set->c[i])] / set->c[i].truth[0];
	cvl_out_printf(o, ".\nThe best choice for each task saves %.2f %% of energy%s.\n\n",
		       100 * sum / (double)set->n,
		       set->true_known ? " (by true energies; rules are fitted to measured ones)" :
					 "");
	print_correlations(o, set);
	cvl_out_printf(o, "\nstatic power carried to 0 Hz: %.4g mW (device: %.6g)\n",
		       freq_static_w(set) * 1e3, set->point[0].static_uw * 1e-3);
	cvl_out_printf(o, "mean alpha * C by equation 10.5: %.4g F (device: %.7g)\n",
		       freq_alpha_c(set, FIT_NONE), set->alpha_c);
}

/* JSON has no NaN. */
static json_t *real(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

json_t *freq_set_json(const struct freq_set *set)
{
	json_t *points = json_array(), *with = json_array(), *cpi = json_array();

	for (uint32_t p = 0; p < set->n_points; p++)
		json_array_append_new(
			points,
			json_pack("{s:I, s:I, s:o}", "hz", (json_int_t)set->point[p].hz, "best_for",
				  (json_int_t)best_at(set, p), "pearson_cycles_energy",
				  p ? real(freq_cycles_energy(set, p)) : json_null()));
	for (size_t i = 0; i < COUNTERS; i++) {
		double r;
		uint32_t p = strongest(set, counters[i].feature, &r);

		json_array_append_new(
			with, json_pack("{s:s, s:I, s:o}", "counter", counters[i].name, "hz",
					(json_int_t)set->point[p].hz, "pearson_cycles", real(r)));
	}
	for (size_t i = 0; i < GROUPS; i++) {
		size_t n;
		double r = freq_cpi_cycles(set, groups[i].group, set->n_points - 1, &n);

		json_array_append_new(cpi,
				      json_pack("{s:s, s:I, s:o}", "group", groups[i].name, "tasks",
						(json_int_t)n, "pearson_cycles", real(r)));
	}
	return json_pack("{s:I, s:I, s:b, s:o, s:o, s:o, s:o, s:o}", "tasks", (json_int_t)set->n,
			 "left_out", (json_int_t)set->left_out, "true_energies", set->true_known,
			 "points", points, "counters", with, "cycles_per_instruction", cpi,
			 "static_w", real(freq_static_w(set)), "alpha_c_f",
			 real(freq_alpha_c(set, FIT_NONE)));
}

/* ---- tasks ---- */

static int learned_choice(const struct freq_set *set, size_t i)
{
	struct fit_rule rule;
	struct fitted f;

	if (!contest_learned(set, &rule))
		return -1;
	f = fit_make(&rule, set, i);
	return fit_choose(&f, set, &set->c[i]);
}

void freq_print_tasks(struct cvl_out *o, const struct freq_set *set)
{
	static const char *const heads[] = {
		"task", "best, MHz", "saves", "chosen", "saves", NULL
	};
	struct table t;

	table_init(&t, 5);
	table_heads(&t, heads);
	for (size_t i = 0; i < set->n; i++) {
		const struct freq_case *c = &set->c[i];
		uint32_t best = freq_best(set, c);
		int p = learned_choice(set, i);
		uint32_t chosen = p < 0 ? 0 : (uint32_t)p;

		table_cell(&t, "%s", c->name);
		table_cell(&t, "%.1f", mhz(set, best));
		table_cell(&t, "%.2f %%", 100 * (1 - c->truth[best] / c->truth[0]));
		table_cell(&t, "%.1f", mhz(set, chosen));
		table_cell(&t, "%.2f %%", 100 * (1 - c->truth[chosen] / c->truth[0]));
	}
	cvl_out_char(o, '\n');
	table_print(&t, o, "lrrrr", "");
}

/* ---- tasks without energies ---- */

/* What the learned rule chooses (with two tasks at least to learn from), or the energy estimate; -1: something is missing. */
static int choose_more(const struct freq_set *set, const struct freq_case *c, bool learned)
{
	static const struct fit_rule estimate = { .kind = FIT_RULE, .rule = SWO_RULE_ENERGY };
	struct fitted f = fit_given(&estimate, 0);
	struct fit_rule rule;

	if (learned && (set->n < 2 || !contest_learned(set, &rule)))
		return -1;
	if (learned)
		f = fit_make(&rule, set, FIT_NONE);
	return fit_choose(&f, set, c);
}

static void cell_point(struct table *t, const struct freq_set *set, int p)
{
	if (p < 0)
		table_cell(t, "not known");
	else
		table_cell(t, "%.1f", mhz(set, (uint32_t)p));
}

void freq_print_more(struct cvl_out *o, const struct freq_set *set)
{
	static const char *const heads[] = { "not measured everywhere", "energy estimate, MHz",
					     "learned, MHz", NULL };
	struct table t;

	if (!set->n_more)
		return;
	table_init(&t, 3);
	table_heads(&t, heads);
	for (size_t i = 0; i < set->n_more; i++) {
		table_cell(&t, "%s", set->more[i].name);
		cell_point(&t, set, choose_more(set, &set->more[i], false));
		cell_point(&t, set, choose_more(set, &set->more[i], true));
	}
	cvl_out_char(o, '\n');
	table_print(&t, o, "lrr", "");
}

static json_t *point_json(const struct freq_set *set, int p)
{
	return p < 0 ? json_null() : json_integer((json_int_t)set->point[p].hz);
}

json_t *freq_more_json(const struct freq_set *set)
{
	json_t *list = json_array();

	for (size_t i = 0; i < set->n_more; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:o, s:o}", "task", set->more[i].name, "estimate_hz",
					point_json(set, choose_more(set, &set->more[i], false)),
					"learned_hz",
					point_json(set, choose_more(set, &set->more[i], true))));
	return list;
}

json_t *freq_tasks_json(const struct freq_set *set)
{
	json_t *list = json_array();

	for (size_t i = 0; i < set->n; i++) {
		int p = learned_choice(set, i);

		json_array_append_new(
			list, json_pack("{s:s, s:I, s:I}", "task", set->c[i].name, "best_hz",
					(json_int_t)set->point[freq_best(set, &set->c[i])].hz,
					"chosen_hz", (json_int_t)set->point[p < 0 ? 0 : p].hz));
	}
	return list;
}

/* ---- rules ---- */

void freq_cells(struct table *t, const struct contest_line *l)
{
	table_cell(t, "%s", l->name);
	table_cell(t, "%s", freq_how_names[l->how]);
	table_cell(t, "%u", fit_passes(l->needs));
	table_cell(t, "%d", l->needs & SWO_NEED_OTHER ? 2 : l->needs ? 1 : 0);
}

double freq_percent(size_t part, size_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static const char *feature_name(unsigned f)
{
	for (size_t i = 0; i < COUNTERS; i++)
		if (counters[i].feature == f)
			return counters[i].name;
	return "saved cycles";
}

/* "CPI, LSU" */
static void put_features(struct cvl_out *o, uint32_t features)
{
	bool any = false;

	for (unsigned f = 0; f < SWO_FEATURES; f++)
		if (features >> f & 1) {
			cvl_out_printf(o, "%s%s", any ? ", " : "", feature_name(f));
			any = true;
		}
}

/* What no rule could be fitted to. */
static void put_lacks(struct cvl_out *o, const struct contest *c)
{
	const size_t tasks = c->line[0].score.n;

	if (c->lacks) {
		cvl_out_text(o, "not known of any task: ");
		put_features(o, c->lacks);
		cvl_out_text(o, c->learned == SIZE_MAX ? ": no rule can be learned\n" :
							 "; linear rules are fitted without it\n");
		for (size_t i = 0; i < c->n_unusable; i++)
			cvl_out_printf(o, "%s%s", i ? "; " : "rules that need it are left out: ",
				       c->unusable[i]);
		cvl_out_text(o, c->n_unusable ? "\n" : "");
	}
	if (c->learned != SIZE_MAX && c->learned_from < tasks)
		cvl_out_printf(
			o,
			"%s is fitted to %zu of %zu tasks: the others lack a counter that it looks at\n",
			c->line[c->learned].name, c->learned_from, tasks);
}

void freq_print_contest(struct cvl_out *o, const struct contest *c)
{
	static const char *const heads[] = { "rule",     "numbers", "passes",
					     "freqs",    "best",    "best or better",
					     "no worse", "saves",   "slower",
					     NULL };
	size_t closest;
	struct table t;

	table_init(&t, 9);
	table_heads(&t, heads);
	for (size_t i = 0; i < c->n; i++) {
		const struct freq_score *s = &c->line[i].score;

		freq_cells(&t, &c->line[i]);
		table_cell(&t, "%.1f %%", freq_percent(s->best, s->n));
		table_cell(&t, "%.1f %%", freq_percent(s->better, s->n));
		table_cell(&t, "%.1f %%", freq_percent(s->no_worse, s->n));
		table_cell(&t, "%.2f %%", 100 * s->saved);
		table_cell(&t, "%.1f %%", 100 * s->slower);
	}
	cvl_out_char(o, '\n');
	table_print(&t, o, "llrrrrrrr", "");
	cvl_out_char(o, '\n');
	put_lacks(o, c);
	if (c->learned != SIZE_MAX) {
		cvl_out_printf(o, "%s, left out, %s", c->line[c->learned].name,
			       contest_won(c, &closest) ?
				       "saves more than every other rule; next is " :
				       "does not save more than every other rule: ");
		cvl_out_printf(o, "%s (%s).\n", c->line[closest].name,
			       freq_how_names[c->line[closest].how]);
	}
	cvl_out_text(
		o,
		"given: the thesis's numbers; fitted: to the tasks they are judged by; left out: for each task to all the others.\n"
		"The thesis, of 69 tasks on an STM32L476: cycles an instruction 78.7 %, which is (61 - 13)/61; the (69 - 13)/69 that it writes is\n"
		"81.2 % (best or better). Saved cycles 87 % (60/69), energy estimate 95.6 % (66/69): no worse.\n");
}

json_t *freq_lacks_json(const struct contest *c)
{
	json_t *list = json_array();

	for (unsigned f = 0; f < SWO_FEATURES; f++)
		if (c->lacks >> f & 1)
			json_array_append_new(list, json_string(feature_name(f)));
	return list;
}

json_t *freq_contest_json(const struct contest *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->n; i++) {
		const struct contest_line *l = &c->line[i];
		const struct freq_score *s = &l->score;

		json_array_append_new(
			list, json_pack("{s:s, s:s, s:i, s:b, s:I, s:I, s:I, s:I, s:f, s:f, s:f}",
					"rule", l->name, "numbers", freq_how_names[l->how],
					"passes", (int)fit_passes(l->needs), "second_frequency",
					(l->needs & SWO_NEED_OTHER) != 0, "tasks", (json_int_t)s->n,
					"best", (json_int_t)s->best, "best_or_better",
					(json_int_t)s->better, "no_worse", (json_int_t)s->no_worse,
					"saved", s->saved, "slower", s->slower, "could_be_saved",
					s->could_be));
	}
	return list;
}

/* ---- the target's model ---- */

int freq_learn(struct fitted *f, const struct freq_set *set, struct cvl_error *err)
{
	struct fit_rule rule;

	*f = (struct fitted){ 0 };
	if (contest_learned(set, &rule))
		*f = fit_make(&rule, set, FIT_NONE);
	return f->tasks >= 2 ?
		       0 :
		       cvl_fail(
			       err, CVL_E_MISSING, CVL_NO_OFFSET,
			       "--model: no two tasks have all the counters that the rule looks at: nothing to fit it to");
}

void freq_write_model(struct cvl_out *o, const struct freq_set *set, const struct fitted *f)
{
	const struct swo_model *m = &f->model;

	cvl_out_printf(o, "/* Fitted to %zu tasks; the second frequency is %u Hz.", f->tasks,
		       set->point[set->other].hz);
	if (m->n_features < fit_rules[CONTEST_LEARNED].n_features) {
		cvl_out_text(o, " Not known of any: ");
		put_features(o, fit_lacks(set));
		cvl_out_char(o, '.');
	}
	cvl_out_printf(o,
		       " */\n"
		       "#include \"rules.h\"\n\n"
		       "const struct swo_model swo_model = {\n"
		       "\t.n_features = %u,\n\t.n_points = %u,\n\t.feature = {",
		       m->n_features, m->n_points);
	for (unsigned i = 0; i < m->n_features; i++)
		cvl_out_printf(o, "%s %u", i ? "," : "", m->feature[i]);
	cvl_out_text(o, " },\n\t.weight = {\n");
	for (unsigned p = 0; p < m->n_points; p++) {
		cvl_out_text(o, "\t\t{");
		for (unsigned i = 0; i <= m->n_features; i++)
			cvl_out_printf(o, "%s %d", i ? "," : "", m->weight[p][i]);
		cvl_out_printf(o, " }, /* %u Hz */\n", set->point[p].hz);
	}
	cvl_out_text(o, "\t},\n};\n");
}
