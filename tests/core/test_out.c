/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/out.h>
#include "core/utf8.h"

/* What comes out when @n bytes go in, in pieces of @piece bytes with a drain behind each. */
static size_t through(char *to, size_t room, const char *s, size_t n, size_t piece)
{
	static struct cvl_out o;
	FILE *f = tmpfile();
	size_t got;

	assert_non_null(f);
	cvl_out_init(&o, fileno(f), "scratch");
	o.plain = true;
	for (size_t i = 0; i < n; i += piece) {
		cvl_out_bytes(&o, s + i, n - i < piece ? n - i : piece);
		cvl_out_drain(&o);
	}
	assert_int_equal(cvl_out_flush(&o, NULL), 0);
	rewind(f);
	got = fread(to, 1, room, f);
	fclose(f);
	return got;
}

static void plain_text_stays_and_controls_are_escaped(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "plain\n\ttext\n", "plain\n\ttext\n" },
		{ "5 \xc2\xb5s, \xe2\x82\xac, \xf0\x9f\x98\x80",
		  "5 \xc2\xb5s, \xe2\x82\xac, \xf0\x9f\x98\x80" },
		{ "\x1b[2Jred\a\b\r\x7f", "\\e[2Jred\\a\\b\\r\\x7f" },
		{ "\xc2\x9b"
		  "2J",
		  "\\xc2\\x9b2J" }, /* U+009B, a CSI of one character */
		{ "\x9b"
		  "2J \xff \xc3",
		  "\\x9b2J \\xff \\xc3" },
		{ "\xe2\x82", "\\xe2\\x82" },
	};
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (size_t piece = 1; piece < 9; piece++) {
			text[through(text, sizeof(text) - 1, cases[i].in, strlen(cases[i].in),
				     piece)] = '\0';
			assert_string_equal(text, cases[i].out);
		}
}

static void random_bytes_come_out_alike_however_they_are_cut(void **state)
{
	static char in[3000], whole[12000], cut[12000];
	uint64_t x = 88172645463325252u;

	(void)state;
	for (int round = 0; round < 200; round++) {
		size_t n = 1 + (size_t)(x >> 20) % sizeof(in), m, len;

		for (size_t i = 0; i < n; i++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			/* mostly begins and rests of characters */
			in[i] = (char)(round & 1 ? x >> 32 : (x >> 32 & 0x7f) | 0x80);
		}
		m = through(whole, sizeof(whole), in, n, n);
		assert_int_equal(through(cut, sizeof(cut), in, n, 1 + (size_t)(x >> 40) % 7), m);
		assert_memory_equal(cut, whole, m);
		for (size_t i = 0; i < m; i += len) {
			unsigned char c = (unsigned char)whole[i];

			len = utf8_length(whole + i, m - i);
			assert_true(len > 0);
			assert_true((c >= ' ' && c != 127) || c == '\n' || c == '\t');
			assert_false(c == 0xc2 && (unsigned char)whole[i + 1] < 0xa0);
		}
	}
}

/* What JSON is to hold of @s, character by character. */
static size_t plain_json(char *to, const char *s, size_t n)
{
	char *w = to;

	*w++ = '"';
	for (size_t i = 0; i < n;) {
		const unsigned char c = (unsigned char)s[i];
		const size_t len = utf8_length(s + i, n - i);

		if (!len)
			w += sprintf(w, "\\ufffd");
		else if (c == '"' || c == '\\')
			w += sprintf(w, "\\%c", c);
		else if (c < 32)
			w += sprintf(w, "\\u%04x", c);
		else
			w = (char *)memcpy(w, s + i, len) + len;
		i += len ? len : 1;
	}
	*w++ = '"';
	return (size_t)(w - to);
}

static void json_strings_are_valid_whatever_they_hold(void **state)
{
	static const char *const pieces[] = { "a",    "Z ",   "\"",       "\\",           "\n",
					      "\x01", "\x7f", "\xc2\xb5", "\xe2\x82\xac", "\xff",
					      "\xc3", "word", "12345678" };
	static struct cvl_out o;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		const int rare = rand() % 3;
		char s[200] = "", want[1500];
		size_t n;

		for (int k = rand() % 12; k; k--)
			strcat(s, pieces[rare || !(rand() % 8) ? rand() % 13 : 11 + rand() % 2]);
		n = strlen(s);
		cvl_out_init(&o, -1, "");
		cvl_out_json(&o, s, n);
		assert_int_equal(o.n, plain_json(want, s, n));
		assert_memory_equal(o.buf, want, o.n);
	}
}

static void a_name_stays_in_its_line(void **state)
{
	static struct cvl_out o;
	char text[64], many[300];

	(void)state;
	cvl_text_name(text, "a\nb\tc\x1b");
	assert_string_equal(text, "a\\nb\\tc\\e");
	cvl_out_init(&o, -1, "memory");
	for (size_t i = 0; i + 2 < sizeof(many); i += 2)
		memcpy(many + i, "\xc2\xb5", 2);
	many[298] = '\n';
	many[299] = '\0';
	cvl_out_name(&o, many);
	assert_int_equal(o.n, 300);
	assert_memory_equal(o.buf, many, 298);
	assert_memory_equal(o.buf + 298, "\\n", 2);
}

static void a_formula_is_a_text_in_csv(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "SIG1", "SIG1" },
		{ "=1+1", "\"'=1+1\"" },
		{ "+5V", "\"'+5V\"" },
		{ "-x", "\"'-x\"" },
		{ "@SUM(A1)", "\"'@SUM(A1)\"" },
		{ "\t=1", "\"'\t=1\"" },
		{ "=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\"" },
		{ "a=b", "a=b" },
		{ "a,b", "\"a,b\"" },
		{ "", "" },
	};
	static struct cvl_out o;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cvl_out_init(&o, -1, "memory");
		cvl_out_csv(&o, cases[i].in, strlen(cases[i].in));
		cvl_out_char(&o, '\0');
		assert_string_equal(o.buf, cases[i].out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_text_stays_and_controls_are_escaped),
		cmocka_unit_test(random_bytes_come_out_alike_however_they_are_cut),
		cmocka_unit_test(json_strings_are_valid_whatever_they_hold),
		cmocka_unit_test(a_name_stays_in_its_line),
		cmocka_unit_test(a_formula_is_a_text_in_csv),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
