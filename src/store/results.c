/* SPDX-License-Identifier: MIT */
#include <coeval/sync.h>

#include "store/maps.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_UUID "00000000-0000-0000-0000-000000000000" /* of traces without session.json */

static bool writable(const char *folder)
{
	return !access(folder, W_OK) || (errno != EACCES && errno != EROFS && errno != EPERM);
}

/* The user's cache; false if there is none. */
static bool user_cache(char path[CVL_PATH_MAX])
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (cache && *cache == '/')
		n = snprintf(path, CVL_PATH_MAX, "%s", cache);
	else if (home && *home == '/')
		n = snprintf(path, CVL_PATH_MAX, "%s/.cache", home);
	else
		return false;
	return n < CVL_PATH_MAX;
}

/* @folder becomes @folder/@name, and is made if need be. */
static int go_down(char folder[CVL_PATH_MAX], const char *name, bool make, struct cvl_error *err)
{
	char path[CVL_PATH_MAX];

	if (!cvl_path_join(path, folder, name))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", folder);
	strcpy(folder, path);
	return make && mkdir(folder, 0700) && errno != EEXIST ?
		       cvl_fail_errno(err, "create", folder) :
		       0;
}

int cvl_sync_folder(char folder[CVL_PATH_MAX], const struct cvl_session *session, bool make,
		    struct cvl_error *err)
{
	const char *own = cvl_session_path(session), *uuid = cvl_session_uuid(session);
	int rc;

	if (!writable(own) && strcmp(uuid, NO_UUID) != 0 && user_cache(folder)) {
		if (make)
			mkdir(folder, 0700);
		rc = go_down(folder, "coeval", make, err);
		rc = rc ? rc : go_down(folder, uuid, make, err);
		return rc ? rc : 1;
	}
	if (strlen(own) >= CVL_PATH_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", own);
	strcpy(folder, own);
	return 0;
}

static bool derived(char folder[CVL_PATH_MAX], const struct cvl_session *s)
{
	char base[CVL_PATH_MAX];

	return cvl_sync_folder(base, s, false, NULL) >= 0 &&
	       cvl_path_join(folder, base, MAPS_OF_SYNC) && cvl_is_dir(folder);
}

uint64_t cvl_session_derived(const struct cvl_session *s)
{
	char folder[CVL_PATH_MAX], path[CVL_PATH_MAX];
	DIR *dir = derived(folder, s) ? opendir(folder) : NULL;
	const struct dirent *d;
	uint64_t bytes = 0;
	struct stat st;

	while (dir && (d = readdir(dir)))
		if (cvl_path_join(path, folder, d->d_name) && !lstat(path, &st) &&
		    S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	if (dir)
		closedir(dir);
	return bytes;
}

int cvl_session_forget(const struct cvl_session *s, bool (*see)(void *ctx, const char *path),
		       void *ctx, struct cvl_error *err)
{
	char folder[CVL_PATH_MAX];
	int follower, lock, rc;

	if (!derived(folder, s))
		return 0;
	rc = maps_follow(folder, &follower, err);
	if (rc)
		return rc;
	if (see(ctx, folder)) {
		lock = maps_lock(folder, true);
		rc = cvl_remove_tree(folder, err);
		maps_unlock(lock);
	}
	maps_follow_end(folder, follower);
	return rc;
}
