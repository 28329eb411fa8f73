/* SPDX-License-Identifier: MIT */
/* Opening, making and closing sessions, and the clocks in them. */
#include "store/session_internal.h"

#include <coeval/array.h>

#include "store/jsonfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK_TRIES 200
#define LOCK_TRY_US 10000
#define SAME_START_NS 1000000

struct cvl_session *session_new(const char *path)
{
	struct cvl_session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->lock_fd = -1;
	s->path = strdup(path);
	if (s->path)
		return s;
	free(s);
	return NULL;
}

void session_entry_free(struct session_entry *e)
{
	cvl_writer_abandon(e->writer);
	cvl_packets_close(e->packets, NULL);
	if (e->held_lock)
		close(e->held_lock - 1);
	free(e->name);
	free(e->clock);
	free(e->node);
	free(e->trace);
	free(e->class);
	free(e->format);
	free(e->origin);
	free(e->hash);
	free(e->uuid);
	free(e->host);
	stored_free(&e->stored);
}

/* But for its list of clocks, and what is left of that if whoever made it was killed at once. */
static bool holds_nothing(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	bool empty = dir != NULL;

	while (dir && (d = readdir(dir)))
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, "..") &&
		    strcmp(d->d_name, "session.json") && strcmp(d->d_name, "session.json.new"))
			empty = false;
	if (dir)
		closedir(dir);
	return empty;
}

/*
 * Remove a session that was created for an import that failed before storing anything. Where others keep their
 * files in it, as a collector does, it stays one: it could not be made there again.
 */
static void remove_empty(const struct cvl_session *s)
{
	char path[CVL_PATH_MAX];

	if (cvl_path_join(path, s->path, "traces"))
		rmdir(path);
	if (!holds_nothing(s->path))
		return;
	if (cvl_path_join(path, s->path, "session.json"))
		unlink(path);
	rmdir(s->path);
}

void session_forget_entries(struct cvl_session *s)
{
	for (size_t i = 0; i < s->n; i++)
		session_entry_free(&s->clock[i]);
	s->n = 0;
}

void cvl_session_close(struct cvl_session *s)
{
	if (!s)
		return;
	if (s->made && !s->n)
		remove_empty(s);
	session_forget_entries(s);
	free(s->clock);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	free(s->path);
	free(s);
}

/* ---- clocks ---- */

size_t session_written(const struct cvl_session *s)
{
	char metadata[CVL_PATH_MAX];
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += cvl_path_join(metadata, s->clock[i].trace, "metadata") &&
		     cvl_is_file(metadata);
	return n;
}

int cvl_session_find(const struct cvl_session *s, const char *name)
{
	int by_node = -1;

	for (size_t i = 0; i < s->n; i++) {
		if (!strcmp(s->clock[i].name, name))
			return (int)i;
		if (!strcmp(s->clock[i].node, name))
			by_node = by_node == -1 ? (int)i : -2;
	}
	return by_node < 0 ? -1 : by_node;
}

bool cvl_clock_matches(const struct cvl_clock *c, const char *pattern)
{
	return !fnmatch(pattern, c->node, 0) || !fnmatch(pattern, c->name, 0) ||
	       !fnmatch(pattern, c->clock, 0);
}

static uint64_t apart(int64_t a, int64_t b)
{
	return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

/*
 * The clock that has the UUID of clock @i, its rate, and its start, or -1. Tracers measure for each trace
 * anew when a clock started, so that it differs a little.
 */
static int find_same(const struct cvl_session *s, size_t i)
{
	const struct session_entry *e = &s->clock[i];

	for (size_t k = 0; k < i && *e->uuid; k++)
		if (!strcmp(s->clock[k].uuid, e->uuid) && s->clock[k].pub.epoch == e->pub.epoch &&
		    s->clock[k].pub.rate_hz == e->pub.rate_hz &&
		    apart(s->clock[k].pub.start_unix_ns, e->pub.start_unix_ns) <= SAME_START_NS)
			return (int)k;
	return -1;
}

/* Epoch @epoch of clock @name, or -1. */
static int find_epoch(const struct cvl_session *s, const char *name, unsigned epoch)
{
	for (size_t i = s->n; i--;)
		if (s->clock[i].pub.epoch == epoch && !strcmp(s->clock[i].clock, name))
			return (int)i;
	return -1;
}

static void relate(struct cvl_session *s, size_t i)
{
	struct cvl_clock *c = &s->clock[i].pub;

	c->same_as = find_same(s, i);
	c->first_epoch = c->epoch > 1 ? find_epoch(s, c->clock, 1) : (int)i;
	s->clock[i].epoch_before = c->epoch > 1 ? find_epoch(s, c->clock, c->epoch - 1) : -1;
}

void session_relate(struct cvl_session *s)
{
	for (size_t i = 0; i < s->n; i++)
		relate(s, i);
}

int session_last_epoch(const struct cvl_session *s, const char *name)
{
	int last = -1;

	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->clock[i].clock, name) &&
		    (last < 0 || s->clock[i].pub.epoch > s->clock[last].pub.epoch))
			last = (int)i;
	return last;
}

void session_next_epoch(const struct cvl_session *s, size_t last, struct cvl_tick after,
			struct cvl_clock *c, char *name, size_t size)
{
	const struct cvl_clock *before = &s->clock[last].pub;
	c->clock = before->clock;
	c->epoch = before->epoch + 1;
	c->after_tick = after.count;
	c->node = before->node;
	snprintf(name, size, "%s#%u", c->clock, c->epoch); /* no other name has a '#' */
}

int session_has_room(const struct cvl_session *s, struct cvl_error *err)
{
	return s->n < SESSION_CLOCKS_MAX ?
		       0 :
		       cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: more than %d clocks", s->path,
				SESSION_CLOCKS_MAX);
}

struct session_entry *session_add_entry(struct cvl_session *s, const struct cvl_clock *from,
					const char *uuid)
{
	struct session_entry *e;

	if (cvl_room(&s->clock, s->n, &s->room, sizeof(*s->clock)))
		return NULL;
	e = &s->clock[s->n];
	*e = (struct session_entry){
		.pub = *from,
		.name = strdup(from->name),
		.clock = strdup(from->epoch > 1 ? from->clock : from->name),
		.node = strdup(from->node),
		.trace = strdup(from->trace),
		.class = strdup(from->clock_class ? from->clock_class : ""),
		.format = strdup(from->format ? from->format : ""),
		.origin = strdup(from->origin ? from->origin : ""),
		.hash = strdup(from->hash ? from->hash : ""),
		.uuid = strdup(uuid ? uuid : ""),
		.host = strdup(from->host ? from->host : ""),
	};
	if (!e->name || !e->clock || !e->node || !e->trace || !e->class || !e->format ||
	    !e->origin || !e->hash || !e->uuid || !e->host) {
		session_entry_free(e);
		return NULL;
	}
	e->pub.name = e->name;
	e->pub.clock = e->clock;
	e->pub.epoch = from->epoch > 1 ? from->epoch : 1;
	e->pub.node = e->node;
	e->pub.trace = e->trace;
	e->pub.clock_class = e->class;
	e->pub.format = e->format;
	e->pub.origin = e->origin;
	e->pub.hash = e->hash;
	e->pub.host = e->host;
	e->pub.uuid = e->uuid;
	s->n++;
	relate(s, s->n - 1);
	return e;
}

void session_unique_name(const struct cvl_session *s, char *out, size_t size, const char *wanted)
{
	char clean[200];

	snprintf(clean, sizeof(clean), "%s", *wanted ? wanted : "clock");
	cvl_path_clean(clean);
	snprintf(out, size, "%s", clean);
	for (unsigned k = 2; cvl_session_find(s, out) >= 0; k++) {
		bool taken = false;

		for (size_t i = 0; i < s->n; i++)
			taken = taken || !strcmp(s->clock[i].name, out);
		if (!taken)
			break;
		snprintf(out, size, "%s-%u", clean, k);
	}
}

int64_t session_since_zero(uint64_t tick, uint64_t rate_hz)
{
	unsigned __int128 ns = (unsigned __int128)tick * 1000000000u / rate_hz;

	return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

int64_t session_wall_clock(const struct cvl_clock *c)
{
	return c->start_unix_ns ?
		       cvl_add_sat(c->start_unix_ns, session_since_zero(c->base_tick, c->rate_hz)) :
		       0;
}

void session_set_epoch(struct cvl_session *s, int64_t unix_ns)
{
	if (s->has_epoch || !unix_ns)
		return;
	s->epoch = unix_ns;
	s->has_epoch = true;
}

/* ---- opening ---- */

int session_open_as_it_is(struct cvl_session **out, const char *path, struct cvl_error *err)
{
	char file[CVL_PATH_MAX];
	struct cvl_session *s;
	int rc;

	*out = NULL;
	if (!cvl_path_join(file, path, "session.json") || !cvl_is_file(file)) {
		rc = cvl_session_open(&s, path, NULL, err);
		if (rc)
			return rc;
		cvl_session_close(s);
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"%s: CTF traces, not a session: nothing to compare them with",
				path);
	}
	s = session_new(path);
	if (!s)
		return cvl_no_memory(err);
	rc = session_load(s, file, jsonfile_read_as_it_is, err);
	if (rc)
		cvl_session_close(s);
	else
		*out = s;
	return rc;
}

int cvl_session_open(struct cvl_session **out, const char *path, const struct cvl_report *report,
		     struct cvl_error *err)
{
	char file[CVL_PATH_MAX];
	struct cvl_session *s = session_new(path);
	struct stat st;
	int rc;

	*out = NULL;
	if (!s)
		return cvl_no_memory(err);
	if (stat(path, &st)) {
		rc = errno == ENOENT ? cvl_hint(err, CVL_HINT_NO_SESSION,
						cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
							 "%s: no such session", path)) :
				       cvl_fail_errno(err, "open", path);
	} else if (!S_ISDIR(st.st_mode)) {
		rc = cvl_hint(err, CVL_HINT_NOT_SESSION,
			      cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				       "%s is a file, not a session", path));
	} else if (!cvl_path_join(file, path, "session.json")) {
		rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", path);
	} else if (cvl_is_file(file)) {
		rc = session_load(s, file, jsonfile_read, err);
	} else {
		rc = session_open_traces(s, path, report, err);
	}
	if (rc) {
		cvl_session_close(s);
		return rc;
	}
	for (size_t i = 0; i < s->n; i++)
		if (session_placed_with(s, i) < 0)
			stored_check(&s->clock[i].stored, s->clock[i].trace, report);
	*out = s;
	return 0;
}

/* Of a process that was killed a child that it was about to start can have the lock for a moment. */
static bool lock_soon(int fd)
{
	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB); i++) {
		if (errno != EWOULDBLOCK || i == LOCK_TRIES)
			return false;
		usleep(LOCK_TRY_US);
	}
	return true;
}

int cvl_session_create(struct cvl_session **out, const char *path, struct cvl_error *err)
{
	char file[CVL_PATH_MAX];
	struct cvl_session *s = session_new(path);
	int rc = 0;

	*out = NULL;
	if (!s)
		return cvl_no_memory(err);
	while (strlen(s->path) > 1 && s->path[strlen(s->path) - 1] == '/')
		s->path[strlen(s->path) - 1] = '\0';
	if (!cvl_path_join(file, s->path, "session.json")) {
		rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", path);
	} else if (mkdir(path, 0777) && errno != EEXIST) {
		rc = cvl_fail_errno(err, "make the directory", path);
	} else if (!cvl_is_dir(path)) {
		rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s exists and is not a directory",
			      path);
	} else {
		s->lock_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (s->lock_fd < 0)
			rc = cvl_fail_errno(err, "open", path);
		else if (!lock_soon(s->lock_fd))
			rc = cvl_fail(
				err, CVL_E_ENV, CVL_NO_OFFSET,
				"%s: another coeval process is adding to this session; wait for it to finish",
				path);
	}
	if (!rc && cvl_is_file(file)) {
		rc = session_load(s, file, jsonfile_read, err);
	} else if (!rc && !holds_nothing(path)) {
		rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			      "%s holds files, but is not a session; name another directory", path);
	} else if (!rc) {
		uint8_t uuid[16];
		time_t now = time(NULL);
		struct tm tm;

		cvl_uuid_random(uuid);
		cvl_uuid_text(uuid, s->uuid);
		strftime(s->created, sizeof(s->created), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
		rc = session_save(s, err);
		s->made = !rc;
	}
	if (rc)
		cvl_session_close(s);
	else
		*out = s;
	return rc;
}

/* ---- queries ---- */

const char *cvl_session_path(const struct cvl_session *s)
{
	return s->path;
}

const char *cvl_session_uuid(const struct cvl_session *s)
{
	return s->uuid;
}

int64_t cvl_session_epoch(const struct cvl_session *s)
{
	return s->epoch;
}

size_t cvl_session_clocks(const struct cvl_session *s)
{
	return s->n;
}

const struct cvl_clock *cvl_session_clock(const struct cvl_session *s, size_t i)
{
	return &s->clock[i].pub;
}

const struct stored *session_stored(const struct cvl_session *s, size_t i)
{
	return &s->clock[i].stored;
}

/* Time at the base tick of clock @i, by its own claim, or no earlier than where its last epoch ended. */
static int64_t begins(const struct cvl_session *s, size_t i)
{
	int64_t ns = 0;

	for (;;) {
		const struct cvl_clock *c = &s->clock[i].pub, *b;
		const int before = s->clock[i].epoch_before;

		if (c->start_unix_ns && s->has_epoch)
			return cvl_add_sat(ns, session_wall_clock(c) - s->epoch);
		if (before < 0)
			return ns;
		b = &s->clock[before].pub;
		if (c->after_tick > b->base_tick)
			ns = cvl_add_sat(
				ns, session_since_zero(c->after_tick - b->base_tick, b->rate_hz));
		i = (size_t)before;
	}
}

struct cvl_map *cvl_session_nominal(const struct cvl_session *s, size_t i)
{
	const struct cvl_clock *c = &s->clock[i].pub;
	const struct cvl_clock *first = c->same_as < 0 ? c : &s->clock[c->same_as].pub;
	const bool claims = c->start_unix_ns && s->has_epoch;
	const struct cvl_time at = { claims ? first->start_unix_ns - s->epoch : begins(s, i) };

	return cvl_map_nominal(c->rate_hz, (struct cvl_tick){ claims ? 0 : c->base_tick }, at);
}
