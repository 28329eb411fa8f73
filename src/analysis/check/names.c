/* SPDX-License-Identifier: MIT */
/* Resolves phrases on a timeline, to lines and events of a stream. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/check/internal.h"
#include <coeval/array.h>
#include <coeval/fields.h>

static int fail_at(const struct check *c, const struct check_phrase *p, struct cvl_error *err,
		   const char *text)
{
	return cvl_fail(err, CVL_E_UNKNOWN_ID, CVL_NO_OFFSET, "%s:%zu:%zu: %s", c->rules->file,
			p->line, p->column, text);
}

int check_fail(const struct check *c, const struct check_phrase *p, struct cvl_error *err,
	       const char *fmt, ...)
{
	char text[CVL_ERROR_TEXT];
	size_t n = (size_t)snprintf(text, sizeof(text), "'%.100s': ", p->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - n, fmt, ap);
	va_end(ap);
	return fail_at(c, p, err, text);
}

int find_meaning(const struct check *c, const struct check_phrase *p, struct meaning *m,
		 struct cvl_error *err)
{
	static const struct cvl_select_opts opts = { .relative = true };
	struct cvl_error why;
	int rc = cvl_selector_parse(&m->sel, p->sel.text, strlen(p->sel.text), err);

	m->phrase = p;
	if (rc)
		return rc;
	rc = cvl_selector_resolve(&m->sel, c->tl, &opts, &why);
	if (rc == CVL_E_NOMEM)
		return cvl_no_memory(err);
	if (rc)
		return fail_at(c, p, err, why.text);
	/* a pattern that matches lines and events means events, unless edges are specified */
	m->of_lines = m->sel.line && !m->sel.event;
	return 0;
}

/* ---- tables ---- */

static const enum cvl_kind plain_kinds[] = { CVL_BEACON, CVL_PULSE, CVL_MESSAGE };

#define PLAIN_KINDS (sizeof(plain_kinds) / sizeof(*plain_kinds))

/*
 * Whether line or class @what of @stream, seen from @clock, matches; the plain kinds follow the
 * classes.
 */
static bool means(const struct check *c, const struct meaning *m, size_t stream, size_t clock,
		  size_t what)
{
	size_t classes = cvl_trace_events(cvl_timeline_trace(c->tl, stream));

	if (m->of_lines)
		return cvl_selector_line(&m->sel, c->tl, stream, what);
	if (what < classes)
		return cvl_selector_class(&m->sel, c->tl, stream, what, clock);
	return cvl_selector_kinds(&m->sel, c->tl, stream) >> plain_kinds[what - classes] & 1;
}

static size_t whats(const struct check *c, const struct meaning *m, size_t stream)
{
	return m->of_lines ? cvl_timeline_lines(c->tl, stream) :
			     cvl_trace_events(cvl_timeline_trace(c->tl, stream)) + PLAIN_KINDS;
}

static int add_feed(struct feeds *f, const struct feed *feed)
{
	if (cvl_room(&f->feed, f->n, &f->room, sizeof(*f->feed)))
		return CVL_E_NOMEM;
	f->feed[f->n++] = *feed;
	return 0;
}

int feed_stream(struct check *c, size_t s, size_t clock, const struct meaning *m, uint32_t source)
{
	struct stream_state *st = &c->stream[s];
	const size_t classes = cvl_trace_events(cvl_timeline_trace(c->tl, s));
	const enum cvl_when when = m->sel.means;
	int found = 0;

	for (size_t k = 0; k < whats(c, m, s); k++) {
		const struct feed feed = {
			.what = (uint32_t)k,
			.source = source,
			.rise = m->of_lines && when != CVL_WHEN_FALL,
			.fall = m->of_lines && when != CVL_WHEN_RISE,
			.low = when == CVL_WHEN_LOW,
			.state = when == CVL_WHEN_HIGH || when == CVL_WHEN_LOW,
			.test = m->sel.n_conditions || (!m->of_lines && k < classes &&
							cvl_selector_tests(&m->sel, c->tl, s, k)),
		};

		if (!means(c, m, s, clock, k))
			continue;
		if (add_feed(m->of_lines ? &st->line : &st->class, &feed))
			return CVL_E_NOMEM;
		if (m->of_lines)
			st->mask |= (uint64_t)1 << k;
		else if (k >= classes)
			st->kind_source[plain_kinds[k - classes]] = (int32_t)k;
		found++;
	}
	return found;
}

bool clock_has(const struct check *c, size_t clock, const struct meaning *m)
{
	for (size_t s = 0; s < c->n_streams; s++)
		for (size_t k = 0; cvl_select_stream(c->tl, s, clock) && k < whats(c, m, s); k++)
			if (means(c, m, s, clock, k))
				return true;
	return false;
}
