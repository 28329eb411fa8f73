/* SPDX-License-Identifier: MIT */
#include <coeval/report.h>

#include <coeval/files.h>

#include <math.h>
#include <string.h>

#include "report/figures.h"
#include "report/session.h"

/* ---- words ---- */

static void row(struct cvl_out *o, const char *head, const char *text)
{
	cvl_out_text(o, "<tr><th>");
	cvl_out_xml(o, head);
	cvl_out_text(o, "</th><td>");
	cvl_out_xml(o, text);
	cvl_out_text(o, "</td></tr>\n");
}

static bool is_simulated(const struct cvl_study *s)
{
	for (size_t i = 0; i < cvl_session_clocks(s->session); i++)
		if (!strcmp(cvl_session_clock(s->session, i)->format, "sim"))
			return true;
	return s->truth != NULL;
}

static void put_style(struct cvl_out *o)
{
	cvl_out_text(
		o,
		"<style>\n"
		"#report { font: 14px/1.45 sans-serif; color: #222; background: #fff; color-scheme: light; }\n"
		"#report > div { max-width: 900px; margin: 0 auto; padding: 1em; }\n"
		"#report h1 { font-size: 1.5em; margin-bottom: .2em; }\n"
		"#report h2 { font-size: 1.15em; margin: 1.8em 0 .5em; }\n"
		"#report table { border-collapse: collapse; font-size: 12.5px; }\n"
		"#report th, #report td { text-align: left; padding: 3px 10px 3px 0; vertical-align: top; "
		"overflow-wrap: anywhere; }\n"
		"#report thead th { border-bottom: 1px solid #888; overflow-wrap: normal; vertical-align: bottom; }\n"
		"#report table.head th { white-space: nowrap; }\n"
		"#report thead th.number { white-space: normal; }\n"
		"#report tbody tr { border-bottom: 1px solid #eee; }\n"
		"#report .wide { width: 100%; }\n"
		"#report .number { text-align: right; white-space: nowrap; font: inherit; font-variant-numeric: tabular-nums; }\n"
		"#report .clocks td:nth-child(1) { min-width: 5.5em; }\n"
		"#report .clocks td:nth-child(2), #report .clocks td:nth-child(8) { white-space: nowrap; }\n"
		"#report .clocks td:nth-child(9) { min-width: 14em; }\n"
		"#report .main td { font-weight: bold; }\n"
		"#report .degraded { color: #a84300; }\n"
		"#report .unsynchronised { color: #a84300; font-weight: bold; }\n"
		"#report .note, #report figcaption { font-size: 12.5px; color: #444; }\n"
		"#report figure { margin: 1.2em 0; }\n"
		"#report figure svg { width: 100%; height: auto; display: block; }\n"
		"@media print { #report figure, #report tr { break-inside: avoid; } "
		"#report h2 { break-after: avoid; } }\n"
		"</style>\n");
}

/* ---- the head ---- */

static void put_clock_count(struct cvl_out *o, const struct cvl_study *s)
{
	size_t good = 0, degraded = 0;

	for (size_t i = 0; i < s->n_clocks; i++) {
		good += s->clock[i].sync->verdict == CVL_GOOD;
		degraded += s->clock[i].sync->verdict == CVL_DEGRADED;
	}
	cvl_out_printf(
		o,
		"<tr><th>clocks</th><td>%zu: %zu good, %zu degraded, %zu unsynchronised</td></tr>\n",
		s->n_clocks, good, degraded, s->n_clocks - good - degraded);
}

static void put_length(struct cvl_out *o, double s)
{
	if (s >= 2 * 3600)
		cvl_out_printf(o, "%.2f h", s / 3600);
	else if (s >= 120)
		cvl_out_printf(o, "%.1f min", s / 60);
	else
		cvl_out_printf(o, "%.3g s", s);
}

static void put_match(void *ctx, const char *name)
{
	struct cvl_out *o = ctx;

	cvl_out_text(o, "messages by ");
	cvl_out_xml(o, name);
	cvl_out_text(o, "; ");
}

static void put_settings(struct cvl_out *o, const struct cvl_sync_opts *opts)
{
	cvl_out_text(o, "<tr><th>observations</th><td>");
	cvl_sync_recalled(opts, put_match, o);
	for (size_t i = 0; i < opts->n_match; i++)
		put_match(o, opts->match[i]);
	for (size_t i = 0; i < opts->n_pulse; i++) {
		cvl_out_printf(o, "%s edges of ", opts->pulse[i].rising ? "rising" : "falling");
		cvl_out_xml(o, opts->pulse[i].line);
		cvl_out_printf(o, " every %.9g s; ", (double)opts->pulse[i].period_ns / 1e9);
	}
	cvl_out_printf(o, "beacons, if any, every %.9g s</td></tr>\n",
		       opts->beacon_period_ns ? (double)opts->beacon_period_ns / 1e9 : 1);
	cvl_out_text(o, "<tr><th>limits</th><td>rates off by up to ");
	if (opts->max_drift_ppm > 0)
		cvl_out_printf(o, "%.9g ppm", opts->max_drift_ppm);
	else
		cvl_out_text(o, "what is stated of each clock");
	for (size_t i = 0; i < opts->n_drift; i++) {
		cvl_out_text(o, ", ");
		cvl_out_xml(o, opts->drift[i].clock);
		cvl_out_printf(o, " %.9g ppm", opts->drift[i].ppm);
	}
	if (opts->has_wander)
		cvl_out_printf(o, "; they change by up to %.9g ppb/s", opts->wander_ppb_s);
	cvl_out_text(o, "</td></tr>\n");
}

static void put_head(struct cvl_out *o, const struct cvl_study *s, const struct cvl_report_page *p)
{
	const char *used = study_main(s)->info->name;
	char name[256];

	cvl_path_base(name, sizeof(name), p->path);
	cvl_out_text(o, "<h1>Synchronisation of ");
	cvl_out_xml(o, name);
	cvl_out_text(o, "</h1>\n<table class=\"head\">\n");
	row(o, "session", p->path);
	row(o, "id", cvl_session_uuid(s->session));
	row(o, "kind",
	    !is_simulated(s) ? "a capture: the true times are unknown" :
	    s->truth         ? "simulated; the true times are known (truth.json)" :
			       "simulated; the true times are not available");
	put_clock_count(o, s);
	row(o, "estimator in sync.json",
	    p->saved ? p->saved->estimator : "none: the session has not been synchronised");
	cvl_out_text(o, "<tr><th>examined here</th><td>");
	cvl_out_xml(o, used);
	if (p->saved && strcmp(p->saved->estimator, used))
		cvl_out_text(o, ", not the one in sync.json");
	cvl_out_text(o, "; solved anew from the observations</td></tr>\n");
	row(o, "reference", study_main(s)->sync->reference);
	cvl_out_text(o, "<tr><th>length</th><td>");
	put_length(o, s->length_s);
	cvl_out_text(o, "</td></tr>\n");
	put_settings(o, p->opts);
	row(o, "made by", "coeval " COEVAL_VERSION);
	cvl_out_text(o, "</table>\n");
}

/* ---- estimators ---- */

static void cell_ns(struct cvl_out *o, double ns)
{
	cvl_out_text(o, "<td class=\"number\">");
	figure_ns(o, ns);
	cvl_out_text(o, "</td>");
}

static void put_scores(struct cvl_out *o, const struct cvl_score *score)
{
	if (!score->n) {
		cvl_out_text(o, "<td class=\"number\" colspan=\"6\">no pair to compare</td>");
		return;
	}
	cell_ns(o, score->mean_abs);
	cell_ns(o, score->sd);
	cell_ns(o, score->p999);
	cell_ns(o, score->max);
	cell_ns(o, (double)score->median_bound);
	cvl_out_printf(o, "<td class=\"number\">%.3f %%</td>", 100 * score->coverage);
}

static void put_result(struct cvl_out *o, const struct cvl_study *s,
		       const struct cvl_study_result *r)
{
	cvl_out_printf(o, "<tr%s><td title=\"", r == study_main(s) ? " class=\"main\"" : "");
	cvl_out_xml(o, r->info->what);
	cvl_out_text(o, "\">");
	cvl_out_xml(o, r->info->name);
	cvl_out_text(o, "</td>");
	if (!r->sync) {
		cvl_out_printf(o, "<td colspan=\"%d\">", s->truth ? 11 : 5);
		cvl_out_xml(o, r->why);
		cvl_out_text(o, "</td></tr>\n");
		return;
	}
	cvl_out_printf(o, "<td class=\"number\">%zu / %zu</td><td class=\"number\">%zu</td>",
		       r->tied, r->sync->n, r->degraded);
	cell_ns(o, r->residuals ? r->residual_sd : -1);
	cell_ns(o, r->residuals ? r->residual_median : -1);
	cell_ns(o, r->median_bound);
	if (s->truth)
		put_scores(o, &r->score);
	cvl_out_text(o, "</tr>\n");
}

static void put_results(struct cvl_out *o, const struct cvl_study *s)
{
	static const char *const heads[] = { "tied", "degraded", "residual sd", "median |residual|",
					     "median bound" };
	static const char *const truth_heads[] = {
		"mean |error|", "sd", "99.9 %", "max", "median bound of a pair", "covered"
	};

	cvl_out_text(o, "<h2>Estimators</h2>\n<table class=\"wide\"><thead><tr><th>estimator</th>");
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		cvl_out_printf(o, "<th class=\"number\">%s</th>", heads[i]);
	for (size_t i = 0; s->truth && i < sizeof(truth_heads) / sizeof(*truth_heads); i++)
		cvl_out_printf(o, "<th class=\"number\">%s</th>", truth_heads[i]);
	cvl_out_text(o, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < s->n; i++)
		put_result(o, s, &s->result[i]);
	cvl_out_text(o, "</tbody></table>\n<p class=\"note\">");
	cvl_out_printf(
		o,
		"Bold: the one examined below. Residuals of all pulses and beacons about the final maps; "
		"bounds are half-widths, their medians over %d points of each clock.",
		CVL_STUDY_POINTS);
	if (s->truth)
		cvl_out_printf(
			o,
			" Errors are those of the differences of all pairs of clocks, as captures would stamp them, at %zu "
			"random instants from %.3g s after the start, so that the starting up of online clocks, "
			"those of the papers among them, does not count; covered: the share of them within the bound of the pair.",
			s->instants, s->settled_s);
	cvl_out_text(o, "</p>\n");
}

/* ---- clocks ---- */

static void put_clock(struct cvl_out *o, const struct cvl_clock_sync *c)
{
	const char *verdict = cvl_verdict_name(c->verdict);

	cvl_out_text(o, "<tr><td>");
	cvl_out_xml(o, c->clock);
	cvl_out_printf(o, "</td><td class=\"%s\">%s</td><td class=\"number\">", verdict, verdict);
	if (c->map && c->used && isfinite(c->rate_ppb) && isfinite(c->rate_bound_ppb))
		cvl_out_printf(o, "%s%.3f \xc2\xb1%.3f", c->rate_ppb < 0 ? "\xe2\x88\x92" : "+",
			       fabs(c->rate_ppb) / 1000, c->rate_bound_ppb / 1000);
	else
		cvl_out_text(o, "\xe2\x80\x93");
	cvl_out_text(o, "</td><td class=\"number\">");
	figure_count(o, c->used);
	cvl_out_text(o, "</td><td class=\"number\">");
	figure_count(o, c->rejected);
	cvl_out_text(o, "</td>");
	cell_ns(o, c->map && c->bound_median != CVL_BOUND_UNKNOWN ? (double)c->bound_median : -1);
	cell_ns(o, c->map && c->bound_max != CVL_BOUND_UNKNOWN ? (double)c->bound_max : -1);
	cvl_out_text(o, "<td>");
	cvl_out_xml(o, cvl_bound_kind_name(c->map ? cvl_map_kind(c->map) : CVL_BOUND_NONE));
	cvl_out_text(o, "</td><td>");
	cvl_out_xml(o, c->reason);
	cvl_out_text(o, "</td></tr>\n");
}

static void put_clocks(struct cvl_out *o, const struct cvl_study *s)
{
	cvl_out_text(o, "<h2>Clocks by ");
	cvl_out_xml(o, study_main(s)->info->name);
	cvl_out_text(
		o,
		"</h2>\n<table class=\"wide clocks\"><thead><tr><th>clock</th><th>verdict</th>"
		"<th class=\"number\">rate off (ppm)</th><th class=\"number\">used</th>"
		"<th class=\"number\">rejected</th><th class=\"number\">median bound</th>"
		"<th class=\"number\">greatest bound</th><th>promise</th><th>why</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < s->n_clocks; i++)
		put_clock(o, s->clock[i].sync);
	cvl_out_text(o, "</tbody></table>\n");
}

/* ---- figures ---- */

static const struct figure *const figures[] = {
	&figure_cdf,   &figure_residual_histogram, &figure_error_histogram, &figure_rate,
	&figure_bound, &figure_residuals,
};

#define FIGURES (sizeof(figures) / sizeof(*figures))

const char *cvl_report_figure_name(size_t i)
{
	return i < FIGURES ? figures[i]->name : NULL;
}

bool cvl_report_figure_fits(size_t i, const struct cvl_study *s)
{
	return figures[i]->panels ? panels_fit(s, figures[i]->panels) : figures[i]->fits(s);
}

void cvl_report_figure(struct cvl_out *o, size_t i, const struct cvl_study *s)
{
	const struct figure *f = figures[i];

	if (f->panels)
		panels_draw(o, s, f->panels, f->title);
	else
		f->draw(o, s, f->title);
}

static void put_figures(struct cvl_out *o, const struct cvl_study *s)
{
	unsigned number = 0;

	for (size_t i = 0; i < FIGURES; i++) {
		const struct figure *f = figures[i];

		if (!cvl_report_figure_fits(i, s))
			continue;
		cvl_out_printf(o, "<figure id=\"%s\">\n<h2>%s</h2>\n", f->name, f->title);
		cvl_report_figure(o, i, s);
		cvl_out_printf(o, "<figcaption><b>Figure %u.</b> ", ++number);
		f->caption(o, s);
		if (f->panels)
			panels_say(o, s, f->panels);
		cvl_out_text(o, "</figcaption>\n</figure>\n");
	}
	if (!number)
		cvl_out_text(o, "<p>No clock is tied to another: there is nothing to draw.</p>\n");
}

/* ---- all of it ---- */

void cvl_report_html(struct cvl_out *o, const struct cvl_study *s, const struct cvl_report_page *p)
{
	put_style(o);
	cvl_out_text(o, "<section id=\"report\"><div>\n");
	put_head(o, s, p);
	put_results(o, s);
	put_clocks(o, s);
	put_figures(o, s);
	cvl_out_text(o, "</div></section>\n");
}
