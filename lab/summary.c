/* SPDX-License-Identifier: MIT */
#include "lab/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By task and setting, then in the order of the table. */
static int by_group(const void *a, const void *b)
{
	const struct results_row *x = *(struct results_row *const *)a;
	const struct results_row *y = *(struct results_row *const *)b;
	int d = strcmp(x->key.task, y->key.task);

	d = d ? d : (x->key.hz < y->key.hz) - (x->key.hz > y->key.hz);
	d = d ? d : strcmp(x->key.policy, y->key.policy);
	d = d ? d : (int)y->key.adaption - (int)x->key.adaption;
	return d ? d : (int)y->key.cache - (int)x->key.cache;
}

/* Sum up @n rows of one group; @v has room for as many numbers. */
static void sum_up(struct summary_group *g, struct results_row **row, size_t n, double *v)
{
	g->key = row[0]->key;
	for (size_t i = 0; i < n; i++)
		row[i]->outliers = 0;
	for (int q = 0; q < QUANTITIES; q++) {
		size_t have = 0, good = 0;
		double sum = 0;

		for (size_t i = 0; i < n; i++)
			if (!isnan(row[i]->value[q]))
				v[have++] = row[i]->value[q];
		g->of[q] = robust_of(v, have);
		for (size_t i = 0; i < n; i++) {
			if (isnan(row[i]->value[q]))
				continue;
			if (robust_is_outlier(&g->of[q], row[i]->value[q])) {
				row[i]->outliers |= 1u << q;
				g->outliers[q]++;
			} else {
				sum += row[i]->value[q];
				good++;
			}
		}
		g->mean[q] = good ? sum / (double)good : 0;
	}
}

int summary_make(struct summary *s, struct results *r, struct cvl_error *err)
{
	struct results_row **row = malloc((r->n + 1) * sizeof(*row));
	double *v = malloc((r->n + 1) * sizeof(*v));

	*s = (struct summary){ .group = calloc(r->n + 1, sizeof(*s->group)) };
	if (!row || !v || !s->group) {
		free(row);
		free(v);
		return cvl_no_memory(err);
	}
	for (size_t i = 0; i < r->n; i++)
		row[i] = &r->row[i];
	qsort(row, r->n, sizeof(*row), by_group);
	for (size_t i = 0, end; i < r->n; i = end) {
		for (end = i + 1; end < r->n && !by_group(&row[i], &row[end]); end++)
			;
		sum_up(&s->group[s->n], row + i, end - i, v);
		for (int q = 0; q < QUANTITIES; q++)
			s->outliers += s->group[s->n].outliers[q];
		s->n++;
	}
	free(row);
	free(v);
	return 0;
}

void summary_free(struct summary *s)
{
	free(s->group);
	*s = (struct summary){ 0 };
}

static void put_group(FILE *f, const struct summary_group *g)
{
	fprintf(f, "%s,%llu,%s,%s,%s", g->key.task, (unsigned long long)g->key.hz, g->key.policy,
		g->key.adaption ? "on" : "off", g->key.cache ? "on" : "off");
	for (int q = Q_CYCLES; q <= Q_PERIPHERAL; q++)
		if (g->of[q].n)
			fprintf(f, ",%.0f", round(g->of[q].median));
		else
			fputc(',', f);
	if (g->of[Q_ENERGY].n)
		fprintf(f, ",%.9g", g->of[Q_ENERGY].median * 1e6);
	else
		fputc(',', f);
	fputc('\n', f);
}

int summary_save_table(const struct summary *s, const char *path, struct cvl_error *err)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	int rc;

	if (!f)
		return cvl_no_memory(err);
	fputs("task,frequency,policy,adaption,cache", f);
	for (int q = Q_CYCLES; q <= Q_PERIPHERAL; q++)
		fprintf(f, ",%s", quantity_name((enum quantity)q));
	fputs(",energy_uj\n", f);
	for (size_t i = 0; i < s->n; i++)
		put_group(f, &s->group[i]);
	rc = fclose(f) ? cvl_no_memory(err) : results_write(path, text, n, err);
	free(text);
	return rc;
}
