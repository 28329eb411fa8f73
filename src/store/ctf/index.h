/* SPDX-License-Identifier: MIT */
/**
 * The index of a stream's packets, as our writer and lttng-tools 1.1 keep it beside the stream. It
 * is derived: what it says is checked, and without it packets are found by their headers.
 */
#ifndef CTF_INDEX_H
#define CTF_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include <coeval/error.h>

#include "store/ctf/wire.h"

/** Where to begin reading for a range, in the byte order of the host. */
struct index_spot {
	struct wire_index_entry first;  /* the packet to begin with */
	struct wire_index_entry before; /* the one before it, if any */
	bool has_before;
};

/**
 * The packet before the first that ends at tick @from or later: its end tells the levels at @from.
 * False where there is no index at @path, or where it does not describe packets that follow each
 * other in bytes and in time up to there, within @size bytes.
 */
bool index_find(const char *path, uint64_t size, uint64_t from, struct index_spot *spot);

/**
 * Whether packets behind byte @offset begin at tick @to or earlier; true also where the index does not say
 * so of all that follow, up to @size bytes.
 */
bool index_begins_by(const char *path, uint64_t size, uint64_t offset, uint64_t to);

/** The entry of a packet that begins at byte @offset. */
struct wire_index_entry index_entry(const struct wire_packet *packet, uint64_t offset);

/**
 * Open the index of the only stream of the trace in directory @trace for writing, with its head alone.
 * @how: O_EXCL or O_TRUNC. A descriptor, or a negative code.
 */
int index_create(const char *trace, int how, struct cvl_error *err);

#endif
