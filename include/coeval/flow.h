/* SPDX-License-Identifier: MIT */
/**
 * Flow: the paths that programs took, by markers that they put on pins.
 *
 * A flow map says which pin changes of a program mean which of its points, and how points follow
 * each other. A marked point has a code: the symbols that its marker makes. A symbol is a set of
 * pins, bit 0 the first pin of the map: those that change (CVL_FLOW_CHANGES), or those that are
 * high afterwards (CVL_FLOW_LEVELS). A point without a code leaves no trace; that the program
 * passed it follows from the points before and after it, where only one path leads from one to the
 * other.
 *
 * A map that was read is sound: all names are known, all points can be reached, every cycle has a
 * marker, and no two paths from one point make the same changes. docs/flow.md describes the file.
 *
 * All paths that fit what was seen are followed at once; a point is reported once only one is left,
 * or all that are left have it in common. At the beginning, after a gap and after a change that
 * fits no path, the program may be anywhere, even within a code. What stays ambiguous, or fits
 * nothing, is reported at its place; nothing is guessed. Memory is bounded: what takes too many
 * hypotheses is reported as undecided.
 */
#ifndef COEVAL_FLOW_H
#define COEVAL_FLOW_H

#include <coeval/analysis.h>
#include <coeval/api.h>
#include <coeval/durations.h>
#include <coeval/out.h>

CVL_BEGIN_DECLS

/* ---- maps ---- */

#define CVL_FLOW_PINS_MAX 16
#define CVL_FLOW_POINTS_MAX 1024
#define CVL_FLOW_CODE_MAX 32
#define CVL_FLOW_NAME_MAX 63
#define CVL_FLOW_NONE UINT32_MAX

enum cvl_flow_codes { CVL_FLOW_CHANGES, CVL_FLOW_LEVELS };

struct cvl_flow_point {
	char *name;            /* letters, digits, '_' */
	char *at;              /* place in the source, or NULL */
	double weight;         /* relative frequency */
	unsigned line, column; /* of the file, for messages */
	bool plain;            /* has no marker, and shall get none */
	uint16_t code[CVL_FLOW_CODE_MAX];
	size_t n_code;  /* 0: not marked */
	uint32_t *next; /* points that may follow */
	size_t n_next;
	uint64_t first_branch; /* number of its first branch among those of all points */
};

/** Read only; cvl_flow_map_load() makes one. */
struct cvl_flow_map {
	char *file; /* for messages */
	char *program;
	char *pin[CVL_FLOW_PINS_MAX];
	size_t n_pins;
	unsigned pins_line, pins_column; /* of the file */
	enum cvl_flow_codes codes;
	int64_t settle_ns; /* changes within this time of the first are one */
	struct cvl_flow_point *point;
	size_t n;
	bool graph;     /* points list their successors; else any may follow any */
	uint32_t start; /* where the program begins; CVL_FLOW_NONE without a graph */
	uint64_t branches;

	/* derived when the map was read */
	uint8_t *ways;    /* ways[from * n + to]: 0, 1, or 2 for more, through unmarked points */
	uint32_t *follow; /* marked successors of each point, in the order of their codes */
	/* where those of each point begin; n + 1 entries; only with a graph */
	size_t *follow_at;
};

/**
 * Read a map, of a file or of the @n bytes of @text, called @name in messages. With @program codes
 * may be missing: input of cvl_flow_assign(). On success free it by cvl_flow_map_free().
 * CVL_E_SYNTAX, CVL_E_UNKNOWN_ID, CVL_E_LIMIT, CVL_E_MISMATCH (contradictory or ambiguous),
 * CVL_E_IO, CVL_E_NOMEM; texts name file and line.
 */
CVL_API int cvl_flow_map_load(struct cvl_flow_map *map, const char *path, bool program,
			      struct cvl_error *err);
CVL_API int cvl_flow_map_parse(struct cvl_flow_map *map, const char *text, size_t n,
			       const char *name, bool program, struct cvl_error *err);
CVL_API void cvl_flow_map_free(struct cvl_flow_map *map);

/** Point called @name, or CVL_FLOW_NONE. */
CVL_API uint32_t cvl_flow_map_find(const struct cvl_flow_map *map, const char *name);

/**
 * Store the unmarked points between two consecutive marked ones in @path. Returns how many, or -1
 * if more than one path leads there. @from may be CVL_FLOW_NONE: from the start, which is then part
 * of the path.
 */
CVL_API int cvl_flow_map_between(const struct cvl_flow_map *map, uint32_t from, uint32_t to,
				 uint32_t path[CVL_FLOW_POINTS_MAX]);

#define CVL_FLOW_SYMBOLS_TEXT 160
/** Symbols as text, "a, a+b", shortened with "..." if they do not fit. */
CVL_API void cvl_flow_symbols_text(const struct cvl_flow_map *map, const uint16_t *symbol, size_t n,
				   char text[CVL_FLOW_SYMBOLS_TEXT]);

/**
 * Set the pins of @map, which was read with @program. Without names: the first @n of its own, or
 * P0, P1, ... if it has none. CVL_E_USAGE: too many, a duplicate, or not a valid name; the message
 * names only the pin.
 */
CVL_API int cvl_flow_map_pins(struct cvl_flow_map *map, const char *const *name, size_t n,
			      struct cvl_error *err);

/** How codes are assigned. */
struct cvl_flow_assign_opts {
	bool levels;   /* codes are pin levels that return to none; else pin changes */
	bool together; /* several pins may change at once (levels always do) */
	bool has_settle;
	/* else the map's; if that is 0, and several pins change at once, 100 ns */
	int64_t settle_ns;
};

/**
 * Give each point that is not plain a code on the map's pins, the shortest to those of the greatest
 * weight. CVL_E_USAGE: too few pins for so many points.
 */
CVL_API int cvl_flow_assign(struct cvl_flow_map *map, const struct cvl_flow_assign_opts *opts,
			    struct cvl_error *err);
/** Write the map as YAML. */
CVL_API void cvl_flow_map_write(const struct cvl_flow_map *map, struct cvl_out *o);
/** Write C macros that emit the codes. */
CVL_API void cvl_flow_header_write(const struct cvl_flow_map *map, struct cvl_out *o);

/* ---- items of a path ---- */

#define CVL_FLOW_SYMBOLS_TOLD 16

struct cvl_flow_stamp {
	struct cvl_time time;
	struct cvl_bound bound;
};

enum cvl_flow_what {
	CVL_FLOW_POINT,
	CVL_FLOW_JUMP, /* part of a known code, but no path leads to it from the previous point */
	CVL_FLOW_UNEXPECTED, /* changes that fit no path */
	CVL_FLOW_UNDECIDED,  /* changes that fit several paths */
	/* start of a code cut off by a gap or the end of the capture, or its rest after one */
	CVL_FLOW_CUT,
	CVL_FLOW_GLITCH, /* pins changed and changed back within the settle time */
	CVL_FLOW_GAP,
	CVL_FLOW_WHATS
};

/** "point", "unexpected" ... */
CVL_API const char *cvl_flow_what_name(enum cvl_flow_what what);

struct cvl_flow_item {
	enum cvl_flow_what what;
	struct cvl_flow_stamp begin, end; /* of a point: first and last change of its code */
	uint32_t point;                   /* passed, or after which it happened; or CVL_FLOW_NONE */
	/* of a point: the previous one is `before`, with nothing lost in between */
	bool follows;
	uint32_t before;        /* CVL_FLOW_NONE: the program began */
	const uint16_t *symbol; /* changes of no point, the first n_symbols of n */
	size_t n_symbols;
	uint64_t n;
	enum cvl_gap why; /* of a gap */
};

/* ---- the analysis ---- */

/** From the latest passing of a marked point to the next passing of another, or of itself. */
struct cvl_flow_pair {
	uint32_t from, to;
};

/** Max. pairs of one analysis. */
#define CVL_FLOW_PAIRS_MAX 16

struct cvl_flow_opts {
	const struct cvl_flow_map *map; /* must outlive the analysis */
	bool from_start;                /* the capture began before the program did */
	struct cvl_flow_pair pair[CVL_FLOW_PAIRS_MAX]; /* to be timed */
	size_t n_pairs;
	/**
	 * If not NULL, called with each item as it is found, on the clock @clock. A nonzero return
	 * ends the analysis with that code.
	 */
	int (*item)(void *ctx, const char *clock, const struct cvl_flow_item *item);
	void *ctx;
};

/**
 * Decode every clock of @tl that has the map's pins. CVL_E_USAGE: too many pairs, or points without
 * a marker. Pushing and ending fail with CVL_E_UNKNOWN_ID (nothing was recorded, no clock has the
 * pins, or one has only some of them), CVL_E_LIMIT (too many times between two points),
 * CVL_E_NOMEM, or what item() returned.
 */
CVL_API int cvl_flow_open(struct cvl_analysis **a, struct cvl_timeline *tl,
			  const struct cvl_flow_opts *opts, struct cvl_error *err);

/** Coverage of one node, or of all together. */
struct cvl_flow_node {
	const char *clock;      /* NULL: all */
	const uint64_t *passed; /* of each point */
	const uint64_t *branch; /* of each branch: point[p].next[i] is number first_branch + i */
	uint64_t points_passed, branches_taken; /* of the map's, at least once */
	uint64_t unresolved;            /* pairs of markers with several paths between them */
	uint64_t items[CVL_FLOW_WHATS]; /* of each kind */
};

/** Times of one pair, of all nodes. */
struct cvl_flow_times {
	struct cvl_flow_pair pair;
	struct cvl_durations times;
};

/** What did not fit: the first ones. */
struct cvl_flow_misfit {
	const char *clock;
	struct cvl_flow_item item;
	uint16_t symbol[CVL_FLOW_SYMBOLS_TOLD];
};

#define CVL_FLOW_MISFITS_MAX 20

struct cvl_flow_result {
	const struct cvl_flow_map *map;
	const struct cvl_flow_node *node; /* those that have the pins */
	size_t n_nodes;
	struct cvl_flow_node all;
	const struct cvl_flow_times *times; /* of each pair */
	size_t n_times;
	const struct cvl_flow_misfit *misfit; /* at most CVL_FLOW_MISFITS_MAX */
	size_t n_misfits;
	uint64_t misfits; /* total */
};

/** Of an analysis that cvl_flow_open() made and that was ended. All of it belongs to @a. */
CVL_API const struct cvl_flow_result *cvl_flow_result(const struct cvl_analysis *a);

CVL_END_DECLS

#endif
