/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls/view.h"
#include "sync/rules_json.h"

/* Of each kind that is kept: for the critical path, or to be drawn. */
#define KEPT 65536
#define DRAWN 200000

struct request {
	struct cvl_timeline_opts opts;
	struct calls_rules rules;
	struct calls_names names;
	struct rule_set match;
	struct symbols *symbols;
	uint64_t loaded; /* where the program was, beside the addresses in its file */
	char *elf;
	const char *rules_file, *names_file, *program; /* as they were given */
	const char *matches[CVL_RULES_MAX];
	size_t n_matches;
	const char *session, *chosen, *svg, *html;
	unsigned top;
	bool json, folded;
};

/* ---- the sink ---- */

struct sink {
	struct calls_view *v;
	struct cvl_error *err;
	int rc;
};

static void no_memory(struct sink *s)
{
	s->rc = cvl_no_memory(s->err);
}

static void see_span(void *ctx, const struct calls_span *span)
{
	struct sink *s = ctx;

	calls_kept_span(&s->v->kept, span);
	if (calls_find_span(s->v->find, span))
		no_memory(s);
}

static void see_slice(void *ctx, const struct calls_slice *slice)
{
	calls_kept_slice(&((struct sink *)ctx)->v->kept, slice);
}

static void see_away(void *ctx, const struct calls_away *away)
{
	struct sink *s = ctx;

	calls_kept_away(&s->v->kept, away);
	if (calls_find_away(s->v->find, away))
		no_memory(s);
}

static void see_message(void *ctx, const struct calls_message *m)
{
	struct sink *s = ctx;

	calls_kept_message(&s->v->kept, m);
	if (calls_find_message(s->v->find, m))
		no_memory(s);
}

static void see_gap(void *ctx, const struct calls_gap *gap)
{
	calls_kept_gap(&((struct sink *)ctx)->v->kept, gap);
}

/* ---- the study ---- */

/* The longest of those asked for; if none is, the longest that is in no other. Of those that are equal the first to end. */
static const struct calls_span *choose(const struct calls_view *v, const char *glob)
{
	const struct calls_span *best = NULL;
	bool best_whole = false;

	for (size_t i = 0; i < v->kept.spans.n; i++) {
		const struct calls_span *s = &v->kept.span[i];
		bool whole = !s->marks;

		if (glob ? fnmatch(glob, calls_read_function(v->r, s->function), 0) != 0 :
			   s->depth > calls_thread(v->c, s->thread)->depth_min)
			continue;
		if (best && (whole != best_whole ?
				     !whole :
				     s->end.ns - s->begin.ns <= best->end.ns - best->begin.ns))
			continue;
		best = s;
		best_whole = whole;
	}
	return best;
}

/* A program that none of the addresses lies in is another one, or was somewhere else in memory. */
static void check_program(const struct calls_view *v, const struct request *r)
{
	struct cvl_error problem;
	uint64_t first;

	if (calls_read_known_addresses(v->r, &first))
		return;
	cvl_fail(
		&problem, CVL_E_MISMATCH, CVL_NO_OFFSET,
		"%s: no address of the trace lies in its code (0x%llx is the first): is it the program that ran? One that is position-independent is "
		"loaded somewhere else each time: --elf FILE@ADDRESS, with the address of its first mapping",
		r->elf, (unsigned long long)first);
	cvl_tell(cvl_timeline_report(v->tl), &problem);
}

static int conclude(struct calls_view *v, const struct request *r, struct cvl_error *err)
{
	struct calls_time first, last;
	int rc = 0;

	if (r->symbols)
		check_program(v, r);
	calls_read_range(v->r, &first, &last);
	v->finding = calls_find_all(v->find, last.ns - first.ns, &v->n_findings);
	if (v->kept.no_memory || (!v->finding && v->n_findings) || calls_view_group(v))
		return cvl_no_memory(err);
	v->chosen = choose(v, r->chosen);
	if (r->chosen && !v->chosen)
		return cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
				"%s: --path %s: no function is called so", r->session, r->chosen);
	if (v->chosen)
		rc = calls_path_find(&v->critical, &v->kept, v->chosen->thread, v->chosen->begin,
				     v->chosen->end);
	return rc ? cvl_no_memory(err) : 0;
}

static int print(const struct calls_view *v, const struct request *r, struct cvl_error *err)
{
	struct cvl_out *o = malloc(sizeof(*o));
	int rc = 0;

	if (!o)
		return cvl_no_memory(err);
	if (r->svg)
		rc = calls_view_svg(v, r->svg, err);
	if (!rc && r->html)
		rc = calls_view_page(v, r->html, err);
	cvl_out_init(o, STDOUT_FILENO, "standard output");
	if (!rc && r->json)
		calls_view_json(v, o);
	else if (!rc && r->folded)
		calls_view_folded(v, o);
	else if (!rc)
		calls_view_text(v, o);
	rc = rc ? rc : cvl_out_flush(o, err);
	free(o);
	return rc;
}

static int study(struct request *r, struct calls_view *v, struct cvl_error *err)
{
	struct sink sink = { v, err, 0 };
	const struct calls_sink told = {
		see_span, see_slice, see_away, see_message, see_gap, &sink
	};
	const struct calls_read_opts opts = { &r->rules, &r->match, &r->names, r->symbols,
					      r->loaded };
	struct cvl_slice slice;
	const struct cvl_sync *sync = cvl_timeline_sync(v->tl);
	const size_t given = r->match.n;
	int rc = sync ? rules_recall(&r->match, sync->settings, err) : 0;

	/* exchanges that only tie clocks are nobody's messages, unless they are asked for */
	rules_drop(&r->match, given, "tracer");
	if (!rc)
		rc = calls_read_open(&v->r, v->tl, &opts, &told, err);
	if (rc)
		return rc;
	v->c = calls_read_calls(v->r);
	while (!rc && (rc = cvl_timeline_next(v->tl, &slice, err)) > 0) {
		rc = calls_read_push(v->r, &slice, err);
		rc = rc ? rc : sink.rc;
	}
	if (!rc)
		rc = calls_read_end(v->r, err);
	rc = rc ? rc : sink.rc;
	progress_clear(r->opts.progress.ctx);
	return rc ? rc : conclude(v, r, err);
}

static int calls(void *request, struct cvl_session *session, struct cvl_error *err)
{
	struct request *r = request;
	struct calls_view v = { .path = r->session, .match = &r->match, .top = r->top };
	int rc = calls_rules_builtin(&r->rules, err);

	if (rc)
		return rc;

	calls_kept_init(&v.kept, r->html ? DRAWN : KEPT);
	v.find = calls_find_new();
	rc = v.find ? cvl_timeline_open(&v.tl, session, &r->opts, err) : cvl_no_memory(err);
	if (!rc)
		rc = study(r, &v, err);
	if (!rc)
		rc = print(&v, r, err);
	calls_view_free_groups(&v);
	calls_path_free(&v.critical);
	free(v.finding);
	calls_find_free(v.find);
	calls_kept_free(&v.kept);
	calls_read_close(v.r);
	cvl_timeline_close(v.tl);
	return rc;
}

/* ---- the command line ---- */

static int print_rules(void)
{
	fputs(calls_rules_text(), stdout);
	return cli_flush();
}

/* FILE, or FILE@ADDRESS. */
static int open_program(struct request *r, const char *text, struct cvl_error *err)
{
	char *at, *end;

	r->elf = strdup(text);
	if (!r->elf)
		return cvl_no_memory(err);
	at = strrchr(r->elf, '@');
	if (at && !strncmp(at, "@0x", 3)) {
		r->loaded = strtoull(at + 1, &end, 16);
		if (!*end)
			*at = '\0';
		else
			r->loaded = 0; /* part of its name */
	}
	return symbols_open(&r->symbols, r->elf, err);
}

/* Read the files that were named. */
static int load(struct request *r, struct cvl_error *err)
{
	int rc = r->rules_file ? calls_rules_load(&r->rules, r->rules_file, err) : 0;

	if (!rc && r->names_file)
		rc = calls_names_load(&r->names, r->names_file, err);
	if (!rc && r->program)
		rc = open_program(r, r->program, err);
	for (size_t i = 0; i < r->n_matches && !rc; i++)
		rc = rules_add(&r->match, r->matches[i], err);
	return rc;
}

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "rules", 0, "FILE", OPTION_FILE, AT(rules_file),
	  "events that are begins, ends and switches (YAML); \"help\" prints those built in" },
	{ "names", 0, "FILE", OPTION_FILE, AT(names_file),
	  "names of addresses and numbers: lines `ADDRESS NAME`, as nm prints them" },
	{ "elf", 0, "FILE[@ADDRESS]", OPTION_FILE, AT(program),
	  "names of addresses from this program, which was loaded at ADDRESS (0x...)" },
	{ "match", 0, "RULE", OPTION_FILE, OPTION_MANY(struct request, matches, n_matches),
	  .what = "messages by this rule or file of rules too, besides those of the synchronisation; may be repeated" },
	{ "path", 0, "GLOB", OPTION_TEXT, AT(chosen),
	  "critical path of the longest span of this name (default: of the longest of all)" },
	RANGE_OPTIONS(AT(opts)),
	{ .kind = OPTION_HEADING, .what = "Output" },
	{ "top", 0, "N", OPTION_NUMBER, AT(top), "rows of each table (default: 30)", 1, 1000000 },
	{ "folded", 0, NULL, OPTION_FLAG, AT(folded),
	  "folded stacks, with self times in ns, instead of tables" },
	{ "svg", 0, "FILE", OPTION_FILE, AT(svg), "also write a flame graph" },
	{ "html", 0, "FILE", OPTION_FILE, AT(html),
	  "also write a page of all lanes for a browser" },
	JSON_OPTION(AT(json)),
	NOMINAL_OPTION(AT(opts.nominal)),
	STRICT_OPTION(AT(opts.strict)),
	{ 0 },
};

static void forget(struct request *r)
{
	calls_rules_free(&r->rules);
	calls_names_free(&r->names);
	rules_free(&r->match);
	symbols_close(r->symbols);
	free(r->elf);
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .top = 30 };
	struct operands operands;
	struct cvl_error err;
	int status;

	/* the only question that needs no session */
	if (argc == 3 && !strcmp(argv[1], "--rules") && !strcmp(argv[2], "help"))
		return print_rules();
	status = options_read(verb, &r, argc, argv, &operands);
	if (status < 0 && r.json && r.folded)
		status = cli_usage(verb, "--json or --folded: one of them");
	if (status < 0 && load(&r, &err))
		status = cli_fail(&err);
	if (status < 0) {
		r.session = operands.v[0];
		status = cli_study(r.session, "reading", &r.opts, calls, &r);
	}
	forget(&r);
	return status;
}

const struct verb verb_calls = {
	.name = "calls",
	.group = VERB_ASK,
	.what = "call stacks of all cores: where time went, who waited for whom",
	.operands = "SESSION|TRACE",
	.options = options,
	.examples = "  coeval calls s/ --html calls.html\n",
	.run = run,
};
