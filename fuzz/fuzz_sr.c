/* SPDX-License-Identifier: MIT */
#include "../src/import/importers.h"
#include "fuzz_import.h"

/* The library for zip archives opens files itself, so the bytes must be one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct cvl_import_opts opts = { .rate_hz = 1000 };
	struct cvl_input *in;
	char path[512];
	FILE *f;

	fuzz_path(path, sizeof(path), ".sr");
	f = fopen(path, "wb");
	if (!f)
		abort();
	fwrite(data, 1, n, f);
	fclose(f);
	if (!cvl_input_open(&in, path, NULL)) {
		fuzz_import_input(&cvl_import_sr, in, &opts);
		cvl_input_close(in);
	}
	remove(path);
	return 0;
}
