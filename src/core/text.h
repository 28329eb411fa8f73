/* SPDX-License-Identifier: MIT */
/** Shared by text formats: exact times, cells of a CSV line, and counted problems. */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/format.h>

/** A signed count of ticks: times before zero are valid text, although no clock shows them. */
struct cvl_text_ticks {
	uint64_t count;
	bool negative; /* never with a count of 0 */
};

/**
 * Read a decimal number of 10^@exp10 seconds ("1.5", "-.25", "1.5e-06") as ticks of a clock of
 * @rate_hz, to the nearest tick, halves away from zero. Exact for any number of digits: no
 * floating point is involved. The whole of @s must be the number.
 *
 * Returns 0, CVL_E_SYNTAX, or CVL_E_RANGE if the count needs more than 64 bits.
 */
int cvl_text_ticks(const char *s, int exp10, uint64_t rate_hz, struct cvl_text_ticks *out);

/**
 * Read a finite decimal number. Returns 0 or CVL_E_SYNTAX. Needs the "C" numeric locale, which is
 * the default.
 */
int cvl_text_real(const char *s, double *out);

/**
 * Split @line at its commas, in place: surrounding blanks and quotes of cells are removed, a
 * doubled quote in a quoted cell becomes one. Up to @max cells are stored.
 *
 * Returns how many cells there are (may be more than @max), or 0 if the quotes do not match.
 */
size_t cvl_text_split(char *line, char **cells, size_t max);

/**
 * Replace the names of @n lines with those of @list ("a,b,c", may be shorter than @n; NULL: keep
 * all). @names[i] are allocated with malloc. Returns 0, CVL_E_USAGE (more names than lines),
 * CVL_E_NOMEM.
 */
int cvl_text_rename(const char *list, char **names, size_t n);

/**
 * Whether @name, or its part after the last '.', matches a glob of @list ("a*,b"). '*' matches any
 * characters and '?' one; nothing else is special, so "bus[3]" is literal.
 */
bool cvl_text_chosen(const char *list, const char *name);

/** A recoverable problem: how often it occurred, and where first. */
struct cvl_tally {
	uint64_t n;
	uint64_t offset;
};

static inline void cvl_tally_add(struct cvl_tally *t, uint64_t offset)
{
	if (!t->n++)
		t->offset = offset;
}

/** Report the count as "NAME: COUNT WHAT", if there is anything to report. */
void cvl_tally_tell(const struct cvl_tally *t, const struct cvl_import_opts *opts,
		    enum cvl_code code, const char *name, const char *what);

/**
 * Complete the names of @n lines: @list ("a,b,c") overrides existing names, D0, D1, ... fill the
 * rest. Duplicates in a file get "-2", "-3", ... appended; duplicates in @list are CVL_E_USAGE.
 * Free with cvl_names_free() in any case.
 */
int cvl_names_fill(char **names, size_t n, const char *list, struct cvl_error *err);
void cvl_names_free(char **names, size_t n);

#endif
