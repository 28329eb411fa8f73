/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <coeval/time.h>

#include <assert.h>
#include <math.h>
#include <stdio.h>

static void begin(struct js *j, const char *key)
{
	if (j->comma)
		cvl_out_char(j->o, ',');
	j->comma = true;
	if (key) {
		cvl_out_json(j->o, key, strlen(key));
		cvl_out_char(j->o, ':');
	}
}

void js_open(struct js *j, const char *key, char bracket)
{
	begin(j, key);
	cvl_out_char(j->o, bracket);
	j->comma = false;
}

void js_close(struct js *j, char bracket)
{
	cvl_out_char(j->o, bracket);
	j->comma = true;
}

struct js js_begin(struct cvl_out *o)
{
	struct js j = { .o = o };

	js_open(&j, NULL, '{');
	return j;
}

void js_end(struct js *j)
{
	cvl_out_text(j->o, "}\n");
	j->comma = false;
}

void js_text(struct js *j, const char *key, const char *text)
{
	begin(j, key);
	if (text)
		cvl_out_json(j->o, text, strlen(text));
	else
		cvl_out_text(j->o, "null");
}

void js_int(struct js *j, const char *key, int64_t n)
{
	js_known(j, key, n, true);
}

void js_count(struct js *j, const char *key, uint64_t n)
{
	begin(j, key);
	cvl_out_u64(j->o, n);
}

void js_real(struct js *j, const char *key, double v)
{
	char text[32];

	begin(j, key);
	snprintf(text, sizeof(text), "%.12g", v);
	cvl_out_text(j->o, isfinite(v) ? text : "null");
	if (isfinite(v) && !strpbrk(text, ".e"))
		cvl_out_text(j->o, ".0");
}

void js_known(struct js *j, const char *key, int64_t n, bool known)
{
	begin(j, key);
	if (known)
		cvl_out_i64(j->o, n);
	else
		cvl_out_text(j->o, "null");
}

void js_bound(struct js *j, const char *key, int64_t bound)
{
	js_known(j, key, bound, bound != CVL_BOUND_UNKNOWN);
}

void js_bool(struct js *j, const char *key, bool b)
{
	begin(j, key);
	cvl_out_text(j->o, b ? "true" : "false");
}

void js_range(struct js *j, const char *key, bool known, double value, double low, double high)
{
	if (!known) {
		js_text(j, key, NULL);
		return;
	}
	js_open(j, key, '{');
	js_real(j, "value", value);
	js_real(j, "low", low);
	js_real(j, "high", high);
	js_close(j, '}');
}

void js_list(struct js *j, const char *key, const char *const *text, size_t n)
{
	js_open(j, key, '[');
	for (size_t i = 0; i < n; i++)
		js_text(j, NULL, text[i]);
	js_close(j, ']');
}

/* The next word of *@keys; of a list NULL. */
static const char *next(const char **keys, char key[64])
{
	size_t n = *keys ? strcspn(*keys, " ") : 0;

	if (!*keys)
		return NULL;
	assert(n && n < 64);
	memcpy(key, *keys, n);
	key[n] = '\0';
	*keys += n + ((*keys)[n] == ' ');
	return key;
}

void js_put_texts(struct js *j, const char *keys, const char *const *v, size_t n)
{
	char key[64];

	for (size_t i = 0; i < n; i++)
		js_text(j, next(&keys, key), v[i]);
	assert(!keys || !*keys);
}

void js_put_ints(struct js *j, const char *keys, const int64_t *v, size_t n)
{
	char key[64];

	for (size_t i = 0; i < n; i++)
		js_int(j, next(&keys, key), v[i]);
	assert(!keys || !*keys);
}

void js_put_counts(struct js *j, const char *keys, const uint64_t *v, size_t n)
{
	char key[64];

	for (size_t i = 0; i < n; i++)
		js_count(j, next(&keys, key), v[i]);
	assert(!keys || !*keys);
}

void js_put_reals(struct js *j, const char *keys, const double *v, size_t n)
{
	char key[64];

	for (size_t i = 0; i < n; i++)
		js_real(j, next(&keys, key), v[i]);
	assert(!keys || !*keys);
}
