/* SPDX-License-Identifier: MIT */
#include "store/lines.h"

int lines_none(const struct cvl_timeline *tl, const char *name, struct cvl_error *err)
{
	char near[200] = "";

	for (size_t i = 0; i < cvl_timeline_streams(tl); i++) {
		const struct cvl_trace *trace = cvl_timeline_trace(tl, i);
		bool ambiguous = cvl_trace_line(trace, name) == CVL_LINE_AMBIGUOUS;

		if (ambiguous)
			near[0] = '\0';
		cvl_trace_lines_near(trace, name, near, sizeof(near));
		if (ambiguous)
			return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					"'%.60s' is ambiguous: it matches %s; give the full name",
					name, near);
	}
	return cvl_hint(err, CVL_HINT_NAMES,
			cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				 "no clock of this session has a line called '%.60s'%s%s%s", name,
				 near[0] ? " (did you mean " : "", near, near[0] ? "?)" : ""));
}
