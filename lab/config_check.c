/* SPDX-License-Identifier: MIT */
/* What the tables of keys cannot say of a configuration. */
#include "lab/config.h"

#include "lab/fill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int cannot(const struct lab_config *c, const char *place, size_t i, const char *what,
		  const char *value, struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET, "%s: %s[%zu].%s '%.80s'", c->file, place,
			i, what, value);
}

static int find_word(const char *word, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	return -1;
}

/* Commands hold no names that nothing fills, so that this is not found out after an hour. */
static int check_fill(const struct lab_config *c, const char *place, const char *text,
		      const char *const *names, struct cvl_error *err)
{
	struct fill fill[12];
	struct cvl_error e;
	char out[1024];
	size_t n = 0;

	for (; names[n]; n++)
		fill[n] = (struct fill){ names[n], "0" };
	if (!fill_text(out, sizeof(out), text, fill, n, &e))
		return 0;
	return cvl_fail(err, e.code, CVL_NO_OFFSET, "%s: %s: %s", c->file, place, e.text);
}

static int check_target(const struct lab_config *c, struct cvl_error *err)
{
	static const char *const set[] = { "hz", "policy", "adaption", "cache", NULL };
	static const char *const run[] = { "workload", "iterations", "counter", "arg", NULL };
	static const char *const ranges[] = { "workload", "iterations", "ranges",
					      "pass",     "arg",        NULL };
	static const char *const none[] = { NULL };
	const struct lab_commands *k = &c->target.commands;
	int rc = check_fill(c, "target.commands.set", k->set, set, err);

	rc = rc ? rc : check_fill(c, "target.commands.trace", k->trace, run, err);
	rc = rc ? rc : check_fill(c, "target.commands.ranges", k->ranges, ranges, err);
	rc = rc ? rc : check_fill(c, "target.commands.energy", k->energy, run, err);
	rc = rc ? rc : check_fill(c, "target.commands.delay", k->delay, run, err);
	return rc ? rc : check_fill(c, "target.commands.reboot", k->reboot, none, err);
}

static int check_commands(const struct lab_config *c, const struct lab_instrument *t,
			  const struct key_list *list, const char *what, struct cvl_error *err)
{
	static const char *const names[] = { "sample_hz", NULL };
	char place[200];

	for (size_t i = 0; i < list->n; i++) {
		int rc;

		snprintf(place, sizeof(place), "instruments.%.60s.%s[%zu]", t->name, what, i);
		rc = check_fill(c, place, ((const char *const *)list->item)[i], names, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int check_instrument(const struct lab_config *c, struct lab_instrument *t,
			    struct cvl_error *err)
{
	static const char *const results[] = { "current", "seconds", "waveform", NULL };
	static const char *const formats[] = { "text", "u8",          "f32", "f32-swapped",
					       "f64",  "f64-swapped", NULL };
	static const char *const fetch[] = { "first", "last", "count", NULL };
	int result = find_word(t->result_name, results), rc;
	int format = find_word(t->format_name, formats);
	char place[200];

	snprintf(place, sizeof(place), "instruments.%.60s", t->name);
	if (result < 0)
		return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET,
				"%s: %s.result is current, seconds or waveform, not '%.60s'",
				c->file, place, t->result_name);
	if (format < 0)
		return cvl_fail(
			err, CVL_E_RANGE, CVL_NO_OFFSET,
			"%s: %s.format is text, u8, f32, f32-swapped, f64 or f64-swapped, not '%.60s'",
			c->file, place, t->format_name);
	t->result = (enum lab_result)result;
	t->format = (enum lab_format)format;
	if (t->result == RESULT_CURRENT && !(t->sample_hz > 0))
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: %s.sample_hz is missing: readings of a current need it",
				c->file, place);
	if (t->result == RESULT_CURRENT && !*t->count_query)
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: %s.count_query is missing: how many readings there are",
				c->file, place);
	if (t->result == RESULT_WAVEFORM && !*t->increment_query)
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: %s.increment_query is missing: a waveform needs it", c->file,
				place);
	rc = check_commands(c, t, &t->setup, "setup", err);
	rc = rc ? rc : check_commands(c, t, &t->arm, "arm", err);
	rc = rc ? rc : check_commands(c, t, &t->stop, "stop", err);
	snprintf(place, sizeof(place), "instruments.%.60s.fetch_query", t->name);
	return rc ? rc : check_fill(c, place, t->fetch_query, fetch, err);
}

/* The ranges as the target takes them. Returns -1 if they are none. */
static int join_ranges(struct lab_counter *counter)
{
	size_t n = 0;

	for (size_t i = 0; i < counter->ranges.n; i++) {
		const char *range = ((const char *const *)counter->ranges.item)[i];
		unsigned from, to;
		char end;

		if (strspn(range, "0123456789abcdef-") != strlen(range) ||
		    sscanf(range, "%8x-%8x%c", &from, &to, &end) != 2 || to < from || i == 4)
			return -1;
		n += (size_t)snprintf(counter->text + n, sizeof(counter->text) - n, "%s%08x-%08x",
				      i ? "," : "", from, to);
	}
	return 0;
}

static int check_counters(const struct lab_config *c, struct lab_experiment *e, size_t i,
			  struct cvl_error *err)
{
	if (!e->counters.n)
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: experiments[%zu].counters is missing: what to trace", c->file,
				i);
	for (size_t k = 0; k < e->counters.n; k++) {
		struct lab_counter *counter = (struct lab_counter *)e->counters.item + k;
		int q = quantity_find(counter->name);
		bool memory = q >= Q_RAM && q <= Q_PERIPHERAL;

		if (q < 0 || q > Q_PERIPHERAL)
			return cannot(c, "experiments", i, "counters: there is no counter",
				      counter->name, err);
		if (memory && !counter->ranges.n)
			return cannot(c, "experiments", i,
				      "counters: ranges of addresses are missing for",
				      counter->name, err);
		if (!memory && counter->ranges.n)
			return cannot(c, "experiments", i, "counters: no ranges are needed for",
				      counter->name, err);
		counter->quantity = (enum quantity)q;
		if (memory && join_ranges(counter))
			return cannot(
				c, "experiments", i,
				"counters: ranges are up to 4 of FIRST-LAST in small hexadecimal digits, for",
				counter->name, err);
	}
	return 0;
}

static int check_workloads(const struct lab_config *c, struct lab_experiment *e, size_t i,
			   struct cvl_error *err)
{
	for (size_t k = 0; k < e->workloads.n; k++) {
		struct lab_workload *w = (struct lab_workload *)e->workloads.item + k;

		if (!w->label)
			w->label = w->name;
		if (!results_name(w->name) || !results_name(w->label))
			return cannot(c, "experiments", i, "workloads: no workload can be called",
				      results_name(w->name) ? w->label : w->name, err);
		if (w->iterations != (double)(uint64_t)w->iterations)
			return cannot(c, "experiments", i, "workloads: iterations are whole, of",
				      w->name, err);
	}
	for (size_t k = 0; k < e->policies.n; k++)
		if (!results_name(((const char *const *)e->policies.item)[k]))
			return cannot(c, "experiments", i, "policies: no policy can be called",
				      ((const char *const *)e->policies.item)[k], err);
	return 0;
}

/* An experiment's instrument must be there, and of the kind that it needs. */
static int find_instrument(const struct lab_config *c, struct lab_experiment *e, size_t i,
			   struct cvl_error *err)
{
	const struct lab_instrument *t = c->instruments.item;

	if (e->kind == KIND_TRACE)
		return 0;
	for (size_t k = 0; k < c->instruments.n; k++)
		if (!strcmp(t[k].name, e->instrument_name))
			e->instrument = &t[k];
	if (!*e->instrument_name)
		return cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: experiments[%zu].instrument is missing", c->file, i);
	if (!e->instrument)
		return cannot(c, "experiments", i, "instrument: there is none called",
			      e->instrument_name, err);
	if ((e->kind == KIND_ENERGY) != (e->instrument->result == RESULT_CURRENT))
		return cannot(c, "experiments", i,
			      e->kind == KIND_ENERGY ? "instrument: it measures no current:" :
						       "instrument: it measures no time:",
			      e->instrument_name, err);
	return 0;
}

/* A list that was left out has one entry. */
static int one_entry(struct key_list *list, const void *entry, size_t size, struct cvl_error *err)
{
	if (list->n)
		return 0;
	free(list->item);
	list->item = malloc(size);
	if (!list->item)
		return cvl_no_memory(err);
	memcpy(list->item, entry, size);
	list->n = 1;
	return 0;
}

static int check_experiment(const struct lab_config *c, struct lab_experiment *e, size_t i,
			    struct cvl_error *err)
{
	static const char *const kinds[] = { "trace", "energy", "delay", NULL };
	static const char *const policy = "fast-flash";
	static const bool on = true;
	int kind = find_word(e->kind_name, kinds), rc;

	if (kind < 0)
		return cannot(c, "experiments", i, "kind is trace, energy or delay, not",
			      e->kind_name, err);
	e->kind = (enum lab_kind)kind;
	rc = one_entry(&e->policies, &policy, sizeof(policy), err);
	rc = rc ? rc : one_entry(&e->adaption, &on, sizeof(on), err);
	rc = rc ? rc : one_entry(&e->cache, &on, sizeof(on), err);
	rc = rc ? rc : check_workloads(c, e, i, err);
	rc = rc ? rc : find_instrument(c, e, i, err);
	return rc || e->kind != KIND_TRACE ? rc : check_counters(c, e, i, err);
}

int lab_config_check(struct lab_config *c, struct cvl_error *err)
{
	int rc = check_target(c, err);

	for (size_t i = 0; !rc && i < c->instruments.n; i++)
		rc = check_instrument(c, (struct lab_instrument *)c->instruments.item + i, err);
	for (size_t i = 0; !rc && i < c->experiments.n; i++)
		rc = check_experiment(c, (struct lab_experiment *)c->experiments.item + i, i, err);
	return rc;
}
