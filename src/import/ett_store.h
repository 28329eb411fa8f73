/* SPDX-License-Identifier: MIT */
/**
 * What is stored from an image of the event timestamping kernel. On its clock, the TSC:
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

/** Rows given to the writer at a time: those of a block if all probes change in each record. */
#define ETT_ROWS_MAX (8 * ETT_BLOCK_RECORDS)

struct ett_store {
	const struct ett_header *h;
	struct cvl_session *session;
	struct cvl_writer *w;
	int run, step, event[2], store[2]; /* classes; [1] of half-widths above 32 bits */
	bool begun;                        /* the run's event is stored */
	bool every;                        /* steps are records too */
	uint64_t last;                     /* tick up to which all is stored */
	uint64_t missing;                  /* records dropped since */
	char clock[128];
	int class; /* of the pending rows */
	size_t n;
	struct cvl_store_row row[ETT_ROWS_MAX];
};

/** Start the clock of the image with header @h, which must outlive @st. */
int ett_store_open(struct ett_store *st, const struct ett_header *h, struct cvl_input *in,
		   struct cvl_session *s, const struct cvl_import_opts *opts,
		   struct cvl_error *err);
/** Take @n records in the image's format. */
int ett_store_records(struct ett_store *st, enum ett_kind kind, const unsigned char *records,
		      size_t n, struct cvl_error *err);
/** The next @n records are missing: leaves a gap up to the following ones. */
void ett_store_missing(struct ett_store *st, uint64_t n);
/** End of the records of @kind, of which the last @lost are missing. */
int ett_store_end(struct ett_store *st, enum ett_kind kind, uint64_t lost, struct cvl_error *err);
/** Stores of the self-test follow. */
int ett_store_truth(struct ett_store *st, struct cvl_input *in, struct cvl_error *err);
/** Close; @rc: the first error so far or 0, which is returned then. */
int ett_store_close(struct ett_store *st, int rc, struct cvl_error *err);

#endif
