/* SPDX-License-Identifier: MIT */
#include "input.h"

#include <assert.h>
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sha256.h"

/* Interval between the parts of the input that the digest covers. */
/* Read at a time: they are still in a core's own cache when they are looked at. */
#define READ_BYTES (1u << 18)

#define DIGEST_EVERY 65536
#define DIGEST_BYTES 1024

/*
 * The bytes ahead are window[at .. end). They are moved to the front only when more are needed, so
 * as long as requests are much smaller than the window almost nothing is copied twice.
 */
struct cvl_input {
	int fd;                     /* -1: memory */
	bool own;                   /* close it */
	const unsigned char *bytes; /* the memory, of size bytes */
	uint64_t begin;             /* file position at the start */
	char *path;
	char *name;
	uint64_t size;
	uint64_t offset; /* of window[at] */
	size_t at, end;
	bool ended;
	struct cvl_progress progress;
	size_t room;  /* size of the window; at most that of the file, if known */
	uint64_t got; /* bytes read */
	struct sha256_ctx digest;
	unsigned char window[]; /* room + 1, for the NUL after the last line */
};

static int input_new(struct cvl_input **out, const char *path, const char *name, size_t room,
		     struct cvl_error *err)
{
	struct cvl_input *in = malloc(sizeof(*in) + room + 1);

	*out = NULL;
	if (!in)
		return cvl_no_memory(err);
	/* Not zeroed as a whole: the window is large, and a small input touches little of it. */
	memset(in, 0, sizeof(*in));
	in->fd = -1;
	in->room = room;
	sha256_init(&in->digest);
	in->name = strdup(name);
	in->path = path ? strdup(path) : NULL;
	if (!in->name || (path && !in->path)) {
		cvl_input_close(in);
		return cvl_no_memory(err);
	}
	*out = in;
	return 0;
}

static int input_fd(struct cvl_input **out, int fd, bool own, const char *path, const char *name,
		    struct cvl_error *err)
{
	struct stat st;
	off_t begin;
	int rc;

	if (fstat(fd, &st))
		return cvl_fail_errno(err, "open", name);
	begin = S_ISREG(st.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
	st.st_size = begin >= 0 && st.st_size > begin ? st.st_size - begin : 0;
	rc = input_new(out, path, name,
		       st.st_size && st.st_size < CVL_INPUT_WINDOW ? (size_t)st.st_size :
								     CVL_INPUT_WINDOW,
		       err);
	if (rc)
		return rc;
	(*out)->fd = fd;
	(*out)->own = own;
	(*out)->size = (uint64_t)st.st_size;
	(*out)->begin = begin > 0 ? (uint64_t)begin : 0;
	return 0;
}

int cvl_input_open(struct cvl_input **out, const char *path, struct cvl_error *err)
{
	int fd, rc;

	*out = NULL;
	if (!strcmp(path, "-"))
		return input_fd(out, STDIN_FILENO, false, path, "standard input", err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return cvl_fail_errno(err, "open", path);
	rc = input_fd(out, fd, true, path, path, err);
	if (rc)
		close(fd);
	return rc;
}

int cvl_input_fd(struct cvl_input **out, int fd, const char *name, struct cvl_error *err)
{
	*out = NULL;
	return input_fd(out, fd, false, NULL, name, err);
}

int cvl_input_memory(struct cvl_input **out, const void *bytes, size_t n, const char *name,
		     struct cvl_error *err)
{
	int rc = input_new(out, NULL, name, n < CVL_INPUT_WINDOW ? n : CVL_INPUT_WINDOW, err);

	if (rc)
		return rc;
	(*out)->bytes = bytes;
	(*out)->size = n;
	return 0;
}

void cvl_input_close(struct cvl_input *in)
{
	if (!in)
		return;
	if (in->own)
		close(in->fd);
	free(in->path);
	free(in->name);
	free(in);
}

const char *cvl_input_name(const struct cvl_input *in)
{
	return in->name;
}

const char *cvl_input_path(const struct cvl_input *in)
{
	return in->path;
}

uint64_t cvl_input_offset(const struct cvl_input *in)
{
	return in->offset;
}

uint64_t cvl_input_size(const struct cvl_input *in)
{
	return in->size;
}

const char *cvl_input_origin(const struct cvl_input *in)
{
	return in->path ? in->path : in->name;
}

const void *cvl_input_bytes(const struct cvl_input *in, size_t *n)
{
	*n = in->bytes ? (size_t)in->size : 0;
	return in->bytes;
}

int cvl_input_file(const struct cvl_input *in, uint64_t *begin)
{
	*begin = in->begin;
	return in->size ? in->fd : -1;
}

/* Digest those of the @n bytes read at @p that it covers. */
static void sample(struct cvl_input *in, const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t at = (in->got + i) % DIGEST_EVERY;
		size_t step = at < DIGEST_BYTES ? DIGEST_BYTES - at : DIGEST_EVERY - at;

		step = step < n - i ? step : n - i;
		if (at < DIGEST_BYTES)
			sha256_update(&in->digest, step, p + i);
		i += step;
	}
	in->got += n;
}

void cvl_input_digest(const struct cvl_input *in, char out[CVL_HASH_TEXT])
{
	struct sha256_ctx all = in->digest;
	const uint64_t size = htole64(in->size ? in->size : in->got);

	sha256_update(&all, sizeof(size), (const uint8_t *)&size);
	cvl_sha256_digits(&all, out + sprintf(out, "sampled:"));
}

static ssize_t input_read(struct cvl_input *in, unsigned char *to, size_t room)
{
	ssize_t n;

	if (in->fd >= 0) {
		do
			n = read(in->fd, to, room);
		while (n < 0 && errno == EINTR);
		return n;
	}
	if (room > in->size - in->got)
		room = (size_t)(in->size - in->got);
	if (room)
		memcpy(to, in->bytes + in->got, room);
	return (ssize_t)room;
}

/* Read until @want bytes are ahead or the input ends. */
static int input_fill(struct cvl_input *in, size_t want, struct cvl_error *err)
{
	size_t room;
	ssize_t n;
	int rc;

	if (in->end - in->at >= want || in->ended)
		return 0;
	memmove(in->window, in->window + in->at, in->end - in->at);
	in->end -= in->at;
	in->at = 0;
	while (in->end < want && !in->ended) {
		rc = cvl_progress_tell(&in->progress, in->offset + in->end, in->size, err);
		if (rc)
			return rc;
		room = in->room - in->end;
		n = input_read(in, in->window + in->end, room < READ_BYTES ? room : READ_BYTES);
		if (n < 0) {
			rc = cvl_fail_errno(err, "read", in->name);

			if (err)
				err->offset = in->offset + in->end;
			return rc;
		}
		sample(in, in->window + in->end, (size_t)n);
		in->end += (size_t)n;
		in->ended = n == 0;
	}
	return 0;
}

ssize_t cvl_input_peek(struct cvl_input *in, size_t want, const unsigned char **bytes,
		       struct cvl_error *err)
{
	int rc;

	*bytes = NULL;
	rc = input_fill(in, want < CVL_INPUT_WINDOW ? want : CVL_INPUT_WINDOW, err);
	if (rc)
		return rc;
	*bytes = in->window + in->at;
	return (ssize_t)(in->end - in->at);
}

void cvl_input_skip(struct cvl_input *in, size_t n)
{
	assert(n <= in->end - in->at);
	in->at += n;
	in->offset += n;
}

int cvl_input_line(struct cvl_input *in, char **line, size_t *len, uint64_t *offset, bool *ended,
		   struct cvl_error *err)
{
	unsigned char *start, *nl = NULL, *nul;
	size_t seen = 0, n;

	for (;;) {
		int rc = input_fill(in, seen + 1, err);

		if (rc)
			return rc;
		start = in->window + in->at;
		n = in->end - in->at;
		nl = n > seen ? memchr(start + seen, '\n', n - seen) : NULL;
		if (nl || n == seen)
			break;
		if (n == CVL_INPUT_WINDOW)
			return cvl_fail(err, CVL_E_LIMIT, in->offset,
					"%s: a line is longer than %u bytes", in->name,
					CVL_INPUT_WINDOW);
		seen = n;
	}
	if (!n)
		return 0;
	if (nl)
		n = (size_t)(nl - start);
	nul = memchr(start, '\0', n);
	if (nul)
		return cvl_fail(err, CVL_E_SYNTAX, in->offset + (size_t)(nul - start),
				"%s: NUL byte in text", in->name);
	*offset = in->offset;
	*ended = nl != NULL;
	cvl_input_skip(in, nl ? n + 1 : n);
	if (nl && n && start[n - 1] == '\r')
		n--;
	start[n] = '\0';
	*line = (char *)start;
	*len = n;
	return 1;
}

void cvl_input_clock_name(const struct cvl_input *in, const struct cvl_import_opts *opts, char *out,
			  size_t size)
{
	const char *name = opts->node, *slash;
	size_t n;

	if (!name) {
		name = in->path && !strcmp(in->path, "-") ? "stdin" : in->name;
		slash = strrchr(name, '/');
		if (slash)
			name = slash + 1;
	}
	snprintf(out, size, "%s", *name ? name : "clock");
	if (!opts->node) {
		char *dot = strrchr(out, '.');

		if (dot && dot != out)
			*dot = '\0';
	}
	/* The name is used for a directory: a leading dot would hide it, or worse. */
	n = strlen(out);
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)out[i]) && !strchr("_-.", out[i]))
			out[i] = '_';
	if (out[0] == '.')
		out[0] = '_';
}

void cvl_input_progress(struct cvl_input *in, const struct cvl_progress *progress)
{
	in->progress = *progress;
}
