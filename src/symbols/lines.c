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
 * Whether a row sequence that ends at @end is of existing code: a function ends there, apart from
 * padding to whole words.
 */
static bool ends_code(struct symbols *s, uint64_t end)
{
	const struct span *last = end ? spans_find(&s->code, end - 1) : NULL;

	return last && last->end - end < 4;
}

/*
 * Functions discarded by the linker keep their rows, which it places from address 0 on. If a unit
 * has such rows (they begin where no function is), its rows cannot be trusted up to the end of the
 * longest of them.
 */
static uint64_t end_of_dead(struct symbols *s, Dwarf_Lines *lines, size_t n)
{
	uint64_t dead = 0;
	Dwarf_Addr at;
	bool last;

	if (!n || dwarf_lineaddr(dwarf_onesrcline(lines, 0), &at) || at || spans_find(&s->code, 0))
		return 0;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);

		if (row && !dwarf_lineendsequence(row, &last) && last &&
		    !dwarf_lineaddr(row, &at) && !ends_code(s, at) && at > dead)
			dead = at;
	}
	return dead;
}

/* Rows of one unit, sorted by address: each extends to the next. */
static int unit_lines(struct symbols *s, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	const char *path = NULL, *file = NULL;
	uint64_t dead;
	size_t n;

	if (dwarf_getsrclines(unit, &lines, &n))
		return 0;
	dead = end_of_dead(s, lines, n);
	for (size_t i = 0; i + 1 < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i),
			   *next = dwarf_onesrcline(lines, i + 1);
		Dwarf_Addr from, end;
		const char *source;
		bool last;
		int line;

		if (!row || !next || dwarf_lineendsequence(row, &last) || last ||
		    dwarf_lineaddr(row, &from) || dwarf_lineaddr(next, &end) ||
		    dwarf_lineno(row, &line) || line <= 0 || from < dead || from >= end ||
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
