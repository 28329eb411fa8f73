/* SPDX-License-Identifier: MIT */
/**
 * The options of a verb: one table, from which the command line is read, and help, manual pages and
 * completion are made.
 *
 * A row says where in the verb's request its value goes, as an offset. Offsets in a group that
 * several verbs share count from where the verb's row for the group says.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows of a table end where nothing more is to be said. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

struct verb;

enum option_kind {
	OPTION_FLAG,  /* bool: true */
	OPTION_UNSET, /* bool: false */
	/* const char *, as are the next ones, which differ in how they are completed */
	OPTION_TEXT,
	OPTION_FILE,
	OPTION_DIR,
	OPTION_CLOCK,
	OPTION_NODE,
	OPTION_LINE,
	OPTION_EVENT,
	OPTION_SELECTOR,
	OPTION_WORD,     /* const char *: one of the words */
	OPTION_CHOICE,   /* unsigned: which of the words, from 0 */
	OPTION_SWITCH,   /* bool: "on" or "off" */
	OPTION_DURATION, /* int64_t: ns, from least to most unless both are 0 */
	OPTION_RATE,     /* uint64_t: Hz, to most unless that is 0 */
	OPTION_NUMBER,   /* unsigned, from least to most */
	OPTION_WHOLE,    /* uint64_t */
	OPTION_REAL,     /* double, from OPTION_REAL_MIN to OPTION_REAL_MAX */
	OPTION_GROUP,    /* options that several verbs have */
	OPTION_HEADING,  /* text above those that follow */
};

/* No quantity needs more, and no product of some goes out of range. */
#define OPTION_REAL_MIN 1e-15
#define OPTION_REAL_MAX 1e15

/** Ends a table if it is OPTION_FLAG without a name. */
struct cli_option {
	const char *name; /* without dashes */
	char letter;      /* short form, or 0 */
	const char *arg;  /* word for its argument, or NULL: it takes none */
	enum option_kind kind;
	size_t at;        /* where in the request it goes */
	const char *what; /* one line of help */
	int64_t least, most;
	size_t given; /* 1 + offset of a bool that becomes true; 0: none */
	size_t count; /* 1 + offset of a size_t: it may be repeated, and at is an array of @most */
	const char *const *words;      /* ended by NULL */
	const char *(*word)(size_t i); /* word @i, or NULL: instead of words */
	const struct cli_option *group;
	const char *now; /* it is an old spelling of that option */
	bool must;       /* it has to be given */
	bool optional;   /* its argument need not be given */
	bool hidden;     /* not told, but taken */
	/*
	 * Read @arg into @to, in place of what the kind does. Returns 0, the exit status of wrong
	 * usage, or -1: all is done.
	 */
	int (*take)(const struct verb *verb, void *to, char *arg);
};

#define OPTION_GIVEN(type, member) .given = 1 + offsetof(type, member)
#define OPTION_MANY(type, array, n)                                  \
	.at = offsetof(type, array), .count = 1 + offsetof(type, n), \
	.most = sizeof(((type *)0)->array) / sizeof(*((type *)0)->array)

/** Goes through a table and the groups in it. */
struct option_walk {
	const struct cli_option *next, *outer;
	size_t base; /* to be added to offsets */
};

void option_walk(struct option_walk *w, const struct verb *verb);
/** The next option or heading, or NULL. */
const struct cli_option *option_next(struct option_walk *w);

/** Word @i that @o can be, or NULL past the last. */
const char *option_word(const struct cli_option *o, size_t i);

/**
 * The option of @verb called @name, of @n bytes; NULL if there is none. *@base is added to its
 * offsets.
 */
const struct cli_option *option_find(const struct verb *verb, const char *name, size_t n,
				     size_t *base);
const struct cli_option *option_letter(const struct verb *verb, char letter, size_t *base);

/** Operands: what is no option. */
struct operands {
	int n;
	char **v;
};

/**
 * Read the options of @verb into @request, and see that there are as many operands as it takes,
 * which @operands gets. argv[0] is the verb. Returns -1 to go on, or the exit status: what is wrong
 * was told, or the help.
 */
int options_read(const struct verb *verb, void *request, int argc, char **argv,
		 struct operands *operands);

/**
 * Of the words that @word gives, the one that was most likely meant by @text; NULL: none is near.
 */
const char *nearest_word(const char *text, const char *(*word)(const void *list, size_t i),
			 const void *list);

#endif
