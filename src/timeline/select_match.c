/* SPDX-License-Identifier: MIT */
/* Resolved selectors against records. */
#include <coeval/select.h>

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/fields.h>

#define TEXT_MAX 256

/* ---- fields ---- */

struct look {
	const struct cvl_selector *sel;
	bool is_span;
	bool named;   /* the span's name matches */
	unsigned met; /* a bit for each condition */
};

static bool compare(const struct cvl_condition *c, long double v)
{
	switch (c->op) {
	case CVL_EQ: return c->is_number && v == c->number;
	case CVL_NE: return !c->is_number || v != c->number;
	case CVL_LT: return v < c->number;
	case CVL_LE: return v <= c->number;
	case CVL_GT: return v > c->number;
	default: return v >= c->number;
	}
}

static bool text_is(const char *pattern, const char *text, size_t n)
{
	char buf[TEXT_MAX];

	n = n < sizeof(buf) ? n : sizeof(buf) - 1;
	memcpy(buf, text, n);
	buf[n] = '\0';
	return !strcmp(pattern, buf) || !fnmatch(pattern, buf, 0);
}

static bool compare_text(const struct cvl_condition *c, bool same)
{
	return c->op == CVL_EQ ? same : c->op == CVL_NE && !same;
}

/* An enumeration is compared by its label, or by its number. */
static bool has_label(const struct cvl_condition *c, const struct cvl_type *t, int64_t v)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (v >= t->label[i].low && v <= t->label[i].high &&
		    !fnmatch(c->text, t->label[i].name, 0))
			return true;
	return false;
}

static bool meets(const struct cvl_condition *c, const struct cvl_value *v)
{
	const struct cvl_type *t = v->type, *number = t->kind == CVL_TYPE_ENUM ? t->elem : t;

	switch (t->kind) {
	case CVL_TYPE_FLOAT: return compare(c, v->f);
	case CVL_TYPE_ENUM:
		if (!c->is_number)
			return compare_text(c, has_label(c, t, v->i));
		/* fall through */
	case CVL_TYPE_INT:
		return compare(c, number->is_signed ? (long double)v->i : (long double)v->u);
	default: return compare_text(c, text_is(c->text, v->s.text, v->s.len));
	}
}

static void take_value(void *ctx, const char *name, const struct cvl_value *v)
{
	struct look *l = ctx;

	if (!name)
		return;
	name = cvl_plain_name(name);
	if (l->is_span && v->type->kind == CVL_TYPE_STRING && !strcmp(name, "name"))
		l->named = text_is(l->sel->name, v->s.text, v->s.len);
	for (size_t i = 0; i < l->sel->n_conditions; i++)
		if (!strcmp(name, l->sel->condition[i].field) && meets(&l->sel->condition[i], v))
			l->met |= 1u << i;
}

static void take_begin(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	(void)ctx, (void)name, (void)t, (void)n;
}

static void take_end(void *ctx, const struct cvl_type *t)
{
	(void)ctx, (void)t;
}

/* Fields of records other than events, as they are shown. */
static bool plain_holds(const struct cvl_condition *c, const struct cvl_batch *b, size_t i)
{
	switch ((enum cvl_kind)b->kind[i]) {
	case CVL_EDGE: return !strcmp(c->field, "levels") && compare(c, b->value[i]);
	case CVL_SAMPLE:
		return (!strcmp(c->field, "value") && compare(c, cvl_sample(b->value[i]))) ||
		       (!strcmp(c->field, "channel") && compare(c, b->cls[i]));
	case CVL_BEACON:
		return (!strcmp(c->field, "sender") && compare(c, b->cls[i])) ||
		       (!strcmp(c->field, "seq") && compare(c, b->value[i]));
	case CVL_PULSE: return !strcmp(c->field, "channel") && compare(c, b->cls[i]);
	case CVL_MESSAGE:
		return (!strcmp(c->field, "direction") &&
			compare_text(c, !fnmatch(c->text, b->cls[i] ? "received" : "sent", 0))) ||
		       (!strcmp(c->field, "key") && compare(c, b->value[i]));
	case CVL_GAP:
		return (!strcmp(c->field, "why") &&
			compare_text(
				c, !fnmatch(c->text, cvl_gap_name((enum cvl_gap)b->cls[i]), 0))) ||
		       (!strcmp(c->field, "lost") && b->value[i] != CVL_LOST_UNKNOWN &&
			compare(c, b->value[i]));
	default: return false;
	}
}

bool cvl_selector_holds(const struct cvl_selector *sel, const struct cvl_timeline *tl,
			const struct cvl_slice *sl, size_t i)
{
	const struct cvl_batch *b = sl->batch;
	struct look l = { .sel = sel };
	const struct cvl_visitor visitor = { take_value, take_begin, take_end, NULL, &l, NULL };

	if (b->kind[i] != CVL_EVENT && b->kind[i] != CVL_BEGIN && b->kind[i] != CVL_END) {
		for (size_t k = 0; k < sel->n_conditions; k++)
			if (!plain_holds(&sel->condition[k], b, i))
				return false;
		return true;
	}
	l.is_span = cvl_selector_spans(sel, tl, sl->stream, b->cls[i]);
	l.named = !l.is_span;
	return !cvl_stream_visit(cvl_timeline_stream(tl, sl->stream), b, i, &visitor, NULL) &&
	       l.named && l.met == (1u << sel->n_conditions) - 1;
}

/* ---- selections ---- */

/* The lines of a stream that a selector means. */
struct lines {
	uint64_t selector; /* its bit */
	uint64_t lines;
	enum cvl_when when;
};

struct bound {
	struct cvl_levels levels;
	struct lines *line;
	size_t n_lines;
	uint64_t watched;   /* lines */
	uint64_t *by_class; /* selectors of each event class, */
	uint64_t *to_test;  /* and those of them that need the fields */
	size_t n_classes;
	uint64_t by_kind[CVL_KINDS + 1], conditional;
	bool *classes; /* wanted event classes */
};

struct cvl_selection {
	struct cvl_timeline *tl;
	struct cvl_selector *const *selector;
	size_t n, n_streams;
	struct bound *stream;
};

static uint64_t bit(size_t i)
{
	return (uint64_t)1 << i;
}

static int bind_lines(struct cvl_selection *s, size_t i, size_t stream, const char *node,
		      struct cvl_error *err)
{
	const struct cvl_selector *sel = s->selector[i];
	struct bound *b = &s->stream[stream];
	struct lines l = { .selector = bit(i), .when = sel->means };
	size_t n = cvl_timeline_lines(s->tl, stream);
	bool state = l.when == CVL_WHEN_HIGH || l.when == CVL_WHEN_LOW;

	for (size_t k = 0; k < n; k++)
		if (cvl_selector_line(sel, s->tl, stream, k))
			l.lines |= bit(k);
	if (!l.lines)
		return 0;
	if (state && l.lines & (l.lines - 1))
		return cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"'%.100s' matches several lines of %.60s; a state must be of one line",
			sel->text, node);
	b->line[b->n_lines++] = l;
	b->watched |= l.lines;
	return 0;
}

static void bind_events(struct cvl_selection *s, size_t i, size_t stream, size_t clock)
{
	const struct cvl_selector *sel = s->selector[i];
	struct bound *b = &s->stream[stream];
	uint32_t kinds = cvl_selector_kinds(sel, s->tl, stream);

	for (size_t k = 0; k < b->n_classes; k++) {
		if (!cvl_selector_class(sel, s->tl, stream, k, clock))
			continue;
		b->by_class[k] |= bit(i);
		b->classes[k] = true;
		if (cvl_selector_tests(sel, s->tl, stream, k))
			b->to_test[k] |= bit(i);
	}
	for (unsigned k = 0; k <= CVL_KINDS; k++)
		if (kinds >> k & 1)
			b->by_kind[k] |= bit(i);
	if (sel->n_conditions)
		b->conditional |= bit(i);
}

static int bind_stream(struct cvl_selection *s, size_t stream, struct cvl_error *err)
{
	const struct cvl_session *session = cvl_timeline_session(s->tl);
	struct bound *b = &s->stream[stream];
	int rc = 0;

	b->n_classes = cvl_trace_events(cvl_timeline_trace(s->tl, stream));
	b->line = calloc(s->n + 1, sizeof(*b->line));
	b->by_class = calloc(b->n_classes + 1, sizeof(*b->by_class));
	b->to_test = calloc(b->n_classes + 1, sizeof(*b->to_test));
	b->classes = calloc(b->n_classes + 1, sizeof(*b->classes));
	if (!b->line || !b->by_class || !b->to_test || !b->classes)
		return cvl_no_memory(err);
	for (size_t i = 0; i < s->n && !rc; i++) {
		bool lines = false;

		for (size_t c = 0; c < cvl_session_clocks(session) && !rc; c++) {
			if (!cvl_select_stream(s->tl, stream, c) ||
			    !cvl_selector_clock(s->selector[i], s->tl, c))
				continue;
			if (!lines)
				rc = bind_lines(s, i, stream, cvl_session_clock(session, c)->node,
						err);
			lines = true;
			bind_events(s, i, stream, c);
		}
	}
	return rc;
}

int cvl_select_open(struct cvl_selection **out, struct cvl_selector *const *selectors, size_t n,
		    struct cvl_timeline *tl, const struct cvl_select_opts *opts,
		    struct cvl_error *err)
{
	struct cvl_selection *s;
	int rc = 0;

	*out = NULL;
	if (n > CVL_SELECTION_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "more than %d selectors at once",
				CVL_SELECTION_MAX);
	s = calloc(1, sizeof(*s));
	if (!s)
		return cvl_no_memory(err);
	*s = (struct cvl_selection){ tl, selectors, n, cvl_timeline_streams(tl), NULL };
	s->stream = calloc(s->n_streams + 1, sizeof(*s->stream));
	if (!s->stream)
		rc = cvl_no_memory(err);
	for (size_t i = 0; i < n && !rc; i++)
		rc = cvl_selector_resolve(selectors[i], tl, opts, err);
	for (size_t i = 0; i < s->n_streams && !rc; i++)
		rc = bind_stream(s, i, err);
	if (rc)
		cvl_select_close(s);
	else
		*out = s;
	return rc;
}

void cvl_select_close(struct cvl_selection *s)
{
	if (!s)
		return;
	for (size_t i = 0; s->stream && i < s->n_streams; i++) {
		free(s->stream[i].line);
		free(s->stream[i].by_class);
		free(s->stream[i].to_test);
		free(s->stream[i].classes);
	}
	free(s->stream);
	free(s);
}

void cvl_select_want(const struct cvl_selection *s, size_t stream, struct cvl_pick *pick)
{
	const struct bound *b = &s->stream[stream];

	*pick = (struct cvl_pick){ .lines = b->watched,
				   .classes = b->classes,
				   .n_classes = b->n_classes };
	if (b->watched)
		pick->kinds = 1u << CVL_EDGE;
	for (unsigned k = 0; k < CVL_KINDS; k++)
		if (b->by_kind[k])
			pick->kinds |= 1u << k;
	if (b->by_kind[CVL_EDGE] | b->by_kind[CVL_KINDS]) {
		pick->kinds |= 1u << CVL_EDGE;
		pick->lines = UINT64_MAX;
	}
}

bool cvl_select_in(const struct cvl_selection *s, size_t i, size_t stream)
{
	const struct bound *b = &s->stream[stream];
	uint64_t any = 0;

	for (size_t k = 0; k < b->n_lines; k++)
		any |= b->line[k].selector;
	for (size_t k = 0; k < b->n_classes; k++)
		any |= b->by_class[k];
	for (size_t k = 0; k <= CVL_KINDS; k++)
		any |= b->by_kind[k];
	return any & bit(i);
}

/* Match a change of levels; @was: lines known before. */
static void match_lines(const struct bound *b, uint64_t was, uint64_t changed, struct cvl_match *m)
{
	const uint64_t now = b->levels.now, known = b->levels.known;

	if (!((changed | (was ^ known)) & b->watched))
		return;
	for (const struct lines *l = b->line; l < b->line + b->n_lines; l++) {
		const uint64_t ups = changed & now & l->lines, downs = changed & ~now & l->lines;
		uint64_t happened = 0, ended = 0;

		switch (l->when) {
		case CVL_WHEN_RISE: happened = ups; break;
		case CVL_WHEN_FALL: happened = downs; break;
		case CVL_WHEN_HIGH: happened = ups, ended = downs; break;
		case CVL_WHEN_LOW: happened = downs, ended = ups; break;
		default: happened = ups | downs;
		}
		m->happened |= happened ? l->selector : 0;
		m->ended |= ended ? l->selector : 0;
		m->found |= known & ~was & l->lines ? l->selector : 0;
		m->lost |= was & ~known & l->lines ? l->selector : 0;
	}
}

static uint64_t states_in(const struct bound *b)
{
	uint64_t in = 0;

	for (const struct lines *l = b->line; l < b->line + b->n_lines; l++)
		if (l->lines & b->levels.known &&
		    ((l->when == CVL_WHEN_HIGH && l->lines & b->levels.now) ||
		     (l->when == CVL_WHEN_LOW && l->lines & ~b->levels.now)))
			in |= l->selector;
	return in;
}

/* Of @may those that have no conditions (are not in @test), or whose conditions hold. */
static uint64_t tested(const struct cvl_selection *s, const struct cvl_slice *sl, size_t i,
		       uint64_t may, uint64_t test)
{
	for (uint64_t left = may & test; left; left &= left - 1) {
		size_t k = (size_t)__builtin_ctzll(left);

		if (!cvl_selector_holds(s->selector[k], s->tl, sl, i))
			may &= ~bit(k);
	}
	return may;
}

bool cvl_select_match(struct cvl_selection *s, const struct cvl_slice *sl, size_t i,
		      struct cvl_match *m)
{
	const struct cvl_batch *batch = sl->batch;
	struct bound *b = &s->stream[sl->stream];
	uint64_t was = b->levels.known, changed = 0;
	unsigned kind = batch->kind[i];

	*m = (struct cvl_match){ 0 };
	if (kind == CVL_EVENT || kind == CVL_BEGIN || kind == CVL_END) {
		uint32_t cls = batch->cls[i];

		if (cls < b->n_classes && b->by_class[cls])
			m->happened = tested(s, sl, i, b->by_class[cls], b->to_test[cls]);
	} else {
		if (kind == CVL_EDGE)
			changed = cvl_levels_take(&b->levels, batch, i);
		else if (kind == CVL_GAP)
			b->levels = (struct cvl_levels){ 0 };
		if (kind == CVL_EDGE && batch->flags[i] & CVL_STATE)
			kind = CVL_KINDS;
		if (b->by_kind[kind])
			m->happened = tested(s, sl, i, b->by_kind[kind], b->conditional);
		match_lines(b, was, changed, m);
	}
	if (b->n_lines)
		m->in = states_in(b);
	return m->happened | m->ended | m->found | m->lost;
}
