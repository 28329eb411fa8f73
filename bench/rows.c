/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_add(struct bench_series *s, double v)
{
	if (s->n < BENCH_RUNS_MAX)
		s->v[s->n++] = v;
}

double bench_best(const struct bench_series *s, bool less_is_better)
{
	double best = s->n ? s->v[0] : NAN;

	for (size_t i = 1; i < s->n; i++)
		best = less_is_better ? fmin(best, s->v[i]) : fmax(best, s->v[i]);
	return best;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(const struct bench_series *s)
{
	struct bench_series sorted = *s;
	size_t n = s->n;

	if (!n)
		return NAN;
	qsort(sorted.v, n, sizeof(*sorted.v), compare);
	return (sorted.v[(n - 1) / 2] + sorted.v[n / 2]) / 2;
}

/* ---- printing ---- */

/* Four digits are more than the machine repeats; "-" where nothing was measured. */
static const char *cell(char text[32], double v)
{
	if (!isfinite(v))
		return "-";
	snprintf(text, 32, "%.*f", v >= 1000 ? 0 : v >= 100 ? 1 : v >= 10 ? 2 : 3, v);
	return text;
}

void bench_heads(const struct bench *b)
{
	if (b->json)
		return;
	printf("%-6s %-46s %8s %8s %9s %8s %-5s %8s %6s %-4s %s\n", "group",
	       "ours against the reference", "ours", "median", "reference", "median", "unit",
	       "ratio", "goal", "met", "runs");
}

static void put_text(const struct bench *b, const struct bench_row *row, double ratio)
{
	char ours[32], median[32], reference[32], reference_median[32], ratio_text[32];
	const char *met = !isfinite(ratio) ? "-" : ratio >= row->goal ? "yes" : "NO";

	printf("%-6s %-46s %8s %8s %9s %8s %-5s %8s %6.4g %-4s %zu/%zu\n", b->group, row->name,
	       cell(ours, bench_best(&row->ours, row->less_is_better)),
	       cell(median, bench_median(&row->ours)),
	       cell(reference, bench_best(&row->reference, row->less_is_better)),
	       cell(reference_median, bench_median(&row->reference)), row->unit,
	       cell(ratio_text, ratio), row->goal, met, row->ours.n, row->reference.n);
	if (row->skip[0])
		printf("SKIP  %s: %s\n", row->name, row->skip);
}

static void put_number(const char *key, double v)
{
	if (isfinite(v))
		printf(",\"%s\":%.6g", key, v);
	else
		printf(",\"%s\":null", key);
}

/* Names and units are ours and need no escaping. */
static void put_json(const struct bench *b, const struct bench_row *row, double ratio)
{
	printf("{\"group\":\"%s\",\"name\":\"%s\"", b->group, row->name);
	put_number("value", bench_best(&row->ours, row->less_is_better));
	printf(",\"unit\":\"%s\"", row->unit);
	put_number("reference", bench_best(&row->reference, row->less_is_better));
	put_number("ratio", ratio);
	put_number("goal", row->goal);
	printf(",\"met\":%s}\n", !isfinite(ratio) ? "null" : ratio >= row->goal ? "true" : "false");
}

void bench_put(const struct bench *b, const struct bench_row *row)
{
	double ours = bench_best(&row->ours, row->less_is_better);
	double reference = bench_best(&row->reference, row->less_is_better);
	double ratio = row->less_is_better ? reference / ours : ours / reference;

	bench_done(b);
	if (b->json)
		put_json(b, row, ratio);
	else
		put_text(b, row, ratio);
	fflush(stdout);
}

/* ---- figures ---- */

void bench_figure_heads(const struct bench *b)
{
	if (b->json)
		return;
	printf("\n%-6s %-64s %8s %-4s %9s  %-16s %s\n", "group", "quantity", "measured", "unit",
	       "goal", "", "each seed or run");
}

static void figure_text(const struct bench *b, const struct bench_figure *f, double value, bool met)
{
	char text[32], goal[32], verdict[32] = "met";

	if (!isfinite(value))
		snprintf(verdict, sizeof(verdict), "-");
	else if (!met && f->goal == 0)
		snprintf(verdict, sizeof(verdict), "MISSED");
	else if (!met)
		snprintf(verdict, sizeof(verdict), "MISSED by %.2g %%",
			 100 * fabs(value / f->goal - 1));
	snprintf(goal, sizeof(goal), "%s %.4g", f->less_is_better ? "<=" : ">=", f->goal);
	printf("%-6s %-64s %8s %-4s %9s  %-16s", b->group, f->name, cell(text, value), f->unit,
	       goal, verdict);
	for (size_t i = 0; i < f->measured.n; i++)
		printf(" %s", cell(text, f->measured.v[i]));
	printf("%s%s\n", f->note[0] ? "; " : "", f->note);
}

static void figure_json(const struct bench *b, const struct bench_figure *f, double value, bool met)
{
	printf("{\"group\":\"%s\",\"name\":\"%s\",\"simulated\":%s", b->group, f->name,
	       f->real ? "false" : "true");
	put_number("value", value);
	printf(",\"unit\":\"%s\",\"seeds\":[", f->unit);
	for (size_t i = 0; i < f->measured.n; i++)
		printf(isfinite(f->measured.v[i]) ? "%s%.6g" : "%snull", i ? "," : "",
		       f->measured.v[i]);
	printf("]");
	put_number("goal", f->goal);
	printf(",\"less_is_better\":%s,\"met\":%s,\"note\":\"%s\"}\n",
	       f->less_is_better ? "true" : "false",
	       !isfinite(value) ? "null" :
	       met              ? "true" :
				  "false",
	       f->note);
}

void bench_figure_put(const struct bench *b, const struct bench_figure *f)
{
	double value = f->every ? bench_best(&f->measured, !f->less_is_better) :
				  bench_median(&f->measured);
	bool met = f->less_is_better ? value <= f->goal : value >= f->goal;

	bench_done(b);
	if (b->json)
		figure_json(b, f, value, met);
	else
		figure_text(b, f, value, met);
	fflush(stdout);
}

void bench_doing(const struct bench *b, const char *fmt, ...)
{
	va_list ap;

	if (!b->progress)
		return;
	fprintf(stderr, "\r\033[K");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
}

void bench_done(const struct bench *b)
{
	if (b->progress)
		fprintf(stderr, "\r\033[K");
}

int bench_fail(const struct bench *b, int code, const char *fmt, ...)
{
	va_list ap;

	bench_done(b);
	fprintf(stderr, "coeval-bench: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return code;
}
