/* SPDX-License-Identifier: MIT */
#include "store/stored.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <coeval/files.h>
#include <coeval/array.h>
#include "store/ctf/wire.h"

void stored_free(struct stored *st)
{
	for (size_t i = 0; i < st->n; i++)
		free(st->file[i].name);
	free(st->file);
	*st = (struct stored){ 0 };
}

static int add_file(struct stored *st, size_t *capacity, const char *name, uint64_t bytes)
{
	char *copy = strdup(name);

	if (!copy || cvl_room(&st->file, st->n, capacity, sizeof(*st->file))) {
		free(copy);
		return CVL_E_NOMEM;
	}
	st->file[st->n++] = (struct stored_file){ copy, bytes };
	return 0;
}

int stored_copy(struct stored *to, const struct stored *from)
{
	size_t capacity = 0;
	int rc = 0;

	*to = (struct stored){ .counted = from->counted, .sum = from->sum };
	for (size_t i = 0; i < from->n && !rc; i++)
		rc = add_file(to, &capacity, from->file[i].name, from->file[i].bytes);
	if (rc)
		stored_free(to);
	return rc;
}

int stored_take(struct stored *st, const struct cvl_stored *sum)
{
	size_t capacity = 0;
	int rc;

	stored_free(st);
	st->counted = *sum->packets_sha256 != 0;
	st->sum = *sum;
	rc = add_file(st, &capacity, "metadata", sum->metadata_bytes);
	if (!rc)
		rc = add_file(st, &capacity, WIRE_STREAM_FILE, sum->bytes);
	if (rc)
		stored_free(st);
	return rc;
}

int stored_look(struct stored *st, const char *trace, struct cvl_error *err)
{
	char path[CVL_PATH_MAX];
	struct dirent **list;
	size_t capacity = 0;
	struct stat found;
	int n, rc = 0;

	stored_free(st);
	n = scandir(trace, &list, NULL, alphasort);
	if (n < 0)
		return cvl_fail_errno(err, "open", trace);
	for (int i = 0; i < n; i++) {
		if (!rc && list[i]->d_name[0] != '.' &&
		    cvl_path_join(path, trace, list[i]->d_name) && !stat(path, &found) &&
		    S_ISREG(found.st_mode))
			rc = add_file(st, &capacity, list[i]->d_name, (uint64_t)found.st_size);
		free(list[i]);
	}
	free(list);
	if (!rc)
		return 0;
	stored_free(st);
	return cvl_no_memory(err);
}

bool stored_same_files(const struct stored *a, const struct stored *b)
{
	for (size_t i = 0; i < a->n; i++) {
		size_t k = 0;

		while (k < b->n && (strcmp(a->file[i].name, b->file[k].name) != 0 ||
				    a->file[i].bytes != b->file[k].bytes))
			k++;
		if (k == b->n)
			return false;
	}
	return a->n == b->n;
}

/* ---- as JSON ---- */

json_t *stored_json(const struct stored *st)
{
	const struct cvl_stored *sum = &st->sum;
	json_t *files, *root;

	if (!st->n)
		return NULL;
	files = json_object();
	for (size_t i = 0; i < st->n; i++)
		json_object_set_new(files, st->file[i].name,
				    json_integer((json_int_t)st->file[i].bytes));
	root = json_pack("{s:o}", "files", files);
	if (!root || !st->counted)
		return root;
	json_object_set_new(root, "packets", json_integer((json_int_t)sum->packets));
	if (sum->records != CVL_LOST_UNKNOWN)
		json_object_set_new(root, "records", json_integer((json_int_t)sum->records));
	if (sum->seen != CVL_LOST_UNKNOWN) {
		json_object_set_new(root, "seen", json_integer((json_int_t)sum->seen));
		json_object_set_new(root, "gaps", json_integer((json_int_t)sum->gaps));
	}
	json_object_set_new(root, "first_tick", json_integer((json_int_t)sum->first.count));
	json_object_set_new(root, "last_tick", json_integer((json_int_t)sum->last.count));
	json_object_set_new(root, "metadata_sha256", json_string(sum->metadata_sha256));
	json_object_set_new(root, "packets_sha256", json_string(sum->packets_sha256));
	return root;
}

/* Whether @name is a plain file name in the trace's own directory. */
static bool is_plain_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

static int load_sum(struct cvl_stored *sum, const json_t *j)
{
	json_int_t packets, records = -1, seen = -1, gaps = -1, first, last;
	const char *metadata, *chain;

	if (json_unpack((json_t *)(uintptr_t)j, "{s:I, s?I, s?I, s?I, s:I, s:I, s:s, s:s}",
			"packets", &packets, "records", &records, "seen", &seen, "gaps", &gaps,
			"first_tick", &first, "last_tick", &last, "metadata_sha256", &metadata,
			"packets_sha256", &chain) ||
	    packets < 0 || records < -1 || strlen(metadata) + 1 != sizeof(sum->metadata_sha256) ||
	    strlen(chain) + 1 != sizeof(sum->packets_sha256))
		return CVL_E_SYNTAX;
	sum->packets = (uint64_t)packets;
	sum->records = records < 0 ? CVL_LOST_UNKNOWN : (uint64_t)records;
	sum->seen = seen < 0 || gaps < 0 ? CVL_LOST_UNKNOWN : (uint64_t)seen;
	sum->gaps = seen < 0 || gaps < 0 ? CVL_LOST_UNKNOWN : (uint64_t)gaps;
	sum->first.count = (uint64_t)first;
	sum->last.count = (uint64_t)last;
	strcpy(sum->metadata_sha256, metadata);
	strcpy(sum->packets_sha256, chain);
	return 0;
}

int stored_load(struct stored *st, const json_t *j)
{
	json_t *files = json_object_get(j, "files"), *bytes;
	size_t capacity = 0;
	const char *name;
	int rc = 0;

	*st = (struct stored){ 0 };
	if (!j)
		return 0;
	if (!json_is_object(files))
		return CVL_E_SYNTAX;
	json_object_foreach(files, name, bytes)
	{
		if (rc)
			break;
		rc = json_is_integer(bytes) && json_integer_value(bytes) >= 0 &&
				     is_plain_name(name) ?
			     add_file(st, &capacity, name, (uint64_t)json_integer_value(bytes)) :
			     CVL_E_SYNTAX;
		if (rc)
			continue;
		if (!strcmp(name, "metadata"))
			st->sum.metadata_bytes = (uint64_t)json_integer_value(bytes);
		else if (!strcmp(name, WIRE_STREAM_FILE))
			st->sum.bytes = (uint64_t)json_integer_value(bytes);
	}
	st->counted = json_object_get(j, "packets_sha256") != NULL;
	if (!rc && st->counted)
		rc = load_sum(&st->sum, j);
	if (rc)
		stored_free(st);
	return rc;
}

/* ---- compared with the files ---- */

void stored_check(const struct stored *st, const char *trace, const struct cvl_report *report)
{
	char path[CVL_PATH_MAX];
	struct cvl_error e;
	struct stat found;

	for (size_t i = 0; i < st->n; i++) {
		const uint64_t bytes = st->file[i].bytes;
		uint64_t is;

		if (!cvl_path_join(path, trace, st->file[i].name))
			continue;
		if (stat(path, &found) || !S_ISREG(found.st_mode)) {
			/* missing metadata is an error of its own */
			if (!strcmp(st->file[i].name, "metadata"))
				continue;
			cvl_fail(&e, CVL_E_MISSING, CVL_NO_OFFSET,
				 "%s: the file is missing; it had %" PRIu64 " bytes", path, bytes);
		} else if ((is = (uint64_t)found.st_size) < bytes) {
			cvl_fail(&e, CVL_E_TRUNCATED, is,
				 "%s:%" PRIu64 ": the file was cut here; it had %" PRIu64 " bytes",
				 path, is, bytes);
		} else if (is > bytes) {
			cvl_fail(&e, CVL_E_MISMATCH, bytes,
				 "%s:%" PRIu64 ": the file was extended here; it had %" PRIu64
				 " bytes",
				 path, bytes, bytes);
		} else {
			continue;
		}
		cvl_tell(report, &e);
	}
}

void stored_expect(const struct stored *st, const char *file, struct cvl_stream_opts *opts)
{
	for (size_t i = 0; i < st->n; i++)
		if (!strcmp(st->file[i].name, file))
			opts->bytes = st->file[i].bytes;
	if (!st->counted || !opts->bytes)
		return;
	opts->records = st->sum.records == CVL_LOST_UNKNOWN ? 0 : st->sum.records;
	opts->first = st->sum.first;
	opts->last = st->sum.last;
}

struct cvl_stream_opts session_stream_opts(const struct cvl_session *s, size_t clock,
					   const char *file)
{
	const struct cvl_clock *c = cvl_session_clock(s, clock);
	struct cvl_stream_opts o = { .disorder = c->disorder_ticks,
				     .unfinished = c->unfinished,
				     .growing = c->growing };

	stored_expect(session_stored(s, clock), file, &o);
	return o;
}

/* ---- session.json and the metadata ---- */

static uint64_t apart(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static int compare(const struct cvl_clock *c, const struct cvl_trace *trace, struct cvl_error *err)
{
	const struct cvl_clock_class *class = NULL;
	uint64_t resolution = cvl_trace_env_number(trace, "resolution");

	for (size_t i = 0; i < cvl_trace_clocks(trace); i++)
		if (!strcmp(cvl_trace_clock(trace, i)->name, c->clock_class))
			class = cvl_trace_clock(trace, i);
	if (!class && (!*c->clock_class || !cvl_trace_clocks(trace)))
		return 0;
	if (!class)
		return cvl_fail(err, CVL_E_MISMATCH, 0,
				"%s/metadata:0: unknown clock '%s' in session.json", c->trace,
				c->clock_class);
	if (class->rate_hz != c->rate_hz && !class->implied)
		return cvl_fail(err, CVL_E_MISMATCH, 0,
				"%s/metadata:0: the clock has %" PRIu64 " Hz here, but %" PRIu64
				" Hz in session.json",
				c->trace, class->rate_hz, c->rate_hz);
	if (cvl_trace_ours(trace) && (resolution ? resolution : 1) != c->resolution)
		return cvl_fail(err, CVL_E_MISMATCH, 0,
				"%s/metadata:0: the resolution is %" PRIu64
				" ticks here, but %" PRIu64 " ticks in session.json",
				c->trace, resolution, c->resolution);
	if (class->uuid && *class->uuid && *c->uuid && strcmp(class->uuid, c->uuid) != 0)
		return cvl_fail(err, CVL_E_MISMATCH, 0,
				"%s/metadata:0: the clock is %s here, but %s in session.json",
				c->trace, class->uuid, c->uuid);
	/* metadata has whole ticks */
	if (!c->start_stated &&
	    apart(session_claimed_start(class), c->start_unix_ns) > 1000000000 / c->rate_hz + 1)
		return cvl_fail(err, CVL_E_MISMATCH, 0,
				"%s/metadata:0: the clock starts at %" PRId64
				" ns (Unix time) here, but at %" PRId64 " ns in session.json",
				c->trace, session_claimed_start(class), c->start_unix_ns);
	return 0;
}

int session_open_trace(const struct cvl_session *s, size_t i, struct cvl_trace **trace,
		       const struct cvl_report *report, struct cvl_error *err)
{
	const struct cvl_clock *c = cvl_session_clock(s, i);
	int rc = cvl_trace_open(trace, c->trace, report, err);

	if (rc)
		return rc;
	rc = compare(c, *trace, err);
	if (rc) {
		cvl_trace_close(*trace);
		*trace = NULL;
	}
	return rc;
}
