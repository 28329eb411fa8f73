/* SPDX-License-Identifier: MIT */
#include "flocklab_clock.h"

#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "store/samples.h"

#define NS_A_SECOND 1000000000

bool flocklab_is_id(const char *s)
{
	size_t n = strspn(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-");

	return n && n < FLOCKLAB_NAME_BYTES && !s[n];
}

static bool is_flocklab(const struct cvl_clock *c)
{
	return !strncmp(c->format, "flocklab", 8) && c->rate_hz == FLOCKLAB_RATE_HZ;
}

/* A clock from another file of the same test, if the row at @s UTC fits on it. */
static const struct cvl_clock *earlier(const struct cvl_session *session, uint64_t s)
{
	for (size_t i = 0; i < cvl_session_clocks(session); i++) {
		const struct cvl_clock *c = cvl_session_clock(session, i);
		int64_t start = c->start_unix_ns / NS_A_SECOND;

		if (is_flocklab(c) && start <= (int64_t)s && c->start_unix_ns % NS_A_SECOND == 0 &&
		    (int64_t)s - start <= 365 * (int64_t)FLOCKLAB_LEAD_S)
			return c;
	}
	return NULL;
}

static int wrong(const char *name, enum cvl_code code, uint64_t offset, const char *what,
		 struct cvl_error *err)
{
	return cvl_fail(err, code, offset, "%s: %s", name, what);
}

int flocklab_tick(struct flocklab_start *start, const struct cvl_session *s, const char *name,
		  const char *timestamp, uint64_t offset, uint64_t *tick, struct cvl_error *err)
{
	struct cvl_text_ticks time;
	int rc = cvl_text_ticks(timestamp, 0, FLOCKLAB_RATE_HZ, &time);

	if (rc == CVL_E_SYNTAX)
		return wrong(name, CVL_E_SYNTAX, offset, "not a timestamp", err);
	if (rc || time.negative)
		return wrong(name, CVL_E_RANGE, offset, "timestamp out of range", err);
	if (!start->known) {
		const char *point = strchr(timestamp, '.');
		uint64_t first = time.count / FLOCKLAB_RATE_HZ;
		const struct cvl_clock *c;

		if (first > INT64_MAX / NS_A_SECOND)
			return wrong(name, CVL_E_RANGE, offset, "timestamp beyond the year 2262",
				     err);
		c = earlier(s, first);
		start->s = c                       ? (uint64_t)(c->start_unix_ns / NS_A_SECOND) :
			   first > FLOCKLAB_LEAD_S ? first - FLOCKLAB_LEAD_S :
						     0;
		start->resolution = point && strlen(point + 1) >= 7 ? 1 : 10;
		start->known = true;
	}
	if (time.count < start->s * FLOCKLAB_RATE_HZ)
		return wrong(name, CVL_E_RANGE, offset,
			     "timestamp more than a day before the first", err);
	*tick = time.count - start->s * FLOCKLAB_RATE_HZ;
	return 0;
}

/* The observer's clock in the session, from another file of the same test. */
static const char *same_clock(const struct cvl_session *s, const char *clock,
			      const struct flocklab_start *start, const char *format)
{
	int i = cvl_session_find(s, clock);
	const struct cvl_clock *c = i >= 0 ? cvl_session_clock(s, (size_t)i) : NULL;

	return c && !strcmp(c->name, clock) && is_flocklab(c) && strcmp(c->format, format) &&
			       c->start_unix_ns == (int64_t)start->s * NS_A_SECOND ?
		       c->name :
		       NULL;
}

int flocklab_clock(struct cvl_session *s, struct cvl_input *in, const struct cvl_import_opts *opts,
		   const struct flocklab_start *start, const char *format, const char *id,
		   const char *node, struct cvl_store_desc *desc, struct cvl_writer **w,
		   struct cvl_error *err)
{
	const struct cvl_origin origin = { .format = format, .path = cvl_input_origin(in) };
	char clock[256], traced[FLOCKLAB_NAME_BYTES + 8];

	snprintf(clock, sizeof(clock), "%.128s%sobserver-%s", opts->node ? opts->node : "",
		 opts->node ? "-" : "", id);
	snprintf(traced, sizeof(traced), "node-%s", node);
	desc->clock = clock;
	desc->node = traced;
	desc->rate_hz = FLOCKLAB_RATE_HZ;
	desc->resolution = start->resolution;
	desc->start_unix_ns = (int64_t)(start->s * NS_A_SECOND);
	desc->base_tick = (uint64_t)FLOCKLAB_LEAD_S * FLOCKLAB_RATE_HZ;
	desc->same_as = same_clock(s, clock, start, format);
	return cvl_session_add(s, desc, &origin, w, err);
}

int flocklab_rows(struct cvl_input *in, const struct cvl_import_opts *opts, flocklab_row_fn *take,
		  void *ctx, enum cvl_gap *why, struct cvl_error *err)
{
	uint64_t offset;
	bool ended, fatal, in_bad = false;
	size_t len;
	char *line;
	int rc;

	*why = CVL_GAP_CORRUPT;
	while ((rc = cvl_input_line(in, &line, &len, &offset, &ended, err)) > 0) {
		if (!len)
			continue;
		rc = take(ctx, line, offset, &fatal, err);
		if (rc && fatal)
			return rc;
		if (rc && !ended) {
			rc = cvl_fail(err, CVL_E_TRUNCATED, offset,
				      "%s: the file ends inside a row", cvl_input_name(in));
			*why = CVL_GAP_TRUNCATED;
		}
		if (rc && opts->strict)
			return rc;
		/* a run of bad rows is one gap, reported once */
		if (rc && (!in_bad || !ended))
			cvl_tell(opts->report, err);
		in_bad = rc != 0;
	}
	if (rc)
		*why = cvl_gap_after(rc);
	return rc;
}
