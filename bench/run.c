/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <coeval/error.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MESSAGES "messages"

extern char **environ;

double bench_seconds(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1e-6;
}

double bench_cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return bench_seconds(&u);
}

void bench_path(const struct bench *b, char out[BENCH_PATH_MAX], const char *name)
{
	if (snprintf(out, BENCH_PATH_MAX, "%s/%s", b->dir, name) >= BENCH_PATH_MAX)
		abort();
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	(void)st, (void)flag, (void)at;
	remove(path);
	return 0;
}

void bench_remove(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

bool bench_installed(struct bench_row *row, const char *program)
{
	char dirs[BENCH_PATH_MAX], path[BENCH_PATH_MAX], *save = NULL;
	const char *env = getenv("PATH");

	snprintf(dirs, sizeof(dirs), "%s", env ? env : "");
	for (char *d = strtok_r(dirs, ":", &save); d; d = strtok_r(NULL, ":", &save))
		if (snprintf(path, sizeof(path), "%s/%s", d, program) < (int)sizeof(path) &&
		    !access(path, X_OK))
			return true;
	snprintf(row->skip, sizeof(row->skip), "%s is not installed", program);
	return false;
}

/* ---- programs ---- */

/* Output to nowhere, messages to a file that is shown if the program fails. */
int bench_start(const struct bench *b, const struct bench_command *c, pid_t *pid)
{
	posix_spawn_file_actions_t io;
	char messages[BENCH_PATH_MAX];
	int rc;

	bench_path(b, messages, c->messages ? c->messages : MESSAGES);
	if (posix_spawn_file_actions_init(&io))
		return bench_fail(b, CVL_E_NOMEM, "out of memory");
	rc = posix_spawn_file_actions_addopen(&io, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!rc)
		rc = posix_spawn_file_actions_addopen(&io, STDOUT_FILENO,
						      c->output ? c->output : "/dev/null",
						      O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (!rc)
		rc = posix_spawn_file_actions_addopen(&io, STDERR_FILENO, messages,
						      O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (!rc)
		rc = posix_spawnp(pid, c->argv[0], &io, NULL, (char *const *)(uintptr_t)c->argv,
				  environ);
	posix_spawn_file_actions_destroy(&io);
	return rc ? bench_fail(b, CVL_E_ENV, "%s: cannot run it: %s", c->argv[0], strerror(rc)) : 0;
}

/* @key of /proc/PID/status, in units of @unit; *@most keeps the greatest. */
static void watch_key(const char *status, const char *key, double unit, double *most)
{
	const char *line = strstr(status, key);
	double now = line ? strtod(line + strlen(key), NULL) / unit : 0;

	*most = now > *most ? now : *most;
}

/* Nothing is there when the program has ended. */
static void watch_status(int fd, struct bench_usage *u)
{
	char text[4096];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return;
	text[n] = '\0';
	watch_key(text, "RssAnon:", 1024, &u->anon_mib);
	watch_key(text, "VmHWM:", 1024, &u->resident_mib);
	watch_key(text, "Threads:", 1, &u->threads);
}

static int open_status(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void bench_watch(pid_t pid, struct bench_usage *u)
{
	const int fd = open_status(pid);

	if (fd < 0)
		return;
	watch_status(fd, u);
	close(fd);
}

static void watch(pid_t pid, struct bench_usage *u)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	const int fd = open_status(pid);
	siginfo_t info;

	do {
		watch_status(fd, u);
		nanosleep(&pause, NULL);
		info.si_pid = 0;
	} while (!bench_stopped() &&
		 !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && !info.si_pid);
	if (fd >= 0)
		close(fd);
}

void bench_show_messages(const struct bench *b, const char *messages)
{
	char path[BENCH_PATH_MAX], line[1024];
	FILE *f;

	bench_path(b, path, messages);
	f = fopen(path, "r");
	for (int i = 0; f && i < 10 && fgets(line, sizeof(line), f); i++)
		fputs(line, stderr);
	if (f)
		fclose(f);
}

int bench_run(const struct bench *b, const struct bench_command *c, struct bench_usage *u)
{
	struct rusage used;
	int status, rc;
	pid_t pid;

	if (bench_stopped())
		return CVL_E_NO;
	if (c->fresh)
		bench_remove(c->fresh);
	u->anon_mib = u->resident_mib = u->threads = 0;
	rc = bench_start(b, c, &pid);
	if (rc)
		return rc;
	if (u->watch_memory)
		watch(pid, u);
	while (wait4(pid, &status, bench_stopped() ? WNOHANG : 0, &used) <= 0) {
		if (!bench_stopped())
			continue;
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		return CVL_E_NO;
	}
	if (bench_stopped())
		return CVL_E_NO;
	u->cpu_s = bench_seconds(&used);
	if (WIFEXITED(status) && c->status)
		*c->status = WEXITSTATUS(status);
	if (WIFEXITED(status) && (c->status || !WEXITSTATUS(status)))
		return 0;
	bench_fail(b, CVL_E_ENV, "%s %s failed:", c->argv[0], c->argv[1]);
	bench_show_messages(b, c->messages ? c->messages : MESSAGES);
	return CVL_E_ENV;
}

static int run_once(const struct bench *b, const struct bench_row *row,
		    const struct bench_command *c, struct bench_series *s)
{
	struct bench_usage u = { 0 };
	int rc;

	if (s->n && s->v[0] > BENCH_LONG_S)
		return 0;
	bench_doing(b, "%s: run %zu of %s", row->name, s->n + 1, c->argv[0]);
	rc = bench_run(b, c, &u);
	if (!rc)
		bench_add(s, u.cpu_s);
	return rc;
}

int bench_compare(const struct bench *b, struct bench_row *row, size_t runs,
		  const struct bench_command *ours, const struct bench_command *reference)
{
	row->unit = "s";
	row->less_is_better = true;
	for (size_t i = 0; i < runs; i++) {
		int rc = run_once(b, row, ours, &row->ours);

		if (!rc && !row->skip[0])
			rc = run_once(b, row, reference, &row->reference);
		if (rc)
			return rc;
	}
	bench_put(b, row);
	return 0;
}
