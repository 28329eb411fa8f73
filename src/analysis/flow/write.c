/* SPDX-License-Identifier: MIT */
/* Codes as text: symbols, the map for `coeval flow`, and the macros for the program. */
#include "analysis/flow/flow.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- symbols ---- */

static size_t symbol_text(const struct cvl_flow_map *map, uint16_t symbol, char *w, size_t room)
{
	size_t n = 0;

	if (!symbol)
		return (size_t)snprintf(w, room, "none");
	for (size_t i = 0; i < map->n_pins; i++)
		if (symbol >> i & 1)
			n += (size_t)snprintf(n < room ? w + n : NULL, n < room ? room - n : 0,
					      "%s%s", n ? "+" : "", map->pin[i]);
	return n;
}

#define SYMBOL_TEXT (CVL_FLOW_PINS_MAX * (CVL_FLOW_NAME_MAX + 1) + 1)

void flow_symbol_put(const struct cvl_flow_map *map, uint16_t symbol, struct cvl_out *o)
{
	char text[SYMBOL_TEXT];

	symbol_text(map, symbol, text, sizeof(text));
	cvl_out_text(o, text);
}

void cvl_flow_symbols_text(const struct cvl_flow_map *map, const uint16_t *symbol, size_t n,
			   char text[CVL_FLOW_SYMBOLS_TEXT])
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		char one[SYMBOL_TEXT];
		size_t len = symbol_text(map, symbol[i], one, sizeof(one));

		if (used + len + 6 > CVL_FLOW_SYMBOLS_TEXT) {
			snprintf(text + used, CVL_FLOW_SYMBOLS_TEXT - used, "%s...",
				 used ? " " : "");
			return;
		}
		used += (size_t)snprintf(text + used, CVL_FLOW_SYMBOLS_TEXT - used, "%s%s",
					 used ? " " : "", one);
	}
}

/* ---- the map ---- */

static void put_quoted(struct cvl_out *o, const char *s)
{
	cvl_out_char(o, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			cvl_out_char(o, '\'');
		cvl_out_char(o, *s);
	}
	cvl_out_char(o, '\'');
}

static void put_list(struct cvl_out *o, const struct cvl_flow_map *map,
		     const struct cvl_flow_point *p)
{
	cvl_out_text(o, ", next: [");
	for (size_t i = 0; i < p->n_next; i++) {
		cvl_out_text(o, i ? ", " : "");
		cvl_out_text(o, map->point[p->next[i]].name);
	}
	cvl_out_char(o, ']');
}

void cvl_flow_map_write(const struct cvl_flow_map *map, struct cvl_out *o)
{
	cvl_out_printf(
		o,
		"# Codes were given out by coeval. docs/flow.md tells what the keys mean.\nprogram: %s\npins: [",
		map->program);
	for (size_t i = 0; i < map->n_pins; i++) {
		cvl_out_text(o, i ? ", " : "");
		cvl_out_text(o, map->pin[i]);
	}
	cvl_out_printf(o, "]\ncodes: %s\n", map->codes == CVL_FLOW_LEVELS ? "levels" : "changes");
	if (map->settle_ns) {
		cvl_out_text(o, "settle: ");
		cvl_out_i64(o, map->settle_ns);
		cvl_out_text(o, "ns\n");
	}
	if (map->graph)
		cvl_out_printf(o, "start: %s\n", map->point[map->start].name);
	cvl_out_text(o, "points:\n");
	for (size_t i = 0; i < map->n; i++) {
		const struct cvl_flow_point *p = &map->point[i];

		cvl_out_printf(o, "  - { name: %s", p->name);
		if (p->at) {
			cvl_out_text(o, ", at: ");
			put_quoted(o, p->at);
		}
		if (p->weight != 1) {
			cvl_out_text(o, ", weight: ");
			cvl_out_double(o, p->weight);
		}
		if (p->plain)
			cvl_out_text(o, ", mark: false");
		if (p->n_code)
			cvl_out_text(o, ", code: [");
		for (size_t k = 0; k < p->n_code; k++) {
			cvl_out_text(o, k ? ", " : "");
			flow_symbol_put(map, p->code[k], o);
		}
		if (p->n_code)
			cvl_out_char(o, ']');
		if (map->graph)
			put_list(o, map, p);
		cvl_out_text(o, " }\n");
	}
}

/* ---- the header ---- */

static void put_guard(struct cvl_out *o, const char *before, const char *name)
{
	cvl_out_text(o, before);
	cvl_out_text(o, " FLOW_MARKERS_");
	for (; *name; name++)
		cvl_out_char(o, (char)toupper((unsigned char)*name));
	cvl_out_text(o, "_H\n");
}

void cvl_flow_header_write(const struct cvl_flow_map *map, struct cvl_out *o)
{
	const char *hal = map->codes == CVL_FLOW_LEVELS ? "CVL_FLOW_LEVELS" : "FLOW_CHANGE";

	cvl_out_printf(o, "/* Markers of %s, made by coeval together with their map. */\n",
		       map->program);
	put_guard(o, "#ifndef", map->program);
	put_guard(o, "#define", map->program);
	cvl_out_text(o, "\n/*\n * The board says how, before this file is included:\n *\n");
	cvl_out_printf(
		o,
		map->codes == CVL_FLOW_LEVELS ?
			" * %s(pins)  makes the pins whose bits are 1 high, and the others low\n" :
			" * %s(pins)  changes the pins whose bits are 1, and no others\n",
		hal);
	cvl_out_text(
		o,
		" * FLOW_ENTER(), FLOW_LEAVE()  if interrupts have markers, too: holds them off and lets them come again\n"
		" *\n * Bits:\n");
	for (size_t i = 0; i < map->n_pins; i++)
		cvl_out_printf(o, " *   0x%x  %s\n", 1u << i, map->pin[i]);
	cvl_out_printf(
		o,
		" */\n#ifndef %s\n#error \"define %s(pins), the board's way to set its pins\"\n#endif\n"
		"#ifndef FLOW_ENTER\n#define FLOW_ENTER() ((void)0)\n#define FLOW_LEAVE() ((void)0)\n#endif\n",
		hal, hal);
	for (size_t i = 0; i < map->n; i++) {
		const struct cvl_flow_point *p = &map->point[i];

		if (!p->n_code)
			continue;
		cvl_out_char(o, '\n');
		if (p->at) {
			cvl_out_text(o, "/* ");
			cvl_out_text(o, p->at);
			cvl_out_text(o, " */\n");
		}
		cvl_out_printf(o, "#define MARK_%s() \\\n\tdo { \\\n\t\tFLOW_ENTER(); \\\n",
			       p->name);
		for (size_t k = 0; k < p->n_code; k++)
			cvl_out_printf(o, "\t\t%s(0x%xu); \\\n", hal, p->code[k]);
		cvl_out_text(o, "\t\tFLOW_LEAVE(); \\\n\t} while (0)\n");
	}
	cvl_out_text(o, "\n#endif\n");
}
