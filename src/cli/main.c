/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <signal.h>
#include <string.h>

const struct verb *const verbs[] = {
	&verb_capture,   &verb_devices, &verb_control, &verb_act,     &verb_join, &verb_import,
	&verb_decode,    &verb_sync,    &verb_info,    &verb_session, &verb_show, &verb_check,
	&verb_calls,     &verb_export,  &verb_report,  &verb_task,    &verb_flow, &verb_power,
	&verb_precision, &verb_sim,     &verb_demo,    &verb_doctor,  &verb_help, NULL,
};

static const struct verb *find(const char *name)
{
	for (size_t i = 0; verbs[i]; i++)
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
	return NULL;
}

static int help_all(FILE *f)
{
	fprintf(f,
		"coeval puts what many small machines did onto one clock, and says how sure it is.\n\n"
		"usage: coeval VERB [OPTIONS] ...\n\n");
	for (size_t i = 0; verbs[i]; i++)
		fprintf(f, "  %-9s  %s\n", verbs[i]->name, verbs[i]->what);
	fprintf(f,
		"\n`coeval help VERB` tells a verb's options with an example; `coeval --version` the version.\n"
		"Exit status: 0 done; 1 the answer is no; 2 wrong usage; 3 bad input; 4 something is missing.\n");
	return f == stdout ? cli_flush() : 2;
}

static int run_help(int argc, char **argv, const struct verb *verb)
{
	char help[] = "--help", *args[4] = { NULL };
	const struct verb *about;
	int n = 1;

	if (argc < 2)
		return help_all(stdout);
	about = find(argv[1]);
	if (!about)
		return cli_usage(verb, "there is no verb '%s'", argv[1]);
	if (about == verb)
		return cli_option('h', about);
	/* Verbs that have parts find out themselves which one is meant. */
	args[0] = argv[1];
	if (argc > 2)
		args[n++] = argv[2];
	args[n++] = help;
	return about->run(n, args, about);
}

const struct verb verb_help = {
	.name = "help",
	.what = "explain a verb",
	.usage = "help [VERB [PART]]",
	.help = "Example:\n  coeval help sync\n",
	.run = run_help,
};

int main(int argc, char **argv)
{
	const struct verb *verb;

	signal(SIGPIPE, SIG_IGN); /* a reader that leaves early is no error: writes see EPIPE */
	signal(SIGXFSZ,
	       SIG_IGN); /* a file may not be larger: writes see EFBIG, as of a full disk */
	if (argc < 2)
		return help_all(stderr);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("coeval %s\n", COEVAL_VERSION);
		return cli_flush();
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help_all(stdout);
	verb = find(argv[1]);
	if (!verb) {
		fprintf(stderr, "coeval: there is no verb '%s'; `coeval help` lists them\n",
			argv[1]);
		return 2;
	}
	return verb->run(argc - 1, argv + 1, verb);
}
