/* SPDX-License-Identifier: MIT */
/**
 * Stimulus ports by which a traced program marks its tasks, and the counters of an event counter
 * packet: for firmware/lib/swotrace and for whoever reads its trace.
 *
 * A task begins with a write of its number (1 and up, 8, 16 or 32 bits) to SWO_PORT_BEGIN, and ends
 * with a write of the same number to SWO_PORT_END. Tasks may nest.
 */
#ifndef WIRE_SWO_MARKS_H
#define WIRE_SWO_MARKS_H

#define SWO_PORT_BEGIN 30
#define SWO_PORT_END 31

#endif
