/* SPDX-License-Identifier: MIT */
/** Help and manual pages, generated from the tables of verbs. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli.h"

/** "sync [OPTIONS] SESSION", without a newline. */
void put_usage(FILE *f, const struct verb *verb);

/**
 * Print `coeval help VERB`, or just one of its members. Returns 0, or the exit status.
 */
int help_verb(const struct verb *verb, const char *member);

/** Print the verbs in @list, NULL-terminated, as in `coeval help`. */
void help_all(FILE *f, const struct verb *const *list);

/** "-o, --output FILE". */
void put_option_name(FILE *f, const struct cli_option *o);

extern const char *const group_titles[VERB_GROUPS];

#endif
