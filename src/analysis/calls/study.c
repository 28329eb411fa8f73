/* SPDX-License-Identifier: MIT */
/* The analysis: configured, opened, pushed, ended. */
#include "analysis/calls/study.h"

#include <stdlib.h>
#include <string.h>

#include "sync/rules_json.h"

#define KEPT 65536

/* ---- setup ---- */

struct cvl_calls_config *cvl_calls_config_new(void)
{
	struct cvl_calls_config *c = calloc(1, sizeof(*c));
	struct cvl_error err;

	if (c && calls_rules_builtin(&c->builtin, &err)) {
		cvl_calls_config_free(c);
		return NULL;
	}
	return c;
}

void cvl_calls_config_free(struct cvl_calls_config *c)
{
	if (!c)
		return;
	calls_rules_free(&c->rules);
	calls_rules_free(&c->builtin);
	calls_names_free(&c->names);
	rules_free(&c->match);
	symbols_close(c->symbols);
	free(c->program);
	free(c);
}

int cvl_calls_config_rules(struct cvl_calls_config *c, const char *path, struct cvl_error *err)
{
	return calls_rules_load(&c->rules, path, err);
}

int cvl_calls_config_rules_text(struct cvl_calls_config *c, const char *text, size_t n,
				const char *name, struct cvl_error *err)
{
	return calls_rules_parse(&c->rules, text, n, name, err);
}

int cvl_calls_config_names(struct cvl_calls_config *c, const char *path, struct cvl_error *err)
{
	return calls_names_load(&c->names, path, err);
}

int cvl_calls_config_program(struct cvl_calls_config *c, const char *path, uint64_t loaded,
			     struct cvl_error *err)
{
	if (c->program)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: a second program after %s",
				path, c->program);
	c->program = strdup(path);
	if (!c->program)
		return cvl_no_memory(err);
	c->loaded = loaded;
	return symbols_open(&c->symbols, path, err);
}

int cvl_calls_config_messages(struct cvl_calls_config *c, const char *rule, struct cvl_error *err)
{
	return rules_add(&c->match, rule, err);
}

const char *cvl_calls_builtin_name(size_t i)
{
	return calls_rules_name(i);
}

const char *cvl_calls_builtin_rules(const char *name, size_t *n)
{
	return calls_rules_text(name, n);
}

/* ---- the sink ---- */

static void see_span(void *ctx, const struct cvl_calls_span *span)
{
	struct study *s = ctx;

	calls_kept_span(&s->kept, span);
	if (s->has_sink)
		s->sink.span(s->sink.ctx, span);
	s->no_memory |= calls_find_span(s->find, span) != 0;
}

static void see_slice(void *ctx, const struct cvl_calls_slice *slice)
{
	struct study *s = ctx;

	calls_kept_slice(&s->kept, slice);
	if (s->has_sink)
		s->sink.slice(s->sink.ctx, slice);
}

static void see_away(void *ctx, const struct cvl_calls_away *away)
{
	struct study *s = ctx;

	calls_kept_away(&s->kept, away);
	if (s->has_sink)
		s->sink.away(s->sink.ctx, away);
	if (calls_inside(s->calls, away->thread))
		s->no_memory |= calls_find_away(s->find, away) != 0;
}

static bool needs_by(void *ctx, const struct cvl_calls_away *away)
{
	const struct study *s = ctx;

	return s->has_sink || calls_inside(s->calls, away->thread) ||
	       calls_kept_takes_away(&s->kept, away);
}

static void see_message(void *ctx, const struct cvl_calls_message *m)
{
	struct study *s = ctx;

	calls_kept_message(&s->kept, m);
	if (calls_inside(s->calls, m->to))
		s->no_memory |= calls_find_message(s->find, m) != 0;
}

static void see_gap(void *ctx, const struct cvl_calls_gap *gap)
{
	calls_kept_gap(&((struct study *)ctx)->kept, gap);
}

/* ---- the analysis ---- */

static int push(struct cvl_analysis *a, const struct cvl_slice *slice, struct cvl_error *err)
{
	struct study *s = (struct study *)a;
	int rc = calls_read_push(s->read, slice, err);

	return rc || !(s->no_memory || s->kept.no_memory) ? rc : cvl_no_memory(err);
}

static int end(struct cvl_analysis *a, struct cvl_time last, struct cvl_error *err)
{
	struct study *s = (struct study *)a;
	int rc = calls_read_end(s->read, err);

	(void)last;
	if (!rc && (s->no_memory || s->kept.no_memory))
		rc = cvl_no_memory(err);
	return rc ? rc : study_conclude(s, err);
}

static void release(struct cvl_analysis *a)
{
	struct study *s = (struct study *)a;

	study_forget(s);
	calls_path_free(&s->critical);
	calls_find_free(s->find);
	calls_kept_free(&s->kept);
	calls_read_close(s->read);
	rules_free(&s->recalled);
	free(s->match.rule);
	free(s->rules.rule);
	free(s->glob);
	cvl_calls_config_free(s->own);
	free(s);
}

/* Rules of the configuration come first. -1: out of memory. */
static int join_rules(struct study *s)
{
	const struct cvl_calls_config *c = s->config;

	s->rules.rule = calloc(c->rules.n + c->builtin.n + 1, sizeof(*s->rules.rule));
	s->match.rule = calloc(c->match.n + s->recalled.n + 1, sizeof(*s->match.rule));
	if (!s->rules.rule || !s->match.rule)
		return -1;
	for (size_t i = 0; i < c->rules.n; i++)
		s->rules.rule[s->rules.n++] = c->rules.rule[i];
	for (size_t i = 0; i < c->builtin.n; i++)
		s->rules.rule[s->rules.n++] = c->builtin.rule[i];
	for (size_t i = 0; i < c->match.n; i++)
		s->match.rule[s->match.n++] = c->match.rule[i];
	for (size_t i = 0; i < s->recalled.n; i++)
		s->match.rule[s->match.n++] = s->recalled.rule[i];
	return 0;
}

/* An event class @name of any trace, if it has a field @field or that is NULL. */
static bool holds(const struct cvl_timeline *tl, const char *name, const char *field)
{
	for (size_t s = 0; s < cvl_timeline_streams(tl); s++) {
		const struct cvl_trace *trace = cvl_timeline_trace(tl, s);

		for (size_t i = 0; i < cvl_trace_events(trace); i++) {
			const struct cvl_event_class *c = cvl_trace_event(trace, i);
			const struct cvl_type *t = c->type[CVL_SCOPE_FIELDS];

			if (strcmp(c->name, name) != 0)
				continue;
			for (uint32_t m = 0; field && t && m < t->n; m++)
				if (!strcmp(cvl_plain_name(t->member[m].name), field))
					return true;
			if (!field)
				return true;
		}
	}
	return false;
}

/* Messages whose rules need not be asked for, since nothing else can be meant. */
static int recall_own(struct study *s, struct cvl_error *err)
{
	const char *name = holds(s->tl, "ros2:rmw_publish", "timestamp") ? "ros2" : "ros2-dds";

	if (!holds(s->tl, "ros2:rmw_take", NULL))
		return 0;
	for (size_t i = 0; i < s->recalled.n + s->config->match.n; i++) {
		const struct match_rule *r = i < s->recalled.n ?
						     &s->recalled.rule[i] :
						     &s->config->match.rule[i - s->recalled.n];

		if (!strcmp(r->name, name))
			return 0;
	}
	return rules_add(&s->recalled, name, err);
}

static int open_study(struct study *s, const struct cvl_calls_opts *opts, struct cvl_error *err)
{
	const struct cvl_sync *sync = cvl_timeline_sync(s->tl);
	const struct calls_sink sink = { see_span,    see_slice, see_away, needs_by,
					 see_message, see_gap,   s };
	struct calls_read_opts read;
	int rc = sync ? rules_recall(&s->recalled, sync->settings, err) : 0;

	if (rc)
		return rc;
	/* exchanges that only tie clocks are not messages, unless requested */
	rules_drop(&s->recalled, 0, "tracer");
	s->has_sink = opts->sink;
	if (s->has_sink)
		s->sink = *opts->sink;
	calls_kept_init(&s->kept, opts->kept ? opts->kept : KEPT);
	if (!opts->config)
		s->config = s->own = cvl_calls_config_new();
	s->find = calls_find_new();
	if (opts->path)
		s->glob = strdup(opts->path);
	if (!s->config || !s->find || (opts->path && !s->glob))
		return cvl_no_memory(err);
	rc = recall_own(s, err);
	if (!rc && join_rules(s))
		return cvl_no_memory(err);
	if (rc)
		return rc;
	read = (struct calls_read_opts){ .rules = &s->rules,
					 .match = &s->match,
					 .names = &s->config->names,
					 .symbols = s->config->symbols,
					 .loaded = s->config->loaded };
	s->read_opts = read;
	rc = calls_read_open(&s->read, s->tl, &read, &sink, err);
	if (!rc)
		s->calls = calls_read_calls(s->read);
	return rc;
}

int cvl_calls_open(struct cvl_analysis **a, struct cvl_timeline *tl,
		   const struct cvl_calls_opts *opts, struct cvl_error *err)
{
	/* All records are needed: any shows how far its node was recorded, and ends a gap. */
	static const struct cvl_analysis_kind kind = {
		.name = "calls", .push = push, .end = end, .free = release
	};
	struct study *s = calloc(1, sizeof(*s));
	int rc;

	*a = NULL;
	if (!s)
		return cvl_no_memory(err);
	s->base.kind = &kind;
	s->tl = tl;
	s->config = opts->config;
	rc = open_study(s, opts, err);
	if (rc)
		release(&s->base);
	else
		*a = &s->base;
	return rc;
}

const struct cvl_calls_result *cvl_calls_result(const struct cvl_analysis *a)
{
	return &((const struct study *)a)->result;
}

int64_t cvl_calls_bound(const struct cvl_analysis *a, struct cvl_calls_time at)
{
	return cvl_bound_total(calls_read_bound(((const struct study *)a)->read, at));
}

int64_t cvl_calls_apart(const struct cvl_analysis *a, struct cvl_calls_time from,
			struct cvl_calls_time to)
{
	return calls_read_apart(((const struct study *)a)->read, from, to);
}

const char *cvl_calls_function_name(const struct cvl_calls_result *r, uint32_t function)
{
	return function < r->n_functions ? r->function[function].name : "?";
}

const char *cvl_calls_reason_name(enum cvl_calls_reason reason)
{
	static const char *const names[] = {
		[CVL_CALLS_REASON_NONE] = "switched out",
		[CVL_CALLS_REASON_PREEMPTED] = "preempted",
		[CVL_CALLS_REASON_BLOCKED] = "blocked",
		[CVL_CALLS_REASON_READY] = "ready",
	};

	return names[reason];
}

const char *cvl_calls_context_name(enum cvl_calls_context context)
{
	static const char *const names[CVL_CALLS_CONTEXTS] = { "unknown", "task",     "interrupt",
							       "softirq", "timer",    "network",
							       "block",   "processor" };

	return names[context];
}
