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

enum {
	OPT_RULES = 256,
	OPT_NAMES,
	OPT_ELF,
	OPT_MATCH,
	OPT_PATH,
	OPT_TOP,
	OPT_FROM,
	OPT_TO,
	OPT_NODE,
	OPT_FOLDED,
	OPT_SVG,
	OPT_HTML,
	OPT_NOMINAL,
	OPT_JSON,
	OPT_STRICT
};

static const struct option options[] = {
	{ "rules", required_argument, NULL, OPT_RULES },
	{ "names", required_argument, NULL, OPT_NAMES },
	{ "elf", required_argument, NULL, OPT_ELF },
	{ "match", required_argument, NULL, OPT_MATCH },
	{ "path", required_argument, NULL, OPT_PATH },
	{ "top", required_argument, NULL, OPT_TOP },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "to", required_argument, NULL, OPT_TO },
	{ "node", required_argument, NULL, OPT_NODE },
	{ "folded", no_argument, NULL, OPT_FOLDED },
	{ "svg", required_argument, NULL, OPT_SVG },
	{ "html", required_argument, NULL, OPT_HTML },
	{ "nominal", no_argument, NULL, OPT_NOMINAL },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "strict", no_argument, NULL, OPT_STRICT },
	CLI_HELP_OPTION,
	{ 0 },
};

struct request {
	struct cvl_timeline_opts opts;
	struct calls_rules rules;
	struct calls_names names;
	struct rule_set match;
	struct symbols *symbols;
	uint64_t loaded; /* where the program was, beside the addresses in its file */
	char *elf;
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

/* One option; an exit status, or -1 if there is nothing to say. @rc: of what failed in the library. */
static int option(int c, struct request *r, const struct verb *verb, int *rc, struct cvl_error *err)
{
	switch (c) {
	case OPT_RULES:
		if (!strcmp(optarg, "help"))
			return print_rules();
		*rc = calls_rules_load(&r->rules, optarg, err);
		break;
	case OPT_NAMES: *rc = calls_names_load(&r->names, optarg, err); break;
	case OPT_ELF:
		if (r->elf)
			return cli_usage(verb, "--elf twice");
		*rc = open_program(r, optarg, err);
		break;
	case OPT_MATCH: *rc = rules_add(&r->match, optarg, err); break;
	case OPT_PATH: r->chosen = optarg; break;
	case OPT_TOP: c = cli_number(verb, "--top", optarg, 1000000, &r->top); return c ? c : -1;
	case OPT_FROM:
		r->opts.has_from = true;
		c = cli_duration(verb, "--from", optarg, &r->opts.from.ns);
		return c ? c : -1;
	case OPT_TO:
		r->opts.has_until = true;
		c = cli_duration(verb, "--to", optarg, &r->opts.until.ns);
		return c ? c : -1;
	case OPT_NODE: r->opts.node = optarg; break;
	case OPT_FOLDED: r->folded = true; break;
	case OPT_SVG: r->svg = optarg; break;
	case OPT_HTML: r->html = optarg; break;
	case OPT_NOMINAL: r->opts.nominal = true; break;
	case OPT_JSON: r->json = true; break;
	case OPT_STRICT: r->opts.strict = true; break;
	default: return cli_option(c, verb);
	}
	return *rc ? cli_fail(err) : -1;
}

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
	struct cvl_error err;
	int c, rc = 0, status = -1;

	while (status < 0 && (c = getopt_long(argc, argv, "h", options, NULL)) != -1)
		status = option(c, &r, verb, &rc, &err);
	if (status < 0 && optind + 1 != argc)
		status = cli_usage(verb, "name one session");
	if (status < 0 && r.json && r.folded)
		status = cli_usage(verb, "--json or --folded: one of them");
	if (status < 0) {
		r.session = argv[optind];
		status = cli_study(r.session, "reading", &r.opts, calls, &r);
	}
	forget(&r);
	return status;
}

const struct verb verb_calls = {
	.name = "calls",
	.what = "call stacks of all cores: where time went, who preempted, who waited for whom",
	.usage = "calls [OPTIONS] SESSION|TRACE",
	.help = "      --rules FILE       events that are begins, ends and switches (YAML); \"help\" prints those built in\n"
		"      --names FILE       names of addresses and numbers: lines `ADDRESS NAME`, as nm prints them\n"
		"      --elf FILE[@ADDR]  names of addresses out of this program, which was loaded at ADDR (0x...)\n"
		"      --match RULE|FILE  messages by this matching rule too, besides those of the synchronisation\n"
		"      --path GLOB        critical path of the longest span called so, instead of the longest of all\n"
		"      --top N            rows of each table (30)\n"
		"      --from T, --to T   only this range (1.2, 250ms, 10us)\n"
		"      --node GLOB        only these nodes or clocks\n"
		"      --folded           folded stacks, with self times in ns, instead of tables\n"
		"      --svg FILE         also write a flame graph\n"
		"      --html FILE        also write a page of all lanes to be looked at in a browser\n"
		"      --nominal          leave sync.json aside\n"
		"      --json             one JSON object\n"
		"      --strict           stop at damage instead of repairing\n"
		"\n"
		"Example:\n"
		"  coeval calls s/ --html calls.html\n",
	.run = run,
};
