/* SPDX-License-Identifier: MIT */
#include <coeval/error.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int cvl_fail(struct cvl_error *err, enum cvl_code code, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		err->code = code;
		err->hint = CVL_HINT_NONE;
		err->offset = offset;
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
	}
	return code;
}

int cvl_hint(struct cvl_error *err, enum cvl_hint hint, int rc)
{
	if (err)
		err->hint = hint;
	return rc;
}

int cvl_no_memory(struct cvl_error *err)
{
	return cvl_fail(err, CVL_E_NOMEM, CVL_NO_OFFSET, "out of memory");
}

int cvl_fail_errno(struct cvl_error *err, const char *what, const char *path)
{
	int saved = errno;

	if (saved == ENOMEM)
		return cvl_no_memory(err);
	return cvl_fail(
		err, saved == ENOSPC || saved == EDQUOT || saved == EFBIG ? CVL_E_FULL : CVL_E_IO,
		CVL_NO_OFFSET, "%s: cannot %s: %s", path, what, strerror(saved));
}

void cvl_tell(const struct cvl_report *report, const struct cvl_error *problem)
{
	if (report && report->fn)
		report->fn(report->ctx, problem);
}

int cvl_progress_tell(const struct cvl_progress *progress, uint64_t done, uint64_t total,
		      struct cvl_error *err)
{
	if (!progress || !progress->fn || progress->fn(progress->ctx, done, total))
		return 0;
	return cvl_fail(err, CVL_E_CANCELLED, CVL_NO_OFFSET, "cancelled");
}

const char *cvl_code_name(enum cvl_code code)
{
	switch (code) {
	case CVL_OK: return "ok";
	case CVL_E_NO: return "no";
	case CVL_E_USAGE: return "usage";
	case CVL_E_TRUNCATED: return "truncated";
	case CVL_E_MAGIC: return "magic";
	case CVL_E_SYNTAX: return "syntax";
	case CVL_E_RANGE: return "range";
	case CVL_E_UNKNOWN_ID: return "unknown-id";
	case CVL_E_CHECKSUM: return "checksum";
	case CVL_E_ORDER: return "order";
	case CVL_E_LIMIT: return "limit";
	case CVL_E_MISSING: return "missing";
	case CVL_E_UNSUPPORTED: return "unsupported";
	case CVL_E_IO: return "io";
	case CVL_E_NOMEM: return "no-memory";
	case CVL_E_ENV: return "environment";
	case CVL_E_MISMATCH: return "mismatch";
	case CVL_E_FULL: return "full";
	case CVL_E_CANCELLED: return "cancelled";
	}
	return "unknown";
}

int cvl_exit_status(enum cvl_code code)
{
	switch (code) {
	case CVL_OK: return 0;
	case CVL_E_NO:
	case CVL_E_CANCELLED: return 1;
	case CVL_E_USAGE: return 2;
	case CVL_E_IO:
	case CVL_E_FULL:
	case CVL_E_NOMEM:
	case CVL_E_ENV: return 4;
	default: return 3;
	}
}
