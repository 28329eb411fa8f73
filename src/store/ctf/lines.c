/* SPDX-License-Identifier: MIT */
#include <coeval/ctf.h>
#include <coeval/store.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *name_at(const struct cvl_trace *trace, uint64_t line)
{
	const char *name = cvl_trace_env_at(trace, "line", (size_t)line);

	return name ? name : "";
}

static uint64_t lines_of(const struct cvl_trace *trace)
{
	uint64_t n = cvl_trace_ours(trace) ? cvl_trace_env_number(trace, "lines") : 0;

	return n < CVL_LINES_MAX ? n : CVL_LINES_MAX;
}

/* The part after the last scope. */
static const char *last_part(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

int cvl_trace_line(const struct cvl_trace *trace, const char *name)
{
	uint64_t n = lines_of(trace);
	int found = CVL_LINE_NONE;

	for (uint64_t i = 0; i < n; i++)
		if (!strcmp(name_at(trace, i), name))
			return (int)i;
	for (uint64_t i = 0; i < n; i++)
		if (!strcmp(last_part(name_at(trace, i)), name))
			found = found == CVL_LINE_NONE ? (int)i : CVL_LINE_AMBIGUOUS;
	return found;
}

/* Whether the names differ by one letter added, removed or changed, or two swapped. */
static bool one_off(const char *a, const char *b)
{
	size_t head = 0, tail = 0, n = strlen(a), m = strlen(b);

	while (head < n && head < m && a[head] == b[head])
		head++;
	while (tail < n - head && tail < m - head && a[n - 1 - tail] == b[m - 1 - tail])
		tail++;
	n -= head + tail;
	m -= head + tail;
	return (n <= 1 && m <= 1) ||
	       (n == 2 && m == 2 && a[head] == b[head + 1] && a[head + 1] == b[head]);
}

static bool is_near(const char *name, const char *wanted)
{
	const char *last = last_part(name), *part = last_part(wanted);

	return !strcasecmp(last, part) || (strlen(part) > 2 && one_off(last, part));
}

size_t cvl_trace_lines_near(const struct cvl_trace *trace, const char *name, char *text,
			    size_t size)
{
	uint64_t n = lines_of(trace);
	size_t len = strlen(text), found = 0;

	for (uint64_t i = 0; i < n; i++) {
		const char *known = name_at(trace, i);

		if (!is_near(known, name))
			continue;
		found++;
		if (strstr(text, known) || len + strlen(known) + 3 > size)
			continue;
		len += (size_t)snprintf(text + len, size - len, "%s%s", len ? ", " : "", known);
	}
	return found;
}
