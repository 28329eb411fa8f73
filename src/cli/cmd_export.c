/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "json.h"
#include "output.h"

#include <coeval/format.h>
#include <coeval/summary.h>

#include <string.h>

static int write_to(const struct cvl_exporter *exporter, struct cvl_timeline *tl, const char *value,
		    const char *path, struct cvl_error *err)
{
	return value ? exporter->write_as(tl, value, path, err) : exporter->write(tl, path, err);
}

static int export_to(const struct cvl_exporter *exporter, struct cvl_timeline *tl,
		     const char *value, const char *path, struct cvl_error *err)
{
	struct output output;
	int rc;

	if (!strcmp(exporter->name, "null")) /* writes nothing */
		return exporter->write(tl, NULL, err);
	rc = output_begin(&output, path, !exporter->suffix[0], err);
	if (rc)
		return rc;
	return output_end(&output, write_to(exporter, tl, value, output_path(&output), err), err);
}

/* Most formats cannot express it. */
static void warn_of_ambiguous(const struct cvl_sync *sync)
{
	for (size_t i = 0; sync && i < sync->n; i++)
		if (sync->clock[i].verdict == CVL_AMBIGUOUS)
			fprintf(stderr,
				"coeval: warning: %s is ambiguous: its times may be off by whole periods against those of other "
				"clocks (`coeval info`)\n",
				sync->clock[i].clock);
}

struct request {
	struct cvl_timeline_opts opts;
	const char *to, *output, *table, *version;
	bool json;
};

#define AT(member) offsetof(struct request, member)

static const char *format_name(size_t i)
{
	return cvl_exporters[i] ? cvl_exporters[i]->name : NULL;
}

static bool format(size_t i, struct verb_member *m)
{
	const struct cvl_exporter *e = cvl_exporters[i];

	if (e)
		*m = (struct verb_member){ e->name, e->what, e->options };
	return e;
}

static const struct verb_members formats = { "Formats (--to)", format };

static const struct cli_option options[] = {
	{ "to", 0, "FORMAT", OPTION_WORD, AT(to), "the format", .word = format_name, .must = true },
	{ "output", 'o', "OUT", OPTION_FILE, AT(output),
	  "the file, or the directory of ctf and parquet (default: standard output)" },
	{ "table", 0, "NAME", OPTION_TEXT, AT(table),
	  "of arrow and parquet: this table alone (docs/tables.md)" },
	{ "ctf-version", 0, "VERSION", OPTION_TEXT, AT(version), "of ctf: 1.8 (default) or 2" },
	RANGE_OPTIONS(AT(opts)),
	NOMINAL_OPTION(AT(opts.nominal)),
	STRICT_OPTION(AT(opts.strict)),
	{ "json", 0, NULL, OPTION_FLAG, AT(json), "what was written, counted, as JSON; needs -o" },
	{ 0 },
};

/* Count the records on the timeline in a separate pass, on request. */
struct written {
	const char *format, *path;
	const struct cvl_summary *sum;
};

static void put_written(struct cvl_out *o, const void *written)
{
	const struct written *w = written;
	struct js j = js_begin(o);

	js_texts(&j, "session format output", cvl_session_path(w->sum->session), w->format,
		 w->path);
	js_counts(&j, "records gaps", w->sum->records, w->sum->gaps);
	js_open(&j, "clocks", '[');
	for (size_t i = 0; i < w->sum->n_clocks; i++) {
		const struct cvl_summary_clock *c = &w->sum->clock[i];

		if (!c->any)
			continue;
		js_open(&j, NULL, '{');
		js_texts(&j, "clock verdict", c->clock->name,
			 c->sync ? cvl_verdict_name(c->sync->verdict) : NULL);
		js_counts(&j, "records gaps lost", c->records, c->gaps, c->lost);
		js_ints(&j, "from_ns to_ns", c->first.ns, c->last.ns);
		js_close(&j, '}');
	}
	js_close(&j, ']');
	js_end(&j);
}

static int tell(const struct request *r, struct cvl_timeline *tl, struct cvl_error *err)
{
	struct written w = { .format = r->to, .path = r->output };
	struct cvl_analysis *a = NULL;
	int rc = cvl_timeline_rewind(tl, err);

	if (!rc)
		rc = cvl_summary_open(&a, tl, err);
	if (!rc)
		rc = cvl_analyse(tl, &a, 1, err);
	if (!rc) {
		w.sum = cvl_summary_result(a);
		rc = output_print(put_written, &w, err);
	}
	cvl_analysis_free(a);
	return rc;
}

static bool takes(const struct cvl_exporter *e, const char *option)
{
	return e->options && !strcmp(e->options->name, option);
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { 0 };
	struct operands operands;
	struct cvl_timeline *tl = NULL;
	struct cvl_session *session;
	struct problems problems;
	struct progress progress;
	struct cvl_error err;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	if (r.json && strcmp(r.to, "null") != 0 && (!r.output || !strcmp(r.output, "-")))
		return cli_usage(verb, "--json needs -o OUT: standard output has the JSON");
	if (r.table && !takes(cvl_exporter_find(r.to), "table"))
		return cli_usage(verb, "--table: %s has no tables; arrow and parquet do", r.to);
	if (r.version && !takes(cvl_exporter_find(r.to), "ctf-version"))
		return cli_usage(verb, "--ctf-version: %s is not CTF", r.to);
	problems_init(&problems);
	progress_init(&progress, "exporting");
	r.opts.report = &problems.report;
	r.opts.progress = (struct cvl_progress){ progress_show, &progress };
	rc = cvl_session_open(&session, operands.v[0], &problems.report, &err);
	if (rc)
		return cli_fail(&err);
	rc = cvl_timeline_open(&tl, session, &r.opts, &err);
	if (!rc) {
		warn_of_ambiguous(cvl_timeline_sync(tl));
		rc = export_to(cvl_exporter_find(r.to), tl, r.table ? r.table : r.version, r.output,
			       &err);
	}
	if (!rc && r.json)
		rc = tell(&r, tl, &err);
	progress_clear(&progress);
	cvl_timeline_close(tl);
	cvl_session_close(session);
	return cli_end(rc, &err, &problems);
}

const struct verb verb_export = {
	.name = "export",
	.group = VERB_LOOK,
	.what = "write the timeline for other tools",
	.operands = "SESSION",
	.options = options,
	.members = &formats,
	.notes =
		"Gaps stay visible: as x and a wire called gap in VCD and FST, rows in CSV, events in CTF, slices in Perfetto. The files of Grace, FlockLab and ett-text cannot hold them: the number left out is printed. An unknown level is x in VCD and FST, and an empty cell in CSV. Parquet has a file gaps, and each table of it and of arrow tells how many there are.\n"
		"\n"
		"OUT gets its name when it is complete: after a failure or a signal, what was there before is still there.\n",
	.examples = "  coeval export s/ --to vcd -o out.vcd\n",
	.run = run,
};
