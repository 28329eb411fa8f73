/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config.h"
#include "test_draw.h"

enum colour { NONE, RED, GREEN };

struct part {
	const char *name;
	double weight;
	enum colour colour;
};

struct thing {
	const char *title;
	char tag[8];
	int64_t wait_ns;
	uint64_t rate_hz, big;
	unsigned small;
	double share;
	bool on, own;
	struct part part;
	struct part *list, *named;
	const char **text;
	size_t n_list, n_named, n_text;
	double inside[3];
	size_t n_inside;
};

static bool take_yes(const char *s, void *to)
{
	*(bool *)to = !strcmp(s, "yes");
	return *(bool *)to || !strcmp(s, "no");
}

static int end_part(struct config *c, void *to)
{
	const struct part *p = to;

	return p->weight == 13 ? config_fail(c, &p->weight, CVL_E_MISMATCH, "%s weighs %g",
					     p->name ? p->name : "it", p->weight) :
				 0;
}

#define AT(owner, member) .offset = offsetof(struct owner, member)
#define LENGTH(member) .length = offsetof(struct thing, member)

static const char *const colours[] = { "red", "green", NULL };

static const struct config_key part_keys[] = {
	{ "name", CONFIG_TEXT, AT(part, name), .min = 1 },
	{ "weight", CONFIG_REAL, AT(part, weight), .min = 1, .max = 20 },
	{ "colour", CONFIG_WORD, AT(part, colour), .words = colours, .min = RED },
	{ 0 },
};
static const struct part part_defaults = { .weight = 2 };
static const struct config_shape part_shape = { .what = "a part",
						.key = part_keys,
						.size = sizeof(struct part),
						.defaults = &part_defaults,
						.short_form = "name",
						.end = end_part };

static const struct config_key thing_keys[] = {
	{ "title", CONFIG_TEXT, AT(thing, title), .must = true, .string = true },
	{ "tag", CONFIG_CHARS, AT(thing, tag), .min = 2, .max = 7, .is = config_is_line },
	{ "wait", CONFIG_TIME, AT(thing, wait_ns), .min = 1e6, .max = 3600e9, .or_zero = true },
	{ "rate", CONFIG_RATE, AT(thing, rate_hz), .min = 1, .max = 1e9 },
	{ "big", CONFIG_U64, AT(thing, big), .max = 0x1p64 },
	{ "small", CONFIG_UNSIGNED, AT(thing, small), .min = 8, .max = 64 },
	{ "share", CONFIG_REAL, AT(thing, share), .max = 1 },
	{ "on", CONFIG_BOOL, AT(thing, on) },
	{ "own", CONFIG_OWN, AT(thing, own), .take = take_yes, .what = "yes or no" },
	{ "part", CONFIG_MAP, AT(thing, part), .shape = &part_shape },
	{ "list", CONFIG_MAP, AT(thing, list), LENGTH(n_list), .many = CONFIG_ONE_OR_LIST,
	  .least = 1, .shape = &part_shape },
	{ "named", CONFIG_MAP, AT(thing, named), LENGTH(n_named), .many = CONFIG_NAMED,
	  .shape = &part_shape },
	{ "text", CONFIG_TEXT, AT(thing, text), LENGTH(n_text), .many = CONFIG_LIST, .most = 2 },
	{ "inside", CONFIG_REAL, AT(thing, inside), LENGTH(n_inside), .many = CONFIG_ONE_OR_LIST,
	  .inside = true, .most = 3, .max = 9 },
	{ 0 },
};
static const struct thing thing_defaults = { .small = 16 };
static const struct config_shape thing_shape = { .what = "a thing",
						 .key = thing_keys,
						 .size = sizeof(struct thing),
						 .defaults = &thing_defaults };
static const struct config_key root = { .type = CONFIG_MAP, .shape = &thing_shape };

static int parse(struct thing *t, const char *text, size_t n, struct config_memory **memory,
		 struct cvl_error *err)
{
	const struct config_source source = {
		.file = "f", .root = &root, .to = t, .memory = memory
	};

	return config_parse(&source, text, n, err);
}

static void every_type_is_read(const char *text)
{
	struct config_memory *memory = NULL;
	struct cvl_error err;
	struct thing t;

	if (parse(&t, text, strlen(text), &memory, &err))
		fail_msg("%s", err.text);
	assert_string_equal(t.title, "a \xe2\x82\xac");
	assert_string_equal(t.tag, "tag");
	assert_true(t.wait_ns == 250000000 && t.rate_hz == 8000000 && t.big == UINT64_MAX);
	assert_int_equal(t.small, 16);
	assert_true(t.share == 0.5 && t.on && t.own);
	assert_true(t.part.weight == 3 && t.part.colour == NONE);
	assert_int_equal(t.n_list, 2);
	assert_string_equal(t.list[0].name, "short");
	assert_true(t.list[0].weight == 2 && t.list[1].colour == GREEN);
	assert_int_equal(t.n_named, 2);
	assert_string_equal(t.named[0].name, "x");
	assert_string_equal(t.named[1].name, "y");
	assert_true(t.named[0].weight == 5 && t.named[1].weight == 2);
	assert_int_equal(t.n_text, 2);
	assert_string_equal(t.text[1], "2");
	assert_true(t.n_inside == 1 && t.inside[0] == 7);
	config_free(&memory);
	assert_null(memory);
}

static void yaml_and_json_say_the_same(void **state)
{
	(void)state;
	every_type_is_read("title: a \xe2\x82\xac\ntag: tag\nwait: 250ms\nrate: 8 MHz\n"
			   "big: 18446744073709551615\nshare: 0.5\non: true\nown: yes\n"
			   "part: { weight: 3 }\nlist:\n  - short\n  - { colour: green }\n"
			   "named:\n  x:\n    weight: 5\n  y: {}\ntext: [one, 2]\ninside: 7\n");
	every_type_is_read(
		"{\"title\": \"a \\u20ac\", \"tag\":\"tag\", \"wait\": \"250ms\", \"rate\": \"8 MHz\",\n"
		"\t\"big\": 18446744073709551615, \"share\": 5e-1, \"on\": true, \"own\": \"yes\",\n"
		"\t\"part\": {\"weight\": 3}, \"list\": [\"short\", {\"colour\": \"green\"}],\n"
		"\t\"named\": {\"x\": {\"weight\": 5}, \"y\": {}}, \"text\": [\"one\", 2], \"inside\": [7]}\n");
	/* anchors and aliases, a byte order mark, a document that is marked as one */
	every_type_is_read("\xef\xbb\xbf---\ntitle: \"a \xe2\x82\xac\"\ntag: tag\nwait: 250ms\n"
			   "rate: 8M\nbig: 18446744073709551615\nshare: .5\non: true\nown: yes\n"
			   "part: { weight: 3 }\nlist: [short, &g { colour: green }]\n"
			   "named: { x: { weight: 5, colour: red }, y: *g }\ntext: [one, 2]\n"
			   "inside: 7\n...\n");
}

static void complaints_have_a_place(void **state)
{
	static const struct {
		const char *text, *says;
		enum cvl_code code;
	} bad[] = {
		{ "", "f:1:1: empty; expected a thing, a mapping with title, tag", CVL_E_SYNTAX },
		{ "# \xc3\xa4\n", "f:1:1: empty", CVL_E_SYNTAX },
		{ "[]", "f:1:1: expected a mapping with title, tag", CVL_E_SYNTAX },
		{ "on: true", "f:1:1: missing key 'title' of a thing", CVL_E_SYNTAX },
		{ "# \xc3\xa4\n\"\xc3\xa4\": \xc3\xa4",
		  "f:2:1: unknown key '\xc3\xa4'; expected one of", CVL_E_SYNTAX },
		{ "{ title: \xc3\xa4\xc3\xa4, titel: b }", "f:1:14: unknown key 'titel'",
		  CVL_E_SYNTAX },
		{ "title: a\r\non: true\r\ntitle: b\r\n", "f:3:1: duplicate key 'title'",
		  CVL_E_SYNTAX },
		{ "title: 7", "f:1:8: `title` must be text", CVL_E_SYNTAX },
		{ "title: null", "f:1:8: `title` must be text", CVL_E_SYNTAX },
		{ "title: [a]", "f:1:8: `title` must be text", CVL_E_SYNTAX },
		{ "title: \"a\\0b\"", "f:1:8: `title` must be text", CVL_E_SYNTAX },
		{ "tag: a", "f:1:6: `tag` must be text of 2 to 7 bytes", CVL_E_SYNTAX },
		{ "tag: abcdefgh", "f:1:6: `tag` must be text of 2 to 7 bytes", CVL_E_SYNTAX },
		{ "wait: 1us", "`wait` must be 0 or a time from 1ms to 1h, such as 250ms",
		  CVL_E_SYNTAX },
		{ "rate: 0", "`rate` must be a rate from 1 Hz to 1 GHz, such as 8 MHz",
		  CVL_E_SYNTAX },
		{ "big: -1", "`big` must be a whole number below 2^64", CVL_E_SYNTAX },
		{ "small: 7", "`small` must be a whole number from 8 to 64", CVL_E_SYNTAX },
		{ "small: 4294967304", "`small` must be a whole number from 8 to 64",
		  CVL_E_SYNTAX },
		{ "share: nan", "`share` must be a number from 0 to 1", CVL_E_SYNTAX },
		{ "on: 1", "`on` must be true or false", CVL_E_SYNTAX },
		{ "own: maybe", "`own` must be yes or no", CVL_E_SYNTAX },
		{ "part:\n  colour: blue", "f:2:11: `colour` must be one of red, green",
		  CVL_E_SYNTAX },
		{ "part: []", "f:1:7: `name` must be text that is not empty", CVL_E_SYNTAX },
		{ "list: []", "f:1:7: `list` must be a list of 1 to 10000 entries", CVL_E_SYNTAX },
		{ "list:\n - a\n - weight: 13\n", "f:3:12: it weighs 13", CVL_E_MISMATCH },
		{ "named: [a]", "f:1:8: `named` must be a mapping of up to 10000 entries",
		  CVL_E_SYNTAX },
		{ "named: { x: {}, x: {} }", "f:1:17: duplicate key 'x'", CVL_E_SYNTAX },
		{ "text: a", "f:1:7: `text` must be a list of up to 2 entries", CVL_E_SYNTAX },
		{ "text: [a, b,\n c]", "f:2:2: `text` must be a list of up to 2 entries",
		  CVL_E_SYNTAX },
		{ "inside: [1, 10]", "f:1:13: `inside` must be a number from 0 to 9",
		  CVL_E_SYNTAX },
		{ "title: a\n---\ntitle: b\n", "f:2:1: more than one document", CVL_E_SYNTAX },
		{ "title: *a", "f:1:8: alias of an unknown anchor 'a'; put quotes", CVL_E_SYNTAX },
		{ "list: &a [*a]", "f:1:11: alias of an unknown anchor 'a'", CVL_E_SYNTAX },
		{ "title: \xff", "f:1:8: ", CVL_E_SYNTAX },
		{ "on: true\ntitle: \xff", "f:2:8: ", CVL_E_SYNTAX },
		{ "title: [", "f:1:9: ", CVL_E_SYNTAX },
		{ "text: [[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]", "nested deeper than 16",
		  CVL_E_LIMIT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct config_memory *memory = NULL;
		struct cvl_error err = { 0 };
		struct thing t;
		int rc = parse(&t, bad[i].text, strlen(bad[i].text), &memory, &err);

		if (rc != (int)bad[i].code || !strstr(err.text, bad[i].says) ||
		    strncmp(err.text, "f:", 2) != 0 || err.offset > strlen(bad[i].text))
			fail_msg("%s\ngives %d '%s', not '%s'", bad[i].text, rc, err.text,
				 bad[i].says);
		config_free(&memory);
	}
}

/* What would take YAML long, or unfold to more than a machine has. */
static void bombs_are_limits(void **state)
{
	static char text[1 << 20];
	struct config_memory *memory = NULL;
	struct cvl_error err;
	struct thing t;
	size_t n = (size_t)sprintf(text, "title: a\nlist:\n");

	(void)state;
	while (n + 8 < sizeof(text))
		n += (size_t)sprintf(text + n, " - {}\n");
	assert_int_equal(parse(&t, text, n, &memory, &err), CVL_E_LIMIT);
	n = (size_t)sprintf(text, "title: a\ntext: [");
	for (unsigned i = 0; i < CONFIG_ANCHORS_MAX + 1; i++)
		n += (size_t)sprintf(text + n, "&a%u x,", i);
	assert_int_equal(parse(&t, text, n, &memory, &err), CVL_E_LIMIT);
	assert_int_equal(err.offset, n - 7);
	for (n = 0; n + 64 < sizeof(text);)
		n += (size_t)sprintf(text + n, "a%zu: &a%zu [*a%zu, *a%zu]\n", n, n, n, n);
	assert_int_equal(parse(&t, text, n, &memory, &err), CVL_E_SYNTAX);
	config_free(&memory);
}

/* Whatever is cut off or changed: what was read keeps to the tables, or an error with a place. */
static void damaged_text_never_gives_what_cannot_be(void **state)
{
	static const char whole[] =
		"title: t\nwait: 250ms\nsmall: 9\nlist: [a, &g { colour: green, weight: 4 }]\n"
		"named: { x: *g, y: { weight: 1 } }\ninside: [1, 2]\ntext: [a, \"b\"]\n";
	struct draw d = draw_begin(1);

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct config_memory *memory = NULL;
		struct cvl_error err = { 0 };
		char text[sizeof(whole)];
		size_t n = sizeof(whole) - 1;
		struct config_flaw flaw;
		struct thing t;
		int rc;

		memcpy(text, whole, sizeof(whole));
		if (draw_below(&d, 2))
			n = (size_t)draw_below(&d, n);
		for (uint64_t k = draw_below(&d, 4); k > 0; k--)
			text[draw_below(&d, sizeof(whole) - 1)] = (char)draw_u64(&d);
		rc = parse(&t, text, n, &memory, &err);
		assert_int_equal(rc, err.code);
		assert_true(!rc || (err.offset <= n && !strncmp(err.text, "f:", 2)));
		/*
		 * texts and words that were left out are NULL and none, which is no flaw of the
		 * file
		 */
		t.part = (struct part){ "p", 2, RED };
		for (size_t k = 0; !rc && k < t.n_list; k++)
			assert_true(t.list[k].weight >= 1 && t.list[k].weight <= 20);
		assert_true(rc || t.title);
		strcpy(t.tag, "ok");
		t.rate_hz = 1;
		t.n_list = t.n_named = 0;
		if (!rc && config_find_flaw(&thing_shape, &t, &flaw))
			fail_msg("%s", flaw.text);
		config_free(&memory);
	}
}

static void structs_in_memory_are_checked_by_the_same_tables(void **state)
{
	struct part parts[] = { { "a", 2, RED }, { "b", 21, RED } };
	struct thing t = thing_defaults;
	struct config_flaw flaw;

	(void)state;
	t.title = "t";
	strcpy(t.tag, "ok");
	t.rate_hz = 1;
	t.part = parts[0];
	assert_false(config_find_flaw(&thing_shape, &t, &flaw));
	t.list = parts;
	t.n_list = 2;
	assert_true(config_find_flaw(&thing_shape, &t, &flaw));
	assert_string_equal(flaw.list, "list");
	assert_int_equal(flaw.index, 1);
	assert_ptr_equal(flaw.field, &parts[1].weight);
	assert_string_equal(flaw.text, "`weight` must be a number from 1 to 20");
	t.n_list = 20000;
	assert_true(config_find_flaw(&thing_shape, &t, &flaw));
	assert_string_equal(flaw.text, "`list` must be a list of 1 to 10000 entries");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(yaml_and_json_say_the_same),
		cmocka_unit_test(complaints_have_a_place),
		cmocka_unit_test(bombs_are_limits),
		cmocka_unit_test(damaged_text_never_gives_what_cannot_be),
		cmocka_unit_test(structs_in_memory_are_checked_by_the_same_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
