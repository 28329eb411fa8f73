/* SPDX-License-Identifier: MIT */
#include "analysis/clocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t *clocks_roots(const struct cvl_session *session)
{
	size_t n = cvl_session_clocks(session);
	uint32_t *root = calloc(n + 1, sizeof(*root));

	for (size_t i = 0; root && i < n; i++) {
		int same = cvl_session_clock(session, i)->same_as;

		root[i] = same >= 0 ? root[same] : (uint32_t)i;
	}
	return root;
}

int64_t clocks_pair(bool same, struct cvl_bound a, struct cvl_bound b)
{
	return same ? cvl_add_sat(a.capture, b.capture) : cvl_bound_pair(a, b);
}

int64_t clocks_duration(int64_t ns, struct cvl_bound begin, struct cvl_bound end)
{
	int64_t maps = cvl_bound_pair((struct cvl_bound){ .map = begin.map, .kind = begin.kind },
				      (struct cvl_bound){ .map = end.map, .kind = end.kind });
	/* error of the map within a run */
	int64_t rate = (int64_t)((double)ns * fmax(begin.drift_ppm, end.drift_ppm) * 1e-6) + 1;

	if (begin.map != CVL_BOUND_UNKNOWN)
		rate = cvl_add_sat(rate, rate);
	return cvl_add_sat(maps < rate ? maps : rate, cvl_add_sat(begin.capture, end.capture));
}

int clocks_find(const struct cvl_trace *trace, const char *what, const char *name)
{
	uint64_t n = cvl_trace_env_number(trace, "channels");

	if (name && !strcmp(what, "line"))
		return cvl_trace_line(trace, name);
	for (uint64_t i = 0; name && i < n && i < CVL_CHANNELS_MAX; i++) {
		const char *known = cvl_trace_env_at(trace, what, (size_t)i);

		if (known && !strcmp(known, name))
			return (int)i;
	}
	return -1;
}

static void take_name(void *ctx, const char *name, const struct cvl_value *v)
{
	struct clocks_span *out = ctx;

	if (name && v->type->kind == CVL_TYPE_STRING && !strcmp(cvl_plain_name(name), "name")) {
		size_t n = v->s.len < sizeof(out->text) ? v->s.len : sizeof(out->text) - 1;

		memcpy(out->text, v->s.text, n);
		out->text[n] = '\0';
	}
}

static void no_begin(void *ctx, const char *name, const struct cvl_type *t, uint64_t n)
{
	(void)ctx, (void)name, (void)t, (void)n;
}

static void no_end(void *ctx, const struct cvl_type *t)
{
	(void)ctx, (void)t;
}

bool clocks_span_name(struct clocks_span *name, struct cvl_stream *stream,
		      const struct cvl_batch *batch, size_t i)
{
	const struct cvl_visitor visitor = { take_name, no_begin, no_end, NULL, name, NULL };

	name->text[0] = '\0';
	return !cvl_stream_visit(stream, batch, i, &visitor, NULL) && name->text[0];
}
