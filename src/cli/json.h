/* SPDX-License-Identifier: MIT */
/** Streaming JSON writer that adds the commas. The key is NULL within a list. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <coeval/out.h>

struct js {
	struct cvl_out *o;
	bool comma; /* something precedes on this level */
};

/** @bracket: '{' or '['. */
void js_open(struct js *j, const char *key, char bracket);
/** @bracket: '}' or ']'. */
void js_close(struct js *j, char bracket);
/** Ends the line. */
void js_end(struct js *j);

/** NULL: null. */
void js_text(struct js *j, const char *key, const char *text);
void js_int(struct js *j, const char *key, int64_t n);
void js_count(struct js *j, const char *key, uint64_t n);
/** Twelve digits; null for NaN and infinity. */
void js_real(struct js *j, const char *key, double v);
/** null if not @known. */
void js_known(struct js *j, const char *key, int64_t n, bool known);
/** CVL_BOUND_UNKNOWN: null. */
void js_bound(struct js *j, const char *key, int64_t bound);
void js_bool(struct js *j, const char *key, bool b);

#endif
