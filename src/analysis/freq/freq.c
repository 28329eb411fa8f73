/* SPDX-License-Identifier: MIT */
#include "analysis/freq/freq.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct swo_device freq_device(const struct freq_set *set)
{
	return (struct swo_device){
		.point = set->point,
		.n = set->n_points,
		.alpha_c_ff = (uint32_t)(set->alpha_c * 1e15 + 0.5),
	};
}

/* ---- taking tasks from a table ---- */

static void tell(const struct cvl_report *report, enum cvl_code code, uint64_t offset,
		 const char *table, const char *what)
{
	struct cvl_error e;

	cvl_fail(&e, code, offset, "%s: %s", table, what);
	cvl_tell(report, &e);
}

static int by_task(const void *a, const void *b)
{
	const struct table_row *const *x = a, *const *y = b;
	int order = strcmp((*x)->task, (*y)->task);

	if (!order)
		order = ((*x)->hz < (*y)->hz) - ((*x)->hz > (*y)->hz);
	return order ? order : ((*x)->offset > (*y)->offset) - ((*x)->offset < (*y)->offset);
}

/* The point within 3 %: "13MHz" in a table is 80 MHz / 6. */
static int point_of(const struct freq_set *set, uint64_t hz)
{
	for (uint32_t p = 0; p < set->n_points; p++) {
		double apart = (double)hz - set->point[p].hz;

		if (fabs(apart) <= 0.03 * set->point[p].hz)
			return (int)p;
	}
	return -1;
}

static int twice(const struct task_table *t, const struct table_row *row, struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_SYNTAX, row->offset,
			"%s:%llu: %s at %llu Hz is measured twice at this setting; keep one line",
			t->name, (unsigned long long)row->offset, row->task,
			(unsigned long long)row->hz);
}

static bool known(uint64_t cycles)
{
	return cycles && cycles != SWO_UNKNOWN;
}

/* One task: rows of it alone. */
static int take(struct freq_set *set, const struct table_row *const *row, size_t n,
		const struct task_table *t, const struct cvl_report *report, struct cvl_error *err)
{
	const struct table_row *at[DEVICE_POINTS] = { NULL };
	struct freq_case *c = &set->c[set->n];
	const char *lacks = NULL;
	uint32_t lacks_at = 0;
	bool simulated = true;
	char text[200];

	for (size_t i = 0; i < n; i++) {
		int p = point_of(set, row[i]->hz);

		if (p < 0)
			continue;
		if (at[p])
			return twice(t, row[i]->offset > at[p]->offset ? row[i] : at[p], err);
		at[p] = row[i];
	}
	*c = (struct freq_case){ .name = row[0]->task };
	for (uint32_t p = 0; p < set->n_points; p++) {
		const struct table_row *r = at[p];
		const char *what = !r                      ? "line" :
				   !known(r->count.cycles) ? "cycles" :
				   !(r->energy_j > 0)      ? "energy" :
							     NULL;

		if (what && !lacks) {
			lacks = what;
			lacks_at = p;
		}
		if (!r || !known(r->count.cycles))
			continue;
		c->cycles[p] = r->count.cycles;
		c->energy[p] = r->energy_j;
		c->truth[p] = r->true_j > 0 ? r->true_j : r->energy_j;
		simulated = simulated && r->true_j > 0;
	}
	if (at[0])
		c->task = at[0]->count;
	if (!lacks) {
		set->true_known &= simulated;
		set->n++;
		return 0;
	}
	snprintf(text, sizeof(text), "%s is left out: no %s at %u Hz", c->name, lacks,
		 set->point[lacks_at].hz);
	tell(report, CVL_E_MISMATCH, row[0]->offset, t->name, text);
	set->left_out++;
	if (c->cycles[0])
		set->more[set->n_more++] = *c;
	return 0;
}

static size_t slice_rows(const struct freq_set *set, const struct task_table *t,
			 const struct device *d, const struct device_policy *policy,
			 const struct freq_slice *slice, const struct table_row **row,
			 const struct cvl_report *report)
{
	size_t n = 0, strange = 0, first = 0;
	char text[200];

	for (size_t i = 0; i < t->n; i++) {
		const struct table_row *r = &t->row[i];
		const struct device_policy *of =
			*r->policy ? device_policy(d, r->policy) : &d->policy[0];

		if (of != policy || r->adaption != slice->adaption || r->cache != slice->cache)
			continue;
		if (point_of(set, r->hz) < 0 && !strange++)
			first = i;
		row[n++] = r;
	}
	if (strange) {
		snprintf(
			text, sizeof(text),
			"left out: %zu of frequencies that the device file does not have, the first %llu Hz",
			strange, (unsigned long long)t->row[first].hz);
		tell(report, CVL_E_MISMATCH, t->row[first].offset, t->name, text);
	}
	qsort(row, n, sizeof(*row), by_task);
	return n;
}

int freq_set_make(struct freq_set *set, const struct task_table *table, const struct device *device,
		  const struct freq_slice *slice, const struct cvl_report *report,
		  struct cvl_error *err)
{
	const struct device_policy *policy = device_policy(device, slice->policy);
	const struct table_row **row;
	size_t n, end;
	int rc = 0;

	*set = (struct freq_set){ .alpha_c = device->alpha_c, .true_known = true };
	if (!policy)
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s has no policy '%.40s'; the first is '%s'", device->name,
				slice->policy, device->policy[0].name);
	memcpy(set->point, policy->point, sizeof(set->point));
	set->n_points = (uint32_t)policy->n;
	for (size_t p = 0; p < policy->n && !slice->adaption; p++)
		set->point[p].wait_states = device->fixed_wait_states;
	set->other = set->n_points - 1;
	row = malloc((table->n + 1) * sizeof(*row));
	set->c = malloc((table->n + 1) * sizeof(*set->c));
	set->more = malloc((table->n + 1) * sizeof(*set->more));
	if (!row || !set->c || !set->more) {
		free(row);
		freq_set_free(set);
		return cvl_no_memory(err);
	}
	n = slice_rows(set, table, device, policy, slice, row, report);
	for (size_t i = 0; i < n && !rc; i = end) {
		for (end = i + 1; end < n && !strcmp(row[i]->task, row[end]->task);)
			end++;
		rc = take(set, row + i, end - i, table, report, err);
	}
	free(row);
	if (!rc && set->n < 2 && !set->n_more)
		rc = cvl_hint(
			err, CVL_HINT_POLICY,
			cvl_fail(
				err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: tasks measured at all %u frequencies of policy '%s' with adaption %s and cache %s: %zu; two at "
				"least are needed",
				table->name, set->n_points, policy->name,
				slice->adaption ? "on" : "off", slice->cache ? "on" : "off",
				set->n));
	if (rc)
		freq_set_free(set);
	return rc;
}

void freq_set_free(struct freq_set *set)
{
	free(set->c);
	free(set->more);
	*set = (struct freq_set){ 0 };
}

/* ---- scores ---- */

uint32_t freq_best(const struct freq_set *set, const struct freq_case *c)
{
	uint32_t best = 0;

	for (uint32_t p = 1; p < set->n_points; p++)
		if (c->truth[p] < c->truth[best])
			best = p;
	return best;
}

static double time_at(const struct freq_set *set, const struct freq_case *c, uint32_t p)
{
	return (double)c->cycles[p] / set->point[p].hz;
}

void freq_score_add(struct cvl_freq_score *s, const struct freq_set *set, const struct freq_case *c,
		    int point)
{
	uint32_t p = point < 0 ? 0 : (uint32_t)point, best = freq_best(set, c);

	assert(p < set->n_points);
	s->n++;
	s->said += point >= 0;
	s->best += c->truth[p] <= c->truth[best];
	s->better += c->truth[p] <= c->truth[best] || c->truth[p] < c->truth[0];
	s->no_worse += c->truth[p] <= c->truth[0];
	s->saved += 1 - c->truth[p] / c->truth[0];
	s->could_be += 1 - c->truth[best] / c->truth[0];
	s->slower += time_at(set, c, p) / time_at(set, c, 0) - 1;
}

void freq_score_end(struct cvl_freq_score *s)
{
	double n = s->n ? (double)s->n : 1;

	s->saved /= n;
	s->could_be /= n;
	s->slower /= n;
}
