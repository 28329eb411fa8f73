/* SPDX-License-Identifier: MIT */
#include "analysis/freq/contest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TASKS_MAX 1000

struct cvl_freq {
	struct freq_set set;
	struct cvl_freq_result r;
	struct cvl_freq_point point[DEVICE_POINTS];
	struct cvl_freq_guess *guess;
	struct cvl_freq_choice *choice;
};

static const struct {
	const char *name;
	enum swo_feature feature;
} counters[CVL_FREQ_COUNTERS] = {
	{ "CPI", SWO_F_CPI },     { "LSU", SWO_F_LSU },
	{ "FOLD", SWO_F_FOLD },   { "SLEEP", SWO_F_SLEEP },
	{ "EXC", SWO_F_EXC },     { "RAM", SWO_F_RAM },
	{ "flash", SWO_F_FLASH }, { "peripherals", SWO_F_PERIPHERAL },
};

_Static_assert(CVL_FREQ_FEATURES == SWO_FEATURES, "as the target has them");

static const char *feature_name(unsigned f)
{
	for (size_t i = 0; i < CVL_FREQ_COUNTERS; i++)
		if (counters[i].feature == f)
			return counters[i].name;
	return "saved cycles";
}

/* ---- devices and tables ---- */

struct cvl_freq_device {
	struct device d;
};

int cvl_freq_device_load(struct cvl_freq_device **out, const char *path, struct cvl_error *err)
{
	struct cvl_freq_device *d = calloc(1, sizeof(*d));
	int rc = d ? device_load(&d->d, path, err) : cvl_no_memory(err);

	*out = rc ? NULL : d;
	if (rc)
		free(d);
	return rc;
}

void cvl_freq_device_free(struct cvl_freq_device *device)
{
	free(device);
}

const struct device *freq_device_of(const struct cvl_freq_device *device)
{
	return &device->d;
}

struct cvl_freq_table {
	struct task_table t;
};

struct cvl_freq_table *freq_table_new(const char *name)
{
	struct cvl_freq_table *t = calloc(1, sizeof(*t));

	if (t)
		t->t.name = name;
	return t;
}

struct task_table *freq_table_of(struct cvl_freq_table *table)
{
	return &table->t;
}

int cvl_freq_table_load(struct cvl_freq_table **out, const char *path, struct cvl_error *err)
{
	struct cvl_freq_table *t = freq_table_new(path);
	int rc = t ? table_load(&t->t, path, err) : cvl_no_memory(err);

	*out = t;
	if (rc) {
		cvl_freq_table_free(t);
		*out = NULL;
	}
	return rc;
}

void cvl_freq_table_write(const struct cvl_freq_table *table, struct cvl_out *out)
{
	table_write(&table->t, out);
}

void cvl_freq_table_free(struct cvl_freq_table *table)
{
	if (table)
		table_free(&table->t);
	free(table);
}

/* ---- what is found ---- */

static int choose_other(struct freq_set *set, uint64_t hz, struct cvl_error *err)
{
	struct swo_device d = freq_device(set);
	uint32_t p = hz > UINT32_MAX ? 0 : swo_point_near(&d, (uint32_t)hz);

	if (!hz)
		return 0;
	if (!p)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"no frequency of the device below its highest is near %llu Hz",
				(unsigned long long)hz);
	set->other = p;
	return 0;
}

/* The point at which a counter correlates best with the cycles. */
static void find_counter(const struct freq_set *set, size_t i, struct cvl_freq_counter *out)
{
	*out = (struct cvl_freq_counter){ .name = counters[i].name, .cycles = (double)NAN };
	for (uint32_t p = 1; p < set->n_points; p++) {
		double at = freq_counter_cycles(set, counters[i].feature, p);

		if (!isnan(at) && (!out->point || fabs(at) > fabs(out->cycles))) {
			out->point = p;
			out->cycles = at;
		}
	}
}

static void find_correlations(struct cvl_freq *f)
{
	const struct freq_set *set = &f->set;
	struct cvl_freq_result *r = &f->r;

	for (uint32_t p = 1; p < set->n_points; p++)
		f->point[p].cycles_energy = freq_cycles_energy(set, p);
	for (size_t i = 0; i < set->n; i++) {
		const struct freq_case *c = &set->c[i];
		uint32_t best = freq_best(set, c);

		f->point[best].best_for++;
		r->could_be += (1 - c->truth[best] / c->truth[0]) / (double)set->n;
	}
	for (size_t i = 0; i < CVL_FREQ_COUNTERS; i++)
		find_counter(set, i, &r->counter[i]);
	for (unsigned i = 0; i < CVL_FREQ_GROUPS; i++)
		r->per_instruction[i].cycles = freq_cpi_cycles(
			set, (enum freq_group)i, set->n_points - 1, &r->per_instruction[i].n);
	r->static_w = freq_static_w(set);
	r->device_static_w = set->point[0].static_uw * 1e-6;
	r->alpha_c = freq_alpha_c(set, FIT_NONE);
	r->device_alpha_c = set->alpha_c;
}

static void judge(struct cvl_freq *f, struct contest *c)
{
	struct cvl_freq_result *r = &f->r;

	contest_make(c, &f->set);
	for (size_t i = 0; i < c->n; i++) {
		const struct contest_line *l = &c->line[i];
		struct cvl_freq_rule *rule = &r->rule[r->n_rules++];

		*rule = (struct cvl_freq_rule){
			.how = (enum cvl_freq_how)l->how,
			.passes = fit_passes(l->needs),
			.frequencies = l->needs & SWO_NEED_OTHER ? 2 :
				       l->needs                  ? 1 :
								   0,
			.score = l->score,
		};
		snprintf(rule->name, sizeof(rule->name), "%s", l->name);
	}
	r->learned = c->learned;
	r->learned_from = c->learned_from;
	r->won = contest_won(c, &r->closest);
	for (unsigned i = 0; i < SWO_FEATURES; i++)
		if (c->lacks >> i & 1)
			r->unknown[r->n_unknown++] = feature_name(i);
	for (size_t i = 0; i < c->n_unusable; i++)
		r->unusable[r->n_unusable++] = c->unusable[i];
}

/* Each task by a rule not fitted to it. */
static void choose(struct cvl_freq *f)
{
	const struct freq_set *set = &f->set;
	struct fit_rule rule;
	bool any = contest_learned(set, &rule);

	for (size_t i = 0; i < set->n; i++) {
		const struct freq_case *c = &set->c[i];
		uint32_t best = freq_best(set, c);
		int p = -1;

		if (any) {
			struct fitted fitted = fit_make(&rule, set, i);

			p = fit_choose(&fitted, set, c);
		}
		f->choice[i] = (struct cvl_freq_choice){
			.task = c->name,
			.best = best,
			.chosen = p < 0 ? 0 : (uint32_t)p,
			.best_saves = 1 - c->truth[best] / c->truth[0],
			.chosen_saves = 1 - c->truth[p < 0 ? 0 : p] / c->truth[0],
		};
	}
	f->r.choice = f->choice;
}

static void guess(struct cvl_freq *f)
{
	static const struct fit_rule estimate = { .kind = FIT_RULE, .rule = SWO_RULE_ENERGY };
	const struct freq_set *set = &f->set;
	struct fitted given = fit_given(&estimate, 0), learned;
	struct fit_rule rule;
	bool can_learn = set->n_more && set->n >= 2 && contest_learned(set, &rule);

	if (can_learn)
		learned = fit_make(&rule, set, FIT_NONE);
	for (size_t i = 0; i < set->n_more; i++)
		f->guess[i] = (struct cvl_freq_guess){
			set->more[i].name, fit_choose(&given, set, &set->more[i]),
			can_learn ? fit_choose(&learned, set, &set->more[i]) : -1
		};
}

int cvl_freq_open(struct cvl_freq **out, const struct cvl_freq_device *device,
		  const struct cvl_freq_table *table, const struct cvl_freq_opts *opts,
		  const struct cvl_report *report, struct cvl_error *err)
{
	const struct freq_slice slice = { opts->policy, opts->adaption, opts->cache };
	struct contest *c = malloc(sizeof(*c));
	struct cvl_freq *f = calloc(1, sizeof(*f));
	struct cvl_freq_result *r = f ? &f->r : NULL;
	int rc = c && f ? freq_set_make(&f->set, &table->t, &device->d, &slice, report, err) :
			  cvl_no_memory(err);

	*out = NULL;
	if (!rc)
		rc = choose_other(&f->set, opts->other_hz, err);
	if (!rc && f->set.n > TASKS_MAX)
		rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
			      "%s: more than %d tasks; rules are fitted once for each of them",
			      table->t.name, TASKS_MAX);
	if (!rc) {
		f->choice = calloc(f->set.n + 1, sizeof(*f->choice));
		f->guess = calloc(f->set.n_more + 1, sizeof(*f->guess));
		rc = f->choice && f->guess ? 0 : cvl_no_memory(err);
	}
	if (rc) {
		cvl_freq_close(f);
		free(c);
		return rc;
	}
	r->n = f->set.n;
	r->left_out = f->set.left_out;
	r->true_known = f->set.true_known;
	r->point = f->point;
	r->n_points = f->set.n_points;
	r->guess = f->guess;
	r->n_guesses = f->set.n_more;
	r->learned = CVL_FREQ_NONE;
	for (uint32_t p = 0; p < f->set.n_points; p++)
		f->point[p] = (struct cvl_freq_point){ .hz = f->set.point[p].hz,
						       .cycles_energy = (double)NAN };
	guess(f);
	if (f->set.n >= 2) {
		find_correlations(f);
		judge(f, c);
		if (opts->choices)
			choose(f);
	}
	free(c);
	*out = f;
	return 0;
}

const struct cvl_freq_result *cvl_freq_result(const struct cvl_freq *freq)
{
	return &freq->r;
}

void cvl_freq_close(struct cvl_freq *f)
{
	if (!f)
		return;
	freq_set_free(&f->set);
	free(f->choice);
	free(f->guess);
	free(f);
}

/* ---- the target's model ---- */

int cvl_freq_write_model(const struct cvl_freq *freq, struct cvl_out *o, struct cvl_error *err)
{
	const struct freq_set *set = &freq->set;
	const uint32_t lacks = fit_lacks(set);
	struct fitted f = { 0 };
	const struct swo_model *m = &f.model;
	struct fit_rule rule;
	bool any = false;

	if (set->n < 2)
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"a model needs at least two tasks with energy at every frequency");
	if (contest_learned(set, &rule))
		f = fit_make(&rule, set, FIT_NONE);
	if (f.tasks < 2)
		return cvl_fail(
			err, CVL_E_MISSING, CVL_NO_OFFSET,
			"fewer than two tasks have all counters of the rule: nothing to fit it to");
	cvl_out_printf(o, "/* Fitted to %zu tasks; the second frequency is %u Hz.", f.tasks,
		       set->point[set->other].hz);
	if (m->n_features < fit_rules[CONTEST_LEARNED].n_features) {
		cvl_out_text(o, " Not known of any: ");
		for (unsigned i = 0; i < SWO_FEATURES; i++)
			if (lacks >> i & 1) {
				cvl_out_printf(o, "%s%s", any ? ", " : "", feature_name(i));
				any = true;
			}
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
	return 0;
}

/* ---- several sets ---- */

void cvl_freq_tally_add(struct cvl_freq_tally *t, const struct cvl_freq_result *r)
{
	double mine = r->learned == CVL_FREQ_NONE ? 0 : r->rule[r->learned].score.saved;

	t->sets++;
	t->won += r->won;
	t->could_be += r->rule[0].score.could_be;
	for (size_t i = 0; i < r->n_rules; i++) {
		const struct cvl_freq_score *s = &r->rule[i].score;
		double n = s->n ? (double)s->n : 1;

		t->rule[i].saved += s->saved;
		t->rule[i].square += s->saved * s->saved;
		t->rule[i].best += (double)s->best / n;
		t->rule[i].better += (double)s->better / n;
		t->rule[i].no_worse += (double)s->no_worse / n;
		t->rule[i].slower += s->slower;
		t->rule[i].beaten += mine > s->saved;
	}
}
