/* SPDX-License-Identifier: MIT */
/**
 * Flow maps: which pin changes of a program mean which of its points, and how points follow each other.
 *
 * A marked point has a code: the symbols that its marker makes. A symbol is a set of pins, bit 0 the first pin of the map: those
 * that change (FLOW_CHANGES), or those that are high afterwards (FLOW_LEVELS). A point without a code leaves no trace; that the
 * program passed it follows from the points before and after it, where one way alone leads from the one to the other.
 *
 * A map that was read is sound: all names are known, all points can be reached, no way round is without a marker, and no
 * two paths from one point make the same changes. docs/flow.md describes the file.
 */
#ifndef ANALYSIS_FLOW_H
#define ANALYSIS_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

#include <coeval/out.h>

#define FLOW_PINS_MAX 16
#define FLOW_POINTS_MAX 1024
#define FLOW_CODE_MAX 32
#define FLOW_NAME_MAX 63
#define FLOW_NONE UINT32_MAX

enum flow_codes { FLOW_CHANGES, FLOW_LEVELS };

struct flow_point {
	char *name;            /* letters, digits, '_' */
	char *at;              /* place in the source, or NULL */
	double weight;         /* how often it is passed, against the others */
	unsigned line, column; /* of the file, for messages */
	bool plain;            /* has no marker, and is to get none */
	uint16_t code[FLOW_CODE_MAX];
	size_t n_code; /* 0: not marked */
	uint32_t *next;
	size_t n_next;
	uint64_t first_branch; /* number of its first branch among those of all points */
};

struct flow_map {
	char *file; /* for messages */
	char *program;
	char *pin[FLOW_PINS_MAX];
	size_t n_pins;
	unsigned pins_line, pins_column;
	enum flow_codes codes;
	int64_t settle_ns; /* changes within so long of the first are one */
	struct flow_point *point;
	size_t n;
	bool graph;     /* points say what follows them; else any may follow any */
	uint32_t start; /* where the program begins; FLOW_NONE without a graph */
	uint64_t branches;

	/* made of the above by flow_map_finish() */
	uint8_t *ways;    /* ways[from * n + to]: 0, 1, or 2 for more, through unmarked points */
	uint32_t *follow; /* marked points that may follow a point, in the order of their codes */
	size_t *follow_at; /* where those of each point begin, and one more; n + 1 entries; of a graph */
};

/**
 * Read a map. With @program codes may be missing: what flow_assign() is given. CVL_E_SYNTAX, CVL_E_UNKNOWN_ID, CVL_E_LIMIT,
 * CVL_E_MISMATCH (it contradicts itself or is ambiguous); texts name file and line.
 */
int flow_map_load(struct flow_map *map, const char *path, bool program, struct cvl_error *err);
int flow_map_parse(struct flow_map *map, const char *text, size_t n, const char *name, bool program,
		   struct cvl_error *err);
void flow_map_free(struct flow_map *map);

/** Point called @name, or FLOW_NONE. */
uint32_t flow_map_find(const struct flow_map *map, const char *name);

/** Marked points that may be the next one after @point (FLOW_NONE: the first of all), in the order of their codes. */
const uint32_t *flow_map_follow(const struct flow_map *map, uint32_t point, size_t *n);

/**
 * The unmarked points between two marked ones that follow each other, into @path. Returns how many, or -1 if more
 * than one way leads there. @from may be FLOW_NONE: from the start, which then is in the path.
 */
int flow_map_between(const struct flow_map *map, uint32_t from, uint32_t to,
		     uint32_t path[FLOW_POINTS_MAX]);

/** "a", "a+b" of the pins in @symbol; "none". */
void flow_symbol_put(const struct flow_map *map, uint16_t symbol, struct cvl_out *o);
#define FLOW_SYMBOLS_TEXT 160
/** Symbols as text, cut with "..." where they do not fit. */
void flow_symbols_text(const struct flow_map *map, const uint16_t *symbol, size_t n,
		       char text[FLOW_SYMBOLS_TEXT]);

/** Work out and check what follows from the points: for who made them otherwise than by flow_map_parse(). */
int flow_map_finish(struct flow_map *map, bool program, struct cvl_error *err);

/**
 * Two different paths that begin alike and make the same symbols, as the points after their common one.
 */
struct flow_ambiguity {
	uint32_t from; /* FLOW_NONE: they begin with the program, or (without a graph) anywhere */
	uint32_t *path[2];
	size_t n[2];
};

/**
 * Whether @map (of codes that are seen, with follow made) is ambiguous: 1 and @found filled, to be freed; 0 if not; CVL_E_LIMIT
 * or CVL_E_NOMEM. Sardinas and Patterson (1953), carried from codes to paths in a graph: docs/flow.md.
 */
int flow_ambiguous(const struct flow_map *map, struct flow_ambiguity *found, struct cvl_error *err);
void flow_ambiguity_free(struct flow_ambiguity *a);

/** How codes are given out. */
struct flow_assign_opts {
	bool levels;   /* pin levels that go back to none; else pin changes */
	bool together; /* several pins may change at once (levels always do) */
};

/**
 * Give each point that is not plain a code on @map's pins, the shortest to those of the greatest weight. CVL_E_USAGE: these pins
 * cannot tell so many points.
 */
int flow_assign(struct flow_map *map, const struct flow_assign_opts *opts, struct cvl_error *err);
/** Write the map as YAML. */
void flow_map_write(const struct flow_map *map, struct cvl_out *o);
/** Write the macros that make the codes. */
void flow_header_write(const struct flow_map *map, struct cvl_out *o);

#endif
