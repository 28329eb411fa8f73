/* SPDX-License-Identifier: MIT */
/* Findings of one kind grouped and put in words; likewise the steps of the critical path. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls/study.h"

/* Most shares of a path that are distinguished. */
#define SHARES_MAX 4096

/* Where a finding was: a core, or a node whose tasks move. */
static const char *where(const struct study *s, const struct cvl_calls_finding *f)
{
	const struct cvl_calls_thread *t = &s->thread[f->span.thread];

	return t->core == CVL_CALLS_NONE ? s->node[t->node] : s->core[t->core].label;
}

/* What ran instead by its name on its core; what was waited for, with its core. */
static const char *culprit(const struct study *s, const struct cvl_calls_finding *f)
{
	return f->by == CVL_CALLS_NONE      ? "" :
	       f->cause == CVL_CALLS_WAITED ? s->thread[f->by].label :
					      s->thread[f->by].task;
}

/* A task by its name; cores without known tasks are alike. */
static const char *task(const struct study *s, uint32_t thread)
{
	const char *name = s->thread[thread].name;

	return name ? name : "";
}

static bool same(const struct study *s, const struct cvl_calls_finding *a,
		 const struct cvl_calls_finding *b)
{
	return a->span.function == b->span.function && a->cause == b->cause &&
	       !strcmp(culprit(s, a), culprit(s, b)) &&
	       !strcmp(task(s, a->span.thread), task(s, b->span.thread));
}

/* "a, b and c (3 times)" of the findings like @like. */
static char *places(const struct study *s, const struct cvl_calls_finding *like)
{
	char *text = NULL, *longer;
	size_t n = 0, left;
	const char **name = calloc(s->n_findings + 1, sizeof(*name));
	size_t *times = calloc(s->n_findings + 1, sizeof(*times));

	for (size_t i = 0; name && times && i < s->n_findings; i++) {
		size_t k = 0;

		if (!same(s, like, &s->finding[i]))
			continue;
		while (k < n && strcmp(name[k], where(s, &s->finding[i])))
			k++;
		if (k == n)
			name[n++] = where(s, &s->finding[i]);
		times[k]++;
	}
	for (size_t i = 1; i < n; i++) /* sorted by name */
		for (size_t k = i; k && strverscmp(name[k - 1], name[k]) > 0; k--) {
			const char *later = name[k];
			size_t t = times[k];

			name[k] = name[k - 1];
			name[k - 1] = later;
			times[k] = times[k - 1];
			times[k - 1] = t;
		}
	left = n;
	for (size_t i = 0; i < n; i++, left--) {
		char count[32] = "";

		if (times[i] > 1)
			snprintf(count, sizeof(count), " (%zu times)", times[i]);
		if (asprintf(&longer, "%s%s%s%s", text ? text : "",
			     !i       ? "" :
			     left > 1 ? ", " :
					" and ",
			     name[i], count) < 0)
			longer = NULL;
		free(text);
		text = longer;
	}
	free(name);
	free(times);
	return text;
}

static void widen(struct cvl_calls_group *g, const struct cvl_calls_finding *f)
{
	int64_t took = f->span.end.ns - f->span.begin.ns;

	g->n++;
	g->least = f->ns < g->least ? f->ns : g->least;
	g->most = f->ns > g->most ? f->ns : g->most;
	g->took_least = took < g->took_least ? took : g->took_least;
	g->took_most = took > g->took_most ? took : g->took_most;
}

/* "204 ms", or "203 ms to 207 ms". */
static void range_text(char out[2 * CVL_TIME_TEXT + 8], int64_t least, int64_t most)
{
	char a[CVL_TIME_TEXT], b[CVL_TIME_TEXT];

	cvl_bound_text(a, least);
	cvl_bound_text(b, most);
	if (strcmp(a, b))
		snprintf(out, 2 * CVL_TIME_TEXT + 8, "%s to %s", a, b);
	else
		snprintf(out, 2 * CVL_TIME_TEXT + 8, "%s", a);
}

/* "task X", or just the name if it is clear. */
static void who_text(const struct study *s, char *out, size_t size, uint32_t thread)
{
	const char *name = s->thread[thread].task;
	bool plain =
		!s->thread[thread].name || !strncmp(name, "task", 4) || s->thread[thread].interrupt;

	snprintf(out, size, "%s%s", plain ? "" : "task ", name);
}

static char *cause_text(const struct study *s, const struct cvl_calls_group *g)
{
	const struct cvl_calls_finding *f = g->first;
	char ns[2 * CVL_TIME_TEXT + 8], who[200] = "", *text;
	int n = -1;

	range_text(ns, g->least, g->most);
	if (f->by != CVL_CALLS_NONE)
		who_text(s, who, sizeof(who), f->by);
	switch (f->cause) {
	case CVL_CALLS_PREEMPTED:
		n = f->by == CVL_CALLS_NONE ?
			    asprintf(&text, "preempted for %s", ns) :
		    f->by_ns < f->ns - f->ns / 3 ?
			    asprintf(&text, "preempted for %s, most of it by %s", ns, who) :
			    asprintf(&text, "preempted by %s for %s", who, ns);
		break;
	case CVL_CALLS_SWITCHED:
		n = f->by == CVL_CALLS_NONE ?
			    asprintf(&text, "switched out for %s", ns) :
			    asprintf(&text, "switched out for %s%s while %s ran", ns,
				     f->by_ns < f->ns - f->ns / 3 ? ", most of it" : "", who);
		break;
	case CVL_CALLS_READY:
		n = f->by == CVL_CALLS_NONE ?
			    asprintf(&text, "waited for a core for %s", ns) :
			    asprintf(&text, "waited for a core for %s%s while %s ran", ns,
				     f->by_ns < f->ns - f->ns / 3 ? ", most of it" : "", who);
		break;
	case CVL_CALLS_BLOCKED:
		n = f->by == CVL_CALLS_NONE ?
			    asprintf(&text, "blocked for %s", ns) :
			    asprintf(&text, "blocked for %s%s until %s woke it", ns,
				     f->by_ns < f->ns - f->ns / 3 ? ", most of it" : "", who);
		break;
	case CVL_CALLS_WAITED:
		n = f->by == CVL_CALLS_NONE ?
			    asprintf(&text, "waited for %s", ns) :
		    f->by_ns < f->ns - f->ns / 3 ?
			    asprintf(&text, "waited for %s, most of it for %s", ns,
				     s->thread[f->by].label) :
			    asprintf(&text, "waited for %s for %s", s->thread[f->by].label, ns);
		break;
	case CVL_CALLS_HIDDEN: n = asprintf(&text, "has %s in it with lost records", ns); break;
	default: n = asprintf(&text, "computed %s longer than usual", ns); break;
	}
	return n < 0 ? NULL : text;
}

/*
 * Whether other tasks of its core run this function too, so that the task must be named.
 */
static bool ambiguous(const struct study *s, const struct cvl_calls_finding *f)
{
	const struct cvl_calls_thread *t = &s->thread[f->span.thread];

	for (size_t i = 0; i < s->result.n_costs; i++) {
		const struct cvl_calls_cost *k = &s->result.cost[i];
		const struct cvl_calls_thread *o = &s->thread[k->thread];

		if (k->function == f->span.function && k->thread != f->span.thread &&
		    o->node == t->node && o->core == t->core)
			return true;
	}
	return false;
}

/* "slave1 and slave2: main preempted by task X for 204 ms (...)"; to be freed. */
static char *sentence(const struct study *s, const struct cvl_calls_group *g)
{
	const struct cvl_calls_finding *f = g->first;
	char took[2 * CVL_TIME_TEXT + 8], usual[CVL_TIME_TEXT], *cause = cause_text(s, g), *text;
	const char *function = cvl_calls_function_name(&s->result, f->span.function);
	const char *of = task(s, f->span.thread);
	bool tells = *of && ambiguous(s, f);
	int n;

	if (!cause)
		return NULL;
	range_text(took, g->took_least, g->took_most);
	cvl_bound_text(usual, f->median);
	n = asprintf(&text, "%s: %s%s%s%s %s (took %s; the median of %llu is %s)", g->where,
		     function, tells ? " (" : "", tells ? of : "", tells ? ")" : "", cause, took,
		     (unsigned long long)f->of, usual);
	free(cause);
	return n < 0 ? NULL : text;
}

int study_group(struct study *s)
{
	s->group = calloc(s->n_findings + 1, sizeof(*s->group));
	s->result.group = s->group;
	if (!s->group)
		return -1;
	for (size_t i = 0; i < s->n_findings; i++) {
		const struct cvl_calls_finding *f = &s->finding[i];
		size_t g = 0;

		while (g < s->result.n_groups && !same(s, s->group[g].first, f))
			g++;
		if (g == s->result.n_groups) {
			s->group[g] = (struct cvl_calls_group){ .first = f,
								.least = INT64_MAX,
								.took_least = INT64_MAX };
			s->group[g].where = places(s, f);
			s->result.n_groups++;
			if (!s->group[g].where)
				return -1;
		}
		widen(&s->group[g], f);
	}
	for (size_t g = 0; g < s->result.n_groups; g++)
		if (!(s->group[g].text = sentence(s, &s->group[g])))
			return -1;
	return 0;
}

/* ---- the critical path ---- */

/* Description of a step: "main, preempted by task X"; to be freed. */
static char *step_text(const struct study *s, const struct cvl_calls_step *k)
{
	const bool named = k->function != CVL_CALLS_NONE, known = k->by != CVL_CALLS_NONE;
	const char *function = named ? cvl_calls_function_name(&s->result, k->function) : "";
	const char *join = named ? ", " : "", *doubt = k->unsure ? " (perhaps)" : "";
	char who[200] = "others", *text;
	int n = -1;

	if (known && s->thread[k->by].node != s->thread[k->thread].node)
		snprintf(who, sizeof(who), "%s", s->thread[k->by].label);
	else if (known)
		who_text(s, who, sizeof(who), k->by);
	switch (k->kind) {
	case CVL_CALLS_STEP_RUN:
		n = asprintf(&text, "%s%s", named ? function : "running", doubt);
		break;
	case CVL_CALLS_STEP_PREEMPTED:
		n = asprintf(&text, "%s%spreempted by %s%s", function, join, who, doubt);
		break;
	case CVL_CALLS_STEP_READY:
		n = known ? asprintf(&text, "%s%sready while %s ran%s", function, join, who,
				     doubt) :
			    asprintf(&text, "%s%sready%s", function, join, doubt);
		break;
	case CVL_CALLS_STEP_SWITCHED:
		n = asprintf(&text, "%s%sswitched out while %s ran%s", function, join, who, doubt);
		break;
	case CVL_CALLS_STEP_BLOCKED:
		n = known ? asprintf(&text, "%s%sblocked until %s%s", function, join, who, doubt) :
			    asprintf(&text, "%s%sblocked%s", function, join, doubt);
		break;
	case CVL_CALLS_STEP_MESSAGE:
		n = asprintf(&text, "message from %s%s", s->thread[k->by].label, doubt);
		break;
	}
	return n < 0 ? NULL : text;
}

static int by_ns(const void *va, const void *vb)
{
	const struct cvl_calls_share *a = va, *b = vb;

	return a->ns < b->ns ? 1 : a->ns > b->ns ? -1 : 0;
}

static void add_share(struct study *s, const struct cvl_calls_step *step)
{
	size_t k = 0;

	while (k < s->result.n_shares &&
	       (s->share[k].thread != step->thread || strcmp(s->share[k].text, step->text) != 0))
		k++;
	if (k == SHARES_MAX)
		return;
	if (k == s->result.n_shares)
		s->share[s->result.n_shares++] =
			(struct cvl_calls_share){ .thread = step->thread, .text = step->text };
	s->share[k].ns += step->end.ns - step->begin.ns;
}

int study_steps(struct study *s)
{
	s->share = calloc(SHARES_MAX, sizeof(*s->share));
	s->result.share = s->share;
	if (!s->share)
		return -1;
	for (size_t i = 0; i < s->critical.n; i++) {
		struct cvl_calls_step *step = &s->critical.step[i];

		step->text = step_text(s, step);
		if (!step->text)
			return -1;
		add_share(s, step);
	}
	qsort(s->share, s->result.n_shares, sizeof(*s->share), by_ns);
	return 0;
}
