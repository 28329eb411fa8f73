/* SPDX-License-Identifier: MIT */
#include "store/hash.h"

#include <coeval/files.h>
#include "core/sha256.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX 16

static int hash_file(struct sha256_ctx *sha, const char *path, struct cvl_error *err)
{
	uint8_t buf[65536];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return cvl_fail_errno(err, "open", path);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		sha256_update(sha, (size_t)n, buf);
	if (n < 0)
		rc = cvl_fail_errno(err, "read", path);
	close(fd);
	return rc;
}

static int hash_level(struct sha256_ctx *sha, const char *root, const char *path, int depth,
		      struct cvl_error *err)
{
	char sub[CVL_PATH_MAX];
	struct dirent **list;
	int n, rc = 0;

	if (depth > DEPTH_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: directories nested too deep",
				path);
	n = scandir(path, &list, NULL, alphasort);
	if (n < 0)
		return cvl_fail_errno(err, "open", path);
	for (int i = 0; i < n; i++) {
		if (!rc && list[i]->d_name[0] != '.' && cvl_path_join(sub, path, list[i]->d_name)) {
			if (cvl_is_dir(sub)) {
				rc = hash_level(sha, root, sub, depth + 1, err);
			} else if (cvl_is_file(sub)) {
				const char *relative = sub + strlen(root);

				sha256_update(sha, strlen(relative) + 1, (const uint8_t *)relative);
				rc = hash_file(sha, sub, err);
			}
		}
		free(list[i]);
	}
	free(list);
	return rc;
}

int cvl_hash_tree(const char *path, char out[CVL_HASH_TEXT], struct cvl_error *err)
{
	struct sha256_ctx sha;
	char root[CVL_PATH_MAX];
	size_t n;
	int rc;

	sha256_init(&sha);
	if (snprintf(root, sizeof(root), "%s", path) >= (int)sizeof(root))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", path);
	for (n = strlen(root); n > 1 && root[n - 1] == '/'; n--)
		root[n - 1] = '\0';
	rc = cvl_is_dir(root) ? hash_level(&sha, root, root, 0, err) : hash_file(&sha, root, err);
	if (rc)
		return rc;
	cvl_sha256_digits(&sha, out + sprintf(out, "sha256:"));
	return 0;
}
