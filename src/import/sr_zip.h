/* SPDX-License-Identifier: MIT */
/**
 * The zip archive of a sigrok session, and the streams in it: one entry, or chunks PREFIX-1,
 * PREFIX-2, ... read as one.
 *
 * Errors name the archive and the entry; their offset is inside the entry's contents.
 */
#ifndef SR_ZIP_H
#define SR_ZIP_H

#include <sys/types.h>
#include <zip.h>

#include <coeval/format.h>

#define SR_ENTRY_NAME 96

struct sr_zip {
	const char *name; /* of the archive, for messages */
	zip_t *zip;
	uint64_t total; /* contents of all entries, as declared */
	uint64_t done;  /* bytes read from streams so far */
	const struct cvl_import_opts *opts;
};

struct sr_stream {
	struct sr_zip *z;
	char prefix[SR_ENTRY_NAME];
	char entry[SR_ENTRY_NAME + 24]; /* being read, or read last */
	bool chunked;
	uint64_t next, last; /* chunks; last is 0 if there is nothing of that name */
	zip_file_t *file;
	uint64_t declared, got; /* bytes of the entry */
	uint64_t size;          /* bytes read, of all chunks */
	bool hole;              /* ended early: a chunk is missing, which was reported */
};

/**
 * Open the archive @in: a file, or memory. CVL_E_LIMIT if it claims to unpack to more than it can;
 * CVL_E_UNSUPPORTED: a pipe.
 */
int cvl_sr_zip_open(struct sr_zip *z, struct cvl_input *in, const struct cvl_import_opts *opts,
		    struct cvl_error *err);
void cvl_sr_zip_close(struct sr_zip *z);

/** Look for the entry @prefix, or else its chunks. What was found is in s->last. */
int cvl_sr_stream_open(struct sr_stream *s, struct sr_zip *z, const char *prefix,
		       struct cvl_error *err);
/**
 * Up to @n bytes; 0 at the end. A chunk that is missing ends the stream: what follows it has no
 * known place. That is reported, and with opts->strict CVL_E_MISSING.
 */
ssize_t cvl_sr_stream_read(struct sr_stream *s, void *buf, size_t n, struct cvl_error *err);
void cvl_sr_stream_close(struct sr_stream *s);

/** The whole of a small entry that must be there, with a NUL behind it; free() it. */
int cvl_sr_read_small(struct sr_zip *z, const char *entry, char **text, size_t *n,
		      struct cvl_error *err);

#endif
