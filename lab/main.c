/* SPDX-License-Identifier: MIT */
/* coeval-lab: what `coeval task bench` starts. */
#include "bench.h"

#include <jansson.h>

#include "lab/runner.h"
#include "lab/summary.h"
#include "lab/simulated/bench.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct bench_cli {
	struct bench_request r;
	struct progress progress;
	struct sim_lab lab;
	json_t *problems; /* the first of them, for --json */
};

#define PROBLEMS_KEPT 200

static void tell(void *ctx, bool problem, const char *text)
{
	struct bench_cli *k = ctx;

	if (problem && json_array_size(k->problems) < PROBLEMS_KEPT)
		json_array_append_new(k->problems, json_string(text));
	progress_clear(&k->progress);
	fprintf(stderr, "coeval: %s%s\n", problem ? "warning: " : "", text);
}

static bool show_progress(void *ctx, uint64_t done, uint64_t total)
{
	return progress_show(&((struct bench_cli *)ctx)->progress, done, total);
}

/* ---- what would be done ---- */

/* Runs that are not in the results yet, and the least time that they take. */
static int print_plan(const struct bench_cli *k, const struct lab_config *c,
		      const struct lab_plan *p, const struct results *r)
{
	char name[200], set[LAB_COMMAND], run[LAB_COMMAND];
	size_t left = 0, first = p->n;
	double seconds = 0;
	struct cvl_out o;

	for (size_t i = 0; i < p->n; i++) {
		const struct results_row *row = results_find(r, &p->step[i].key);

		if (row && row->value[p->step[i].quantity] == row->value[p->step[i].quantity])
			continue;
		first = first == p->n ? i : first;
		seconds += p->step[i].experiment->min_seconds;
		left++;
	}
	cvl_out_init(&o, STDOUT_FILENO, "standard output");
	if (k->r.json) {
		cvl_out_printf(&o,
			       "{\"runs\":%zu,\"there\":%zu,\"left\":%zu,\"least_seconds\":%.3f}\n",
			       p->n, p->n - left, left, seconds);
		return cvl_out_close(&o, NULL) ? 4 : 0;
	}
	cli_count(&o, "", p->n, "run", "");
	cvl_out_text(&o, ", ");
	cli_count(&o, "", p->n - left, "", "");
	cvl_out_printf(&o, " of them in %s; the rest takes at least %.0f s, and reboots.\n",
		       k->r.output, seconds);
	if (first < p->n && !lab_set_command(c, &p->step[first], set, NULL) &&
	    !lab_run_command(c, &p->step[first], (uint64_t)p->step[first].workload->iterations, 0,
			     run, NULL)) {
		cvl_out_printf(&o, "\nThe next: %s\n",
			       lab_step_name(&p->step[first], name, sizeof(name)));
		if (p->step[first].experiment->reboot)
			cvl_out_printf(&o, "  %s\n", c->target.commands.reboot);
		cvl_out_printf(&o, "  %s\n  %s%s\n", set, run,
			       p->step[first].workload->iterations > 0 ?
				       "" :
				       "   (0 stands for as many as will be found)");
	}
	return cvl_out_close(&o, NULL) ? 4 : 0;
}

/* ---- results ---- */

static void print_settings(struct cvl_out *o, const struct results_key *key)
{
	cvl_out_text(o, "{\"task\":");
	cvl_out_json(o, key->task, strlen(key->task));
	cvl_out_printf(o, ",\"hz\":%" PRIu64 ",\"policy\":", key->hz);
	cvl_out_json(o, key->policy, strlen(key->policy));
	cvl_out_printf(o, ",\"adaption\":%s,\"cache\":%s", key->adaption ? "true" : "false",
		       key->cache ? "true" : "false");
}

static void print_groups_json(struct cvl_out *o, const struct summary *s)
{
	cvl_out_text(o, ",\"settings\":[");
	for (size_t i = 0; i < s->n; i++) {
		const struct summary_group *g = &s->group[i];

		cvl_out_text(o, i ? ",\n" : "\n");
		print_settings(o, &g->key);
		for (int q = 0; q < QUANTITIES; q++)
			if (g->of[q].n) {
				cvl_out_printf(o, ",\"%s\":{\"n\":%zu,\"outliers\":%zu,\"median\":",
					       quantity_name((enum quantity)q), g->of[q].n,
					       g->outliers[q]);
				cvl_out_double(o, g->of[q].median);
				cvl_out_text(o, ",\"mean\":");
				cvl_out_double(o, g->mean[q]);
				cvl_out_text(o, ",\"spread\":");
				cvl_out_double(o, g->of[q].spread);
				cvl_out_char(o, '}');
			}
		cvl_out_char(o, '}');
	}
	cvl_out_text(o, "]");
}

static void print_outliers_json(struct cvl_out *o, const struct results *r)
{
	const char *between = "\n";

	cvl_out_text(o, ",\"outliers\":[");
	for (size_t i = 0; i < r->n; i++)
		for (int q = 0; q < QUANTITIES; q++) {
			if (!(r->row[i].outliers >> q & 1))
				continue;
			cvl_out_text(o, between);
			print_settings(o, &r->row[i].key);
			cvl_out_printf(o, ",\"repetition\":%u,\"quantity\":\"%s\",\"value\":",
				       r->row[i].key.repetition, quantity_name((enum quantity)q));
			cvl_out_double(o, r->row[i].value[q]);
			cvl_out_char(o, '}');
			between = ",\n";
		}
	cvl_out_text(o, "]");
}

static void print_json(const struct bench_cli *k, struct cvl_out *o, const struct results *r,
		       const struct summary *s, const struct runner_result *res)
{
	cvl_out_text(o, "{\"results\":");
	cvl_out_json(o, k->r.output, strlen(k->r.output));
	cvl_out_printf(
		o,
		",\"simulated\":%s,\"made\":%zu,\"there\":%zu,\"failed\":%zu,\"left\":%zu,\"retries\":%zu,\"stopped\":%s,\"instruments\":[",
		k->r.simulated ? "true" : "false", res->made, res->there, res->failed, res->left,
		res->retries, res->stopped ? "true" : "false");
	for (size_t i = 0; i < 2 && *res->identity[i]; i++) {
		cvl_out_text(o, i ? "," : "");
		cvl_out_json(o, res->identity[i], strlen(res->identity[i]));
	}
	cvl_out_text(o, "],\"problems\":[");
	for (size_t i = 0; i < json_array_size(k->problems); i++) {
		const char *text = json_string_value(json_array_get(k->problems, i));

		cvl_out_text(o, i ? ",\n" : "\n");
		cvl_out_json(o, text, strlen(text));
	}
	cvl_out_text(o, "]");
	print_groups_json(o, s);
	print_outliers_json(o, r);
	cvl_out_text(o, "}\n");
}

/* A row for each quantity of each task and setting, outliers told beside. */
static void print_table(struct cvl_out *o, const struct summary *s)
{
	struct table t;

	table_heads(&t, "task|MHz|policy|quantity|n|median|spread|outliers");
	for (size_t i = 0; i < s->n; i++) {
		const struct summary_group *g = &s->group[i];

		for (int q = 0; q < QUANTITIES; q++) {
			if (!g->of[q].n)
				continue;
			table_cell(&t, "%s", g->key.task);
			table_cell(&t, "%g", (double)g->key.hz / 1e6);
			table_cell(&t, "%s%s%s", g->key.policy,
				   g->key.adaption ? "" : ", no adaption",
				   g->key.cache ? "" : ", no cache");
			table_cell(&t, "%s", quantity_name((enum quantity)q));
			table_cell(&t, "%zu", g->of[q].n);
			table_cell(&t, "%.7g", g->of[q].median);
			table_cell(&t, "%.2g", g->of[q].spread);
			table_cell(&t, g->outliers[q] ? "%zu" : "-", g->outliers[q]);
		}
	}
	table_print(&t, o, "lrllrrrr", "");
}

static void print_text(const struct bench_cli *k, struct cvl_out *o, const struct summary *s,
		       const struct runner_result *res)
{
	cvl_out_printf(o, "%s: ", k->r.output);
	cli_count(o, "", res->made, "run", "");
	cvl_out_printf(o, " made%s", k->r.simulated ? " (simulated)" : "");
	if (res->there)
		cvl_out_printf(o, ", %zu were there", res->there);
	if (res->retries)
		cvl_out_printf(o, ", %zu tried again", res->retries);
	if (res->failed)
		cvl_out_printf(o, ", %zu failed", res->failed);
	if (res->left)
		cvl_out_printf(o, ", %zu left", res->left);
	cvl_out_text(o, "\n\n");
	if (s->n)
		print_table(o, s);
	if (s->outliers) {
		cvl_out_char(o, '\n');
		cli_count(o, "", s->outliers, "outlier", "");
		cvl_out_text(
			o,
			" marked in the file (more than 3.5 spreads off the median), none removed.\n");
	}
}

static int print_result(const struct bench_cli *k, const struct results *r, const struct summary *s,
			const struct runner_result *res)
{
	struct cvl_out o;

	cvl_out_init(&o, STDOUT_FILENO, "standard output");
	if (k->r.json)
		print_json(k, &o, r, s, res);
	else
		print_text(k, &o, s, res);
	return cvl_out_close(&o, NULL) ? 4 : 0;
}

/* ---- doing it ---- */

/* A SIGINT becomes readable, so that the bench ends between two bytes and keeps what it has. */
static int catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The same config on a bench that is not real. */
static int simulate(struct bench_cli *k, struct lab_config *c, struct cvl_error *err)
{
	const struct sim_lab_options o = { .seed = k->r.seed, .outlier_every = 37 };
	struct lab_instrument *t = c->instruments.item;
	int rc = sim_lab_start(&k->lab, &o, err);

	c->target.port = k->lab.target;
	for (size_t i = 0; i < c->instruments.n; i++)
		t[i].address = t[i].result == RESULT_CURRENT ? k->lab.multimeter : k->lab.scope;
	return rc;
}

static int bench(struct bench_cli *k, struct lab_config *c, const struct lab_plan *p,
		 struct results *r)
{
	struct runner_opts o = {
		.output = k->r.output, .note = tell, .ctx = k, .progress = { show_progress, k }
	};
	struct runner_result res = { 0 };
	struct cvl_error err = { 0 }, late;
	struct summary s = { 0 };
	int rc, status;

	o.stop_fd = catch_signals();
	rc = k->r.simulated ? simulate(k, c, &err) : 0;
	progress_init(&k->progress, k->r.output);
	rc = rc ? rc : runner_run(c, p, r, &o, &res, &err);
	progress_clear(&k->progress);
	sim_lab_stop(&k->lab);
	status = rc ? cli_fail(&err) : 0;
	/* of a bench that never began there is nothing to say */
	if (status && !res.made && !r->n)
		return status;
	rc = summary_make(&s, r, &late);
	if (!rc && err.code != CVL_E_IO && err.code != CVL_E_FULL && err.code != CVL_E_USAGE)
		rc = results_save(r, k->r.output, &late);
	if (!rc && k->r.table)
		rc = summary_save_table(&s, k->r.table, &late);
	if (rc)
		status = cli_fail(&late);
	else if (print_result(k, r, &s, &res))
		status = status ? status : 4;
	summary_free(&s);
	if (!status && res.stopped)
		fprintf(stderr, "coeval: stopped; run the same command to resume\n");
	return status ? status : res.failed || res.stopped ? 1 : 0;
}

int bench_run(int argc, char **argv, const struct verb *verb)
{
	struct bench_cli k = { .r = { .output = "results.csv", .seed = 1 },
			       .lab = { .pid = -1, .hold = -1 } };
	struct lab_config config;
	struct results results = { 0 };
	struct lab_plan plan = { 0 };
	struct operands operands;
	struct cvl_error err;
	int rc = options_read(verb, &k.r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	k.problems = json_array();
	rc = lab_config_load(&config, operands.v[0], &err);
	rc = rc ? rc : lab_plan_make(&plan, &config, &err);
	rc = rc ? rc : results_load(&results, k.r.output, &err);
	if (rc)
		rc = cli_fail(&err);
	else if (k.r.dry_run)
		rc = print_plan(&k, &config, &plan, &results);
	else
		rc = bench(&k, &config, &plan, &results);
	results_free(&results);
	lab_plan_free(&plan);
	lab_config_free(&config);
	json_decref(k.problems);
	return rc;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN); /* a reader that leaves early is no error: writes see EPIPE */
	signal(SIGXFSZ, SIG_IGN); /* nor is a full disk: writes see EFBIG */
	return bench_run(argc, argv, &task_bench);
}
