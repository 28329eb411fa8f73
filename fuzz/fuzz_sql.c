/* SPDX-License-Identifier: MIT */
/*
 * Any text as SQL on a small session: it ends in time with rows or an error, and makes no file. What it
 * did to tables of its own is gone with its database.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/files.h>
#include <coeval/sql.h>

#include "fuzz_records.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct cvl_session *session;
static int start; /* the directory that the target was started in */
static char folder[] = "/tmp/fuzz_sql_XXXXXX";

static void remove_folder(void)
{
	cvl_session_close(session);
	cvl_remove_tree(folder, NULL);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char path[sizeof(folder) + 3];

	(void)argc, (void)argv;
	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof(path), "%s/s", folder);
	session = session_of_records(path);
	start = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (start < 0)
		abort();
	atexit(remove_folder);
	return 0;
}

static unsigned files(void)
{
	DIR *dir = opendir(folder);
	unsigned n = 0;

	while (dir && readdir(dir))
		n++;
	closedir(dir);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct cvl_sql_opts opts = { .memory = 64 << 20, .timeout_ns = 300000000 };
	struct cvl_error err = { 0 };
	struct cvl_sql *sql;
	int rc;

	/* A file of a relative name would be made in the folder; the corpus's own names stay what they are. */
	if (chdir(folder))
		abort();
	must(cvl_sql_open(&sql, session, &opts, &err), &err);
	rc = cvl_sql_run(sql, (const char *)data, n, NULL, &err);
	if (rc && (rc != (int)err.code || !err.text[0]))
		abort();
	if (rc && err.offset != CVL_NO_OFFSET && err.offset > n)
		abort();
	cvl_sql_close(sql);
	if (files() != 3 || fchdir(start)) /* ., .. and s */
		abort();
	return 0;
}
