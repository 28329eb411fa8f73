/* SPDX-License-Identifier: MIT */
/**
 * Metadata of the programs whose packets are read: which of several files belongs to a packet is
 * told by its layout.
 */
#ifndef TRACER_TSDL_H
#define TRACER_TSDL_H

#include <stddef.h>
#include <stdint.h>

#include <coeval/ctf.h>

#define TSDL_MAX 16

struct tsdl {
	char *path, *text;
	size_t n;
	uint32_t layout;
	struct cvl_trace *trace;
};

struct tsdl_list {
	struct tsdl item[TSDL_MAX];
	size_t n;
};

/**
 * Read the files "A,B,...". CVL_E_USAGE if @files is NULL or too many, else what reading and
 * parsing fail with; @l is empty then.
 */
int tsdl_load(struct tsdl_list *l, const char *files, struct cvl_error *err);

/** The one for @layout; NULL with @err filled if there is none: @where has another program. */
const struct tsdl *tsdl_find(const struct tsdl_list *l, uint32_t layout, const char *where,
			     struct cvl_error *err);

/**
 * Last tick of the events in the packet of @n bytes at @packet; its header's timestamp_end is set
 * to it.
 */
void tsdl_set_end(const struct tsdl *t, void *packet, size_t n);

void tsdl_free(struct tsdl_list *l);

#endif
