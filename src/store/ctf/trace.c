/* SPDX-License-Identifier: MIT */
#include "store/ctf/internal.h"

#include <coeval/array.h>

#include <coeval/files.h>
#include "store/ctf/tsdl_put.h"
#include "store/ctf/wire.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Header of a packet of packetised metadata (CTF 1.8, section 7.1), in the trace's byte order. */
struct metadata_header {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t checksum;
	uint32_t content_size; /* bits */
	uint32_t packet_size;  /* bits */
	uint8_t compression, encryption, checksum_scheme, major, minor;
} __attribute__((packed));

/* Join the texts of metadata packets in place. Returns 0 and sets the new length. */
static int unpack_metadata(char *text, size_t *n, const char *path, struct cvl_error *err)
{
	size_t in = 0, out = 0;

	while (in < *n) {
		struct metadata_header h;
		bool be;
		uint32_t content, packet;

		if (*n - in < sizeof(h))
			return cvl_fail(err, CVL_E_TRUNCATED, in,
					"%s:%zu: truncated metadata packet header", path, in);
		memcpy(&h, text + in, sizeof(h));
		be = be32toh(h.magic) == TSDL_MAGIC;
		if (!be && le32toh(h.magic) != TSDL_MAGIC)
			return cvl_fail(err, CVL_E_MAGIC, in, "%s:%zu: no metadata packet here",
					path, in);
		content = be ? be32toh(h.content_size) : le32toh(h.content_size);
		packet = be ? be32toh(h.packet_size) : le32toh(h.packet_size);
		if ((h.major != 1 || h.minor != 8) && (h.major != 2 || h.minor))
			return cvl_fail(
				err, CVL_E_UNSUPPORTED,
				in + offsetof(struct metadata_header, major),
				"%s:%zu: metadata packet of CTF %u.%u; CTF 1.8 and CTF 2 can be read",
				path, in + offsetof(struct metadata_header, major), h.major,
				h.minor);
		if (h.compression || h.encryption)
			return cvl_fail(err, CVL_E_UNSUPPORTED, in,
					"%s:%zu: compressed or encrypted metadata", path, in);
		if (content / 8 < sizeof(h) || packet < content || content % 8 || packet % 8)
			return cvl_fail(err, CVL_E_RANGE, in,
					"%s:%zu: metadata packet of %u bits, %u of content", path,
					in, packet, content);
		if (content / 8 > *n - in)
			return cvl_fail(err, CVL_E_TRUNCATED, *n,
					"%s:%zu: the file ends inside the metadata packet at %zu",
					path, *n, in);
		memmove(text + out, text + in + sizeof(h), content / 8 - sizeof(h));
		out += content / 8 - sizeof(h);
		in += packet / 8 > *n - in ? *n - in : packet / 8;
	}
	*n = out;
	return 0;
}

static struct cvl_trace *new_trace(const char *path, const char *metadata_path)
{
	struct cvl_trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->path = strdup(path);
	t->metadata_path = strdup(metadata_path);
	if (t->path && t->metadata_path)
		return t;
	cvl_trace_close(t);
	return NULL;
}

static int parse(struct cvl_trace *t, const char *text, size_t n, struct cvl_error *err)
{
	const char *tracer;
	const bool json = n && *text == CTF2_BEGIN;
	int rc = (json ? ctf2_parse : tsdl_parse)(t, text, n, t->metadata_path, err);

	if (rc)
		return rc;
	tracer = cvl_trace_env(t, "tracer_name");
	t->ours = tracer && !json && !strcmp(tracer, WIRE_TRACER);
	t->exported = tracer && !strcmp(tracer, CVL_EXPORT_TRACER);
	if (t->ours && cvl_trace_env_number(t, "tracer_major") > WIRE_VERSION)
		return cvl_fail(
			err, CVL_E_UNSUPPORTED, 0,
			"%s:0: stream version %s is not supported; this coeval reads up to %d",
			t->metadata_path, cvl_trace_env(t, "tracer_major"), WIRE_VERSION);
	return layout_compile(t, err);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct stream_file *)a)->name, ((const struct stream_file *)b)->name);
}

static int find_files(struct cvl_trace *t, struct cvl_error *err)
{
	DIR *dir = opendir(t->path);
	struct dirent *d;
	size_t room = 0;

	if (!dir)
		return cvl_fail_errno(err, "open", t->path);
	while ((d = readdir(dir))) {
		struct stat st;

		if (d->d_name[0] == '.' || !strcmp(d->d_name, "metadata") ||
		    fstatat(dirfd(dir), d->d_name, &st, 0) || !S_ISREG(st.st_mode))
			continue;
		if (cvl_room(&t->file, t->n_files, &room, sizeof(*t->file)))
			goto no_memory;
		t->file[t->n_files].name = strdup(d->d_name);
		if (!t->file[t->n_files].name)
			goto no_memory;
		t->n_files++;
	}
	closedir(dir);
	if (t->n_files)
		qsort(t->file, t->n_files, sizeof(*t->file), by_name);
	return 0;
no_memory:
	closedir(dir);
	return cvl_no_memory(err);
}

int cvl_trace_open(struct cvl_trace **out, const char *path, const struct cvl_report *report,
		   struct cvl_error *err)
{
	char metadata[4096];
	struct cvl_trace *t;
	char *text;
	size_t n;
	int rc;

	(void)report;
	*out = NULL;
	if ((size_t)snprintf(metadata, sizeof(metadata), "%s/metadata", path) >= sizeof(metadata))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", path);
	t = new_trace(path, metadata);
	if (!t)
		return cvl_no_memory(err);
	if (access(metadata, F_OK) && (errno == ENOENT || errno == ENOTDIR)) {
		rc = cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET, "%s: no such file", metadata);
		goto fail;
	}
	text = cvl_read_whole(metadata, CTF_METADATA_MAX, &n, err);
	if (!text) {
		rc = err ? (int)err->code : CVL_E_IO;
		goto fail;
	}
	if (!n) {
		rc = cvl_fail(err, CVL_E_TRUNCATED, 0, "%s:0: empty metadata", metadata);
		goto fail_text;
	}
	rc = 0;
	if (n >= 4 &&
	    (!memcmp(text, "\x75\xd1\x1d\x57", 4) || !memcmp(text, "\x57\x1d\xd1\x75", 4)))
		rc = unpack_metadata(text, &n, metadata, err);
	if (!rc)
		rc = parse(t, text, n, err);
	if (!rc)
		rc = find_files(t, err);
	if (rc)
		goto fail_text;
	free(text);
	*out = t;
	return 0;
fail_text:
	free(text);
fail:
	cvl_trace_close(t);
	return rc;
}

int cvl_trace_parse(struct cvl_trace **out, const char *text, size_t n, const char *name,
		    struct cvl_error *err)
{
	struct cvl_trace *t = new_trace("", name);
	int rc;

	*out = NULL;
	if (!t)
		return cvl_no_memory(err);
	rc = parse(t, text, n, err);
	if (rc)
		cvl_trace_close(t);
	else
		*out = t;
	return rc;
}

void cvl_trace_close(struct cvl_trace *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_files; i++)
		free(t->file[i].name);
	free(t->file);
	free(t->path);
	free(t->metadata_path);
	arena_free(&t->arena);
	free(t);
}

const char *cvl_trace_path(const struct cvl_trace *t)
{
	return t->path;
}

size_t cvl_trace_clocks(const struct cvl_trace *t)
{
	return t->n_clocks;
}

const struct cvl_clock_class *cvl_trace_clock(const struct cvl_trace *t, size_t i)
{
	return &t->clock[i];
}

const char *cvl_trace_env(const struct cvl_trace *t, const char *name)
{
	for (const struct env_entry *e = t->env; e; e = e->next)
		if (!strcmp(e->name, name))
			return e->value;
	return NULL;
}

size_t cvl_trace_events(const struct cvl_trace *t)
{
	return t->n_events;
}

const struct cvl_event_class *cvl_trace_event(const struct cvl_trace *t, size_t i)
{
	return &t->event[i]->pub;
}

size_t cvl_trace_streams(const struct cvl_trace *t)
{
	return t->n_files;
}

const char *cvl_trace_stream_name(const struct cvl_trace *t, size_t i)
{
	return t->file[i].name;
}

const char *cvl_trace_env_at(const struct cvl_trace *t, const char *name, size_t index)
{
	char full[80];

	snprintf(full, sizeof(full), "%s%zu", name, index);
	return cvl_trace_env(t, full);
}

uint64_t cvl_trace_env_number(const struct cvl_trace *t, const char *name)
{
	const char *text = cvl_trace_env(t, name);

	return text ? strtoull(text, NULL, 10) : 0;
}

bool trace_is_json(const struct cvl_trace *t)
{
	return t->json;
}

bool cvl_trace_ours(const struct cvl_trace *t)
{
	return t->ours;
}
