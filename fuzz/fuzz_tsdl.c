/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include <coeval/ctf.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* An error has the code that was returned, a text, and an offset inside the metadata. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct cvl_error err = { 0 };
	struct cvl_trace *trace;
	int rc = cvl_trace_parse(&trace, (const char *)data, n, "fuzz", &err);

	if (rc && (rc != (int)err.code || !err.text[0] || err.offset > n || trace))
		abort();
	cvl_trace_close(trace);
	return 0;
}
