/* SPDX-License-Identifier: MIT */
/* Which records matching rules mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "sync/match.h"
#include "test_scratch.h"

static void ok(int rc, const struct cvl_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

/* Two nodes that send each other messages 0 to 19 on ports 0 to 3, each arriving 5 us later. */
static struct cvl_session *make(const char *path)
{
	static const struct cvl_store_field fields[] = { { "seq", CVL_STORE_U64 },
							 { "port", CVL_STORE_U64 } };
	static const struct cvl_origin origin = { .format = "test", .path = "-" };
	static const char *const names[] = { "n.1", "n2" };
	struct cvl_session *s;
	struct cvl_error err;

	ok(cvl_session_create(&s, path, &err), &err);
	for (uint64_t c = 0; c < 2; c++) {
		const struct cvl_store_desc desc = { .clock = names[c], .rate_hz = 1000000 };
		struct cvl_writer *w;
		int sent, received;

		ok(cvl_session_add(s, &desc, &origin, &w, &err), &err);
		sent = cvl_writer_declare(w, "radio.send", fields, 2, &err);
		received = cvl_writer_declare(w, "radio.receive", fields, 2, &err);
		for (uint64_t i = 0; i < 20; i++) {
			bool sends = i % 2 == c;
			const union cvl_store_value v[] = { { .u = i }, { .u = i % 4 } };

			ok(cvl_writer_event(w, (struct cvl_tick){ 100 * i + (sends ? 0 : 5) },
					    sends ? sent : received, v, &err),
			   &err);
		}
		ok(cvl_session_finish(s, w, (struct cvl_tick){ 3000 }, &err), &err);
	}
	cvl_session_close(s);
	ok(cvl_session_open(&s, path, NULL, &err), &err);
	return s;
}

/* How many messages are seen whole, and how many ends alone. */
static unsigned matched(struct cvl_session *s, const char *send, const char *receive,
			uint64_t *unmatched)
{
	struct match_end out[MATCH_ROLES_MAX];
	struct rule_set rules = { 0 };
	struct cvl_timeline *tl;
	struct cvl_block block;
	struct cvl_slice sl;
	struct matcher *m;
	struct cvl_error err;
	char text[300];
	unsigned whole = 0;

	snprintf(text, sizeof(text),
		 "send: { event: '%s', key: [seq] }\nreceive: { event: '%s', key: [seq] }\n", send,
		 receive);
	ok(rules_parse(&rules, text, strlen(text), "rule", &err), &err);
	ok(cvl_timeline_open(&tl, s, NULL, &err), &err);
	ok(matcher_new(&m, tl, &rules, &err), &err);
	while (cvl_timeline_next(tl, &block, &err) > 0)
		while (cvl_block_take(&block, &sl))
			for (size_t i = sl.begin; i < sl.end; i++) {
				int n = sl.batch->kind[i] == CVL_EVENT ?
						matcher_see(m, &sl, i, 0, out, &err) :
						0;

				for (int k = 0; k < n; k++)
					whole += out[k].complete;
			}
	*unmatched = matcher_counts(m).unmatched;
	matcher_free(m);
	cvl_timeline_close(tl);
	rules_free(&rules);
	return whole;
}

static void ends_are_what_selectors_mean(void **state)
{
	static const struct {
		const char *send, *receive;
		unsigned whole;
		uint64_t unmatched;
	} cases[] = {
		{ "radio.send", "radio.receive", 20, 0 },
		{ "radio.s*", "*.receive", 20, 0 },
		{ "n2.radio.send", "radio.receive", 10, 10 },
		{ "n2.radio.send", "n.1.radio.receive", 10, 0 },
		{ "\"n.1\".\"radio.send\"", "n2.radio.receive", 10, 0 },
		{ "radio.send{port=1}", "radio.receive{port!=2}", 5, 10 },
		{ "n2.radio.send{port=2}", "radio.receive", 0, 20 },
		{ "radio.send", "radio.lost", 0, 20 },
	};
	char path[300];
	struct cvl_session *s;

	(void)state;
	snprintf(path, sizeof(path), "%s/s", scratch);
	s = make(path);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t unmatched;

		assert_int_equal(matched(s, cases[i].send, cases[i].receive, &unmatched),
				 cases[i].whole);
		assert_int_equal(unmatched, cases[i].unmatched);
	}
	cvl_session_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(ends_are_what_selectors_mean) };

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
