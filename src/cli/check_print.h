/* SPDX-License-Identifier: MIT */
/** What came of a check: as text, JSON, and JUnit's XML. */
#ifndef CHECK_PRINT_H
#define CHECK_PRINT_H

#include "analysis/check/check.h"
#include <coeval/out.h>

struct check_report {
	const struct check_rules *rules;
	const struct check *check;
	const char *session;
	bool strict; /* what cannot be told, or was not tried, fails */
};

/** Rules of verdict @v. */
size_t check_count(const struct check_report *r, enum check_verdict v);

void check_print_text(const struct check_report *r, struct cvl_out *o);
void check_print_json(const struct check_report *r, struct cvl_out *o);
void check_print_junit(const struct check_report *r, struct cvl_out *o);

#endif
