/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <coeval/time.h>

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

void js_end(struct js *j)
{
	cvl_out_char(j->o, '\n');
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
