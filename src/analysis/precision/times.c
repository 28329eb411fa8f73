/* SPDX-License-Identifier: MIT */
/* Durations between two events of one clock. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/precision/internal.h"

/* ---- points ---- */

static bool copy(char *out, size_t size, const char *text, size_t n)
{
	if (!n || n >= size)
		return false;
	memcpy(out, text, n);
	out[n] = '\0';
	return true;
}

/* FIELD=NUMBER */
static bool parse_with(struct precision_point *p, const char *text, size_t n)
{
	const char *is = memchr(text, '=', n);
	size_t key = is ? (size_t)(is - text) : 0;
	char number[32], *end;

	if (!is || p->n == PRECISION_WITH ||
	    !copy(p->with[p->n].field, sizeof(p->with[0].field), text, key) ||
	    !copy(number, sizeof(number), is + 1, n - key - 1) || *number < '0' || *number > '9')
		return false;
	errno = 0;
	p->with[p->n++].value = strtoull(number, &end, 0);
	return !*end && !errno;
}

int precision_point_parse(struct precision_point *p, const char *text, size_t n,
			  struct cvl_error *err)
{
	const char *colon = memrchr(text, ':', n);
	size_t name = colon ? (size_t)(colon - text) : n, rest = colon ? n - name - 1 : 0;

	*p = (struct precision_point){ 0 };
	if (!copy(p->name, sizeof(p->name), text, name))
		goto bad;
	if (!colon)
		return 0;
	colon++;
	if ((rest == 4 && !memcmp(colon, "rise", 4)) || (rest == 4 && !memcmp(colon, "fall", 4))) {
		p->side = *colon;
		return 0;
	}
	for (;;) {
		const char *comma = memchr(colon, ',', rest);
		const size_t one = comma ? (size_t)(comma - colon) : rest;

		if (!parse_with(p, colon, one))
			goto bad;
		if (!comma)
			return 0;
		colon = comma + 1;
		rest -= one + 1;
	}
bad:
	return cvl_fail(
		err, CVL_E_USAGE, CVL_NO_OFFSET,
		"a point is LINE, LINE:rise, LINE:fall, EVENT or EVENT:FIELD=NUMBER,..., not '%.*s'",
		(int)n, text);
}

/* ---- durations ---- */

static void look_up(const struct precision_reader *r, struct precision_mark *m,
		    const struct cvl_slice *sl)
{
	const struct cvl_trace *trace = cvl_timeline_trace(r->tl, sl->stream);
	const struct precision_point *point[] = { r->opts->from, r->opts->to };

	m->looked = true;
	for (int k = 0; k < 2; k++)
		m->bit[k] = point[k]->n ? CVL_LINE_NONE : cvl_trace_line(trace, point[k]->name);
}

static bool turns(const struct precision_mark *m, int k, const struct precision_point *p,
		  uint64_t changed, uint64_t levels)
{
	return m->bit[k] >= 0 && (changed >> m->bit[k] & 1) &&
	       (levels >> m->bit[k] & 1) == (p->side != 'f');
}

/* A field that is not there, or a text, has no value. */
static bool has_all(const struct precision_fields *f, const struct precision_point *p)
{
	unsigned had = 0;

	for (unsigned i = 0; i < p->n; i++)
		for (size_t k = 0; k < f->n; k++)
			had += !f->f[k].text && f->f[k].u == p->with[i].value &&
			       !strcmp(f->f[k].name, p->with[i].field);
	return had == p->n;
}

/* Whether the record, called @name, is @p by its name, and has the values that are asked for. */
static bool is_event(const struct precision_reader *r, const struct precision_point *p,
		     const struct cvl_slice *sl, size_t i, const char *name)
{
	struct precision_fields f = { 0 };
	bool is;

	if (!name || strcmp(name, p->name))
		return false;
	if (!p->n)
		return true;
	if (sl->batch->kind[i] == CVL_EDGE)
		return p->n == 1 && !strcmp(p->with[0].field, "levels") &&
		       sl->batch->value[i] == p->with[0].value;
	precision_read_fields(r, sl, i, &f);
	is = has_all(&f, p);
	precision_drop_fields(&f);
	return is;
}

/* While one of the two lines is unknown, a duration may have ended. */
static void watch_unknown(struct precision_mark *m, uint64_t tick)
{
	bool dark = false;

	for (int k = 0; k < 2; k++)
		dark = dark || (m->bit[k] >= 0 && !(m->levels.known >> m->bit[k] & 1));
	if (dark)
		precision_mark_gap(m, tick, CVL_TICK_UNKNOWN);
	else if (m->dark)
		m->last_to = tick;
	m->dark = dark;
}

/* Which ends of durations the record is: bit 0 the begin, bit 1 the end. @name of an event, or NULL. */
static unsigned ends(const struct precision_reader *r, struct precision_mark *m,
		     const struct cvl_slice *sl, size_t i, const char *name)
{
	const struct precision_point *point[] = { r->opts->from, r->opts->to };
	uint64_t changed = 0, levels = 0;
	unsigned is = 0;

	if (sl->batch->kind[i] == CVL_EDGE) {
		changed = cvl_levels_take(&m->levels, sl->batch, i);
		if (sl->batch->flags[i] & CVL_STATE)
			changed = 0;
		levels = m->levels.now;
		watch_unknown(m, sl->batch->tick[i].count);
		name = changed ? "edge" : NULL;
	}
	for (int k = 0; k < 2; k++)
		if (turns(m, k, point[k], changed, levels) || is_event(r, point[k], sl, i, name))
			is |= 1u << k;
	return is;
}

void precision_mark_gap(struct precision_mark *m, uint64_t from, uint64_t to)
{
	m->any_gap = true;
	m->last_from = from;
	m->last_to = to;
	if (m->open && !m->gap && to > m->from + m->half) {
		m->gap = true;
		m->gap_from = from;
	}
}

static int add_time(struct precision_reader *r, const struct cvl_slice *sl, uint64_t ticks,
		    uint64_t half)
{
	const struct cvl_session *session = cvl_timeline_session(r->tl);
	const double ns = 1e9 / (double)cvl_session_clock(session, sl->clock)->rate_hz;
	/* rounded up, and the rounding of the time */
	int rc = durations_add(&r->p->times, (int64_t)((double)ticks * ns + 0.5),
				(int64_t)((double)half * ns) + 2);

	if (rc == CVL_E_LIMIT)
		return cvl_fail(r->err, rc, CVL_NO_OFFSET,
				"more durations than memory is spent on");
	return rc ? precision_no_memory(r) : 0;
}

static int see_ends(struct precision_reader *r, struct precision_mark *m,
		    const struct cvl_slice *sl, size_t i, unsigned is)
{
	const uint64_t tick = sl->batch->tick[i].count;
	const uint64_t half =
		sl->batch->bracket ?
			sl->batch->bracket[i] :
			cvl_session_clock(cvl_timeline_session(r->tl), sl->clock)->resolution;
	int rc = 0;

	if (m->open && (is & 2) && tick >= m->from) {
		bool broken = m->gap && m->gap_from + half < tick;

		m->open = false;
		if (broken)
			r->p->times.broken++;
		if (!broken || r->opts->across)
			rc = add_time(r, sl, tick - m->from, m->half + half);
	}
	if (is & 1) {
		r->p->open += m->open;
		m->open = true;
		m->from = tick;
		m->half = half;
		/* a gap that A itself lies in may go on behind it */
		m->gap = m->any_gap && m->last_to > tick + half;
		m->gap_from = m->last_from;
	}
	return rc;
}

int precision_mark(struct precision_reader *r, const struct cvl_slice *sl, size_t i,
		   const char *name)
{
	struct precision_mark *m = &r->mark[sl->stream];

	if (!m->looked)
		look_up(r, m, sl);
	return see_ends(r, m, sl, i, ends(r, m, sl, i, name));
}
