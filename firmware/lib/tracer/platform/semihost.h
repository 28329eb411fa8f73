/* SPDX-License-Identifier: MIT */
/**
 * A ring's packets into a file of the host that a debugger or an emulator runs on, by Arm's
 * semihosting (ARM DUI 0471, chapter 8; RISC-V has the same calls). The core stands still during
 * each call, and stops for good if no debugger answers.
 */
#ifndef TRACER_SEMIHOST_H
#define TRACER_SEMIHOST_H

#include "link.h"

/** Make the file @name. Returns its handle, or -1. */
int tracer_semihost_open(const char *name);
/**
 * Write all that waits. Returns 0, or -1 if the host could not write: what was in hand is lost, and
 * shows.
 */
int tracer_semihost_send(struct tracer_link *l, int handle);
int tracer_semihost_close(int handle);
/** The end of the emulation, or of the debugger's patience. */
void tracer_semihost_exit(void);

#endif
