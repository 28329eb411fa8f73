/* SPDX-License-Identifier: MIT */
/**
 * Memory that holds rings, as `--device [NAME=]PATH[@OFFSET[+BYTES]],...` names it, and mapping it.
 */
#ifndef DRIVERS_RING_MEMORY_H
#define DRIVERS_RING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <coeval/error.h>

#include <coeval/files.h>

#define MEMORIES_MAX 16

struct memory {
	char name[100], path[CVL_PATH_MAX];
	uint64_t offset, length; /* 0: to the end */
	uint8_t *at;             /* where it is mapped; NULL: not there yet */
	size_t bytes;
	dev_t device;
	ino_t inode;
	bool answered; /* it contains a ring */
};

struct memory_list {
	struct memory item[MEMORIES_MAX];
	size_t n;
};

/** CVL_E_USAGE says what @text, which may be NULL, should look like. */
int memory_read(struct memory_list *list, const char *text, struct cvl_error *err);

/** Map @m if it exists: otherwise m->at stays NULL. CVL_E_ENV, CVL_E_IO, CVL_E_USAGE. */
int memory_map(struct memory *m, struct cvl_error *err);

enum memory_state {
	MEMORY_THERE,
	MEMORY_CUT,      /* the file is shorter now: the missing part reads as zeros */
	MEMORY_REPLACED, /* the path now names another file, or none */
};

enum memory_state memory_look(const struct memory *m);

void memory_unmap(struct memory_list *list);

#endif
