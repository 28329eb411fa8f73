/* SPDX-License-Identifier: MIT */
#include "symbols/symbols_internal.h"

#ifdef HAVE_LIBDW

#include <elfutils/libdw.h>
#include <string.h>

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Rows of one unit, sorted by address: each holds up to the next. What the linker threw away is left at address 0, and
 * does not count unless code is there.
 */
static int unit_lines(struct symbols *s, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	const char *path = NULL, *file = NULL;
	size_t n;

	if (dwarf_getsrclines(unit, &lines, &n))
		return 0;
	for (size_t i = 0; i + 1 < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i),
			   *next = dwarf_onesrcline(lines, i + 1);
		Dwarf_Addr from, end;
		const char *source;
		bool last;
		int line;

		if (!row || !next || dwarf_lineendsequence(row, &last) || last ||
		    dwarf_lineaddr(row, &from) || dwarf_lineaddr(next, &end) ||
		    dwarf_lineno(row, &line) || line <= 0 || from >= end ||
		    !spans_find(&s->text, from))
			continue;
		source = dwarf_linesrc(row, NULL, NULL);
		if (!source)
			continue;
		if (source != path) {
			path = source;
			file = base_of(source);
		}
		if (spans_add(&s->line, (struct span){ .from = from,
						       .end = end,
						       .start = from,
						       .name = file,
						       .line = (uint32_t)line }))
			return -1;
	}
	return 0;
}

int symbols_read_lines(struct symbols *s)
{
	Dwarf *dwarf = dwarf_begin_elf(s->file, DWARF_C_READ, NULL);
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint8_t type;
	int rc = 0;

	s->dwarf = dwarf;
	while (dwarf && !rc && !dwarf_get_units(dwarf, cu, &cu, NULL, &type, &unit, NULL))
		rc = unit_lines(s, &unit);
	return rc ? rc : spans_flatten(&s->line);
}

#endif
