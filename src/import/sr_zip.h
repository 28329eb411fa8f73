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
	uint64_t next, last; /* chunks; last is 0 if there are none of that name */
	zip_file_t *file;
	uint64_t declared, got; /* bytes of the entry */
	uint64_t size;          /* bytes read, of all chunks */
	bool hole;              /* ended early: a missing chunk was reported */
};

/**
 * Open the archive @in, a file or memory. CVL_E_LIMIT: an impossible unpacked size;
 * CVL_E_UNSUPPORTED: a pipe.
 */
int cvl_sr_zip_open(struct sr_zip *z, struct cvl_input *in, const struct cvl_import_opts *opts,
		    struct cvl_error *err);
void cvl_sr_zip_close(struct sr_zip *z);

/** Look for the entry @prefix, or else its chunks. s->last tells what was found. */
int cvl_sr_stream_open(struct sr_stream *s, struct sr_zip *z, const char *prefix,
		       struct cvl_error *err);
/**
 * Read up to @n bytes; 0 at the end. A missing chunk ends the stream, as the position of what
 * follows is unknown. This is reported; with opts->strict it is CVL_E_MISSING.
 */
ssize_t cvl_sr_stream_read(struct sr_stream *s, void *buf, size_t n, struct cvl_error *err);
void cvl_sr_stream_close(struct sr_stream *s);

/** Read all of a small required entry, and append a NUL; free() it. */
int cvl_sr_read_small(struct sr_zip *z, const char *entry, char **text, size_t *n,
		      struct cvl_error *err);

#endif
