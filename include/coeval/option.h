/* SPDX-License-Identifier: MIT */
/**
 * What a format, a driver or an estimator can be told, for help texts.
 *
 * Each member of a table names the options that it heeds, by the names that the options have
 * everywhere (those of its options' struct, with dashes between words), and what they mean to it.
 */
#ifndef COEVAL_OPTION_H
#define COEVAL_OPTION_H

#include <coeval/api.h>

CVL_BEGIN_DECLS

/** Ends a list of options if its name is NULL. */
struct cvl_option {
	const char *name; /* "clock-rate" */
	const char *arg;  /* word for its argument: "HZ"; NULL: it takes none */
	const char *what; /* one line, without a full stop */
};

CVL_END_DECLS

#endif
