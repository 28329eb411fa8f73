/* SPDX-License-Identifier: MIT */
#include "task/freq_report.h"
#include "cli.h"

#include <math.h>

void freq_tally_add(struct freq_tally *t, const struct contest *c)
{
	double mine = c->learned == SIZE_MAX ? 0 : c->line[c->learned].score.saved;
	size_t closest;

	t->seeds++;
	t->won += contest_won(c, &closest);
	t->could_be += c->line[0].score.could_be;
	for (size_t i = 0; i < c->n; i++) {
		const struct freq_score *s = &c->line[i].score;

		t->saved[i] += s->saved;
		t->square[i] += s->saved * s->saved;
		t->best[i] += freq_percent(s->best, s->n);
		t->better[i] += freq_percent(s->better, s->n);
		t->no_worse[i] += freq_percent(s->no_worse, s->n);
		t->slower[i] += s->slower;
		t->beaten[i] += mine > s->saved;
	}
}

static double deviation(const struct freq_tally *t, size_t i)
{
	double n = (double)t->seeds, mean = t->saved[i] / n;

	return t->seeds > 1 ? sqrt(fmax(0, t->square[i] - n * mean * mean) / (n - 1)) : 0;
}

void freq_print_tally(struct cvl_out *o, const struct freq_tally *t, const struct contest *c)
{
	static const char *const heads[] = { "rule", "numbers",        "passes",   "freqs",
					     "best", "best or better", "no worse", "saves",
					     "sd",   "slower",         "beaten",   NULL };
	double n = (double)t->seeds;
	struct table table;

	table_init(&table, 11);
	table_heads(&table, heads);
	for (size_t i = 0; i < c->n; i++) {
		if (c->line[i].how == CONTEST_FITTED)
			continue;
		freq_cells(&table, &c->line[i]);
		table_cell(&table, "%.1f %%", t->best[i] / n);
		table_cell(&table, "%.1f %%", t->better[i] / n);
		table_cell(&table, "%.1f %%", t->no_worse[i] / n);
		table_cell(&table, "%.2f %%", 100 * t->saved[i] / n);
		table_cell(&table, "%.2f", 100 * deviation(t, i));
		table_cell(&table, "%.1f %%", 100 * t->slower[i] / n);
		if (i == c->learned)
			table_cell(&table, "-");
		else
			table_cell(&table, "%zu", t->beaten[i]);
	}
	table_print(&table, o, "llrrrrrrrrr", "");
	cvl_out_printf(o, "\nThe best choice for each task saves %.2f %%.\n",
		       100 * t->could_be / n);
	cvl_out_printf(
		o,
		"%s, left out, saves more than every other rule (linear ones apart) in %zu of %zu seeds; beaten: more than this rule.\n",
		fit_rules[CONTEST_LEARNED].name, t->won, t->seeds);
}

json_t *freq_tally_json(const struct freq_tally *t, const struct contest *c)
{
	json_t *list = json_array();
	double n = (double)t->seeds;

	for (size_t i = 0; i < c->n; i++) {
		const struct contest_line *l = &c->line[i];

		json_array_append_new(
			list, json_pack("{s:s, s:s, s:i, s:b, s:f, s:f, s:f, s:f, s:f, s:f, s:I}",
					"rule", l->name, "numbers", freq_how_names[l->how],
					"passes", (int)fit_passes(l->needs), "second_frequency",
					(l->needs & SWO_NEED_OTHER) != 0, "best_percent",
					t->best[i] / n, "best_or_better_percent", t->better[i] / n,
					"no_worse_percent", t->no_worse[i] / n, "saved",
					t->saved[i] / n, "saved_sd", deviation(t, i), "slower",
					t->slower[i] / n, "beaten", (json_int_t)t->beaten[i]));
	}
	return json_pack("{s:I, s:I, s:f, s:o}", "seeds", (json_int_t)t->seeds, "won",
			 (json_int_t)t->won, "could_be_saved", t->could_be / n, "rules", list);
}
