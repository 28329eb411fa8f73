/* SPDX-License-Identifier: MIT */
/** Programs of Coeval's own that the command starts. */
#ifndef CLI_BESIDE_H
#define CLI_BESIDE_H

#include "cli.h"

/**
 * Become @program, which lies beside this one (where it was built) or in libexec (where it was
 * installed); argv[0] stands for its name. Returns only if it cannot: says so, and to @install
 * what, and gives the exit status.
 */
int become(const char *program, char *const argv[], const char *install);

#endif
