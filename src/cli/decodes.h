/* SPDX-License-Identifier: MIT */
/** The options --swo, --uart and --elf, for verbs that decode lines of captures. */
#ifndef CLI_DECODES_H
#define CLI_DECODES_H

#include <coeval/format.h>

#include "cli.h"

#define DECODES_MAX 16

struct decodes {
	struct cvl_decode one[DECODES_MAX];
	size_t n;
	const char *elf;
	size_t made; /* clocks, which are the session's last */
};

/** Over struct decodes: --swo, --uart and --elf. */
extern const struct cli_option decodes_options[];

#define DECODES_OPTIONS(offset)                                                \
	{                                                                      \
		.kind = OPTION_GROUP, .at = (offset), .group = decodes_options \
	}

/**
 * Decode the lines on those of the session's clocks that have them, from number @first on, and with
 * name @clock (NULL: all).
 */
int decodes_run(struct decodes *d, struct cvl_session *s, size_t first, const char *clock,
		const struct cvl_report *report, struct cvl_error *err);

#endif
