/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls/view.h"

#define DRAWN 200000 /* of each kind, on a page */

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
	struct cvl_calls_config *config;
	const char *program;
	const char *session, *chosen, *svg, *html;
	unsigned top;
	bool json, folded;
};

enum document { FOLDED, FLAME, PAGE };

static int put(const struct calls_view *v, enum document what, struct cvl_out *o,
	       struct cvl_error *err)
{
	switch (what) {
	case FOLDED: return cvl_calls_folded(v->a, o, err);
	case FLAME: return cvl_calls_flame(v->a, v->session, o, err);
	case PAGE: break;
	}
	return cvl_calls_page(v->a, v->session, v->top, o, err);
}

static int write_file(const struct calls_view *v, const char *path, enum document what,
		      struct cvl_out *o, struct cvl_error *err)
{
	int rc = path ? cvl_out_open(o, path, err) : 0;

	if (rc || !path)
		return rc;
	rc = put(v, what, o, err);
	return cvl_out_close(o, rc ? NULL : err) && !rc ? CVL_E_IO : rc;
}

static int print(const struct calls_view *v, const struct request *r, struct cvl_error *err)
{
	struct cvl_out *o = malloc(sizeof(*o));
	int rc;

	if (!o)
		return cvl_no_memory(err);
	rc = write_file(v, r->svg, FLAME, o, err);
	if (!rc)
		rc = write_file(v, r->html, PAGE, o, err);
	cvl_out_init(o, STDOUT_FILENO, "standard output");
	if (!rc && r->json)
		calls_view_json(v, o);
	else if (!rc && r->folded)
		rc = put(v, FOLDED, o, err);
	else if (!rc)
		calls_view_text(v, o);
	rc = rc ? rc : cvl_out_flush(o, err);
	free(o);
	return rc;
}

static void warn_of_program(const struct calls_view *v, const struct request *r)
{
	struct cvl_error problem;

	cvl_fail(
		&problem, CVL_E_MISMATCH, CVL_NO_OFFSET,
		"%s: no address of the trace lies in its code (0x%llx is the first): is it the program that ran? One that is position-independent is "
		"loaded somewhere else each time: --elf FILE@ADDRESS, with the address of its first mapping",
		r->program, (unsigned long long)v->r->first_address);
	cvl_tell(r->opts.report, &problem);
}

/* What to do about it. */
static void advise(struct cvl_error *err)
{
	size_t n = strlen(err->text);

	snprintf(
		err->text + n, sizeof(err->text) - n,
		"; name yours by --rules FILE (`coeval calls --rules help` prints those that are built in)");
}

static int calls(void *request, struct cvl_session *session, struct cvl_error *err)
{
	const struct request *r = request;
	const struct cvl_calls_opts opts = { .config = r->config,
					     .kept = r->html ? DRAWN : 0,
					     .path = r->chosen };
	struct cvl_timeline *tl;
	struct cvl_analysis *a = NULL;
	struct calls_view v = { .session = r->session, .top = r->top };
	int rc = cvl_timeline_open(&tl, session, &r->opts, err);

	if (rc)
		return rc;
	rc = cvl_calls_open(&a, tl, &opts, err);
	if (!rc)
		rc = cvl_analyse(tl, &a, 1, err);
	if (rc == CVL_E_NO)
		advise(err);
	progress_clear(r->opts.progress.ctx);
	v.a = a;
	v.r = rc ? NULL : cvl_calls_result(a);
	if (!rc && v.r->other_program)
		warn_of_program(&v, r);
	if (!rc && r->chosen && !v.r->chosen)
		rc = cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET,
			      "%s: --path %s: no function is called so", r->session, r->chosen);
	if (!rc)
		rc = print(&v, r, err);
	cvl_analysis_free(a);
	cvl_timeline_close(tl);
	return rc;
}

/* ---- the command line ---- */

static int print_rules(void)
{
	fputs(cvl_calls_builtin_rules(), stdout);
	return cli_flush();
}

/* FILE, or FILE@ADDRESS. */
static int open_program(struct request *r, char *text, struct cvl_error *err)
{
	char *at = strrchr(text, '@'), *end = text;
	uint64_t loaded = 0;

	if (at && !strncmp(at, "@0x", 3))
		loaded = strtoull(at + 1, &end, 16);
	if (end > text && !*end)
		*at = '\0';
	else
		loaded = 0; /* part of its name */
	r->program = text;
	return cvl_calls_config_program(r->config, text, loaded, err);
}

/* One option; an exit status, or -1 if there is nothing to say. @rc: of what failed in the library. */
static int option(int c, struct request *r, const struct verb *verb, int *rc, struct cvl_error *err)
{
	switch (c) {
	case OPT_RULES:
		if (!strcmp(optarg, "help"))
			return print_rules();
		*rc = cvl_calls_config_rules(r->config, optarg, err);
		break;
	case OPT_NAMES: *rc = cvl_calls_config_names(r->config, optarg, err); break;
	case OPT_ELF:
		*rc = open_program(r, optarg, err);
		if (*rc == CVL_E_USAGE)
			return cli_usage(verb, "--elf twice");
		break;
	case OPT_MATCH: *rc = cvl_calls_config_messages(r->config, optarg, err); break;
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

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .top = 30, .config = cvl_calls_config_new() };
	struct cvl_error err;
	int c, rc = 0, status = -1;

	if (!r.config) {
		cvl_no_memory(&err);
		return cli_fail(&err);
	}
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
	cvl_calls_config_free(r.config);
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
