/* SPDX-License-Identifier: MIT */
/** CTF traces such as LTTng makes of a kernel, to measure readers with. */
#ifndef CTFGEN_H
#define CTFGEN_H

#include "bench.h"

#define CTFGEN_HOSTS 2
#define CTFGEN_CPUS 2

/**
 * Make the trace of host @host (0 or 1) in the new directory @path: @events events on CTFGEN_CPUS
 * streams. The traces of the hosts cover the same time. Always the same bytes.
 */
int ctfgen_make(const struct bench *b, const char *path, unsigned host, uint64_t events);

/** The trace @from in CTF 2 as the new directory @path: the same streams with other metadata. */
int ctfgen_twin(const struct bench *b, const char *path, const char *from);

#endif
