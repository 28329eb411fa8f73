/* SPDX-License-Identifier: MIT */
/* Traces of other programs: opened as a session, or added to one. */
#include "store/session_internal.h"

#include "store/hash.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

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
	if (depth >= SESSION_SEARCH_DEPTH)
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

/* First tick of each clock of @trace, or 0; reads only the start of each stream. */
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

	return c->no_epoch || ns > INT64_MAX || ns < INT64_MIN ? 0 : (int64_t)ns;
}

/*
 * The rate of clock class @class, or the one given by the user if the metadata has none.
 * Assumptions are reported.
 */
static uint64_t rate_of(const struct cvl_clock_class *class, const char *path,
			const struct cvl_trace_opts *opts)
{
	struct cvl_error told = { .code = CVL_OK };
	const bool none = !class->implied && !*class->name;

	if (none) {
		cvl_fail(&told, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
			 "%s/metadata: its events have no timestamps: all are placed at time 0",
			 path);
	} else if (class->implied && !opts->clock_rate_hz) {
		cvl_fail(&told, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
			 "%s/metadata: no clock is declared for its timestamps: 1 GHz is assumed",
			 path);
		cvl_hint(&told, CVL_HINT_CLOCK_RATE, 0);
	} else if (class->variable) {
		cvl_fail(
			&told, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
			"%s/metadata: timestamps of variable length: taken to continue by 7 bits a byte",
			path);
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
 * Name for a clock of @trace: that of its node, or PROCNAME-VPID for a single process traced by
 * LTTng-UST, since a node may have many.
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

/* What @ticks of the clock class are in ns, at most INT64_MAX. */
static int64_t in_ns(const struct cvl_clock_class *class, uint64_t ticks)
{
	const unsigned __int128 ns =
		((unsigned __int128)ticks * 1000000000u + class->rate_hz - 1) / class->rate_hz;

	return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

/* Ticks between which it cannot tell: of ours as it is stored, else what the clock class states. */
static uint64_t resolution_of(const struct cvl_trace *trace, const struct cvl_clock_class *class)
{
	const uint64_t ticks = cvl_trace_ours(trace) ? cvl_trace_env_number(trace, "resolution") :
						       class->precision;

	return !ticks ? 1 : ticks > INT64_MAX ? INT64_MAX : ticks;
}

/* Add one clock for each clock class of @trace, which is stored at @place. */
static int add_clocks(struct cvl_session *s, const struct cvl_trace *trace, const char *node,
		      const char *place, const char *origin, const char *hash,
		      const struct stored *stored, const struct cvl_trace_opts *opts,
		      struct cvl_error *err)
{
	static const struct cvl_clock_class none = { .name = "", .rate_hz = 1000000000 };
	size_t n = cvl_trace_clocks(trace);
	uint64_t *first = calloc(n + 1, sizeof(*first));
	int rc = first ? first_ticks(trace, first, n, err) : cvl_no_memory(err);

	for (size_t i = 0; !rc && i < (n ? n : 1); i++) {
		const struct cvl_clock_class *class = n ? cvl_trace_clock(trace, i) : &none;
		char wanted[300], name[300];
		struct session_entry *e;
		struct cvl_clock c = {
			.name = name,
			.node = node,
			.trace = place,
			.clock_class = class->name,
			.rate_hz = rate_of(class, origin, opts),
			.resolution = resolution_of(trace, class),
			.start_unix_ns = session_claimed_start(class),
			.start_bound_ns = class->no_epoch ? 0 : in_ns(class, class->accuracy),
			.base_tick = first[i],
			.format = "ctf",
			.origin = origin,
			.hash = hash,
			.foreign = true,
		};

		name_clock(trace, node, class, opts, wanted, sizeof(wanted));
		session_unique_name(s, name, sizeof(name), wanted);
		session_set_epoch(s, session_wall_clock(&c));
		e = session_add_entry(s, &c, class->uuid);
		if (!e || (stored && stored_copy(&e->stored, stored)))
			rc = cvl_no_memory(err);
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
		session_tell_again(a->s, a->s->n, path, hash, a->opts->report);
	if (!rc)
		rc = session_place_trace(a->s, path, node, a->opts->link, &a->progress, place, err);
	if (!rc)
		rc = stored_look(&stored, place, err);
	if (!rc)
		rc = add_clocks(a->s, trace, node, place, path, hash, &stored, a->opts, err);
	stored_free(&stored);
	cvl_trace_close(trace);
	return rc ? rc : session_save(a->s, err);
}

int cvl_session_add_trace(struct cvl_session *s, const char *path,
			  const struct cvl_trace_opts *opts, struct cvl_error *err)
{
	struct session_moving moving = { .progress = &opts->progress };
	struct adding a = { s, opts, { session_tell_moved, &moving } };
	unsigned found = 0;
	int rc = each_trace(path, 0, add_one_trace, &a, &found, err);

	if (!rc && !found)
		rc = cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET,
			      "%s: no CTF trace: no metadata file in this directory or below it",
			      path);
	return rc;
}

/* ---- opened as a session ---- */

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

/* Sessions below a directory that is not one: as many as a message can name. */
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

/* Does not descend into sessions or unreadable directories. */
static void find_sessions(const char *path, int depth, struct below *b)
{
	char sub[CVL_PATH_MAX], file[CVL_PATH_MAX];
	struct dirent **list;
	int n = depth < SESSION_SEARCH_DEPTH ? scandir(path, &list, NULL, alphasort) : -1;

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

int session_open_traces(struct cvl_session *s, const char *path, const struct cvl_report *report,
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
