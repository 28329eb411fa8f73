/* SPDX-License-Identifier: MIT */
#include "lab/runner.h"

#include "lab/instrument.h"
#include "lab/target.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the search for a number of iterations begins, and its maximum steps. */
#define FIRST_ITERATIONS 16
#define MAX_SEARCH 24
#define MAX_PASSES 4096
/* A target's timer may be off by so much, and so little short of the least time is let pass. */
#define ENOUGH 0.999

struct bench {
	const struct lab_config *config;
	const struct runner_opts *o;
	struct results *results;
	struct target *target;
	struct instrument *instrument; /* by their place in the config; those not used are closed */
	struct runner_result *result;
};

static void note(const struct bench *b, bool problem, const char *text)
{
	if (b->o->note)
		b->o->note(b->o->ctx, problem, text);
}

/*
 * As many iterations as the least time takes at the fastest setting that the experiment has (thesis
 * section 8.1.2).
 */
static int search_iterations(struct bench *b, const struct lab_step *s, uint64_t *iterations,
			     struct cvl_error *err)
{
	const struct lab_experiment *e = s->experiment;
	struct lab_step fastest = *s;
	uint64_t n = FIRST_ITERATIONS;
	int rc = 0;

	for (size_t i = 0; i < e->hz.n; i++)
		if (e->hz.item[i] > (double)fastest.key.hz)
			fastest.key.hz = (uint64_t)e->hz.item[i];
	for (size_t i = 0; i < e->cache.n; i++)
		fastest.key.cache |= e->cache.item[i];
	rc = target_prepare(b->target, &fastest, err);
	for (int i = 0; !rc && i < MAX_SEARCH; i++) {
		struct target_run run = { 0 };
		double more;

		rc = target_work(b->target, &fastest, n, 0, &run, err);
		/* a tenth more, for settings that make it faster still */
		if (!rc && run.seconds >= 1.02 * e->min_seconds) {
			*iterations = n;
			return 0;
		}
		more = run.seconds > 0 ? 1.1 * e->min_seconds / run.seconds : 100;
		more = more > 100 ? 100 : more < 1.01 ? 1.01 : more;
		if (n == UINT32_MAX)
			break;
		n = (double)n * more + 1 > UINT32_MAX ? UINT32_MAX :
							(uint64_t)((double)n * more) + 1;
	}
	return rc ? rc :
		    cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET,
			     "no number of iterations makes %s take %g s; give it one",
			     s->workload->name, e->min_seconds);
}

/* How often to iterate: what the config says, what the results have of this task, or a search. */
static int choose_iterations(struct bench *b, const struct lab_step *s, uint64_t *iterations,
			     struct cvl_error *err)
{
	uint64_t wanted = (uint64_t)s->workload->iterations, before = 0;

	for (size_t i = 0; i < b->results->n && !before; i++)
		if (!strcmp(b->results->row[i].key.task, s->key.task))
			before = b->results->row[i].iterations;
	if (wanted && before && wanted != before)
		return cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"%s has %s with %llu iterations, %s wants %llu: write to another file, or give it another label",
			b->o->output, s->key.task, (unsigned long long)before, b->config->file,
			(unsigned long long)wanted);
	*iterations = wanted ? wanted : before;
	return *iterations ? 0 : search_iterations(b, s, iterations, err);
}

static struct instrument *instrument_of(const struct bench *b, const struct lab_step *s)
{
	const struct lab_instrument *first = b->config->instruments.item;

	return s->experiment->instrument ? &b->instrument[s->experiment->instrument - first] : NULL;
}

/* Too short a run says little; more of the same would not help. */
static int check_time(const struct lab_step *s, uint64_t iterations, double seconds,
		      struct cvl_error *err)
{
	double least = s->experiment->min_seconds;

	if (seconds >= ENOUGH * least)
		return 0;
	return cvl_fail(
		err, CVL_E_USAGE, CVL_NO_OFFSET,
		"%s took %.6g s with %llu iterations, less than min_seconds (%g): give it %.0f or leave them out",
		s->key.task, seconds, (unsigned long long)iterations, least,
		seconds > 0 ? ceil(1.05 * (double)iterations * least / seconds) :
			      100 * (double)iterations);
}

/* One step, from the reboot to the value. */
static int measure(struct bench *b, const struct lab_step *s, uint64_t iterations, double *value,
		   double *seconds, struct cvl_error *err)
{
	struct instrument *i = instrument_of(b, s);
	struct target_run run = { .passes = 1 };
	uint64_t sum = 0;
	int rc = 0;

	for (uint64_t pass = 0; !rc && pass < run.passes; pass++) {
		rc = target_prepare(b->target, s, err);
		if (!rc && i)
			rc = instrument_arm(i, err);
		rc = rc ? rc : target_work(b->target, s, iterations, pass, &run, err);
		rc = rc ? rc : check_time(s, iterations, run.seconds, err);
		sum += run.count;
		if (!rc && run.passes > MAX_PASSES)
			rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
				      "%s takes %llu passes: give it smaller ranges",
				      s->counter->name, (unsigned long long)run.passes);
	}
	*seconds = run.seconds;
	*value = (double)sum;
	if (!rc && i)
		rc = instrument_read(i, run.seconds, value, err);
	if (!rc && s->experiment->kind == KIND_ENERGY)
		*value *= s->experiment->supply_volts;
	return rc;
}

static int store(struct bench *b, const struct lab_step *s, uint64_t iterations, double value,
		 double seconds, struct cvl_error *err)
{
	struct results_row *row = results_row(b->results, &s->key);

	if (!row)
		return cvl_no_memory(err);
	row->value[s->quantity] = value;
	/* tracing takes a little time itself: that of an energy run is the better one */
	if (isnan(row->value[Q_TIME]) || s->experiment->kind == KIND_ENERGY)
		row->value[Q_TIME] = seconds;
	row->iterations = iterations;
	return results_save(b->results, b->o->output, err);
}

/*
 * One step with its retries. Returns 0 also if it failed for good, which *@failed tells; an error
 * is one of the whole.
 */
static int make(struct bench *b, const struct lab_step *s, bool *failed, struct cvl_error *err)
{
	char name[200], text[700];
	uint64_t iterations = 0;
	double value = 0, seconds = 0;
	int rc = 0;

	*failed = false;
	for (unsigned attempt = 0;; attempt++) {
		rc = choose_iterations(b, s, &iterations, err);
		rc = rc ? rc : measure(b, s, iterations, &value, &seconds, err);
		if (!rc)
			return store(b, s, iterations, value, seconds, err);
		if (rc == CVL_E_NO || rc == CVL_E_NOMEM)
			return rc;
		snprintf(text, sizeof(text), "%s: %s", lab_step_name(s, name, sizeof(name)),
			 err->text);
		note(b, true, text);
		/*
		 * a port that is gone, or a target that hangs: start over, which fails for good if
		 * there is no port
		 */
		if (rc == CVL_E_ENV) {
			rc = target_revive(b->target, err);
			if (rc)
				return rc;
			rc = CVL_E_ENV;
		}
		if (rc == CVL_E_USAGE || attempt >= (unsigned)b->config->retries) {
			*failed = true;
			return 0;
		}
		b->result->retries++;
	}
}

static bool in_results(const struct bench *b, const struct lab_step *s)
{
	const struct results_row *row = results_find(b->results, &s->key);

	return row && !isnan(row->value[s->quantity]);
}

static bool stopped(const struct bench *b)
{
	struct pollfd p = { .fd = b->o->stop_fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static int open_all(struct bench *b, const struct lab_plan *p, struct cvl_error *err)
{
	size_t used = 0;
	int rc = target_open(b->target, err);

	for (size_t k = 0; !rc && k < p->n; k++) {
		struct instrument *i = instrument_of(b, &p->step[k]);

		if (!i || i->config || in_results(b, &p->step[k]))
			continue;
		rc = instrument_open(i, p->step[k].experiment->instrument, b->o->stop_fd, err);
		if (!rc && used < 2)
			snprintf(b->result->identity[used++], sizeof(b->result->identity[0]), "%s",
				 i->identity);
	}
	return rc;
}

/* All steps that are not there yet; @todo of them. */
static int make_all(struct bench *b, const struct lab_plan *p, size_t todo, struct cvl_error *err)
{
	size_t done = 0, in_a_row = 0;
	struct runner_result *r = b->result;

	for (size_t k = 0; k < p->n; k++) {
		bool failed;
		int rc;

		if (in_results(b, &p->step[k]))
			continue;
		rc = stopped(b) ? CVL_E_NO : make(b, &p->step[k], &failed, err);
		if (rc == CVL_E_NO) {
			r->stopped = true;
			return 0;
		}
		if (rc)
			return rc;
		r->made += !failed;
		r->failed += failed;
		in_a_row = failed ? in_a_row + 1 : 0;
		if (in_a_row >= (size_t)b->config->give_up_after) {
			struct cvl_error last = *err;

			return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
					"gave up after %zu failed runs in a row; the last: %.300s",
					in_a_row, last.text);
		}
		rc = cvl_progress_tell(&b->o->progress, ++done, todo, err);
		if (rc)
			return rc;
	}
	return 0;
}

int runner_run(const struct lab_config *c, const struct lab_plan *p, struct results *r,
	       const struct runner_opts *o, struct runner_result *result, struct cvl_error *err)
{
	struct bench b = { .config = c, .o = o, .results = r, .result = result };
	size_t todo;
	int rc = 0;

	*result = (struct runner_result){ 0 };
	for (size_t k = 0; k < p->n; k++)
		result->there += in_results(&b, &p->step[k]);
	todo = p->n - result->there;
	if (!todo)
		return 0;
	b.target = calloc(1, sizeof(*b.target));
	b.instrument = calloc(c->instruments.n + 1, sizeof(*b.instrument));
	if (!b.target || !b.instrument) {
		rc = cvl_no_memory(err);
		goto out;
	}
	for (size_t i = 0; i < c->instruments.n; i++)
		b.instrument[i].channel.fd = -1;
	*b.target = (struct target){
		.config = c, .stop_fd = o->stop_fd, .note = o->note, .ctx = o->ctx
	};
	rc = open_all(&b, p, err);
	/* what cannot be saved is found out before the first run */
	rc = rc ? rc : results_save(r, o->output, err);
	rc = rc ? rc : make_all(&b, p, todo, err);
	if (rc == CVL_E_NO) {
		result->stopped = true;
		rc = 0;
	}
	result->left = todo - result->made - result->failed;
	for (size_t i = 0; i < c->instruments.n; i++)
		instrument_close(&b.instrument[i]);
	target_close(b.target);
out:
	free(b.target);
	free(b.instrument);
	return rc;
}
