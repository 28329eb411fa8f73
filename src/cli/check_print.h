/* SPDX-License-Identifier: MIT */
/** Results of a check as text, JSON and JUnit XML. */
#ifndef CHECK_PRINT_H
#define CHECK_PRINT_H

#include <coeval/check.h>
#include <coeval/out.h>

void check_print_text(const struct cvl_check_result *r, struct cvl_out *o);
void check_print_json(const struct cvl_check_result *r, const char *session, struct cvl_out *o);
/** @strict: undecided or untried rules fail. */
void check_print_junit(const struct cvl_check_result *r, const char *session, bool strict,
		       struct cvl_out *o);

#endif
