/* SPDX-License-Identifier: MIT */
/** Streaming JSON writer that adds the commas. The key is NULL within a list. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <coeval/out.h>

struct js {
	struct cvl_out *o;
	bool comma; /* something precedes on this level */
};

/** An object on a line of its own: open, and at its end. */
struct js js_begin(struct cvl_out *o);
void js_end(struct js *j);

/** @bracket: '{' or '['. */
void js_open(struct js *j, const char *key, char bracket);
/** @bracket: '}' or ']'. */
void js_close(struct js *j, char bracket);

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
/** {"value","low","high"}; null where it is not known. */
void js_range(struct js *j, const char *key, bool known, double value, double low, double high);
/** A list of strings. */
void js_list(struct js *j, const char *key, const char *const *text, size_t n);

/** One value for each word of @keys, in turn: js_counts(j, "runs lost", t->runs, t->lost). */
#define js_texts(j, keys, ...) js_put_texts(j, keys, JS_LIST(const char *, __VA_ARGS__))
#define js_ints(j, keys, ...) js_put_ints(j, keys, JS_LIST(int64_t, __VA_ARGS__))
#define js_counts(j, keys, ...) js_put_counts(j, keys, JS_LIST(uint64_t, __VA_ARGS__))
#define js_reals(j, keys, ...) js_put_reals(j, keys, JS_LIST(double, __VA_ARGS__))
#define JS_LIST(type, ...) (type[]){ __VA_ARGS__ }, sizeof((type[]){ __VA_ARGS__ }) / sizeof(type)

void js_put_texts(struct js *j, const char *keys, const char *const *v, size_t n);
void js_put_ints(struct js *j, const char *keys, const int64_t *v, size_t n);
void js_put_counts(struct js *j, const char *keys, const uint64_t *v, size_t n);
void js_put_reals(struct js *j, const char *keys, const double *v, size_t n);

#endif
