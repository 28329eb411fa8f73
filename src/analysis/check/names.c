/* SPDX-License-Identifier: MIT */
/* Names in phrases, and which nodes, lines and events have them. */
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/check/internal.h"
#include <coeval/array.h>

#define NEAR_MAX 4

int check_fail(const struct check *c, const struct check_phrase *p, struct cvl_error *err,
	       const char *fmt, ...)
{
	char text[CVL_ERROR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return cvl_fail(err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET, "%s:%zu:%zu: '%.100s': %s",
			c->rules->file, p->line, p->column, p->text, text);
}

static struct cvl_session *session_of(const struct check *c)
{
	return cvl_timeline_session(c->tl);
}

static bool on_line(const struct check_phrase *p)
{
	return p->verb != CHECK_HAPPENS;
}

static size_t lines_of(const struct cvl_trace *t)
{
	uint64_t n = cvl_trace_env_number(t, "lines");

	return n < CVL_LINES_MAX ? (size_t)n : CVL_LINES_MAX;
}

static const char *line_name(const struct cvl_trace *t, size_t i, char buf[24])
{
	const char *name = cvl_trace_env_at(t, "line", i);

	if (name && *name)
		return name;
	snprintf(buf, 24, "line%zu", i);
	return buf;
}

bool stream_may_be(const struct check *c, size_t stream, size_t clock)
{
	return !strcmp(cvl_trace_path(cvl_timeline_trace(c->tl, stream)),
		       cvl_session_clock(session_of(c), clock)->trace);
}

static bool class_on(const struct check *c, const struct cvl_trace *t, size_t class, size_t clock)
{
	const char *want = cvl_session_clock(session_of(c), clock)->clock_class;
	int on = cvl_trace_event(t, class)->clock;

	return on < 0 || cvl_trace_clocks(t) < 2 ||
	       !strcmp(cvl_trace_clock(t, (size_t)on)->name, want);
}

static const enum cvl_kind plain_kinds[] = { CVL_BEACON, CVL_PULSE, CVL_MESSAGE };

#define PLAIN_KINDS (sizeof(plain_kinds) / sizeof(*plain_kinds))

bool class_is(const struct check *c, const struct cvl_trace *t, size_t class, size_t clock,
	      const char *name)
{
	const struct cvl_event_class *e = cvl_trace_event(t, class);

	return (e->kind == CVL_EVENT || e->kind == CVL_BEGIN || e->kind == CVL_END) &&
	       class_on(c, t, class, clock) &&
	       (!fnmatch(name, e->name, 0) || !fnmatch(name, cvl_plain_name(e->name), 0));
}

/* ---- tables ---- */

static int add_feed(struct feeds *f, const struct feed *feed)
{
	if (cvl_room(&f->feed, f->n, &f->room, sizeof(*f->feed)))
		return CVL_E_NOMEM;
	f->feed[f->n++] = *feed;
	return 1;
}

static int feed_lines(struct stream_state *st, const struct cvl_trace *t,
		      const struct check_phrase *p, const char *name, uint32_t source)
{
	int found = 0;
	char buf[24];

	for (size_t i = 0; i < lines_of(t) && found >= 0; i++) {
		const struct feed feed = {
			.what = (uint32_t)i,
			.source = source,
			.rise = p->verb != CHECK_FALLS,
			.fall = p->verb != CHECK_RISES,
			.low = p->verb == CHECK_LOW,
			.state = check_is_state(p),
		};
		int rc;

		if (fnmatch(name, line_name(t, i, buf), 0) && cvl_trace_line(t, name) != (int)i)
			continue;
		rc = add_feed(&st->line, &feed);
		st->mask |= (uint64_t)1 << i;
		found = rc < 0 ? rc : found + 1;
	}
	return found;
}

/* How many lines or classes of stream @s a phrase means there; or a negative code. */
int feed_stream(struct check *c, size_t s, size_t clock, const struct check_phrase *p,
		const char *name, uint32_t source)
{
	const struct cvl_trace *t = cvl_timeline_trace(c->tl, s);
	struct stream_state *st = &c->stream[s];
	size_t classes = cvl_trace_events(t);
	int found = 0;

	if (on_line(p))
		return feed_lines(st, t, p, name, source);
	for (size_t k = 0; k < classes + PLAIN_KINDS && found >= 0; k++) {
		const struct feed feed = { .what = (uint32_t)k, .source = source };
		bool is =
			k < classes ?
				class_is(c, t, k, clock, name) :
				cvl_trace_ours(t) && !p->n_conditions &&
					!fnmatch(name, cvl_kind_name(plain_kinds[k - classes]), 0);
		int rc;

		if (!is)
			continue;
		rc = add_feed(&st->class, &feed);
		if (k >= classes)
			st->kind_source[plain_kinds[k - classes]] = (int32_t)k;
		found = rc < 0 ? rc : found + 1;
	}
	return found;
}

bool clock_has(const struct check *c, size_t clock, const struct check_phrase *p, const char *name)
{
	char buf[24];

	for (size_t s = 0; s < c->n_streams; s++) {
		const struct cvl_trace *t = cvl_timeline_trace(c->tl, s);

		if (!stream_may_be(c, s, clock))
			continue;
		if (on_line(p) && cvl_trace_line(t, name) >= 0)
			return true;
		for (size_t i = 0; on_line(p) && i < lines_of(t); i++)
			if (!fnmatch(name, line_name(t, i, buf), 0))
				return true;
		for (size_t i = 0; !on_line(p) && i < cvl_trace_events(t); i++)
			if (class_is(c, t, i, clock, name))
				return true;
		for (size_t i = 0; !on_line(p) && !p->n_conditions && i < PLAIN_KINDS; i++)
			if (cvl_trace_ours(t) && !fnmatch(name, cvl_kind_name(plain_kinds[i]), 0))
				return true;
	}
	return false;
}

bool node_matches(const struct check *c, size_t clock, const char *glob)
{
	const struct cvl_clock *k = cvl_session_clock(session_of(c), clock);

	return !fnmatch(glob, k->node, 0) || !fnmatch(glob, k->name, 0);
}

/* ---- names that nobody has ---- */

static unsigned distance(const char *a, const char *b)
{
	unsigned row[64];
	size_t n = strlen(b);

	if (n >= 63 || strlen(a) >= 63)
		return 100;
	for (unsigned k = 0; k <= n; k++)
		row[k] = k;
	for (unsigned i = 1; *a; i++, a++) {
		unsigned corner = row[0];

		row[0] = i;
		for (unsigned k = 1; k <= n; k++) {
			unsigned up = row[k], same = corner + ((*a | 32) != (b[k - 1] | 32));

			row[k] = same < up + 1 ? same : up + 1;
			if (row[k - 1] + 1 < row[k])
				row[k] = row[k - 1] + 1;
			corner = up;
		}
	}
	return row[n];
}

struct near {
	const char *name;
	struct {
		char text[64];
		unsigned d;
	} best[NEAR_MAX];
	size_t n;
};

static void consider(struct near *x, const char *name)
{
	unsigned d = distance(x->name, name);
	size_t at = x->n;

	if (strlen(name) >= sizeof(x->best[0].text))
		return;
	for (size_t i = 0; i < x->n; i++)
		if (!strcmp(x->best[i].text, name))
			return;
	while (at && x->best[at - 1].d > d)
		at--;
	if (at == NEAR_MAX)
		return;
	x->n = x->n < NEAR_MAX ? x->n + 1 : NEAR_MAX;
	memmove(&x->best[at + 1], &x->best[at], (x->n - 1 - at) * sizeof(x->best[0]));
	strcpy(x->best[at].text, name);
	x->best[at].d = d;
}

static const char *say_near(const struct near *x, char text[300])
{
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < x->n && n < 240; i++)
		n += (size_t)snprintf(text + n, 300 - n, "%s%s", i ? ", " : "there is ",
				      x->best[i].text);
	if (!x->n)
		snprintf(text, 300, "there is none at all");
	return text;
}

static int no_node(const struct check *c, const struct check_phrase *p, const struct split *sp,
		   struct cvl_error *err)
{
	struct near x = { .name = sp->node };
	char text[300];

	for (size_t i = 0; i < c->n_clocks; i++)
		consider(&x, cvl_session_clock(session_of(c), i)->node);
	return check_fail(c, p, err, "no node is called %.60s; %s", sp->node, say_near(&x, text));
}

static int no_name(const struct check *c, const struct check_phrase *p, const struct split *sp,
		   struct cvl_error *err)
{
	const char *what = on_line(p) ? "line" : "event";
	struct near x = { .name = sp->name };
	char text[300], buf[24];

	for (size_t s = 0; s < c->n_streams; s++) {
		const struct cvl_trace *t = cvl_timeline_trace(c->tl, s);
		bool meant = !*sp->node;

		for (size_t k = 0; k < c->n_clocks && !meant; k++)
			meant = stream_may_be(c, s, k) && node_matches(c, k, sp->node);
		for (size_t i = 0; meant && on_line(p) && i < lines_of(t); i++)
			consider(&x, line_name(t, i, buf));
		for (size_t i = 0; meant && !on_line(p) && i < cvl_trace_events(t); i++)
			if (!cvl_trace_ours(t) || cvl_trace_event(t, i)->kind == CVL_EVENT)
				consider(&x, cvl_plain_name(cvl_trace_event(t, i)->name));
	}
	return check_fail(c, p, err, "%s%.60s has no %s %.60s; %s", *sp->node ? "" : "the session",
			  sp->node, what, sp->name, say_near(&x, text));
}

static bool relative(const char *node)
{
	return !*node || !strcmp(node, "same") || !strcmp(node, "other");
}

static bool exists(const struct check *c, const struct check_phrase *p, const struct split *sp)
{
	for (size_t i = 0; i < c->n_clocks; i++)
		if ((relative(sp->node) || node_matches(c, i, sp->node)) &&
		    clock_has(c, i, p, sp->name))
			return true;
	return false;
}

/* Names of nodes and of events may have dots in them: the first cut that exists is meant. */
int phrase_split(const struct check *c, const struct check_phrase *p, struct split *out,
		 struct cvl_error *err)
{
	const char *what = p->what, *dot = strchr(what, '.');

	if (strlen(what) >= sizeof(out->name))
		return check_fail(c, p, err, "the name is too long");
	out->node[0] = '\0';
	strcpy(out->name, what);
	if (exists(c, p, out))
		return 0;
	for (const char *at = dot; at; at = strchr(at + 1, '.')) {
		memcpy(out->node, what, (size_t)(at - what));
		out->node[at - what] = '\0';
		strcpy(out->name, at + 1);
		if (exists(c, p, out))
			return 0;
	}
	if (!dot)
		return no_name(c, p, out, err);
	memcpy(out->node, what, (size_t)(dot - what));
	out->node[dot - what] = '\0';
	strcpy(out->name, dot + 1);
	for (size_t i = 0; i < c->n_clocks; i++)
		if (relative(out->node) || node_matches(c, i, out->node))
			return no_name(c, p, out, err);
	return no_node(c, p, out, err);
}
