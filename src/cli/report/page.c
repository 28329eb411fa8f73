/* SPDX-License-Identifier: MIT */
#include "report/page.h"

#include "report/figures.h"
#include "report/svg.h"

#include <coeval/files.h>

#include <jansson.h>
#include <math.h>
#include <string.h>

/* ---- words ---- */

static void put(FILE *f, const char *text)
{
	svg_escape(f, text, 0);
}

static void row(FILE *f, const char *head, const char *text)
{
	fputs("<tr><th>", f);
	put(f, head);
	fputs("</th><td>", f);
	put(f, text);
	fputs("</td></tr>\n", f);
}

static bool is_simulated(const struct study *s)
{
	for (size_t i = 0; i < cvl_session_clocks(s->session); i++)
		if (!strcmp(cvl_session_clock(s->session, i)->format, "sim"))
			return true;
	return s->truth != NULL;
}

static const struct study_result *main_result(const struct study *s)
{
	return &s->result[s->main];
}

static void put_style(FILE *f)
{
	fputs("<style>\n"
	      "body { font: 14px/1.45 sans-serif; color: #222; background: #fff; max-width: 900px; "
	      "margin: 2em auto; padding: 0 1em; }\n"
	      "h1 { font-size: 1.5em; margin-bottom: .2em; }\n"
	      "h2 { font-size: 1.15em; margin: 1.8em 0 .5em; }\n"
	      "table { border-collapse: collapse; font-size: 12.5px; }\n"
	      "th, td { text-align: left; padding: 3px 10px 3px 0; vertical-align: top; "
	      "overflow-wrap: anywhere; }\n"
	      "thead th { border-bottom: 1px solid #888; overflow-wrap: normal; vertical-align: bottom; }\n"
	      "table.head th { white-space: nowrap; }\n"
	      "thead th.number { white-space: normal; }\n"
	      "tbody tr { border-bottom: 1px solid #eee; }\n"
	      ".wide { width: 100%; }\n"
	      ".number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }\n"
	      ".clocks td:nth-child(1) { min-width: 5.5em; }\n"
	      ".clocks td:nth-child(2), .clocks td:nth-child(8) { white-space: nowrap; }\n"
	      ".clocks td:nth-child(9) { min-width: 14em; }\n"
	      ".main td { font-weight: bold; }\n"
	      ".degraded { color: #a84300; }\n"
	      ".unsynchronised { color: #a84300; font-weight: bold; }\n"
	      ".note, figcaption { font-size: 12.5px; color: #444; }\n"
	      "figure { margin: 1.2em 0; }\n"
	      "figure svg { width: 100%; height: auto; display: block; }\n"
	      "@media print { body { margin: 0; max-width: none; } figure, tr { break-inside: avoid; } "
	      "h2 { break-after: avoid; } }\n"
	      "</style>\n",
	      f);
}

/* ---- the head ---- */

static void put_clock_count(FILE *f, const struct study *s)
{
	size_t good = 0, degraded = 0;

	for (size_t i = 0; i < s->n_clocks; i++) {
		good += s->clock[i].sync->verdict == CVL_GOOD;
		degraded += s->clock[i].sync->verdict == CVL_DEGRADED;
	}
	fprintf(f,
		"<tr><th>clocks</th><td>%zu: %zu good, %zu degraded, %zu unsynchronised</td></tr>\n",
		s->n_clocks, good, degraded, s->n_clocks - good - degraded);
}

static void put_length(FILE *f, double s)
{
	if (s >= 2 * 3600)
		fprintf(f, "%.2f h", s / 3600);
	else if (s >= 120)
		fprintf(f, "%.1f min", s / 60);
	else
		fprintf(f, "%.3g s", s);
}

/* Rules that sync.json keeps. */
static void put_recalled(FILE *f, const char *settings)
{
	json_t *root = json_loads(settings, 0, NULL), *j;
	size_t i;

	json_array_foreach(json_object_get(root, "match"), i, j)
	{
		const char *name = json_string_value(json_object_get(j, "name"));

		fputs("messages by ", f);
		put(f, name ? name : "a rule");
		fputs("; ", f);
	}
	json_decref(root);
}

static void put_settings(FILE *f, const struct cvl_sync_opts *o)
{
	fputs("<tr><th>observations</th><td>", f);
	if (o->recalled)
		put_recalled(f, o->recalled);
	for (size_t i = 0; i < o->n_match; i++) {
		fputs("messages by ", f);
		put(f, o->match[i]);
		fputs("; ", f);
	}
	for (size_t i = 0; i < o->n_pulse; i++) {
		fprintf(f, "%s edges of ", o->pulse[i].rising ? "rising" : "falling");
		put(f, o->pulse[i].line);
		fprintf(f, " every %.9g s; ", (double)o->pulse[i].period_ns / 1e9);
	}
	fprintf(f, "beacons, if any, every %.9g s</td></tr>\n",
		o->beacon_period_ns ? (double)o->beacon_period_ns / 1e9 : 1);
	fputs("<tr><th>limits</th><td>rates off by up to ", f);
	if (o->max_drift_ppm > 0)
		fprintf(f, "%.9g ppm", o->max_drift_ppm);
	else
		fputs("what is stated of each clock", f);
	for (size_t i = 0; i < o->n_drift; i++) {
		fputs(", ", f);
		put(f, o->drift[i].clock);
		fprintf(f, " %.9g ppm", o->drift[i].ppm);
	}
	if (o->has_wander)
		fprintf(f, "; they change by up to %.9g ppb/s", o->wander_ppb_s);
	fputs("</td></tr>\n", f);
}

static void put_head(FILE *f, const struct page *p)
{
	const struct study *s = p->study;
	const char *used = main_result(s)->info->name;
	char name[256];

	cvl_path_base(name, sizeof(name), p->path);
	fputs("<h1>Synchronisation of ", f);
	put(f, name);
	fputs("</h1>\n<table class=\"head\">\n", f);
	row(f, "session", p->path);
	row(f, "id", cvl_session_uuid(s->session));
	row(f, "kind",
	    !is_simulated(s) ? "a capture: what the true times were is not known" :
	    s->truth         ? "simulated; the true times are known (truth.json)" :
			       "simulated; the true times are not here");
	put_clock_count(f, s);
	row(f, "estimator in sync.json",
	    p->saved ? p->saved->estimator : "none: the session has not been synchronised");
	fputs("<tr><th>looked at here</th><td>", f);
	put(f, used);
	if (p->saved && strcmp(p->saved->estimator, used))
		fputs(", not the one in sync.json", f);
	fputs("; solved anew from the observations</td></tr>\n", f);
	row(f, "reference", main_result(s)->sync->reference);
	fputs("<tr><th>length</th><td>", f);
	put_length(f, s->length_s);
	fputs("</td></tr>\n", f);
	put_settings(f, p->opts);
	row(f, "made by", "coeval " COEVAL_VERSION);
	fputs("</table>\n", f);
}

/* ---- estimators ---- */

static void cell_ns(FILE *f, double ns)
{
	fputs("<td class=\"number\">", f);
	figure_ns(f, ns);
	fputs("</td>", f);
}

static void put_scores(FILE *f, const struct cvl_score *score)
{
	if (!score->n) {
		fputs("<td class=\"number\" colspan=\"6\">no pair to compare</td>", f);
		return;
	}
	cell_ns(f, score->mean_abs);
	cell_ns(f, score->sd);
	cell_ns(f, score->p999);
	cell_ns(f, score->max);
	cell_ns(f, (double)score->median_bound);
	fprintf(f, "<td class=\"number\">%.3f %%</td>", 100 * score->coverage);
}

static void put_result(FILE *f, const struct study *s, const struct study_result *r)
{
	fprintf(f, "<tr%s><td title=\"", r == main_result(s) ? " class=\"main\"" : "");
	put(f, r->info->what);
	fputs("\">", f);
	put(f, r->info->name);
	fputs("</td>", f);
	if (!r->sync) {
		fprintf(f, "<td colspan=\"%d\">", s->truth ? 11 : 5);
		put(f, r->why);
		fputs("</td></tr>\n", f);
		return;
	}
	fprintf(f, "<td class=\"number\">%zu / %zu</td><td class=\"number\">%zu</td>", r->tied,
		r->sync->n, r->degraded);
	cell_ns(f, r->residuals ? r->residual_sd : -1);
	cell_ns(f, r->residuals ? r->residual_median : -1);
	cell_ns(f, r->median_bound);
	if (s->truth)
		put_scores(f, &r->score);
	fputs("</tr>\n", f);
}

static void put_results(FILE *f, const struct study *s)
{
	static const char *const heads[] = { "tied", "degraded", "residual sd", "median |residual|",
					     "median bound" };
	static const char *const truth_heads[] = {
		"mean |error|", "sd", "99.9 %", "max", "median bound of a pair", "covered"
	};

	fputs("<h2>Estimators</h2>\n<table class=\"wide\"><thead><tr><th>estimator</th>", f);
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		fprintf(f, "<th class=\"number\">%s</th>", heads[i]);
	for (size_t i = 0; s->truth && i < sizeof(truth_heads) / sizeof(*truth_heads); i++)
		fprintf(f, "<th class=\"number\">%s</th>", truth_heads[i]);
	fputs("</tr></thead><tbody>\n", f);
	for (size_t i = 0; i < s->n; i++)
		put_result(f, s, &s->result[i]);
	fputs("</tbody></table>\n<p class=\"note\">", f);
	fprintf(f,
		"Bold: the one looked at below. Residuals of all pulses and beacons about the final maps; "
		"bounds are half-widths, their medians over %d points of each clock.",
		STUDY_POINTS);
	if (s->truth)
		fprintf(f,
			" Errors are those of the differences of all pairs of clocks, as captures would stamp them, at %zu "
			"random instants from %.3g s after the start, so that the starting up of online clocks, "
			"those of the papers among them, does not count; covered: the share of them within the bound of the pair.",
			s->instants, s->settled_s);
	fputs("</p>\n", f);
}

/* ---- clocks ---- */

static void put_clock(FILE *f, const struct cvl_clock_sync *c)
{
	const char *verdict = cvl_verdict_name(c->verdict);

	fputs("<tr><td>", f);
	put(f, c->clock);
	fprintf(f, "</td><td class=\"%s\">%s</td><td class=\"number\">", verdict, verdict);
	if (c->map && c->used && isfinite(c->rate_ppb) && isfinite(c->rate_bound_ppb))
		fprintf(f, "%s%.3f \xc2\xb1%.3f", c->rate_ppb < 0 ? "\xe2\x88\x92" : "+",
			fabs(c->rate_ppb) / 1000, c->rate_bound_ppb / 1000);
	else
		fputs("\xe2\x80\x93", f);
	fputs("</td><td class=\"number\">", f);
	figure_count(f, c->used);
	fputs("</td><td class=\"number\">", f);
	figure_count(f, c->rejected);
	fputs("</td>", f);
	cell_ns(f, c->map && c->bound_median != CVL_BOUND_UNKNOWN ? (double)c->bound_median : -1);
	cell_ns(f, c->map && c->bound_max != CVL_BOUND_UNKNOWN ? (double)c->bound_max : -1);
	fputs("<td>", f);
	put(f, cvl_bound_kind_name(c->map ? cvl_map_kind(c->map) : CVL_BOUND_NONE));
	fputs("</td><td>", f);
	put(f, c->reason);
	fputs("</td></tr>\n", f);
}

static void put_clocks(FILE *f, const struct study *s)
{
	fputs("<h2>Clocks by ", f);
	put(f, main_result(s)->info->name);
	fputs("</h2>\n<table class=\"wide clocks\"><thead><tr><th>clock</th><th>verdict</th>"
	      "<th class=\"number\">rate off (ppm)</th><th class=\"number\">used</th>"
	      "<th class=\"number\">rejected</th><th class=\"number\">median bound</th>"
	      "<th class=\"number\">greatest bound</th><th>promise</th><th>why</th></tr></thead><tbody>\n",
	      f);
	for (size_t i = 0; i < s->n_clocks; i++)
		put_clock(f, s->clock[i].sync);
	fputs("</tbody></table>\n", f);
}

/* ---- figures ---- */

static void put_figures(FILE *f, const struct page *p)
{
	unsigned number = 0;

	for (size_t i = 0; figures[i]; i++) {
		if (!p->figure[i])
			continue;
		fprintf(f, "<figure id=\"%s\">\n<h2>%s</h2>\n", figures[i]->name,
			figures[i]->title);
		fputs(p->figure[i], f);
		fprintf(f, "<figcaption><b>Figure %u.</b> ", ++number);
		figures[i]->caption(p->study, f);
		fputs("</figcaption>\n</figure>\n", f);
	}
	if (!number)
		fputs("<p>No clock is tied to another: there is nothing to draw.</p>\n", f);
}

/* ---- all of it ---- */

void page_put(const struct page *p, FILE *f)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
	      "<meta charset=\"utf-8\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>Synchronisation of ",
	      f);
	put(f, p->path);
	fputs("</title>\n", f);
	put_style(f);
	fputs("</head>\n<body>\n", f);
	put_head(f, p);
	put_results(f, p->study);
	put_clocks(f, p->study);
	put_figures(f, p);
	fputs("</body>\n</html>\n", f);
}
