/* SPDX-License-Identifier: MIT */
/** `coeval-simbed --bed DIR ...`, which `coeval demo --testbed` calls. */
#ifndef SIMBED_BED_MAIN_H
#define SIMBED_BED_MAIN_H

/** Returns the exit status. */
int bed_main(int argc, char **argv);

#endif
