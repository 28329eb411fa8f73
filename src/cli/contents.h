/* SPDX-License-Identifier: MIT */
/** What came into a session, as import, decode and join tell it. */
#ifndef CLI_CONTENTS_H
#define CLI_CONTENTS_H

#include "cli.h"

/** Where clocks came from, and what to do next. */
struct contents {
	size_t first;     /* clock of the session from which on they are new */
	const char *what; /* "input", "session": of how many they are; NULL: not told */
	size_t n;
	bool json;
};

/** Print what the clocks of @s hold that are new; negative: @err says why not. */
int contents_print(const struct cvl_session *s, const struct contents *c, struct cvl_error *err);

#endif
