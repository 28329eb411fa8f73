/* SPDX-License-Identifier: MIT */
/**
 * Selectors: one way to say what to look at, in every option, rule and file (docs/select.md).
 *
 *   [NODE.]LINE:rise|fall|edge     an edge of a digital line
 *   [NODE.]LINE:high|low           a state: a stay at that level
 *   [NODE.]EVENT{FIELD=VALUE,...}  an event, with fields as they are wanted; also != < <= > >=
 *   [NODE.]SPAN:begin|end          an end of a span
 *   [NODE.]NAME                    the line that is called so, or else the event
 *   A..B                           a pair
 *
 * NODE is the name of a node or of a clock. Nodes, names and values may be globs. Which dot ends
 * the node depends on what there is: the reading with the longest name that exists is taken, and of
 * two alike none. So does whether NAME is a line. Therefore a selector is first parsed, then bound
 * to a timeline.
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
	CVL_WHEN_PLAIN, /* nothing is said */
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
	const char *text;   /* VALUE; a glob where it is compared with a text or label */
	bool is_number;     /* VALUE is one, */
	long double number; /* this */
};

/** What was said, and, once it is bound, what it means. Strings belong to it. */
struct cvl_selector {
	const char *text; /* as it was written */
	const char *old;  /* NULL, or: it was written in an old spelling, and this is today's */
	enum cvl_when when;
	struct cvl_condition condition[CVL_CONDITIONS_MAX];
	size_t n_conditions;

	/* from cvl_selector_settle() on */
	const char *node;       /* glob over nodes and clocks; "": any */
	const char *name;       /* of a line, event, kind of record or span; a glob */
	bool line, event, span; /* which of these it may be */
	enum cvl_when means;    /* of a line: never CVL_WHEN_PLAIN; of anything else as `when` */

	/* private */
	char *memory;
	char *path;       /* NODE.NAME without quotes */
	char *full;       /* NODE.NAME:when, if that may be a name too; or NULL */
	char *node_room;  /* for the longest */
	uint16_t cut[16]; /* dots of path that may end NODE */
	size_t n_cuts;
	bool must_cut;  /* one of them does */
	uint8_t pair;   /* it is the first or second of a pair; else 0 */
	uint32_t kinds; /* that may be meant */
};

/**
 * Read @n bytes of @text. CVL_E_SYNTAX, with the place in the text; CVL_E_LIMIT: too long. On
 * failure there is nothing to free. `X rises`, `X falls`, `X changes`, `X is high`, `X is low`, `E
 * where F = V and ...` and `E:F=V,...` are old spellings: see `old`.
 */
CVL_API int cvl_selector_parse(struct cvl_selector *sel, const char *text, size_t n,
			       struct cvl_error *err);

/** Read `A..B`. The name of a span alone means its begin in A, its end in B. */
CVL_API int cvl_selector_pair_parse(struct cvl_selector pair[2], const char *text, size_t n,
				    struct cvl_error *err);

/** What was never parsed, all zeros, is allowed. */
CVL_API void cvl_selector_free(struct cvl_selector *sel);

static inline bool cvl_selector_is_state(const struct cvl_selector *sel)
{
	return sel->when == CVL_WHEN_HIGH || sel->when == CVL_WHEN_LOW;
}

/** If @sel was written in an old spelling, tell today's (CVL_OK: a note). */
CVL_API void cvl_selector_tell_old(const struct cvl_selector *sel, const struct cvl_report *report);

/** How names are understood. All zeros is usual. */
struct cvl_select_opts {
	enum cvl_when line; /* what a line's name alone means; CVL_WHEN_PLAIN: CVL_WHEN_EDGE */
	/*
	 * kinds of records that may be meant by their names ("beacon", "gap"), bits 1 << enum
	 * cvl_kind; 0: beacon, pulse, message
	 */
	uint32_t kinds;
	/*
	 * a name alone may be that of a span: what is no line or event is taken for one where there
	 * are spans
	 */
	bool spans;
	bool relative; /* the nodes `same` and `other` are known to the caller, and stand for any */
	bool events;   /* names are those of events, whatever lines are called */
};

/**
 * Find out what @sel means on @tl: fill node, name, means, line, event and span. May be done again,
 * for another timeline. CVL_E_UNKNOWN_ID: there is no such node, line or event; the message says
 * what is like it. CVL_E_USAGE: two readings are equally good.
 */
CVL_API int cvl_selector_settle(struct cvl_selector *sel, const struct cvl_timeline *tl,
				const struct cvl_select_opts *opts, struct cvl_error *err);

/*
 * ---- what a settled selector means, piece by piece: for those who keep tables of their own ----
 */

/**
 * Whether clock @clock of the session is, or is on, the node asked for. `same` and `other` are
 * names here.
 */
CVL_API bool cvl_selector_clock(const struct cvl_selector *sel, const struct cvl_timeline *tl,
				size_t clock);
/**
 * Whether it may be any record of @stream, seen from clock @clock alone: its trace is that of the
 * clock.
 */
CVL_API bool cvl_select_stream(const struct cvl_timeline *tl, size_t stream, size_t clock);
/** Whether line @line of @stream is called so. The node is not looked at. */
CVL_API bool cvl_selector_line(const struct cvl_selector *sel, const struct cvl_timeline *tl,
			       size_t stream, size_t line);
/**
 * Whether events of class @cls of @stream, as far as they are on @clock, may be meant:
 * cvl_selector_holds() says which. The node is not looked at.
 */
CVL_API bool cvl_selector_class(const struct cvl_selector *sel, const struct cvl_timeline *tl,
				size_t stream, size_t cls, size_t clock);
/**
 * Kinds of records of @stream that are meant by their names, bits 1 << enum cvl_kind; bit
 * CVL_KINDS: levels that are restated.
 */
CVL_API uint32_t cvl_selector_kinds(const struct cvl_selector *sel, const struct cvl_timeline *tl,
				    size_t stream);
/** Whether events of class @cls are ends of spans, whose names decide. */
CVL_API bool cvl_selector_spans(const struct cvl_selector *sel, const struct cvl_timeline *tl,
				size_t stream, size_t cls);
/** Whether cvl_selector_holds() has to be asked: by conditions, or the name of a span. */
CVL_API bool cvl_selector_tests(const struct cvl_selector *sel, const struct cvl_timeline *tl,
				size_t stream, size_t cls);
/**
 * Whether the fields of record @i are as wanted, and it is the span asked for. False, too, if they
 * cannot be read.
 */
CVL_API bool cvl_selector_holds(const struct cvl_selector *sel, const struct cvl_timeline *tl,
				const struct cvl_slice *slice, size_t i);

/**
 * Each line and event class of each clock of @tl: for lists of what may be asked for. @quoted is
 * NODE.NAME as a selector has it.
 */
CVL_API void cvl_select_each(const struct cvl_timeline *tl,
			     void (*fn)(void *ctx, const char *quoted, bool is_line), void *ctx);

/**
 * Append @name to @text (room for @size bytes), in quotes where a selector needs them. Returns
 * where it ends.
 */
CVL_API size_t cvl_select_quote(char *text, size_t at, size_t size, const char *name);

/* ---- a selection: up to 64 selectors against each record ---- */

#define CVL_SELECTION_MAX 64

struct cvl_selection;

/** What a record is: a bit a selector, by its number. */
struct cvl_match {
	uint64_t happened; /* events and edges that it is, states that begin with it */
	uint64_t ended;    /* states that end with it */
	/*
	 * selectors of lines whose level is known from here on, and was not: first record, begin of
	 * a range, behind a gap
	 */
	uint64_t found;
	uint64_t lost; /* whose level is not known from here on */
	uint64_t in;   /* states that lines of its stream are in behind it */
};

/**
 * Bind @n selectors, which stay the caller's and are settled, to all streams of @tl. All must
 * outlive it. A state has to be of one line in each stream: CVL_E_USAGE. CVL_E_LIMIT: more than
 * CVL_SELECTION_MAX.
 */
CVL_API int cvl_select_open(struct cvl_selection **s, struct cvl_selector *const *selectors,
			    size_t n, struct cvl_timeline *tl, const struct cvl_select_opts *opts,
			    struct cvl_error *err);
CVL_API void cvl_select_close(struct cvl_selection *s);

/** What it asks of @stream; @pick is all zeros before, and lives as long as @s. */
CVL_API void cvl_select_want(const struct cvl_selection *s, size_t stream, struct cvl_pick *pick);

/**
 * Look at record @i, each once and in order, since it keeps the levels of lines. Returns whether
 * anything in @m is set but `in`.
 */
CVL_API bool cvl_select_match(struct cvl_selection *s, const struct cvl_slice *slice, size_t i,
			      struct cvl_match *m);

/** Streams in which selector @i may match anything. */
CVL_API bool cvl_select_in(const struct cvl_selection *s, size_t i, size_t stream);

CVL_END_DECLS

#endif
