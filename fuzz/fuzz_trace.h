/* SPDX-License-Identifier: MIT */
/** A foreign trace out of an input: its metadata up to the first NUL, and then its stream. */
#ifndef FUZZ_TRACE_H
#define FUZZ_TRACE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void fuzz_put(const char *dir, const char *name, const void *bytes, size_t n)
{
	char path[100];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f)
		abort();
	fwrite(bytes, 1, n, f);
	fclose(f);
}

/** The directory of the trace, the same in each call; NULL: the input has no NUL. */
static inline const char *fuzz_trace(const uint8_t *data, size_t n)
{
	static char dir[64];
	const uint8_t *stream = memchr(data, 0, n);

	if (!dir[0]) {
		snprintf(dir, sizeof(dir), "/tmp/coeval-fuzz-XXXXXX");
		if (!mkdtemp(dir))
			abort();
	}
	if (!stream)
		return NULL;
	fuzz_put(dir, "metadata", data, (size_t)(stream - data));
	fuzz_put(dir, "stream", stream + 1, n - (size_t)(stream - data) - 1);
	return dir;
}

#endif
