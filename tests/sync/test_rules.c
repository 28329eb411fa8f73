/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/sync.h>

#include "sync/rules.h"
#include "sync/rules_json.h"
#include "test_draw.h"

#define RADIO "send: { event: tx, key: [seq] }\nreceive: { event: rx, key: [n] }\n"
#define LONG_KEY "a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p"

static void good_rules_are_read(void **state)
{
	static const struct {
		const char *text;
		size_t rules;
		/* of the last rule */
		const char *name, *send, *receive, *last_send, *last_receive;
		size_t keys;
		int64_t window_ns;
	} cases[] = {
		{ RADIO, 1, "file", "tx", "rx", "seq", "n", 1, 0 },
		{ "name: radio\n" RADIO, 1, "radio", "tx", "rx", "seq", "n", 1, 0 },
		{ RADIO "window: 10s\n", 1, "file", "tx", "rx", "seq", "n", 1, 10000000000 },
		{ "window: 250ms\n" RADIO, 1, "file", "tx", "rx", "seq", "n", 1, 250000000 },
		{ "send: {event: net_*, key: [a, b]}\nreceive: {event: '*', key: [c, d]}\n", 1,
		  "file", "net_*", "*", "b", "d", 2, 0 },
		{ "receive:\n  event: rx\n  key:\n    - n\nsend:\n  key: [\"seq\"]\n  event: tx\n",
		  1, "file", "tx", "rx", "seq", "n", 1, 0 },
		{ "- send: {event: a, key: [x]}\n  receive: {event: b, key: [x]}\n"
		  "- name: two\n  send: {event: c, key: [y]}\n  receive: {event: d, key: [z]}\n",
		  2, "two", "c", "d", "y", "z", 1, 0 },
		{ "send: {event: s, key: [" LONG_KEY "]}\nreceive: {event: r, key: [" LONG_KEY "]}",
		  1, "file", "s", "r", "p", "p", 16, 0 },
		{ "# why\n---\n" RADIO "...\n", 1, "file", "tx", "rx", "seq", "n", 1, 0 },
		{ "{\"send\": {\"event\": \"tx\", \"key\": [\"seq\"]}, "
		  "\"receive\": {\"event\": \"rx\", \"key\": [\"n\"]}}",
		  1, "file", "tx", "rx", "seq", "n", 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rule_set set = { 0 };
		const struct match_rule *r;
		struct cvl_error err;

		if (rules_parse(&set, cases[i].text, strlen(cases[i].text), "file", &err))
			fail_msg("case %zu: %s", i, err.text);
		assert_int_equal(set.n, cases[i].rules);
		r = &set.rule[set.n - 1];
		assert_string_equal(r->name, cases[i].name);
		assert_string_equal(r->send.event, cases[i].send);
		assert_string_equal(r->receive.event, cases[i].receive);
		assert_int_equal(r->send.n_keys, cases[i].keys);
		assert_int_equal(r->receive.n_keys, cases[i].keys);
		assert_string_equal(r->send.key[cases[i].keys - 1], cases[i].last_send);
		assert_string_equal(r->receive.key[cases[i].keys - 1], cases[i].last_receive);
		assert_true(r->window_ns == cases[i].window_ns);
		rules_free(&set);
	}
}

/* All of them are syntax errors; the offset is where @at begins in the text. */
static void bad_rules_are_refused_with_their_place(void **state)
{
	static const struct {
		const char *name, *text, *at, *says;
	} cases[] = {
		{ "nothing", "", "", "expected a rule" },
		{ "a comment alone", "# later\n", "# later", "expected a rule" },
		{ "an empty list", "[]\n", "[]", "a list of 1 to 64" },
		{ "a word", "radio\n", "radio", "mapping" },
		{ "a list of words", "- radio\n", "radio", "mapping" },
		{ "unknown key of a rule", "nmae: radio\n" RADIO, "nmae", "unknown key" },
		{ "misspelt side",
		  "sned: { event: tx, key: [a] }\nreceive: { event: b, key: [a] }\n", "sned",
		  "unknown key" },
		{ "unknown key of a side",
		  "send: { event: tx, keys: [a] }\nreceive: { event: b, key: [a] }\n", "keys",
		  "unknown key" },
		{ "no send", "name: x\nreceive: { event: rx, key: [n] }\n", "name", "send" },
		{ "no receive", "send: { event: tx, key: [n] }\n", "send", "receive" },
		{ "a side that is a word", "send: tx\nreceive: { event: rx, key: [n] }\n", "tx",
		  "`send` must be a mapping with event, key" },
		{ "no event", "send: { key: [n] }\nreceive: { event: rx, key: [n] }\n",
		  "{ key: [n] }", "missing key 'event'" },
		{ "no key", "send: { event: tx }\nreceive: { event: rx, key: [n] }\n",
		  "{ event: tx", "missing key 'key'" },
		{ "a key that is a word",
		  "send: { event: tx, key: n }\nreceive: { event: rx, key: [n] }\n", "n }",
		  "`key` must be a list of 1 to 16" },
		{ "a key without fields",
		  "send: { event: tx, key: [] }\nreceive: { event: rx, key: [] }\n", "[]",
		  "a list of 1 to 16" },
		{ "a field without name",
		  "send: { event: tx, key: [''] }\nreceive: { event: rx, key: [n] }\n", "'']",
		  "not empty" },
		{ "a field that is a list",
		  "send: { event: tx, key: [[a]] }\nreceive: { event: rx, key: [n] }\n", "[a]]",
		  "`key` must be text" },
		{ "17 fields",
		  "send: { event: tx, key: [" LONG_KEY ", q] }\nreceive: { event: rx, key: [n] }\n",
		  "q]", "1 to 16" },
		{ "unequal counts",
		  "send: { event: tx, key: [a, b] }\nreceive: { event: rx, key: [a] }\n",
		  "send:", "same number" },
		{ "a window that is no time", RADIO "window: soon\n", "soon", "window" },
		{ "a window of nothing", RADIO "window: 0s\n", "0s", "window" },
		{ "a window back in time", RADIO "window: -1s\n", "-1s", "window" },
		{ "a window that is a list", RADIO "window: [10s]\n", "[10s]", "window" },
		{ "a name that is a list", "name: [radio]\n" RADIO, "[radio]", "name" },
		{ "an event that is no selector",
		  "send: { event: 'tx{a', key: [n] }\nreceive: { event: rx, key: [n] }\n", "'tx{a",
		  "conditions must come last" },
		{ "a second document", RADIO "---\nname: more\n" RADIO, "---", "one document" },
		{ "the second rule of a list",
		  "- {send: {event: a, key: [x]}, receive: {event: b, key: [x]}}\n- {sent: 1}\n",
		  "sent", "unknown key" },
		{ "an open bracket", "send: { event: tx, key: [a\n", NULL, NULL },
		{ "a tab", "send:\n\tevent: tx\n", NULL, NULL },
		{ "no YAML", "\x01\x02", NULL, NULL },
		{ "an unknown alias", "send: *a\n", NULL, NULL },
		{ "no UTF-8", "name: \xff\xfe\n", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *text = cases[i].text;
		struct rule_set set = { 0 };
		struct cvl_error err = { 0 };
		int rc = rules_parse(&set, text, strlen(text), "file", &err);

		if (rc != CVL_E_SYNTAX || err.code != CVL_E_SYNTAX)
			fail_msg("%s: code %d", cases[i].name, rc);
		if (strncmp(err.text, "file:", 5))
			fail_msg("%s: no file in \"%s\"", cases[i].name, err.text);
		if (cases[i].at && err.offset != (uint64_t)(strstr(text, cases[i].at) - text))
			fail_msg("%s: offset %" PRIu64 " instead of %td", cases[i].name, err.offset,
				 strstr(text, cases[i].at) - text);
		if (err.offset > strlen(text))
			fail_msg("%s: offset %" PRIu64 " is outside", cases[i].name, err.offset);
		if (cases[i].says && !strstr(err.text, cases[i].says))
			fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].name, err.text,
				 cases[i].says);
		rules_free(&set);
	}
}

/* Whatever is cut off or changed: rules that hold together, or an error. */
static void damaged_text_never_gives_half_a_rule(void **state)
{
	static const char whole[] = "# c\n- name: radio\n  window: 2s\n"
				    "  send: { event: tx, key: [seq, who] }\n"
				    "  receive: { event: rx, key: [n, from] }\n";
	struct draw d = draw_begin(1);

	(void)state;
	for (int i = 0; i < 5000; i++) {
		struct rule_set set = { 0 };
		struct cvl_error err = { 0 };
		char text[sizeof(whole)];
		size_t n = sizeof(whole) - 1;
		int rc;

		memcpy(text, whole, sizeof(whole));
		if (draw_below(&d, 2))
			n = (size_t)draw_below(&d, n);
		for (uint64_t k = draw_below(&d, 4); k > 0; k--)
			text[draw_below(&d, sizeof(whole) - 1)] = (char)draw_u64(&d);
		rc = rules_parse(&set, text, n, "file", &err);
		assert_int_equal(rc, err.code);
		assert_true(rc || set.n);
		for (size_t k = 0; !rc && k < set.n; k++) {
			const struct match_rule *r = &set.rule[k];

			assert_true(r->name && r->send.event && r->receive.event);
			assert_true(r->send.n_keys && r->send.n_keys == r->receive.n_keys);
			assert_true(r->window_ns >= 0);
		}
		rules_free(&set);
	}
}

static void rules_add_up(void **state)
{
	struct rule_set set = { 0 };
	struct cvl_error err;

	(void)state;
	assert_int_equal(rules_add(&set, "lttng-tcp", &err), 0);
	assert_int_equal(rules_parse(&set, RADIO, strlen(RADIO), "file", &err), 0);
	assert_int_equal(set.n, 2);
	assert_string_equal(set.rule[0].send.event, "inet_sock_local_out");
	assert_string_equal(set.rule[1].send.event, "tx");
	rules_free(&set);
}

static void every_builtin_rule_is_read(void **state)
{
	(void)state;
	assert_non_null(cvl_match_builtin_name(0));
	for (size_t i = 0; cvl_match_builtin_name(i); i++) {
		struct rule_set set = { 0 };
		struct cvl_error err;

		if (rules_add(&set, cvl_match_builtin_name(i), &err))
			fail_msg("%s", err.text);
		assert_true(set.n > 0);
		assert_string_equal(set.rule[0].name, cvl_match_builtin_name(i));
		rules_free(&set);
	}
}

static void examples_are_read(void **state)
{
	static const struct {
		const char *path, *send, *receive;
		size_t rules, keys;
	} cases[] = {
		{ COEVAL_SOURCE_DIR "/examples/rules/radio.yaml", "radio_send", "radio_receive", 1,
		  1 },
		{ COEVAL_SOURCE_DIR "/examples/rules/udp-id.yaml", "net_dev_queue",
		  "netif_receive_skb", 1, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rule_set set = { 0 };
		struct cvl_error err;

		if (rules_add(&set, cases[i].path, &err))
			fail_msg("%s", err.text);
		assert_int_equal(set.n, cases[i].rules);
		assert_string_equal(set.rule[0].send.event, cases[i].send);
		assert_string_equal(set.rule[0].receive.event, cases[i].receive);
		assert_int_equal(set.rule[0].send.n_keys, cases[i].keys);
		rules_free(&set);
	}
}

static void a_rule_that_is_not_there_is_wrong_usage(void **state)
{
	struct rule_set set = { 0 };
	struct cvl_error err;

	(void)state;
	assert_int_equal(rules_add(&set, "lttng-tpc", &err), CVL_E_USAGE);
	assert_non_null(strstr(err.text, "lttng-tpc"));
	assert_int_equal(rules_add(&set, COEVAL_SOURCE_DIR, &err), CVL_E_IO);
	assert_int_equal(set.n, 0);
	rules_free(&set);
}

static void deep_nesting_is_refused_at_once(void **state)
{
	const size_t n = 1 << 20;
	struct rule_set set = { 0 };
	struct cvl_error err;
	char *text = malloc(n);

	(void)state;
	assert_non_null(text);
	memset(text, '[', n);
	assert_int_equal(rules_parse(&set, text, n, "file", &err), CVL_E_LIMIT);
	assert_true(err.offset < 100);
	rules_free(&set);
	free(text);
}

/* As sync.json keeps them. */
static void rules_kept_are_read_back(void **state)
{
	static const char text[] = "- name: one\n"
				   "  send: { event: 'a*', key: [x, \"y \\\" z\"] }\n"
				   "  receive: { event: b, key: [u, v] }\n"
				   "  window: 1500us\n"
				   "- name: two\n"
				   "  send: { event: c, key: [x] }\n"
				   "  receive: { event: d, key: [x] }\n";
	struct rule_set set = { 0 }, back = { 0 };
	struct cvl_error err;
	char *settings;
	json_t *root;

	(void)state;
	assert_int_equal(rules_parse(&set, text, sizeof(text) - 1, "text", &err), 0);
	root = json_pack("{s:o}", "match", rules_json(&set));
	settings = json_dumps(root, 0);
	assert_int_equal(rules_recall(&back, settings, &err), 0);
	assert_int_equal(back.n, 2);
	assert_int_equal(back.rule[0].window_ns, 1500000);
	assert_int_equal(back.rule[1].window_ns, 0);
	assert_string_equal(back.rule[0].name, "one");
	assert_string_equal(back.rule[0].send.event, "a*");
	assert_int_equal(back.rule[0].send.n_keys, 2);
	assert_string_equal(back.rule[0].send.key[1], "y \" z");
	assert_string_equal(back.rule[1].receive.event, "d");
	rules_free(&back);
	assert_int_equal(rules_recall(&back, NULL, &err), 0);
	assert_int_equal(rules_recall(&back, "{}", &err), 0);
	assert_int_equal(back.n, 0);
	assert_int_equal(rules_recall(&back, "{\"match\":[{\"name\":1}]}", &err), CVL_E_SYNTAX);
	rules_free(&back);
	rules_free(&set);
	free(settings);
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_rules_are_read),
		cmocka_unit_test(bad_rules_are_refused_with_their_place),
		cmocka_unit_test(damaged_text_never_gives_half_a_rule),
		cmocka_unit_test(deep_nesting_is_refused_at_once),
		cmocka_unit_test(rules_add_up),
		cmocka_unit_test(rules_kept_are_read_back),
		cmocka_unit_test(every_builtin_rule_is_read),
		cmocka_unit_test(examples_are_read),
		cmocka_unit_test(a_rule_that_is_not_there_is_wrong_usage),
	};

	setenv("COEVAL_SEED", "1", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
