/* SPDX-License-Identifier: MIT */
#include "view/news.h"

#include <stdlib.h>
#include <string.h>

#include "view/answers_internal.h"

struct news {
	bool begun;
	unsigned version, maps;
	uint64_t noted;
	uint32_t found;
	int done;       /* percent */
	uint64_t *last; /* tick + 1 of each stream; 0: nothing was told */
	struct live_state live;
};

struct news *news_new(void)
{
	return calloc(1, sizeof(struct news));
}

void news_free(struct news *n)
{
	free(n->last);
	free(n);
}

/* Another session, as far as can be seen: what is known of it was asked for since. */
static int begin(struct news *n, const struct model *m, struct cvl_error *err)
{
	uint64_t *last = calloc(m->n + 1, sizeof(*last));

	if (!last)
		return cvl_no_memory(err);
	free(n->last);
	n->last = last;
	n->begun = true;
	n->version = m->version;
	n->maps = 0;
	n->live = (struct live_state){ .settled = INT64_MIN, .stored = INT64_MIN };
	return 0;
}

static void put_streams(struct news *n, const struct model *m, struct cvl_out *o, bool *any)
{
	bool begun = false;

	for (size_t i = 0; i < m->n; i++) {
		const uint64_t base = model_base(m, m->stream[i].clock);
		struct cvl_tick first, last;

		if (!m->stream[i].grows || !cvl_lod_range(m->stream[i].lod, &first, &last) ||
		    n->last[i] == last.count + 1)
			continue;
		n->last[i] = last.count + 1;
		if (!begun)
			put_member(o, "streams");
		cvl_out_char(o, begun ? ',' : '[');
		begun = *any = true;
		cvl_out_printf(o, "[%zu,%.0f,%.0f]", i, (double)(first.count - base),
			       (double)(last.count - base));
	}
	if (begun)
		cvl_out_char(o, ']');
}

static void put_ns(struct cvl_out *o, int64_t ns)
{
	if (ns == INT64_MIN || ns == INT64_MAX)
		cvl_out_text(o, "null");
	else
		cvl_out_i64(o, ns);
	cvl_out_char(o, ',');
}

static void put_live(struct news *n, const struct model *m, struct cvl_out *o, bool *any)
{
	bool more = false;

	if (!m->live || !memcmp(&n->live, &m->state, sizeof(n->live)))
		return;
	*any = true;
	n->live = m->state;
	put_member(o, "live");
	cvl_out_char(o, '[');
	put_ns(o, m->state.settled);
	put_ns(o, m->state.stored);
	cvl_out_json(o, m->state.waits_for, strlen(m->state.waits_for));
	cvl_out_text(o, ",[");
	for (size_t i = 0; i < LIVE_CLOCKS && i < cvl_session_clocks(m->session); i++)
		if (m->state.silent[i]) {
			cvl_out_printf(o, "%s%zu", more ? "," : "", i);
			more = true;
		}
	cvl_out_text(o, "],");
	cvl_out_json(o, m->state.problem, strlen(m->state.problem));
	cvl_out_char(o, ']');
}

int news_put(struct news *n, struct model *m, struct cvl_out *o, bool *any, struct cvl_error *err)
{
	const struct study_result *r;
	double done;
	int rc = model_refresh(m, err);

	*any = false;
	if (rc)
		return rc;
	cvl_out_char(o, '{');
	if (!n->begun || n->version != m->version) {
		rc = begin(n, m, err);
		put_number(o, "version", m->version);
		*any = true;
	}
	if (rc)
		return rc;
	put_streams(n, m, o, any);
	if (n->maps != m->maps) {
		n->maps = m->maps;
		put_number(o, "maps", m->maps);
		*any = true;
	}
	put_live(n, m, o, any);
	r = studies_result(m->studies, &done);
	if (n->found != r->version || n->done != (int)(100 * done)) {
		n->found = r->version;
		n->done = (int)(100 * done);
		put_member(o, "found");
		cvl_out_printf(o, "[%u,%.2f]", (unsigned)r->version, done);
		*any = true;
	}
	if (n->noted != notes_changed(m)) {
		n->noted = notes_changed(m);
		put_number(o, "noted", (int64_t)n->noted);
		*any = true;
	}
	cvl_out_char(o, '}');
	return 0;
}
