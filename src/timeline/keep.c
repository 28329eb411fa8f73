/* SPDX-License-Identifier: MIT */
#include "timeline/keep.h"

#include <coeval/files.h>

#include <stdlib.h>
#include <string.h>

#include "store/maps.h"
#include "sync/problem.h"

struct keep {
	char folder[CVL_PATH_MAX];
	bool apart; /* from the session */
	int lock;
	struct maps_growing **map; /* of each clock, NULL if nothing was told of it */
	char (*name)[MAP_NAME];
	size_t n;
};

int keep_open(struct keep **out, const struct cvl_session *session, const struct cvl_report *report,
	      struct cvl_error *err)
{
	struct keep *k = calloc(1, sizeof(*k));
	char base[CVL_PATH_MAX];
	int rc;

	*out = NULL;
	if (!k)
		return cvl_no_memory(err);
	rc = cvl_sync_folder(base, session, true, err);
	if (rc >= 0 && !cvl_path_join(k->folder, base, MAPS_OF_SYNC))
		rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", base);
	if (rc > 0) {
		cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
			 "%s cannot be written: what is final is kept in %s",
			 cvl_session_path(session), base);
		cvl_tell(report, err);
	}
	if (rc >= 0)
		rc = maps_follow(k->folder, &k->lock, err);
	if (rc) {
		free(k);
		return rc;
	}
	*out = k;
	return 0;
}

int keep_open_apart(struct keep **out, const char *folder, struct cvl_error *err)
{
	struct keep *k = calloc(1, sizeof(*k));
	int rc;

	*out = NULL;
	if (!k)
		return cvl_no_memory(err);
	k->apart = true;
	snprintf(k->folder, sizeof(k->folder), "%s", folder);
	rc = maps_follow(k->folder, &k->lock, err);
	if (rc)
		free(k);
	else
		*out = k;
	return rc;
}

void keep_close(struct keep *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->n; i++)
		maps_grow_end(k->map[i]);
	free(k->map);
	free(k->name);
	maps_follow_end(k->folder, k->lock);
	free(k);
}

static int make_room(struct keep *k, size_t n, struct cvl_error *err)
{
	void *map = realloc(k->map, n * sizeof(*k->map)), *name;

	if (!map)
		return cvl_no_memory(err);
	k->map = map;
	name = realloc(k->name, n * sizeof(*k->name));
	if (!name)
		return cvl_no_memory(err);
	k->name = name;
	for (; k->n < n; k->n++) {
		k->map[k->n] = NULL;
		*k->name[k->n] = '\0';
	}
	return 0;
}

int keep_knot(void *keep, size_t clock, const struct cvl_knot *knot, struct cvl_error *err)
{
	struct keep *k = keep;
	int rc = clock < k->n ? 0 : make_room(k, clock + 1, err);

	if (!rc && !k->map[clock])
		rc = maps_grow(&k->map[clock], k->folder, k->name[clock], err);
	return rc ? rc : maps_grow_put(k->map[clock], knot, err);
}

/* Figures of all of it, once it is whole. */
static int save_whole(struct keep *k, const struct cvl_session *session, struct cvl_sync *sync,
		      const struct steps *s, struct cvl_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < sync->n && !rc; i++) {
		struct cvl_clock_sync *c = &sync->clock[i];
		struct cvl_tick first, last;

		if (!*k->name[i])
			continue;
		rc = maps_get(&c->map, k->folder, k->name[i], err);
		if (!rc && steps_records(s, i, &first, &last))
			sync_bounds(c, first, last);
	}
	return rc ? rc : cvl_sync_save(sync, session, err);
}

int keep_map(const struct keep *k, size_t clock, struct cvl_map **map, struct cvl_error *err)
{
	int rc = clock < k->n && k->map[clock] ? maps_get(map, k->folder, k->name[clock], err) :
						 CVL_E_MISSING;

	if (rc)
		*map = NULL;
	return rc == CVL_E_MISSING ? 0 : rc;
}

int keep_commit(struct keep *k, const struct cvl_session *session, const struct steps *s,
		struct cvl_error *err)
{
	const bool whole = !k->apart && steps_final(s) == INT64_MAX;
	struct cvl_sync *sync;
	int rc = steps_summary(s, &sync, err);

	if (rc || !sync)
		return rc;
	rc = sync->n <= k->n ? 0 : make_room(k, sync->n, err);
	for (size_t i = 0; i < k->n && !rc; i++) {
		struct cvl_map_spec spec;

		if (!k->map[i])
			continue;
		steps_spec(s, i, &spec);
		rc = maps_grow_commit(k->map[i], &spec, whole, err);
	}
	if (!rc && !k->apart)
		rc = whole ? save_whole(k, session, sync, s, err) :
			     sync_save_growing(sync, session, k->name, err);
	cvl_sync_free(sync);
	return rc;
}
