/* SPDX-License-Identifier: MIT */
/**
 * The analog channels of a sigrok session: one stream of little-endian floats each, all sampled
 * with the lines.
 */
#ifndef SR_ANALOG_H
#define SR_ANALOG_H

#include "store/samples.h"
#include "sr_internal.h"
#include "sr_zip.h"

struct sr_analog;

/** Open the streams of the channels in @meta. @out is NULL if there are none. */
int cvl_sr_analog_open(struct sr_analog **out, struct sr_zip *z, const struct sr_meta *meta,
		       struct cvl_error *err);
struct cvl_side cvl_sr_analog_side(struct sr_analog *a);
/** Readings of the longest channel so far. */
uint64_t cvl_sr_analog_count(const struct sr_analog *a);
void cvl_sr_analog_close(struct sr_analog *a);

#endif
