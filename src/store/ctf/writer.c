/* SPDX-License-Identifier: MIT */
#include <coeval/store.h>

#include <coeval/array.h>
#include <coeval/files.h>

#include "core/crc32c.h"
#include "core/sha256.h"
#include "core/uuid.h"
#include "store/ctf/index.h"
#include "store/ctf/internal.h"
#include "store/ctf/lock.h"
#include "store/ctf/tsdl_put.h"
#include "store/ctf/wire.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A packet is closed when it grows past this; a crash loses at most that much. */
#define DISORDER_S 10 /* what a capture or a network may delay, at most */
#define PACKET_BYTES 65536
/* Longest record; the buffer has this much room after PACKET_BYTES. */
#define RECORD_BYTES 65536
#define HEADER_BYTES 13 /* extended */
#define CLASSES_MAX 65536
#define FIELDS_MAX 1024
#define METADATA_MAX ((size_t)16 << 20) /* ours are far smaller */
/* Reserved of the largest file size, for the gap that reports that the file is full. */
#define RESERVE_BYTES 1024

struct user_class {
	char *name;
	struct cvl_store_field *field;
	size_t n;
};

struct cvl_writer {
	char *dir;
	int fd, index_fd;
	uint8_t uuid[16];
	char *node, *clock;
	char **line, **channel;
	size_t n_lines, n_channels;
	bool edges_within, lines_unknown;
	uint64_t rate_hz, resolution;
	int64_t start_unix_ns;
	struct user_class *class;
	size_t n_classes, classes_room;
	bool started; /* metadata is written, so classes are fixed */
	bool resumed; /* metadata was written by an earlier writer */

	bool levels_known;
	uint64_t levels, unknown; /* of lines whose level is unknown */
	unsigned level_bytes;

	uint64_t count, lost, sequence, offset;
	uint64_t packets;
	uint64_t restated; /* levels at packet starts, not counted as records */
	uint64_t stated;   /* all records of levels whose change was not seen */
	uint64_t gaps;
	bool miscounted;           /* a packet could not be written, or was there before us */
	bool freed;                /* some packets were, before we resumed */
	uint64_t first, end;       /* ticks of what is stored */
	uint64_t largest;          /* largest file size allowed */
	bool last_words;           /* the packet being filled may use RESERVE_BYTES */
	struct sha256_ctx sha;     /* of the checksums of the packets */
	uint64_t begin, last, max; /* ticks of the packet being filled */
	uint64_t least;            /* of its records: before its first one where some are late */
	uint64_t most;             /* of the packets before it */
	bool measures;             /* the disorder: */
	uint64_t disorder;         /* found so far, ticks */
	bool open;
	size_t n;
	uint8_t buf[PACKET_BYTES + RECORD_BYTES + WIRE_CRC_BYTES];
};

/* ---- metadata ---- */

/* A field of a declared class. Of bytes, their number comes before them. */
static void put_field(FILE *f, const struct cvl_store_field *field)
{
	static const char *const types[] = { "uint64_t", "int64_t", "double",
					     "string",   "uint8_t", "uint32_t" };

	if (field->type == CVL_STORE_BYTES)
		fprintf(f,
			"\t\tuint32_t _%s_length;\n"
			"\t\tinteger { size = 8; align = 8; signed = false; base = 16; } _%s[_%s_length];\n",
			field->name, field->name, field->name);
	else
		fprintf(f, "\t\t%s _%s;\n", types[field->type], field->name);
}

static void put_event(FILE *f, unsigned id, const char *name, const char *fields)
{
	tsdl_put_event(f, 0, id, name);
	fprintf(f, "\tfields := struct {\n%s\t};\n};\n\n", fields);
}

static void put_metadata(const struct cvl_writer *w, FILE *f)
{
	char levels[64], within[128], unknown[128];

	tsdl_put_trace(f, "uint5_t", &(struct tsdl_int){ 5, 1, "false", 0, NULL }, w->uuid);
	fputs("env {\n", f);
	tsdl_put_env(f, "hostname", -1, w->node);
	fprintf(f,
		"\tdomain = \"coeval\";\n\ttracer_name = \"" WIRE_TRACER
		"\";\n\ttracer_major = %d;\n"
		"\tresolution = %" PRIu64 ";\n\tlines = %zu;\n",
		WIRE_VERSION, w->resolution, w->n_lines);
	for (size_t i = 0; i < w->n_lines; i++)
		tsdl_put_env(f, "line", (int)i, w->line[i]);
	fprintf(f, "\tchannels = %zu;\n", w->n_channels);
	for (size_t i = 0; i < w->n_channels; i++)
		tsdl_put_env(f, "channel", (int)i, w->channel[i]);
	fputs("};\n\n", f);
	tsdl_put_clock(f, WIRE_CLOCK, w->clock, w->rate_hz, w->start_unix_ns);
	tsdl_put_alias(f, "stamp27_t", &(struct tsdl_int){ 27, 1, NULL, 0, WIRE_CLOCK });
	tsdl_put_alias(f, "stamp64_t", &(struct tsdl_int){ 64, 8, NULL, 0, WIRE_CLOCK });
	fputc('\n', f);
	tsdl_put_stream(f, 0, "stamp64_t");
	fputs("\t};\n"
	      "\tevent.header := struct {\n\t\tenum : uint5_t { compact = 0 ... 30, extended = 31 } id;\n"
	      "\t\tvariant <id> {\n\t\t\tstruct { stamp27_t timestamp; } compact;\n"
	      "\t\t\tstruct { uint32_t id; stamp64_t timestamp; } extended;\n\t\t} v;\n\t} align(8);\n};\n\n",
	      f);
	snprintf(levels, sizeof(levels), "\t\tuint%u_t levels;\n", w->level_bytes * 8);
	put_event(f, WIRE_LEVELS, "levels", levels);
	put_event(f, WIRE_EDGE, "edge", levels);
	snprintf(within, sizeof(within), "\t\tuint64_t " CVL_HALF_WIDTH ";\n%s", levels);
	if (w->edges_within)
		put_event(f, WIRE_EDGE_WITHIN, "edge", within);
	snprintf(unknown, sizeof(unknown), "%s\t\tuint%u_t " WIRE_UNKNOWN ";\n", levels,
		 w->level_bytes * 8);
	if (w->lines_unknown) {
		put_event(f, WIRE_LEVELS_UNKNOWN, "levels", unknown);
		put_event(f, WIRE_EDGE_UNKNOWN, "edge", unknown);
	}
	put_event(f, WIRE_SAMPLE, "sample", "\t\tuint16_t channel;\n\t\tdouble value;\n");
	put_event(f, WIRE_BEACON, "beacon", "\t\tuint32_t sender;\n\t\tuint64_t seq;\n");
	put_event(f, WIRE_PULSE, "pulse", "\t\tuint16_t channel;\n");
	put_event(f, WIRE_MESSAGE, "message",
		  "\t\tenum : uint8_t { sent = 0, received = 1 } direction;\n\t\tuint64_t key;\n");
	put_event(
		f, WIRE_GAP, "gap",
		"\t\tuint64_t to_tick;\n\t\tuint64_t lost;\n\t\tenum : uint8_t { unknown = 0, overflow = 1, discarded = 2,\n"
		"\t\t\tpackets = 3, truncated = 4, corrupt = 5, unfinished = 6, disconnected = 7, disk_full = 8 } why;\n");
	put_event(f, WIRE_BEGIN, "begin", "\t\tuint64_t id;\n\t\tstring name;\n");
	put_event(f, WIRE_END, "end", "\t\tuint64_t id;\n\t\tstring name;\n");
	put_event(f, WIRE_SLIP, "slip", "\t\tuint64_t from_tick;\n\t\tuint64_t half_width;\n");
	for (size_t i = 0; i < w->n_classes; i++) {
		const struct user_class *c = &w->class[i];

		tsdl_put_event(f, 0, (uint32_t)(WIRE_USER + i), c->name);
		fputs("\tfields := struct {\n", f);
		for (size_t k = 0; k < c->n; k++)
			put_field(f, &c->field[k]);
		fputs("\t};\n};\n\n", f);
	}
}

/* A resumed trace must have exactly the metadata that would be written now. */
static int compare_metadata(const struct cvl_writer *w, const char *path, struct cvl_error *err)
{
	char *text = NULL, *there = NULL;
	size_t n = 0, size = 0;
	FILE *f = open_memstream(&text, &n);
	int rc = 0;

	if (!f)
		return cvl_no_memory(err);
	put_metadata(w, f);
	if (fclose(f))
		rc = cvl_no_memory(err);
	else if (!(there = cvl_read_whole(path, METADATA_MAX, &size, err)))
		rc = err ? (int)err->code : CVL_E_IO;
	else if (size != n || memcmp(text, there, n))
		rc = cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"%s was captured with other lines or another rate: use the same, or name another clock",
			w->dir);
	free(text);
	free(there);
	return rc;
}

static int write_metadata(const struct cvl_writer *w, struct cvl_error *err)
{
	char path[4096];
	FILE *f;
	bool ok;
	int rc;

	if ((size_t)snprintf(path, sizeof(path), "%s/metadata", w->dir) >= sizeof(path))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", w->dir);
	if (w->resumed)
		return compare_metadata(w, path, err);
	f = fopen(path, "wxe");
	if (!f)
		return cvl_fail_errno(err, "create", path);
	put_metadata(w, f);
	ok = !ferror(f) && !fflush(f) && !fsync(fileno(f));
	if (fclose(f) || !ok)
		return cvl_fail_errno(err, "write", path);
	rc = cvl_sync_dir(w->dir, err);
	return rc ? rc : cvl_sync_parent(w->dir, err);
}

/* ---- opening ---- */

static bool copy_names(char ***out, const char *const *names, size_t n)
{
	*out = calloc(n + 1, sizeof(char *));
	for (size_t i = 0; *out && i < n; i++) {
		(*out)[i] = strdup(names[i]);
		if (!(*out)[i])
			return false;
	}
	return *out != NULL;
}

static void writer_free(struct cvl_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->index_fd >= 0)
		close(w->index_fd);
	for (size_t i = 0; i < w->n_classes; i++) {
		for (size_t k = 0; k < w->class[i].n; k++)
			free((void *)(uintptr_t)w->class[i].field[k].name);
		free(w->class[i].field);
		free(w->class[i].name);
	}
	for (size_t i = 0; w->line && w->line[i]; i++)
		free(w->line[i]);
	for (size_t i = 0; w->channel && w->channel[i]; i++)
		free(w->channel[i]);
	free(w->line);
	free(w->channel);
	free(w->class);
	free(w->node);
	free(w->clock);
	free(w->dir);
	free(w);
}

static int write_all(int fd, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n) {
		ssize_t put = write(fd, p, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		p += put;
		n -= (size_t)put;
	}
	return 0;
}

static int make_files(struct cvl_writer *w, struct cvl_error *err)
{
	char path[4096];

	if (mkdir(w->dir, 0777))
		return cvl_fail_errno(err, "make the directory", w->dir);
	if ((size_t)snprintf(path, sizeof(path), "%s/index/" WIRE_STREAM_FILE ".idx", w->dir) >=
	    sizeof(path))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", w->dir);
	snprintf(path, sizeof(path), "%s/" WIRE_STREAM_FILE, w->dir);
	w->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (w->fd < 0)
		return cvl_fail_errno(err, "create", path);
	stream_lock(w->fd);
	w->index_fd = index_create(w->dir, O_EXCL, err);
	return w->index_fd < 0 ? w->index_fd : 0;
}

/* A writer without files yet. */
static int new_writer(struct cvl_writer **out, const char *path, const struct cvl_store_desc *d,
		      struct cvl_error *err)
{
	struct cvl_writer *w;
	struct rlimit limit;

	*out = NULL;
	if (!d->clock || !*d->clock || !d->rate_hz || d->n_lines > CVL_LINES_MAX ||
	    d->n_channels > CVL_CHANNELS_MAX)
		return cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"%s: a clock needs a name, a rate, and at most %d lines and %d channels",
			path, CVL_LINES_MAX, CVL_CHANNELS_MAX);
	w = malloc(sizeof(*w));
	if (!w)
		return cvl_no_memory(err);
	memset(w, 0,
	       offsetof(struct cvl_writer,
			buf)); /* skip the buffer: large, and written before it is read */
	w->fd = w->index_fd = -1;
	w->dir = strdup(path);
	w->clock = strdup(d->clock);
	w->node = strdup(d->node ? d->node : d->clock);
	if (!w->dir || !w->clock || !w->node || !copy_names(&w->line, d->lines, d->n_lines) ||
	    !copy_names(&w->channel, d->channels, d->n_channels)) {
		writer_free(w);
		return cvl_no_memory(err);
	}
	w->n_lines = d->n_lines;
	w->edges_within = d->edges_within;
	w->lines_unknown = d->lines_unknown;
	w->n_channels = d->n_channels;
	w->rate_hz = d->rate_hz;
	w->measures = d->disorder_ticks == CVL_DISORDER_MEASURED;
	w->resolution = d->resolution ? d->resolution : 1;
	w->start_unix_ns = d->start_unix_ns;
	w->level_bytes = d->n_lines <= 8 ? 1 : d->n_lines <= 16 ? 2 : d->n_lines <= 32 ? 4 : 8;
	w->largest = getrlimit(RLIMIT_FSIZE, &limit) ? RLIM_INFINITY : limit.rlim_cur;
	sha256_init(&w->sha);
	cvl_uuid_random(w->uuid);
	*out = w;
	return 0;
}

int cvl_writer_open(struct cvl_writer **out, const char *path, const struct cvl_store_desc *d,
		    struct cvl_error *err)
{
	struct cvl_writer *w;
	int rc = new_writer(&w, path, d, err);

	*out = NULL;
	if (rc)
		return rc;
	rc = make_files(w, err);
	if (rc)
		writer_free(w);
	else
		*out = w;
	return rc;
}

/* ---- resuming ---- */

/* Read the UUID from the metadata in @w's directory. */
static int read_uuid(struct cvl_writer *w, struct cvl_error *err)
{
	char path[4096], digits[CVL_UUID_TEXT] = "", *text;
	const char *at;
	size_t n;
	int rc = 0;

	snprintf(path, sizeof(path), "%s/metadata", w->dir);
	text = cvl_read_whole(path, METADATA_MAX, &n, err);
	if (!text)
		return err ? (int)err->code : CVL_E_IO;
	at = strstr(text, "uuid = \"");
	if (at)
		snprintf(digits, sizeof(digits), "%s", at + 8);
	if (!cvl_uuid_parse(digits, w->uuid))
		rc = cvl_fail(err, CVL_E_SYNTAX, 0, "%s:0: no UUID", path);
	free(text);
	return rc;
}

/*
 * Whether the packet at w->offset is complete and of this trace. Its last tick becomes the
 * writer's.
 */
static bool whole_packet(struct cvl_writer *w, uint64_t size, struct wire_packet *h)
{
	uint64_t bytes, content;

	if (w->offset + sizeof(*h) > size ||
	    pread(w->fd, h, sizeof(*h), (off_t)w->offset) != (ssize_t)sizeof(*h) ||
	    le32toh(h->magic) != CTF_MAGIC || memcmp(h->uuid, w->uuid, 16))
		return false;
	bytes = le64toh(h->packet_size) / 8;
	content = le64toh(h->content_size) / 8;
	if (content < sizeof(*h) || content > sizeof(w->buf) - WIRE_CRC_BYTES ||
	    bytes < content + WIRE_CRC_BYTES || bytes > size - w->offset)
		return false;
	w->n = content + WIRE_CRC_BYTES;
	return true;
}

static bool crc_holds(struct cvl_writer *w, const uint8_t crc[WIRE_CRC_BYTES])
{
	uint32_t is;

	if (pread(w->fd, w->buf, w->n, (off_t)w->offset) != (ssize_t)w->n)
		return false;
	memcpy(&is, crc, sizeof(is));
	return le32toh(is) == cvl_crc32c(0, w->buf, w->n - WIRE_CRC_BYTES);
}

/* Walk the packets, truncate after the last complete one, and rewrite the index. */
static int find_end(struct cvl_writer *w, struct cvl_tick *last, struct cvl_error *err)
{
	uint8_t crc[WIRE_CRC_BYTES];
	struct wire_packet h;
	struct stat st;

	if (fstat(w->fd, &st))
		return cvl_fail_errno(err, "look at", w->dir);
	while (whole_packet(w, (uint64_t)st.st_size, &h)) {
		const struct wire_index_entry entry = index_entry(&h, w->offset);

		if (pread(w->fd, crc, sizeof(crc), (off_t)(w->offset + w->n - sizeof(crc))) !=
		    (ssize_t)sizeof(crc))
			return cvl_fail_errno(err, "read", w->dir);
		const uint64_t bytes = le64toh(h.packet_size) / 8; /* some may be freed */

		if (w->offset + bytes == (uint64_t)st.st_size && !crc_holds(w, crc))
			break; /* the machine died while it was being written */
		w->freed = w->freed || bytes > w->n;
		sha256_update(&w->sha, sizeof(crc), crc);
		if (!w->offset)
			w->first = le64toh(h.timestamp_begin);
		w->packets++;
		w->miscounted = true;
		if (write_all(w->index_fd, &entry, sizeof(entry)))
			return cvl_fail_errno(err, "write the index", w->dir);
		w->offset += bytes;
		w->sequence = le64toh(h.packet_seq_num) + 1;
		w->lost = le64toh(h.events_discarded);
		w->end = le64toh(h.timestamp_end);
	}
	if (ftruncate(w->fd, (off_t)w->offset) ||
	    lseek(w->fd, (off_t)w->offset, SEEK_SET) != (off_t)w->offset)
		return cvl_fail_errno(err, "cut", w->dir);
	last->count = w->offset ? w->end : CVL_TICK_UNKNOWN;
	return 0;
}

int cvl_writer_resume(struct cvl_writer **out, const char *path, const struct cvl_store_desc *d,
		      struct cvl_tick *last, struct cvl_error *err)
{
	struct cvl_writer *w;
	char file[4096];
	int rc = new_writer(&w, path, d, err);

	*out = NULL;
	if (rc)
		return rc;
	snprintf(file, sizeof(file), "%s/" WIRE_STREAM_FILE, path);
	w->fd = open(file, O_RDWR | O_CLOEXEC);
	if (w->fd < 0) {
		rc = cvl_fail_errno(err, "open", file);
		goto fail;
	}
	if (!stream_lock(w->fd)) {
		rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: another program is writing to it",
			      file);
		goto fail;
	}
	snprintf(file, sizeof(file), "%s/metadata", path);
	w->resumed = access(file, F_OK) == 0; /* else no record was ever written */
	if (w->resumed)
		rc = read_uuid(w, err);
	if (!rc)
		rc = w->index_fd = index_create(w->dir, O_TRUNC, err);
	if (rc >= 0)
		rc = find_end(w, last, err);
	if (rc)
		goto fail;
	w->n = 0;
	*out = w;
	return 0;
fail:
	writer_free(w);
	return rc;
}

static bool is_field_name(const char *s)
{
	size_t n = 0;

	for (; s[n]; n++)
		if (!((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') || s[n] == '_' ||
		      (n && s[n] >= '0' && s[n] <= '9')))
			return false;
	return n > 0 && n < 200;
}

int cvl_writer_declare(struct cvl_writer *w, const char *name, const struct cvl_store_field *fields,
		       size_t n, struct cvl_error *err)
{
	struct user_class *c;

	if (w->started || w->n_classes >= CLASSES_MAX || n > FIELDS_MAX)
		return cvl_fail(
			err, CVL_E_USAGE, CVL_NO_OFFSET,
			"%s: event classes are declared before the first record, up to %d of up to %d fields",
			w->dir, CLASSES_MAX, FIELDS_MAX);
	for (size_t i = 0; i < n; i++)
		if (!is_field_name(fields[i].name))
			return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					"%s: '%s' cannot name a field", w->dir, fields[i].name);
	if (cvl_room(&w->class, w->n_classes, &w->classes_room, sizeof(*w->class)))
		return cvl_no_memory(err);
	c = &w->class[w->n_classes];
	*c = (struct user_class){ .name = strdup(name), .field = calloc(n + 1, sizeof(*c->field)) };
	w->n_classes++;
	for (; c->field && c->n < n; c->n++) {
		c->field[c->n] =
			(struct cvl_store_field){ strdup(fields[c->n].name), fields[c->n].type };
		if (!c->field[c->n].name)
			break;
	}
	if (!c->name || c->n < n)
		return cvl_no_memory(err);
	return (int)(w->n_classes - 1);
}

/* ---- packets ---- */

/* Write the packet to the stream. */
static int write_packet(struct cvl_writer *w)
{
	if (w->largest != RLIM_INFINITY && !w->last_words &&
	    w->offset + w->n + RESERVE_BYTES > w->largest) {
		errno = EFBIG;
		return -1;
	}
	return write_all(w->fd, w->buf, w->n);
}

/*
 * The first record's short stamp counts from the packet's beginning, which is now the least tick. Where that
 * is too far before it, it gets the long one.
 */
static void lengthen_first_stamp(struct cvl_writer *w)
{
	uint8_t *p = w->buf + sizeof(struct wire_packet), header[HEADER_BYTES];
	const uint32_t id = *p & WIRE_EXTENDED, word = htole32(id);
	const uint64_t stamp = htole64(w->begin);

	if (w->begin - w->least < 1u << WIRE_STAMP_BITS || id == WIRE_EXTENDED)
		return;
	header[0] = WIRE_EXTENDED;
	memcpy(header + 1, &word, 4);
	memcpy(header + 5, &stamp, 8);
	memmove(p + HEADER_BYTES, p + 4, w->n - sizeof(struct wire_packet) - 4);
	memcpy(p, header, HEADER_BYTES);
	w->n += HEADER_BYTES - 4;
}

static int finish_packet(struct cvl_writer *w, uint64_t end, struct cvl_error *err)
{
	struct wire_index_entry entry;
	struct wire_packet h;
	uint32_t crc;

	lengthen_first_stamp(w);
	h = (struct wire_packet){
		.magic = htole32(CTF_MAGIC),
		.timestamp_begin = htole64(w->least),
		.timestamp_end = htole64(end),
		.content_size = htole64(w->n * 8),
		.packet_size = htole64((w->n + WIRE_CRC_BYTES) * 8),
		.packet_seq_num = htole64(w->sequence),
		.events_discarded = htole64(w->lost),
	};
	memcpy(h.uuid, w->uuid, 16);
	memcpy(w->buf, &h, sizeof(h));
	entry = index_entry(&h, w->offset);
	crc = htole32(cvl_crc32c(0, w->buf, w->n));
	memcpy(w->buf + w->n, &crc, WIRE_CRC_BYTES);
	w->n += WIRE_CRC_BYTES;
	w->open = false;
	if (write_packet(w)) {
		int saved = errno;

		w->miscounted = true;
		/* remove the partial packet; if even this fails readers see a truncated one */
		if (ftruncate(w->fd, (off_t)w->offset) == 0)
			lseek(w->fd, (off_t)w->offset, SEEK_SET);
		w->sequence++; /* so that readers see the loss if others follow */
		errno = saved;
		return cvl_fail_errno(err, "write a packet", w->dir);
	}
	if (!w->offset)
		w->first = w->least;
	w->end = end;
	sha256_update(&w->sha, sizeof(crc), (const uint8_t *)&crc);
	w->offset += w->n;
	w->sequence++;
	w->packets++;
	if (write_all(w->index_fd, &entry, sizeof(entry)))
		return cvl_fail_errno(err, "write the index", w->dir);
	return 0;
}

/* Write to @p the header of an event with @id at @tick, after one at @last. Returns its length. */
static inline size_t header(uint8_t *p, uint32_t id, uint64_t tick, uint64_t last)
{
	uint64_t stamp = htole64(tick);
	uint32_t word;

	if (id < WIRE_EXTENDED && tick - last < (1u << WIRE_STAMP_BITS)) {
		word = htole32(id | (uint32_t)tick << WIRE_ID_BITS);
		memcpy(p, &word, 4);
		return 4;
	}
	p[0] = WIRE_EXTENDED;
	word = htole32(id);
	memcpy(p + 1, &word, 4);
	memcpy(p + 5, &stamp, 8);
	return HEADER_BYTES;
}

/* A record at @tick comes after later ones. What is off by more is no disorder but a wrong tick. */
static void see_disorder(struct cvl_writer *w, uint64_t tick)
{
	const uint64_t max = w->max > w->most ? w->max : w->most;

	w->least = tick < w->least ? tick : w->least;
	if (w->measures && max > tick && max - tick > w->disorder &&
	    (max - tick) / w->rate_hz < DISORDER_S)
		w->disorder = max - tick;
}

/* start_record() has made room for it. */
static void put_header(struct cvl_writer *w, uint32_t id, uint64_t tick)
{
	w->n += header(w->buf + w->n, id, tick, w->last);
	w->last = tick;
	if (tick >= w->max)
		w->max = tick;
	else
		see_disorder(w, tick);
}

static void put_uint(struct cvl_writer *w, uint64_t v, unsigned bytes)
{
	v = htole64(v);
	memcpy(w->buf + w->n, &v, bytes);
	w->n += bytes;
}

/* Write the state of the lines, as levels or as an edge. */
static void put_levels(struct cvl_writer *w, uint64_t tick, bool edge)
{
	if (w->unknown)
		put_header(w, edge ? WIRE_EDGE_UNKNOWN : WIRE_LEVELS_UNKNOWN, tick);
	else
		put_header(w, edge ? WIRE_EDGE : WIRE_LEVELS, tick);
	put_uint(w, w->levels, w->level_bytes);
	if (w->unknown)
		put_uint(w, w->unknown, w->level_bytes);
}

static void open_packet(struct cvl_writer *w, uint64_t tick)
{
	w->n = sizeof(struct wire_packet);
	w->most = w->max > w->most ? w->max : w->most;
	w->begin = w->last = w->max = w->least = tick;
	see_disorder(w, tick);
	w->open = true;
	if (w->levels_known) {
		put_levels(w, tick, false);
		w->restated++;
		w->stated++;
	}
}

/* Make sure that a packet with room for a record at @tick is open. */
static int start_record(struct cvl_writer *w, uint64_t tick, struct cvl_error *err)
{
	int rc = 0;

	if (w->open) {
		if (w->n < PACKET_BYTES)
			return 0;
		rc = finish_packet(w, w->max, err);
	} else if (!w->started) {
		w->started = true;
		rc = write_metadata(w, err);
	}
	if (!rc)
		open_packet(w, tick);
	return rc;
}

/* ---- records ---- */

static int state_levels(struct cvl_writer *w, uint64_t tick, uint64_t levels, uint64_t unknown,
			struct cvl_error *err)
{
	bool within = w->open;
	int rc;

	w->levels_known = true;
	w->levels = levels;
	w->unknown = unknown;
	w->count++;
	rc = start_record(w, tick, err);
	if (rc)
		return rc;
	w->stated += within;
	if (within)
		put_levels(w, tick, false);
	else /* opening the packet wrote them */
		w->restated--;
	return 0;
}

int cvl_writer_levels(struct cvl_writer *w, struct cvl_tick tick, uint64_t levels,
		      struct cvl_error *err)
{
	return state_levels(w, tick.count, levels, 0, err);
}

int cvl_writer_restate(struct cvl_writer *w, struct cvl_tick tick, struct cvl_error *err)
{
	return w->levels_known ? state_levels(w, tick.count, w->levels, w->unknown, err) : 0;
}

void cvl_writer_forget_levels(struct cvl_writer *w)
{
	w->levels_known = false;
}

int cvl_writer_edges(struct cvl_writer *w, const struct cvl_tick *tick, const uint64_t *levels,
		     size_t n, struct cvl_error *err)
{
	size_t i = 0;
	int rc;

	if (n && !w->levels_known) {
		rc = cvl_writer_levels(w, tick[0], levels[0], err);
		if (rc)
			return rc;
		i = 1;
		w->count--; /* already counted */
	}
	while (i < n) {
		rc = start_record(w, tick[i].count, err);
		if (rc)
			return rc;
		for (; i < n && w->n < PACKET_BYTES; i++) {
			put_header(w, WIRE_EDGE, tick[i].count);
			put_uint(w, levels[i], w->level_bytes);
		}
		w->levels = levels[i - 1];
		w->unknown = 0;
	}
	w->count += n;
	return 0;
}

static int put_record(struct cvl_writer *w, uint32_t id, uint64_t tick, struct cvl_error *err)
{
	int rc = start_record(w, tick, err);

	if (!rc) {
		put_header(w, id, tick);
		w->count++;
	}
	return rc;
}

int cvl_writer_edge_within(struct cvl_writer *w, struct cvl_tick tick, uint64_t half_width,
			   uint64_t levels, struct cvl_error *err)
{
	int rc;

	if (!w->edges_within)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"edges of this clock have no bounds of their own");
	if (!w->levels_known)
		return cvl_writer_levels(w, tick, levels, err);
	rc = put_record(w, WIRE_EDGE_WITHIN, tick.count, err);
	if (rc)
		return rc;
	put_uint(w, half_width, 8);
	put_uint(w, levels, w->level_bytes);
	w->levels = levels;
	w->unknown = 0;
	return 0;
}

int cvl_writer_edge_unknown(struct cvl_writer *w, struct cvl_tick tick, uint64_t levels,
			    uint64_t unknown, struct cvl_error *err)
{
	int rc;

	if (!w->lines_unknown)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"the lines of this clock are all known");
	if (!w->levels_known)
		return state_levels(w, tick.count, levels & ~unknown, unknown, err);
	rc = start_record(w, tick.count, err);
	if (rc)
		return rc;
	w->levels = levels & ~unknown;
	w->unknown = unknown;
	put_levels(w, tick.count, true);
	w->count++;
	return 0;
}

int cvl_writer_sample(struct cvl_writer *w, struct cvl_tick tick, uint32_t channel, double value,
		      struct cvl_error *err)
{
	uint64_t bits;
	int rc = put_record(w, WIRE_SAMPLE, tick.count, err);

	if (rc)
		return rc;
	memcpy(&bits, &value, sizeof(bits));
	put_uint(w, channel, 2);
	put_uint(w, bits, 8);
	return 0;
}

int cvl_writer_beacon(struct cvl_writer *w, struct cvl_tick tick, uint32_t sender, uint64_t seq,
		      struct cvl_error *err)
{
	int rc = put_record(w, WIRE_BEACON, tick.count, err);

	if (rc)
		return rc;
	put_uint(w, sender, 4);
	put_uint(w, seq, 8);
	return 0;
}

int cvl_writer_pulse(struct cvl_writer *w, struct cvl_tick tick, uint32_t channel,
		     struct cvl_error *err)
{
	int rc = put_record(w, WIRE_PULSE, tick.count, err);

	if (!rc)
		put_uint(w, channel, 2);
	return rc;
}

int cvl_writer_span(struct cvl_writer *w, struct cvl_tick tick, bool begin, uint64_t id,
		    const char *name, struct cvl_error *err)
{
	size_t n = strlen(name) + 1;
	int rc;

	if (n > RECORD_BYTES - 64)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"%s: span name of %zu bytes is too long", w->dir, n);
	rc = put_record(w, begin ? WIRE_BEGIN : WIRE_END, tick.count, err);
	if (rc)
		return rc;
	put_uint(w, id, 8);
	memcpy(w->buf + w->n, name, n);
	w->n += n;
	return 0;
}

int cvl_writer_gap(struct cvl_writer *w, struct cvl_tick from, struct cvl_tick to, uint64_t lost,
		   enum cvl_gap why, struct cvl_error *err)
{
	int rc = put_record(w, WIRE_GAP, from.count, err);

	w->last_words = w->last_words || why == CVL_GAP_DISK_FULL;
	if (rc)
		return rc;
	put_uint(w, to.count, 8);
	put_uint(w, lost, 8);
	put_uint(w, (uint64_t)why, 1);
	w->count--; /* a gap is not a record of something seen */
	w->gaps++;
	return 0;
}

int cvl_writer_slip(struct cvl_writer *w, struct cvl_tick from, struct cvl_tick tick,
		    uint64_t half_width, struct cvl_error *err)
{
	int rc = put_record(w, WIRE_SLIP, tick.count, err);

	if (rc)
		return rc;
	put_uint(w, from.count, 8);
	put_uint(w, half_width, 8);
	w->count--;
	return 0;
}

static bool is_number(enum cvl_store_type type)
{
	return type != CVL_STORE_STRING && type != CVL_STORE_BYTES;
}

/* Bytes of a number. */
static unsigned field_bytes(enum cvl_store_type type)
{
	return type == CVL_STORE_U8 ? 1 : type == CVL_STORE_U32 ? 4 : 8;
}

/* Write as many of @n rows as the packet has room for; returns how many. */
static size_t put_rows(struct cvl_writer *w, uint32_t id, size_t bytes,
		       const struct cvl_store_row *rows, size_t n)
{
	uint8_t *p = w->buf + w->n, *const end = w->buf + PACKET_BYTES;
	uint64_t last = w->last, max = w->max;
	size_t i = 0;

	for (; i < n && p < end; i++) {
		const uint64_t tick = rows[i].tick.count;

		p += header(p, id, tick, last);
		/*
		 * copy the full row, which has a constant size: there is room, and the next row
		 * overwrites the rest
		 */
		memcpy(p, rows[i].fields, CVL_STORE_ROW);
		p += bytes;
		if (tick < max)
			see_disorder(w, tick);
		last = tick;
		w->max = max = tick > max ? tick : max;
	}
	w->n = (size_t)(p - w->buf);
	w->last = last;
	w->count += i;
	return i;
}

int cvl_writer_rows(struct cvl_writer *w, int event_class, const struct cvl_store_row *rows,
		    size_t n, struct cvl_error *err)
{
	const struct user_class *c = &w->class[event_class];
	size_t bytes = 0;

	for (size_t i = 0; i < c->n; i++)
		bytes += is_number(c->field[i].type) ? field_bytes(c->field[i].type) :
						       CVL_STORE_ROW + 1;
	if (bytes > CVL_STORE_ROW)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"%s: the fields of '%s' do not fit in a row", w->dir, c->name);
	for (size_t i = 0; i < n;) {
		int rc = start_record(w, rows[i].tick.count, err);

		if (rc)
			return rc;
		i += put_rows(w, (uint32_t)(WIRE_USER + event_class), bytes, rows + i, n - i);
	}
	return 0;
}

int cvl_writer_event(struct cvl_writer *w, struct cvl_tick tick, int event_class,
		     const union cvl_store_value *values, struct cvl_error *err)
{
	const struct user_class *c = &w->class[event_class];
	size_t need = HEADER_BYTES;
	int rc;

	for (size_t i = 0; i < c->n; i++)
		need += c->field[i].type == CVL_STORE_STRING ?
				(values[i].s ? strlen(values[i].s) : 0) + 1 :
			c->field[i].type == CVL_STORE_BYTES ? 4 + (size_t)values[i].bytes.n :
							      8;
	if (need > RECORD_BYTES - 64)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"%s: event '%s' of %zu bytes is too long", w->dir, c->name, need);
	rc = put_record(w, (uint32_t)(WIRE_USER + event_class), tick.count, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < c->n; i++) {
		const char *s = values[i].s ? values[i].s : "";
		size_t n;

		if (is_number(c->field[i].type)) {
			put_uint(w, values[i].u, field_bytes(c->field[i].type));
			continue;
		}
		if (c->field[i].type == CVL_STORE_BYTES) {
			s = values[i].bytes.at;
			n = values[i].bytes.n;
			put_uint(w, n, 4);
		} else {
			n = strlen(s) + 1;
		}
		if (n)
			memcpy(w->buf + w->n, s, n);
		w->n += n;
	}
	return 0;
}

/* ---- the end ---- */

int cvl_writer_flush(struct cvl_writer *w, struct cvl_error *err)
{
	return w->open ? finish_packet(w, w->max, err) : 0;
}

int cvl_writer_flush_until(struct cvl_writer *w, struct cvl_tick tick, struct cvl_error *err)
{
	int rc = start_record(w, tick.count, err);

	return rc ? rc : finish_packet(w, tick.count > w->max ? tick.count : w->max, err);
}

uint64_t cvl_writer_count(const struct cvl_writer *w)
{
	return w->count;
}

/* Fill in what the completely written files of @w hold. */
static int take_stock(struct cvl_writer *w, struct cvl_stored *out, struct cvl_error *err)
{
	char path[4096], *text;
	size_t n;

	snprintf(path, sizeof(path), "%s/metadata", w->dir);
	text = cvl_read_whole(path, CTF_METADATA_MAX, &n, err);
	if (!text)
		return err ? (int)err->code : CVL_E_IO;
	*out = (struct cvl_stored){
		.metadata_bytes = n,
		.bytes = w->offset,
		.packets = w->packets,
		.records = w->miscounted ? CVL_LOST_UNKNOWN : w->count + w->restated,
		.seen = w->miscounted ? CVL_LOST_UNKNOWN : w->count + w->restated - w->stated,
		.gaps = w->miscounted ? CVL_LOST_UNKNOWN : w->gaps,
		.first = { w->first },
		.last = { w->end },
		.disorder = w->disorder,
	};
	cvl_sha256(text, n, out->metadata_sha256);
	if (!w->freed)
		cvl_sha256_digits(&w->sha, out->packets_sha256);
	free(text);
	return 0;
}

int writer_keep_lock(const struct cvl_writer *w)
{
	return stream_keep_lock(w->fd);
}

int cvl_writer_finish(struct cvl_writer *w, struct cvl_tick end, struct cvl_stored *stored,
		      struct cvl_error *err)
{
	int rc = 0;

	if (!w->started) {
		w->started = true;
		rc = write_metadata(w, err);
	}
	if (!rc && w->open)
		rc = finish_packet(
			w, end.count != CVL_TICK_UNKNOWN && end.count > w->max ? end.count : w->max,
			err);
	if (!rc && (fdatasync(w->fd) || fdatasync(w->index_fd)) && errno != EINVAL)
		rc = cvl_fail_errno(err, "sync", w->dir);
	if (!rc && stored)
		rc = take_stock(w, stored, err);
	writer_free(w);
	return rc;
}

int cvl_writer_close(struct cvl_writer *w, struct cvl_tick end, struct cvl_error *err)
{
	return w ? cvl_writer_finish(w, end, NULL, err) : 0;
}

void cvl_writer_abandon(struct cvl_writer *w)
{
	if (w)
		writer_free(w);
}
