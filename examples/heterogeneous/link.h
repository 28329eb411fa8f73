/* SPDX-License-Identifier: MIT */
/**
 * What the master asks of the machine that it runs on: the shared memory, its own ring, and a bell
 * at each slave.
 */
#ifndef HETEROGENEOUS_LINK_H
#define HETEROGENEOUS_LINK_H

#include <stddef.h>
#include <stdint.h>

/** Map the file @path, made @bytes long if it is shorter. Ends the program if that fails. */
void *link_map(const char *path, size_t bytes);

/**
 * Connect to the socket "@directory/bell@slave"; waits until it is there. Ends the program after 20
 * s.
 */
int link_bell(const char *directory, unsigned slave);
void link_ring(int bell);

/** CLOCK_MONOTONIC in ns. */
uint64_t link_now(void);
void link_sleep(uint64_t ns);

#endif
