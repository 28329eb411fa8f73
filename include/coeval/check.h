/* SPDX-License-Identifier: MIT */
/**
 * Checks: rules that a timeline must obey, and for each whether it holds, is violated, or is
 * undecided.
 *
 * Rules are read from YAML (docs/check.md) and bound to a timeline, whose slices are then pushed to
 * the analysis (coeval/analysis.h). It keeps only what the rules' windows and the bounds reach back
 * to.
 *
 * A case is one instance of a rule: an event that requires another, a line's stay in a state, two
 * events in a row. It is *held* or *violated* only if that is so for all times within the bounds.
 * It is undecided as well if a gap, the end of the capture, or a record out of order may have
 * hidden something.
 *
 * Bounds are assumed to grow no faster than time. A case waits for records with a capture bound of
 * their own for as long as the greatest of these bounds so far.
 */
#ifndef COEVAL_CHECK_H
#define COEVAL_CHECK_H

#include <stdbool.h>

#include <coeval/analysis.h>
#include <coeval/api.h>

CVL_BEGIN_DECLS

/** How many cases of a rule are kept, of each verdict: the first. */
#define CVL_CHECK_CASES_MAX 5

struct cvl_check_rules;

/**
 * The rules of the YAML file @path, or of the @n bytes of @text, called @name in messages. To be
 * freed; *@rules is NULL on failure: CVL_E_SYNTAX, CVL_E_LIMIT, CVL_E_IO, CVL_E_NOMEM.
 */
CVL_API int cvl_check_rules_load(struct cvl_check_rules **rules, const char *path,
				 struct cvl_error *err);
CVL_API int cvl_check_rules_parse(struct cvl_check_rules **rules, const char *text, size_t n,
				  const char *name, struct cvl_error *err);
/** NULL is allowed. */
CVL_API void cvl_check_rules_free(struct cvl_check_rules *rules);

enum cvl_check_verdict {
	CVL_CHECK_HOLDS,
	CVL_CHECK_VIOLATED,
	CVL_CHECK_CANNOT_TELL,
	CVL_CHECK_VACUOUS, /* what the rule is about did not happen */
	CVL_CHECK_VERDICTS
};

/** "holds", "violated", "cannot tell", "not tried" */
CVL_API const char *cvl_check_verdict_name(enum cvl_check_verdict v);

/** Why a case was violated or is undecided. */
enum cvl_check_reason {
	CVL_CHECK_BOUNDS,  /* too wide to decide */
	CVL_CHECK_LOSS,    /* a gap */
	CVL_CHECK_CUT,     /* the capture begins or ends within it */
	CVL_CHECK_LATE,    /* a record came out of order */
	CVL_CHECK_CROWDED, /* too many at once to be kept */
	CVL_CHECK_TOO_SHORT,
	CVL_CHECK_TOO_LONG,
	CVL_CHECK_NONE_CAME,
	CVL_CHECK_HAPPENED,
	CVL_CHECK_OVERLAP,
	CVL_CHECK_WRONG_ORDER,
	CVL_CHECK_TOO_MANY,
	CVL_CHECK_REASONS
};

/** Short and stable: "bounds", "gap", "too long". */
CVL_API const char *cvl_check_reason_name(enum cvl_check_reason r);
/** For people: "the bounds are too wide to say". */
CVL_API const char *cvl_check_reason_text(enum cvl_check_reason r);

/** A case that was violated or is undecided. */
struct cvl_check_case {
	enum cvl_check_reason reason;
	struct cvl_time time; /* of the event that began it */
	int64_t bound_ns;     /* of time; CVL_BOUND_UNKNOWN */
	const char *from;     /* node; "any" */
	const char *to;       /* the other node, or NULL */
	bool has_value;
	int64_t value_ns, value_bound_ns; /* a distance or a length */
	const char *event, *after;        /* of an order: which came, and after which; else NULL */
};

/** The result of one rule. */
struct cvl_check_outcome {
	const char *name;
	size_t line; /* of the file */
	enum cvl_check_verdict verdict;
	uint64_t held, violated, unknown; /* cases */
	uint64_t why[CVL_CHECK_REASONS];  /* of the violated and unknown ones */
	struct cvl_check_case first_violated[CVL_CHECK_CASES_MAX];
	struct cvl_check_case first_unknown[CVL_CHECK_CASES_MAX];
};

struct cvl_check_result {
	const char *file; /* of the rules */
	size_t n;
	const struct cvl_check_outcome *rule; /* in the order of the file */
	size_t count[CVL_CHECK_VERDICTS];     /* rules of each verdict */
};

struct cvl_check_opts {
	const struct cvl_check_rules *rules; /* must outlive the analysis */
	/**
	 * If not NULL, called with each case that was violated or (!@violated) is undecided, as
	 * soon as that is known. @rule: of the result, with the counts of so far.
	 */
	void (*put)(void *ctx, const struct cvl_check_outcome *rule, bool violated,
		    const struct cvl_check_case *one);
	void *ctx;
};

/**
 * Bind the rules to @tl, which must outlive the analysis. CVL_E_UNKNOWN_ID: an unknown node, line
 * or event; CVL_E_LIMIT: more pending cases than memory allows. The options are copied.
 */
CVL_API int cvl_check_open(struct cvl_analysis **a, struct cvl_timeline *tl,
			   const struct cvl_check_opts *opts, struct cvl_error *err);

/**
 * Whether a case was violated by what was pushed so far; at any time, of an analysis that
 * cvl_check_open() made. What does not come is missed only when something else comes that its rule
 * is about, or at the end.
 */
CVL_API bool cvl_check_violated(struct cvl_analysis *a);

/** Of an analysis that cvl_check_open() made and that was ended. It belongs to @a. */
CVL_API const struct cvl_check_result *cvl_check_result(const struct cvl_analysis *a);

CVL_END_DECLS

#endif
