/* SPDX-License-Identifier: MIT */
/**
 * What a bench measured: a table with a row for each task, setting and repetition, kept as CSV.
 * Each run fills cells of one row; an empty cell has not been measured. `coeval task freq` reads
 * the same file.
 */
#ifndef LAB_RESULTS_H
#define LAB_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

#define RESULTS_NAME 64

enum quantity {
	Q_CYCLES,
	/*
	 * cycles spent on more than the first of an instruction, and so on: counts of a whole run
	 */
	Q_CPI,
	Q_EXC,
	Q_SLEEP,
	Q_LSU,
	Q_FOLD,
	Q_RAM, /* data accesses of a whole run */
	Q_FLASH,
	Q_PERIPHERAL,
	Q_ENERGY, /* J */
	Q_TIME,   /* s, by the target's own timer */
	Q_DELAY,  /* s, by the oscilloscope */
	QUANTITIES
};

/** Name of its column. */
const char *quantity_name(enum quantity q);

/** The quantity of column @name, or -1. */
int quantity_find(const char *name);

/** What a row describes. */
struct results_key {
	char task[RESULTS_NAME];
	uint64_t hz;
	char policy[RESULTS_NAME];
	bool adaption, cache;
	unsigned repetition; /* from 1 */
};

struct results_row {
	struct results_key key;
	double value[QUANTITIES]; /* NAN: not measured */
	uint64_t iterations;      /* 0: not known */
	unsigned outliers;        /* bits, by quantity */
};

struct results {
	struct results_row *row;
	size_t n, capacity;
};

/**
 * Read @path, which was saved by results_save(). A missing file is not an error: the table is
 * empty. CVL_E_SYNTAX, CVL_E_MISSING and the like with line and column. @r must be zeros.
 */
int results_load(struct results *r, const char *path, struct cvl_error *err);

/** The same from @n bytes of @text, called @name. */
int results_parse(struct results *r, const char *text, size_t n, const char *name,
		  struct cvl_error *err);

/** Replace @path as a whole. CVL_E_IO; CVL_E_USAGE if @path is not a regular file. */
int results_save(const struct results *r, const char *path, struct cvl_error *err);

/** The same with @n bytes of @text. */
int results_write(const char *path, const char *text, size_t n, struct cvl_error *err);

/** The row of @key, or NULL. */
struct results_row *results_find(const struct results *r, const struct results_key *key);

/** The row of @key, new if there was none; NULL without memory. Valid until the next call. */
struct results_row *results_row(struct results *r, const struct results_key *key);

void results_free(struct results *r);

/**
 * Whether @name is valid for a task or policy: letters, digits, and "-_.@+", not longer than
 * RESULTS_NAME.
 */
bool results_name(const char *name);

#endif
