/* SPDX-License-Identifier: MIT */
#include "input.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The bytes ahead are bytes[at .. end). They are moved to the front only when more are wanted than
 * there are, so with windows much larger than what is asked for nearly nothing is copied twice.
 */
struct cvl_input {
	int fd;                    /* -1: memory */
	const unsigned char *left; /* of the memory */
	size_t n_left;
	char *path;
	char *name;
	uint64_t size;
	uint64_t offset; /* of bytes[at] */
	size_t at, end;
	bool ended;
	struct cvl_progress progress;
	size_t room;           /* the window; no more than there is, if that is known */
	unsigned char bytes[]; /* one more than that, for the NUL of a last line */
};

static int input_new(struct cvl_input **out, const char *path, const char *name, size_t room,
		     struct cvl_error *err)
{
	struct cvl_input *in = malloc(sizeof(*in) + room + 1);

	*out = NULL;
	if (!in)
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "%s: out of memory", name);
	/* Not zeroed as a whole: the window is large, and a small input touches little of it. */
	memset(in, 0, sizeof(*in));
	in->fd = -1;
	in->room = room;
	in->name = strdup(name);
	in->path = path ? strdup(path) : NULL;
	if (!in->name || (path && !in->path)) {
		cvl_input_close(in);
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "%s: out of memory", name);
	}
	*out = in;
	return 0;
}

int cvl_input_open(struct cvl_input **out, const char *path, struct cvl_error *err)
{
	const bool std = !strcmp(path, "-");
	const char *name = std ? "standard input" : path;
	int fd = std ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), rc;
	size_t room = CVL_INPUT_WINDOW;
	struct stat st;

	*out = NULL;
	if (fd < 0 || fstat(fd, &st)) {
		rc = cvl_fail_errno(err, "open", name);
	} else {
		if (!S_ISREG(st.st_mode) || st.st_size < 0)
			st.st_size = 0;
		if (st.st_size && st.st_size < CVL_INPUT_WINDOW)
			room = (size_t)st.st_size;
		rc = input_new(out, path, name, room, err);
	}
	if (!rc) {
		(*out)->fd = fd;
		(*out)->size = (uint64_t)st.st_size;
	} else if (fd > STDIN_FILENO) {
		close(fd);
	}
	return rc;
}

int cvl_input_memory(struct cvl_input **out, const void *bytes, size_t n, const char *name,
		     struct cvl_error *err)
{
	int rc = input_new(out, NULL, name, n < CVL_INPUT_WINDOW ? n : CVL_INPUT_WINDOW, err);

	if (rc)
		return rc;
	(*out)->left = bytes;
	(*out)->n_left = n;
	(*out)->size = n;
	return 0;
}

void cvl_input_close(struct cvl_input *in)
{
	if (!in)
		return;
	if (in->fd > STDIN_FILENO)
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

static ssize_t input_read(struct cvl_input *in, unsigned char *to, size_t room)
{
	ssize_t n;

	if (in->fd >= 0) {
		do
			n = read(in->fd, to, room);
		while (n < 0 && errno == EINTR);
		return n;
	}
	if (room > in->n_left)
		room = in->n_left;
	if (room)
		memcpy(to, in->left, room);
	in->left += room;
	in->n_left -= room;
	return (ssize_t)room;
}

/* Have @want bytes ahead, or all there are. */
static int input_fill(struct cvl_input *in, size_t want, struct cvl_error *err)
{
	ssize_t n;
	int rc;

	if (in->end - in->at >= want || in->ended)
		return 0;
	memmove(in->bytes, in->bytes + in->at, in->end - in->at);
	in->end -= in->at;
	in->at = 0;
	while (in->end < want && !in->ended) {
		rc = cvl_progress_tell(&in->progress, in->offset + in->end, in->size, err);
		if (rc)
			return rc;
		n = input_read(in, in->bytes + in->end, in->room - in->end);
		if (n < 0) {
			rc = cvl_fail_errno(err, "read", in->name);

			if (err)
				err->offset = in->offset + in->end;
			return rc;
		}
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
	*bytes = in->bytes + in->at;
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
		start = in->bytes + in->at;
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
				"%s: a NUL byte in what should be text", in->name);
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
	/* The name becomes that of a directory: a leading dot would hide it, or worse. */
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
