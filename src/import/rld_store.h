/* SPDX-License-Identifier: MIT */
/**
 * Stores a RocketLogger data file as a clock: its channels, its lines, and two events:
 * `rocketlogger` once, with the file's description, and `block` at each block, with its raw
 * timestamps.
 *
 * A current measured in two ranges, I1L while a line shows that it is valid, else I1H, also becomes
 * one channel I1.
 */
#ifndef RLD_STORE_H
#define RLD_STORE_H

#include <coeval/format.h>

#include "input.h"
#include "rld_header.h"
#include "rld_stamps.h"

/** A channel made of two. */
struct rld_merged {
	size_t low, high; /* among the analog ones */
	unsigned valid;   /* line that is high while the low range is valid */
	char name[RLD_NAME_MAX];
};

/** All but the first four are zero before rld_store_open(). */
struct rld_store {
	const struct rld_header *h;
	struct rld_stamps *stamps;
	const char *name;  /* of the file */
	size_t line_bytes; /* of a sample */
	struct cvl_writer *w;
	struct rld_merged merged[CVL_CHANNELS_MAX];
	size_t n_merged;
	double *reading;
	int class_block, class_file;
	uint64_t levels; /* of the last sample */
	bool known;      /* levels are known */
	uint64_t last;   /* tick of the last sample */
};

/**
 * Add the clock; @start_unix_ns: of tick 0, or 0. Free with rld_store_free() in any case; the
 * caller finishes st->w.
 */
int rld_store_open(struct rld_store *st, struct cvl_input *in, struct cvl_session *s,
		   const struct cvl_import_opts *opts, int64_t start_unix_ns,
		   struct cvl_error *err);
void rld_store_free(struct rld_store *st);

/** Store the sample at @p as that of stamps->position, and advance. @offset: for errors. */
int rld_store_row(struct rld_store *st, const unsigned char *p, uint64_t offset,
		  struct cvl_error *err);

/** A block begins at stamps->position. */
int rld_store_block(struct rld_store *st, int64_t wall_ns, int64_t mono_ns, struct cvl_error *err);

/** From tick @from to the sample before @position @lost samples are missing. */
int rld_store_gap(struct rld_store *st, uint64_t from, uint64_t position, uint64_t lost,
		  enum cvl_gap why, struct cvl_error *err);

#endif
