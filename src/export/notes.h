/* SPDX-License-Identifier: MIT */
/**
 * The fields of an event as notes of a Perfetto event, and what they say about where it belongs.
 */
#ifndef NOTES_H
#define NOTES_H

#include <coeval/ctf.h>

#include "export/perfetto_packets.h"

#define NOTES_NAME 80

/** Who an event is about, as far as its fields tell. */
struct notes_about {
	bool has_task, has_core;
	bool is_numbered; /* the task; else it has a name alone */
	uint64_t task;    /* its number, or a hash of its name */
	uint64_t core;
	char task_name[NOTES_NAME]; /* "" if it has none */
	char name[NOTES_NAME];      /* of a function or span, or its address; "" if none */
	uint64_t name_hash;         /* of all of it */
	bool has_next;              /* of a switch of tasks: the one that runs from here on */
	uint64_t next;
	char next_name[NOTES_NAME]; /* "" if it has none */
};

/**
 * Write all fields of record @i as notes called @prefix and their path ("hdr.seq", "data[3]"); an
 * enumeration's label as one called "PATH.label".
 *
 * A task is what vtid, tid, task or thread in a context, or task or thread in the event itself,
 * say; a core cpu_id, cpu or core in a context, or core in the event. A name is a text called
 * function, func or name, or the address addr.
 */
int notes_fields(struct perfetto *p, struct cvl_stream *stream, const struct cvl_batch *batch,
		 size_t i, const char *prefix, struct notes_about *about, struct cvl_error *err);

#endif
