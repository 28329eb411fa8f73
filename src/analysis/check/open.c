/* SPDX-License-Identifier: MIT */
/* Begin and end of the engine. */
#include <stdlib.h>
#include <string.h>

#include "analysis/check/internal.h"
#include <coeval/files.h>

#define FILE_MAX (1u << 20)

/* List the notifications of @source's listeners; returns their number. */
static size_t put_targets(const struct check *c, uint32_t source, bool level, struct target *out)
{
	const struct source *s = &c->source[source];

	for (size_t i = 0; i < s->n_listeners; i++) {
		const struct listener *l = &s->listener[i];

		out[i] = (struct target){
			.in = &c->inbox[c->monitor[l->monitor].result - c->result],
			.news = { l->monitor, .role = (uint8_t)l->role, .level = level },
			.source = s->n_streams > 1 ? source : NO_SOURCE,
		};
	}
	return s->n_listeners;
}

/* Sources reach no further, even if their streams were read ahead. */
static void set_ends(struct check *c, struct cvl_time last)
{
	c->last = last.ns;
	for (size_t i = 0; i < c->n_sources; i++)
		source_reaches(c, &c->source[i], INT64_MAX);
}

static enum cvl_check_verdict verdict(const struct cvl_check_outcome *r, bool tried)
{
	if (r->violated)
		return CVL_CHECK_VIOLATED;
	if (r->unknown)
		return CVL_CHECK_CANNOT_TELL;
	return tried ? CVL_CHECK_HOLDS : CVL_CHECK_VACUOUS;
}

static int check_end(struct cvl_analysis *a, struct cvl_time last, struct cvl_error *err)
{
	struct check *c = (struct check *)a;
	bool *tried = calloc(c->rules->n + 1, sizeof(*tried));

	if (!tried)
		return cvl_no_memory(err);
	tell_all(c);
	set_ends(c, last);
	for (size_t i = 0; i < c->n_monitors; i++) {
		struct monitor *m = &c->monitor[i];
		size_t rule = (size_t)(m->result - c->result), last_phrase = m->rule->n_phrases - 1;

		switch (m->rule->kind) {
		case CHECK_THEN:
		case CHECK_THEN_NOT: after_end(c, m); break;
		case CHECK_NEVER: never_end(c, m); break;
		default: row_end(c, m);
		}
		/*
			 * for `never A while B` both have to exist; an A alone that never comes is
			 * fine
		 */
		if (m->rule->kind == CHECK_NEVER)
			tried[rule] =
				tried[rule] || !last_phrase ||
				(c->source[m->source[0]].seen && c->source[m->source[1]].seen);
		else
			tried[rule] = tried[rule] || m->result->held;
	}
	for (size_t i = 0; i < c->rules->n; i++) {
		c->result[i].verdict = verdict(&c->result[i], tried[i]);
		c->pub.count[c->result[i].verdict]++;
	}
	free(tried);
	return c->nomem ? cvl_no_memory(err) : 0;
}

bool cvl_check_violated(struct cvl_analysis *a)
{
	struct check *c = (struct check *)a;

	tell_all(c);
	return c->violated;
}

const struct cvl_check_result *cvl_check_result(const struct cvl_analysis *a)
{
	return &((const struct check *)a)->pub;
}

static int allocate(struct check *c)
{
	struct cvl_session *session = cvl_timeline_session(c->tl);

	c->n_streams = cvl_timeline_streams(c->tl);
	c->n_clocks = cvl_session_clocks(session);
	c->result = calloc(c->rules->n + 1, sizeof(*c->result));
	c->stream = calloc(c->n_streams + 1, sizeof(*c->stream));
	c->hi = calloc(c->n_clocks + 1, sizeof(*c->hi));
	c->drift = calloc(c->n_clocks + 1, sizeof(*c->drift));
	c->root = calloc(c->n_clocks + 1, sizeof(*c->root));
	c->inbox = calloc(c->rules->n + 1, sizeof(*c->inbox));
	if (!c->inbox || !c->result || !c->stream || !c->hi || !c->drift || !c->root)
		return CVL_E_NOMEM;
	for (size_t i = 0; i < c->rules->n; i++) {
		c->result[i].name = c->rules->rule[i].name;
		c->result[i].line = c->rules->rule[i].line;
		c->inbox[i].kind = c->rules->rule[i].kind;
	}
	for (size_t i = 0; i < c->n_clocks; i++) {
		int same = cvl_session_clock(session, i)->same_as;

		c->root[i] = same >= 0 ? c->root[same] : (uint32_t)i;
		c->hi[i] = clock_bound_max(c, i, 0, 0, true);
		c->drift[i] = cvl_clock_drift_ppm(cvl_session_clock(session, i)) * 1e-6;
	}
	for (size_t i = 0; i < c->n_streams; i++) {
		no_ticks(&c->stream[i]);
		for (size_t k = 0; k < CVL_KINDS; k++)
			c->stream[i].kind_source[k] = -1;
	}
	return 0;
}

/* Precompute the targets of each edge or event, so that it costs one walk. */
static int list_targets(const struct check *c, struct stream_state *st)
{
	size_t room = 0, n = 0;

	for (size_t i = 0; i < st->line.n; i++)
		room += 2 * c->source[st->line.feed[i].source].n_listeners;
	for (size_t i = 0; i < st->class.n; i++)
		room += c->source[st->class.feed[i].source].n_listeners;
	st->target = calloc(room + 1, sizeof(*st->target));
	st->class_first = calloc(st->class.n + 1, sizeof(*st->class_first));
	if (!st->target || !st->class_first)
		return CVL_E_NOMEM;
	for (unsigned at = 0; at < 2 * CVL_LINES_MAX; at++) {
		unsigned line = at / 2;
		bool up = at & 1;

		st->target_first[at] = (uint32_t)n;
		for (size_t k = st->line.first[line]; k < st->line.first[line + 1]; k++) {
			const struct feed *f = &st->line.feed[k];

			if (up ? f->rise : f->fall)
				n += put_targets(c, f->source, !f->state || up != f->low,
						 st->target + n);
		}
	}
	st->target_first[2 * CVL_LINES_MAX] = (uint32_t)n;
	for (size_t k = 0; k < st->class.n; k++) {
		st->class_first[k] = (uint32_t)n;
		n += put_targets(c, st->class.feed[k].source, true, st->target + n);
	}
	st->class_first[st->class.n] = (uint32_t)n;
	return 0;
}

/* Request only what has listeners. */
static int ask_for(struct check *c, size_t stream)
{
	struct stream_state *st = &c->stream[stream];
	bool *classes = calloc(st->class.n_whats + 1, sizeof(*classes));

	if (!classes)
		return CVL_E_NOMEM;
	for (size_t k = 0; k < st->class.n_whats; k++)
		classes[k] = st->class.first[k] < st->class.first[k + 1];
	st->pick = (struct cvl_pick){ .lines = st->mask,
				      .classes = classes,
				      .n_classes = st->class.n_whats };
	if (st->mask)
		st->pick.kinds |= 1u << CVL_EDGE;
	for (size_t k = 0; k < CVL_KINDS; k++)
		if (st->kind_source[k] >= 0)
			st->pick.kinds |= 1u << k;
	return 0;
}

static void check_want(struct cvl_analysis *a, size_t stream, struct cvl_pick *pick)
{
	*pick = ((struct check *)a)->stream[stream].pick;
}

static void check_free(struct cvl_analysis *a)
{
	struct check *c = (struct check *)a;

	for (size_t i = 0; i < c->n_monitors; i++) {
		free(c->monitor[i].source);
		free(c->monitor[i].a.item);
		free(c->monitor[i].b.item);
	}
	for (size_t i = 0; i < c->n_meanings; i++)
		cvl_selector_free(&c->meaning[i].sel);
	for (size_t i = 0; i < c->n_sources; i++) {
		free(c->source[i].listener);
		free(c->source[i].stream);
	}
	for (size_t i = 0; c->stream && i < c->n_streams; i++) {
		free(c->stream[i].line.feed);
		free(c->stream[i].line.first);
		free(c->stream[i].class.feed);
		free(c->stream[i].class.first);
		free(c->stream[i].source);
		free(c->stream[i].source_lines);
		free(c->stream[i].target);
		free(c->stream[i].class_first);
		free((void *)(uintptr_t)c->stream[i].pick.classes);
	}
	free(c->monitor);
	free(c->meaning);
	free(c->source);
	free(c->stream);
	free(c->result);
	free(c->inbox);
	free(c->hi);
	free(c->drift);
	free(c->root);
	free(c);
}

int cvl_check_open(struct cvl_analysis **out, struct cvl_timeline *tl,
		   const struct cvl_check_opts *opts, struct cvl_error *err)
{
	static const struct cvl_analysis_kind kind = { .name = "check",
						       .want = check_want,
						       .push = check_push,
						       .end = check_end,
						       .free = check_free };
	struct check *c = calloc(1, sizeof(*c));
	int rc;

	*out = NULL;
	if (!c)
		return cvl_no_memory(err);
	c->base.kind = &kind;
	c->rules = opts->rules;
	c->opts = *opts;
	c->last = INT64_MAX;
	c->tl = tl;
	rc = allocate(c) ? cvl_no_memory(err) : check_bind(c, err);
	for (size_t i = 0; i < c->n_monitors && !rc; i++)
		c->monitor[i].reach = monitor_reach(c, &c->monitor[i]);
	for (size_t i = 0; i < c->n_streams && !rc; i++)
		rc = list_targets(c, &c->stream[i]) || ask_for(c, i) ? cvl_no_memory(err) : 0;
	c->pub = (struct cvl_check_result){ .file = c->rules->file,
					    .n = c->rules->n,
					    .rule = c->result };
	if (rc)
		check_free(&c->base);
	else
		*out = &c->base;
	return rc;
}

/* ---- rules ---- */

int cvl_check_rules_parse(struct cvl_check_rules **rules, const char *text, size_t n,
			  const char *name, struct cvl_error *err)
{
	int rc;

	*rules = calloc(1, sizeof(**rules));
	if (!*rules)
		return cvl_no_memory(err);
	rc = check_rules_parse(*rules, text, n, name, err);
	if (rc) {
		cvl_check_rules_free(*rules);
		*rules = NULL;
	}
	return rc;
}

int cvl_check_rules_load(struct cvl_check_rules **rules, const char *path, struct cvl_error *err)
{
	size_t n;
	char *text = cvl_read_whole(path, FILE_MAX, &n, err);
	int rc = text ? cvl_check_rules_parse(rules, text, n, path, err) : (int)err->code;

	if (!text)
		*rules = NULL;
	free(text);
	return rc;
}

void cvl_check_rules_free(struct cvl_check_rules *rules)
{
	if (rules)
		check_rules_free(rules);
	free(rules);
}
