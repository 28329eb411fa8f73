/* SPDX-License-Identifier: MIT */
/** What was added to a session, as printed by import, decode and join. */
#ifndef CLI_CONTENTS_H
#define CLI_CONTENTS_H

#include "cli.h"

/** Origin of the new clocks, and what to do next. */
struct contents {
	size_t first;     /* first new clock of the session */
	const char *what; /* "input", "session": what they come from; NULL: not printed */
	size_t n;
	bool json;
};

/** Print the contents of the new clocks of @s; negative: see @err. */
int contents_print(const struct cvl_session *s, const struct contents *c, struct cvl_error *err);

#endif
