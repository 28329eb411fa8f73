/* SPDX-License-Identifier: MIT */
/**
 * Metadata of the programs whose packets are read: a packet's layout number selects one of several
 * files.
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
 * Read the files "A,B,...". CVL_E_USAGE if @files is NULL or too many, or the error of reading or
 * parsing; @l is empty then.
 */
int tsdl_load(struct tsdl_list *l, const char *files, struct cvl_error *err);

/** The metadata for @layout; NULL with @err filled if none matches: @where has another program. */
const struct tsdl *tsdl_find(const struct tsdl_list *l, uint32_t layout, const char *where,
			     struct cvl_error *err);

/**
 * Set timestamp_end in the header of the @n byte packet at @packet to the tick of its last event.
 */
void tsdl_set_end(const struct tsdl *t, void *packet, size_t n);

void tsdl_free(struct tsdl_list *l);

#endif
