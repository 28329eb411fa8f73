/* SPDX-License-Identifier: MIT */
/**
 * Options of a format, driver or estimator, for help texts.
 *
 * Each member of a table lists the options it supports, by their common names (the members of its
 * options' struct, with dashes between words), and what they mean for it.
 */
#ifndef COEVAL_OPTION_H
#define COEVAL_OPTION_H

#include <coeval/api.h>

CVL_BEGIN_DECLS

/** One option; a NULL name ends the list. */
struct cvl_option {
	const char *name; /* "clock-rate" */
	const char *arg;  /* word for its argument: "HZ"; NULL: it takes none */
	const char *what; /* one line, without a full stop */
};

CVL_END_DECLS

#endif
