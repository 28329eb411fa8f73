/* SPDX-License-Identifier: MIT */
#include "sim/runs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int runs_end(struct run_file *f, struct cvl_error *err)
{
	for (size_t done = 0; done < f->n;) {
		ssize_t k = write(f->fd, f->buf + done, f->n - done);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return cvl_fail_errno(err, "write", f->path);
		done += (size_t)k;
	}
	f->n = 0;
	return 0;
}

int runs_put(struct run_file *f, uint8_t level, uint64_t n, struct cvl_error *err)
{
	int rc = 0;

	while (n && !rc) {
		size_t part = sizeof(f->buf) - f->n < n ? sizeof(f->buf) - f->n : (size_t)n;

		memset(f->buf + f->n, level, part);
		f->n += part;
		n -= part;
		if (f->n == sizeof(f->buf))
			rc = runs_end(f, err);
	}
	return rc;
}
