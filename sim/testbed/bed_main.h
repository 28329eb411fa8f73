/* SPDX-License-Identifier: MIT */
/** `coeval-testbed --bed DIR ...`, which `coeval demo --testbed` calls. */
#ifndef TESTBED_BED_MAIN_H
#define TESTBED_BED_MAIN_H

/** Returns the exit status. */
int bed_main(int argc, char **argv);

#endif
