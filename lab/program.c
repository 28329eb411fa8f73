/* SPDX-License-Identifier: MIT */
#include "lab/program.h"

#include "lab/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 10

extern char **environ;

/* It is not to inherit what we block, nor our terminal. */
static int start(pid_t *pid, char *const *argv)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none;
	int rc;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&how);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
	rc = posix_spawnp(pid, argv[0], &files, &how, argv, environ);
	posix_spawnattr_destroy(&how);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

int program_run(char *const *argv, int64_t timeout_ms, int stop_fd, struct cvl_error *err)
{
	int64_t end = lab_now_ms() + timeout_ms;
	int status = 0, rc = 0;
	pid_t pid, done = 0;

	rc = start(&pid, argv);
	if (rc)
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: cannot run it: %s", argv[0],
				strerror(rc));
	while (!rc && !done) {
		done = waitpid(pid, &status, WNOHANG);
		if (!done && lab_now_ms() >= end)
			rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: not done within %g s",
				      argv[0], (double)timeout_ms / 1000);
		else if (!done)
			rc = lab_sleep(stop_fd, LOOK_MS, err);
	}
	if (!done) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	if (rc)
		return rc;
	if (done < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: it failed%s", argv[0],
				WIFEXITED(status) && WEXITSTATUS(status) == 127 ?
					"; is it installed?" :
					"");
	return 0;
}
