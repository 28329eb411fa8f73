/* SPDX-License-Identifier: MIT */
#include "sr_zip.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input.h"

/* Deflate compresses at most 1032 to 1; archives that claim more are zip bombs. */
#define RATIO_MAX 1100
#define SMALL_MAX (1u << 20)

static enum cvl_code code_of(int zip_error)
{
	switch (zip_error) {
	case ZIP_ER_CRC:
	case ZIP_ER_ZLIB:
	case ZIP_ER_COMPRESSED_DATA: return CVL_E_CHECKSUM;
	case ZIP_ER_EOF: return CVL_E_TRUNCATED;
	case ZIP_ER_INCONS: return CVL_E_RANGE;
	case ZIP_ER_MEMORY: return CVL_E_NOMEM;
	case ZIP_ER_MULTIDISK:
	case ZIP_ER_COMPNOTSUPP:
	case ZIP_ER_ENCRNOTSUPP:
	case ZIP_ER_NOPASSWD:
	case ZIP_ER_OPNOTSUPP: return CVL_E_UNSUPPORTED;
	default: return CVL_E_IO;
	}
}

static int count_sizes(struct sr_zip *z, uint64_t size, struct cvl_error *err)
{
	zip_int64_t n = zip_get_num_entries(z->zip, 0);

	for (zip_int64_t i = 0; i < n; i++) {
		zip_stat_t st;

		if (zip_stat_index(z->zip, (zip_uint64_t)i, 0, &st) || !(st.valid & ZIP_STAT_SIZE))
			continue;
		if (__builtin_add_overflow(z->total, st.size, &z->total))
			z->total = UINT64_MAX;
	}
	if (z->total / RATIO_MAX > size)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"%s: %" PRIu64 " bytes claim to unpack to %" PRIu64
				", which is impossible with deflate",
				z->name, size, z->total);
	return 0;
}

static zip_source_t *open_source(const struct cvl_input *in, zip_error_t *ze)
{
	uint64_t begin;
	size_t n;
	const void *bytes = cvl_input_bytes(in, &n);
	int fd = cvl_input_file(in, &begin);
	zip_source_t *source;
	FILE *f;

	if (bytes)
		return zip_source_buffer_create(bytes, n, 0, ze);
	fd = dup(fd);
	f = fd < 0 ? NULL : fdopen(fd, "rb");
	if (!f) {
		zip_error_set(ze, ZIP_ER_OPEN, errno);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	source = zip_source_filep_create(f, begin, -1, ze);
	if (!source)
		fclose(f);
	return source;
}

int cvl_sr_zip_open(struct sr_zip *z, struct cvl_input *in, const struct cvl_import_opts *opts,
		    struct cvl_error *err)
{
	const char *name = cvl_input_name(in);
	const uint64_t size = cvl_input_size(in);
	zip_source_t *source;
	enum cvl_code code;
	zip_error_t ze;
	int rc;

	*z = (struct sr_zip){ .name = name, .opts = opts };
	if (!size)
		return cvl_fail(
			err, CVL_E_UNSUPPORTED, 0,
			"%s: a sigrok session cannot be read from a pipe; save it to a file", name);
	zip_error_init(&ze);
	source = open_source(in, &ze);
	z->zip = source ? zip_open_from_source(source, ZIP_RDONLY, &ze) : NULL;
	if (z->zip) {
		zip_error_fini(&ze);
		rc = count_sizes(z, size, err);
		if (rc)
			cvl_sr_zip_close(z);
		return rc;
	}
	zip_source_free(source);
	code = code_of(zip_error_code_zip(&ze));
	/* The directory is at the end of an archive, and this begins like one. */
	if (zip_error_code_zip(&ze) == ZIP_ER_NOZIP)
		rc = cvl_fail(err, CVL_E_TRUNCATED, size, "%s: truncated zip archive", name);
	else
		rc = cvl_fail(err, code, code == CVL_E_IO ? CVL_NO_OFFSET : 0,
			      "%s: damaged zip archive: %s", name, zip_error_strerror(&ze));
	zip_error_fini(&ze);
	return rc;
}

void cvl_sr_zip_close(struct sr_zip *z)
{
	if (z->zip)
		zip_discard(z->zip);
	z->zip = NULL;
}

/* The number K of an entry called PREFIX-K, else 0. */
static uint64_t chunk_number(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);
	uint64_t k = 0;

	if (strncmp(name, prefix, len) || name[len] != '-' || name[len + 1] == '0')
		return 0;
	for (name += len + 1; *name; name++) {
		if (*name < '0' || *name > '9' || k > UINT32_MAX)
			return 0;
		k = k * 10 + (uint64_t)(*name - '0');
	}
	return k;
}

int cvl_sr_stream_open(struct sr_stream *s, struct sr_zip *z, const char *prefix,
		       struct cvl_error *err)
{
	zip_int64_t n = zip_get_num_entries(z->zip, 0);
	size_t len = strlen(prefix);

	*s = (struct sr_stream){ .z = z, .next = 1 };
	if (len >= sizeof(s->prefix))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: entry name too long",
				z->name);
	memcpy(s->prefix, prefix, len + 1);
	memcpy(s->entry, prefix, len + 1);
	if (zip_name_locate(z->zip, prefix, ZIP_FL_ENC_RAW) >= 0) {
		s->last = 1;
		return 0;
	}
	s->chunked = true;
	for (zip_int64_t i = 0; i < n; i++) {
		const char *name = zip_get_name(z->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
		uint64_t k = name ? chunk_number(name, prefix) : 0;

		if (k > s->last)
			s->last = k;
	}
	return 0;
}

static int stream_fail(const struct sr_stream *s, enum cvl_code code, const char *what,
		       struct cvl_error *err)
{
	return cvl_fail(err, code, s->got, "%s:%s: %s", s->z->name, s->entry, what);
}

static int missing(struct sr_stream *s, struct cvl_error *err)
{
	struct cvl_error problem;
	int rc = stream_fail(s, CVL_E_MISSING, "missing: what follows cannot be placed in time",
			     &problem);

	if (s->z->opts->strict) {
		if (err)
			*err = problem;
		return rc;
	}
	cvl_tell(s->z->opts->report, &problem);
	s->hole = true;
	return 0;
}

static int zip_trouble(const struct sr_stream *s, zip_error_t *ze, struct cvl_error *err)
{
	enum cvl_code code = code_of(zip_error_code_zip(ze));

	/* Fewer bytes than the directory says is truncation, more is damage. */
	if (code == CVL_E_RANGE && s->got < s->declared)
		code = CVL_E_TRUNCATED;
	return stream_fail(s, code, zip_error_strerror(ze), err);
}

/* Go to the next entry. Returns 1, 0 if there is none, or a negative code. */
static int next_entry(struct sr_stream *s, struct cvl_error *err)
{
	zip_int64_t index;
	zip_stat_t st;

	if (s->next > s->last || s->hole)
		return 0;
	if (s->chunked)
		snprintf(s->entry, sizeof(s->entry), "%s-%" PRIu64, s->prefix, s->next);
	s->got = 0;
	index = zip_name_locate(s->z->zip, s->entry, ZIP_FL_ENC_RAW);
	if (index < 0)
		return missing(s, err);
	if (zip_stat_index(s->z->zip, (zip_uint64_t)index, 0, &st) || !(st.valid & ZIP_STAT_SIZE))
		return stream_fail(s, CVL_E_MISSING, "no size given", err);
	s->declared = st.size;
	s->file = zip_fopen_index(s->z->zip, (zip_uint64_t)index, 0);
	if (!s->file)
		return zip_trouble(s, zip_get_error(s->z->zip), err);
	s->next++;
	return 1;
}

ssize_t cvl_sr_stream_read(struct sr_stream *s, void *buf, size_t n, struct cvl_error *err)
{
	for (;;) {
		zip_int64_t have;
		int rc;

		if (!s->file) {
			rc = next_entry(s, err);
			if (rc <= 0)
				return rc;
		}
		rc = cvl_progress_tell(&s->z->opts->progress, s->z->done, s->z->total, err);
		if (rc)
			return rc;
		have = zip_fread(s->file, buf, n);
		if (have < 0)
			return zip_trouble(s, zip_file_get_error(s->file), err);
		if ((uint64_t)have > s->declared - s->got)
			return stream_fail(s, CVL_E_RANGE, "holds more than it declares", err);
		s->got += (uint64_t)have;
		s->size += (uint64_t)have;
		s->z->done += (uint64_t)have;
		if (have)
			return (ssize_t)have;
		if (s->got < s->declared)
			return stream_fail(s, CVL_E_TRUNCATED, "ends too early", err);
		cvl_sr_stream_close(s);
	}
}

void cvl_sr_stream_close(struct sr_stream *s)
{
	if (s->file)
		zip_fclose(s->file);
	s->file = NULL;
}

int cvl_sr_read_small(struct sr_zip *z, const char *entry, char **text, size_t *n,
		      struct cvl_error *err)
{
	struct sr_stream s;
	zip_stat_t st;
	ssize_t have;
	int rc;

	*text = NULL;
	*n = 0;
	rc = cvl_sr_stream_open(&s, z, entry, err);
	if (rc)
		return rc;
	if (s.chunked || zip_stat(z->zip, entry, ZIP_FL_ENC_RAW, &st))
		return stream_fail(&s, CVL_E_MISSING, "missing", err);
	if (st.size > SMALL_MAX)
		return stream_fail(&s, CVL_E_LIMIT, "is larger than 1 MiB", err);
	*text = malloc(st.size + 1);
	if (!*text)
		return stream_fail(&s, CVL_E_NOMEM, "out of memory", err);
	/* Room for one byte more than declared detects excess data. */
	while ((have = cvl_sr_stream_read(&s, *text + *n, st.size + 1 - *n, err)) > 0)
		*n += (size_t)have;
	cvl_sr_stream_close(&s);
	if (have < 0) {
		free(*text);
		*text = NULL;
		return (int)have;
	}
	assert(*n <= st.size);
	(*text)[*n] = '\0';
	return 0;
}
