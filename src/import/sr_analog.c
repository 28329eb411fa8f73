/* SPDX-License-Identifier: MIT */
#include "sr_analog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 1024

struct channel {
	struct sr_stream stream;
	const char *name;
	size_t have; /* readings in the block */
	bool ended;
	unsigned char block[BLOCK * 4];
};

/* All channels are read a block at a time, in step; reading @at of the block has tick @tick. */
struct sr_analog {
	struct sr_zip *z;
	uint64_t tick;
	size_t at;
	size_t n;
	struct channel channel[];
};

int cvl_sr_analog_open(struct sr_analog **out, struct sr_zip *z, const struct sr_meta *meta,
		       struct cvl_error *err)
{
	struct sr_analog *a;
	int rc;

	*out = NULL;
	if (!meta->n_analog)
		return 0;
	a = calloc(1, sizeof(*a) + meta->n_analog * sizeof(a->channel[0]));
	if (!a)
		return cvl_no_memory(err);
	a->z = z;
	a->n = meta->n_analog;
	a->at = BLOCK;
	for (size_t i = 0; i < a->n; i++) {
		struct channel *c = &a->channel[i];
		char prefix[SR_ENTRY_NAME];

		c->name = meta->analog[i].name;
		snprintf(prefix, sizeof(prefix), "analog-1-%" PRIu64, meta->analog[i].number);
		rc = cvl_sr_stream_open(&c->stream, z, prefix, err);
		if (!rc && !c->stream.last)
			rc = cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET, "%s:%s: missing", z->name,
				      prefix);
		if (rc) {
			cvl_sr_analog_close(a);
			return rc;
		}
	}
	*out = a;
	return 0;
}

static int fill(struct sr_analog *a, struct cvl_error *err)
{
	for (size_t i = 0; i < a->n; i++) {
		struct channel *c = &a->channel[i];
		size_t got = 0;

		while (!c->ended && got < sizeof(c->block)) {
			ssize_t n = cvl_sr_stream_read(&c->stream, c->block + got,
						       sizeof(c->block) - got, err);

			if (n < 0)
				return (int)n;
			if (!n)
				break;
			got += (size_t)n;
		}
		c->have = got / 4;
	}
	a->at = 0;
	return 0;
}

static bool due(const struct sr_analog *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->at < a->channel[i].have)
			return true;
	return false;
}

static int analog_next(void *ctx, struct cvl_tick *tick, struct cvl_error *err)
{
	struct sr_analog *a = ctx;

	if (a->at == BLOCK) {
		int rc = fill(a, err);

		if (rc)
			return rc;
	}
	tick->count = a->tick;
	return due(a);
}

/* A channel that ends before the others leaves a gap. */
static int ended(struct sr_analog *a, struct channel *c, struct cvl_writer *w,
		 struct cvl_error *err)
{
	struct cvl_error problem;

	c->ended = true;
	cvl_fail(&problem, CVL_E_TRUNCATED, c->stream.got,
		 "%s:%s: channel %s ends after %" PRIu64 " readings, before the others", a->z->name,
		 c->stream.entry, c->name, a->tick);
	if (a->z->opts->strict) {
		if (err)
			*err = problem;
		return problem.code;
	}
	cvl_tell(a->z->opts->report, &problem);
	return cvl_writer_gap(w, (struct cvl_tick){ a->tick },
			      (struct cvl_tick){ CVL_TICK_UNKNOWN }, CVL_LOST_UNKNOWN,
			      CVL_GAP_TRUNCATED, err);
}

static double reading(const unsigned char *p)
{
	uint32_t bits =
		(uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	float v;

	memcpy(&v, &bits, sizeof(v));
	return (double)v;
}

static int analog_put(void *ctx, struct cvl_writer *w, struct cvl_error *err)
{
	struct sr_analog *a = ctx;

	for (size_t i = 0; i < a->n; i++) {
		struct channel *c = &a->channel[i];
		int rc = 0;

		if (a->at < c->have)
			rc = cvl_writer_sample(w, (struct cvl_tick){ a->tick }, (uint32_t)i,
					       reading(c->block + 4 * a->at), err);
		else if (!c->ended)
			rc = ended(a, c, w, err);
		if (rc)
			return rc;
	}
	a->at++;
	a->tick++;
	return 0;
}

struct cvl_side cvl_sr_analog_side(struct sr_analog *a)
{
	return (struct cvl_side){ .next = analog_next, .put = analog_put, .ctx = a };
}

uint64_t cvl_sr_analog_count(const struct sr_analog *a)
{
	return a->tick;
}

void cvl_sr_analog_close(struct sr_analog *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n; i++)
		cvl_sr_stream_close(&a->channel[i].stream);
	free(a);
}
