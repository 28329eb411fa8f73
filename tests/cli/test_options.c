/* SPDX-License-Identifier: MIT */
/* The reader of options, by a verb that has one of each kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/cli.c"
#include "cli/help.c"
#include "cli/options.c"

struct request {
	bool flag, wait, on, has_from;
	const char *text, *file, *must, *list[2];
	size_t n_list;
	unsigned choice, number;
	int64_t from, above;
	uint64_t rate, whole;
	double real;
	struct {
		const char *line;
		int64_t until;
	} group;
	int taken;
};

#define AT(member) offsetof(struct request, member)

static const char *const colours[] = { "red", "green", "blue", NULL };

static int take(const struct verb *verb, void *to, char *arg)
{
	struct request *r = to;

	r->taken += (int)strlen(arg);
	return *arg == '!' ? cli_usage(verb, "--take refuses") : 0;
}

static const struct cli_option group[] = {
	{ "line", 'l', "LINE", OPTION_LINE, 0, "a line" },
	{ "until", 0, "TIME", OPTION_DURATION, sizeof(const char *), "a time" },
	{ "to", 0, "TIME", .now = "until" },
	{ 0 },
};

static const struct cli_option options[] = {
	{ "flag", 'f', NULL, OPTION_FLAG, AT(flag), "a flag" },
	{ "no-wait", 0, NULL, OPTION_UNSET, AT(wait), "not a flag" },
	{ "text", 't', "TEXT", OPTION_TEXT, AT(text), "a text" },
	{ "list", 0, "TEXT", OPTION_TEXT, OPTION_MANY(struct request, list, n_list),
	  .what = "two" },
	{ "colour", 0, "NAME", OPTION_WORD, AT(file), "a colour", .words = colours },
	{ "choice", 0, "NAME", OPTION_CHOICE, AT(choice), "a colour's number", .words = colours },
	{ "switch", 0, "on|off", OPTION_SWITCH, AT(on), "a switch" },
	{ "from", 0, "TIME", OPTION_DURATION, AT(from), "a time",
	  OPTION_GIVEN(struct request, has_from) },
	{ "above", 0, "TIME", OPTION_DURATION, AT(above), "a time above 0", 1, INT64_MAX,
	  .optional = true },
	{ .kind = OPTION_GROUP, .at = AT(group), .group = group },
	{ .kind = OPTION_HEADING, .what = "Numbers" },
	{ "rate", 'r', "HZ", OPTION_RATE, AT(rate), "a rate" },
	{ "number", 'n', "N", OPTION_NUMBER, AT(number), "a number", 2, 5 },
	{ "whole", 0, "N", OPTION_WHOLE, AT(whole), "a whole number" },
	{ "real", 0, "X", OPTION_REAL, AT(real), "a real number" },
	{ "take", 0, "X", OPTION_TEXT, 0, "its own", .take = take },
	{ "secret", 0, NULL, OPTION_FLAG, AT(on), "not told", .hidden = true },
	{ 0 },
};

static const struct cli_option demanding[] = {
	{ "must", 'm', "TEXT", OPTION_TEXT, AT(must), "has to be", .must = true },
	{ 0 },
};

static int nothing(int argc, char **argv, const struct verb *v)
{
	(void)argc;
	(void)argv;
	(void)v;
	return 0;
}

static const struct verb verb = {
	.name = "try", .what = "try it", .operands = "A [B]", .options = options, .run = nothing
};
static const struct verb any = { .name = "any", .operands = "[A...]", .options = options };
static const struct verb must = {
	.name = "must", .what = "must be", .options = demanding, .run = nothing
};

static struct request r;
static struct operands operands;
static char said[2000];

/* Reads @line, cut at blanks; what is printed is in said[]. */
static int read_line(const struct verb *v, const char *line)
{
	static char copy[500], *argv[64];
	char *save = NULL;
	int argc = 0, rc, saved = dup(STDERR_FILENO), out = dup(STDOUT_FILENO);
	FILE *f = tmpfile();

	snprintf(copy, sizeof(copy), "%s %s", v->name, line);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	r = (struct request){ .wait = true };
	fflush(stdout);
	dup2(fileno(f), STDERR_FILENO);
	dup2(fileno(f), STDOUT_FILENO);
	rc = options_read(v, &r, argc, argv, &operands);
	fflush(stdout);
	dup2(saved, STDERR_FILENO);
	dup2(out, STDOUT_FILENO);
	close(saved);
	close(out);
	rewind(f);
	said[fread(said, 1, sizeof(said) - 1, f)] = '\0';
	fclose(f);
	return rc;
}

#define assert_says(text) assert_non_null(strstr(said, text))

static void every_kind_is_read(void **state)
{
	(void)state;
	assert_int_equal(
		read_line(
			&verb,
			"a --flag --no-wait --text=x --list 1 --list 2 --colour green --choice blue "
			"--switch on --from 1.5 --rate 8MHz --number 5 --whole 12345678901 --real 2.5 "
			"--line TX --until 10us --take abc b"),
		-1);
	assert_true(r.flag && !r.wait && r.on && r.has_from);
	assert_string_equal(r.text, "x");
	assert_int_equal(r.n_list, 2);
	assert_string_equal(r.list[0], "1");
	assert_string_equal(r.list[1], "2");
	assert_string_equal(r.file, "green");
	assert_int_equal(r.choice, 2);
	assert_int_equal(r.from, 1500000000);
	assert_int_equal(r.rate, 8000000);
	assert_int_equal(r.number, 5);
	assert_int_equal(r.whole, 12345678901);
	assert_true(r.real == 2.5);
	assert_string_equal(r.group.line, "TX");
	assert_int_equal(r.group.until, 10000);
	assert_int_equal(r.taken, 3);
	assert_int_equal(operands.n, 2);
	assert_string_equal(operands.v[0], "a");
	assert_string_equal(operands.v[1], "b");
	assert_string_equal(said, "");
}

static void letters_take_what_is_behind_them_or_the_next_word(void **state)
{
	(void)state;
	assert_int_equal(read_line(&verb, "-ftx -n3 -r 1k -l TX a"), -1);
	assert_true(r.flag);
	assert_string_equal(r.text, "x");
	assert_int_equal(r.number, 3);
	assert_int_equal(r.rate, 1000);
	assert_string_equal(r.group.line, "TX");
}

static void a_name_may_be_cut_short_while_it_is_the_only_one(void **state)
{
	(void)state;
	assert_int_equal(read_line(&verb, "a --tex x --fl"), -1);
	assert_string_equal(r.text, "x");
	assert_true(r.flag);
	assert_int_equal(read_line(&verb, "a --t x"), 2); /* text, take */
	assert_int_equal(read_line(&verb, "a --secre"), 2);
	assert_int_equal(read_line(&verb, "a --secret"), -1);
}

static void an_old_spelling_goes_on_and_says_the_new_one(void **state)
{
	(void)state;
	assert_int_equal(read_line(&verb, "a --to 1ms"), -1);
	assert_int_equal(r.group.until, 1000000);
	assert_says("coeval try: --to is now --until\n");
	assert_int_equal(read_line(&verb, "a --to soon"), 2);
	assert_says("--until takes a time");
}

static void an_optional_argument_is_the_next_word_if_it_can_be(void **state)
{
	(void)state;
	assert_int_equal(read_line(&verb, "--above 10us a"), -1);
	assert_int_equal(r.above, 10000);
	assert_int_equal(read_line(&verb, "--above a"), -1);
	assert_int_equal(r.above, 0);
	assert_int_equal(operands.n, 1);
	assert_int_equal(read_line(&verb, "a --above"), -1);
	assert_int_equal(read_line(&verb, "a --above=5us"), -1);
	assert_int_equal(r.above, 5000);
	assert_int_equal(read_line(&verb, "a --above=soon"), 2);
}

static void what_is_behind_two_dashes_is_an_operand(void **state)
{
	(void)state;
	assert_int_equal(read_line(&any, "- -- --flag -x"), -1);
	assert_int_equal(operands.n, 3);
	assert_string_equal(operands.v[0], "-");
	assert_string_equal(operands.v[1], "--flag");
	assert_string_equal(operands.v[2], "-x");
	assert_false(r.flag);
}

static void what_is_wrong_is_told(void **state)
{
	static const struct {
		const char *line, *says;
	} wrong[] = {
		{ "",
		  "coeval try: missing A\nusage: coeval try [OPTIONS] A [B]\nTry `coeval help try`.\n" },
		{ "a b c", "unexpected argument 'c'" },
		{ "a --zzzzz", "unknown option '--zzzzz'\n" },
		{ "a --numbre 3", "unknown option '--numbre' (did you mean --number?)" },
		{ "a -x", "unknown option '-x'" },
		{ "a --text", "--text needs an argument: TEXT" },
		{ "a --flag=1", "--flag takes no argument" },
		{ "a --colour grene",
		  "--colour takes red, green or blue, not 'grene' (did you mean green?)" },
		{ "a --choice black", "--choice takes red, green or blue, not 'black'" },
		{ "a --switch no", "--switch takes on or off, not 'no'" },
		{ "a --from soon", "--from takes a time such as 1.2, 250ms or 10us, not 'soon'" },
		{ "a --above=0", "--above takes a time above 0, not '0'" },
		{ "a --rate fast", "--rate takes a rate such as 8MHz, 500k or 32768, not 'fast'" },
		{ "a --number 1", "--number takes a number from 2 to 5, not '1'" },
		{ "a --number 6", "--number takes a number from 2 to 5" },
		{ "a --number 3x", "--number takes a number from 2 to 5" },
		{ "a --number -3", "--number takes a number from 2 to 5" },
		{ "a --whole -1", "--whole takes a whole number, not '-1'" },
		{ "a --whole 99999999999999999999", "--whole takes a whole number" },
		{ "a --real 0", "--real takes a number above 0 (1e-15 to 1e15), not '0'" },
		{ "a --real nan", "--real takes a number above 0" },
		{ "a --list 1 --list 2 --list 3", "--list can be given 2 times at most" },
		{ "a --take !", "--take refuses" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(read_line(&verb, wrong[i].line), 2);
		if (!strstr(said, wrong[i].says))
			fail_msg("'%s' says %s", wrong[i].line, said);
	}
	assert_int_equal(read_line(&must, ""), 2);
	assert_says("missing --must TEXT\nusage: coeval must [OPTIONS] -m TEXT\n");
	assert_int_equal(read_line(&must, "-m x"), -1);
}

static void help_wins_over_what_is_wrong_behind_it(void **state)
{
	(void)state;
	assert_int_equal(read_line(&verb, "--flag --help --frob"), 0);
	assert_int_equal(read_line(&must, "-h"), 0);
}

static void words_that_are_near_are_found(void **state)
{
	(void)state;
	assert_string_equal(nearest_word("gren", word_of_option, &options[4]), "green");
	assert_string_equal(nearest_word("rde", word_of_option, &options[4]), "red");
	assert_null(nearest_word("yellow", word_of_option, &options[4]));
	assert_null(nearest_word("", word_of_option, &options[4]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_is_read),
		cmocka_unit_test(letters_take_what_is_behind_them_or_the_next_word),
		cmocka_unit_test(a_name_may_be_cut_short_while_it_is_the_only_one),
		cmocka_unit_test(an_old_spelling_goes_on_and_says_the_new_one),
		cmocka_unit_test(an_optional_argument_is_the_next_word_if_it_can_be),
		cmocka_unit_test(what_is_behind_two_dashes_is_an_operand),
		cmocka_unit_test(what_is_wrong_is_told),
		cmocka_unit_test(help_wins_over_what_is_wrong_behind_it),
		cmocka_unit_test(words_that_are_near_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
