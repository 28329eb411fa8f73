/* SPDX-License-Identifier: MIT */
/** What a track adds up to between two times of the timeline. */
#ifndef VIEW_AREA_H
#define VIEW_AREA_H

#include "view/model.h"

struct area {
	int64_t from, to; /* ns on the timeline; set by the caller */

	enum cvl_lod_of of;
	int64_t bound;  /* of its stream's times at the ends, the greater; CVL_BOUND_UNKNOWN */
	uint64_t count; /* records at their best times */
	uint64_t maybe; /* records that are too close to an end to say on which side they are */
	double high_ns; /* of a line */
	double min, max, total;         /* of readings */
	bool integrated;                /* not with more readings than READINGS_MOST */
	double integral, integral_half; /* over time, unit * s; half-width as of energies */
	double covered;                 /* part of the time that lies between readings */
};

int area_sum(struct model *m, const struct model_stream *s, uint32_t track, struct area *a,
	     struct cvl_error *err);

#endif
