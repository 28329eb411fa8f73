/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <coeval/capture.h>

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ACTS_MAX 64
#define POLL_MS 20

enum { OPT_NO_WAIT = 256, OPT_JSON };

static const struct option options[] = {
	{ "no-wait", no_argument, NULL, OPT_NO_WAIT },
	{ "json", no_argument, NULL, OPT_JSON },
	CLI_HELP_OPTION,
	{ 0 },
};

struct act {
	const char *verb, *line, *at;
	json_int_t id;
	json_t *answer; /* the last */
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
		cvl_fail(err, CVL_E_SYNTAX, CVL_NO_OFFSET, "%s: answers what is no JSON",
			 a->socket);
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
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "too long a name of a line");
	t->answer = ask(a, line, err);
	if (!t->answer)
		return err->code;
	t->id = json_integer_value(json_object_get(t->answer, "id"));
	return 0;
}

/* Until each was done or can no longer be. */
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

static int run(int argc, char **argv, const struct verb *verb)
{
	struct acts a = { .wait = true };
	struct cvl_error err;
	int c, rc;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case OPT_NO_WAIT: a.wait = false; break;
		case OPT_JSON: a.json = true; break;
		default: return cli_option(c, verb);
		}
	}
	if (optind >= argc)
		return cli_usage(verb, "name the session that is captured, or its socket");
	rc = read_acts(&a, argc - optind, argv + optind, verb);
	if (rc)
		return rc;
	a.socket = argv[optind];
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

const struct verb verb_act = {
	.name = "act",
	.what = "set, clear or pulse a target's pin at a given time",
	.usage = "act [OPTIONS] SESSION|SOCKET set|clear|pulse LINE at TIME ...",
	.help = "The session is one that is captured just now with --driver tracelab and --control; or name the socket.\n"
		"\n"
		"  TIME        +50ms: from now on; 12.5s: since the capture began, by the analyzer's clock\n"
		"  --no-wait   do not wait until it was done\n"
		"  --json      print each answer as JSON, one a line\n"
		"\n"
		"What is less than 70 us ahead when it would arrive is refused. Exit status 1: something was refused, or came\n"
		"too late.\n"
		"\n"
		"Examples:\n"
		"  coeval act s/ set ACT1 at +50ms clear ACT1 at +60ms\n"
		"  coeval act n07.sock pulse ACT2 at 12.5s\n",
	.run = run,
};
