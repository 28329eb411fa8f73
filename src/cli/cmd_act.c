/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <coeval/capture.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ACTS_MAX 64
#define POLL_MS 20

struct act {
	const char *verb, *line, *at;
	json_int_t id;
	json_t *answer; /* the last one */
};

struct acts {
	const char *socket; /* or the session */
	struct act act[ACTS_MAX];
	size_t n;
	bool wait, json;
};

/* The answer to @line as JSON, or NULL with @err filled: CVL_E_NO if it was refused. */
static json_t *ask(const struct acts *a, const char *line, struct cvl_error *err)
{
	char *text = cvl_capture_ask(a->socket, line, err);
	json_t *root = text ? json_loads(text, 0, NULL) : NULL;
	const char *refused = json_string_value(json_object_get(root, "error"));

	if (text && !root)
		cvl_fail(err, CVL_E_SYNTAX, CVL_NO_OFFSET, "%s: the answer is not JSON", a->socket);
	free(text);
	if (refused) {
		cvl_fail(err, CVL_E_NO, CVL_NO_OFFSET, "%s", refused);
		json_decref(root);
		return NULL;
	}
	return root;
}

static const char *state_of(const struct act *t)
{
	const char *s = json_string_value(json_object_get(t->answer, "state"));

	return s ? s : "unknown";
}

static bool is_waiting(const struct act *t)
{
	return !strcmp(state_of(t), "waiting");
}

static int order(const struct acts *a, struct act *t, struct cvl_error *err)
{
	char line[250];

	if (snprintf(line, sizeof(line), "act %s %s %s", t->verb, t->line, t->at) >=
	    (int)sizeof(line))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "the name of a line is too long");
	t->answer = ask(a, line, err);
	if (!t->answer)
		return err->code;
	t->id = json_integer_value(json_object_get(t->answer, "id"));
	return 0;
}

/* Wait until each was done or can no longer be. */
static int wait_for_all(const struct acts *a, struct act *list, struct cvl_error *err)
{
	const struct timespec pause = { 0, POLL_MS * 1000000l };

	for (size_t i = 0; i < a->n; i++) {
		while (is_waiting(&list[i])) {
			char line[40];
			json_t *now;

			snprintf(line, sizeof(line), "acted %" JSON_INTEGER_FORMAT, list[i].id);
			now = ask(a, line, err);
			if (!now)
				return err->code;
			json_decref(list[i].answer);
			list[i].answer = now;
			if (is_waiting(&list[i]))
				nanosleep(&pause, NULL);
		}
	}
	return 0;
}

static void print_one(const struct act *t)
{
	json_t *done = json_object_get(t->answer, "done_s");
	json_t *end = json_object_get(t->answer, "end_s");
	const char *reason = json_string_value(json_object_get(t->answer, "reason"));

	printf("%s %s at %.9f s: %s", t->verb, t->line,
	       json_real_value(json_object_get(t->answer, "at_s")), state_of(t));
	if (json_is_real(done))
		printf(" at %.9f s", json_real_value(done));
	if (json_is_real(end))
		printf(", its end at %.9f s", json_real_value(end));
	if (reason)
		printf(": %s", reason);
	putchar('\n');
}

static int print(const struct acts *a)
{
	bool well = true;

	for (size_t i = 0; i < a->n && a->act[i].answer; i++) {
		char *text = a->json ? json_dumps(a->act[i].answer,
						  JSON_COMPACT | JSON_REAL_PRECISION(15)) :
				       NULL;

		if (text)
			printf("%s\n", text);
		else
			print_one(&a->act[i]);
		free(text);
		well = well && (!strcmp(state_of(&a->act[i]), "done") ||
				(!a->wait && is_waiting(&a->act[i])));
	}
	return well;
}

/* The socket takes lines of words. */
static bool is_word(const char *s)
{
	return *s && !s[strcspn(s, " \t\r\n")];
}

static int read_acts(struct acts *a, int argc, char **argv, const struct verb *verb)
{
	if (argc < 5 || (argc - 1) % 4)
		return cli_usage(verb, "say what to do: set, clear or pulse, a line, 'at', a time");
	for (int i = 1; i < argc; i += 4) {
		if (strcmp(argv[i], "set") != 0 && strcmp(argv[i], "clear") != 0 &&
		    strcmp(argv[i], "pulse") != 0)
			return cli_usage(verb,
					 "a line can be set, cleared (clear) or pulsed (pulse), "
					 "not '%s'",
					 argv[i]);
		if (strcmp(argv[i + 2], "at") != 0)
			return cli_usage(verb, "'at' and a time come after the line, not '%s'",
					 argv[i + 2]);
		if (!is_word(argv[i + 1]) || !is_word(argv[i + 3]))
			return cli_usage(verb,
					 "neither a line nor a time is empty or has blanks in it");
		if (a->n == ACTS_MAX)
			return cli_usage(verb, "at most %d at once", ACTS_MAX);
		a->act[a->n++] = (struct act){ argv[i], argv[i + 1], argv[i + 3], 0, NULL };
	}
	return 0;
}

#define AT(member) offsetof(struct acts, member)

static const struct cli_option options[] = {
	{ "no-wait", 0, NULL, OPTION_UNSET, AT(wait), "do not wait until it was done" },
	JSON_OPTION(AT(json)),
	{ 0 },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	struct acts a = { .wait = true };
	struct operands operands;
	struct cvl_error err;
	int c, rc = options_read(verb, &a, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	rc = read_acts(&a, operands.n, operands.v, verb);
	if (rc)
		return rc;
	a.socket = operands.v[0];
	for (size_t i = 0; i < a.n && !rc; i++)
		rc = order(&a, &a.act[i], &err);
	if (!rc && a.wait)
		rc = wait_for_all(&a, a.act, &err);
	c = print(&a) ? 0 : 1;
	for (size_t i = 0; i < a.n; i++)
		json_decref(a.act[i].answer);
	if (rc)
		return cli_fail(&err);
	rc = cli_flush();
	return rc ? rc : c;
}

const struct verb control_act = {
	.name = "control act",
	.what = "set, clear or pulse an output of an observer at a given time",
	.operands = "SESSION|SOCKET set|clear|pulse LINE at TIME...",
	.options = options,
	.notes =
		"SESSION must be being captured with --driver tracelab and --control; or give the socket. LINE is ACT1 to ACT3, for a pulse LINE:WIDTH (default: 1ms). TIME is +50ms: from now, or 12.5s: since the capture began, by the analyzer's clock.\n"
		"\n"
		"What would arrive less than 70 us ahead is refused. Exit status 1: something was refused, or came too late.\n",
	.examples = "  coeval control act s/ set ACT1 at +50ms clear ACT1 at +60ms\n"
		    "  coeval control act n07.sock pulse ACT2 at 12.5s\n",
	.run = run,
};
