/* SPDX-License-Identifier: MIT */
/** Shared by the files of the model of trace units. */
#ifndef SIM_DWT_INTERNAL_H
#define SIM_DWT_INTERNAL_H

#include "sim/devices/dwt.h"

/* dwt_output.c */

/** Pass a packet to the output, at c->now. */
void dwt_emit(struct dwt_chip *c, const struct itm_packet *p);
/** Advance the line and the timer to c->now. */
void dwt_flow(struct dwt_chip *c);
bool dwt_output_busy(const struct dwt_chip *c);
bool dwt_output_room(const struct dwt_chip *c, unsigned bytes);
/** The registers of the trace port. Returns whether @address is one. */
bool dwt_port_access(struct dwt_chip *c, uint32_t address, uint32_t *value, bool write);

/* dwt_pins.c */

/** All other registers: clock control, pins, timer, debug control. */
void dwt_pins_access(struct dwt_chip *c, uint32_t address, uint32_t *value, bool write);
/** Does the trace get to its pin; and does the timer count its input now? */
bool dwt_pin_out(const struct dwt_chip *c);
bool dwt_timer_counts(const struct dwt_chip *c);

#endif
