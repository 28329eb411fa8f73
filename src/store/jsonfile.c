/* SPDX-License-Identifier: MIT */
#include "store/jsonfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/files.h>
#include "core/sha256.h"

#define CHECKSUM "sha256"

/*
 * Checksum of @root without its checksum member, independent of text layout. False: out of memory.
 */
static bool checksum(json_t *root, char hex[CVL_SHA256_TEXT])
{
	json_t *rest = json_copy(root);
	char *text;

	if (!rest)
		return false;
	json_object_del(rest, CHECKSUM);
	text = json_dumps(rest, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
	json_decref(rest);
	if (!text)
		return false;
	cvl_sha256(text, strlen(text), hex);
	free(text);
	return true;
}

int jsonfile_write(const char *path, json_t *root, int digits, struct cvl_error *err)
{
	const size_t flags = JSON_INDENT(1) | JSON_REAL_PRECISION(digits ? (size_t)digits : 17);
	char hex[CVL_SHA256_TEXT], *text = root ? json_dumps(root, flags) : NULL;
	/* reread it, so that reals have the digits that are kept */
	json_t *again = text ? json_loads(text, 0, NULL) : NULL;
	int rc;

	free(text);
	text = NULL;
	if (again && checksum(again, hex) && !json_object_set_new(root, CHECKSUM, json_string(hex)))
		text = json_dumps(root, flags);
	json_decref(again);
	json_decref(root);
	rc = text ? cvl_write_whole(path, text, strlen(text), err) : cvl_no_memory(err);
	free(text);
	return rc;
}

bool jsonfile_has_checksum(const json_t *root)
{
	return json_object_get(root, CHECKSUM) != NULL;
}

json_t *jsonfile_read_as_it_is(const char *path, const char *kind, int version,
			       struct cvl_error *err)
{
	const json_t *is;
	json_error_t e;
	json_t *root;

	if (access(path, R_OK)) {
		cvl_fail_errno(err, "open", path);
		return NULL;
	}
	root = json_load_file(path, 0, &e);
	if (!root) {
		cvl_fail(err, CVL_E_SYNTAX, e.position < 0 ? 0 : (uint64_t)e.position, "%s:%d: %s",
			 path, e.position < 0 ? 0 : e.position, e.text);
		return NULL;
	}
	is = json_object_get(root, kind);
	if (json_is_integer(is) && json_integer_value(is) >= 1 && json_integer_value(is) <= version)
		return root;
	if (json_is_integer(is) && json_integer_value(is) > version)
		cvl_fail(err, CVL_E_UNSUPPORTED, 0,
			 "%s:0: version %lld is not supported; this coeval reads up to %d", path,
			 (long long)json_integer_value(is), version);
	else
		cvl_fail(err, CVL_E_SYNTAX, 0, "%s:0: no version number '%s'", path, kind);
	json_decref(root);
	return NULL;
}

json_t *jsonfile_read(const char *path, const char *kind, int version, struct cvl_error *err)
{
	json_t *root = jsonfile_read_as_it_is(path, kind, version, err);
	const json_t *sum = json_object_get(root, CHECKSUM);
	char hex[CVL_SHA256_TEXT];

	if (!root || !sum)
		return root;
	if (!checksum(root, hex))
		cvl_no_memory(err);
	else if (!json_is_string(sum) || strcmp(json_string_value(sum), hex) != 0)
		cvl_fail(err, CVL_E_CHECKSUM, 0,
			 "%s:0: wrong checksum: the file was damaged or edited", path);
	else
		return root;
	json_decref(root);
	return NULL;
}
