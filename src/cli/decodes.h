/* SPDX-License-Identifier: MIT */
/** The options --swo, --uart and --elf, of verbs that decode lines of captures. */
#ifndef CLI_DECODES_H
#define CLI_DECODES_H

#include <coeval/format.h>

#include "cli.h"

#define DECODES_MAX 16

struct decodes {
	struct cvl_decode one[DECODES_MAX];
	size_t n;
	size_t made; /* clocks, which are the session's last */
};

#define DECODES_HELP                                                                                      \
	"      --swo LINE[:BAUD][:manchester][:tpiu][:stream=N][:inverted]\n"                             \
	"                         decode the trace of a Cortex-M on a line; BAUD is found if not given\n" \
	"      --uart LINE[:BAUD][:8N1][:inverted]\n"                                                     \
	"                         decode serial text on a line; 7E1, 8O2: data bits, parity, stop bits\n" \
	"      --elf FILE         the traced program: names for addresses and exceptions\n"

/** Take the value of --swo or --uart; an exit status, or 0. */
int decodes_add(struct decodes *d, const struct verb *verb, enum cvl_protocol protocol,
		const char *text);

/** Decode the lines on those of the session's clocks from number @first on, and of name @clock (NULL: all), that have them. */
int decodes_run(struct decodes *d, struct cvl_session *s, size_t first, const char *clock,
		const char *elf, const struct cvl_report *report, struct cvl_error *err);

#endif
