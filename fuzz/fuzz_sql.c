/* SPDX-License-Identifier: MIT */
/*
 * Any text as SQL on a small session: it ends in time with rows or an error, and makes no file. What it
 * did to tables of its own is gone with its database.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/files.h>
#include <coeval/sql.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct cvl_session *session;
static char folder[] = "/tmp/fuzz_sql_XXXXXX";

static void must(int rc, const struct cvl_error *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "%s\n", err->text);
	abort();
}

static void write_clock(struct cvl_session *s, const char *name)
{
	static const struct cvl_origin origin = { .format = "fuzz", .path = "-" };
	const struct cvl_store_field field = { "value", CVL_STORE_U64 };
	const char *lines[] = { "A", "B" }, *channels[] = { "mA" };
	const struct cvl_store_desc desc = { .clock = name,
					     .rate_hz = 1000000,
					     .lines = lines,
					     .n_lines = 2,
					     .channels = channels,
					     .n_channels = 1 };
	struct cvl_error err;
	struct cvl_writer *w;
	int event;

	must(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	event = cvl_writer_declare(w, "some thing", &field, 1, &err);
	for (uint64_t k = 0; k < 20; k++) {
		const struct cvl_tick tick = { 100 * k + 10 };
		const uint64_t levels = k % 4;
		const union cvl_store_value v = { .u = UINT64_MAX - k };

		must(cvl_writer_edges(w, &tick, &levels, 1, &err), &err);
		must(cvl_writer_sample(w, tick, 0, (double)k, &err), &err);
		must(cvl_writer_event(w, tick, event, &v, &err), &err);
		must(cvl_writer_span(w, tick, !(k & 1), k / 2, "span", &err), &err);
		if (k == 10)
			must(cvl_writer_gap(w, (struct cvl_tick){ tick.count + 1 },
					    (struct cvl_tick){ tick.count + 50 }, 7,
					    CVL_GAP_OVERFLOW, &err),
			     &err);
	}
	must(cvl_session_finish(s, w, (struct cvl_tick){ 4000 }, &err), &err);
}

static void remove_folder(void)
{
	cvl_session_close(session);
	(void)!chdir("/");
	cvl_remove_tree(folder, NULL);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct cvl_session *s;
	struct cvl_error err;
	char path[sizeof(folder) + 3];

	(void)argc, (void)argv;
	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof(path), "%s/s", folder);
	must(cvl_session_create(&s, path, &err), &err);
	write_clock(s, "one");
	write_clock(s, "t*o");
	cvl_session_close(s);
	must(cvl_session_open(&session, path, NULL, &err), &err);
	if (chdir(folder))
		abort();
	atexit(remove_folder);
	return 0;
}

static unsigned files(void)
{
	DIR *dir = opendir(".");
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

	must(cvl_sql_open(&sql, session, &opts, &err), &err);
	rc = cvl_sql_run(sql, (const char *)data, n, NULL, &err);
	if (rc && (rc != (int)err.code || !err.text[0]))
		abort();
	if (rc && err.offset != CVL_NO_OFFSET && err.offset > n)
		abort();
	cvl_sql_close(sql);
	if (files() != 3) /* ., .. and s */
		abort();
	return 0;
}
