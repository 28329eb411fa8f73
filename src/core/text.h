/* SPDX-License-Identifier: MIT */
/**
 * What text formats share: exact times, cells of a CSV line, and problems that are counted.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/format.h>

/** A signed count of ticks: times before zero are legal text, though no clock shows them. */
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
 * Read a finite decimal number. Returns 0 or CVL_E_SYNTAX. Needs the process to keep the "C"
 * numeric locale, which it has unless it asks for another.
 */
int cvl_text_real(const char *s, double *out);

/**
 * Cut @line at its commas, in place: cells lose the blanks around them and their quotes, a doubled
 * quote in a quoted cell becomes one. Up to @max cells are stored.
 *
 * Returns how many cells there are (may be more than @max), or 0 if the quotes do not match.
 */
size_t cvl_text_split(char *line, char **cells, size_t max);

/**
 * Replace the names of @n lines by those of @list ("a,b,c", may be shorter than @n; NULL: keep
 * all). @names[i] are allocated with malloc. Returns 0, CVL_E_USAGE (more names than lines),
 * CVL_E_NOMEM.
 */
int cvl_text_rename(const char *list, char **names, size_t n);

/**
 * Whether @name, or what stands behind its last '.', is one of the globs of @list ("a*,b"). In them
 * '*' is any characters and '?' one; nothing else is special, so that "bus[3]" is what it says.
 */
bool cvl_text_chosen(const char *list, const char *name);

/** Something wrong that can be lived with: how often, and where it was first. */
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
 * Complete the names of @n lines: @list ("a,b,c") goes before what is there, D0, D1, ... fill the
 * rest. What a file calls alike gets "-2", "-3", ... appended; two of @list are CVL_E_USAGE. Free
 * them with cvl_names_free(), whatever is returned.
 */
int cvl_names_fill(char **names, size_t n, const char *list, struct cvl_error *err);
void cvl_names_free(char **names, size_t n);

#endif
