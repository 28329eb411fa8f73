/* SPDX-License-Identifier: MIT */
#include "beacons.h"

#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "core/text.h"

#define HEADER "tick,sender,seq"

struct cvl_beacons {
	struct cvl_input *in;
	const struct cvl_import_opts *opts;
	struct cvl_tick tick;
	uint32_t sender;
	uint64_t seq;
	bool pending;
	struct cvl_tally back;
};

/* Read a decimal number up to @max and the @end byte after it. Returns what follows, or NULL. */
static const char *number(struct cvl_beacons *b, const char *line, const char *s, uint64_t offset,
			  char end, uint64_t max, uint64_t *out, struct cvl_error *err)
{
	const char *start = s;
	uint64_t v = 0;

	for (; *s >= '0' && *s <= '9'; s++) {
		uint64_t digit = (uint64_t)(*s - '0');

		if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, digit, &v) ||
		    v > max) {
			cvl_fail(err, CVL_E_RANGE, offset + (uint64_t)(start - line),
				 "%s: number too large", cvl_input_name(b->in));
			return NULL;
		}
	}
	if (s == start || *s != end) {
		cvl_fail(err, CVL_E_SYNTAX, offset + (uint64_t)(s - line),
			 "%s: not a line of `" HEADER "`", cvl_input_name(b->in));
		return NULL;
	}
	*out = v;
	return s + (end != '\0');
}

static int parse(struct cvl_beacons *b, const char *line, uint64_t offset, uint64_t *tick,
		 struct cvl_error *err)
{
	uint64_t sender;
	const char *s;

	s = number(b, line, line, offset, ',', UINT64_MAX - 1, tick, err);
	if (s)
		s = number(b, line, s, offset, ',', UINT32_MAX, &sender, err);
	if (s)
		s = number(b, line, s, offset, '\0', UINT64_MAX, &b->seq, err);
	if (!s)
		return -1;
	b->sender = (uint32_t)sender;
	return 0;
}

static int beacons_next(void *ctx, struct cvl_tick *tick, struct cvl_error *err)
{
	struct cvl_beacons *b = ctx;
	struct cvl_error problem = { 0 };
	uint64_t offset, count;
	char *line;
	size_t len;
	bool ended;
	int rc;

	while (!b->pending) {
		rc = cvl_input_line(b->in, &line, &len, &offset, &ended, err);
		if (rc <= 0)
			return rc;
		if (!len)
			continue;
		if (parse(b, line, offset, &count, &problem)) {
			if (err)
				*err = problem;
			return problem.code;
		}
		if (!ended) {
			rc = cvl_fail(
				&problem, CVL_E_TRUNCATED, offset,
				"%s: the last line has no newline: its number may be truncated",
				cvl_input_name(b->in));
			if (b->opts->strict) {
				if (err)
					*err = problem;
				return rc;
			}
			cvl_tell(b->opts->report, &problem);
		}
		if (count < b->tick.count) {
			if (b->opts->strict)
				return cvl_fail(err, CVL_E_ORDER, offset, "%s: tick out of order",
						cvl_input_name(b->in));
			cvl_tally_add(&b->back, offset);
			continue;
		}
		b->tick.count = count;
		b->pending = true;
	}
	*tick = b->tick;
	return 1;
}

static int beacons_put(void *ctx, struct cvl_writer *w, struct cvl_error *err)
{
	struct cvl_beacons *b = ctx;

	b->pending = false;
	return cvl_writer_beacon(w, b->tick, b->sender, b->seq, err);
}

int cvl_beacons_open(struct cvl_beacons **out, const struct cvl_import_opts *opts,
		     struct cvl_error *err)
{
	struct cvl_beacons *b = calloc(1, sizeof(*b));
	uint64_t offset;
	char *line;
	size_t len;
	bool ended;
	int rc;

	*out = NULL;
	if (!b)
		return cvl_no_memory(err);
	b->opts = opts;
	rc = cvl_input_open(&b->in, opts->beacons, err);
	if (rc)
		goto fail;
	rc = cvl_input_line(b->in, &line, &len, &offset, &ended, err);
	if (rc < 0)
		goto fail;
	if (!rc || strcmp(line, HEADER)) {
		rc = cvl_fail(err, rc ? CVL_E_SYNTAX : CVL_E_TRUNCATED, 0,
			      "%s: the first line is not `" HEADER "`", opts->beacons);
		goto fail;
	}
	*out = b;
	return 0;
fail:
	cvl_beacons_close(b);
	return rc;
}

struct cvl_side cvl_beacons_side(struct cvl_beacons *b)
{
	return (struct cvl_side){ .next = beacons_next, .put = beacons_put, .ctx = b };
}

void cvl_beacons_close(struct cvl_beacons *b)
{
	if (!b)
		return;
	if (b->in)
		cvl_tally_tell(&b->back, b->opts, CVL_E_ORDER, cvl_input_name(b->in),
			       "beacons out of order; dropped");
	cvl_input_close(b->in);
	free(b);
}
