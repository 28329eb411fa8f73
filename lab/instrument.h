/* SPDX-License-Identifier: MIT */
/** An instrument, controlled by the command set of its configuration. */
#ifndef LAB_INSTRUMENT_H
#define LAB_INSTRUMENT_H

#include "lab/config.h"
#include "lab/scpi.h"

struct instrument {
	const struct lab_instrument *config;
	struct channel channel;
	struct scpi scpi;
	char identity[SCPI_IDENTITY]; /* what it says it is */
};

/**
 * Open it, check its identity, and set it up. CVL_E_ENV if it is missing, another, or does not
 * answer; CVL_E_MISMATCH if it refuses a command. Must be closed if it could
 * be opened.
 */
int instrument_open(struct instrument *i, const struct lab_instrument *config, int stop_fd,
		    struct cvl_error *err);
void instrument_close(struct instrument *i);

/** Make it ready for one run. */
int instrument_arm(struct instrument *i, struct cvl_error *err);

/**
 * What it measured of a run that took @seconds by the target: for a current, its integral in
 * coulomb over that time; else a time in seconds. CVL_E_MISMATCH if it saw nothing, or for another
 * time than the target says; errors of scpi_*().
 */
int instrument_read(struct instrument *i, double seconds, double *value, struct cvl_error *err);

/**
 * Samples from the first edge of @v to the last, by the crossings of the middle between least and
 * greatest, with a hysteresis of a tenth of their difference; between samples on a straight line.
 * Returns 0, or -1 if there are less than two edges.
 */
int waveform_width(const double *v, size_t n, double *samples);

#endif
