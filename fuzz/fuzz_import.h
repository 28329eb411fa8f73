/* SPDX-License-Identifier: MIT */
/**
 * What the fuzz targets of importers share: bytes go through one importer into a scratch session,
 * which is removed afterwards. It is in memory (/dev/shm) if TMPDIR does not say otherwise: on a
 * disk making and syncing its files takes a hundred times longer than to import.
 */
#ifndef FUZZ_IMPORT_H
#define FUZZ_IMPORT_H

#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <coeval/format.h>

#include "../src/import/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/*
 * By default what is freed is kept by the hundred MB, and all memory is always fresh, which costs
 * more than anything else.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8";
}

/* The scratch path of this process; several fuzzers may run side by side. */
static inline void fuzz_path(char *out, size_t size, const char *what)
{
	const char *tmp = getenv("TMPDIR");

	if (!tmp)
		tmp = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
	snprintf(out, size, "%s/coeval-fuzz-%ld%s", tmp, (long)getpid(), what);
}

static inline int fuzz_unlink(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* An importer that fails must say so with the code it returned and a text. */
static inline void fuzz_import_input(const struct cvl_importer *importer, struct cvl_input *in,
				     const struct cvl_import_opts *opts)
{
	struct cvl_error err = { 0 };
	struct cvl_session *s;
	char path[512];
	int rc;

	fuzz_path(path, sizeof(path), "");
	if (cvl_session_create(&s, path, &err)) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	rc = importer->import(in, s, opts, &err);
	if (rc < 0 && (rc != (int)err.code || !err.text[0]))
		abort();
	cvl_session_close(s);
	nftw(path, fuzz_unlink, 8, FTW_DEPTH | FTW_PHYS);
}

/** Import @n bytes. Always 0, so that a target can return it. */
static inline int fuzz_import(const struct cvl_importer *importer, const uint8_t *data, size_t n,
			      const struct cvl_import_opts *opts)
{
	struct cvl_input *in;

	if (cvl_input_memory(&in, data, n, "fuzz", NULL))
		return 0;
	fuzz_import_input(importer, in, opts);
	cvl_input_close(in);
	return 0;
}

#endif
