/* SPDX-License-Identifier: MIT */
/* From rules to sources and monitors. */
#include <stdlib.h>
#include <string.h>

#include "analysis/check/internal.h"
#include <coeval/array.h>

/* Sources that a phrase refers to. */
struct list {
	uint32_t *source;
	size_t n, room;
};

static const struct cvl_clock *clock_at(const struct check *c, size_t i)
{
	return cvl_session_clock(cvl_timeline_session(c->tl), i);
}

/* ---- sources ---- */

static int add_stream(struct source *s, uint32_t stream)
{
	for (size_t i = 0; i < s->n_streams; i++)
		if (s->stream[i] == stream)
			return 0;
	if (cvl_room(&s->stream, s->n_streams, &s->room_streams, sizeof(*s->stream)))
		return CVL_E_NOMEM;
	s->stream[s->n_streams++] = stream;
	return 0;
}

/* Add one more clock's streams to a source. */
static int feed_clock(struct check *c, uint32_t source, size_t clock)
{
	struct source *s = &c->source[source];
	const struct cvl_clock *k = clock_at(c, clock);
	unsigned __int128 ns;
	int found = 0;

	for (size_t i = 0; i < c->n_streams; i++) {
		int n = cvl_select_stream(c->tl, i, clock) ?
				feed_stream(c, i, clock, s->meaning, source) :
				0;

		if (n < 0 || (n > 0 && add_stream(s, (uint32_t)i)))
			return CVL_E_NOMEM;
		found += n;
	}
	s->whats += (size_t)found;
	ns = ((unsigned __int128)k->resolution * 1000000000u + k->rate_hz - 1) / k->rate_hz;
	if ((int64_t)ns > s->capture)
		s->capture = (int64_t)ns;
	if (cvl_add_sat(c->hi[clock], s->capture) > s->reach)
		s->reach = cvl_add_sat(c->hi[clock], s->capture);
	if (s->root != UINT32_MAX && s->root != c->root[clock])
		s->one_clock = false;
	s->root = c->root[clock];
	return 0;
}

static struct source *new_source(struct check *c, const struct meaning *m, const char *node)
{
	struct source *s;

	if (cvl_room(&c->source, c->n_sources, &c->room_sources, sizeof(*c->source)))
		return NULL;
	s = &c->source[c->n_sources++];
	*s = (struct source){ .meaning = m, .node = node, .one_clock = true, .root = UINT32_MAX };
	return s;
}

static bool relative(const struct meaning *m)
{
	return !*m->sel.node || !strcmp(m->sel.node, "same") || !strcmp(m->sel.node, "other");
}

/*
 * Whether clock @i matches @m, for a phrase whose first source is on @from (NULL: it is the first
 * of the rule).
 */
static bool asked(const struct check *c, size_t i, const struct meaning *m, const char *from)
{
	bool other = !strcmp(m->sel.node, "other");
	bool is = from && relative(m) ? (strcmp(clock_at(c, i)->node, from) != 0) == other :
					relative(m) || cvl_selector_clock(&m->sel, c->tl, i);

	return is && clock_has(c, i, m);
}

static int put(struct list *l, uint32_t source, struct cvl_error *err)
{
	if (cvl_room(&l->source, l->n, &l->room, sizeof(*l->source)))
		return cvl_no_memory(err);
	l->source[l->n++] = source;
	return 0;
}

static uint32_t find_source(const struct check *c, const struct meaning *m, const char *node)
{
	for (size_t i = c->n_sources; i-- > 0;)
		if (c->source[i].meaning == m && c->source[i].node == node)
			return (uint32_t)i;
	return UINT32_MAX;
}

static bool listed(const struct list *l, uint32_t source)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->source[i] == source)
			return true;
	return false;
}

/* Same pointer for all clocks of a node. */
static const char *node_name(const struct check *c, size_t clock)
{
	const char *node = clock_at(c, clock)->node;

	for (size_t k = 0; k < clock; k++)
		if (!strcmp(clock_at(c, k)->node, node))
			return clock_at(c, k)->node;
	return node;
}

/* One source per node; with `any` one for all. */
static int find_sources(struct check *c, const struct meaning *m, const char *from,
			struct list *out, struct cvl_error *err)
{
	const struct check_phrase *p = m->phrase;
	size_t before = c->n_sources;
	uint32_t source = UINT32_MAX;

	out->n = 0;
	for (size_t i = 0; i < c->n_clocks; i++) {
		const char *node = node_name(c, i);

		if (!asked(c, i, m, from))
			continue;
		if (!p->any)
			source = find_source(c, m, node);
		if (source < before) { /* created for another monitor, with all its clocks */
			if (!listed(out, source) && put(out, source, err))
				return CVL_E_NOMEM;
			continue;
		}
		if (source == UINT32_MAX) {
			if (!new_source(c, m, p->any ? "any" : node))
				return cvl_no_memory(err);
			source = (uint32_t)c->n_sources - 1;
			if (put(out, source, err))
				return CVL_E_NOMEM;
		}
		if (feed_clock(c, source, i))
			return cvl_no_memory(err);
		if (check_is_state(p) && c->source[source].whats > 1)
			return check_fail(
				c, p, err,
				"several lines of %s match; a state is of one line: name it", node);
	}
	return 0;
}

/* ---- monitors ---- */

static const size_t queue_sizes[][2] = {
	[CHECK_THEN] = { sizeof(struct pending), sizeof(struct occ) },
	[CHECK_THEN_NOT] = { sizeof(struct pending), sizeof(struct occ) },
	[CHECK_STATE] = { 1, 1 },
	[CHECK_NEVER] = { sizeof(struct interval), sizeof(struct interval) },
	[CHECK_ORDER] = { sizeof(struct ordered), 1 },
	[CHECK_COUNT] = { sizeof(struct occ), 1 },
	[CHECK_EVERY] = { 1, 1 },
};

static int listen(struct source *s, uint32_t monitor, size_t role)
{
	if (cvl_room(&s->listener, s->n_listeners, &s->room, sizeof(*s->listener)))
		return CVL_E_NOMEM;
	s->listener[s->n_listeners++] = (struct listener){ monitor, (uint32_t)role };
	return 0;
}

static int add_monitor(struct check *c, size_t rule, const uint32_t *source, struct cvl_error *err)
{
	const struct check_rule *r = &c->rules->rule[rule];
	struct monitor *m;

	if (c->n_monitors == CHECK_MONITORS_MAX)
		return cvl_fail(
			err, CVL_E_LIMIT, CVL_NO_OFFSET,
			"%s:%zu:%zu: '%.80s' and the rules before it are over more than %d pairs of nodes; name fewer nodes",
			c->rules->file, r->line, r->column, r->name, CHECK_MONITORS_MAX);
	if (cvl_room(&c->monitor, c->n_monitors, &c->room_monitors, sizeof(*c->monitor)))
		return cvl_no_memory(err);
	m = &c->monitor[c->n_monitors];
	*m = (struct monitor){
		.rule = r,
		.result = &c->result[rule],
		.same_clock = true,
		.step = -1,
		.a.size = queue_sizes[r->kind][0],
		.b.size = queue_sizes[r->kind][1],
	};
	m->source = calloc(r->n_phrases, sizeof(*m->source));
	if (!m->source)
		return cvl_no_memory(err);
	c->n_monitors++;
	for (size_t i = r->n_phrases;
	     i-- > 0;) { /* an event that is both A and B does not answer itself */
		struct source *s = &c->source[source[i]];

		m->source[i] = source[i];
		m->same_clock =
			m->same_clock && s->one_clock && s->root == c->source[source[0]].root;
		if (listen(s, (uint32_t)c->n_monitors - 1, i))
			return cvl_no_memory(err);
	}
	return 0;
}

/* The monitors of a rule whose first phrase is source[0]. */
static int bind_rest(struct check *c, size_t rule, const struct meaning *m, uint32_t *source,
		     struct list *list, bool *bound, struct cvl_error *err)
{
	const struct check_rule *r = &c->rules->rule[rule];
	const char *from = c->source[source[0]].node;
	int rc = 0;

	for (size_t i = 1; i < r->n_phrases; i++) {
		const struct check_phrase *p = &r->phrase[i];

		if (r->phrase[0].any && relative(&m[i]))
			return check_fail(
				c, p, err,
				"the first event is of any node, so '%s' has no meaning; name a node or say `any *.%s`",
				*m[i].sel.node ? m[i].sel.node : "same", m[i].sel.name);
		rc = find_sources(c, &m[i], from, list, err);
		if (rc)
			return rc;
		if (!list->n)
			return 0; /* no match on this node: it is not among those meant */
		if (i + 1 < r->n_phrases || r->kind == CHECK_ORDER) {
			if (list->n > 1)
				return check_fail(
					c, p, err,
					"several nodes match; in an order name one node, `same`, or `any`");
			source[i] = list->source[0];
		}
	}
	*bound = true;
	if (r->n_phrases == 1 || r->kind == CHECK_ORDER)
		return add_monitor(c, rule, source, err);
	for (size_t i = 0; i < list->n && !rc; i++) {
		source[1] = list->source[i];
		rc = add_monitor(c, rule, source, err);
	}
	return rc;
}

static int bind_rule(struct check *c, size_t rule, struct cvl_error *err)
{
	const struct check_rule *r = &c->rules->rule[rule];
	struct list first = { 0 }, rest = { 0 };
	struct meaning *m = &c->meaning[c->n_meanings];
	uint32_t source[CHECK_STEPS_MAX];
	bool bound = false;
	int rc = 0;

	for (size_t i = 0; i < r->n_phrases && !rc; i++)
		rc = find_meaning(c, &r->phrase[i], &c->meaning[c->n_meanings++], err);
	if (!rc && *m[0].sel.node && relative(&m[0]))
		rc = check_fail(c, &r->phrase[0], err,
				"it comes first in its rule: '%s' has nothing to refer to",
				m[0].sel.node);
	if (!rc)
		rc = find_sources(c, &m[0], NULL, &first, err);
	for (size_t i = 0; i < first.n && !rc; i++) {
		source[0] = first.source[i];
		rc = bind_rest(c, rule, m, source, &rest, &bound, err);
	}
	if (!rc && !bound)
		rc = check_fail(c, &r->phrase[r->n_phrases - 1], err,
				"no node with %s has this too; name the node, or say `other.%s`",
				r->phrase[0].text, m[r->n_phrases - 1].sel.name);
	free(first.source);
	free(rest.source);
	return rc;
}

/* ---- tables ---- */

static int by_what(const void *va, const void *vb)
{
	const struct feed *a = va, *b = vb;

	if (a->what != b->what)
		return a->what < b->what ? -1 : 1;
	return a->source < b->source ? -1 : a->source > b->source;
}

static int sort_feeds(struct feeds *f, size_t whats)
{
	f->n_whats = whats;
	f->first = calloc(whats + 1, sizeof(*f->first));
	if (!f->first)
		return CVL_E_NOMEM;
	if (f->n)
		qsort(f->feed, f->n, sizeof(*f->feed), by_what);
	for (size_t i = 0; i < f->n; i++)
		f->first[f->feed[i].what + 1] = (uint32_t)i + 1;
	for (size_t i = 1; i <= whats; i++)
		if (!f->first[i])
			f->first[i] = f->first[i - 1];
	return 0;
}

static int list_sources(struct check *c)
{
	for (size_t i = 0; i < c->n_sources; i++) {
		struct source *s = &c->source[i];

		s->blind = s->n_streams;
		for (size_t k = 0; k < s->n_streams; k++) {
			struct stream_state *st = &c->stream[s->stream[k]];
			uint32_t *grown =
				reallocarray(st->source, st->n_sources + 1, sizeof(*grown));

			uint64_t *lines =
				reallocarray(st->source_lines, st->n_sources + 1, sizeof(*lines));

			st->source = grown ? grown : st->source;
			st->source_lines = lines ? lines : st->source_lines;
			if (!grown || !lines)
				return CVL_E_NOMEM;
			lines[st->n_sources] = 0;
			for (size_t f = 0; f < st->line.n; f++)
				if (st->line.feed[f].source == i)
					lines[st->n_sources] |= (uint64_t)1
								<< st->line.feed[f].what;
			grown[st->n_sources++] = (uint32_t)i;
		}
	}
	return 0;
}

/* Report the first phrase in an old spelling. */
static void tell_old(const struct check *c)
{
	const struct cvl_report *report = cvl_timeline_report(c->tl);
	struct cvl_error note;

	for (size_t i = 0; i < c->n_meanings; i++) {
		const struct check_phrase *p = c->meaning[i].phrase;

		if (!p->sel.old)
			continue;
		cvl_fail(&note, CVL_OK, CVL_NO_OFFSET,
			 "%s:%zu:%zu: '%.100s' is now written %s%.100s", c->rules->file, p->line,
			 p->column, p->text, p->any ? "any " : "", p->sel.old);
		cvl_tell(report, &note);
		return;
	}
}

int check_bind(struct check *c, struct cvl_error *err)
{
	size_t phrases = 0;
	int rc = 0;

	for (size_t i = 0; i < c->rules->n; i++)
		phrases += c->rules->rule[i].n_phrases;
	c->meaning = calloc(phrases + 1, sizeof(*c->meaning));
	if (!c->meaning)
		return cvl_no_memory(err);
	for (size_t i = 0; i < c->rules->n && !rc; i++)
		rc = bind_rule(c, i, err);
	for (size_t i = 0; i < c->n_streams && !rc; i++) {
		size_t classes = cvl_trace_events(cvl_timeline_trace(c->tl, i));

		rc = sort_feeds(&c->stream[i].line, CVL_LINES_MAX);
		if (!rc)
			rc = sort_feeds(&c->stream[i].class, classes + CVL_KINDS);
		if (rc)
			cvl_no_memory(err);
	}
	if (!rc && list_sources(c))
		rc = cvl_no_memory(err);
	if (!rc)
		rc = check_same(c, err);
	if (!rc)
		tell_old(c);
	return rc;
}
