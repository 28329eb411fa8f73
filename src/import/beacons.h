/* SPDX-License-Identifier: MIT */
/**
 * Beacons from a sidecar: a CSV file with the header line `tick,sender,seq` and decimal numbers,
 * its ticks on the clock of the samples and not falling. Read a line at a time.
 */
#ifndef BEACONS_H
#define BEACONS_H

#include <coeval/format.h>

#include "store/samples.h"

struct cvl_beacons;

/**
 * Open opts->beacons. A beacon whose tick goes back is dropped, and the count of those reported at
 * the end; with opts->strict it is CVL_E_ORDER.
 */
int cvl_beacons_open(struct cvl_beacons **b, const struct cvl_import_opts *opts,
		     struct cvl_error *err);
struct cvl_side cvl_beacons_side(struct cvl_beacons *b);
void cvl_beacons_close(struct cvl_beacons *b);

#endif
