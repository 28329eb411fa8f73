/* SPDX-License-Identifier: MIT */
#include <coeval/verify.h>

#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/sync.h>

#include <coeval/files.h>
#include <coeval/array.h>
#include "core/sha256.h"
#include "store/ctf/freed.h"
#include "store/ctf/internal.h"
#include "store/ctf/wire.h"
#include "store/hash.h"
#include "store/jsonfile.h"
#include "store/stored.h"

struct job {
	struct cvl_verify *v;
	size_t capacity;
	struct cvl_session *session;
	const struct cvl_verify_opts *opts;
	uint64_t done, total; /* bytes */
};

/* ---- parts ---- */

/* Add a part: returns its index or a negative code. Parts move when one is added. */
static int add_part(struct job *j, const char *name, bool is_file, struct cvl_error *err)
{
	struct cvl_verify *v = j->v;
	char *copy = strdup(name);

	if (!copy || cvl_room(&v->part, v->n, &j->capacity, sizeof(*v->part))) {
		free(copy);
		return cvl_no_memory(err);
	}
	v->part[v->n] = (struct cvl_verify_part){ .name = copy, .is_file = is_file };
	return (int)v->n++;
}

static void take_problem(void *ctx, const struct cvl_error *problem)
{
	struct cvl_verify_part *p = ctx;

	if (p->problems < CVL_VERIFY_TOLD)
		p->problem[p->problems] = strdup(problem->text); /* NULL: counted anyway */
	p->problems++;
}

__attribute__((format(printf, 2, 3))) static void say(struct cvl_verify_part *p, const char *fmt,
						      ...)
{
	struct cvl_error e = { .code = CVL_E_MISMATCH };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e.text, sizeof(e.text), fmt, ap);
	va_end(ap);
	take_problem(p, &e);
}

static void forget_problems(struct cvl_verify_part *p)
{
	for (size_t i = 0; i < CVL_VERIFY_TOLD; i++) {
		free(p->problem[i]);
		p->problem[i] = NULL;
	}
	p->problems = 0;
}

void cvl_verify_free(struct cvl_verify *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->n; i++) {
		forget_problems(&v->part[i]);
		free(v->part[i].name);
	}
	free(v->part);
	free(v);
}

static int tell_progress(struct job *j, uint64_t more, struct cvl_error *err)
{
	return cvl_progress_tell(j->opts ? &j->opts->progress : NULL, j->done + more, j->total,
				 err);
}

/* Progress while hashing files whose bytes were already counted. */
static bool go_on(void *ctx, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	return !tell_progress(ctx, 0, NULL);
}

/* ---- packets of ours ---- */

/* Walks the packets of a stream together with its index. */
struct walk {
	FILE *stream, *index;
	uint64_t size, offset, packets, missing, wrong_entries;
	bool freed; /* some packets were */
	bool early; /* the index ends before the stream does */
	struct sha256_ctx sha;
};

/* Read the next header and the checksum of its packet. False: no complete packet follows. */
static bool next_packet(struct walk *w, struct wire_packet *h, uint8_t crc[WIRE_CRC_BYTES])
{
	uint64_t bytes, content;

	if (w->size - w->offset < sizeof(*h) || fseeko(w->stream, (off_t)w->offset, SEEK_SET) ||
	    fread(h, sizeof(*h), 1, w->stream) != 1 || le32toh(h->magic) != CTF_MAGIC)
		return false;
	bytes = le64toh(h->packet_size) / 8;
	content = le64toh(h->content_size) / 8;
	if (content < sizeof(*h) || bytes > w->size - w->offset || content > bytes ||
	    bytes - content < WIRE_CRC_BYTES)
		return false;
	return !fseeko(w->stream, (off_t)(w->offset + content), SEEK_SET) &&
	       fread(crc, WIRE_CRC_BYTES, 1, w->stream) == 1;
}

static bool fits(const struct wire_index_entry *e, const struct wire_packet *h, uint64_t offset)
{
	return !e->stream_id && !e->stream_instance_id && be64toh(e->offset) == offset &&
	       be64toh(e->packet_size) == le64toh(h->packet_size) &&
	       be64toh(e->content_size) == le64toh(h->content_size) &&
	       be64toh(e->timestamp_begin) == le64toh(h->timestamp_begin) &&
	       be64toh(e->timestamp_end) == le64toh(h->timestamp_end) &&
	       be64toh(e->events_discarded) == le64toh(h->events_discarded) &&
	       be64toh(e->packet_seq_num) == le64toh(h->packet_seq_num);
}

/* Compare the next entry of the index with the packet. Packets that were freed may still have theirs. */
static void look_up(struct walk *w, const struct wire_packet *h, bool freed)
{
	const uint64_t end = w->offset + le64toh(h->packet_size) / 8;
	struct wire_index_entry e;

	if (!w->index || w->early)
		return;
	if (fread(&e, sizeof(e), 1, w->index) != 1) {
		w->early = true;
		return;
	}
	if (fits(&e, h, w->offset))
		return;
	w->wrong_entries += !freed;
	while (freed && be64toh(e.offset) < end && !w->early)
		w->early = fread(&e, sizeof(e), 1, w->index) != 1;
	if (freed && !w->early)
		fseeko(w->index, -(off_t)sizeof(e), SEEK_CUR);
	w->early = w->early && !freed;
}

static void walk(struct walk *w)
{
	uint8_t crc[WIRE_CRC_BYTES];
	struct wire_packet h;
	uint64_t next = 0;

	while (next_packet(w, &h, crc)) {
		const uint64_t number = le64toh(h.packet_seq_num),
			       bytes = le64toh(h.packet_size) / 8;
		const bool freed = freed_is(bytes, le64toh(h.content_size) / 8);

		if (number > next && !freed)
			w->missing += number - next;
		next = number + 1;
		sha256_update(&w->sha, sizeof(crc), crc);
		look_up(w, &h, freed);
		w->freed = w->freed || freed;
		w->offset += bytes;
		w->packets++;
	}
}

static void open_index(struct walk *w, const char *path, struct cvl_verify_part *p)
{
	struct wire_index_header h;

	w->index = fopen(path, "re");
	if (!w->index) {
		say(p, "%s: the index is missing", path);
		return;
	}
	if (fread(&h, sizeof(h), 1, w->index) == 1 && be32toh(h.magic) == WIRE_INDEX_MAGIC &&
	    be32toh(h.major) == 1 && be32toh(h.minor) == 1 &&
	    be32toh(h.entry_size) == sizeof(struct wire_index_entry))
		return;
	say(p, "%s:0: not an index of version 1.1", path);
	fclose(w->index);
	w->index = NULL;
}

/* Check the index after the stream was walked. */
static void judge_index(const struct walk *w, const char *path, bool finished,
			struct cvl_verify_part *p)
{
	if (w->wrong_entries)
		say(p, "%s: %" PRIu64 " of %" PRIu64 " entries do not match their packets", path,
		    w->wrong_entries, w->packets);
	/* an entry is written after its packet: a killed writer may leave one out */
	if (w->early && finished)
		say(p, "%s: ends before the stream does", path);
	if (w->index && !w->early && fgetc(w->index) != EOF && finished)
		say(p, "%s: has more entries than the stream has packets", path);
}

static void walk_stream(const struct cvl_clock *c, const struct stored *st,
			struct cvl_verify_part *p)
{
	char stream[CVL_PATH_MAX], index[CVL_PATH_MAX], hex[CVL_SHA256_TEXT];
	struct walk w = { 0 };
	off_t size;

	if (!cvl_path_join(stream, c->trace, WIRE_STREAM_FILE) ||
	    !cvl_path_join(index, c->trace, "index/" WIRE_STREAM_FILE ".idx"))
		return;
	w.stream = fopen(stream, "re");
	if (!w.stream)
		return; /* reported as missing if it was stored */
	sha256_init(&w.sha);
	open_index(&w, index, p);
	size = fseeko(w.stream, 0, SEEK_END) ? -1 : ftello(w.stream);
	w.size = size < 0 ? 0 : (uint64_t)size;
	walk(&w);
	if (!c->growing)
		judge_index(&w, index, !c->unfinished, p);
	cvl_sha256_digits(&w.sha, hex);
	if (w.freed)
		p->digest = CVL_DIGEST_FREED;
	else if (st->counted && w.packets != st->sum.packets)
		say(p, "%s: has %" PRIu64 " packets; %" PRIu64 " were stored", stream, w.packets,
		    st->sum.packets);
	else if (st->counted && strcmp(hex, st->sum.packets_sha256) != 0)
		say(p, "%s: the packets are not those that were stored", stream);
	else if (!st->counted && w.missing)
		say(p, "%s: %" PRIu64 " packets are missing from the sequence", stream, w.missing);
	fclose(w.stream);
	if (w.index)
		fclose(w.index);
}

/* ---- a clock ---- */

static void check_metadata(const struct cvl_clock *c, const struct stored *st,
			   struct cvl_verify_part *p)
{
	char path[CVL_PATH_MAX], hex[CVL_SHA256_TEXT], *text = NULL;
	struct cvl_error e;
	size_t n;

	if (!st->counted || !cvl_path_join(path, c->trace, "metadata") || !cvl_is_file(path))
		return; /* already reported as missing */
	text = cvl_read_whole(path, CTF_METADATA_MAX, &n, &e);
	if (!text) {
		take_problem(p, &e);
		return;
	}
	cvl_sha256(text, n, hex);
	if (strcmp(hex, st->sum.metadata_sha256) != 0)
		say(p, "%s: differs from what was stored", path);
	free(text);
}

/* Read stream @i of @trace to its end, counting records. */
static int read_stream(struct job *j, size_t clock, const struct cvl_trace *trace, size_t i,
		       struct cvl_verify_part *p, struct cvl_error *err)
{
	const struct cvl_report report = { take_problem, p };
	struct cvl_stream_opts opts = {
		.report = &report, .disorder = cvl_session_clock(j->session, clock)->disorder_ticks
	};
	struct cvl_stream_stats stats;
	struct cvl_stream *stream;
	struct cvl_batch batch;
	struct cvl_error e;
	int rc;

	stored_expect(session_stored(j->session, clock), cvl_trace_stream_name(trace, i), &opts);
	rc = cvl_stream_open(&stream, trace, i, &opts, &e);
	if (!rc) {
		do {
			cvl_stream_stats(stream, &stats);
			rc = tell_progress(j, stats.position, &e);
			rc = rc ? rc : cvl_stream_next(stream, &batch, &e);
		} while (rc > 0);
		cvl_stream_stats(stream, &stats);
		p->packets += stats.packets;
		p->records += stats.records;
		p->bytes += stats.bytes;
		j->done += stats.bytes;
		cvl_stream_close(stream);
	}
	if (rc == CVL_E_NOMEM || rc == CVL_E_CANCELLED)
		return cvl_fail(err, e.code, e.offset, "%s", e.text);
	if (rc)
		take_problem(p, &e);
	return 0;
}

/* Check that the metadata matches and all streams can be read. */
static int read_trace(struct job *j, size_t clock, struct cvl_verify_part *p, struct cvl_error *err)
{
	struct cvl_trace *trace;
	struct cvl_error e;
	int rc = session_open_trace(j->session, clock, &trace, NULL, &e);

	if (rc == CVL_E_NOMEM)
		return cvl_no_memory(err);
	if (rc) {
		/* its writer died before it stored anything */
		if (!cvl_session_clock(j->session, clock)->unfinished)
			take_problem(p, &e);
		return 0;
	}
	for (size_t i = 0; i < cvl_trace_streams(trace) && !rc; i++)
		rc = read_stream(j, clock, trace, i, p, err);
	cvl_trace_close(trace);
	return rc;
}

/* Check whether the files of a foreign trace are those that were stored. */
static int check_hash(struct job *j, const struct cvl_clock *c, struct cvl_verify_part *p,
		      struct cvl_error *err)
{
	const struct cvl_progress progress = { go_on, j };
	char hash[CVL_HASH_TEXT];
	struct cvl_error e;
	int rc = cvl_hash_tree(c->trace, hash, &progress, &e);

	if (rc == CVL_E_NOMEM || rc == CVL_E_CANCELLED)
		return cvl_fail(err, e.code, e.offset, "%s", e.text);
	if (rc)
		take_problem(p, &e);
	else if (!strcmp(hash, c->hash))
		forget_problems(p); /* it had them when imported */
	else
		say(p, "%s: the files are not those that were stored", c->trace);
	return 0;
}

static int check_clock(struct job *j, size_t i, struct cvl_error *err)
{
	const struct cvl_clock *c = cvl_session_clock(j->session, i);
	const struct stored *st = session_stored(j->session, i);
	int at = add_part(j, c->name, false, err), rc;
	struct cvl_verify_part *p;
	struct cvl_report report = { take_problem, NULL };

	if (at < 0)
		return at;
	report.ctx = p = &j->v->part[at];
	p->digest = c->unfinished || c->growing ? CVL_DIGEST_LATER :
		    st->counted || *c->hash     ? CVL_DIGEST_THERE :
						  CVL_DIGEST_NONE;
	for (size_t k = 0; k < i && !p->shares; k++)
		p->shares = !strcmp(cvl_session_clock(j->session, k)->trace, c->trace);
	if (p->shares)
		return 0;
	stored_check(st, c->trace, &report);
	rc = read_trace(j, i, p, err);
	if (c->growing) /* its last packet is being written */
		forget_problems(p);
	if (!rc && c->foreign && *c->hash)
		return check_hash(j, c, p, err);
	if (!rc && !c->foreign) { /* whatever the metadata says now */
		check_metadata(c, st, p);
		walk_stream(c, st, p);
	}
	if (!rc && st->counted && p->digest != CVL_DIGEST_FREED &&
	    st->sum.records != CVL_LOST_UNKNOWN && p->records != st->sum.records)
		say(p, "%s: has %" PRIu64 " records; %" PRIu64 " were stored", c->trace, p->records,
		    st->sum.records);
	return rc;
}

/* ---- files ---- */

/*
 * Check version and checksum of the JSON file @name, if it exists. @part: index of its part, -1: no
 * such file.
 */
static int check_file(struct job *j, const char *name, const char *kind, int version, int *part,
		      struct cvl_error *err)
{
	char path[CVL_PATH_MAX];
	struct cvl_error e;
	json_t *root;

	*part = -1;
	if (!cvl_path_join(path, cvl_session_path(j->session), name) || !cvl_is_file(path))
		return 0;
	*part = add_part(j, name, true, err);
	if (*part < 0)
		return *part;
	root = jsonfile_read(path, kind, version, &e);
	if (!root && e.code == CVL_E_NOMEM)
		return cvl_no_memory(err);
	if (!root)
		take_problem(&j->v->part[*part], &e);
	if (!root || jsonfile_has_checksum(root))
		j->v->part[*part].digest = CVL_DIGEST_THERE;
	json_decref(root);
	return 0;
}

/* Check that clock maps can be read and are of the session's clocks. */
static int check_maps(struct job *j, const char *name,
		      int (*load)(struct cvl_sync **, const struct cvl_session *,
				  struct cvl_error *),
		      struct cvl_error *err)
{
	struct cvl_sync *sync = NULL;
	struct cvl_verify_part *p;
	struct cvl_error e;
	int part, rc = check_file(j, name, "coeval_sync", JSONFILE_SYNC, &part, err);

	if (rc || part < 0 || j->v->part[part].problems)
		return rc;
	p = &j->v->part[part];
	rc = load(&sync, j->session, &e);
	if (rc == CVL_E_NOMEM)
		return cvl_no_memory(err);
	if (rc < 0)
		take_problem(p, &e);
	for (size_t i = 0; sync && i < sync->n; i++) {
		const struct cvl_clock_sync *c = &sync->clock[i];
		size_t bad = c->map ? cvl_map_verify(c->map) : 0;

		if (cvl_session_find(j->session, c->clock) < 0)
			say(p, "%s/%s: the session has no clock called '%s'",
			    cvl_session_path(j->session), name, c->clock);
		if (bad && cvl_map_damaged(c->map, &e))
			say(p, "%s (%zu such blocks)", e.text, bad);
	}
	cvl_sync_free(sync);
	return 0;
}

/* ---- the whole session ---- */

static uint64_t bytes_of(const struct cvl_session *s)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < cvl_session_clocks(s); i++) {
		struct stored now = { 0 };

		if (!stored_look(&now, cvl_session_clock(s, i)->trace, NULL))
			for (size_t k = 0; k < now.n; k++)
				bytes += strcmp(now.file[k].name, "metadata") ? now.file[k].bytes :
										0;
		stored_free(&now);
	}
	return bytes;
}

int cvl_verify_session(struct cvl_verify **out, const char *path,
		       const struct cvl_verify_opts *opts, struct cvl_error *err)
{
	struct job j = { .v = calloc(1, sizeof(*j.v)), .opts = opts };
	int rc, part;

	*out = NULL;
	if (!j.v)
		return cvl_no_memory(err);
	rc = session_open_as_it_is(&j.session, path, err);
	if (!rc)
		j.total = bytes_of(j.session);
	for (size_t i = 0; !rc && i < cvl_session_clocks(j.session); i++)
		rc = check_clock(&j, i, err);
	if (!rc)
		rc = check_file(&j, "session.json", "coeval_session", JSONFILE_SESSION, &part, err);
	if (!rc)
		rc = check_maps(&j, "sync.json", cvl_sync_load, err);
	if (!rc)
		rc = check_file(&j, "calibration.json", "coeval_calibration", JSONFILE_CALIBRATION,
				&part, err);
	if (!rc)
		rc = check_maps(&j, "truth.json", cvl_truth_load, err);
	if (!rc)
		rc = check_file(&j, "annotations.json", "coeval_annotations", JSONFILE_ANNOTATIONS,
				&part, err);
	cvl_session_close(j.session);
	for (size_t i = 0; i < j.v->n; i++)
		j.v->problems += j.v->part[i].problems;
	if (rc)
		cvl_verify_free(j.v);
	else
		*out = j.v;
	return rc;
}
