/* SPDX-License-Identifier: MIT */
/*
 * A trace, its metadata up to the first NUL and then its stream, is exported as CTF. The result
 * must be readable without a message, and have as many records and gaps. As tables, in Parquet and
 * Arrow, it must be exportable.
 */
#include <coeval/files.h>
#include <coeval/format.h>
#include <coeval/timeline.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void tell(void *ctx, const struct cvl_error *problem)
{
	fprintf(stderr, "%s\n", problem->text);
	++*(unsigned *)ctx;
}

/* Whatever a trace holds can be written by the other exporters that show its fields. */
static void export_others(struct cvl_timeline *tl)
{
	static const char *const formats[] = { "fst", "perfetto" };
	struct cvl_error err;

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (cvl_timeline_rewind(tl, &err) ||
		    (cvl_exporter_find(formats[i])->write(tl, "/dev/null", &err) &&
		     err.code != CVL_E_TRUNCATED)) {
			fprintf(stderr, "%s\n", err.text);
			abort();
		}
}

static void export_tables(struct cvl_timeline *tl, const char *dir)
{
	const char *const name[] = { "parquet", "arrow" };
	char path[100];
	struct cvl_error err;

	if (mkdir(dir, 0700))
		abort();
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, name[i]);
		if (cvl_timeline_rewind(tl, &err) ||
		    cvl_exporter_find(name[i])->write(tl, path, &err)) {
			fprintf(stderr, "%s\n", err.text);
			abort();
		}
	}
	cvl_remove_tree(dir, NULL);
}

/* Records of the traces in @dir; -1 if they cannot be read. @to: where they are exported to, and @tables. */
static long use(const char *dir, const char *to, const char *tables,
		const struct cvl_report *report, unsigned *unsure)
{
	struct cvl_report on_export = { tell, unsure };
	struct cvl_timeline_opts opts = { .report = to ? &on_export : report };
	struct cvl_session *session;
	struct cvl_timeline *tl;
	struct cvl_block block;
	struct cvl_slice slice;
	struct cvl_error err;
	long records = 0;
	int rc;

	if (cvl_session_open(&session, dir, NULL, &err)) {
		if (!to)
			fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	if (cvl_timeline_open(&tl, session, &opts, &err))
		abort();
	while ((rc = cvl_timeline_next(tl, &block, &err)) > 0)
		while (cvl_block_take(&block, &slice))
			records += (long)(slice.end - slice.begin);
	if (rc)
		abort();
	*unsure = 0;
	if (to && cvl_timeline_rewind(tl, &err))
		abort();
	if (to) {
		rc = cvl_exporter_find("ctf")->write(tl, to, &err);
		if (rc && err.code != CVL_E_UNSUPPORTED && err.code != CVL_E_LIMIT) {
			fprintf(stderr, "%s\n", err.text);
			abort();
		}
		if (rc)
			records = -1;
		else
			export_others(tl);
		export_tables(tl, tables);
	}
	cvl_timeline_close(tl);
	cvl_session_close(session);
	return records;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static char to[64], tables[80];
	const char *from = fuzz_trace(data, n);
	unsigned told = 0, unsure;
	const struct cvl_report report = { tell, &told };
	long before, after;

	if (!to[0]) {
		snprintf(to, sizeof(to), "/tmp/coeval-fuzz-XXXXXX");
		if (!mkdtemp(to))
			abort();
		snprintf(tables, sizeof(tables), "%s-tables", to);
	}
	if (!from)
		return 0;
	before = use(from, to, tables, NULL, &unsure);
	if (before < 0 || unsure)
		return 0;
	after = use(to, NULL, NULL, &report, &unsure);
	if (after != before || told) {
		fprintf(stderr, "%ld records before, %ld after\n", before, after);
		abort();
	}
	return 0;
}
