/* SPDX-License-Identifier: MIT */
#include "power_view.h"
#include "clocks_print.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static const char *clock_name(const struct power_view *v, size_t clock)
{
	return cvl_session_clock(v->session, clock)->name;
}

static struct power_figures figures_of(const struct power_view *v, size_t source,
				       const struct power_sum *sum)
{
	return power_figures(sum,
			     v->opts.rounded * v->opts.unit * v->result.source[source].most_volts);
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

static void time_cell(struct table *t, struct cvl_time at)
{
	char text[CVL_TIME_TEXT];

	cvl_time_text(text, at);
	table_cell(t, "%s", text);
}

/* ---- intervals as they come ---- */

static struct power_row *row_of(struct power_view *v, const struct power_span *span)
{
	struct power_row *row;

	for (size_t i = 0; i < v->n_rows; i++)
		if (v->row[i].source == span->source && v->row[i].clock == span->clock &&
		    v->row[i].high == span->high)
			return &v->row[i];
	row = reallocarray(v->row, v->n_rows + 1, sizeof(*row));
	if (!row)
		return NULL;
	v->row = row;
	row[v->n_rows] = (struct power_row){ .source = span->source,
					     .clock = span->clock,
					     .high = span->high };
	return &row[v->n_rows++];
}

static json_t *figures_json(const struct power_view *v, size_t source, const struct power_sum *sum)
{
	struct power_figures f = figures_of(v, source, sum);
	json_t *j;

	if (!sum->sampled || !isfinite(f.joule + f.joule_half + f.watt + f.watt_half))
		return json_pack("{s:n, s:n, s:n, s:n, s:f}", "joule", "watt", "peak_watt",
				 "peak_ns", "covered", 0.0);
	j = json_pack("{s:{s:f, s:f, s:f}, s:{s:f, s:f, s:f}}", "joule", "value", f.joule, "low",
		      f.joule - f.joule_half, "high", f.joule + f.joule_half, "watt", "value",
		      f.watt, "low", f.watt - f.watt_half, "high", f.watt + f.watt_half);
	json_object_set_new(j, "peak_watt", json_real(sum->peak_w));
	json_object_set_new(j, "peak_ns", json_integer(sum->peak_at.ns));
	json_object_set_new(j, "covered", json_real(f.covered));
	return j;
}

/* Where it was read, and what marks it. */
static void set_names(const struct power_view *v, json_t *j, size_t source, size_t clock, bool high)
{
	size_t read = v->result.source[source].clock;

	json_object_set_new(j, "clock", json_string(clock_name(v, read)));
	json_object_set_new(j, "node", json_string(cvl_session_clock(v->session, read)->node));
	if (v->opts.how == POWER_WHOLE)
		return;
	json_object_set_new(j, "marked_on", json_string(clock_name(v, clock)));
	if (v->opts.how == POWER_STATES) {
		json_object_set_new(j, "line", json_string(v->opts.from.name));
		json_object_set_new(j, "level", json_integer(high));
	} else {
		json_object_set_new(j, "between", json_string(v->points));
	}
}

static void put_json(struct cvl_out *o, json_t *j)
{
	char *text = json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY);

	if (text)
		cvl_out_text(o, text);
	free(text);
	json_decref(j);
}

static void list_json(struct power_view *v, const struct power_span *span,
		      const struct power_sum *sum)
{
	json_t *j = figures_json(v, span->source, sum);

	set_names(v, j, span->source, span->clock, span->high);
	json_object_set_new(j, "begin_ns", json_integer(span->begin.ns));
	json_object_set_new(j, "end_ns", json_integer(span->end.ns));
	json_object_set_new(j, "duration_bound_ns",
			    span->bound == CVL_BOUND_UNKNOWN ? json_null() :
							       json_integer(span->bound));
	json_object_set_new(j, "readings", json_integer(span->energy.samples));
	json_object_set_new(j, "gaps", json_integer(span->gaps));
	cvl_out_text(v->out, v->listed ? ",\n" : "{\"intervals\":[\n");
	put_json(v->out, j);
}

static void list_text(struct power_view *v, const struct power_span *span,
		      const struct power_sum *sum)
{
	struct power_figures f = figures_of(v, span->source, sum);
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
		       clock_name(v, v->result.source[span->source].clock),
		       v->opts.how == POWER_STATES ? span->high ? " high" : " low" : "",
		       span->gaps ? " gap" : "");
}

int power_view_put(void *view, const struct power_span *span)
{
	struct power_view *v = view;
	struct power_row *row = row_of(v, span);
	struct power_sum one = { 0 };

	if (!row)
		return CVL_E_NOMEM;
	power_sum_add(&one, span);
	power_sum_add(&row->sum, span);
	if (one.sampled && (!row->least.n || one.energy.joule < row->least.energy.joule))
		row->least = one;
	if (one.sampled && (!row->most.n || one.energy.joule > row->most.energy.joule))
		row->most = one;
	if (!v->each)
		return 0;
	if (v->json)
		list_json(v, span, &one);
	else
		list_text(v, span, &one);
	v->listed++;
	return 0;
}

/* ---- tables ---- */

static void covered_cell(struct table *t, const struct power_sum *sum, double covered)
{
	if (!sum->sampled)
		table_cell(t, "-");
	else
		table_cell(t, "%.2f %%", 100 * covered);
}

static void common_cells(const struct power_view *v, struct table *t, const struct power_row *row)
{
	const struct power_sum *sum = &row->sum;
	struct power_figures f = figures_of(v, row->source, sum);

	table_cell(t, "%.6f", sum->ns * 1e-9);
	if (!sum->sampled) {
		for (unsigned i = 0; i < 3; i++)
			table_cell(t, "-");
		return;
	}
	si_cell(t, f.watt, f.watt_half, "W");
	si_cell(t, f.joule, f.joule_half, "J");
	si_cell(t, sum->peak_w, NO_HALF, "W");
}

static void whole(const struct power_view *v)
{
	static const char *const heads[] = { "clock",    "node", "time s", "mean",
					     "energy",   "peak", "at s",   "covered",
					     "readings", "gaps", NULL };
	struct table t;

	table_init(&t, 10);
	table_heads(&t, heads);
	for (size_t i = 0; i < v->n_rows; i++) {
		const struct power_row *row = &v->row[i];
		const struct power_source *source = &v->result.source[row->source];

		table_cell(&t, "%s", clock_name(v, source->clock));
		table_cell(&t, "%s", cvl_session_clock(v->session, source->clock)->node);
		common_cells(v, &t, row);
		if (row->sum.sampled)
			time_cell(&t, row->sum.peak_at);
		else
			table_cell(&t, "-");
		covered_cell(&t, &row->sum, figures_of(v, row->source, &row->sum).covered);
		table_cell(&t, "%llu", (unsigned long long)source->samples);
		table_cell(&t, "%llu", (unsigned long long)source->gaps);
	}
	table_print(&t, v->out, "llrrrrrrrr", "  ");
}

/* Whose marks they are, and on which clock the power was read. */
static void mark_cells(const struct power_view *v, struct table *t, const struct power_row *row)
{
	table_cell(t, "%s", cvl_session_clock(v->session, row->clock)->node);
	table_cell(t, "%s", clock_name(v, v->result.source[row->source].clock));
}

static void states(const struct power_view *v)
{
	static const char *const heads[] = { "node",   "read by", "line",    "level",
					     "times",  "sampled", "time s",  "mean",
					     "energy", "peak",    "covered", NULL };
	struct table t;

	table_init(&t, 11);
	table_heads(&t, heads);
	for (size_t i = 0; i < v->n_rows; i++) {
		const struct power_row *row = &v->row[i];

		mark_cells(v, &t, row);
		table_cell(&t, "%s", v->opts.from.name);
		table_cell(&t, "%s", row->high ? "high" : "low");
		table_cell(&t, "%llu", (unsigned long long)row->sum.n);
		table_cell(&t, "%llu", (unsigned long long)row->sum.sampled);
		common_cells(v, &t, row);
		covered_cell(&t, &row->sum, figures_of(v, row->source, &row->sum).covered);
	}
	table_print(&t, v->out, "llllrrrrrrr", "  ");
}

static void joule_cell(const struct power_view *v, struct table *t, size_t source,
		       const struct power_sum *sum)
{
	struct power_figures f = figures_of(v, source, sum);

	si_cell(t, f.joule, f.joule_half, "J");
}

/* The mean of all, each of which may err by as much as the sum does in parts. */
static void between(const struct power_view *v)
{
	static const char *const heads[] = { "node",       "read by",     "times",   "sampled",
					     "mean us",    "mean energy", "least",   "most",
					     "mean power", "peak",        "covered", NULL };
	struct table t;

	table_init(&t, 11);
	table_heads(&t, heads);
	for (size_t i = 0; i < v->n_rows; i++) {
		const struct power_row *row = &v->row[i];
		const struct power_sum *sum = &row->sum;
		struct power_figures f = figures_of(v, row->source, sum);
		double n = (double)sum->sampled;

		mark_cells(v, &t, row);
		table_cell(&t, "%llu", (unsigned long long)sum->n);
		table_cell(&t, "%llu", (unsigned long long)sum->sampled);
		table_cell(&t, "%.3f", sum->ns / (double)sum->n * 1e-3);
		for (unsigned k = 0; k < 5 && !sum->sampled; k++)
			table_cell(&t, "-");
		if (sum->sampled) {
			si_cell(&t, f.joule / n, f.joule_half / n, "J");
			joule_cell(v, &t, row->source, &row->least);
			joule_cell(v, &t, row->source, &row->most);
			si_cell(&t, f.watt, f.watt_half, "W");
			si_cell(&t, sum->peak_w, NO_HALF, "W");
		}
		covered_cell(&t, sum, f.covered);
	}
	table_print(&t, v->out, "llrrrrrrrrr", "  ");
}

static void left_out(const struct power_view *v)
{
	const struct power_left *l = &v->result.left;
	const struct {
		uint64_t n;
		const char *what;
	} lines[] = {
		{ l->unfinished, "began, and no end was seen" },
		{ l->unbegun, "ended, and no begin was seen" },
		{ l->again, "began once more before the end: the first begin holds" },
		{ l->cut, "left out: marks were lost within" },
	};
	uint64_t unsampled = 0, unlike = 0, senseless = 0, gaps = 0;

	for (size_t i = 0; i < v->n_rows; i++)
		unsampled += v->row[i].sum.n - v->row[i].sum.sampled;
	for (size_t i = 0; i < v->result.n_sources; i++) {
		unlike += v->result.source[i].unlike;
		senseless += v->result.source[i].senseless;
		gaps += v->result.source[i].gaps;
	}
	for (unsigned i = 0; i < 4; i++)
		if (lines[i].n)
			cvl_out_printf(v->out, "%llu %s\n", (unsigned long long)lines[i].n,
				       lines[i].what);
	if (unsampled)
		cvl_out_printf(
			v->out,
			"%llu without a reading within, or at an unknown time: not in the energy\n",
			(unsigned long long)unsampled);
	if (unlike)
		cvl_out_printf(v->out, "%llu readings of current or volts alone: left out\n",
			       (unsigned long long)unlike);
	if (senseless)
		cvl_out_printf(v->out,
			       "%llu readings beyond %.0e W or V, or no numbers: left out\n",
			       (unsigned long long)senseless, POWER_MOST);
	if (gaps) {
		cli_count(v->out, gaps, "gap");
		cvl_out_text(v->out, " in the readings: their energy is in no sum\n");
	}
}

void power_view_text(struct power_view *v)
{
	const struct power_opts *o = &v->opts;

	if (v->listed)
		cvl_out_char(v->out, '\n');
	cvl_out_printf(v->out, "%s: power of %s", cvl_session_path(v->session),
		       o->watts ? o->watts : o->amperes);
	if (o->amperes && o->volts)
		cvl_out_printf(v->out, " x %s", o->volts);
	else if (o->amperes)
		cvl_out_printf(v->out, " x %g V", o->fixed_volts);
	if (o->how == POWER_BETWEEN)
		cvl_out_printf(v->out, ", %s", v->points);
	cvl_out_text(v->out, "\n\n");
	switch (o->how) {
	case POWER_WHOLE: whole(v); break;
	case POWER_STATES: states(v); break;
	case POWER_BETWEEN: between(v); break;
	}
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

void power_view_json(struct power_view *v)
{
	const struct power_left *l = &v->result.left;
	json_t *rows = json_array(), *left;

	for (size_t i = 0; i < v->n_rows; i++) {
		const struct power_row *row = &v->row[i];
		const struct power_source *source = &v->result.source[row->source];
		json_t *j = figures_json(v, row->source, &row->sum);

		set_names(v, j, row->source, row->clock, row->high);
		json_object_set_new(j, "times", json_integer((json_int_t)row->sum.n));
		json_object_set_new(j, "sampled", json_integer((json_int_t)row->sum.sampled));
		json_object_set_new(j, "seconds", json_real(row->sum.ns * 1e-9));
		json_object_set_new(j, "readings", json_integer((json_int_t)source->samples));
		json_object_set_new(j, "gaps", json_integer((json_int_t)source->gaps));
		json_object_set_new(j, "alone", json_integer((json_int_t)source->unlike));
		json_object_set_new(j, "senseless", json_integer((json_int_t)source->senseless));
		json_object_set_new(j, "least", figures_json(v, row->source, &row->least));
		json_object_set_new(j, "most", figures_json(v, row->source, &row->most));
		json_array_append_new(rows, j);
	}
	left = json_pack("{s:I, s:I, s:I, s:I}", "unfinished", (json_int_t)l->unfinished, "unbegun",
			 (json_int_t)l->unbegun, "again", (json_int_t)l->again, "cut",
			 (json_int_t)l->cut);
	if (v->each)
		cvl_out_text(v->out, v->listed ? "\n],\n" : "{\"intervals\":[],\n");
	else
		cvl_out_char(v->out, '{');
	cvl_out_text(v->out, "\"session\":");
	put_json(v->out, report_text(cvl_session_path(v->session)));
	cvl_out_text(v->out, ",\"left_out\":");
	put_json(v->out, left);
	cvl_out_text(v->out, ",\"rows\":");
	put_json(v->out, rows);
	cvl_out_text(v->out, "}\n");
}
