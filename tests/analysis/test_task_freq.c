/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "../sim/taskset.h"
#include "analysis/freq/contest.h"
#include "test_draw.h"

static const struct freq_slice all_on = { NULL, true, true };

static void load(struct device *d)
{
	struct cvl_error err;

	if (device_load(d, COEVAL_SOURCE_DIR "/examples/devices/stm32l476.yaml", &err))
		fail_msg("%s", err.text);
}

/* ---- taking tasks from a table ---- */

static void add_row(struct task_table *t, const char *task, uint64_t hz, uint64_t cycles, double j)
{
	struct table_row *row = table_add(t);

	assert_non_null(row);
	snprintf(row->task, sizeof(row->task), "%s", task);
	row->hz = hz;
	row->count.cycles = cycles;
	row->energy_j = j;
	row->offset = t->n;
}

/* At the frequencies as the thesis rounds them. */
static const uint64_t rounded_hz[] = { 80000000, 53000000, 40000000, 26000000, 13000000 };

static void add_task(struct task_table *t, const char *task, const double energy[5])
{
	for (int p = 0; p < 5; p++)
		add_row(t, task, rounded_hz[p], 1000, energy[p]);
}

struct told {
	size_t n;
	char text[4][CVL_ERROR_TEXT];
};

static void hear(void *ctx, const struct cvl_error *problem)
{
	struct told *told = ctx;

	if (told->n < 4)
		memcpy(told->text[told->n], problem->text, CVL_ERROR_TEXT);
	told->n++;
}

static const double flat[] = { 1, 1, 1, 1, 1 };

static void what_cannot_be_used_is_left_out_and_told(void **state)
{
	struct task_table t = { .name = "t.csv" };
	struct told told = { 0 };
	struct cvl_report report = { hear, &told };
	struct freq_set set;
	struct cvl_error err;
	struct device d;

	(void)state;
	load(&d);
	add_task(&t, "b", flat);
	add_task(&t, "a", flat);
	add_row(&t, "a", 24000000, 1000, 1);
	add_row(&t, "short", 80000000, 1000, 1);
	add_task(&t, "dark", flat);
	t.row[t.n - 1].energy_j = -1;
	add_task(&t, "still", flat);
	t.row[t.n - 2].count.cycles = 0;
	assert_int_equal(freq_set_make(&set, &t, &d, &all_on, &report, &err), 0);
	assert_int_equal(set.n, 2);
	assert_string_equal(set.c[0].name, "a");
	assert_string_equal(set.c[1].name, "b");
	assert_int_equal(set.left_out, 3);
	assert_int_equal(told.n, 4);
	assert_non_null(strstr(
		told.text[0],
		"left out: 1 of frequencies that the device file does not have, the first 24000000 Hz"));
	assert_non_null(strstr(told.text[1], "dark is left out: no energy at 13333333 Hz"));
	assert_non_null(strstr(told.text[2], "short is left out: no line at 53333333 Hz"));
	assert_non_null(strstr(told.text[3], "still is left out: no cycles at 26666667 Hz"));
	/* rules may still choose for those that were measured at the highest */
	assert_int_equal(set.n_more, 3);
	assert_string_equal(set.more[0].name, "dark");
	assert_int_equal(set.more[0].cycles[4], 1000);
	assert_int_equal(set.more[1].cycles[4], 0);
	freq_set_free(&set);
	table_free(&t);
}

static void a_task_without_energies_gets_a_choice_by_the_estimate(void **state)
{
	static const uint64_t cycles[] = { 1000000, 950000, 900000, 850000, 800000 };
	const struct fit_rule rule = { .kind = FIT_RULE, .rule = SWO_RULE_ENERGY };
	struct task_table t = { .name = "t.csv" };
	struct fitted f = fit_given(&rule, 0);
	struct freq_set set;
	struct cvl_error err;
	struct device d;

	(void)state;
	load(&d);
	add_row(&t, "two", rounded_hz[0], cycles[0], -1);
	add_row(&t, "two", rounded_hz[4], cycles[4], -1);
	add_row(&t, "one", rounded_hz[0], cycles[0], -1);
	assert_int_equal(freq_set_make(&set, &t, &d, &all_on, NULL, &err), 0);
	assert_int_equal(set.n, 0);
	assert_int_equal(set.n_more, 2);
	assert_int_equal(fit_choose(&f, &set, &set.more[0]), -1);
	assert_int_equal(fit_choose(&f, &set, &set.more[1]), 3);
	freq_set_free(&set);
	table_free(&t);
}

static void a_task_measured_twice_is_an_error(void **state)
{
	struct task_table t = { .name = "t.csv" };
	struct freq_set set;
	struct cvl_error err;
	struct device d;

	(void)state;
	load(&d);
	add_task(&t, "a", flat);
	add_task(&t, "b", flat);
	add_row(&t, "b", 53333333, 1000, 1);
	assert_int_equal(freq_set_make(&set, &t, &d, &all_on, NULL, &err), CVL_E_SYNTAX);
	assert_int_equal(err.offset, 11);
	table_free(&t);
}

static void a_setting_without_two_tasks_is_an_error(void **state)
{
	const struct freq_slice other = { "low-voltage", true, true }, none = { "x", true, true };
	struct task_table t = { .name = "t.csv" };
	struct freq_set set;
	struct cvl_error err;
	struct device d;

	(void)state;
	load(&d);
	add_task(&t, "a", flat);
	assert_int_equal(freq_set_make(&set, &t, &d, &all_on, NULL, &err), CVL_E_MISSING);
	add_task(&t, "b", flat);
	assert_int_equal(freq_set_make(&set, &t, &d, &other, NULL, &err), CVL_E_MISSING);
	assert_int_equal(freq_set_make(&set, &t, &d, &none, NULL, &err), CVL_E_MISSING);
	assert_non_null(strstr(err.text, "no policy 'x'"));
	table_free(&t);
}

/* ---- scores ---- */

static void choices_count_as_best_better_and_no_worse(void **state)
{
	static const double saving[] = { 10, 9, 8, 9.5, 11 };
	static const struct {
		int point;
		size_t best, better, no_worse;
	} table[] = {
		{ -1, 0, 0, 1 }, { 0, 0, 0, 1 }, { 1, 0, 1, 1 },
		{ 2, 1, 1, 1 },  { 3, 0, 1, 1 }, { 4, 0, 0, 0 },
	};
	struct task_table t = { .name = "t.csv" };
	struct freq_set set;
	struct cvl_error err;
	struct device d;

	(void)state;
	load(&d);
	add_task(&t, "flat", flat);
	add_task(&t, "saving", saving);
	assert_int_equal(freq_set_make(&set, &t, &d, &all_on, NULL, &err), 0);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct cvl_freq_score s = { 0 };

		freq_score_add(&s, &set, &set.c[1], table[i].point);
		freq_score_end(&s);
		assert_int_equal(s.best, table[i].best);
		assert_int_equal(s.better, table[i].better);
		assert_int_equal(s.no_worse, table[i].no_worse);
		assert_int_equal(s.said, table[i].point >= 0);
		assert_int_equal(lround(1000 * s.could_be), 200);
	}
	struct cvl_freq_score s = { 0 };

	freq_score_add(&s, &set, &set.c[0],
		       4); /* as good as the highest, and as slow as 80 / 13.3 */
	freq_score_end(&s);
	assert_int_equal(s.best, 1);
	assert_int_equal(lround(1000 * s.slower), 5000);
	freq_set_free(&set);
	table_free(&t);
}

static void correlations_are_pearson_s(void **state)
{
	const double x[] = { 1, 2, 3, 4 }, up[] = { 2, 4, 6, 8 }, down[] = { 1, 0, -1, -2 };
	const double bent[] = { 1, 4, 9, 16 }, still[] = { 5, 5, 5, 5 };

	(void)state;
	assert_int_equal(lround(1e6 * freq_pearson(x, up, 4)), 1000000);
	assert_int_equal(lround(1e6 * freq_pearson(x, down, 4)), -1000000);
	assert_int_equal(lround(1e6 * freq_pearson(x, bent, 4)), 984374);
	assert_true(isnan(freq_pearson(x, still, 4)));
	assert_true(isnan(freq_pearson(x, up, 1)));
}

/* ---- simulated tasks ---- */

struct bed {
	struct device device;
	struct task_table table;
	struct freq_set set;
};

static void bed_make(struct bed *b, enum taskset_kind kind, uint64_t seed,
		     const struct freq_slice *slice)
{
	struct cvl_error err;

	load(&b->device);
	b->table = (struct task_table){ .name = "simulated tasks" };
	assert_int_equal(taskset_make(&b->table, &b->device, kind, seed, TASKSET_TASKS, &err), 0);
	if (freq_set_make(&b->set, &b->table, &b->device, slice, NULL, &err))
		fail_msg("%s", err.text);
	assert_int_equal(b->set.n, TASKSET_TASKS);
}

static void bed_free(struct bed *b)
{
	freq_set_free(&b->set);
	table_free(&b->table);
}

static void the_seed_makes_the_tasks(void **state)
{
	struct bed a, b, c;

	(void)state;
	bed_make(&a, TASKSET_MIXED, 1, &all_on);
	bed_make(&b, TASKSET_MIXED, 1, &all_on);
	bed_make(&c, TASKSET_MIXED, 2, &all_on);
	assert_int_equal(a.table.n, TASKSET_TASKS * 2 * 4 * 5);
	assert_memory_equal(a.table.row, b.table.row, a.table.n * sizeof(*a.table.row));
	assert_int_equal(c.table.n, a.table.n);
	assert_true(memcmp(a.table.row, c.table.row, a.table.n * sizeof(*a.table.row)) != 0);
	assert_true(a.set.true_known);
	bed_free(&a);
	bed_free(&b);
	bed_free(&c);
}

/* Figure 10.16: without adaption no task saves cycles, and the highest frequency takes least. */
static void without_adaption_nothing_is_saved_by_computing(void **state)
{
	const struct freq_slice fixed = { NULL, false, true };
	struct bed b;

	(void)state;
	bed_make(&b, TASKSET_COMPUTING, 1, &fixed);
	for (size_t i = 0; i < b.set.n; i++) {
		double change = (double)b.set.c[i].cycles[4] / (double)b.set.c[i].cycles[0] - 1;

		assert_true(fabs(change) < 0.002); /* 0.02 % of noise, twice */
		assert_int_equal(freq_best(&b.set, &b.set.c[i]), 0);
	}
	bed_free(&b);
}

/* Figure 10.20: more is saved without the cache. */
static void without_the_cache_more_is_saved(void **state)
{
	const struct freq_slice bare = { NULL, true, false };
	double with = 0, without = 0;
	struct bed a, b;

	(void)state;
	bed_make(&a, TASKSET_COMPUTING, 1, &all_on);
	bed_make(&b, TASKSET_COMPUTING, 1, &bare);
	for (size_t i = 0; i < a.set.n; i++) {
		with += 1 - (double)a.set.c[i].cycles[4] / (double)a.set.c[i].cycles[0];
		without += 1 - (double)b.set.c[i].cycles[4] / (double)b.set.c[i].cycles[0];
	}
	assert_true(without > 2 * with && with > 0);
	bed_free(&a);
	bed_free(&b);
}

/* Where energy is equation 2.6 and nothing else, its constants come out again. */
static void constants_come_back_from_measurements(void **state)
{
	const struct freq_slice fixed = { NULL, false, true };
	struct bed b;

	(void)state;
	bed_make(&b, TASKSET_CONSTANT, 3, &fixed);
	/* 0.5 % of noise on 69 tasks of about 47 mW */
	assert_true(fabs(freq_static_w(&b.set) - 2.782e-3) < 0.1e-3);
	assert_true(fabs(freq_alpha_c(&b.set, FIT_NONE) / b.device.alpha_c - 1) < 0.03);
	bed_free(&b);
}

/* ---- fits ---- */

static void a_fit_does_not_look_at_the_task_that_is_left_out(void **state)
{
	struct draw d = draw_begin(1);
	struct bed b;

	(void)state;
	bed_make(&b, TASKSET_MIXED, draw_u64(&d), &all_on);
	for (size_t r = 0; r < fit_rules_n; r++)
		for (int round = 0; round < 5; round++) {
			size_t i = draw_below(&d, b.set.n);
			struct freq_case kept = b.set.c[i];
			struct fitted before = fit_make(&fit_rules[r], &b.set, i), after;

			for (uint32_t p = 0; p < 5; p++) {
				b.set.c[i].energy[p] *= 1 + (double)draw_below(&d, 1000);
				b.set.c[i].cycles[p] = 1 + draw_below(&d, 1000);
			}
			b.set.c[i].task =
				(struct swo_task){ .cycles = 1000, .cpi = draw_below(&d, 1000) };
			after = fit_make(&fit_rules[r], &b.set, i);
			b.set.c[i] = kept;
			assert_memory_equal(&before.t, &after.t, sizeof(before.t));
			assert_memory_equal(&before.model, &after.model, sizeof(before.model));
			assert_int_equal(before.step, after.step);
			assert_int_equal(before.below, after.below);
			assert_int_equal(before.above, after.above);
			assert_int_equal(before.otherwise, after.otherwise);
			assert_int_equal(before.alpha_c_ff, after.alpha_c_ff);
		}
	bed_free(&b);
}

static double cost(const struct fitted *f, const struct freq_set *set)
{
	double sum = 0;

	for (size_t i = 0; i < set->n; i++) {
		int p = fit_choose(f, set, &set->c[i]);

		sum += set->c[i].energy[p < 0 ? 0 : p] / set->c[i].energy[0];
	}
	return sum;
}

static void a_step_is_the_best_of_all_steps(void **state)
{
	struct bed b;

	(void)state;
	bed_make(&b, TASKSET_MIXED, 5, &all_on);
	for (size_t r = 0; r < fit_rules_n; r++) {
		struct fitted f = fit_make(&fit_rules[r], &b.set, FIT_NONE), any = f;
		double least;

		if (fit_rules[r].kind != FIT_STEP)
			continue;
		least = cost(&f, &b.set);
		for (int32_t step = 0; step < 65536; step += 512)
			for (any.below = 0; any.below < 5; any.below++)
				for (any.above = 0; any.above < 5; any.above++) {
					any.step = step;
					assert_true(least <= cost(&any, &b.set) + 1e-9);
				}
	}
	bed_free(&b);
}

static void fitting_never_does_worse_than_what_is_given_on_its_own_tasks(void **state)
{
	struct bed b;

	(void)state;
	for (uint64_t seed = 1; seed < 6; seed++) {
		bed_make(&b, TASKSET_MIXED, seed, &all_on);
		for (size_t r = 0; r < fit_rules_n; r++) {
			struct fitted given = fit_given(&fit_rules[r], 0), f;

			/*
			 * alpha * C is fitted to powers, not to choices; two thresholds lie on a
			 * grid
			 */
			if (fit_rules[r].kind != FIT_RULE || fit_rules[r].rule == SWO_RULE_ENERGY ||
			    fit_rules[r].rule == SWO_RULE_LOW ||
			    fit_rules[r].rule == SWO_RULE_CPI_LSU)
				continue;
			f = fit_make(&fit_rules[r], &b.set, FIT_NONE);
			assert_true(cost(&f, &b.set) <= cost(&given, &b.set) + 1e-9);
		}
		bed_free(&b);
	}
}

static void a_linear_truth_is_found(void **state)
{
	const struct fit_rule rule = { .kind = FIT_LINEAR,
				       .n_features = 2,
				       .feature = { SWO_F_CPI, SWO_F_LSU } };
	struct fitted f;
	struct bed b;

	(void)state;
	bed_make(&b, TASKSET_MIXED, 7, &all_on);
	for (size_t i = 0; i < b.set.n; i++) {
		struct freq_case *c = &b.set.c[i];
		double cpi = (double)c->task.cpi / (double)c->task.cycles;
		double lsu = (double)c->task.lsu / (double)c->task.cycles;

		for (uint32_t p = 0; p < 5; p++)
			c->energy[p] = c->truth[p] =
				p == 0 ? 1 : 0.9 + 0.01 * p + 0.6 * cpi - 0.2 * p * lsu;
	}
	f = fit_make(&rule, &b.set, FIT_NONE);
	for (uint32_t p = 1; p < 5; p++) {
		/* the ridge pulls by about one task of 69 */
		assert_true(fabs(f.model.weight[p][1] / 65536.0 - 0.6) < 0.02);
		assert_true(fabs(f.model.weight[p][2] / 65536.0 + 0.2 * p) < 0.02);
	}
	bed_free(&b);
}

static void the_learned_rule_beats_every_other_on_simulated_tasks(void **state)
{
	static struct contest c;
	struct bed b;

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		size_t closest;

		bed_make(&b, TASKSET_MIXED, seed, &all_on);
		contest_make(&c, &b.set);
		if (!contest_won(&c, &closest))
			fail_msg("seed %d: %s", (int)seed, c.line[closest].name);
		bed_free(&b);
	}
}

/*
 * An empty column: what needs it is left out, the learned rule is fitted to the others, and to as
 * many tasks as it says.
 */
static void what_no_task_has_is_left_out(void **state)
{
	static struct contest c;
	const struct fit_rule *learned = &fit_rules[CONTEST_LEARNED];
	struct fit_rule rule;
	struct fitted f;
	struct bed b;

	(void)state;
	bed_make(&b, TASKSET_MIXED, 11, &all_on);
	contest_make(&c, &b.set);
	assert_int_equal(c.lacks, 0);
	assert_int_equal(c.n_unusable, 0);
	assert_int_equal(c.learned_from, b.set.n);
	for (size_t i = 0; i < b.set.n; i++)
		b.set.c[i].task.lsu = SWO_UNKNOWN;
	f = fit_make(learned, &b.set, FIT_NONE);
	assert_int_equal(f.tasks, 0);
	for (size_t i = 0; i < b.set.n; i++) /* what was fitted to nothing says nothing */
		assert_int_equal(fit_choose(&f, &b.set, &b.set.c[i]), -1);
	contest_make(&c, &b.set);
	assert_int_equal(c.lacks, 1u << SWO_F_LSU);
	assert_int_equal(c.n_unusable, 4);
	assert_string_equal(c.unusable[3], "step: LSU");
	assert_int_equal(c.learned_from, b.set.n);
	assert_true(c.line[c.learned].score.said == b.set.n &&
		    c.line[c.learned].score.saved > 0.02);
	assert_true(contest_learned(&b.set, &rule));
	f = fit_make(&rule, &b.set, FIT_NONE);
	assert_int_equal(f.model.n_features, learned->n_features - 1);
	for (unsigned k = 0; k < f.model.n_features; k++)
		assert_int_not_equal(f.model.feature[k], SWO_F_LSU);
	/* of some tasks only */
	for (size_t i = 0; i < 10; i++)
		b.set.c[i].task.cpi = SWO_UNKNOWN;
	contest_make(&c, &b.set);
	assert_int_equal(c.lacks, 1u << SWO_F_LSU);
	assert_int_equal(c.learned_from, b.set.n - 10);
	bed_free(&b);
}

/* Where the estimate's formula is the whole truth, nothing is left to be learned. */
static void the_learned_rule_comes_close_where_the_estimate_is_exact(void **state)
{
	static struct contest c;
	struct bed b;

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		size_t closest;

		bed_make(&b, TASKSET_CONSTANT, seed, &all_on);
		contest_make(&c, &b.set);
		contest_won(&c, &closest);
		assert_true(c.line[c.learned].score.saved > c.line[closest].score.saved - 1e-3);
		assert_string_equal(c.line[closest].name, "energy estimate");
		bed_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_used_is_left_out_and_told),
		cmocka_unit_test(a_task_without_energies_gets_a_choice_by_the_estimate),
		cmocka_unit_test(a_task_measured_twice_is_an_error),
		cmocka_unit_test(a_setting_without_two_tasks_is_an_error),
		cmocka_unit_test(choices_count_as_best_better_and_no_worse),
		cmocka_unit_test(correlations_are_pearson_s),
		cmocka_unit_test(the_seed_makes_the_tasks),
		cmocka_unit_test(without_adaption_nothing_is_saved_by_computing),
		cmocka_unit_test(without_the_cache_more_is_saved),
		cmocka_unit_test(constants_come_back_from_measurements),
		cmocka_unit_test(a_fit_does_not_look_at_the_task_that_is_left_out),
		cmocka_unit_test(a_step_is_the_best_of_all_steps),
		cmocka_unit_test(fitting_never_does_worse_than_what_is_given_on_its_own_tasks),
		cmocka_unit_test(a_linear_truth_is_found),
		cmocka_unit_test(the_learned_rule_beats_every_other_on_simulated_tasks),
		cmocka_unit_test(what_no_task_has_is_left_out),
		cmocka_unit_test(the_learned_rule_comes_close_where_the_estimate_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
