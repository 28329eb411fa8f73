/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <signal.h>
#include <string.h>

extern const struct verb verb_capture, verb_send, verb_collect, verb_import, verb_decode, verb_sim,
	verb_demo, verb_sync, verb_info, verb_show, verb_export, verb_report, verb_session,
	verb_check, verb_calls, verb_power, verb_precision, verb_task, verb_flow, verb_doctor,
	verb_control, verb_view, verb_sql;
/* For shells and for the build: undocumented. */
extern const struct verb verb_complete, verb_completion, verb_man;

static int run_help(int argc, char **argv, const struct verb *verb);

static const struct verb verb_help = {
	.name = "help",
	.group = VERB_HELP,
	.what = "explain a command",
	.operands = "[COMMAND...]",
	.examples = "  coeval help sync\n  coeval help task plan\n  coeval help import vcd\n",
	.run = run_help,
};

const struct verb *const verbs[] = {
	&verb_capture, &verb_send,   &verb_collect, &verb_import,    &verb_decode,
	&verb_sim,     &verb_demo,   &verb_sync,    &verb_info,      &verb_view,
	&verb_show,    &verb_export, &verb_report,  &verb_session,   &verb_sql,
	&verb_check,   &verb_calls,  &verb_power,   &verb_precision, &verb_task,
	&verb_flow,    &verb_doctor, &verb_control, &verb_help,      NULL,
};

static const struct verb *const unlisted[] = { &verb_complete, &verb_completion, &verb_man, NULL };

static const struct {
	const char *old, *now[2];
} old_names[] = {
	{ "join", { "session", "join" } },
	{ "devices", { "doctor", "devices" } },
	{ "act", { "control", "act" } },
};

#define OLD_NAMES (sizeof(old_names) / sizeof(*old_names))

static const struct verb *named(const struct verb *const *list, const char *name)
{
	for (; *list; list++)
		if (!strcmp((*list)->name, name))
			return *list;
	return NULL;
}

static const struct verb *part(const struct verb *verb, const char *name)
{
	for (size_t i = 0; verb->parts && verb->parts[i]; i++)
		if (!strcmp(strchr(verb->parts[i]->name, ' ') + 1, name))
			return verb->parts[i];
	return NULL;
}

const struct verb *verb_find(int argc, char **argv, int *used)
{
	const struct verb *verb = argc ? named(verbs, argv[0]) : NULL, *p;

	*used = 1;
	if (!verb && argc)
		verb = named(unlisted, argv[0]);
	for (size_t i = 0; !verb && argc && i < OLD_NAMES; i++)
		if (!strcmp(argv[0], old_names[i].old))
			return part(named(verbs, old_names[i].now[0]), old_names[i].now[1]);
	p = verb && argc > 1 ? part(verb, argv[1]) : NULL;
	if (!p)
		return verb;
	*used = 2;
	return p;
}

static const char *name_of_verb(const void *list, size_t i)
{
	const struct verb *const *v = list;
	const size_t n = sizeof(verbs) / sizeof(*verbs) - 1;

	if (i < n)
		return v[i]->name;
	return i < n + OLD_NAMES ? old_names[i - n].old : NULL;
}

static const char *name_of_part(const void *list, size_t i)
{
	const struct verb *const *v = list;

	return v[i] ? strchr(v[i]->name, ' ') + 1 : NULL;
}

static int unknown_command(const char *name)
{
	const char *word = nearest_word(name, name_of_verb, verbs);
	int used;

	if (word) {
		char copy[40], *one[] = { copy };

		snprintf(copy, sizeof(copy), "%s", word);
		word = verb_find(1, one, &used)->name; /* the new name for an old one */
	}
	fprintf(stderr, "coeval: unknown command '%s'%s%s%s; `coeval help` lists them\n", name,
		word ? " (did you mean " : "", word ? word : "", word ? "?)" : "");
	return 2;
}

static int unknown_part(const struct verb *verb, const char *name)
{
	const char *near = nearest_word(name, name_of_part, verb->parts);

	return cli_usage(verb, "unknown command '%s'%s%s%s", name, near ? " (did you mean " : "",
			 near ? near : "", near ? "?)" : "");
}

static int run_help(int argc, char **argv, const struct verb *verb)
{
	const struct verb *about;
	struct operands names;
	int rc = options_read(verb, NULL, argc, argv, &names), used;

	if (rc >= 0)
		return rc;
	if (!names.n) {
		help_all(stdout, verbs);
		return cli_flush();
	}
	about = verb_find(names.n, names.v, &used);
	if (!about)
		return unknown_command(names.v[0]);
	if (names.n > used && !about->members && about->parts)
		return unknown_part(about, names.v[used]);
	return help_verb(about, names.n > used ? names.v[used] : NULL);
}

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

int main(int argc, char **argv)
{
	const struct verb *verb;
	int used;

	signal(SIGPIPE, SIG_IGN); /* a closed pipe is not a signal: writes fail with EPIPE */
	signal(SIGXFSZ, SIG_IGN); /* nor is a file size limit: writes fail with EFBIG */
	if (argc < 2) {
		help_all(stderr, verbs);
		return 2;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("coeval %s\n", COEVAL_VERSION);
		return cli_flush();
	}
	if (is_help(argv[1])) {
		help_all(stdout, verbs);
		return cli_flush();
	}
	verb = verb_find(argc - 1, argv + 1, &used);
	if (!verb)
		return unknown_command(argv[1]);
	if (used == 1 && strchr(verb->name, ' '))
		fprintf(stderr, "coeval: '%s' is now '%s'\n", argv[1], verb->name);
	if (verb->run)
		return verb->run(argc - used, argv + used, verb);
	if (argc > 2 && is_help(argv[2]))
		return help_verb(verb, NULL);
	return argc > 2 ? unknown_part(verb, argv[2]) : cli_usage(verb, "missing command");
}
