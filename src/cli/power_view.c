/* SPDX-License-Identifier: MIT */
#include "power_view.h"

#include <math.h>

static const char *clock_name(const struct power_view *v, size_t clock)
{
	return cvl_session_clock(v->session, clock)->name;
}

static const char *node_name(const struct power_view *v, size_t clock)
{
	return cvl_session_clock(v->session, clock)->node;
}

static struct cvl_power_figures figures_of(const struct power_view *v, size_t source,
					   const struct cvl_power_sum *sum)
{
	return cvl_power_figures(sum, v->result->source[source].rounded_w);
}

/* ---- numbers ---- */

/* "12.34 +-0.56 mW": both by one prefix, as exact as the second is. */
static void si_text(char *out, size_t size, double value, double half, const char *unit)
{
	static const struct {
		double one;
		const char *prefix;
	} prefixes[] = { { 1, "" }, { 1e-3, "m" }, { 1e-6, "u" }, { 1e-9, "n" }, { 1e-12, "p" } };
	double size_of = fmax(fabs(value), half);
	unsigned i = 0;
	int decimals = 3;

	while (i < 4 && size_of < prefixes[i].one && size_of > 0)
		i++;
	half /= prefixes[i].one;
	if (half > 0)
		decimals = (int)fmin(6, fmax(0, 1 - floor(log10(half))));
	if (half >= 0)
		snprintf(out, size, "%.*f +-%.*f %s%s", decimals, value / prefixes[i].one, decimals,
			 half, prefixes[i].prefix, unit);
	else
		snprintf(out, size, "%.4g %s%s", value / prefixes[i].one, prefixes[i].prefix, unit);
}

static void si_cell(struct table *t, double value, double half, const char *unit)
{
	char text[64];

	si_text(text, sizeof(text), value, half, unit);
	table_cell(t, "%s", text);
}

/* A value without a bound of its own. */
#define NO_HALF -1.0

/* ---- intervals as they come ---- */

static void put_figures(struct power_view *v, size_t source, const struct cvl_power_sum *sum)
{
	struct cvl_power_figures f = figures_of(v, source, sum);
	bool known = sum->sampled && isfinite(f.joule + f.joule_half + f.watt + f.watt_half);
	struct js *j = &v->js;

	js_range(j, "joule", known, f.joule, f.joule - f.joule_half, f.joule + f.joule_half);
	js_range(j, "watt", known, f.watt, f.watt - f.watt_half, f.watt + f.watt_half);
	js_real(j, "peak_watt", known ? sum->peak_w : NAN);
	js_known(j, "peak_ns", sum->peak_at.ns, known);
	js_real(j, "covered", known ? f.covered : 0);
}

/* Where it was read, and what marks it. */
static void put_names(struct power_view *v, size_t source, size_t clock, bool high)
{
	size_t read = v->result->source[source].clock;
	struct js *j = &v->js;

	js_texts(j, "clock node", clock_name(v, read), node_name(v, read));
	if (v->result->of == CVL_POWER_ALL)
		return;
	js_text(j, "marked_on", clock_name(v, clock));
	if (v->result->of == CVL_POWER_STATES) {
		js_text(j, "line", v->opts.line->name);
		js_int(j, "level", high);
	} else {
		js_text(j, "between", v->points);
	}
}

static void begin_json(struct power_view *v)
{
	if (v->listed)
		return;
	v->js = js_begin(v->out);
	if (v->each)
		js_open(&v->js, "intervals", '[');
}

static void list_json(struct power_view *v, const struct cvl_power_interval *span,
		      const struct cvl_power_sum *sum)
{
	struct js *j = &v->js;

	begin_json(v);
	cvl_out_char(v->out, '\n'); /* a line each */
	js_open(j, NULL, '{');
	put_figures(v, span->source, sum);
	put_names(v, span->source, span->clock, span->high);
	js_ints(j, "begin_ns end_ns", span->begin.ns, span->end.ns);
	js_bound(j, "duration_bound_ns", span->bound);
	js_count(j, "readings", span->energy.samples);
	js_int(j, "gaps", span->gaps);
	js_close(j, '}');
}

static void list_text(struct power_view *v, const struct cvl_power_interval *span,
		      const struct cvl_power_sum *sum)
{
	struct cvl_power_figures f = figures_of(v, span->source, sum);
	char bound[CVL_TIME_TEXT] = "unknown", energy[64] = "-", mean[64] = "-", peak[64] = "-";

	if (!v->listed)
		cvl_out_printf(v->out, "%16s  %12s  %-8s  %-24s  %-24s  %-12s  %s\n", "from s",
			       "for s", "+-", "energy", "mean", "peak", "clock");
	if (span->bound != CVL_BOUND_UNKNOWN)
		cvl_bound_text(bound, span->bound);
	if (sum->sampled) {
		si_text(energy, sizeof(energy), f.joule, f.joule_half, "J");
		si_text(mean, sizeof(mean), f.watt, f.watt_half, "W");
		si_text(peak, sizeof(peak), sum->peak_w, NO_HALF, "W");
	}
	cvl_out_time(v->out, span->begin, 16);
	cvl_out_text(v->out, "  ");
	cvl_out_time(v->out, (struct cvl_time){ span->end.ns - span->begin.ns }, 12);
	cvl_out_printf(v->out, "  %-8s  %-24s  %-24s  %-12s  %s%s%s\n", bound, energy, mean, peak,
		       clock_name(v, v->result->source[span->source].clock),
		       v->result->of == CVL_POWER_STATES ? span->high ? " high" : " low" : "",
		       span->gaps ? " gap" : "");
}

int power_view_put(void *view, const struct cvl_power_interval *span,
		   const struct cvl_power_result *result)
{
	struct power_view *v = view;
	struct cvl_power_sum one = { 0 };

	(void)result;
	cvl_power_sum_add(&one, span);
	(v->json ? list_json : list_text)(v, span, &one);
	v->listed++;
	return 0;
}

/* ---- tables ---- */

/* A row as it is shown. */
struct shown {
	const struct cvl_power_row *row;
	const struct cvl_power_source *source;
	struct cvl_power_figures f;
};

/* What a column holds; those from MEAN on are known only with readings. */
enum what {
	CLOCK,
	NODE,
	MARKED_ON,
	LINE,
	LEVEL,
	TIMES,
	SAMPLED,
	SECONDS,
	MEAN_US,
	READINGS,
	GAPS,
	MEAN,
	ENERGY,
	MEAN_ENERGY,
	LEAST,
	MOST,
	PEAK,
	PEAK_AT,
	COVERED,
};

struct column {
	const char *head;
	enum what what;
};

static const struct column columns[][12] = {
	[CVL_POWER_ALL] = { { "clock", CLOCK },
			    { "node", NODE },
			    { "time s", SECONDS },
			    { "mean", MEAN },
			    { "energy", ENERGY },
			    { "peak", PEAK },
			    { "at s", PEAK_AT },
			    { "covered", COVERED },
			    { "readings", READINGS },
			    { "gaps", GAPS } },
	[CVL_POWER_STATES] = { { "node", MARKED_ON },
			       { "read by", CLOCK },
			       { "line", LINE },
			       { "level", LEVEL },
			       { "times", TIMES },
			       { "sampled", SAMPLED },
			       { "time s", SECONDS },
			       { "mean", MEAN },
			       { "energy", ENERGY },
			       { "peak", PEAK },
			       { "covered", COVERED } },
	[CVL_POWER_BETWEEN] = { { "node", MARKED_ON },
				{ "read by", CLOCK },
				{ "times", TIMES },
				{ "sampled", SAMPLED },
				{ "mean us", MEAN_US },
				{ "mean energy", MEAN_ENERGY },
				{ "least", LEAST },
				{ "most", MOST },
				{ "mean power", MEAN },
				{ "peak", PEAK },
				{ "covered", COVERED } },
};

static void joule_cell(const struct shown *s, struct table *t, const struct cvl_power_sum *sum)
{
	struct cvl_power_figures f = cvl_power_figures(sum, s->source->rounded_w);

	si_cell(t, f.joule, f.joule_half, "J");
}

static void cell(const struct power_view *v, struct table *t, const struct shown *s, enum what what)
{
	const struct cvl_power_row *row = s->row;
	const struct cvl_power_sum *sum = &row->sum;
	const double n = (double)sum->sampled;
	const struct cvl_power_figures *f = &s->f;

	if (what >= MEAN && !sum->sampled) {
		table_cell(t, "-");
		return;
	}
	switch (what) {
	case CLOCK: table_cell(t, "%s", clock_name(v, s->source->clock)); break;
	case NODE: table_cell(t, "%s", node_name(v, s->source->clock)); break;
	case MARKED_ON: table_cell(t, "%s", node_name(v, row->clock)); break;
	case LINE: table_cell(t, "%s", v->opts.line->name); break;
	case LEVEL: table_cell(t, "%s", row->high ? "high" : "low"); break;
	case TIMES: table_counts(t, sum->n); break;
	case SAMPLED: table_counts(t, sum->sampled); break;
	case SECONDS: table_cell(t, "%.6f", sum->ns * 1e-9); break;
	case MEAN_US: table_cell(t, "%.3f", sum->ns / (double)sum->n * 1e-3); break;
	case READINGS: table_counts(t, s->source->samples); break;
	case GAPS: table_counts(t, s->source->gaps); break;
	case MEAN: si_cell(t, f->watt, f->watt_half, "W"); break;
	case ENERGY: si_cell(t, f->joule, f->joule_half, "J"); break;
	/* each may err by as much as the sum does in parts */
	case MEAN_ENERGY: si_cell(t, f->joule / n, f->joule_half / n, "J"); break;
	case LEAST: joule_cell(s, t, &row->least); break;
	case MOST: joule_cell(s, t, &row->most); break;
	case PEAK: si_cell(t, sum->peak_w, NO_HALF, "W"); break;
	case PEAK_AT: table_time(t, true, sum->peak_at); break;
	case COVERED: table_cell(t, "%.2f %%", 100 * f->covered); break;
	}
}

static void rows(const struct power_view *v)
{
	const struct cvl_power_result *r = v->result;
	const struct column *column = columns[r->of];
	char align[sizeof(columns[0]) / sizeof(columns[0][0]) + 1] = { 0 };
	size_t n = 0;
	struct table t;

	for (; column[n].head; n++)
		align[n] = column[n].what <= LEVEL ? 'l' : 'r';
	table_init(&t, n);
	for (size_t i = 0; i < n; i++)
		table_cell(&t, "%s", column[i].head);
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct cvl_power_row *row = &r->row[i];
		const struct shown s = { row, &r->source[row->source],
					 figures_of(v, row->source, &row->sum) };

		for (size_t k = 0; k < n; k++)
			cell(v, &t, &s, column[k].what);
	}
	table_print(&t, v->out, align, "  ");
}

static void left_out(const struct power_view *v)
{
	const struct cvl_power_result *r = v->result;
	uint64_t unsampled = 0, unpaired = 0, out_of_range = 0, gaps = 0;

	for (size_t i = 0; i < r->n_rows; i++)
		unsampled += r->row[i].sum.n - r->row[i].sum.sampled;
	for (size_t i = 0; i < r->n_sources; i++) {
		unpaired += r->source[i].unpaired;
		out_of_range += r->source[i].out_of_range;
		gaps += r->source[i].gaps;
	}
	const struct {
		uint64_t n;
		const char *what;
	} lines[] = {
		{ r->left.unfinished, "began, and no end was seen" },
		{ r->left.unbegun, "ended, and no begin was seen" },
		{ r->left.again, "began once more before the end: the first begin holds" },
		{ r->left.cut, "left out: marks were lost within" },
		{ unsampled, "without a reading within, or at an unknown time: not in the energy" },
		{ unpaired, "readings of current or volts alone: left out" },
		{ out_of_range, "readings beyond 1e+15 W or V, or no numbers: left out" },
	};
	for (unsigned i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (lines[i].n)
			cvl_out_printf(v->out, "%llu %s\n", (unsigned long long)lines[i].n,
				       lines[i].what);
	if (gaps)
		cli_count(v->out, "", gaps, "gap", " in the readings: their energy is in no sum\n");
}

void power_view_text(struct power_view *v)
{
	const struct cvl_power_opts *o = &v->opts;

	if (v->listed)
		cvl_out_char(v->out, '\n');
	cvl_out_printf(v->out, "%s: power of %s", cvl_session_path(v->session),
		       o->watts ? o->watts : o->amperes);
	if (o->amperes && o->volts)
		cvl_out_printf(v->out, " x %s", o->volts);
	else if (o->amperes)
		cvl_out_printf(v->out, " x %g V", o->fixed_volts);
	if (v->result->of == CVL_POWER_BETWEEN)
		cvl_out_printf(v->out, ", %s", v->points);
	cvl_out_text(v->out, "\n\n");
	rows(v);
	cvl_out_char(v->out, '\n');
	left_out(v);
	if (!(o->rounded > 0))
		cvl_out_text(
			v->out,
			"what readings are rounded to is not known (--rounded): not in the bounds\n");
	if (!cvl_timeline_sync(v->tl))
		cvl_out_text(
			v->out,
			"not synchronised: durations by each clock's nominal rate and how far that can be off\n");
}

/* ---- JSON ---- */

static void put_row(struct power_view *v, const struct cvl_power_row *row)
{
	const struct cvl_power_source *source = &v->result->source[row->source];
	struct js *j = &v->js;

	js_open(j, NULL, '{');
	put_figures(v, row->source, &row->sum);
	put_names(v, row->source, row->clock, row->high);
	js_counts(j, "times sampled", row->sum.n, row->sum.sampled);
	js_real(j, "seconds", row->sum.ns * 1e-9);
	js_counts(j, "readings gaps unpaired alone out_of_range senseless", source->samples,
		  source->gaps, source->unpaired, source->unpaired, source->out_of_range,
		  source->out_of_range);
	js_open(j, "least", '{');
	put_figures(v, row->source, &row->least);
	js_close(j, '}');
	js_open(j, "most", '{');
	put_figures(v, row->source, &row->most);
	js_close(j, '}');
	js_close(j, '}');
}

void power_view_json(struct power_view *v)
{
	const struct cvl_power_left *l = &v->result->left;
	struct js *j = &v->js;

	begin_json(v);
	if (v->each)
		js_close(j, ']');
	js_text(j, "session", cvl_session_path(v->session));
	js_open(j, "left_out", '{');
	js_counts(j, "unfinished unbegun again cut", l->unfinished, l->unbegun, l->again, l->cut);
	js_close(j, '}');
	js_open(j, "rows", '[');
	for (size_t i = 0; i < v->result->n_rows; i++)
		put_row(v, &v->result->row[i]);
	js_close(j, ']');
	js_end(j);
}
