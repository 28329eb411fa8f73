/* SPDX-License-Identifier: MIT */
#include "store/derived.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <coeval/sync.h>

#include "store/maps.h"

bool derived_path(const struct cvl_session *s, const char *name, bool make, char path[CVL_PATH_MAX])
{
	char base[CVL_PATH_MAX], folder[CVL_PATH_MAX];

	if (!cvl_path_join(path, cvl_session_path(s), "session.json") || !cvl_is_file(path) ||
	    cvl_sync_folder(base, s, make, NULL) < 0 ||
	    !cvl_path_join(folder, base, MAPS_OF_SYNC) || !cvl_path_join(path, folder, name))
		return false;
	if (make)
		mkdir(folder, 0777);
	return true;
}

/* The time of change of the inode counts too: it cannot be set back. Returns the length; 0: no such file. */
static int put_stamp(char *text, size_t size, const char *trace, const char *file)
{
	char path[CVL_PATH_MAX];
	struct stat st;

	if (!cvl_path_join(path, trace, file) || stat(path, &st))
		return 0;
	return snprintf(text, size, "%lld bytes, %lld.%09ld, %lld.%09ld", (long long)st.st_size,
			(long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
			(long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
}

bool derived_stamp(const char *trace, const char *stream, char text[DERIVED_STAMP])
{
	const int n = put_stamp(text, DERIVED_STAMP, trace, stream);

	if (!n || n + 2 >= DERIVED_STAMP)
		return false;
	strcpy(text + n, "; ");
	return put_stamp(text + n + 2, DERIVED_STAMP - (size_t)n - 2, trace, "metadata") > 0;
}
