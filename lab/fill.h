/* SPDX-License-Identifier: MIT */
/** Command templates: "set hz={hz}". Pure. */
#ifndef LAB_FILL_H
#define LAB_FILL_H

#include <stddef.h>

#include <coeval/error.h>

struct fill {
	const char *name, *value;
};

/**
 * Write @text into @out of @size with each {name} replaced. "{{" is a "{". CVL_E_UNKNOWN_ID for a
 * name that is not in @fill of @n, CVL_E_SYNTAX for an unmatched brace, CVL_E_LIMIT if it
 * does not fit.
 */
int fill_text(char *out, size_t size, const char *text, const struct fill *fill, size_t n,
	      struct cvl_error *err);

#endif
