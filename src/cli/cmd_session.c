/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "json.h"
#include "output.h"

#include <coeval/files.h>
#include <coeval/verify.h>

#include <stdlib.h>
#include <string.h>

struct verify_request {
	bool json;
	const char *path;
	struct cvl_verify *v;
};

static const char *digest_name(const struct cvl_verify_part *p)
{
	switch (p->digest) {
	case CVL_DIGEST_THERE: return "yes";
	case CVL_DIGEST_LATER: return "unfinished";
	case CVL_DIGEST_FREED: return "freed";
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
		table_counts(t, n);
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

static void print_text(struct cvl_out *o, const void *request)
{
	const struct verify_request *r = request;
	const struct cvl_verify *v = r->v;
	unsigned without = 0;
	struct table t;

	table_heads(&t, "|packets|records|bytes|digest|result");
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
	cvl_out_text(o, r->path);
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
	js_texts(j, "name digest", p->name, digest_name(p));
	js_bool(j, "ok", !p->problems);
	js_count(j, "problems", p->problems);
	js_open(j, "what", '[');
	for (size_t k = 0; k < CVL_VERIFY_TOLD && p->problem[k]; k++)
		js_text(j, NULL, p->problem[k]);
	js_close(j, ']');
	if (!p->is_file && !p->shares)
		js_counts(j, "packets records bytes", p->packets, p->records, p->bytes);
	js_close(j, '}');
}

static void print_json(struct cvl_out *o, const void *request)
{
	const struct verify_request *r = request;
	const struct cvl_verify *v = r->v;
	struct js j = js_begin(o);

	js_text(&j, "session", r->path);
	js_bool(&j, "ok", !v->problems);
	for (int files = 0; files < 2; files++) {
		js_open(&j, files ? "files" : "clocks", '[');
		for (size_t i = 0; i < v->n; i++)
			if (v->part[i].is_file == files)
				put_part(&j, &v->part[i]);
		js_close(&j, ']');
	}
	js_end(&j);
}

/* ---- verify ---- */

static const struct cli_option verify_options[] = {
	JSON_OPTION(offsetof(struct verify_request, json)),
	{ 0 },
};

static int run_verify(int argc, char **argv, const struct verb *verb)
{
	struct cvl_verify_opts opts = { 0 };
	struct progress progress;
	struct verify_request r = { 0 };
	struct operands operands;
	struct cvl_error err;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	r.path = operands.v[0];
	progress_init(&progress, "verifying");
	opts.progress = (struct cvl_progress){ progress_show, &progress };
	rc = cvl_verify_session(&r.v, r.path, &opts, &err);
	progress_clear(&progress);
	if (!rc)
		rc = output_print(r.json ? print_json : print_text, &r, &err);
	rc = rc ? cli_fail(&err) : r.v->problems != 0;
	cvl_verify_free(r.v);
	return rc;
}

static const struct verb session_verify = {
	.name = "session verify",
	.what = "check that a session still is what was stored",
	.operands = "SESSION",
	.options = verify_options,
	.notes =
		"Every packet, count, digest and checksum is compared. Exit status 1: something does not match. A clock that is not finished has no digest yet; sessions of older versions have none, and are checked without it.\n",
	.examples = "  coeval session verify s/\n",
	.run = run_verify,
};

/* ---- remove and clean ---- */

struct changed {
	const char *path;
	size_t left; /* clocks */
};

static int remove_clocks(struct cvl_session *s, char *const *names, size_t n, struct cvl_error *err)
{
	size_t *clocks = calloc(n + 1, sizeof(*clocks));
	int rc = clocks ? 0 : cvl_no_memory(err);

	for (size_t i = 0; i < n && !rc; i++) {
		int found = cvl_session_find(s, names[i]);

		if (found < 0)
			rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: no clock '%s'",
				      cvl_session_path(s), names[i]);
		else
			clocks[i] = (size_t)found;
	}
	if (!rc)
		rc = cvl_session_remove(s, clocks, n, err);
	free(clocks);
	return rc;
}

static void put_left(struct cvl_out *o, const void *changed)
{
	const struct changed *c = changed;

	cvl_out_text(o, c->path);
	cli_count(o, ": ", c->left, "clock", " left\n");
}

static int run_remove(int argc, char **argv, const struct verb *verb)
{
	struct changed c = { 0 };
	struct cvl_session *s;
	struct operands operands;
	struct cvl_error err;
	int rc = options_read(verb, NULL, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	c.path = operands.v[0];
	rc = cli_change(&s, c.path, NULL, &err);
	if (!rc) {
		rc = remove_clocks(s, operands.v + 1, (size_t)operands.n - 1, &err);
		c.left = cvl_session_clocks(s);
		cvl_session_close(s);
	}
	if (!rc)
		rc = output_print(put_left, &c, &err);
	return rc ? cli_fail(&err) : 0;
}

static const struct verb session_remove = {
	.name = "session remove",
	.what = "take clocks out of a session, with their traces",
	.operands = "SESSION CLOCK...",
	.notes =
		"The traces are deleted; of a linked one the link. After that the session has to be synchronised again: `coeval sync` uses the previous rules. Clocks of one trace can only go together.\n",
	.examples = "  coeval session remove all/ n02 && coeval sync all/\n",
	.run = run_remove,
};

struct clean_request {
	bool dry_run, derived;
	size_t n;
};

static const struct cli_option clean_options[] = {
	{ "dry-run", 'n', NULL, OPTION_FLAG, offsetof(struct clean_request, dry_run),
	  "list it, and remove nothing" },
	{ "derived", 0, NULL, OPTION_FLAG, offsetof(struct clean_request, derived),
	  "also remove what can be made again: clock maps and counts" },
	{ 0 },
};

static bool see(void *ctx, const char *path)
{
	struct clean_request *r = ctx;
	char text[4 * CVL_PATH_MAX + 1];

	cvl_text_name(text, path);
	printf("%s%s\n", text, r->dry_run ? " (not removed)" : "");
	r->n++;
	return !r->dry_run;
}

static int run_clean(int argc, char **argv, const struct verb *verb)
{
	struct clean_request r = { 0 };
	struct cvl_session *s;
	struct operands operands;
	struct cvl_error err;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	rc = cli_change(&s, operands.v[0], NULL, &err);
	if (!rc) {
		rc = cvl_session_clean(s, see, &r, &err);
		if (!rc && r.derived)
			rc = cvl_session_forget(s, see, &r, &err);
		cvl_session_close(s);
	}
	if (!rc && !r.n)
		printf("%s: nothing to remove\n", operands.v[0]);
	return rc ? cli_fail(&err) : cli_flush();
}

static const struct verb session_clean = {
	.name = "session clean",
	.what = "remove what interrupted work left behind",
	.operands = "SESSION",
	.options = clean_options,
	.notes =
		"These are traces of no clock, and new versions of files that never got their name. "
		"After --derived the session has to be synchronised again: `coeval sync` uses the previous rules.\n",
	.examples = "  coeval session clean --dry-run s/\n"
		    "  coeval session clean --derived s/ && coeval sync s/\n",
	.run = run_clean,
};

/* ---- the verb ---- */

extern const struct verb session_join;

static const struct verb *const parts[] = { &session_join, &session_remove, &session_verify,
					    &session_clean, NULL };

const struct verb verb_session = {
	.name = "session",
	.group = VERB_LOOK,
	.what = "manage sessions",
	.parts = parts,
};
