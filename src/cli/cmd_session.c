/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "report/report.h"

#include <coeval/verify.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static json_t *part_json(const struct cvl_verify_part *p)
{
	json_t *problems = json_array(), *j;

	for (size_t k = 0; k < CVL_VERIFY_TOLD && p->problem[k]; k++)
		json_array_append_new(problems, report_text(p->problem[k]));
	j = json_pack("{s:o, s:s, s:b, s:I, s:o}", "name", report_text(p->name), "digest",
		      digest_name(p), "ok", !p->problems, "problems", (json_int_t)p->problems,
		      "what", problems);
	if (p->is_file || p->shares)
		return j;
	json_object_set_new(j, "packets", json_integer((json_int_t)p->packets));
	json_object_set_new(j, "records", json_integer((json_int_t)p->records));
	json_object_set_new(j, "bytes", json_integer((json_int_t)p->bytes));
	return j;
}

static void print_json(const struct cvl_verify *v, const char *path, struct cvl_out *o)
{
	json_t *clocks = json_array(), *files = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(v->part[i].is_file ? files : clocks, part_json(&v->part[i]));
	report_json(o, json_pack("{s:o, s:b, s:o, s:o}", "session", report_text(path), "ok",
				 !v->problems, "clocks", clocks, "files", files));
}

/* ---- the verb ---- */

struct verify_request {
	bool json;
};

static const struct cli_option verify_options[] = {
	JSON_OPTION(offsetof(struct verify_request, json)),
	{ 0 },
};

static int run_verify(int argc, char **argv, const struct verb *verb)
{
	struct cvl_verify_opts opts = { 0 };
	struct cvl_verify *v = NULL;
	struct progress progress;
	struct verify_request r = { 0 };
	struct operands operands;
	struct cvl_error err;
	struct cvl_out *o;
	const char *path;
	int rc = options_read(verb, &r, argc, argv, &operands), status;

	if (rc >= 0)
		return rc;
	path = operands.v[0];
	progress_init(&progress, "verifying");
	opts.progress = (struct cvl_progress){ progress_show, &progress };
	rc = cvl_verify_session(&v, path, &opts, &err);
	progress_clear(&progress);
	if (rc)
		return cli_fail(&err);
	o = malloc(sizeof(*o));
	if (!o) {
		rc = cvl_no_memory(&err);
	} else {
		cvl_out_init(o, STDOUT_FILENO, "standard output");
		if (r.json)
			print_json(v, path, o);
		else
			print_text(v, path, o);
		rc = cvl_out_flush(o, &err);
	}
	status = rc ? cli_fail(&err) : v->problems != 0;
	cvl_verify_free(v);
	free(o);
	return status;
}

static const struct verb session_verify = {
	.name = "session verify",
	.what = "check that a session still is what was stored",
	.operands = "SESSION",
	.options = verify_options,
	.notes =
		"Every packet, count, digest and checksum is compared. Exit status 1: something does not match. A clock that is not finished has no digest yet; sessions of older versions have none at all, and are checked as far as that goes.\n",
	.examples = "  coeval session verify s/\n",
	.run = run_verify,
};

extern const struct verb session_join;

static const struct verb *const parts[] = { &session_join, &session_verify, NULL };

const struct verb verb_session = {
	.name = "session",
	.group = VERB_LOOK,
	.what = "manage sessions",
	.parts = parts,
};
