/* SPDX-License-Identifier: MIT */
/**
 * What comes before main() on a Cortex-M with a linker script of this room: vector table, memory,
 * the FPU.
 */
#ifndef CORTEXM_START_H
#define CORTEXM_START_H

/**
 * An interrupt of the chip, from 0 on, is pending. An image that enables any has a function of this
 * name; without one the processor begins again, as it does after a fault.
 */
void interrupt(unsigned number);

int main(void);

#endif
