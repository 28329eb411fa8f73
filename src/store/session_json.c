/* SPDX-License-Identifier: MIT */
/* session.json. */
#include "store/session_internal.h"

#include "store/ctf/lock.h"
#include "store/jsonfile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

json_t *session_clock_json(const struct cvl_session *s, const struct session_entry *e)
{
	const struct cvl_clock *c = &e->pub;
	json_t *stored = stored_json(&e->stored), *j;

	if (!stored && e->stored.n)
		return NULL;
	j = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:s, s:s, s:s, s:s, s:b, s:b}",
		      "name", c->name, "node", c->node, "trace", c->trace + strlen(s->path) + 1,
		      "clock_class", c->clock_class, "rate_hz", (json_int_t)c->rate_hz,
		      "resolution_ticks", (json_int_t)c->resolution, "start_unix_ns",
		      (json_int_t)c->start_unix_ns, "base_tick", (json_int_t)c->base_tick, "uuid",
		      e->uuid, "format", c->format, "origin", c->origin, "hash", c->hash, "foreign",
		      c->foreign, "finished", !c->unfinished);
	session_put_facts(j, c);
	if (stored && json_object_set_new(j, "stored", stored)) {
		json_decref(j);
		return NULL;
	}
	return j;
}

int session_save(struct cvl_session *s, struct cvl_error *err)
{
	char path[CVL_PATH_MAX];
	json_t *root, *list;

	if (s->beside)
		return 0;
	list = json_array();
	if (!cvl_path_join(path, s->path, "session.json")) {
		json_decref(list);
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", s->path);
	}
	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(list, session_clock_json(s, &s->clock[i]));
	if (json_array_size(list) != s->n) {
		json_decref(list);
		return cvl_no_memory(err);
	}
	root = json_pack("{s:i, s:s, s:s, s:I, s:o}", "coeval_session", JSONFILE_SESSION, "uuid",
			 s->uuid, "created", s->created, "epoch_unix_ns", (json_int_t)s->epoch,
			 "clocks", list);
	return jsonfile_write(path, root, 0, err);
}

int session_save_ended(struct cvl_session *s, int rc, int lock, struct cvl_error *err)
{
	rc = rc ? rc : session_save(s, err);
	if (lock >= 0)
		close(lock);
	return rc;
}

/* Whether @path stays below the session: "a..b" does, "../b" does not. */
static bool good_relative(const char *path)
{
	if (!*path || *path == '/')
		return false;
	for (const char *part = path; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (!strncmp(part, "..", 2) && (!part[2] || part[2] == '/'))
			return false;
	}
	return true;
}

static int load_clock(struct cvl_session *s, const json_t *j, const char *path, size_t i,
		      struct cvl_error *err)
{
	struct cvl_clock c = { 0 };
	struct stored stored;
	struct session_entry *entry;
	const char *relative, *uuid;
	char trace[CVL_PATH_MAX];
	json_int_t rate, resolution, start, base;
	int foreign, finished, rc;
	json_error_t e;

	if (json_unpack_ex((json_t *)(uintptr_t)j, &e, 0,
			   "{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:s, s:s, s:s, s:s, s:b, s:b}",
			   "name", &c.name, "node", &c.node, "trace", &relative, "clock_class",
			   &c.clock_class, "rate_hz", &rate, "resolution_ticks", &resolution,
			   "start_unix_ns", &start, "base_tick", &base, "uuid", &uuid, "format",
			   &c.format, "origin", &c.origin, "hash", &c.hash, "foreign", &foreign,
			   "finished", &finished))
		return cvl_fail(err, CVL_E_SYNTAX, CVL_NO_OFFSET, "%s: clock %zu: %s", path, i,
				e.text);
	if (rate <= 0 || resolution <= 0 || !good_relative(relative) || !*c.name ||
	    !cvl_path_join(trace, s->path, relative))
		return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET,
				"%s: clock %zu has impossible values", path, i);
	c.trace = trace;
	c.rate_hz = (uint64_t)rate;
	c.resolution = (uint64_t)resolution;
	c.start_unix_ns = start;
	c.base_tick = (uint64_t)base;
	c.foreign = foreign;
	session_take_facts(j, &c);
	c.growing = !finished && stream_locked(trace);
	c.unfinished = !finished && !c.growing;
	rc = stored_load(&stored, json_object_get(j, "stored"));
	if (rc == CVL_E_SYNTAX)
		return cvl_fail(err, rc, CVL_NO_OFFSET, "%s: clock %zu: malformed 'stored'", path,
				i);
	entry = rc ? NULL : session_add_entry(s, &c, uuid);
	if (!entry) {
		stored_free(&stored);
		return cvl_no_memory(err);
	}
	entry->stored = stored;
	return 0;
}

static int load(struct cvl_session *s, const char *path, session_reader *read_file,
		struct cvl_error *err)
{
	json_error_t e;
	json_t *root = read_file(path, "coeval_session", JSONFILE_SESSION, err), *list, *j;
	json_int_t epoch;
	const char *uuid, *created;
	size_t i;
	int rc = 0;

	if (!root)
		return err ? (int)err->code : CVL_E_SYNTAX;
	if (json_unpack_ex(root, &e, 0, "{s:s, s:s, s:I, s:o}", "uuid", &uuid, "created", &created,
			   "epoch_unix_ns", &epoch, "clocks", &list)) {
		rc = cvl_fail(err, CVL_E_SYNTAX, 0, "%s:0: %s", path, e.text);
	} else if (json_array_size(list) > SESSION_CLOCKS_MAX) {
		rc = cvl_fail(err, CVL_E_LIMIT, 0, "%s:0: more than %d clocks", path,
			      SESSION_CLOCKS_MAX);
	} else {
		snprintf(s->uuid, sizeof(s->uuid), "%s", uuid);
		snprintf(s->created, sizeof(s->created), "%s", created);
		s->epoch = epoch;
		s->has_epoch = epoch != 0;
		json_array_foreach(list, i, j)
		{
			rc = load_clock(s, j, path, i, err);
			if (rc)
				break;
		}
		session_relate(s);
	}
	json_decref(root);
	return rc;
}

static bool has_unfinished(const struct cvl_session *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->clock[i].pub.unfinished)
			return true;
	return false;
}

/* Whether @path is another file than the one open as @fd. */
static bool replaced(int fd, const char *path)
{
	struct stat was, is;

	return fd >= 0 && !fstat(fd, &was) && !stat(path, &is) && was.st_ino != is.st_ino;
}

int session_load(struct cvl_session *s, const char *path, session_reader *read_file,
		 struct cvl_error *err)
{
	/*
	 * A writer that ended after the file was read is found neither alive nor finished; but it
	 * replaced the file before it let go of its stream.
	 */
	for (;;) {
		int fd = open(path, O_RDONLY | O_CLOEXEC); /* its inode is not used again */
		int rc = load(s, path, read_file, err);
		bool done = rc || !has_unfinished(s) || !replaced(fd, path);

		if (fd >= 0)
			close(fd);
		if (done)
			return rc;
		session_forget_entries(s);
	}
}
