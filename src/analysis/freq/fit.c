/* SPDX-License-Identifier: MIT */
#include "analysis/freq/fit.h"

#include "analysis/freq/fit_internal.h"

#include <math.h>
#include <stdlib.h>

#define ONE(f) .n_features = 1, .feature = { f }

const struct fit_rule fit_rules[] = {
	{ "cycles an instruction", FIT_RULE, .rule = SWO_RULE_CPI },
	{ "CPI and LSU low", FIT_RULE, .rule = SWO_RULE_LOW },
	{ "CPI high, LSU low", FIT_RULE, .rule = SWO_RULE_CPI_LSU },
	{ "asleep", FIT_RULE, .rule = SWO_RULE_SLEEP },
	{ "peripheral accesses", FIT_RULE, .rule = SWO_RULE_PERIPHERAL },
	{ "saved cycles", FIT_RULE, .rule = SWO_RULE_SAVED },
	{ "energy estimate", FIT_RULE, .rule = SWO_RULE_ENERGY },
	{ "step: CPI", FIT_STEP, ONE(SWO_F_CPI) },
	{ "step: LSU", FIT_STEP, ONE(SWO_F_LSU) },
	{ "step: FOLD", FIT_STEP, ONE(SWO_F_FOLD) },
	{ "step: SLEEP", FIT_STEP, ONE(SWO_F_SLEEP) },
	{ "step: EXC", FIT_STEP, ONE(SWO_F_EXC) },
	{ "step: RAM", FIT_STEP, ONE(SWO_F_RAM) },
	{ "step: flash", FIT_STEP, ONE(SWO_F_FLASH) },
	{ "step: peripherals", FIT_STEP, ONE(SWO_F_PERIPHERAL) },
	{ "step: saved cycles", FIT_STEP, ONE(SWO_F_SAVED) },
	{ "linear: counters", FIT_LINEAR, .n_features = 5,
	  .feature = { SWO_F_CPI, SWO_F_LSU, SWO_F_FOLD, SWO_F_SLEEP, SWO_F_PERIPHERAL } },
	{ "linear: saved cycles", FIT_LINEAR, ONE(SWO_F_SAVED) },
	{ "linear: saved and counters", FIT_LINEAR, .n_features = 6,
	  .feature = { SWO_F_SAVED, SWO_F_CPI, SWO_F_LSU, SWO_F_FOLD, SWO_F_SLEEP,
		       SWO_F_PERIPHERAL } },
};

const size_t fit_rules_n = sizeof(fit_rules) / sizeof(*fit_rules);

struct fitted fit_given(const struct fit_rule *rule, uint32_t point)
{
	return (struct fitted){
		.kind = rule->kind,
		.rule = rule->rule,
		.point = point,
		.t = swo_thresholds_default,
	};
}

uint32_t fit_needs(const struct fit_rule *rule)
{
	struct swo_model model = { .n_features = rule->n_features };
	struct swo_thresholds t = swo_thresholds_default;

	if (rule->kind == FIT_CONSTANT)
		return 0;
	for (unsigned i = 0; i < rule->n_features; i++)
		model.feature[i] = rule->feature[i];
	t.model = &model;
	return swo_rule_needs(rule->kind == FIT_RULE ? rule->rule : SWO_RULE_LEARNED, &t);
}

unsigned fit_passes(uint32_t needs)
{
	uint32_t one = needs & (SWO_NEED_CPI | SWO_NEED_EXC | SWO_NEED_SLEEP | SWO_NEED_LSU |
				SWO_NEED_FOLD | SWO_NEED_RAM | SWO_NEED_PERIPHERAL);

	return (unsigned)__builtin_popcount(one) + (needs & SWO_NEED_FLASH ? 8 : 0);
}

static struct swo_task other_task(const struct freq_set *set, const struct freq_case *c)
{
	uint64_t cycles = c->cycles[set->other];

	return (struct swo_task){ .cycles = cycles ? cycles : SWO_UNKNOWN };
}

int32_t fit_feature(const struct freq_set *set, const struct freq_case *c, uint8_t feature)
{
	struct swo_device d = freq_device(set);
	struct swo_task other = other_task(set, c);

	return swo_feature_of((enum swo_feature)feature, &d, &c->task, &other, set->other);
}

uint32_t fit_lacks(const struct freq_set *set)
{
	uint32_t lacks = (1u << SWO_FEATURES) - 1;

	for (size_t i = 0; i < set->n; i++)
		for (uint8_t f = 0; f < SWO_FEATURES; f++)
			if (fit_feature(set, &set->c[i], f) != INT32_MIN)
				lacks &= ~(1u << f);
	return lacks;
}

bool fit_usable(const struct fit_rule *rule, uint32_t lacks, struct fit_rule *out)
{
	uint32_t counters = 0;

	*out = *rule;
	out->n_features = 0;
	for (unsigned k = 0; k < rule->n_features; k++)
		if (!(lacks >> rule->feature[k] & 1))
			out->feature[out->n_features++] = rule->feature[k];
	/* the thesis's rules compute saved cycles differently */
	for (uint8_t f = 0; f < SWO_FEATURES; f++)
		if ((lacks >> f & 1) && f != SWO_F_SAVED)
			counters |= fit_needs(&(struct fit_rule){
					    .kind = FIT_STEP, .n_features = 1, .feature = { f } }) &
				    ~SWO_NEED_CYCLES;
	return rule->kind == FIT_RULE ? !(fit_needs(rule) & counters) :
					rule->kind == FIT_CONSTANT || out->n_features;
}

int fit_choose(const struct fitted *f, const struct freq_set *set, const struct freq_case *c)
{
	struct swo_task other = other_task(set, c);
	struct swo_device d = freq_device(set);
	struct swo_thresholds t = f->t;
	enum swo_rule rule = f->rule;
	int32_t x;
	int point;

	if (f->alpha_c_ff)
		d.alpha_c_ff = f->alpha_c_ff;
	switch (f->kind) {
	case FIT_CONSTANT: return (int)f->point;
	case FIT_STEP:
		x = fit_feature(set, c, f->feature);
		if (x == INT32_MIN)
			return -1;
		return (int)(x >= f->step ? f->above : f->below);
	case FIT_LINEAR:
		if (!f->tasks)
			return -1;
		t.model = &f->model;
		rule = SWO_RULE_LEARNED;
		break;
	case FIT_RULE: break;
	}
	point = swo_rule_choose(rule, &t, &d, &c->task, &other, set->other);
	return point < 0 && f->otherwise ? (int)f->otherwise : point;
}

void fit_score(const struct fit_rule *rule, const struct freq_set *set, bool leave_out,
	       struct cvl_freq_score *out)
{
	struct fitted f = { 0 };

	*out = (struct cvl_freq_score){ 0 };
	if (!leave_out)
		f = fit_make(rule, set, FIT_NONE);
	for (size_t i = 0; i < set->n; i++) {
		if (leave_out)
			f = fit_make(rule, set, i);
		freq_score_add(out, set, &set->c[i], fit_choose(&f, set, &set->c[i]));
	}
	freq_score_end(out);
}

void fit_score_given(const struct fitted *f, const struct freq_set *set, struct cvl_freq_score *out)
{
	*out = (struct cvl_freq_score){ 0 };
	for (size_t i = 0; i < set->n; i++)
		freq_score_add(out, set, &set->c[i], fit_choose(f, set, &set->c[i]));
	freq_score_end(out);
}
