/* SPDX-License-Identifier: MIT */
#include "view/answers_internal.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/clocks.h"
#include "view/area.h"

#define SENT_MAX 2000 /* messages of one answer; more are bundled, */
#define WAIT_S 10     /* for analyses, of who waits for them */
#define BUNDLES 24    /* those of this part of its time */

/* ---- messages ---- */

/* The first that was not sent before @ns. */
static size_t first_message(const struct messages *m, int64_t ns)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (m->list[mid].sent_ns < ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void put_end(const struct model *m, struct cvl_out *o, const struct message_end *e)
{
	cvl_out_printf(o, "%u,%u,%u,%.0f", model_stream(m, e->stream), e->class, e->clock,
		       (double)(int64_t)(e->tick - model_base(m, e->clock)));
}

/* By whom they were sent, and to whom. */
static int by_ends(const void *a, const void *b)
{
	const struct message *x = *(const struct message *const *)a,
			     *y = *(const struct message *const *)b;

	if (x->from.stream != y->from.stream)
		return x->from.stream < y->from.stream ? -1 : 1;
	if (x->from.class != y->from.class)
		return x->from.class < y->from.class ? -1 : 1;
	if (x->to.stream != y->to.stream)
		return x->to.stream < y->to.stream ? -1 : 1;
	if (x->to.class != y->to.class)
		return x->to.class < y->to.class ? -1 : 1;
	return (x->sent_ns > y->sent_ns) - (x->sent_ns < y->sent_ns);
}

static bool same_ends(const struct message *a, const struct message *b)
{
	return a->from.stream == b->from.stream && a->from.class == b->from.class &&
	       a->to.stream == b->to.stream && a->to.class == b->to.class;
}

static void put_message(const struct model *m, struct cvl_out *o, const struct message *x)
{
	put_element(o);
	cvl_out_char(o, '[');
	put_end(m, o, &x->from);
	cvl_out_char(o, ',');
	put_end(m, o, &x->to);
}

/* Those of @list, as one for each pair of ends: the first, how many, and the last. */
static void put_bundles(const struct model *m, struct cvl_out *o, const struct message **list,
			size_t n)
{
	qsort(list, n, sizeof(*list), by_ends);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && same_ends(list[i], list[end]);)
			end++;
		put_message(m, o, list[i]);
		cvl_out_printf(o, ",%zu,", end - i);
		put_end(m, o, &list[end - 1]->from);
		cvl_out_char(o, ',');
		put_end(m, o, &list[end - 1]->to);
		cvl_out_char(o, ']');
	}
}

int put_messages(struct model *m, const struct view_query *q, struct cvl_out *o,
		 struct cvl_error *err)
{
	double done;
	const struct study_result *r = studies_result(m->studies, &done);
	const struct messages *all = &r->messages;
	const struct message **list;
	int64_t from, to;
	size_t begin, end;
	uint64_t version;
	int rc = ask_number(q, "version", UINT32_MAX, &version, err);

	rc = rc ? rc : ask_time(q, "from", &from, err);
	rc = rc ? rc : ask_time(q, "to", &to, err);
	if (rc)
		return rc;
	if (version != r->version) {
		cvl_out_text(o, "{\"messages\":null}"); /* there is a newer one */
		return 0;
	}
	if (to < from || to - from < 0)
		return ask_bad("to", err);
	begin = first_message(all, from);
	end = first_message(all, to);
	cvl_out_text(o, "{\"messages\":[");
	if (end - begin <= SENT_MAX) {
		for (; begin < end; begin++) {
			put_message(m, o, &all->list[begin]);
			cvl_out_char(o, ']');
		}
	} else {
		const int64_t step = (to - from) / BUNDLES + 1;

		list = malloc((end - begin) * sizeof(*list));
		if (!list)
			return cvl_no_memory(err);
		while (begin < end) {
			const int64_t limit =
				from + ((all->list[begin].sent_ns - from) / step + 1) * step;
			size_t n = 0;

			while (begin < end && all->list[begin].sent_ns < limit)
				list[n++] = &all->list[begin++];
			put_bundles(m, o, list, n);
		}
		free(list);
	}
	cvl_out_text(o, "]}");
	messages_rest(all);
	return 0;
}

/* ---- order ---- */

/* A record: its clock, its tick, and what its capture could not resolve. */
static int take_point(const struct model *m, const struct view_query *q, const char *const names[3],
		      uint64_t *clock, struct cvl_time *t, struct cvl_bound *b,
		      struct cvl_error *err)
{
	struct cvl_tick tick;
	uint64_t capture;
	int rc = ask_number(q, names[0], cvl_session_clocks(m->session), clock, err);

	rc = rc ? rc : ask_number(q, names[1], UINT64_C(1) << 53, &tick.count, err);
	rc = rc ? rc : ask_number(q, names[2], INT64_MAX, &capture, err);
	if (rc)
		return rc;
	tick.count += model_base(m, *clock);
	*t = cvl_map_time(cvl_timeline_map(m->tl, *clock), tick, NULL);
	*b = cvl_timeline_clock_bound(m->tl, *clock, tick);
	b->capture = (int64_t)capture;
	return 0;
}

int put_pair(struct model *m, const struct view_query *q, struct cvl_out *o, struct cvl_error *err)
{
	static const char *const orders[] = { "before", "cannot tell", "after" };
	static const char *const first[] = { "clock", "tick", "capture" }, *const second[] = {
		"clock2", "tick2", "capture2"
	};
	struct cvl_time a, z;
	struct cvl_bound of_a, of_z;
	uint64_t clock, clock2;
	int64_t bound, ns;
	int rc = take_point(m, q, first, &clock, &a, &of_a, err);

	rc = rc ? rc : take_point(m, q, second, &clock2, &z, &of_z, err);
	if (rc)
		return rc;
	ns = z.ns - a.ns;
	bound = m->root[clock] == m->root[clock2] ? clocks_duration(ns < 0 ? -ns : ns, of_a, of_z) :
						    clocks_pair(false, of_a, of_z);
	cvl_out_char(o, '{');
	put_number(o, "ns", ns);
	put_number(o, "bound", told_bound(bound));
	put_text(o, "order", orders[cvl_timeline_order(z, a, bound) + 1]);
	cvl_out_char(o, '}');
	return 0;
}

/* ---- what analyses found ---- */

static void put_row(const struct interval_row *r, struct cvl_out *o)
{
	put_element(o);
	cvl_out_char(o, '[');
	cvl_out_json(o, r->of, strlen(r->of));
	cvl_out_char(o, ',');
	cvl_out_json(o, r->name, strlen(r->name));
	cvl_out_printf(o, ",%u,%d,%s,%zu,%u]", r->clock, r->n ? r->most + 1 : 0,
		       r->states ? "true" : "false", r->n, (unsigned)r->rank);
}

static void put_place(const struct found *f, struct cvl_out *o)
{
	put_element(o);
	cvl_out_char(o, '[');
	cvl_out_json(o, f->of, strlen(f->of));
	cvl_out_char(o, ',');
	cvl_out_json(o, f->text, strlen(f->text));
	cvl_out_printf(o, ",%d,%d,%lld,%lld,%s]", (int)f->clock, (int)f->row, (long long)f->from,
		       (long long)f->to, f->bad ? "true" : "false");
}

static void put_problem(const struct study_problem *p, struct cvl_out *o)
{
	put_element(o);
	cvl_out_char(o, '[');
	cvl_out_json(o, p->of, strlen(p->of));
	cvl_out_char(o, ',');
	cvl_out_json(o, p->text, strlen(p->text));
	cvl_out_char(o, ']');
}

int put_found(struct model *m, const struct view_query *q, struct cvl_out *o, struct cvl_error *err)
{
	const struct study_result *r;
	double done;
	uint64_t have;
	int rc = ask_number(q, "have", UINT32_MAX, &have, err);

	if (rc)
		return rc;
	if (q->get(q->ctx, "wait"))
		studies_wait(m->studies, WAIT_S);
	r = studies_result(m->studies, &done);
	cvl_out_char(o, '{');
	put_number(o, "version", r->version);
	put_real(o, "done", done);
	if (have != r->version) {
		put_number(o, "width", r->all.width);
		put_member(o, "problems");
		cvl_out_char(o, '[');
		for (size_t i = 0; i < r->n_problems; i++)
			put_problem(&r->problem[i], o);
		cvl_out_char(o, ']');
		put_member(o, "rows");
		cvl_out_char(o, '[');
		for (size_t i = 0; i < r->all.n_rows; i++)
			put_row(&r->all.row[i], o);
		cvl_out_char(o, ']');
		put_member(o, "names");
		cvl_out_char(o, '[');
		for (size_t i = 0; i < r->all.n_names; i++) {
			put_element(o);
			cvl_out_json(o, r->all.name[i], strlen(r->all.name[i]));
		}
		cvl_out_char(o, ']');
		put_member(o, "found");
		cvl_out_char(o, '[');
		for (size_t i = 0; i < r->all.n_found; i++)
			put_place(&r->all.found[i], o);
		cvl_out_char(o, ']');
	}
	cvl_out_char(o, '}');
	return 0;
}

struct tile {
	struct cvl_out *o;
	uint64_t base;
};

static int put_interval(void *ctx, const struct interval *i)
{
	const struct tile *t = ctx;

	put_element(t->o);
	cvl_out_printf(t->o, "[%d,%.0f,%.0f,%u,%u", i->depth, (double)(int64_t)(i->begin - t->base),
		       (double)(int64_t)(i->end - t->base), (unsigned)i->name, (unsigned)i->marks);
	if (i->n == 1)
		cvl_out_printf(t->o, ",%lld,%lld]", (long long)told_bound(i->half),
			       (long long)told_bound(i->apart));
	else
		cvl_out_printf(t->o, ",%u,%u,%lld,%.4f]", (unsigned)i->n, (unsigned)i->longest_name,
			       (long long)i->longest,
			       i->ns ? (double)i->of_name / (double)i->ns : 1.0);
	return t->o->error ? CVL_E_NOMEM : 0;
}

int put_intervals(struct model *m, const struct view_query *q, struct cvl_out *o,
		  struct cvl_error *err)
{
	double done;
	const struct study_result *r = studies_result(m->studies, &done);
	const struct interval_row *row;
	uint64_t number, width, version;
	int64_t from, to;
	struct tile t = { .o = o };
	int rc = ask_number(q, "version", UINT32_MAX, &version, err);

	if (!rc && version != r->version) {
		cvl_out_text(o, "{\"list\":null}"); /* there is a newer one */
		return 0;
	}
	rc = rc ? rc : ask_number(q, "row", r->all.n_rows, &number, err);
	rc = rc ? rc : ask_number(q, "width", INT64_MAX, &width, err);
	rc = rc ? rc : ask_time(q, "from", &from, err);
	rc = rc ? rc : ask_time(q, "to", &to, err);
	if (rc)
		return rc;
	if (!width)
		return ask_bad("width", err);
	row = &r->all.row[number];
	t.base = row->clock < cvl_session_clocks(m->session) ? model_base(m, row->clock) : 0;
	cvl_out_text(o, "{\"list\":[");
	rc = intervals_tile(row, from, to, (int64_t)width, put_interval, &t);
	intervals_rest(&r->all);
	cvl_out_text(o, "]}");
	return rc ? cvl_no_memory(err) : 0;
}

/* ---- areas ---- */

int put_area(struct model *m, const struct view_query *q, struct cvl_out *o, struct cvl_error *err)
{
	struct model_stream *s;
	struct area a;
	uint64_t track;
	int rc = ask_stream(m, q, &s, err);

	rc = rc ? rc : ask_number(q, "track", cvl_lod_tracks(s->lod), &track, err);
	rc = rc ? rc : ask_time(q, "from", &a.from, err);
	rc = rc ? rc : ask_time(q, "to", &a.to, err);
	if (!rc && a.to < a.from)
		rc = ask_bad("to", err);
	rc = rc ? rc : area_sum(m, s, (uint32_t)track, &a, err);
	if (rc)
		return rc;
	cvl_out_char(o, '{');
	put_number(o, "count", (int64_t)a.count);
	put_number(o, "maybe", (int64_t)a.maybe);
	put_number(o, "bound", told_bound(a.bound));
	if (a.of == CVL_LOD_LINE)
		put_real(o, "high", a.high_ns);
	if (a.of == CVL_LOD_CHANNEL && a.count) {
		put_real(o, "least", a.min);
		put_real(o, "greatest", a.max);
		put_real(o, "mean", a.total / (double)a.count);
		if (a.integrated) {
			put_real(o, "integral", a.integral);
			put_real(o, "integral_bound", a.integral_half);
			put_real(o, "covered", a.covered);
		}
	}
	cvl_out_char(o, '}');
	return 0;
}
