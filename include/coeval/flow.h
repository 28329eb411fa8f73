/* SPDX-License-Identifier: MIT */
/**
 * Flow: which way programs went, by markers that they put on pins.
 *
 * A flow map says which pin changes of a program mean which of its points, and how points follow
 * each other. A marked point has a code: the symbols that its marker makes. A symbol is a set of
 * pins, bit 0 the first pin of the map: those that change (CVL_FLOW_CHANGES), or those that are
 * high afterwards (CVL_FLOW_LEVELS). A point without a code leaves no trace; that the program
 * passed it follows from the points before and after it, where one way alone leads from the one to
 * the other.
 *
 * A map that was read is sound: all names are known, all points can be reached, no way round is
 * without a marker, and no two paths from one point make the same changes. docs/flow.md describes
 * the file.
 *
 * All paths that fit what was seen are followed at once; a point is told once one alone is left, or
 * all that are left have it in common. At the beginning, behind a gap and behind a change that fits
 * no path, the program may be anywhere, within a code too. What is never settled, or fits nothing,
 * is told at its place; nothing is guessed. Memory is bounded: what takes too many hypotheses to
 * settle is told as undecided.
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
	double weight;         /* how often it is passed, against the others */
	unsigned line, column; /* of the file, for messages */
	bool plain;            /* has no marker, and is to get none */
	uint16_t code[CVL_FLOW_CODE_MAX];
	size_t n_code;  /* 0: not marked */
	uint32_t *next; /* points that may follow */
	size_t n_next;
	uint64_t first_branch; /* number of its first branch among those of all points */
};

/** To be read; who makes one by hand uses cvl_flow_map_parse(). */
struct cvl_flow_map {
	char *file; /* for messages */
	char *program;
	char *pin[CVL_FLOW_PINS_MAX];
	size_t n_pins;
	unsigned pins_line, pins_column; /* of the file */
	enum cvl_flow_codes codes;
	int64_t settle_ns; /* changes within so long of the first are one */
	struct cvl_flow_point *point;
	size_t n;
	bool graph;     /* points say what follows them; else any may follow any */
	uint32_t start; /* where the program begins; CVL_FLOW_NONE without a graph */
	uint64_t branches;

	/* made of the above when the map was read */
	uint8_t *ways;    /* ways[from * n + to]: 0, 1, or 2 for more, through unmarked points */
	uint32_t *follow; /* marked points that may follow a point, in the order of their codes */
	/* where those of each point begin, and one more; n + 1 entries; of a graph */
	size_t *follow_at;
};

/**
 * Read a map, of a file or of the @n bytes of @text, called @name in messages. With @program codes
 * may be missing: what cvl_flow_assign() is given. On success it is to be freed by
 * cvl_flow_map_free(). CVL_E_SYNTAX, CVL_E_UNKNOWN_ID, CVL_E_LIMIT, CVL_E_MISMATCH (it contradicts
 * itself or is ambiguous), CVL_E_IO, CVL_E_NOMEM; texts name file and line.
 */
CVL_API int cvl_flow_map_load(struct cvl_flow_map *map, const char *path, bool program,
			      struct cvl_error *err);
CVL_API int cvl_flow_map_parse(struct cvl_flow_map *map, const char *text, size_t n,
			       const char *name, bool program, struct cvl_error *err);
CVL_API void cvl_flow_map_free(struct cvl_flow_map *map);

/** Point called @name, or CVL_FLOW_NONE. */
CVL_API uint32_t cvl_flow_map_find(const struct cvl_flow_map *map, const char *name);

/**
 * The unmarked points between two marked ones that follow each other, into @path. Returns how many,
 * or -1 if more than one way leads there. @from may be CVL_FLOW_NONE: from the start, which then is
 * in the path.
 */
CVL_API int cvl_flow_map_between(const struct cvl_flow_map *map, uint32_t from, uint32_t to,
				 uint32_t path[CVL_FLOW_POINTS_MAX]);

#define CVL_FLOW_SYMBOLS_TEXT 160
/** Symbols as text, "a, a+b", cut with "..." where they do not fit. */
CVL_API void cvl_flow_symbols_text(const struct cvl_flow_map *map, const uint16_t *symbol, size_t n,
				   char text[CVL_FLOW_SYMBOLS_TEXT]);

/**
 * Let @map, which was read with @program, be of these pins. Without names: of the first @n of its
 * own, or of P0, P1, ... if it has none. CVL_E_USAGE: too many, one twice, or no name of a pin; the
 * text names the pin alone.
 */
CVL_API int cvl_flow_map_pins(struct cvl_flow_map *map, const char *const *name, size_t n,
			      struct cvl_error *err);

/** How codes are given out. */
struct cvl_flow_assign_opts {
	bool levels;   /* pin levels that go back to none; else pin changes */
	bool together; /* several pins may change at once (levels always do) */
	bool has_settle;
	/* else the map's; if that is 0, and several pins change at once, 100 ns */
	int64_t settle_ns;
};

/**
 * Give each point that is not plain a code on the map's pins, the shortest to those of the greatest
 * weight. CVL_E_USAGE: these pins cannot tell so many points.
 */
CVL_API int cvl_flow_assign(struct cvl_flow_map *map, const struct cvl_flow_assign_opts *opts,
			    struct cvl_error *err);
/** Write the map as YAML. */
CVL_API void cvl_flow_map_write(const struct cvl_flow_map *map, struct cvl_out *o);
/** Write the macros in C that make the codes. */
CVL_API void cvl_flow_header_write(const struct cvl_flow_map *map, struct cvl_out *o);

/* ---- what is found, one by one ---- */

#define CVL_FLOW_SYMBOLS_TOLD 16

struct cvl_flow_stamp {
	struct cvl_time time;
	struct cvl_bound bound;
};

enum cvl_flow_what {
	CVL_FLOW_POINT,
	CVL_FLOW_JUMP, /* a change of some code, but no path leads to it from the point before */
	CVL_FLOW_UNEXPECTED, /* changes that fit no path */
	CVL_FLOW_UNDECIDED,  /* changes that fit several paths */
	/*
	 * beginning of a code that a gap or the end of the capture cut off, or its rest behind one
	 */
	CVL_FLOW_CUT,
	CVL_FLOW_GLITCH, /* pins changed and were back within the settle time */
	CVL_FLOW_GAP,
	CVL_FLOW_WHATS
};

/** "point", "unexpected" ... */
CVL_API const char *cvl_flow_what_name(enum cvl_flow_what what);

struct cvl_flow_item {
	enum cvl_flow_what what;
	struct cvl_flow_stamp begin,
		end;    /* of a point: the first and the last change of its code */
	uint32_t point; /* that was passed, or after which it happened; or CVL_FLOW_NONE */
	/* a point: what the program passed before is `before`, with nothing lost in between */
	bool follows;
	uint32_t before;        /* CVL_FLOW_NONE: it has begun */
	const uint16_t *symbol; /* changes that are no point's, the first n_symbols of n */
	size_t n_symbols;
	uint64_t n;
	enum cvl_gap why; /* of a gap */
};

/* ---- the analysis ---- */

/** From the latest passing of a marked point to the next one of another, or of itself. */
struct cvl_flow_pair {
	uint32_t from, to;
};

/** Pairs of one analysis. */
#define CVL_FLOW_PAIRS_MAX 16

struct cvl_flow_opts {
	const struct cvl_flow_map *map; /* must outlive the analysis */
	bool from_start;                /* the capture began before the program did */
	struct cvl_flow_pair pair[CVL_FLOW_PAIRS_MAX]; /* times between them are wanted */
	size_t n_pairs;
	/**
	 * If not NULL, told of each item as it is found, of the clock called @clock. What is not 0
	 * ends the analysis as its code.
	 */
	int (*item)(void *ctx, const char *clock, const struct cvl_flow_item *item);
	void *ctx;
};

/**
 * Decode every clock of @tl that has the map's pins. CVL_E_USAGE: more pairs than there may be, or
 * of points without a marker. What is pushed, and the end, give CVL_E_UNKNOWN_ID (nothing was
 * recorded, no clock has the pins, or one has some of them), CVL_E_LIMIT (more times between two
 * points than memory is spent on), CVL_E_NOMEM, or what item() returned.
 */
CVL_API int cvl_flow_open(struct cvl_analysis **a, struct cvl_timeline *tl,
			  const struct cvl_flow_opts *opts, struct cvl_error *err);

/** What one node did, or all together. */
struct cvl_flow_node {
	const char *clock;      /* NULL: all */
	const uint64_t *passed; /* each point */
	const uint64_t *branch; /* each branch: point[p].next[i] is number first_branch + i */
	uint64_t points_passed, branches_taken; /* how many of the map's, once or more */
	uint64_t unresolved;                    /* markers between which several ways lead */
	uint64_t items[CVL_FLOW_WHATS];         /* of each kind */
};

/** Times of one pair, of all nodes. */
struct cvl_flow_times {
	struct cvl_flow_pair pair;
	struct cvl_durations times;
};

/** What did not fit: the first of it. */
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
	const struct cvl_flow_misfit *misfit; /* CVL_FLOW_MISFITS_MAX at the most */
	size_t n_misfits;
	uint64_t misfits; /* in all */
};

/** Of an analysis that cvl_flow_open() made and that was ended. All of it belongs to @a. */
CVL_API const struct cvl_flow_result *cvl_flow_result(const struct cvl_analysis *a);

CVL_END_DECLS

#endif
