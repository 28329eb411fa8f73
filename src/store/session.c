/* SPDX-License-Identifier: MIT */
#include <coeval/session.h>

#include <coeval/files.h>
#include "core/uuid.h"
#include "store/hash.h"
#include "store/jsonfile.h"
#include "store/stored.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SESSION_VERSION 1
#define CLOCKS_MAX 4096
#define SEARCH_DEPTH 6

/* Strings of pub are owned here. */
struct entry {
	struct cvl_clock pub;
	char *name, *node, *trace, *class, *format, *origin, *hash, *uuid, *host;
	struct cvl_writer *writer;   /* while it is being written */
	struct cvl_packets *packets; /* the same of a trace that is stored as it comes */
	struct stored stored;        /* once it is finished */
};

struct cvl_session {
	char *path;
	char uuid[CVL_UUID_TEXT];
	char created[32];
	int64_t epoch;
	bool has_epoch;
	bool made;   /* by us, just now */
	int lock_fd; /* directory, locked while we may add clocks; or -1 */
	struct entry *clock;
	size_t n;
};

static int no_memory(const struct cvl_session *s, struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "%s: out of memory", s->path);
}

static struct cvl_session *session_new(const char *path)
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

static void entry_free(struct entry *e)
{
	cvl_writer_abandon(e->writer);
	cvl_packets_close(e->packets, NULL);
	free(e->name);
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

/* A session that was made for an import that failed at once is of no use to anybody. */
static void remove_empty(const struct cvl_session *s)
{
	char path[CVL_PATH_MAX];

	if (cvl_path_join(path, s->path, "traces"))
		rmdir(path);
	if (cvl_path_join(path, s->path, "session.json"))
		unlink(path);
	rmdir(s->path);
}

void cvl_session_close(struct cvl_session *s)
{
	if (!s)
		return;
	if (s->made && !s->n)
		remove_empty(s);
	for (size_t i = 0; i < s->n; i++)
		entry_free(&s->clock[i]);
	free(s->clock);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	free(s->path);
	free(s);
}

/* ---- entries ---- */

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

/* The earlier clock that clock @i is, or -1. */
static int find_same(const struct cvl_session *s, size_t i)
{
	const struct entry *e = &s->clock[i];

	for (size_t k = 0; k < i && *e->uuid; k++)
		if (!strcmp(s->clock[k].uuid, e->uuid) &&
		    s->clock[k].pub.rate_hz == e->pub.rate_hz &&
		    s->clock[k].pub.start_unix_ns == e->pub.start_unix_ns)
			return (int)k;
	return -1;
}

/* Room for one more clock; its strings are copied from @from. NULL when out of memory. */
static struct entry *add_entry(struct cvl_session *s, const struct cvl_clock *from,
			       const char *uuid)
{
	struct entry *grown = realloc(s->clock, (s->n + 1) * sizeof(*grown));
	struct entry *e;

	if (!grown)
		return NULL;
	s->clock = grown;
	e = &s->clock[s->n];
	*e = (struct entry){
		.pub = *from,
		.name = strdup(from->name),
		.node = strdup(from->node),
		.trace = strdup(from->trace),
		.class = strdup(from->clock_class ? from->clock_class : ""),
		.format = strdup(from->format ? from->format : ""),
		.origin = strdup(from->origin ? from->origin : ""),
		.hash = strdup(from->hash ? from->hash : ""),
		.uuid = strdup(uuid ? uuid : ""),
		.host = strdup(from->host ? from->host : ""),
	};
	if (!e->name || !e->node || !e->trace || !e->class || !e->format || !e->origin ||
	    !e->hash || !e->uuid || !e->host) {
		entry_free(e);
		return NULL;
	}
	e->pub.name = e->name;
	e->pub.node = e->node;
	e->pub.trace = e->trace;
	e->pub.clock_class = e->class;
	e->pub.format = e->format;
	e->pub.origin = e->origin;
	e->pub.hash = e->hash;
	e->pub.host = e->host;
	e->pub.uuid = e->uuid;
	e->pub.same_as = find_same(s, s->n);
	s->n++;
	return e;
}

static void unique_name(const struct cvl_session *s, char *out, size_t size, const char *wanted)
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

/* What a clock of @rate_hz counts as @tick, ns. */
static int64_t since_zero(uint64_t tick, uint64_t rate_hz)
{
	unsigned __int128 ns = (unsigned __int128)tick * 1000000000u / rate_hz;

	return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

/* Wall-clock time at @tick of a clock that claims @start at tick 0; 0 if it claims none. */
static int64_t wall_clock(int64_t start, uint64_t tick, uint64_t rate_hz)
{
	return start ? cvl_add_sat(start, since_zero(tick, rate_hz)) : 0;
}

/* Timeline zero is where the first clock that claims a wall-clock time begins. */
static void set_epoch(struct cvl_session *s, int64_t unix_ns)
{
	if (s->has_epoch || !unix_ns)
		return;
	s->epoch = unix_ns;
	s->has_epoch = true;
}

/* ---- what is stated of a clock ---- */

#define DRIFT_PPM 200.0
#define DRIFT_FILE_PPM 1000.0

static const char *const counter_names[] = {
	[CVL_COUNTER] = "counter",
	[CVL_MONOTONIC] = "monotonic",
	[CVL_SETTABLE] = "settable",
};

const char *cvl_counter_name(enum cvl_counter counter)
{
	return counter_names[counter];
}

double cvl_clock_drift_ppm(const struct cvl_clock *c)
{
	static const char *const files[] = { "sr", "csv", "raw", "vcd", "fx2", "file", "pipe" };

	if (c->drift_ppm > 0)
		return c->drift_ppm;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!strcmp(c->format, files[i]))
			return DRIFT_FILE_PPM;
	return DRIFT_PPM;
}

enum cvl_counter cvl_clock_counter(const struct cvl_clock *c)
{
	static const char *const steady[] = { "mono",  "boot", "cycle", "cyccnt",
					      "count", "tsc",  "tick",  "timer" };

	if (c->counter != CVL_COUNTER_BY_FORMAT)
		return c->counter;
	if (strcmp(c->format, "ctf"))
		return CVL_COUNTER;
	for (size_t i = 0; i < sizeof(steady) / sizeof(*steady); i++)
		if (strcasestr(c->clock_class, steady[i]))
			return i < 2 ? CVL_MONOTONIC : CVL_COUNTER;
	return CVL_SETTABLE;
}

static int save(struct cvl_session *s, struct cvl_error *err);

int cvl_session_state(struct cvl_session *s, size_t i, const struct cvl_clock_facts *facts,
		      struct cvl_error *err)
{
	struct entry *e = &s->clock[i];
	struct cvl_clock *c = &e->pub;

	if (facts->host) {
		char *host = strdup(facts->host);

		if (!host)
			return no_memory(s, err);
		free(e->host);
		c->host = e->host = host;
	}
	if (facts->start_unix_ns) {
		set_epoch(s, facts->start_unix_ns);
		c->start_stated = true;
		c->start_unix_ns =
			cvl_add_sat(facts->start_unix_ns, -since_zero(c->base_tick, c->rate_hz));
	}
	if (facts->start_bound_ns)
		c->start_bound_ns = facts->start_bound_ns;
	if (facts->host_bound_ns)
		c->host_bound_ns = facts->host_bound_ns;
	if (facts->drift_ppm > 0)
		c->drift_ppm = facts->drift_ppm;
	if (facts->counter != CVL_COUNTER_BY_FORMAT)
		c->counter = facts->counter;
	return save(s, err);
}

static void put_facts(json_t *j, const struct cvl_clock *c)
{
	if (c->start_stated)
		json_object_set_new(j, "start_stated", json_true());
	if (c->start_bound_ns)
		json_object_set_new(j, "start_bound_ns", json_integer(c->start_bound_ns));
	if (*c->host)
		json_object_set_new(j, "host", json_string(c->host));
	if (c->host_bound_ns)
		json_object_set_new(j, "host_bound_ns", json_integer(c->host_bound_ns));
	if (c->drift_ppm > 0)
		json_object_set_new(j, "drift_ppm", json_real(c->drift_ppm));
	if (c->counter != CVL_COUNTER_BY_FORMAT)
		json_object_set_new(j, "counter", json_string(cvl_counter_name(c->counter)));
}

static void take_facts(const json_t *j, struct cvl_clock *c)
{
	const char *counter = json_string_value(json_object_get(j, "counter"));
	double drift = json_number_value(json_object_get(j, "drift_ppm"));
	json_int_t start = json_integer_value(json_object_get(j, "start_bound_ns"));
	json_int_t host = json_integer_value(json_object_get(j, "host_bound_ns"));

	c->start_stated = json_is_true(json_object_get(j, "start_stated"));
	c->start_bound_ns = start > 0 ? start : 0;
	c->host_bound_ns = host > 0 ? host : 0;
	c->host = json_string_value(json_object_get(j, "host"));
	c->drift_ppm = drift > 0 && drift < 1e6 ? drift : 0;
	for (int k = CVL_COUNTER; counter && k <= CVL_SETTABLE; k++)
		if (!strcmp(counter, counter_names[k]))
			c->counter = (enum cvl_counter)k;
}

/* ---- session.json ---- */

static json_t *clock_json(const struct cvl_session *s, const struct entry *e)
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
	put_facts(j, c);
	if (stored && json_object_set_new(j, "stored", stored)) {
		json_decref(j);
		return NULL;
	}
	return j;
}

static int save(struct cvl_session *s, struct cvl_error *err)
{
	char path[CVL_PATH_MAX];
	json_t *root, *list = json_array();

	if (!cvl_path_join(path, s->path, "session.json")) {
		json_decref(list);
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", s->path);
	}
	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(list, clock_json(s, &s->clock[i]));
	if (json_array_size(list) != s->n) {
		json_decref(list);
		return no_memory(s, err);
	}
	root = json_pack("{s:i, s:s, s:s, s:I, s:o}", "coeval_session", SESSION_VERSION, "uuid",
			 s->uuid, "created", s->created, "epoch_unix_ns", (json_int_t)s->epoch,
			 "clocks", list);
	return jsonfile_write(path, root, 0, err);
}

/* A path below the session: "a..b" is one, "../b" is not. */
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

/* Whether somebody still holds the lock that a writer takes on its stream. */
static bool writer_alive(const char *trace)
{
	char path[CVL_PATH_MAX];
	bool alive = false;
	int fd;

	if (!cvl_path_join(path, trace, "stream"))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		alive = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
		close(fd);
	}
	return alive;
}

static int load_clock(struct cvl_session *s, const json_t *j, const char *path, size_t i,
		      struct cvl_error *err)
{
	struct cvl_clock c = { 0 };
	struct stored stored;
	struct entry *entry;
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
	take_facts(j, &c);
	c.growing = !finished && writer_alive(trace);
	c.unfinished = !finished && !c.growing;
	rc = stored_load(&stored, json_object_get(j, "stored"));
	if (rc == CVL_E_SYNTAX)
		return cvl_fail(err, rc, CVL_NO_OFFSET,
				"%s: clock %zu: 'stored' is not what it should be", path, i);
	entry = rc ? NULL : add_entry(s, &c, uuid);
	if (!entry) {
		stored_free(&stored);
		return no_memory(s, err);
	}
	entry->stored = stored;
	return 0;
}

typedef json_t *reader(const char *path, const char *kind, int version, struct cvl_error *err);

static int load(struct cvl_session *s, const char *path, reader *read_file, struct cvl_error *err)
{
	json_error_t e;
	json_t *root = read_file(path, "coeval_session", SESSION_VERSION, err), *list, *j;
	json_int_t epoch;
	const char *uuid, *created;
	size_t i;
	int rc = 0;

	if (!root)
		return err ? (int)err->code : CVL_E_SYNTAX;
	if (json_unpack_ex(root, &e, 0, "{s:s, s:s, s:I, s:o}", "uuid", &uuid, "created", &created,
			   "epoch_unix_ns", &epoch, "clocks", &list)) {
		rc = cvl_fail(err, CVL_E_SYNTAX, 0, "%s:0: %s", path, e.text);
	} else if (json_array_size(list) > CLOCKS_MAX) {
		rc = cvl_fail(err, CVL_E_LIMIT, 0, "%s:0: more than %d clocks", path, CLOCKS_MAX);
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
	}
	json_decref(root);
	return rc;
}

/* ---- foreign traces ---- */

/* Calls @fn for every directory at or under @path that holds metadata. */
static int each_trace(const char *path, int depth,
		      int (*fn)(void *ctx, const char *path, struct cvl_error *err), void *ctx,
		      unsigned *found, struct cvl_error *err)
{
	char sub[CVL_PATH_MAX];
	struct dirent **list;
	int n, rc = 0;

	if (!cvl_path_join(sub, path, "metadata"))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", path);
	if (cvl_is_file(sub)) {
		++*found;
		return fn(ctx, path, err);
	}
	if (depth >= SEARCH_DEPTH)
		return 0;
	n = scandir(path, &list, NULL, alphasort);
	if (n < 0)
		return cvl_fail_errno(err, "open", path);
	for (int i = 0; i < n; i++) {
		if (!rc && list[i]->d_name[0] != '.' && cvl_path_join(sub, path, list[i]->d_name) &&
		    cvl_is_dir(sub))
			rc = each_trace(sub, depth + 1, fn, ctx, found, err);
		free(list[i]);
	}
	free(list);
	return rc;
}

/* First tick of each clock of @trace, or 0; looks at the beginning of each stream only. */
static int first_ticks(const struct cvl_trace *trace, uint64_t *first, size_t n,
		       struct cvl_error *err)
{
	for (size_t i = 0; i < n; i++)
		first[i] = UINT64_MAX;
	for (size_t i = 0; i < cvl_trace_streams(trace); i++) {
		struct cvl_stream *stream;
		struct cvl_batch batch;
		int rc = cvl_stream_open(&stream, trace, i, NULL, err), clock;

		if (rc)
			return rc;
		rc = cvl_stream_next(stream, &batch, NULL);
		clock = cvl_stream_clock(stream);
		if (rc > 0 && clock >= 0 && (size_t)clock < n && batch.tick[0].count < first[clock])
			first[clock] = batch.tick[0].count;
		cvl_stream_close(stream);
	}
	for (size_t i = 0; i < n; i++)
		if (first[i] == UINT64_MAX)
			first[i] = 0;
	return 0;
}

int64_t session_claimed_start(const struct cvl_clock_class *c)
{
	__int128 ns = (__int128)c->offset_s * 1000000000 +
		      (__int128)(int64_t)c->offset * 1000000000 / (__int128)c->rate_hz;

	return ns > INT64_MAX || ns < INT64_MIN ? 0 : (int64_t)ns;
}

/* The rate of clock class @class, or what was said of it if the metadata have none. What is assumed is told. */
static uint64_t rate_of(const struct cvl_clock_class *class, const char *path,
			const struct cvl_trace_opts *opts)
{
	struct cvl_error told = { .code = CVL_OK };
	const bool none = !class->implied && !*class->name;

	if (none) {
		cvl_fail(&told, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
			 "%s/metadata: its events have no timestamps: all stand at time 0", path);
	} else if (class->implied && !opts->clock_rate_hz) {
		cvl_fail(&told, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
			 "%s/metadata: no clock is declared for its timestamps: 1 GHz is assumed",
			 path);
		cvl_hint(&told, CVL_HINT_CLOCK_RATE, 0);
	} else if (!class->implied && opts->clock_rate_hz) {
		cvl_fail(
			&told, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
			"%s/metadata: the clock rate given is ignored: the trace declares its clock",
			path);
	}
	if (told.code)
		cvl_tell(opts->report, &told);
	return class->implied && opts->clock_rate_hz ? opts->clock_rate_hz : class->rate_hz;
}

/*
 * What a clock of @trace is called: as its node is, but for a process that LTTng-UST traced by itself, of which a node has many: PROCNAME-VPID.
 */
static void name_clock(const struct cvl_trace *trace, const char *node,
		       const struct cvl_clock_class *class, const struct cvl_trace_opts *opts,
		       char *out, size_t size)
{
	const char *domain = cvl_trace_env(trace, "domain"),
		   *process = cvl_trace_env(trace, "procname"),
		   *vpid = cvl_trace_env(trace, "vpid");
	bool several = cvl_trace_clocks(trace) > 1;

	if (opts->node || !domain || strcmp(domain, "ust") || !process || !*process)
		process = vpid = NULL;
	snprintf(out, size, "%s%s%s%s%s", process ? process : node, vpid ? "-" : "",
		 vpid ? vpid : "", several ? "." : "", several ? class->name : "");
}

/* One clock of ours for each clock class of @trace, which stands at @place. */
static int add_clocks(struct cvl_session *s, const struct cvl_trace *trace, const char *node,
		      const char *place, const char *origin, const char *hash,
		      const struct stored *stored, const struct cvl_trace_opts *opts,
		      struct cvl_error *err)
{
	static const struct cvl_clock_class none = { .name = "", .rate_hz = 1000000000 };
	size_t n = cvl_trace_clocks(trace);
	uint64_t *first = calloc(n + 1, sizeof(*first));
	int rc = first ? first_ticks(trace, first, n, err) : no_memory(s, err);

	for (size_t i = 0; !rc && i < (n ? n : 1); i++) {
		const struct cvl_clock_class *class = n ? cvl_trace_clock(trace, i) : &none;
		char wanted[300], name[300];
		struct entry *e;
		struct cvl_clock c = {
			.name = name,
			.node = node,
			.trace = place,
			.clock_class = class->name,
			.rate_hz = rate_of(class, origin, opts),
			.resolution = cvl_trace_env_number(trace, "resolution"),
			.start_unix_ns = session_claimed_start(class),
			.base_tick = first[i],
			.format = "ctf",
			.origin = origin,
			.hash = hash,
			.foreign = true,
		};

		if (!cvl_trace_ours(trace) || !c.resolution)
			c.resolution = 1;
		name_clock(trace, node, class, opts, wanted, sizeof(wanted));
		unique_name(s, name, sizeof(name), wanted);
		if (c.start_unix_ns)
			set_epoch(s, wall_clock(c.start_unix_ns, first[i], c.rate_hz));
		e = add_entry(s, &c, class->uuid);
		if (!e || (stored && stored_copy(&e->stored, stored)))
			rc = no_memory(s, err);
	}
	free(first);
	return rc;
}

static void node_of(const struct cvl_trace *trace, const char *node, const char *path, char *out,
		    size_t size)
{
	const char *host = cvl_trace_env(trace, "hostname");

	if (node || (host && *host))
		snprintf(out, size, "%s", node ? node : host);
	else
		cvl_path_base(out, size, path);
}

struct adding {
	struct cvl_session *s;
	const struct cvl_trace_opts *opts;
	struct cvl_progress progress;
};

/* A directory for a trace called @name that is not there yet. */
static int new_place(const struct cvl_session *s, const char *wanted, char place[CVL_PATH_MAX],
		     struct cvl_error *err)
{
	char traces[CVL_PATH_MAX], name[300], clean[256];
	struct stat st;

	snprintf(clean, sizeof(clean), "%s", wanted);
	cvl_path_clean(clean);
	if (!cvl_path_join(traces, s->path, "traces"))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", s->path);
	if (mkdir(traces, 0777) && errno != EEXIST)
		return cvl_fail_errno(err, "make the directory", traces);
	snprintf(name, sizeof(name), "%s", clean);
	for (unsigned k = 2;; k++) {
		if (!cvl_path_join(place, traces, name))
			return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long",
					s->path);
		if (lstat(place, &st))
			return 0;
		snprintf(name, sizeof(name), "%s-%u", clean, k);
	}
}

/* Several trees are hashed or copied, one after the other. */
struct moving {
	const struct cvl_progress *progress; /* who is told of all of them, or NULL */
	uint64_t before, now;                /* bytes of those before, and of this one */
};

static bool tell_moved(void *ctx, uint64_t done, uint64_t total)
{
	struct moving *m = ctx;

	(void)total;
	m->before += done < m->now ? m->now : 0;
	m->now = done;
	return !cvl_progress_tell(m->progress, m->before + done, 0, NULL);
}

static int place_trace(struct cvl_session *s, const char *path, const char *node, bool link,
		       const struct cvl_progress *progress, char place[CVL_PATH_MAX],
		       struct cvl_error *err)
{
	char *real;
	int rc = new_place(s, node, place, err);

	if (rc)
		return rc;
	if (!link) {
		rc = cvl_copy_tree(path, place, progress, err);
		if (rc)
			cvl_remove_tree(place, NULL);
		return rc;
	}
	real = realpath(path, NULL);
	if (!real || symlink(real, place))
		rc = cvl_fail_errno(err, "link", path);
	free(real);
	return rc;
}

static int set_hash(const struct cvl_session *s, struct entry *e, const char *hash,
		    struct cvl_error *err)
{
	char *copy = strdup(hash);

	if (!copy)
		return no_memory(s, err);
	free(e->hash);
	e->hash = copy;
	e->pub.hash = copy;
	return 0;
}

/* Tell if one of the first @n clocks came of the same bytes as @origin does. */
static void tell_again(const struct cvl_session *s, size_t n, const char *origin, const char *hash,
		       const struct cvl_report *report)
{
	struct cvl_error again;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(s->clock[i].hash, hash) != 0)
			continue;
		cvl_fail(
			&again, CVL_E_MISMATCH, CVL_NO_OFFSET,
			"%s: seems to be in the session already, as the clock %s, imported from %s",
			origin, s->clock[i].name, s->clock[i].origin);
		cvl_tell(report, &again);
		return;
	}
}

int session_source(struct cvl_session *s, size_t first, const char *digest,
		   const struct cvl_report *report, struct cvl_error *err)
{
	int rc = 0;

	if (first >= s->n)
		return 0;
	tell_again(s, first, s->clock[first].origin, digest, report);
	for (size_t i = first; i < s->n && !rc; i++)
		rc = set_hash(s, &s->clock[i], digest, err);
	return rc ? rc : save(s, err);
}

static int add_one_trace(void *ctx, const char *path, struct cvl_error *err)
{
	struct adding *a = ctx;
	char place[CVL_PATH_MAX], node[256], hash[CVL_HASH_TEXT];
	struct stored stored = { 0 };
	struct cvl_trace *trace;
	int rc = cvl_trace_open(&trace, path, a->opts->report, err);

	if (rc)
		return rc;
	node_of(trace, a->opts->node, path, node, sizeof(node));
	rc = cvl_hash_tree(path, hash, &a->progress, err);
	if (!rc)
		tell_again(a->s, a->s->n, path, hash, a->opts->report);
	if (!rc)
		rc = place_trace(a->s, path, node, a->opts->link, &a->progress, place, err);
	if (!rc)
		rc = stored_look(&stored, place, err);
	if (!rc)
		rc = add_clocks(a->s, trace, node, place, path, hash, &stored, a->opts, err);
	stored_free(&stored);
	cvl_trace_close(trace);
	return rc ? rc : save(a->s, err);
}

/* What a clock holds whose packets are somebody else's, and all there. */
static int seal(struct cvl_session *s, struct entry *e, const struct cvl_progress *progress,
		struct cvl_error *err)
{
	char hash[CVL_HASH_TEXT];
	int rc = cvl_hash_tree(e->trace, hash, progress, err);

	if (!rc)
		rc = stored_look(&e->stored, e->trace, err);
	return rc ? rc : set_hash(s, e, hash, err);
}

/* The trace of a clock that was placed already, or -1: a trace may hold several clocks. */
static int placed_with(const struct cvl_session *from, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(from->clock[k].trace, from->clock[i].trace))
			return (int)k;
	return -1;
}

/* As if the clocks from @first on had never been added. */
static void take_back(struct cvl_session *s, size_t first)
{
	while (s->n > first) {
		cvl_remove_tree(s->clock[--s->n].trace, NULL);
		entry_free(&s->clock[s->n]);
	}
}

int cvl_session_join(struct cvl_session *s, const struct cvl_session *from, bool link,
		     const struct cvl_progress *progress, struct cvl_error *err)
{
	struct moving moving = { .progress = progress };
	const struct cvl_progress each = { tell_moved, &moving };
	int64_t epoch = s->epoch;
	size_t first = s->n;
	int rc = 0;

	for (size_t i = 0; i < from->n && !rc; i++) {
		struct cvl_clock c = from->clock[i].pub;
		char name[300], place[CVL_PATH_MAX];
		int with = placed_with(from, i);
		struct entry *e;

		if (c.growing)
			rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				      "%s: the clock %s is still being captured; stop it first",
				      from->path, c.name);
		else if (s->n >= CLOCKS_MAX)
			rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: more than %d clocks",
				      s->path, CLOCKS_MAX);
		if (rc)
			break;
		unique_name(s, name, sizeof(name), c.name);
		if (with >= 0)
			snprintf(place, sizeof(place), "%s", s->clock[first + (size_t)with].trace);
		else
			rc = place_trace(s, c.trace, name, link, &each, place, err);
		if (rc)
			break;
		c.name = name;
		c.trace = place;
		set_epoch(s, wall_clock(c.start_unix_ns, c.base_tick, c.rate_hz));
		e = add_entry(s, &c, from->clock[i].uuid);
		if (!e || stored_copy(&e->stored, &from->clock[i].stored))
			rc = no_memory(s, err);
		else if (c.foreign && !*c.hash && !c.unfinished)
			rc = seal(s, e, &each, err);
	}
	if (!rc)
		return save(s, err);
	take_back(s, first);
	s->epoch = epoch;
	return rc;
}

int cvl_session_add_trace(struct cvl_session *s, const char *path,
			  const struct cvl_trace_opts *opts, struct cvl_error *err)
{
	struct moving moving = { .progress = &opts->progress };
	struct adding a = { s, opts, { tell_moved, &moving } };
	unsigned found = 0;
	int rc = each_trace(path, 0, add_one_trace, &a, &found, err);

	if (!rc && !found)
		rc = cvl_fail(
			err, CVL_E_MISSING, CVL_NO_OFFSET,
			"%s: no CTF trace here: neither it nor a directory in it holds a file called metadata",
			path);
	return rc;
}

static int open_one_trace(void *ctx, const char *path, struct cvl_error *err)
{
	struct adding *a = ctx;
	struct cvl_trace *trace;
	char node[256];
	int rc = cvl_trace_open(&trace, path, a->opts->report, err);

	if (rc)
		return rc;
	node_of(trace, NULL, path, node, sizeof(node));
	rc = add_clocks(a->s, trace, node, path, path, "", NULL, a->opts, err);
	cvl_trace_close(trace);
	return rc;
}

/* ---- opening ---- */

/* Sessions below a directory that is none: as many as a message can name. */
struct below {
	char names[200];
	unsigned n;
};

static void add_below(struct below *b, const char *path)
{
	const char *name = b->n < 3 && strlen(path) < 60 ? path : "...";
	size_t used = strlen(b->names);

	if (b->n++ < 4)
		snprintf(b->names + used, sizeof(b->names) - used, "%s%.60s", used ? ", " : "",
			 name);
}

/* Not into sessions, nor into directories that cannot be read. */
static void find_sessions(const char *path, int depth, struct below *b)
{
	char sub[CVL_PATH_MAX], file[CVL_PATH_MAX];
	struct dirent **list;
	int n = depth < SEARCH_DEPTH ? scandir(path, &list, NULL, alphasort) : -1;

	for (int i = 0; i < n; i++) {
		if (list[i]->d_name[0] != '.' && cvl_path_join(sub, path, list[i]->d_name) &&
		    cvl_is_dir(sub) && cvl_path_join(file, sub, "session.json")) {
			if (cvl_is_file(file))
				add_below(b, sub);
			else
				find_sessions(sub, depth + 1, b);
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

/* Open what is no session of ours: traces at or under @path. */
static int open_traces(struct cvl_session *s, const char *path, const struct cvl_report *report,
		       struct cvl_error *err)
{
	const struct cvl_trace_opts opts = { .report = report };
	struct adding a = { s, &opts, { NULL, NULL } };
	struct below below = { 0 };
	unsigned found = 0;
	int rc;

	find_sessions(path, 0, &below);
	if (below.n)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s holds %s: %s; name %s", path,
				below.n == 1 ? "a session" : "sessions", below.names,
				below.n == 1 ? "that" : "one");
	snprintf(s->uuid, sizeof(s->uuid), "00000000-0000-0000-0000-000000000000");
	rc = each_trace(path, 0, open_one_trace, &a, &found, err);
	if (!rc && !found)
		rc = cvl_fail(
			err, CVL_E_MISSING, CVL_NO_OFFSET,
			"%s: neither a session (no session.json) nor a CTF trace (no metadata)",
			path);
	return rc;
}

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
				"%s: CTF traces, but no session: nothing to compare them with",
				path);
	}
	s = session_new(path);
	if (!s)
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "%s: out of memory", path);
	rc = load(s, file, jsonfile_read_as_it_is, err);
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
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "%s: out of memory", path);
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
		rc = load(s, file, jsonfile_read, err);
	} else {
		rc = open_traces(s, path, report, err);
	}
	if (rc) {
		cvl_session_close(s);
		return rc;
	}
	for (size_t i = 0; i < s->n; i++)
		if (placed_with(s, i) < 0)
			stored_check(&s->clock[i].stored, s->clock[i].trace, report);
	*out = s;
	return 0;
}

static bool is_empty_dir(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	bool empty = dir != NULL;

	while (dir && (d = readdir(dir)))
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			empty = false;
	if (dir)
		closedir(dir);
	return empty;
}

int cvl_session_create(struct cvl_session **out, const char *path, struct cvl_error *err)
{
	char file[CVL_PATH_MAX];
	struct cvl_session *s = session_new(path);
	int rc = 0;

	*out = NULL;
	if (!s)
		return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "%s: out of memory", path);
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
		else if (flock(s->lock_fd, LOCK_EX | LOCK_NB))
			rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				      "%s: another coeval is adding to this session; wait for it",
				      path);
	}
	if (!rc && cvl_is_file(file)) {
		rc = load(s, file, jsonfile_read, err);
	} else if (!rc && !is_empty_dir(path)) {
		rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			      "%s holds files, but is not a session; name another directory", path);
	} else if (!rc) {
		uint8_t uuid[16];
		time_t now = time(NULL);
		struct tm tm;

		cvl_uuid_random(uuid);
		cvl_uuid_text(uuid, s->uuid);
		strftime(s->created, sizeof(s->created), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
		rc = save(s, err);
		s->made = !rc;
	}
	if (rc)
		cvl_session_close(s);
	else
		*out = s;
	return rc;
}

/* ---- clocks of our own ---- */

/* UUID of clock @e, which gets one now if it has none: another trace is of the same clock. */
static const char *shared_uuid(struct entry *e)
{
	char text[CVL_UUID_TEXT], *copy;
	uint8_t uuid[16];

	if (*e->uuid)
		return e->uuid;
	cvl_uuid_random(uuid);
	cvl_uuid_text(uuid, text);
	copy = strdup(text);
	if (!copy)
		return NULL;
	free(e->uuid);
	e->uuid = copy;
	e->pub.uuid = copy;
	return copy;
}

/* The clock of session @s that @d is said to be becomes the model of @d; @uuid is theirs. */
static int take_after(struct cvl_session *s, struct cvl_store_desc *d, const char **uuid,
		      struct cvl_error *err)
{
	int i = cvl_session_find(s, d->same_as);

	if (i < 0)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: unknown clock %s", s->path,
				d->same_as);
	d->rate_hz = s->clock[i].pub.rate_hz;
	d->resolution = s->clock[i].pub.resolution;
	d->start_unix_ns = s->clock[i].pub.start_unix_ns;
	d->base_tick = s->clock[i].pub.base_tick;
	d->node = s->clock[i].node;
	*uuid = shared_uuid(&s->clock[i]);
	return *uuid ? 0 : no_memory(s, err);
}

int cvl_session_add(struct cvl_session *s, const struct cvl_store_desc *desc,
		    const struct cvl_origin *origin, struct cvl_writer **w, struct cvl_error *err)
{
	char name[300], place[CVL_PATH_MAX], traces[CVL_PATH_MAX];
	struct cvl_store_desc d = *desc;
	struct cvl_clock c = {
		.name = name,
		.trace = place,
		.clock_class = "ticks",
		.format = origin->format,
		.origin = origin->path,
		.hash = origin->hash,
		.unfinished = true,
	};
	const char *uuid = NULL;
	struct entry *e;
	int rc;

	*w = NULL;
	if (d.same_as) {
		rc = take_after(s, &d, &uuid, err);
		if (rc)
			return rc;
	}
	if (!d.rate_hz || d.rate_hz > INT64_MAX || d.resolution > INT64_MAX)
		return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET,
				"%s: a clock cannot have %" PRIu64 " Hz", s->path, d.rate_hz);
	c.rate_hz = d.rate_hz;
	c.resolution = d.resolution ? d.resolution : 1;
	c.start_unix_ns = d.start_unix_ns;
	c.start_bound_ns = d.start_bound_ns;
	c.base_tick = d.base_tick;
	if (s->n >= CLOCKS_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: more than %d clocks", s->path,
				CLOCKS_MAX);
	unique_name(s, name, sizeof(name), desc->clock ? desc->clock : "");
	c.node = d.node ? d.node : name;
	d.clock = name;
	d.node = c.node;
	if (!cvl_path_join(traces, s->path, "traces") || !cvl_path_join(place, traces, name))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", s->path);
	if (mkdir(traces, 0777) && errno != EEXIST)
		return cvl_fail_errno(err, "make the directory", traces);
	rc = cvl_writer_open(w, place, &d, err);
	if (rc)
		return rc;
	set_epoch(s, wall_clock(d.start_unix_ns, d.base_tick, d.rate_hz));
	e = add_entry(s, &c, uuid);
	if (!e) {
		cvl_writer_abandon(*w);
		*w = NULL;
		return no_memory(s, err);
	}
	e->writer = *w;
	rc = save(s, err);
	if (rc) {
		e->writer = NULL;
		cvl_writer_abandon(*w);
		*w = NULL;
		entry_free(e);
		s->n--;
	}
	return rc;
}

int cvl_session_resume(struct cvl_session *s, size_t i, const struct cvl_store_desc *desc,
		       struct cvl_writer **w, struct cvl_tick *last, struct cvl_error *err)
{
	struct entry *e = &s->clock[i];
	struct cvl_store_desc d = *desc;
	int rc;

	*w = NULL;
	if (e->pub.foreign || e->writer)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"%s: the clock %s cannot be resumed", s->path, e->name);
	d.clock = e->name;
	d.node = e->node;
	d.start_unix_ns = e->pub.start_unix_ns;
	d.base_tick = e->pub.base_tick;
	rc = cvl_writer_resume(w, e->trace, &d, last, err);
	if (rc)
		return rc;
	e->writer = *w;
	e->pub.unfinished = true;
	stored_free(&e->stored);
	return save(s, err);
}

int cvl_session_finish(struct cvl_session *s, struct cvl_writer *w, struct cvl_tick end,
		       struct cvl_error *err)
{
	struct cvl_stored sum;
	int rc = cvl_writer_finish(w, end, &sum, err);

	for (size_t i = 0; i < s->n; i++) {
		if (s->clock[i].writer != w)
			continue;
		s->clock[i].writer = NULL;
		if (!rc && stored_take(&s->clock[i].stored, &sum))
			rc = no_memory(s, err);
		if (!rc)
			s->clock[i].pub.unfinished = false;
	}
	return rc ? rc : save(s, err);
}

/* ---- packets of others ---- */

int cvl_session_add_packets(struct cvl_session *s, const struct cvl_packets_desc *d,
			    const struct cvl_origin *origin, struct cvl_packets **p,
			    struct cvl_error *err)
{
	char name[300], place[CVL_PATH_MAX];
	struct cvl_trace *trace = NULL;
	const struct cvl_clock_class *class;
	struct entry *e;
	int rc;

	*p = NULL;
	rc = cvl_trace_parse(&trace, d->metadata, d->n, origin->path, err);
	if (!rc && cvl_trace_clocks(trace) != 1)
		rc = cvl_fail(err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
			      "%s: metadata of %zu clocks; packets are taken of one", origin->path,
			      cvl_trace_clocks(trace));
	if (!rc && s->n >= CLOCKS_MAX)
		rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: more than %d clocks", s->path,
			      CLOCKS_MAX);
	if (!rc) {
		unique_name(s, name, sizeof(name), d->clock);
		rc = new_place(s, name, place, err);
	}
	if (!rc)
		rc = cvl_packets_open(p, place, d->metadata, d->n, err);
	if (rc) {
		cvl_trace_close(trace);
		return rc;
	}
	class = cvl_trace_clock(trace, 0);
	e = add_entry(s,
		      &(struct cvl_clock){ .name = name,
					   .node = d->node ? d->node : name,
					   .trace = place,
					   .clock_class = class->name,
					   .rate_hz = class->rate_hz,
					   .resolution = 1,
					   .start_unix_ns = session_claimed_start(class),
					   .format = origin->format,
					   .origin = origin->path,
					   .hash = origin->hash,
					   .foreign = true,
					   .unfinished = true },
		      class->uuid);
	cvl_trace_close(trace);
	if (!e) {
		cvl_packets_close(*p, NULL);
		*p = NULL;
		return no_memory(s, err);
	}
	e->packets = *p;
	return save(s, err);
}

static struct entry *entry_of(struct cvl_session *s, const struct cvl_packets *p)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->clock[i].packets == p)
			return &s->clock[i];
	return NULL;
}

int cvl_session_place_packets(struct cvl_session *s, const struct cvl_packets *p,
			      struct cvl_tick first, struct cvl_error *err)
{
	struct cvl_clock *c = &entry_of(s, p)->pub;

	c->base_tick = first.count;
	if (c->start_unix_ns)
		set_epoch(s, wall_clock(c->start_unix_ns, first.count, c->rate_hz));
	return save(s, err);
}

int cvl_session_resume_packets(struct cvl_session *s, size_t i, uint64_t keep,
			       struct cvl_packets **p, struct cvl_error *err)
{
	struct entry *e = &s->clock[i];
	int rc;

	*p = NULL;
	if (!e->pub.foreign || e->packets)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"%s: the clock %s cannot be resumed", s->path, e->name);
	rc = cvl_packets_resume(p, e->trace, keep, err);
	if (rc)
		return rc;
	e->packets = *p;
	e->pub.unfinished = true;
	stored_free(&e->stored);
	return save(s, err);
}

int cvl_session_finish_packets(struct cvl_session *s, struct cvl_packets *p, bool complete,
			       struct cvl_error *err)
{
	struct entry *e = entry_of(s, p);
	int rc = cvl_packets_close(p, err);

	e->packets = NULL;
	if (!rc && complete) {
		e->pub.unfinished = false;
		rc = seal(s, e, NULL, err);
	}
	return rc ? rc : save(s, err);
}

/* ---- taking clocks out ---- */

static bool has_trace(const struct cvl_session *s, const char *trace)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->clock[i].trace, trace))
			return true;
	return false;
}

int session_take_out(struct cvl_session *s, const bool *out, struct cvl_error *err)
{
	struct entry *gone = malloc((s->n + 1) * sizeof(*gone));
	size_t all = s->n, n_gone = 0;
	struct stat st;
	int rc;

	if (!gone)
		return no_memory(s, err);
	s->n = 0;
	for (size_t i = 0; i < all; i++)
		if (out[i])
			gone[n_gone++] = s->clock[i];
		else
			s->clock[s->n++] = s->clock[i];
	for (size_t i = 0; i < s->n; i++)
		s->clock[i].pub.same_as = find_same(s, i);
	s->made = false; /* it had clocks */
	rc = save(s, err);
	for (size_t i = 0; i < n_gone; i++) {
		if (!rc && !has_trace(s, gone[i].trace) && !lstat(gone[i].trace, &st))
			rc = cvl_remove_tree(gone[i].trace, err);
		entry_free(&gone[i]);
	}
	free(gone);
	return rc;
}

/* ---- asking ---- */

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

struct cvl_map *cvl_session_nominal(const struct cvl_session *s, size_t i)
{
	const struct cvl_clock *c = &s->clock[i].pub;
	struct cvl_tick tick = { 0 };
	struct cvl_time time = { 0 };

	if (c->start_unix_ns && s->has_epoch)
		time.ns = c->start_unix_ns - s->epoch;
	else
		tick.count = c->base_tick;
	return cvl_map_nominal(c->rate_hz, tick, time);
}
