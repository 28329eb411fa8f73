/* SPDX-License-Identifier: MIT */
#include "analysis/freq/contest.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

static struct contest_line *add(struct contest *c, const char *name, enum contest_how how,
				const struct fit_rule *rule)
{
	struct contest_line *l = &c->line[c->n++];

	assert(c->n <= CONTEST_LINES);
	*l = (struct contest_line){ .how = how, .kind = rule->kind, .needs = fit_needs(rule) };
	snprintf(l->name, sizeof(l->name), "%s", name);
	return l;
}

void contest_make(struct contest *c, const struct freq_set *set)
{
	const struct fit_rule constant = { .kind = FIT_CONSTANT };

	*c = (struct contest){ .learned = SIZE_MAX, .lacks = fit_lacks(set) };
	for (uint32_t p = 0; p < set->n_points; p++) {
		struct fitted f = fit_given(&constant, p);
		char name[32];

		snprintf(name, sizeof(name), "always %.1f MHz", set->point[p].hz * 1e-6);
		fit_score_given(&f, set, &add(c, name, CONTEST_GIVEN, &constant)->score);
	}
	for (size_t i = 0; i < fit_rules_n; i++) {
		struct fit_rule usable, *rule = &usable;

		if (!fit_usable(&fit_rules[i], c->lacks, &usable)) {
			c->unusable[c->n_unusable++] = fit_rules[i].name;
			continue;
		}
		if (rule->kind == FIT_RULE) {
			struct fitted f = fit_given(rule, 0);

			fit_score_given(&f, set, &add(c, rule->name, CONTEST_GIVEN, rule)->score);
		}
		fit_score(rule, set, false, &add(c, rule->name, CONTEST_FITTED, rule)->score);
		if (i == CONTEST_LEARNED) {
			c->learned = c->n;
			c->learned_from = fit_make(rule, set, FIT_NONE).tasks;
		}
		fit_score(rule, set, true, &add(c, rule->name, CONTEST_LEFT_OUT, rule)->score);
	}
}

bool contest_learned(const struct freq_set *set, struct fit_rule *rule)
{
	return fit_usable(&fit_rules[CONTEST_LEARNED], fit_lacks(set), rule);
}

bool contest_rival(const struct contest *c, size_t i)
{
	return c->line[i].how != CONTEST_FITTED && c->line[i].kind != FIT_LINEAR;
}

bool contest_won(const struct contest *c, size_t *closest)
{
	double most = -INFINITY;

	for (size_t i = 0; i < c->n; i++)
		if (contest_rival(c, i) && c->line[i].score.saved > most) {
			most = c->line[i].score.saved;
			*closest = i;
		}
	return c->learned != SIZE_MAX && c->line[c->learned].score.saved > most;
}
