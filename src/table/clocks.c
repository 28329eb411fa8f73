/* SPDX-License-Identifier: MIT */
/* The clocks of a session and how well each is tied; and what is said of every table. */
#include "table/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/wanted.h"

enum {
	CLOCK_NAME,
	CLOCK_NODE,
	CLOCK_RATE,
	CLOCK_RESOLUTION,
	CLOCK_VERDICT,
	CLOCK_RATE_PPB,
	CLOCK_RATE_BOUND,
	CLOCK_BOUND_KIND,
	CLOCK_BOUND_MIN,
	CLOCK_BOUND_MAX,
	CLOCK_USED,
	CLOCK_REJECTED,
	CLOCK_ORIGIN,
	CLOCK_FORMAT,
};

static const struct cvl_column clock_columns[] = {
	[CLOCK_NAME] = { "clock", CVL_COLUMN_NAME, false, "" },
	[CLOCK_NODE] = { "node", CVL_COLUMN_NAME, false, "" },
	[CLOCK_RATE] = { "rate_hz", CVL_COLUMN_UINT, false, "nominal" },
	[CLOCK_RESOLUTION] = { "resolution", CVL_COLUMN_UINT, false, "ticks" },
	[CLOCK_VERDICT] = { "verdict", CVL_COLUMN_NAME, true, "NULL: not synchronised" },
	[CLOCK_RATE_PPB] = { "rate_ppb", CVL_COLUMN_DOUBLE, true,
			     "against nominal; positive: fast" },
	[CLOCK_RATE_BOUND] = { "rate_bound_ppb", CVL_COLUMN_DOUBLE, true,
			       "half-width of rate_ppb" },
	[CLOCK_BOUND_KIND] = { "bound_kind", CVL_COLUMN_NAME, false, "what bounds promise" },
	[CLOCK_BOUND_MIN] = { "bound_min_ns", CVL_COLUMN_INT, true, "of its map" },
	[CLOCK_BOUND_MAX] = { "bound_max_ns", CVL_COLUMN_INT, true, "of its map" },
	[CLOCK_USED] = { "used", CVL_COLUMN_UINT, true, "observations that tie it" },
	[CLOCK_REJECTED] = { "rejected", CVL_COLUMN_UINT, true, "observations that do not fit" },
	[CLOCK_ORIGIN] = { "origin", CVL_COLUMN_NAME, false, "where it came from" },
	[CLOCK_FORMAT] = { "format", CVL_COLUMN_NAME, false, "importer or driver" },
};

static int clocks_end(struct cvl_table *t, struct cvl_error *err)
{
	const struct cvl_sync *sync = cvl_timeline_sync(t->tl);
	const size_t n = cvl_session_clocks(t->session);

	if (table_room(t, n, err))
		return CVL_E_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct cvl_clock *c = cvl_session_clock(t->session, i);
		const struct cvl_clock_sync *s = sync ? cvl_sync_of(sync, t->session, i) : NULL;
		const bool tied = s && s->map;
		static const size_t columns[] = { CLOCK_NAME,       CLOCK_NODE,   CLOCK_VERDICT,
						  CLOCK_BOUND_KIND, CLOCK_ORIGIN, CLOCK_FORMAT };
		const char *const texts[] = {
			c->name,
			c->node,
			s ? cvl_verdict_name(s->verdict) : NULL,
			cvl_bound_kind_name(cvl_timeline_bound_kind(t->tl, i)),
			c->origin,
			c->format,
		};
		const size_t r = t->n;

		if (!timeline_wants(t->tl, i))
			continue;
		if (table_put_names(t, columns, texts, sizeof(columns) / sizeof(*columns), err))
			return CVL_E_NOMEM;
		table_uints(t, CLOCK_RATE)[r] = c->rate_hz;
		table_uints(t, CLOCK_RESOLUTION)[r] = c->resolution;
		table_doubles(t, CLOCK_RATE_PPB)[r] = tied ? s->rate_ppb : NAN;
		table_doubles(t, CLOCK_RATE_BOUND)[r] = tied ? s->rate_bound_ppb : NAN;
		table_ints(t, CLOCK_BOUND_MIN)[r] = tied ? s->bound_min : INT_NULL;
		table_ints(t, CLOCK_BOUND_MAX)[r] = tied ? s->bound_max : INT_NULL;
		table_uints(t, CLOCK_USED)[r] = s ? s->used : UINT_NULL;
		table_uints(t, CLOCK_REJECTED)[r] = s ? s->rejected : UINT_NULL;
		t->n++;
	}
	return 0;
}

const struct table_kind table_clocks = {
	.name = "clocks",
	.what = "the clocks, and how well each is tied to the timeline",
	.column = clock_columns,
	.n_columns = sizeof(clock_columns) / sizeof(*clock_columns),
	.end = clocks_end,
};

/* ---- facts ---- */

enum { FACT_SESSION, FACT_EPOCH, FACT_REFERENCE, FACT_ESTIMATOR, FACT_BOUND, FACT_GAPS, FACTS };

static const char *const fact_names[] = {
	[FACT_SESSION] = "coeval.session",     [FACT_EPOCH] = "coeval.epoch_unix_ns",
	[FACT_REFERENCE] = "coeval.reference", [FACT_ESTIMATOR] = "coeval.estimator",
	[FACT_BOUND] = "coeval.bound",         [FACT_GAPS] = "coeval.gaps",
};

/* The kind of all bounds, if it is the same. */
static const char *kind_of_bounds(const struct cvl_table *t)
{
	enum cvl_bound_kind first = CVL_BOUND_NONE;

	for (size_t i = 0; i < cvl_session_clocks(t->session); i++) {
		const enum cvl_bound_kind kind = cvl_timeline_bound_kind(t->tl, i);

		if (i && kind != first)
			return "mixed";
		first = kind;
	}
	return first == CVL_BOUND_NONE ? "unknown" : cvl_bound_kind_name(first);
}

/* Gaps of the whole session. False: a clock is being written, or cannot be read. */
static bool count_gaps(const struct cvl_table *t, uint64_t *gaps)
{
	*gaps = 0;
	for (size_t i = 0; i < cvl_session_clocks(t->session); i++) {
		struct cvl_contents contents;

		if (cvl_session_clock(t->session, i)->growing ||
		    cvl_session_contents(t->session, i, &contents, NULL, NULL))
			return false;
		*gaps += contents.gaps;
	}
	return true;
}

const char *cvl_table_fact(const struct cvl_table *table, size_t i, const char **value)
{
	struct cvl_table *t = (struct cvl_table *)table;
	const struct cvl_sync *sync = cvl_timeline_sync(t->tl);
	const int64_t epoch = cvl_session_epoch(t->session);
	const size_t size = sizeof(*t->facts);
	uint64_t gaps;

	if (i >= FACTS)
		return NULL;
	if (!t->facts) {
		t->facts = calloc(FACTS, size);
		if (!t->facts)
			return NULL;
		snprintf(t->facts[FACT_SESSION], size, "%s", cvl_session_uuid(t->session));
		if (epoch)
			snprintf(t->facts[FACT_EPOCH], size, "%" PRId64, epoch);
		if (sync) {
			snprintf(t->facts[FACT_REFERENCE], size, "%s", sync->reference);
			snprintf(t->facts[FACT_ESTIMATOR], size, "%s", sync->estimator);
		}
		snprintf(t->facts[FACT_BOUND], size, "%s", kind_of_bounds(t));
		if (count_gaps(t, &gaps))
			snprintf(t->facts[FACT_GAPS], size, "%" PRIu64, gaps);
	}
	*value = t->facts[i];
	return fact_names[i];
}
