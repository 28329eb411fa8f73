/* SPDX-License-Identifier: MIT */
/**
 * What is stored of an image of the event timestamping kernel. On its clock, the TSC:
 *
 *   run     how the capture went, at its beginning
 *   event   a probe shows another code; its tick stands in the middle of its bracket, whose
 *           half-width is its own bound
 *   step    worst-case mode: a step of the loop that saw nothing, and its length in ticks
 *   gap     blocks that are damaged or not there; all behind the end, if the memory was full
 *
 * and, of a self-test, on a second trace of the same clock: `store`, a value that the other
 * processor wrote, between its TSC before and behind that.
 */
#ifndef ETT_STORE_H
#define ETT_STORE_H

#include <coeval/format.h>

#include <wire/ett_image.h>

/**
 * Rows that are given to the writer at a time: a block's, if all probes change in each of its
 * records.
 */
#define ETT_ROWS_MAX (8 * ETT_BLOCK_RECORDS)

struct ett_store {
	const struct ett_header *h;
	struct cvl_session *session;
	struct cvl_writer *w;
	int run, step, event[2], store[2]; /* classes; [1] of half-widths above 32 bits */
	bool every;                        /* steps are records too */
	uint64_t last;                     /* tick up to which all is told */
	uint64_t missing;                  /* records left out since */
	char clock[128];
	int class; /* of the rows that wait */
	size_t n;
	struct cvl_store_row row[ETT_ROWS_MAX];
};

/** Begin the clock of the image whose header is @h, as it is stored. @h must outlive it. */
int ett_store_open(struct ett_store *st, const struct ett_header *h, struct cvl_input *in,
		   struct cvl_session *s, const struct cvl_import_opts *opts,
		   struct cvl_error *err);
/** Take @n records as they are stored. */
int ett_store_records(struct ett_store *st, enum ett_kind kind, const unsigned char *records,
		      size_t n, struct cvl_error *err);
/** The next @n records cannot be had: a gap up to those that follow. */
void ett_store_missing(struct ett_store *st, uint64_t n);
/** All records of @kind have come, but for the last @lost. */
int ett_store_end(struct ett_store *st, enum ett_kind kind, uint64_t lost, struct cvl_error *err);
/** From now on: stores of the self-test. */
int ett_store_truth(struct ett_store *st, struct cvl_input *in, struct cvl_error *err);
/** Close; @rc: what went wrong so far, which is returned then. */
int ett_store_close(struct ett_store *st, int rc, struct cvl_error *err);

#endif
