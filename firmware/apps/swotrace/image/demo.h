/* SPDX-License-Identifier: MIT */
#ifndef DEMO_H
#define DEMO_H

#include "swotrace/swotrace.h"

/**
 * Call all of the library on registers that are only remembered, each call between two of mark().
 */
void measure(const struct swo_port *port);
/** A place that an instruction log shows. */
void mark(int number);

#endif
