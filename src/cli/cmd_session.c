/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "json.h"

#include <coeval/verify.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_JSON = 256 };

static const struct option options[] = {
	{ "json", no_argument, NULL, OPT_JSON },
	CLI_HELP_OPTION,
	{ 0 },
};

static const char *digest_name(const struct cvl_verify_part *p)
{
	switch (p->digest) {
	case CVL_DIGEST_THERE: return "yes";
	case CVL_DIGEST_LATER: return "unfinished";
	case CVL_DIGEST_NONE: break;
	}
	return "none";
}

/* ---- text ---- */

static void put_count(struct table *t, const struct cvl_verify_part *p, uint64_t n)
{
	if (p->is_file || p->shares)
		table_cell(t, "-");
	else
		table_cell(t, "%llu", (unsigned long long)n);
}

static void print_part(const struct cvl_verify_part *p, struct table *t)
{
	table_cell(t, "%s", p->name);
	put_count(t, p, p->packets);
	put_count(t, p, p->records);
	put_count(t, p, p->bytes);
	table_cell(t, "%s", digest_name(p));
	if (p->problems)
		table_cell(t, "%llu problem%s", (unsigned long long)p->problems,
			   p->problems == 1 ? "" : "s");
	else
		table_cell(t, "ok");
}

static void print_text(const struct cvl_verify *v, const char *path, struct cvl_out *o)
{
	static const char *const heads[] = { "",       "packets", "records", "bytes",
					     "digest", "result",  NULL };
	unsigned without = 0;
	struct table t;

	table_init(&t, 6);
	table_heads(&t, heads);
	for (size_t i = 0; i < v->n; i++) {
		print_part(&v->part[i], &t);
		without += v->part[i].digest != CVL_DIGEST_THERE;
	}
	table_print(&t, o, "lrrrll", "");
	cvl_out_char(o, '\n');
	for (size_t i = 0; i < v->n; i++) {
		const struct cvl_verify_part *p = &v->part[i];

		for (size_t k = 0; k < CVL_VERIFY_TOLD && p->problem[k]; k++) {
			cvl_out_text(o, p->problem[k]);
			cvl_out_char(o, '\n');
		}
		if (p->problems > CVL_VERIFY_TOLD)
			cvl_out_printf(o, "%s: %llu more\n", p->name,
				       (unsigned long long)(p->problems - CVL_VERIFY_TOLD));
	}
	cvl_out_text(o, path);
	if (v->problems)
		cvl_out_text(o, ": damaged, or changed since it was stored\n");
	else if (without)
		cvl_out_printf(o, ": nothing wrong; %u of %zu have no digest to compare with\n",
			       without, v->n);
	else
		cvl_out_text(o, ": all is as it was stored\n");
}

/* ---- JSON ---- */

static void put_part(struct js *j, const struct cvl_verify_part *p)
{
	js_open(j, NULL, '{');
	js_text(j, "name", p->name);
	js_text(j, "digest", digest_name(p));
	js_bool(j, "ok", !p->problems);
	js_count(j, "problems", p->problems);
	js_open(j, "what", '[');
	for (size_t k = 0; k < CVL_VERIFY_TOLD && p->problem[k]; k++)
		js_text(j, NULL, p->problem[k]);
	js_close(j, ']');
	if (!p->is_file && !p->shares) {
		js_count(j, "packets", p->packets);
		js_count(j, "records", p->records);
		js_count(j, "bytes", p->bytes);
	}
	js_close(j, '}');
}

static void print_json(const struct cvl_verify *v, const char *path, struct cvl_out *o)
{
	struct js j = { .o = o };

	js_open(&j, NULL, '{');
	js_text(&j, "session", path);
	js_bool(&j, "ok", !v->problems);
	for (int files = 0; files < 2; files++) {
		js_open(&j, files ? "files" : "clocks", '[');
		for (size_t i = 0; i < v->n; i++)
			if (v->part[i].is_file == files)
				put_part(&j, &v->part[i]);
		js_close(&j, ']');
	}
	js_close(&j, '}');
	js_end(&j);
}

/* ---- verify ---- */

static int run_verify(int argc, char **argv, const struct verb *verb)
{
	struct cvl_verify_opts opts = { 0 };
	struct cvl_verify *v = NULL;
	struct progress progress;
	struct cvl_error err;
	bool json = false;
	struct cvl_out *o;
	int c, rc;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case OPT_JSON: json = true; break;
		default: return cli_option(c, verb);
		}
	}
	if (optind + 1 != argc)
		return cli_usage(verb, "name one session");
	progress_init(&progress, "verifying");
	opts.progress = (struct cvl_progress){ progress_show, &progress };
	rc = cvl_verify_session(&v, argv[optind], &opts, &err);
	progress_clear(&progress);
	if (rc)
		return cli_fail(&err);
	o = malloc(sizeof(*o));
	if (!o) {
		rc = cvl_no_memory(&err);
	} else {
		cvl_out_init(o, STDOUT_FILENO, "standard output");
		if (json)
			print_json(v, argv[optind], o);
		else
			print_text(v, argv[optind], o);
		rc = cvl_out_flush(o, &err);
	}
	c = rc ? cli_fail(&err) : v->problems != 0;
	cvl_verify_free(v);
	free(o);
	return c;
}

static const struct verb session_verify = {
	.name = "session verify",
	.what = "whether a session still is what was stored: every packet, count, digest and checksum",
	.usage = "session verify [--json] SESSION",
	.help = "      --json    all of it as one JSON object\n"
		"\n"
		"Exit status 1: something does not hold. A clock that is not finished has no digest yet; sessions of\n"
		"older versions have none at all, and are checked as far as that goes.\n"
		"\n"
		"Example:\n"
		"  coeval session verify s/\n",
	.run = run_verify,
};

/* ---- remove ---- */

static int find_clocks(const struct cvl_session *s, char *const *names, size_t n, size_t *clocks,
		       struct cvl_error *err)
{
	for (size_t i = 0; i < n; i++) {
		int found = cvl_session_find(s, names[i]);

		if (found < 0)
			return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: no clock '%s'",
					cvl_session_path(s), names[i]);
		clocks[i] = (size_t)found;
	}
	return 0;
}

static int remove_clocks(const char *path, char *const *names, size_t n, struct cvl_error *err)
{
	size_t *clocks = calloc(n + 1, sizeof(*clocks));
	struct cvl_session *s;
	struct cvl_out out;
	int rc = clocks ? cvl_session_open(&s, path, NULL, err) : cvl_no_memory(err);

	if (!rc) {
		cvl_session_close(s); /* it is there */
		rc = cvl_session_create(&s, path, err);
	}
	if (!rc) {
		rc = find_clocks(s, names, n, clocks, err);
		if (!rc)
			rc = cvl_session_remove(s, clocks, n, err);
		if (!rc) {
			cvl_out_init(&out, STDOUT_FILENO, "standard output");
			cvl_out_printf(&out, "%s: ", path);
			cli_count(&out, cvl_session_clocks(s), "clock");
			cvl_out_text(&out, " left\n");
			rc = cvl_out_close(&out, err);
		}
		cvl_session_close(s);
	}
	free(clocks);
	return rc;
}

static int run_remove(int argc, char **argv, const struct verb *verb)
{
	static const struct option options_remove[] = { CLI_HELP_OPTION, { 0 } };
	struct cvl_error err;
	int c;

	while ((c = getopt_long(argc, argv, "h", options_remove, NULL)) != -1)
		return cli_option(c, verb);
	if (optind + 2 > argc)
		return cli_usage(verb, "name a session, and the clocks to remove");
	return remove_clocks(argv[optind], argv + optind + 1, (size_t)(argc - optind - 1), &err) ?
		       cli_fail(&err) :
		       0;
}

static const struct verb session_remove = {
	.name = "session remove",
	.what = "take clocks out of a session, with their traces",
	.usage = "session remove SESSION CLOCK ...",
	.help = "Their traces are deleted (of a linked one the link). The session has to be synchronised again: `coeval sync`\n"
		"uses the rules of before. Clocks of one trace can only go together.\n"
		"\n"
		"Example:\n"
		"  coeval session remove all/ n02 && coeval sync all/\n",
	.run = run_remove,
};

/* ---- clean ---- */

struct cleaning {
	struct cvl_out out;
	bool dry;
	uint64_t n;
};

static bool see(void *ctx, const char *path)
{
	struct cleaning *c = ctx;

	c->n++;
	cvl_out_name(&c->out, path);
	cvl_out_text(&c->out, c->dry ? " (not removed)\n" : "\n");
	return !c->dry;
}

static int clean(const char *path, struct cleaning *c, struct cvl_error *err)
{
	struct cvl_session *s;
	int rc = cvl_session_open(&s, path, NULL, err);

	if (rc)
		return rc;
	cvl_session_close(s); /* it is there */
	rc = cvl_session_create(&s, path, err);
	if (rc)
		return rc;
	cvl_out_init(&c->out, STDOUT_FILENO, "standard output");
	rc = cvl_session_clean(s, see, c, err);
	if (!rc && !c->n)
		cvl_out_printf(&c->out, "%s: nothing to remove\n", path);
	if (!rc)
		rc = cvl_out_close(&c->out, err);
	cvl_session_close(s);
	return rc;
}

static int run_clean(int argc, char **argv, const struct verb *verb)
{
	static const struct option options_clean[] = { { "dry-run", no_argument, NULL, 'n' },
						       CLI_HELP_OPTION,
						       { 0 } };
	struct cleaning *cleaning = calloc(1, sizeof(*cleaning));
	struct cvl_error err;
	int c, rc = cleaning ? 0 : cvl_no_memory(&err);

	while (!rc && (c = getopt_long(argc, argv, "nh", options_clean, NULL)) != -1) {
		if (c != 'n') {
			free(cleaning);
			return cli_option(c, verb);
		}
		cleaning->dry = true;
	}
	if (!rc && optind + 1 != argc) {
		free(cleaning);
		return cli_usage(verb, "name one session");
	}
	if (!rc)
		rc = clean(argv[optind], cleaning, &err);
	free(cleaning);
	return rc ? cli_fail(&err) : 0;
}

static const struct verb session_clean = {
	.name = "session clean",
	.what = "remove what interrupted work left in a session and no clock names",
	.usage = "session clean [--dry-run] SESSION",
	.help = "  -n, --dry-run  only list it\n"
		"\n"
		"Example:\n"
		"  coeval session clean --dry-run s/\n",
	.run = run_clean,
};

/* ---- the verb ---- */

static const struct {
	const char *name;
	const struct verb *verb;
} parts[] = {
	{ "join", &verb_join },
	{ "remove", &session_remove },
	{ "verify", &session_verify },
	{ "clean", &session_clean },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	for (size_t i = 0; argc > 1 && i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(argv[1], parts[i].name))
			return parts[i].verb->run(argc - 1, argv + 1, parts[i].verb);
	if (argc > 1 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")))
		return cli_option('h', verb);
	if (argc > 1)
		return cli_usage(verb, "unknown command '%s'", argv[1]);
	return cli_usage(verb, "say what to do: join, remove, verify or clean");
}

const struct verb verb_session = {
	.name = "session",
	.what = "join sessions, remove clocks of one, verify and clean it",
	.usage = "session join|remove|verify|clean ...",
	.help = "See `coeval help session join`, `remove`, `verify` and `clean`.\n",
	.run = run,
};
