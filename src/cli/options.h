/* SPDX-License-Identifier: MIT */
/**
 * The options of a verb: one table, which drives parsing, help, manual pages and completion.
 *
 * A row gives the offset of its value in the verb's request. Offsets in a shared group are relative
 * to the offset in the verb's row for the group.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows of a table omit trailing fields. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

struct verb;

enum option_kind {
	OPTION_FLAG,  /* bool: true */
	OPTION_UNSET, /* bool: false */
	/* const char *, as are the next ones, which differ in completion */
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
	OPTION_GROUP,    /* options shared by several verbs */
	OPTION_HEADING,  /* heading above the following options */
};

/* Enough for any quantity, and products stay in range. */
#define OPTION_REAL_MIN 1e-15
#define OPTION_REAL_MAX 1e15

/** Ends a table if it is OPTION_FLAG without a name. */
struct cli_option {
	const char *name; /* without dashes */
	char letter;      /* short form, or 0 */
	const char *arg;  /* name of its argument, or NULL if it takes none */
	enum option_kind kind;
	size_t at;        /* offset in the request */
	const char *what; /* one line of help */
	int64_t least, most;
	size_t given; /* 1 + offset of a bool to set; 0: none */
	size_t count; /* 1 + offset of a size_t: repeatable: `at` is an array of @most */
	const char *const *words;      /* NULL-terminated */
	const char *(*word)(size_t i); /* instead of words: word @i, or NULL */
	const struct cli_option *group;
	const char *now; /* the option that replaces this old spelling */
	bool must;       /* it is mandatory */
	bool optional;   /* its argument is optional */
	bool hidden;     /* accepted but undocumented */
	/*
	 * Custom parser of @arg into @to. Returns 0, the exit status of a usage error, or -1: all
	 * is done.
	 */
	int (*take)(const struct verb *verb, void *to, char *arg);
};

#define OPTION_GIVEN(type, member) .given = 1 + offsetof(type, member)
#define OPTION_MANY(type, array, n)                                  \
	.at = offsetof(type, array), .count = 1 + offsetof(type, n), \
	.most = sizeof(((type *)0)->array) / sizeof(*((type *)0)->array)

/** Iterates over a table and its groups. */
struct option_walk {
	const struct cli_option *next, *outer;
	size_t base; /* added to offsets */
};

void option_walk(struct option_walk *w, const struct verb *verb);
/** The next option or heading, or NULL. */
const struct cli_option *option_next(struct option_walk *w);

/** Word @i accepted by @o, or NULL past the last. */
const char *option_word(const struct cli_option *o, size_t i);

/**
 * The option @name of @verb, @n bytes long; NULL if unknown. *@base is added to its offset.
 */
const struct cli_option *option_find(const struct verb *verb, const char *name, size_t n,
				     size_t *base);
const struct cli_option *option_letter(const struct verb *verb, char letter, size_t *base);

/** Operands: arguments that are not options. */
struct operands {
	int n;
	char **v;
};

/**
 * Parse the options of @verb into @request, and its operands, whose number is checked, into
 * @operands. argv[0] is the verb. Returns -1 to continue, or the exit status after an error was
 * reported or help printed.
 */
int options_read(const struct verb *verb, void *request, int argc, char **argv,
		 struct operands *operands);

/**
 * The word given by @word that was most likely meant by @text; NULL: none is similar.
 */
const char *nearest_word(const char *text, const char *(*word)(const void *list, size_t i),
			 const void *list);

#endif
