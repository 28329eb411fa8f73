/* SPDX-License-Identifier: MIT */
#include <coeval/sync.h>

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
