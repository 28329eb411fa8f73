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

struct hashing {
	struct sha256_ctx sha;
	const struct cvl_progress *progress;
	uint64_t done;
};

static int hash_file(struct hashing *h, const char *path, struct cvl_error *err)
{
	uint8_t buf[65536];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return cvl_fail_errno(err, "open", path);
	while (!rc && (n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0) {
			rc = cvl_fail_errno(err, "read", path);
			break;
		}
		sha256_update(&h->sha, (size_t)n, buf);
		h->done += (uint64_t)n;
		rc = cvl_progress_tell(h->progress, h->done, 0, err);
	}
	close(fd);
	return rc;
}

static int hash_level(struct hashing *h, const char *root, const char *path, int depth,
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
				rc = hash_level(h, root, sub, depth + 1, err);
			} else if (cvl_is_file(sub)) {
				const char *relative = sub + strlen(root);

				sha256_update(&h->sha, strlen(relative) + 1,
					      (const uint8_t *)relative);
				rc = hash_file(h, sub, err);
			}
		}
		free(list[i]);
	}
	free(list);
	return rc;
}

int cvl_hash_tree(const char *path, char out[CVL_HASH_TEXT], const struct cvl_progress *progress,
		  struct cvl_error *err)
{
	struct hashing h = { .progress = progress };
	char root[CVL_PATH_MAX];
	size_t n;
	int rc;

	sha256_init(&h.sha);
	if (snprintf(root, sizeof(root), "%s", path) >= (int)sizeof(root))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", path);
	for (n = strlen(root); n > 1 && root[n - 1] == '/'; n--)
		root[n - 1] = '\0';
	rc = cvl_is_dir(root) ? hash_level(&h, root, root, 0, err) : hash_file(&h, root, err);
	if (rc)
		return rc;
	cvl_sha256_digits(&h.sha, out + sprintf(out, "sha256:"));
	return 0;
}
