/* SPDX-License-Identifier: MIT */
/**
 * Writes the fields of an event as notes of a Perfetto event, and finds its task and core in them.
 */
#ifndef NOTES_H
#define NOTES_H

#include <coeval/ctf.h>

#include "export/perfetto_packets.h"

#define NOTES_NAME 80

/** What an event is about, according to its fields. */
struct notes_about {
	bool has_task, has_core;
	bool is_numbered; /* the task has a number; else only a name */
	uint64_t task;    /* its number, or a hash of its name */
	uint64_t core;
	char task_name[NOTES_NAME]; /* "" if it has none */
	char name[NOTES_NAME];      /* of a function or span, or its address; "" if none */
	uint64_t name_hash;         /* of the full name */
	bool has_next;              /* of a task switch: the task that runs from here on */
	uint64_t next;
	char next_name[NOTES_NAME]; /* "" if it has none */
};

/**
 * Write all fields of record @i as notes named @prefix and their path ("hdr.seq", "data[3]"), and
 * labels of enumerations as "PATH.label".
 *
 * The task is taken from vtid, tid, task or thread in a context, or task or thread in the event
 * itself; the core from cpu_id, cpu or core in a context, or core in the event; the name from a
 * string function, func or name, or the address addr.
 */
int notes_fields(struct perfetto *p, struct cvl_stream *stream, const struct cvl_batch *batch,
		 size_t i, const char *prefix, struct notes_about *about, struct cvl_error *err);

#endif
