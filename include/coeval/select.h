/* SPDX-License-Identifier: MIT */
/**
 * Selectors: one way to say what to look at, in every option, rule and file (docs/select.md).
 *
 *   [NODE.]LINE:rise|fall|edge     an edge of a digital line
 *   [NODE.]LINE:high|low           a state: a stay at that level
 *   [NODE.]EVENT{FIELD=VALUE,...}  an event, with conditions on its fields; also != < <= > >=
 *   [NODE.]SPAN:begin|end          an end of a span
 *   [NODE.]NAME                    the line of that name, or else the event
 *   A..B                           a pair
 *
 * NODE is the name of a node or of a clock. Nodes, names and values may be globs. Which dot ends
 * the node depends on what exists: the reading with the longest existing name is taken; a tie is an
 * error. Whether NAME is a line depends on that, too. So a selector is first parsed, then resolved
 * on a timeline.
 *
 * One thread at a time for each object.
 */
#ifndef COEVAL_SELECT_H
#define COEVAL_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/api.h>
#include <coeval/error.h>
#include <coeval/timeline.h>

CVL_BEGIN_DECLS

#define CVL_CONDITIONS_MAX 8
/** Longest text of one selector, bytes. */
#define CVL_SELECTOR_MAX 500

enum cvl_when {
	CVL_WHEN_PLAIN, /* not stated */
	CVL_WHEN_RISE,
	CVL_WHEN_FALL,
	CVL_WHEN_EDGE,
	CVL_WHEN_HIGH, /* states */
	CVL_WHEN_LOW,
	CVL_WHEN_BEGIN, /* of a span */
	CVL_WHEN_END,
	CVL_WHENS
};

/** "rise", ...; "" of CVL_WHEN_PLAIN. */
CVL_API const char *cvl_when_name(enum cvl_when when);

enum cvl_compare { CVL_EQ, CVL_NE, CVL_LT, CVL_LE, CVL_GT, CVL_GE };

/** FIELD op VALUE. */
struct cvl_condition {
	const char *field; /* without the underscore that TSDL may put before it */
	enum cvl_compare op;
	const char *text;   /* VALUE; a glob when compared with a text or label */
	bool is_number;     /* VALUE is a number, */
	long double number; /* this */
};

/** What was written, and, once resolved, what it means. Strings belong to it. */
struct cvl_selector {
	const char *text; /* as it was written */
	const char *old;  /* the current spelling, if it was written in an old one; else NULL */
	enum cvl_when when;
	struct cvl_condition condition[CVL_CONDITIONS_MAX];
	size_t n_conditions;

	/* from cvl_selector_resolve() on */
	const char *node;       /* glob over nodes and clocks; "": any */
	const char *name;       /* of a line, event, kind of record or span; a glob */
	bool line, event, span; /* which of these it may match */
	enum cvl_when means;    /* of a line: never CVL_WHEN_PLAIN; of anything else as `when` */

	/* private */
	char *memory;
	char *path;       /* NODE.NAME without quotes */
	char *full;       /* NODE.NAME:when, if that may be a name too; or NULL */
	char *node_room;  /* for the longest node */
	uint16_t cut[16]; /* positions in path of dots that may end NODE */
	size_t n_cuts;
	bool must_cut;  /* there must be a NODE */
	uint8_t pair;   /* 1, 2: first or second of a pair; 0: neither */
	uint32_t kinds; /* that it may match */
};

/**
 * Read @n bytes of @text. CVL_E_SYNTAX, with the offset in the text; CVL_E_LIMIT: too long. On
 * failure there is nothing to free. `X rises`, `X falls`, `X changes`, `X is high`, `X is low`, `E
 * where F = V and ...` and `E:F=V,...` are old spellings: see `old`.
 */
CVL_API int cvl_selector_parse(struct cvl_selector *sel, const char *text, size_t n,
			       struct cvl_error *err);

/** Read `A..B`. The name of a span alone means its begin in A, its end in B. */
CVL_API int cvl_selector_pair_parse(struct cvl_selector pair[2], const char *text, size_t n,
				    struct cvl_error *err);

/** A selector of all zeros is allowed. */
CVL_API void cvl_selector_free(struct cvl_selector *sel);

static inline bool cvl_selector_is_state(const struct cvl_selector *sel)
{
	return sel->when == CVL_WHEN_HIGH || sel->when == CVL_WHEN_LOW;
}

/** If @sel was written in an old spelling, report the current one (CVL_OK: a note). */
CVL_API void cvl_selector_tell_old(const struct cvl_selector *sel, const struct cvl_report *report);

/** How names are resolved. All zeros: the usual way. */
struct cvl_select_opts {
	enum cvl_when line; /* what a line's name alone means; CVL_WHEN_PLAIN: CVL_WHEN_EDGE */
	/*
	 * kinds of records that may be selected by name ("beacon", "gap"), bits 1 << enum cvl_kind;
	 * 0: beacon, pulse, message
	 */
	uint32_t kinds;
	/*
	 * a name alone may be a span's: one that is neither a line nor an event is taken for a span
	 * if there are spans
	 */
	bool spans;
	bool relative; /* the caller interprets the nodes `same` and `other`; here they match any */
	bool events;   /* names are those of events, even if a line has the same name */
};

/**
 * Resolve @sel on @tl: fill node, name, means, line, event and span. May be repeated for another
 * timeline. CVL_E_UNKNOWN_ID: no such node, line or event; the message suggests similar names.
 * CVL_E_USAGE: it is ambiguous.
 */
CVL_API int cvl_selector_resolve(struct cvl_selector *sel, const struct cvl_timeline *tl,
				 const struct cvl_select_opts *opts, struct cvl_error *err);

/* ---- queries on a resolved selector, for callers that keep tables of their own ---- */

/**
 * Whether clock @clock of the session is, or is on, the selected node. `same` and `other` are plain
 * names here.
 */
CVL_API bool cvl_selector_clock(const struct cvl_selector *sel, const struct cvl_timeline *tl,
				size_t clock);
/** Whether records of @stream may be of clock @clock: its trace is that of the clock. */
CVL_API bool cvl_select_stream(const struct cvl_timeline *tl, size_t stream, size_t clock);
/** Whether line @line of @stream matches by name. The node is ignored. */
CVL_API bool cvl_selector_line(const struct cvl_selector *sel, const struct cvl_timeline *tl,
			       size_t stream, size_t line);
/**
 * Whether events of class @cls of @stream on @clock may match: cvl_selector_holds() tells which.
 * The node is ignored.
 */
CVL_API bool cvl_selector_class(const struct cvl_selector *sel, const struct cvl_timeline *tl,
				size_t stream, size_t cls, size_t clock);
/**
 * Kinds of records of @stream that match by name, bits 1 << enum cvl_kind; bit CVL_KINDS: restated
 * levels.
 */
CVL_API uint32_t cvl_selector_kinds(const struct cvl_selector *sel, const struct cvl_timeline *tl,
				    size_t stream);
/** Whether events of class @cls are ends of spans, so that the span's name decides. */
CVL_API bool cvl_selector_spans(const struct cvl_selector *sel, const struct cvl_timeline *tl,
				size_t stream, size_t cls);
/** Whether cvl_selector_holds() must be called: there are conditions, or the name of a span. */
CVL_API bool cvl_selector_tests(const struct cvl_selector *sel, const struct cvl_timeline *tl,
				size_t stream, size_t cls);
/**
 * Whether record @i meets the conditions, and is of the selected span. False, too, if its fields
 * cannot be read.
 */
CVL_API bool cvl_selector_holds(const struct cvl_selector *sel, const struct cvl_timeline *tl,
				const struct cvl_slice *slice, size_t i);

/**
 * Call @put for each line and event class of each clock of @tl, to list what can be selected.
 * @quoted is NODE.NAME, quoted as in a selector.
 */
CVL_API void cvl_select_each(const struct cvl_timeline *tl,
			     void (*fn)(void *ctx, const char *quoted, bool is_line), void *ctx);

/**
 * Append @name to @text (room for @size bytes), in quotes if a selector needs them. Returns the new
 * length.
 */
CVL_API size_t cvl_select_quote(char *text, size_t at, size_t size, const char *name);

/* ---- a selection: up to 64 selectors against each record ---- */

#define CVL_SELECTION_MAX 64

struct cvl_selection;

/** Which selectors a record matches: one bit each, by number. */
struct cvl_match {
	uint64_t happened; /* events and edges that match, states that begin with it */
	uint64_t ended;    /* states that end with it */
	/*
	 * selectors of lines whose level becomes known: at the first record, the begin of a range,
	 * after a gap
	 */
	uint64_t found;
	uint64_t lost; /* whose level becomes unknown */
	uint64_t in;   /* states that lines of its stream are in after it */
};

/**
 * Bind @n resolved selectors, which remain the caller's, to all streams of @tl. All must outlive
 * it. CVL_E_USAGE: a state of several lines of one stream. CVL_E_LIMIT: more than
 * CVL_SELECTION_MAX.
 */
CVL_API int cvl_select_open(struct cvl_selection **s, struct cvl_selector *const *selectors,
			    size_t n, struct cvl_timeline *tl, const struct cvl_select_opts *opts,
			    struct cvl_error *err);
CVL_API void cvl_select_close(struct cvl_selection *s);

/** What it needs of @stream; @pick is all zeros before, and is valid as long as @s. */
CVL_API void cvl_select_want(const struct cvl_selection *s, size_t stream, struct cvl_pick *pick);

/**
 * Match record @i. Call it for every record once and in order, since it tracks the levels of lines.
 * Returns whether anything in @m but `in` is set.
 */
CVL_API bool cvl_select_match(struct cvl_selection *s, const struct cvl_slice *slice, size_t i,
			      struct cvl_match *m);

/** Whether selector @i may match anything in a stream. */
CVL_API bool cvl_select_in(const struct cvl_selection *s, size_t i, size_t stream);

CVL_END_DECLS

#endif
