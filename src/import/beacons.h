/* SPDX-License-Identifier: MIT */
/**
 * Beacons from a sidecar: a CSV file with the header line `tick,sender,seq` and decimal numbers.
 * Ticks are on the clock of the samples and must not decrease. Read line by line.
 */
#ifndef BEACONS_H
#define BEACONS_H

#include <coeval/format.h>

#include "store/samples.h"

struct cvl_beacons;

/**
 * Open opts->beacons. Beacons whose tick goes back are dropped and their count is reported at the
 * end; with opts->strict the first is CVL_E_ORDER.
 */
int cvl_beacons_open(struct cvl_beacons **b, const struct cvl_import_opts *opts,
		     struct cvl_error *err);
struct cvl_side cvl_beacons_side(struct cvl_beacons *b);
void cvl_beacons_close(struct cvl_beacons *b);

#endif
