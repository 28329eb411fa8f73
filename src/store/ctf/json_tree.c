/* SPDX-License-Identifier: MIT */
#include "store/ctf/json_tree.h"

#include <string.h>

#include "core/utf8.h"

#define VALUES_MAX (1u << 20)

struct reader {
	struct arena *tree, *texts;
	const char *text;
	size_t pos, end, values;
	unsigned depth;
	struct cvl_error *err;
};

static struct json_tree *bad(struct reader *r, enum cvl_code code, size_t offset, const char *what)
{
	cvl_fail(r->err, code, offset, "%s", what);
	return NULL;
}

static void skip_blanks(struct reader *r)
{
	while (r->pos < r->end && strchr(" \t\r\n", r->text[r->pos]) && r->text[r->pos])
		r->pos++;
}

static bool at(const struct reader *r, char c)
{
	return r->pos < r->end && r->text[r->pos] == c;
}

static struct json_tree *new_value(struct reader *r, enum json_tree_kind kind)
{
	struct json_tree *v;

	if (++r->values > VALUES_MAX)
		return bad(r, CVL_E_LIMIT, r->pos, "too many values");
	v = arena_alloc(r->tree, sizeof(*v));
	if (!v) {
		cvl_no_memory(r->err);
		return NULL;
	}
	v->kind = kind;
	v->offset = r->pos;
	return v;
}

/* ---- texts ---- */

/* Four hexadecimal digits after \u; -1: there are none. */
static int32_t take_unit(struct reader *r)
{
	int32_t unit = 0;

	for (unsigned i = 0; i < 4; i++, r->pos++) {
		const char c = r->pos < r->end ? r->text[r->pos] : ' ';
		const int digit = c >= '0' && c <= '9'               ? c - '0' :
				  (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 :
								       -1;

		if (digit < 0)
			return -1;
		unit = unit * 16 + digit;
	}
	return unit;
}

/* What a backslash begins; the bytes it gives, or 0: it is wrong. */
static size_t take_escape(struct reader *r, char *to)
{
	static const char plain[] = "\"\\/bfnrt", gives[] = "\"\\/\b\f\n\r\t";
	const char c = ++r->pos < r->end ? r->text[r->pos] : '\0';
	const char *known = c ? strchr(plain, c) : NULL;
	int32_t unit, low;

	r->pos++;
	if (known) {
		*to = gives[known - plain];
		return 1;
	}
	unit = c == 'u' ? take_unit(r) : -1;
	if (unit >= 0xd800 && unit < 0xdc00) {
		if (!at(r, '\\') || r->pos + 1 >= r->end || r->text[r->pos + 1] != 'u')
			return 0;
		r->pos += 2;
		low = take_unit(r);
		if (low < 0xdc00 || low > 0xdfff)
			return 0;
		unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
	} else if (unit >= 0xdc00 && unit < 0xe000) {
		return 0;
	}
	return unit > 0 ? utf8_put(to, (uint32_t)unit) : 0; /* no NUL: names are C strings */
}

/* The text at the quote; NULL: it is wrong. */
static const char *take_text(struct reader *r)
{
	const size_t begin = r->pos++;
	size_t close = r->pos, n = 0;
	char *text;

	while (close < r->end && r->text[close] != '"')
		close += r->text[close] == '\\' ? 2 : 1;
	if (close >= r->end) {
		bad(r, CVL_E_TRUNCATED, begin, "unterminated string");
		return NULL;
	}
	text = arena_alloc(r->texts, close - begin);
	if (!text) {
		cvl_no_memory(r->err);
		return NULL;
	}
	while (r->pos < close) {
		const size_t here = r->pos;
		const unsigned char c = (unsigned char)r->text[here];
		size_t len = c < ' ' ? 0 : c < 0x80 ? 1 : utf8_length(r->text + here, close - here);

		if (c == '\\') {
			len = take_escape(r, text + n);
		} else {
			memcpy(text + n, r->text + here, len);
			r->pos += len;
		}
		if (!len || r->pos > close) {
			bad(r, CVL_E_SYNTAX, here, "invalid character in a string");
			return NULL;
		}
		n += len;
	}
	r->pos = close + 1;
	return text;
}

/* ---- numbers ---- */

static size_t take_digits(struct reader *r)
{
	const size_t begin = r->pos;

	while (r->pos < r->end && r->text[r->pos] >= '0' && r->text[r->pos] <= '9')
		r->pos++;
	return r->pos - begin;
}

/* What makes a number at its whole digits a real one, if it is there; false: it is wrong. */
static bool take_fraction(struct reader *r, struct json_tree *v)
{
	if (at(r, '.')) {
		v->kind = TREE_REAL;
		r->pos++;
		if (!take_digits(r))
			return false;
	}
	if (!at(r, 'e') && !at(r, 'E'))
		return true;
	v->kind = TREE_REAL;
	r->pos++;
	r->pos += at(r, '+') || at(r, '-');
	return take_digits(r) > 0;
}

/* An integer that does not fit in 64 bits is a real number. */
static struct json_tree *take_number(struct reader *r)
{
	struct json_tree *v = new_value(r, TREE_INT);
	const size_t begin = r->pos;
	size_t digits, n;
	bool fits = true;

	if (!v)
		return NULL;
	v->negative = at(r, '-');
	digits = r->pos += v->negative;
	n = take_digits(r);
	for (size_t i = digits; i < digits + n; i++)
		fits = fits && !__builtin_mul_overflow(v->num, 10u, &v->num) &&
		       !__builtin_add_overflow(v->num, (uint64_t)(r->text[i] - '0'), &v->num);
	if (!n || (n > 1 && r->text[digits] == '0') || !take_fraction(r, v))
		return bad(r, CVL_E_SYNTAX, begin, "expected a JSON value");
	if (!fits || (v->negative && v->num > (uint64_t)INT64_MAX + 1))
		v->kind = TREE_REAL;
	if (v->negative)
		v->num = 0 - v->num;
	v->negative = v->negative && v->num;
	return v;
}

static struct json_tree *take_word(struct reader *r)
{
	static const struct {
		const char *word;
		enum json_tree_kind kind;
		bool value;
	} words[] = { { "null", TREE_NULL, false },
		      { "true", TREE_BOOL, true },
		      { "false", TREE_BOOL, false } };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const size_t n = strlen(words[i].word);
		struct json_tree *v;

		if (r->end - r->pos < n || memcmp(r->text + r->pos, words[i].word, n) != 0)
			continue;
		v = new_value(r, words[i].kind);
		if (v)
			v->truth = words[i].value;
		r->pos += n;
		return v;
	}
	return bad(r, r->pos < r->end ? CVL_E_SYNTAX : CVL_E_TRUNCATED, r->pos,
		   r->pos < r->end ? "expected a JSON value" : "the text ends inside a JSON value");
}

/* ---- arrays and objects ---- */

static struct json_tree *take_value(struct reader *r);

#define BUCKETS 256

/* Another one in each run, so that nobody can write keys that share a bucket. */
static const struct json_tree **bucket_of(const struct reader *r,
					  const struct json_tree *bucket[BUCKETS], const char *key)
{
	const uint32_t h = metadata_hash((uint32_t)((uintptr_t)r->tree >> 4), key);

	return &bucket[h % BUCKETS];
}

/* `"key":` before a member of an object that has those in @bucket; NULL: it is wrong. */
static const char *take_key(struct reader *r, const struct json_tree *bucket[BUCKETS])
{
	const size_t offset = r->pos;
	const char *key;

	if (!at(r, '"')) {
		bad(r, r->pos < r->end ? CVL_E_SYNTAX : CVL_E_TRUNCATED, offset,
		    "expected the name of a property");
		return NULL;
	}
	key = take_text(r);
	if (!key)
		return NULL;
	for (const struct json_tree *m = *bucket_of(r, bucket, key); m; m = m->same_hash)
		if (!strcmp(m->key, key)) {
			bad(r, CVL_E_SYNTAX, offset, "duplicate property");
			return NULL;
		}
	skip_blanks(r);
	if (!at(r, ':')) {
		bad(r, r->pos < r->end ? CVL_E_SYNTAX : CVL_E_TRUNCATED, r->pos, "':' is expected");
		return NULL;
	}
	r->pos++;
	skip_blanks(r);
	return key;
}

static struct json_tree *take_list(struct reader *r, enum json_tree_kind kind)
{
	const char close = kind == TREE_ARRAY ? ']' : '}';
	const struct json_tree *bucket[BUCKETS] = { NULL }, **tail;
	struct json_tree *list = new_value(r, kind);

	if (!list)
		return NULL;
	if (++r->depth > 2 * CTF_DEPTH_MAX)
		return bad(r, CVL_E_LIMIT, r->pos, "values nested too deep");
	tail = &list->first;
	r->pos++;
	skip_blanks(r);
	while (!at(r, close)) {
		const char *key = kind == TREE_OBJECT ? take_key(r, bucket) : NULL;
		struct json_tree *v = kind == TREE_OBJECT && !key ? NULL : take_value(r);

		if (!v)
			return NULL;
		if (key) {
			v->key = key;
			v->same_hash = *bucket_of(r, bucket, key);
			*bucket_of(r, bucket, key) = v;
		}
		*tail = v;
		tail = &v->next;
		if (++list->n > CTF_OPS_MAX)
			return bad(r, CVL_E_LIMIT, r->pos, "too many elements");
		skip_blanks(r);
		if (at(r, close))
			break;
		if (!at(r, ','))
			return bad(r, r->pos < r->end ? CVL_E_SYNTAX : CVL_E_TRUNCATED, r->pos,
				   kind == TREE_ARRAY ? "',' or ']' is expected" :
							"',' or '}' is expected");
		r->pos++;
		skip_blanks(r);
		if (at(r, close))
			return bad(r, CVL_E_SYNTAX, r->pos, "a value is expected after ','");
	}
	r->pos++;
	r->depth--;
	return list;
}

static struct json_tree *take_value(struct reader *r)
{
	struct json_tree *v;

	if (at(r, '{'))
		return take_list(r, TREE_OBJECT);
	if (at(r, '['))
		return take_list(r, TREE_ARRAY);
	if (at(r, '"')) {
		v = new_value(r, TREE_TEXT);
		if (v)
			v->text = take_text(r);
		return v && v->text ? v : NULL;
	}
	if (at(r, '-') || (r->pos < r->end && r->text[r->pos] >= '0' && r->text[r->pos] <= '9'))
		return take_number(r);
	return take_word(r);
}

const struct json_tree *json_tree_read(struct arena *tree, struct arena *texts, const char *text,
				       size_t from, size_t to, struct cvl_error *err)
{
	struct reader r = {
		.tree = tree, .texts = texts, .text = text, .pos = from, .end = to, .err = err
	};
	const struct json_tree *v;

	skip_blanks(&r);
	v = take_value(&r);
	if (!v)
		return NULL;
	skip_blanks(&r);
	return r.pos == to ? v : bad(&r, CVL_E_SYNTAX, r.pos, "unexpected data after the value");
}

const struct json_tree *json_tree_member(const struct json_tree *object, const char *key)
{
	for (const struct json_tree *m = object->first; m && m->key; m = m->next)
		if (!strcmp(m->key, key))
			return m;
	return NULL;
}

const char *json_tree_kind_name(enum json_tree_kind kind)
{
	static const char *const names[] = {
		[TREE_NULL] = "null",        [TREE_BOOL] = "true or false",
		[TREE_INT] = "an integer",   [TREE_REAL] = "a number that is no integer of 64 bits",
		[TREE_TEXT] = "a string",    [TREE_ARRAY] = "an array",
		[TREE_OBJECT] = "an object",
	};

	return names[kind];
}
