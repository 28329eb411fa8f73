/* SPDX-License-Identifier: MIT */
/** Coeval's own helper programs. */
#ifndef CLI_BESIDE_H
#define CLI_BESIDE_H

#include "cli.h"

/**
 * Exec @program, found beside this one (in the build) or in libexec (installed); argv[0] stands for
 * its name. Returns the exit status only on failure, which is reported with the hint @install.
 */
int become(const char *program, char *const argv[], const char *install);

#endif
