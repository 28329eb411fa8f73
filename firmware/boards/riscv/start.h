/* SPDX-License-Identifier: MIT */
/**
 * What comes before main() on a RISC-V core in machine mode with a linker script of this room:
 * stack, memory, traps. Images are for 32 bits and run from RAM, which their loader filled. Harts
 * but the first sleep forever.
 */
#ifndef RISCV_START_H
#define RISCV_START_H

/**
 * An interrupt came: @number is the code of mcause, 3 for software, 7 for the timer, 11 from
 * outside. An image that enables any has a function of this name. An exception, or an interrupt
 * without one, ends in a loop.
 */
void interrupt(unsigned number);

int main(void);

#endif
