/* SPDX-License-Identifier: MIT */
/*
 * sync.json: verdicts, settings, and the names of the files that hold the clock maps. Version 1 held
 * the maps itself. docs/session.md describes both.
 */
#include <coeval/sync.h>

#include <coeval/files.h>
#include "store/jsonfile.h"
#include "store/maps.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KNOTS_MAX (1u << 22)

const char *cvl_verdict_name(enum cvl_verdict verdict)
{
	switch (verdict) {
	case CVL_GOOD: return "good";
	case CVL_DEGRADED: return "degraded";
	case CVL_AMBIGUOUS: return "ambiguous";
	case CVL_UNSYNCHRONISED: break;
	}
	return "unsynchronised";
}

void cvl_sync_free(struct cvl_sync *sync)
{
	if (!sync)
		return;
	for (size_t i = 0; i < sync->n; i++) {
		free(sync->clock[i].clock);
		cvl_map_free(sync->clock[i].map);
	}
	free(sync->clock);
	free(sync->estimator);
	free(sync->reference);
	free(sync->settings);
	free(sync);
}

const struct cvl_clock_sync *cvl_sync_find(const struct cvl_sync *sync, const char *name)
{
	for (size_t i = 0; i < sync->n; i++)
		if (!strcmp(sync->clock[i].clock, name))
			return &sync->clock[i];
	return NULL;
}

const struct cvl_clock_sync *cvl_sync_of(const struct cvl_sync *sync,
					 const struct cvl_session *session, size_t i)
{
	const struct cvl_clock *c = cvl_session_clock(session, i);
	const struct cvl_clock_sync *found = cvl_sync_find(sync, c->name);

	if (!found && c->same_as >= 0)
		found = cvl_sync_find(sync, cvl_session_clock(session, (size_t)c->same_as)->name);
	return found;
}

/* ---- writing ---- */

/* JSON has no infinity: unknown values are written as very large ones. */
static json_t *real(double v)
{
	return json_real(isfinite(v) ? v : 1e300);
}

static json_t *map_json(const struct cvl_map *map, const char *name)
{
	return json_pack("{s:i, s:s, s:I}", "epoch", 0, "file", name, "knots",
			 (json_int_t)cvl_map_ends(map, NULL, NULL));
}

/* @name: of the file of its map, if it has one. */
static json_t *clock_json(const struct cvl_clock_sync *c, const char *name)
{
	const struct cvl_residuals *r = &c->residuals;
	json_t *maps = json_array(), *j;

	if (c->map)
		json_array_append_new(maps, map_json(c->map, name));
	j = json_pack(
		"{s:s, s:s, s:s, s:o, s:o, s:{s:I, s:I}, s:{s:I, s:o, s:o, s:o, s:o}, s:I, s:I, s:I, s:o}",
		"clock", c->clock, "verdict", cvl_verdict_name(c->verdict), "reason", c->reason,
		"rate_ppb", real(c->rate_ppb), "rate_bound_ppb", real(c->rate_bound_ppb),
		"observations", "used", (json_int_t)c->used, "rejected", (json_int_t)c->rejected,
		"residuals_ns", "n", (json_int_t)r->n, "mean", real(r->mean), "sd", real(r->sd),
		"min", real(r->min), "max", real(r->max), "bound_min_ns", (json_int_t)c->bound_min,
		"bound_median_ns", (json_int_t)c->bound_median, "bound_max_ns",
		(json_int_t)c->bound_max, "maps", maps);
	if (c->group) {
		json_object_set_new(j, "group", json_integer(c->group));
		json_object_set_new(j, "ambiguous_ns", json_integer(c->turn_ns));
	}
	if (c->reference_ns) {
		json_object_set_new(j, "reference_ns", json_integer(c->reference_ns));
		json_object_set_new(j, "reference_is_max", json_boolean(c->reference_is_max));
	}
	if (*c->decided_by)
		json_object_set_new(j, "decided_by", json_string(c->decided_by));
	return j;
}

/* Read what only some clocks have. */
static void take_rest(const json_t *j, struct cvl_clock_sync *c)
{
	json_int_t group = json_integer_value(json_object_get(j, "group"));
	json_int_t reference = json_integer_value(json_object_get(j, "reference_ns"));
	const char *decided = json_string_value(json_object_get(j, "decided_by"));

	c->group = group > 0 && group < UINT32_MAX ? (uint32_t)group : 0;
	c->turn_ns = json_integer_value(json_object_get(j, "ambiguous_ns"));
	c->reference_ns = reference > 0 ? reference : 0;
	c->reference_is_max = json_is_true(json_object_get(j, "reference_is_max"));
	snprintf(c->decided_by, sizeof(c->decided_by), "%s", decided ? decided : "");
}

/* Write the maps of @sync to @folder; @name gets a name for each clock with one. */
static int save_maps(const struct cvl_sync *sync, const char *folder, char (*name)[MAP_NAME],
		     bool durable, struct cvl_error *err)
{
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < sync->n && !rc; i++)
		if (sync->clock[i].map)
			rc = maps_put(folder, sync->clock[i].map, name[n++], err);
	return rc || !durable ? rc : maps_sync(folder, name, n, err);
}

static json_t *sync_json(const struct cvl_sync *sync, char (*name)[MAP_NAME])
{
	json_t *clocks = json_array(), *settings = json_loads(sync->settings, 0, NULL), *root;
	size_t n = 0;

	for (size_t i = 0; i < sync->n; i++)
		json_array_append_new(
			clocks, clock_json(&sync->clock[i], sync->clock[i].map ? name[n++] : NULL));
	root = json_pack("{s:i, s:s, s:s, s:o, s:{s:s, s:I}, s:o}", "coeval_sync", JSONFILE_SYNC,
			 "session", sync->session, "estimator", sync->estimator, "settings",
			 settings ? settings : json_object(), "timescale", "reference",
			 sync->reference, "epoch_unix_ns", (json_int_t)sync->epoch_unix_ns,
			 "clocks", clocks);
	if (root && json_array_size(clocks) != sync->n) {
		json_decref(root);
		return NULL;
	}
	if (root && *sync->note)
		json_object_set_new(root, "note", json_string(sync->note));
	return root;
}

/* How sync.json and maps are saved. */
enum how {
	DURABLY,
	SOON, /* maps are not synced, those of the file that was replaced stay for one more time */
	GROWING, /* maps are not synced */
};

/* Maps come first; those of the file that was replaced go last, or with the next one. */
static int save_both(const struct cvl_sync *sync, const char *path, const char *folder,
		     enum how how, struct cvl_error *err)
{
	char(*name)[MAP_NAME] = NULL;
	size_t n = 0, old = 0;
	struct cvl_error inner;
	int rc;

	if (how != SOON || maps_named(path, &name, &old, sync->n, &inner)) {
		old = 0;
		free(name);
		name = malloc((sync->n + 1) * sizeof(*name));
	}
	rc = name ? save_maps(sync, folder, name + old, how == DURABLY, err) : cvl_no_memory(err);
	rc = rc ? rc : jsonfile_write(path, sync_json(sync, name + old), 0, err);
	for (size_t i = 0; i < sync->n; i++)
		n += sync->clock[i].map != NULL;
	if (!rc)
		maps_clean(folder, name, old + n, NULL, NULL);
	free(name);
	return rc;
}

static int paths_of(const struct cvl_session *session, const char *file, const char *maps,
		    char path[CVL_PATH_MAX], char folder[CVL_PATH_MAX], struct cvl_error *err)
{
	char base[CVL_PATH_MAX];
	int rc = cvl_sync_folder(base, session, true, err);

	if (rc < 0 || (cvl_path_join(path, base, file) && cvl_path_join(folder, base, maps)))
		return rc < 0 ? rc : 0;
	return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", base);
}

static int save(const struct cvl_sync *sync, const struct cvl_session *session, const char *file,
		const char *maps, enum how how, struct cvl_error *err)
{
	char path[CVL_PATH_MAX], folder[CVL_PATH_MAX];
	int rc = paths_of(session, file, maps, path, folder, err), lock;

	if (rc)
		return rc;
	lock = maps_lock(folder, true);
	rc = save_both(sync, path, folder, how, err);
	maps_unlock(lock);
	return rc;
}

int cvl_sync_save(const struct cvl_sync *sync, const struct cvl_session *session,
		  struct cvl_error *err)
{
	return save(sync, session, "sync.json", MAPS_OF_SYNC, DURABLY, err);
}

int sync_save_soon(const struct cvl_sync *sync, const struct cvl_session *session,
		   struct cvl_error *err)
{
	return save(sync, session, "sync.json", MAPS_OF_SYNC, SOON, err);
}

int sync_save_growing(const struct cvl_sync *sync, const struct cvl_session *session,
		      char (*name)[MAP_NAME], struct cvl_error *err)
{
	char path[CVL_PATH_MAX], folder[CVL_PATH_MAX];
	struct cvl_sync as_named = *sync; /* with the maps of these files */
	int rc = paths_of(session, "sync.json", MAPS_OF_SYNC, path, folder, err), lock;

	if (rc)
		return rc;
	as_named.clock = calloc(sync->n + 1, sizeof(*as_named.clock));
	if (!as_named.clock)
		return cvl_no_memory(err);
	lock = maps_lock(folder, true);
	for (size_t i = 0; i < sync->n; i++) {
		as_named.clock[i] = sync->clock[i];
		as_named.clock[i].map = NULL;
		if (!rc && *name[i])
			rc = maps_get(&as_named.clock[i].map, folder, name[i], err);
	}
	rc = rc ? rc : save_both(&as_named, path, folder, GROWING, err);
	maps_unlock(lock);
	for (size_t i = 0; i < sync->n; i++)
		cvl_map_free(as_named.clock[i].map);
	free(as_named.clock);
	return rc;
}

int cvl_truth_save(const struct cvl_sync *truth, const struct cvl_session *session,
		   struct cvl_error *err)
{
	return save(truth, session, "truth.json", MAPS_OF_TRUTH, DURABLY, err);
}

/* ---- reading ---- */

static int load_edge(json_t *j, struct cvl_map_edge *e)
{
	return json_unpack(j, "{s:F, s:F, s:F}", "rate_ppb", &e->rate_ppb, "drift_ppb",
			   &e->drift_ppb, "wander_ppb_s", &e->wander_ppb_s);
}

/* A map as version 1 has it: all of it. */
static int load_numbers(json_t *j, struct cvl_map **map, struct cvl_error *err)
{
	struct cvl_map_spec spec = { 0 };
	struct cvl_knot *knots;
	const char *kind;
	json_t *list, *before, *after, *k;
	json_int_t rate;
	size_t i;
	int epoch, rc = 0;

	if (json_unpack(j, "{s:i, s:I, s:s, s:o, s:o, s:o}", "epoch", &epoch, "rate_hz", &rate,
			"bound_kind", &kind, "before", &before, "after", &after, "knots", &list) ||
	    load_edge(before, &spec.before) || load_edge(after, &spec.after) || rate <= 0 ||
	    json_array_size(list) > KNOTS_MAX || !json_array_size(list))
		return cvl_fail(err, CVL_E_SYNTAX, 0, "malformed map");
	knots = calloc(json_array_size(list), sizeof(*knots));
	if (!knots)
		return cvl_no_memory(err);
	json_array_foreach(list, i, k)
	{
		json_int_t tick, ns, frac, bound;

		if (json_unpack(k, "[I, I, I, I]", &tick, &ns, &frac, &bound) || frac < 0 ||
		    frac > UINT32_MAX)
			rc = cvl_fail(err, CVL_E_SYNTAX, 0, "malformed knot %zu", i);
		else
			knots[i] = (struct cvl_knot){
				{ (uint64_t)tick }, { ns }, (uint32_t)frac, bound
			};
	}
	spec.rate_hz = (uint64_t)rate;
	spec.knots = knots;
	spec.n = json_array_size(list);
	spec.kind = CVL_BOUND_NONE;
	for (int c = CVL_BOUND_NONE; c <= CVL_BOUND_PROVEN; c++)
		if (!strcmp(kind, cvl_bound_kind_name((enum cvl_bound_kind)c)))
			spec.kind = (enum cvl_bound_kind)c;
	if (!rc)
		rc = cvl_map_new(map, &spec, err);
	free(knots);
	return rc;
}

static int load_map(json_t *j, const char *folder, struct cvl_map **map, struct cvl_error *err)
{
	const char *name = json_string_value(json_object_get(j, "file"));
	json_int_t knots = json_integer_value(json_object_get(j, "knots"));
	int rc = name ? maps_get(map, folder, name, err) : load_numbers(j, map, err);

	/* a map may have grown since */
	if (!rc && name && (knots < 1 || (uint64_t)knots > cvl_map_ends(*map, NULL, NULL)))
		rc = cvl_fail(err, CVL_E_MISMATCH, 0,
			      "%s has %zu knots, but %" JSON_INTEGER_FORMAT " are told here", name,
			      cvl_map_ends(*map, NULL, NULL), knots);
	return rc;
}

/* For files without this value, and so without the records it is between. */
static int64_t median_between_knots(const struct cvl_map *map)
{
	struct cvl_knot first, last;

	cvl_map_ends(map, &first, &last);
	return cvl_map_bound_median(map, first.tick, last.tick);
}

static int load_clock(json_t *j, const char *folder, struct cvl_clock_sync *c,
		      struct cvl_error *err)
{
	const char *name, *verdict, *reason;
	json_int_t used, rejected, n, bound_min, bound_max, bound_median = -1;
	struct cvl_residuals *r = &c->residuals;
	json_t *maps;
	json_error_t e;
	int rc;

	if (json_unpack_ex(
		    j, &e, 0,
		    "{s:s, s:s, s:s, s:F, s:F, s:{s:I, s:I}, s:{s:I, s:F, s:F, s:F, s:F}, s:I, s?I, s:I, s:o}",
		    "clock", &name, "verdict", &verdict, "reason", &reason, "rate_ppb",
		    &c->rate_ppb, "rate_bound_ppb", &c->rate_bound_ppb, "observations", "used",
		    &used, "rejected", &rejected, "residuals_ns", "n", &n, "mean", &r->mean, "sd",
		    &r->sd, "min", &r->min, "max", &r->max, "bound_min_ns", &bound_min,
		    "bound_median_ns", &bound_median, "bound_max_ns", &bound_max, "maps", &maps))
		return cvl_fail(err, CVL_E_SYNTAX, 0, "%s", e.text);
	c->clock = strdup(name);
	if (!c->clock)
		return cvl_no_memory(err);
	snprintf(c->reason, sizeof(c->reason), "%s", reason);
	for (int v = CVL_UNSYNCHRONISED; v <= CVL_GOOD; v++)
		if (!strcmp(verdict, cvl_verdict_name((enum cvl_verdict)v)))
			c->verdict = (enum cvl_verdict)v;
	c->used = (uint64_t)used;
	c->rejected = (uint64_t)rejected;
	r->n = (uint64_t)n;
	c->bound_min = bound_min;
	c->bound_max = bound_max;
	c->bound_median = bound_median;
	take_rest(j, c);
	if (!folder)
		return 0;
	if (json_array_size(maps) &&
	    (rc = load_map(json_array_get(maps, 0), folder, &c->map, err)) < 0)
		return rc;
	if (bound_median < 0 && c->map)
		c->bound_median = median_between_knots(c->map);
	return 0;
}

/*
 * The map of a clock in the session must be for its rate. Clocks no longer in the session are
 * ignored.
 */
static int compare(const struct cvl_clock_sync *c, const struct cvl_session *session,
		   struct cvl_error *err)
{
	uint64_t rate;

	if (!c->map)
		return 0;
	rate = cvl_map_rate_hz(c->map);
	for (size_t i = 0; i < cvl_session_clocks(session); i++) {
		const struct cvl_clock *is = cvl_session_clock(session, i);

		if (!strcmp(is->name, c->clock) && is->rate_hz != rate)
			return cvl_fail(err, CVL_E_MISMATCH, 0,
					"'%s' has %" PRIu64 " Hz here, but %" PRIu64
					" Hz in session.json",
					c->clock, rate, is->rate_hz);
	}
	return 0;
}

/* Where @file of @session is, and its @maps, if not NULL. False: there is none. */
static bool find(const struct cvl_session *session, const char *file, const char *maps,
		 char path[CVL_PATH_MAX], char folder[CVL_PATH_MAX])
{
	const char *own = cvl_session_path(session), *base = own;
	char cache[CVL_PATH_MAX];

	if (cvl_sync_folder(cache, session, false, NULL) > 0 && cvl_path_join(path, cache, file) &&
	    cvl_is_file(path))
		base = cache;
	return cvl_path_join(path, base, file) && cvl_path_join(folder, base, maps ? maps : "") &&
	       cvl_is_file(path);
}

/* @maps: the folder of its maps, or NULL to leave them out. */
static int load(struct cvl_sync **out, const struct cvl_session *session, const char *file,
		const char *maps, struct cvl_error *err)
{
	char path[CVL_PATH_MAX], folder[CVL_PATH_MAX];
	const char *uuid, *estimator, *reference, *note;
	json_t *root, *clocks, *settings, *j;
	struct cvl_sync *sync = NULL;
	struct cvl_error inner = { 0 };
	json_int_t epoch;
	json_error_t e;
	int rc;
	size_t i;

	*out = NULL;
	if (!find(session, file, maps, path, folder))
		return 0;
	root = jsonfile_read(path, "coeval_sync", JSONFILE_SYNC, err);
	if (!root)
		return err ? (int)err->code : CVL_E_SYNTAX;
	if (json_unpack_ex(root, &e, 0, "{s:s, s:s, s:o, s:{s:s, s:I}, s:o}", "session", &uuid,
			   "estimator", &estimator, "settings", &settings, "timescale", "reference",
			   &reference, "epoch_unix_ns", &epoch, "clocks", &clocks)) {
		rc = cvl_fail(err, CVL_E_SYNTAX, 0, "%s:0: %s", path, e.text);
		goto out;
	}
	if (strcmp(uuid, cvl_session_uuid(session)) != 0) {
		rc = cvl_fail(err, CVL_E_MISMATCH, 0, "%s:0: belongs to another session", path);
		goto out;
	}
	sync = calloc(1, sizeof(*sync));
	if (sync)
		sync->clock = calloc(json_array_size(clocks) + 1, sizeof(*sync->clock));
	if (!sync || !sync->clock) {
		rc = cvl_no_memory(err);
		goto out;
	}
	snprintf(sync->session, sizeof(sync->session), "%s", uuid);
	sync->estimator = strdup(estimator);
	sync->reference = strdup(reference);
	sync->settings = json_dumps(settings, 0);
	sync->epoch_unix_ns = epoch;
	note = json_string_value(json_object_get(root, "note"));
	snprintf(sync->note, sizeof(sync->note), "%s", note ? note : "");
	rc = 0;
	json_array_foreach(clocks, i, j)
	{
		sync->n++;
		rc = load_clock(j, maps ? folder : NULL, &sync->clock[i], &inner);
		if (!rc)
			rc = compare(&sync->clock[i], session, &inner);
		if (rc) {
			cvl_fail(err, inner.code, 0, "%s:0: clock %zu: %s", path, i, inner.text);
			goto out;
		}
	}
	*out = sync;
	sync = NULL;
	rc = 1;
out:
	cvl_sync_free(sync);
	json_decref(root);
	return rc;
}

int cvl_sync_load(struct cvl_sync **sync, const struct cvl_session *session, struct cvl_error *err)
{
	int rc = load(sync, session, "sync.json", MAPS_OF_SYNC, err), lock;
	char path[CVL_PATH_MAX], folder[CVL_PATH_MAX];

	if (rc == CVL_E_IO && find(session, "sync.json", MAPS_OF_SYNC, path, folder)) {
		/* its maps may be gone because it was just replaced: then there are others */
		lock = maps_lock(folder, false);
		rc = load(sync, session, "sync.json", MAPS_OF_SYNC, err);
		maps_unlock(lock);
	}
	return rc < 0 && rc != CVL_E_NOMEM ? cvl_hint(err, CVL_HINT_SYNC, rc) : rc;
}

int cvl_sync_load_settings(struct cvl_sync **sync, const struct cvl_session *session,
			   struct cvl_error *err)
{
	return load(sync, session, "sync.json", NULL, err);
}

int cvl_truth_load(struct cvl_sync **truth, const struct cvl_session *session,
		   struct cvl_error *err)
{
	return load(truth, session, "truth.json", MAPS_OF_TRUTH, err);
}
