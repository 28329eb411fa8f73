/* SPDX-License-Identifier: MIT */
/* From pins to symbols: changes within the settle time are one. */
#include "analysis/flow/search.h"

#include <stdlib.h>

struct flow_decoder {
	struct flow_search search;
	bool known, open;
	uint16_t levels, before;
	struct cvl_flow_stamp group[2]; /* first and last change of the open symbol */
};

const char *cvl_flow_what_name(enum cvl_flow_what what)
{
	static const char *const names[CVL_FLOW_WHATS] = { "point",     "jump", "unexpected",
							   "undecided", "cut",  "glitch",
							   "gap" };

	return names[what];
}

struct flow_decoder *flow_decoder_new(const struct cvl_flow_map *map, bool from_start,
				      int (*emit)(void *ctx, const struct cvl_flow_item *item),
				      void *ctx)
{
	struct flow_decoder *d = calloc(1, sizeof(*d));

	if (!d || !flow_search_init(&d->search, map, from_start, emit, ctx))
		return d;
	flow_decoder_free(d);
	return NULL;
}

void flow_decoder_free(struct flow_decoder *d)
{
	if (!d)
		return;
	flow_search_free(&d->search);
	free(d);
}

static int close_group(struct flow_decoder *d)
{
	struct cvl_flow_stamp at = d->group[0];
	int64_t apart = d->group[1].time.ns - d->group[0].time.ns;
	uint16_t changed = d->before ^ d->levels;

	if (!d->open)
		return 0;
	d->open = false;
	if (!changed) {
		struct cvl_flow_item item = { .what = CVL_FLOW_GLITCH,
					      .point = d->search.last,
					      .begin = d->group[0],
					      .end = d->group[1] };

		return d->search.emit(d->search.ctx, &item);
	}
	/* Any of the changes may be the time of the marker. */
	at.time.ns += apart / 2;
	at.bound.capture = cvl_add_sat(at.bound.capture, (apart + 1) / 2);
	return flow_search_take(&d->search,
				d->search.map->codes == CVL_FLOW_LEVELS ? d->levels : changed, &at);
}

int flow_decoder_gap(struct flow_decoder *d, const struct cvl_flow_stamp *stamp, enum cvl_gap why)
{
	struct cvl_flow_item item = {
		.what = CVL_FLOW_GAP, .begin = *stamp, .end = *stamp, .why = why
	};
	int rc = close_group(d);

	if (!rc)
		rc = flow_search_flush(&d->search, CVL_FLOW_CUT);
	item.point = d->search.last;
	d->known = false;
	flow_search_forget(&d->search);
	return rc ? rc : d->search.emit(d->search.ctx, &item);
}

int flow_decoder_levels(struct flow_decoder *d, const struct cvl_flow_stamp *stamp, uint16_t levels,
			bool state)
{
	int rc = 0;

	if (d->open && stamp->time.ns - d->group[0].time.ns > d->search.map->settle_ns)
		rc = close_group(d);
	if (rc || (d->known && levels == d->levels))
		return rc;
	if (d->known && state) /* changed unobserved */
		rc = flow_decoder_gap(d, stamp, CVL_GAP_UNKNOWN);
	if (!d->known) {
		d->known = true;
		d->levels = levels;
		return rc;
	}
	if (!d->open) {
		d->open = true;
		d->before = d->levels;
		d->group[0] = *stamp;
	}
	d->group[1] = *stamp;
	d->levels = levels;
	return rc;
}

int flow_decoder_end(struct flow_decoder *d)
{
	int rc = close_group(d);

	return rc ? rc : flow_search_flush(&d->search, CVL_FLOW_CUT);
}
