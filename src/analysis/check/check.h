/* SPDX-License-Identifier: MIT */
/**
 * Checks: rules that a timeline must obey, and for each whether it holds, is violated, or cannot be told.
 *
 * Rules are read from YAML (docs/check.md). An engine is bound to a timeline, whose slices it is then given one by one. It
 * keeps what the rules' windows and the bounds reach back to, and no more: CHECK_PENDING_MAX cases of a rule at the most.
 *
 * A case is one try of a rule: an event that asks for another, a stay of a line, two events in a row. It is *held* or
 * *violated* only if that is so for all times within the bounds. What a gap, the end of the capture, or a record that comes
 * out of order may have hidden cannot be told either.
 *
 * Bounds are taken to grow not faster than time does. Records with a capture bound of their own (CVL_HALF_WIDTH) are waited for
 * as long as the greatest of these bounds so far.
 */
#ifndef ANALYSIS_CHECK_H
#define ANALYSIS_CHECK_H

#include <coeval/timeline.h>

#define CHECK_RULES_MAX 1000
#define CHECK_STEPS_MAX 16
#define CHECK_CONDITIONS_MAX 8
#define CHECK_MONITORS_MAX 100000
#define CHECK_PENDING_MAX 65536
/** Greatest count of a `count` rule. */
#define CHECK_COUNT_MAX 65536
/** First cases of a rule that are kept, of each verdict. */
#define CHECK_CASES_MAX 5

/* ---- rules ---- */

enum check_kind {
	CHECK_THEN,     /* after, then, within: phrase 0, 1 */
	CHECK_THEN_NOT, /* after, never, within */
	CHECK_STATE,    /* state, at least, at most */
	CHECK_NEVER,    /* never [while]: phrase 0 [, 1] */
	CHECK_ORDER,    /* order: all phrases */
	CHECK_COUNT,    /* count, at most, in */
	CHECK_EVERY,    /* event, every */
};

enum check_verb {
	CHECK_HAPPENS, /* an event of that name */
	CHECK_RISES,
	CHECK_FALLS,
	CHECK_CHANGES,
	CHECK_HIGH, /* the states */
	CHECK_LOW,
};

enum check_operator { CHECK_EQ, CHECK_NE, CHECK_LT, CHECK_LE, CHECK_GT, CHECK_GE };

/** "where FIELD = VALUE" */
struct check_condition {
	char *field;
	enum check_operator op;
	char *text; /* of the value; a glob */
	bool is_number;
	double number;
};

struct check_phrase {
	char *text; /* as it was written */
	char *what; /* [NODE.]NAME */
	bool any;   /* the nodes together, as one */
	enum check_verb verb;
	struct check_condition condition[CHECK_CONDITIONS_MAX];
	size_t n_conditions;
	size_t line, column; /* of the file */
};

struct check_rule {
	const char *name;
	size_t line, column;
	enum check_kind kind;
	struct check_phrase phrase[CHECK_STEPS_MAX];
	size_t n_phrases;
	int64_t min, max; /* ns. COUNT: max is the window */
	uint64_t count;
};

struct check_rules {
	char *file; /* for messages */
	struct check_rule *rule;
	size_t n, room;
	struct config_memory *memory; /* owns their names */
};

/** Add the rules of YAML @text to @set; @file for messages. On failure @set is to be freed all the same. */
int check_rules_parse(struct check_rules *set, const char *text, size_t n, const char *file,
		      struct cvl_error *err);
void check_rules_free(struct check_rules *set);

/** Read one phrase. The error has no place in it. */
int check_phrase_parse(struct check_phrase *p, const char *text, struct cvl_error *err);
void check_phrase_free(struct check_phrase *p);

static inline bool check_is_state(const struct check_phrase *p)
{
	return p->verb == CHECK_HIGH || p->verb == CHECK_LOW;
}

/* ---- results ---- */

enum check_verdict { CHECK_HOLDS, CHECK_VIOLATED, CHECK_CANNOT_TELL, CHECK_VACUOUS };

/** "holds", "violated", "cannot tell", "not tried" */
const char *check_verdict_name(enum check_verdict v);

enum check_reason {
	CHECK_BOUNDS,  /* too wide to say */
	CHECK_LOSS,    /* a gap */
	CHECK_CUT,     /* the capture begins later or ends sooner */
	CHECK_LATE,    /* a record came out of order */
	CHECK_CROWDED, /* more at once than are kept */
	CHECK_TOO_SHORT,
	CHECK_TOO_LONG,
	CHECK_NONE_CAME,
	CHECK_HAPPENED,
	CHECK_OVERLAP,
	CHECK_WRONG_ORDER,
	CHECK_TOO_MANY,
	CHECK_REASONS,
};

/** A case that was violated or cannot be told. */
struct check_case {
	enum check_reason reason;
	struct cvl_time time; /* of what began it */
	int64_t bound;        /* of time */
	const char *from;     /* node; "any" */
	const char *to;       /* the other node, or NULL */
	bool has_value;
	int64_t value, value_bound; /* ns: a distance or a length */
	int step, before;           /* ORDER: what came, and after what; else -1 */
};

struct check_result {
	const struct check_rule *rule;
	enum check_verdict verdict;
	uint64_t held, violated, unknown;
	uint64_t why[CHECK_REASONS]; /* of the violated and unknown ones */
	struct check_case first_violated[CHECK_CASES_MAX], first_unknown[CHECK_CASES_MAX];
};

/* ---- the engine ---- */

struct check;

/**
 * Bind @rules to the streams of @tl; both must outlive it, and from then on @tl hands out no more than they ask for.
 * CVL_E_UNKNOWN_ID: a node, line or event that is not there;
 * CVL_E_LIMIT: more cases side by side than memory is spent on.
 */
int check_open(struct check **c, const struct check_rules *rules, struct cvl_timeline *tl,
	       struct cvl_error *err);
/** The next slice of the timeline. */
int check_push(struct check *c, const struct cvl_slice *slice, struct cvl_error *err);
/** The timeline is at its end; @last if nothing later than that was asked for, else CVL_TIME_MAX. */
int check_end(struct check *c, struct cvl_time last, struct cvl_error *err);
/** Of rule @i. Cases belong to @c. */
const struct check_result *check_result(const struct check *c, size_t i);
void check_close(struct check *c);

#endif
