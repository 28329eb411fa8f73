/* SPDX-License-Identifier: MIT */
/** What is told of verbs, out of their tables: help and manual pages. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli.h"

/** "sync [OPTIONS] SESSION", without a line's end. */
void put_usage(FILE *f, const struct verb *verb);

/**
 * What `coeval help VERB` prints, or of one of its members alone. Returns 0, or the exit status.
 */
int help_verb(const struct verb *verb, const char *member);

/** What `coeval help` prints of @list, which NULL ends. */
void help_all(FILE *f, const struct verb *const *list);

/** "-o, --output FILE". */
void put_option_name(FILE *f, const struct cli_option *o);

extern const char *const group_titles[VERB_GROUPS];

#endif
