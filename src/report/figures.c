/* SPDX-License-Identifier: MIT */
#include "report/figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct figure_unit figure_unit(double ns)
{
	ns = fabs(ns);
	if (ns < 2e3)
		return (struct figure_unit){ 1, "ns" };
	if (ns < 2e6)
		return (struct figure_unit){ 1e3, "\xc2\xb5s" };
	if (ns < 2e9)
		return (struct figure_unit){ 1e6, "ms" };
	return (struct figure_unit){ 1e9, "s" };
}

char *figure_ns_text(char text[40], double ns)
{
	struct figure_unit u = figure_unit(ns / 0.5);
	double v = ns / u.ns;
	bool whole = (v >= 100 && v < 1e6) || (u.ns == 1 && v == floor(v));

	if (!isfinite(ns) || ns < 0)
		snprintf(text, 40, "\xe2\x80\x93");
	else
		snprintf(text, 40, whole ? "%.0f %s" : "%#.3g %s", v, u.name);
	return text;
}

void figure_ns(struct cvl_out *o, double ns)
{
	char text[40];

	cvl_out_text(o, figure_ns_text(text, ns));
}

char *figure_count_text(char text[40], uint64_t n)
{
	char digits[24], *to = text;

	for (int i = 0, len = snprintf(digits, sizeof(digits), "%" PRIu64, n); i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return text;
}

void figure_count(struct cvl_out *o, uint64_t n)
{
	char text[40];

	cvl_out_text(o, figure_count_text(text, n));
}
