/* SPDX-License-Identifier: MIT */
#include "beside.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <coeval/files.h>

int become(const char *program, char *const argv[], const char *install)
{
	static const char *const places[] = { "", COEVAL_LIBEXEC };
	char self[CVL_PATH_MAX], dir[CVL_PATH_MAX], path[CVL_PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct cvl_error err;

	self[n > 0 ? n : 0] = '\0';
	if (strrchr(self, '/'))
		strrchr(self, '/')[1] = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!cvl_path_join(dir, self, places[i]) || !cvl_path_join(path, dir, program))
			continue;
		execv(path, argv);
		if (errno != ENOENT) {
			cvl_fail_errno(&err, "start", path);
			err.code = CVL_E_ENV;
			return cli_fail(&err);
		}
	}
	cvl_fail(&err, CVL_E_ENV, CVL_NO_OFFSET, "%s is not installed; %s", program, install);
	return cli_fail(&err);
}
