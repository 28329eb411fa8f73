/* SPDX-License-Identifier: MIT */
/*
 * Resolves selectors on a timeline: where the node ends and the name begins, and what in each
 * stream has that name.
 */
#include <coeval/select.h>

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include <coeval/fields.h>
#include <coeval/near.h>

static const uint32_t usual_kinds = 1u << CVL_BEACON | 1u << CVL_PULSE | 1u << CVL_MESSAGE;

/* "levels" is an edge that restates them. */
#define KIND_NAMES (CVL_KINDS + 1)

static const char *kind_name(unsigned kind)
{
	return kind == CVL_KINDS ? "levels" : cvl_kind_name((enum cvl_kind)kind);
}

/* Names may contain brackets: data[3]. */
static bool is_called(const char *pattern, const char *name)
{
	return !strcmp(pattern, name) || !fnmatch(pattern, name, 0);
}

static bool is_glob(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

static bool is_span_kind(enum cvl_kind kind)
{
	return kind == CVL_BEGIN || kind == CVL_END;
}

/* ---- lookup ---- */

bool cvl_select_stream(const struct cvl_timeline *tl, size_t stream, size_t clock)
{
	return !strcmp(cvl_trace_path(cvl_timeline_trace(tl, stream)),
		       cvl_session_clock(cvl_timeline_session(tl), clock)->trace);
}

static bool class_on(const struct cvl_timeline *tl, size_t stream, size_t cls, size_t clock)
{
	const struct cvl_trace *t = cvl_timeline_trace(tl, stream);
	const char *want = cvl_session_clock(cvl_timeline_session(tl), clock)->clock_class;
	int on = cvl_trace_event(t, cls)->clock;

	return on < 0 || cvl_trace_clocks(t) < 2 ||
	       !strcmp(cvl_trace_clock(t, (size_t)on)->name, want);
}

/* ---- matching ---- */

static bool node_is(const struct cvl_timeline *tl, size_t clock, const char *node)
{
	const struct cvl_clock *k = cvl_session_clock(cvl_timeline_session(tl), clock);

	return !*node || is_called(node, k->node) || is_called(node, k->name) ||
	       is_called(node, k->clock);
}

bool cvl_selector_clock(const struct cvl_selector *sel, const struct cvl_timeline *tl, size_t clock)
{
	return node_is(tl, clock, sel->node);
}

/* A line may be given by the last part of its name, if that is unique. */
static bool line_is(const struct cvl_timeline *tl, size_t stream, size_t line, const char *name)
{
	const struct cvl_trace *t = cvl_timeline_trace(tl, stream);
	const char *known = cvl_trace_env_at(t, "line", line);
	char buf[24];

	if (known && *known)
		return is_called(name, known) || cvl_trace_line(t, name) == (int)line;
	snprintf(buf, sizeof(buf), "line%zu", line);
	return !strcmp(name, buf) || is_called(name, cvl_timeline_line(tl, stream, line, buf));
}

bool cvl_selector_line(const struct cvl_selector *sel, const struct cvl_timeline *tl, size_t stream,
		       size_t line)
{
	return sel->line && line_is(tl, stream, line, sel->name);
}

static bool class_is_called(const struct cvl_timeline *tl, size_t stream, size_t cls,
			    const char *name)
{
	const char *known = cvl_trace_event(cvl_timeline_trace(tl, stream), cls)->name;

	return is_called(name, known) || is_called(name, cvl_plain_name(known));
}

/* Whether its records are ends of spans that @sel may mean. */
static bool is_span(const struct cvl_selector *sel, enum cvl_kind kind)
{
	if (!sel->span || !is_span_kind(kind))
		return false;
	if (sel->means >= CVL_WHEN_BEGIN)
		return kind == (sel->means == CVL_WHEN_BEGIN ? CVL_BEGIN : CVL_END);
	return !sel->pair || kind == (sel->pair == 1 ? CVL_BEGIN : CVL_END);
}

bool cvl_selector_class(const struct cvl_selector *sel, const struct cvl_timeline *tl,
			size_t stream, size_t cls, size_t clock)
{
	enum cvl_kind kind = cvl_trace_event(cvl_timeline_trace(tl, stream), cls)->kind;

	if ((kind != CVL_EVENT && !is_span_kind(kind)) || !class_on(tl, stream, cls, clock))
		return false;
	return (sel->event && class_is_called(tl, stream, cls, sel->name)) || is_span(sel, kind);
}

/* Whether class @cls is one of spans, which have to be selected by their names. */
bool cvl_selector_spans(const struct cvl_selector *sel, const struct cvl_timeline *tl,
			size_t stream, size_t cls)
{
	return is_span(sel, cvl_trace_event(cvl_timeline_trace(tl, stream), cls)->kind) &&
	       !(sel->event && class_is_called(tl, stream, cls, sel->name));
}

bool cvl_selector_tests(const struct cvl_selector *sel, const struct cvl_timeline *tl,
			size_t stream, size_t cls)
{
	return sel->n_conditions || cvl_selector_spans(sel, tl, stream, cls);
}

static uint32_t kinds_called(const struct cvl_timeline *tl, size_t stream, const char *name,
			     const struct cvl_select_opts *opts)
{
	uint32_t may = opts->kinds ? opts->kinds : usual_kinds, kinds = 0;

	if (!cvl_trace_ours(cvl_timeline_trace(tl, stream)))
		may &= 1u << CVL_GAP;
	if (may & 1u << CVL_EDGE)
		may |= 1u << CVL_KINDS;
	for (unsigned k = 0; k < KIND_NAMES; k++)
		if (k != CVL_EVENT && k != CVL_BEGIN && k != CVL_END && may >> k & 1 &&
		    is_called(name, kind_name(k)))
			kinds |= 1u << k;
	return kinds;
}

uint32_t cvl_selector_kinds(const struct cvl_selector *sel, const struct cvl_timeline *tl,
			    size_t stream)
{
	const struct cvl_select_opts opts = { .kinds = sel->kinds };

	return sel->event ? kinds_called(tl, stream, sel->name, &opts) : 0;
}

/* ---- readings ---- */

/* One way to read NODE.NAME:when. */
struct reading {
	char node[CVL_SELECTOR_MAX + 1];
	const char *name;
	size_t longest; /* of the two */
	enum cvl_when when;
	bool line, event, span, exact;
};

struct finder {
	const struct cvl_selector *sel;
	const struct cvl_timeline *tl;
	const struct cvl_select_opts *opts;
};

static bool any_node(const struct finder *f, const char *node)
{
	return !*node || (f->opts->relative && (!strcmp(node, "same") || !strcmp(node, "other")));
}

/* Look at @stream on @clock. */
static void look(const struct finder *f, size_t stream, size_t clock, struct reading *r)
{
	const enum cvl_when when = r->when;
	const struct cvl_trace *t = cvl_timeline_trace(f->tl, stream);
	bool plain = when == CVL_WHEN_PLAIN,
	     lines = when < CVL_WHEN_BEGIN && !f->sel->n_conditions && !f->opts->events;
	size_t n = lines ? cvl_timeline_lines(f->tl, stream) : 0;

	for (size_t i = 0; i < n; i++) {
		char buf[24];

		if (!line_is(f->tl, stream, i, r->name))
			continue;
		r->line = true;
		r->exact = r->exact || !is_glob(r->name) ||
			   !strcmp(cvl_timeline_line(f->tl, stream, i, buf), r->name);
	}
	n = plain || when >= CVL_WHEN_BEGIN ? cvl_trace_events(t) : 0;
	for (size_t i = 0; i < n; i++) {
		enum cvl_kind kind = cvl_trace_event(t, i)->kind;

		if ((kind != CVL_EVENT && !is_span_kind(kind)) ||
		    !class_on(f->tl, stream, i, clock))
			continue;
		r->event = r->event || (plain && class_is_called(f->tl, stream, i, r->name));
		r->span = r->span || (is_span_kind(kind) && (!plain || f->opts->spans));
	}
	r->event = r->event || (plain && kinds_called(f->tl, stream, r->name, f->opts));
}

/* Fill @r with what exists in that reading; false: nothing does. */
static bool exists(const struct finder *f, struct reading *r)
{
	size_t clocks = cvl_session_clocks(cvl_timeline_session(f->tl));

	r->line = r->event = r->span = r->exact = false;
	for (size_t c = 0; c < clocks; c++)
		for (size_t s = 0; s < cvl_timeline_streams(f->tl); s++)
			if ((any_node(f, r->node) || node_is(f->tl, c, r->node)) &&
			    cvl_select_stream(f->tl, s, c))
				look(f, s, c, r);
	return r->line || r->event || r->span;
}

/* The reading of @path whose node ends at cut @cut; n_cuts: without a node. */
static void make_reading(const struct cvl_selector *sel, const char *path, size_t cut,
			 struct reading *r)
{
	size_t n = cut < sel->n_cuts ? sel->cut[cut] : 0, rest;

	memcpy(r->node, path, n);
	r->node[n] = '\0';
	r->name = path + (n ? n + 1 : 0);
	rest = strlen(r->name);
	r->longest = n > rest ? n : rest;
}

/* A name that exists beats one that a span may have; of the latter only the node is known. */
static bool better(const struct reading *a, const struct reading *b)
{
	bool sure_a = a->line || a->event, sure_b = b->line || b->event;

	if (sure_a != sure_b)
		return sure_a;
	return sure_a ? a->longest > b->longest : strlen(a->node) > strlen(b->node);
}

static int two_readings(const struct finder *f, const struct reading *a, const struct reading *b,
			struct cvl_error *err)
{
	const struct reading *r[] = { a, b };
	char text[2][CVL_ERROR_TEXT / 3];

	for (int i = 0; i < 2; i++) {
		size_t n = cvl_select_quote(text[i], 0, sizeof(text[i]), r[i]->node);

		n += (size_t)snprintf(text[i] + n, sizeof(text[i]) - n, ".");
		cvl_select_quote(text[i], n < sizeof(text[i]) ? n : sizeof(text[i]) - 1,
				 sizeof(text[i]), r[i]->name);
	}
	return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			"'%.100s' is ambiguous: %s or %s; quote the names", f->sel->text, text[0],
			text[1]);
}

/* ---- unknown names ---- */

static const char *last_part(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot[1] ? dot + 1 : name;
}

static void near_names(const struct finder *f, const char *node, bool lines, struct cvl_near *near)
{
	size_t clocks = cvl_session_clocks(cvl_timeline_session(f->tl));

	for (size_t s = 0; s < cvl_timeline_streams(f->tl); s++) {
		const struct cvl_trace *t = cvl_timeline_trace(f->tl, s);
		bool meant = any_node(f, node);
		size_t n = lines ? cvl_timeline_lines(f->tl, s) : cvl_trace_events(t);
		char buf[24];

		for (size_t c = 0; c < clocks && !meant; c++)
			meant = cvl_select_stream(f->tl, s, c) && node_is(f->tl, c, node);
		for (size_t i = 0; meant && i < n; i++) {
			if (lines) {
				const char *name = cvl_timeline_line(f->tl, s, i, buf);

				cvl_near_add(near, strcmp(last_part(name), near->name) ?
							   name :
							   last_part(name));
				continue;
			}
			if (!cvl_trace_ours(t) || cvl_trace_event(t, i)->kind == CVL_EVENT)
				cvl_near_add(near, cvl_plain_name(cvl_trace_event(t, i)->name));
		}
	}
}

/* Several lines have this last part, so it is ambiguous. */
static bool lines_ending(const struct finder *f, const char *node, const char *name,
			 struct cvl_near *near)
{
	size_t clocks = cvl_session_clocks(cvl_timeline_session(f->tl)), found = 0;

	for (size_t s = 0; s < cvl_timeline_streams(f->tl); s++) {
		bool meant = any_node(f, node);
		char buf[24];

		for (size_t c = 0; c < clocks && !meant; c++)
			meant = cvl_select_stream(f->tl, s, c) && node_is(f->tl, c, node);
		for (size_t i = 0; meant && i < cvl_timeline_lines(f->tl, s); i++) {
			const char *line = cvl_timeline_line(f->tl, s, i, buf);

			if (!strcmp(last_part(line), name)) {
				cvl_near_add(near, line);
				found++;
			}
		}
	}
	return found > 1;
}

static int no_name(const struct finder *f, const struct reading *r, struct cvl_error *err)
{
	const struct cvl_selector *sel = f->sel;
	bool lines = sel->when && sel->when < CVL_WHEN_BEGIN,
	     events = sel->n_conditions || sel->when >= CVL_WHEN_BEGIN;
	struct cvl_near near = { .name = r->name };
	char text[CVL_NEAR_TEXT];
	const char *what = lines ? "line" : sel->when ? "span" : events ? "event" : "line or event";

	if (!events && lines_ending(f, r->node, r->name, &near))
		return cvl_fail(err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
				"'%.100s': several lines end in %.60s%.150s", sel->text, r->name,
				cvl_near_text(&near, text));
	near.n = 0;
	if (!events)
		near_names(f, r->node, true, &near);
	if (!lines && sel->when < CVL_WHEN_BEGIN)
		near_names(f, r->node, false, &near);
	return cvl_fail(err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
			"'%.100s': %.60s has no %s %.60s%.150s", sel->text,
			*r->node ? r->node : "the session", what, r->name,
			cvl_near_text(&near, text));
}

/*
 * Whether something would match without the text after the last colon, which is not an edge or
 * state.
 */
static bool is_misspelt(const struct finder *f)
{
	char path[CVL_SELECTOR_MAX + 1];
	char *colon = strrchr(strcpy(path, f->sel->path), ':');
	struct reading r;

	if (f->sel->when || !colon)
		return false;
	*colon = '\0';
	for (size_t cut = 0; cut <= f->sel->n_cuts - f->sel->must_cut; cut++) {
		if (cut < f->sel->n_cuts && path + f->sel->cut[cut] >= colon)
			continue;
		make_reading(f->sel, path, cut, &r);
		r.when = CVL_WHEN_PLAIN;
		if (exists(f, &r))
			return true;
	}
	return false;
}

static int nothing(const struct finder *f, struct cvl_error *err)
{
	const struct cvl_selector *sel = f->sel;
	size_t clocks = cvl_session_clocks(cvl_timeline_session(f->tl));
	struct reading r;
	struct cvl_near near;
	char text[CVL_NEAR_TEXT];

	if (is_misspelt(f))
		return cvl_fail(
			err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
			"'%.100s': expected rise, fall, edge, high, low, begin or end after the colon, not %.60s",
			sel->text, strrchr(sel->path, ':') + 1);
	/* the longest existing node; else a first part that is nearly a node's name */
	for (size_t cut = sel->n_cuts; cut-- > 0;) {
		make_reading(sel, sel->path, cut, &r);
		for (size_t c = 0; c < clocks; c++)
			if (any_node(f, r.node) || node_is(f->tl, c, r.node))
				return no_name(f, &r, err);
	}
	make_reading(sel, sel->path, 0, &r);
	if (!sel->n_cuts)
		return no_name(f, &r, err);
	near = (struct cvl_near){ .name = r.node };
	for (size_t c = 0; c < clocks; c++)
		cvl_near_add(&near, cvl_session_clock(cvl_timeline_session(f->tl), c)->node);
	return cvl_fail(err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET,
			"'%.100s': no node is called %.60s%.150s", sel->text, r.node,
			cvl_near_text(&near, text));
}

int cvl_selector_resolve(struct cvl_selector *sel, const struct cvl_timeline *tl,
			 const struct cvl_select_opts *opts, struct cvl_error *err)
{
	static const struct cvl_select_opts usual = { 0 };
	const struct finder f = { sel, tl, opts ? opts : &usual };
	const char *const paths[] = { sel->path, sel->full };
	struct reading best, tied, r;
	bool found = false, tie = false;

	for (size_t i = 0; i < 2 && paths[i]; i++) {
		for (size_t cut = 0; cut <= sel->n_cuts - sel->must_cut; cut++) {
			make_reading(sel, paths[i], cut, &r);
			r.when = i ? CVL_WHEN_PLAIN : sel->when;
			if (!exists(&f, &r))
				continue;
			if (!found || better(&r, &best)) {
				best = r;
				tie = false;
			} else if (!better(&best, &r)) {
				tied = r;
				tie = true;
			}
			found = true;
		}
	}
	if (!found)
		return nothing(&f, err);
	if (tie)
		return two_readings(&f, &best, &tied, err);
	sel->node = strcpy(sel->node_room, best.node);
	sel->name = best.name;
	sel->kinds = f.opts->kinds;
	sel->line = best.line;
	sel->event = best.event && !best.exact;
	sel->span = best.span && !best.exact;
	sel->means = best.when;
	if (best.line && !best.when)
		sel->means = f.opts->line ? f.opts->line : CVL_WHEN_EDGE;
	return 0;
}

void cvl_select_each(const struct cvl_timeline *tl,
		     void (*fn)(void *ctx, const char *quoted, bool is_line), void *ctx)
{
	const struct cvl_session *session = cvl_timeline_session(tl);
	char text[2 * CVL_SELECTOR_MAX], buf[24];

	for (size_t c = 0; c < cvl_session_clocks(session); c++) {
		size_t node = cvl_select_quote(text, 0, CVL_SELECTOR_MAX,
					       cvl_session_clock(session, c)->node);

		text[node++] = '.';
		for (size_t s = 0; s < cvl_timeline_streams(tl); s++) {
			const struct cvl_trace *t = cvl_timeline_trace(tl, s);

			if (!cvl_select_stream(tl, s, c))
				continue;
			for (size_t i = 0; i < cvl_timeline_lines(tl, s); i++) {
				cvl_select_quote(text, node, sizeof(text),
						 cvl_timeline_line(tl, s, i, buf));
				fn(ctx, text, true);
			}
			for (size_t i = 0; i < cvl_trace_events(t); i++) {
				const struct cvl_event_class *e = cvl_trace_event(t, i);

				if (e->kind != CVL_EVENT || !class_on(tl, s, i, c))
					continue;
				cvl_select_quote(text, node, sizeof(text), cvl_plain_name(e->name));
				fn(ctx, text, false);
			}
		}
	}
}
