/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <coeval/view.h>

#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

struct request {
	uint64_t port;
	bool no_open;
};

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "port", 'p', "PORT", OPTION_NUMBER, AT(port), "TCP port (default: any that is free)", 1,
	  65535 },
	{ "no-open", 0, NULL, OPTION_FLAG, AT(no_open), "only print the address" },
	{ 0 },
};

/* Show @address in a browser, if there is a display. */
static void open_browser(const char *address)
{
	char program[] = "xdg-open", url[200];
	char *const argv[] = { program, url, NULL };
	posix_spawn_file_actions_t quiet;
	pid_t pid;

	if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
		return;
	snprintf(url, sizeof(url), "%s", address);
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", 1 /* O_WRONLY */, 0);
	posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", 1, 0);
	posix_spawnp(&pid, program, &quiet, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&quiet);
}

/* Until the user has seen enough. */
static void wait_for_end(const sigset_t *ends)
{
	int number;

	sigwait(ends, &number);
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { 0 };
	struct cvl_view_opts opts = { 0 };
	struct operands operands;
	struct cvl_session *session;
	struct problems problems;
	struct progress progress;
	struct cvl_view *view;
	struct cvl_error err;
	sigset_t ends;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	problems_init(&problems);
	progress_init(&progress, operands.v[0]);
	rc = cvl_session_open(&session, operands.v[0], &problems.report, &err);
	if (rc)
		return cli_fail(&err);
	opts.port = (uint16_t)r.port;
	opts.report = &problems.report;
	opts.progress = (struct cvl_progress){ progress_show, &progress };
	/* before threads are made, which are to leave them to this one */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	rc = cvl_view_open(&view, session, &opts, &err);
	progress_clear(&progress);
	if (!rc) {
		printf("%s\n", cvl_view_address(view));
		fflush(stdout);
		fprintf(stderr,
			"open this address in a browser on this machine; Ctrl-C ends it\n"
			"from another machine: ssh -L PORT:127.0.0.1:PORT THIS_MACHINE, and open it there\n");
		if (!r.no_open)
			open_browser(cvl_view_address(view));
		wait_for_end(&ends);
		cvl_view_close(view);
	}
	cvl_session_close(session);
	return cli_end(rc, &err, &problems);
}

const struct verb verb_view = {
	.name = "view",
	.group = VERB_LOOK,
	.what = "look at a session in a browser, with how sure each time is",
	.operands = "SESSION",
	.options = options,
	.examples = "  coeval view s/\n"
		    "  coeval view s/ --port 8080 --no-open\n",
	.run = run,
};
