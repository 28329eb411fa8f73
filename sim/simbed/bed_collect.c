/* SPDX-License-Identifier: MIT */
#include "sim/simbed/bed_collect.h"

#include <coeval/array.h>
#include <coeval/files.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/random.h"

#define END_S 120

struct sender {
	char name[64];
	pid_t pid; /* 0: it ended, or was killed */
	bool done; /* all was sent, as far as it knew */
};

struct bed_collect {
	struct bed_collect_opts opts;
	char session[CVL_PATH_MAX], url[64], listen[64];
	pid_t collector;
	struct sender *sender;
	size_t n, room;
	struct sim_random random;
	double kill_at;
	unsigned killed;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void next_kill(struct bed_collect *c)
{
	c->kill_at = now_s() + 0.2 + 1.5 * sim_uniform(&c->random);
}

static int free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port = 0;

	if (fd >= 0 && !bind(fd, (struct sockaddr *)&a, n) &&
	    !getsockname(fd, (struct sockaddr *)&a, &n))
		port = ntohs(a.sin_port);
	if (fd >= 0)
		close(fd);
	return port;
}

/* In the foreground, with its words in collect.txt. */
static pid_t spawn(const struct bed_collect *c, const char *const *argv)
{
	char log[CVL_PATH_MAX];
	pid_t pid = fork();

	if (pid)
		return pid;
	if (cvl_path_join(log, c->opts.folder, "collect.txt")) {
		int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);

		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
	}
	execv(c->opts.coeval, (char *const *)(uintptr_t)argv);
	_exit(127);
}

static int start_collector(struct bed_collect *c, struct cvl_error *err)
{
	const char *const argv[] = { "coeval",   "collect", c->session, "--local-server",
				     "--listen", c->listen, NULL };

	c->collector = spawn(c, argv);
	return c->collector < 0 ? cvl_fail_errno(err, "start", "the collector") : 0;
}

static int start_sender(struct bed_collect *c, struct sender *s, struct cvl_error *err)
{
	char session[CVL_PATH_MAX];
	const char *const argv[] = { "coeval", "send",  session,  "--server", c->url,
				     "--name", s->name, "--wait", NULL };

	if (!cvl_path_join(session, c->opts.folder, s->name))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long",
				c->opts.folder);
	s->done = false;
	s->pid = spawn(c, argv);
	return s->pid < 0 ? cvl_fail_errno(err, "start", "a sender") : 0;
}

int bed_collect_start(struct bed_collect **out, const struct bed_collect_opts *opts,
		      struct cvl_error *err)
{
	struct bed_collect *c = calloc(1, sizeof(*c));
	const struct timespec tick = { .tv_nsec = 50000000 };
	char file[CVL_PATH_MAX];
	int port = free_port(), rc;

	*out = NULL;
	if (!c)
		return cvl_no_memory(err);
	c->opts = *opts;
	c->random.state = opts->seed * 7919 + 1;
	snprintf(c->listen, sizeof(c->listen), "127.0.0.1:%d", port);
	snprintf(c->url, sizeof(c->url), "nats://127.0.0.1:%d", port);
	rc = cvl_path_join(c->session, opts->folder, "joined") &&
			     cvl_path_join(file, c->session, "collect/server/nats-server.log") ?
		     start_collector(c, err) :
		     cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", opts->folder);
	for (int i = 0; i < 100 && !rc && !cvl_is_file(file); i++) {
		if (waitpid(c->collector, NULL, WNOHANG) == c->collector) {
			c->collector = 0;
			rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				      "no collector: see %s/collect.txt; it takes nats-server",
				      opts->folder);
		}
		nanosleep(&tick, NULL);
	}
	next_kill(c);
	*out = c;
	return rc;
}

int bed_collect_node(struct bed_collect *c, const char *name, struct cvl_error *err)
{
	struct sender *s;

	if (cvl_room(&c->sender, c->n, &c->room, sizeof(*c->sender)))
		return cvl_no_memory(err);
	s = &c->sender[c->n++];
	*s = (struct sender){ 0 };
	snprintf(s->name, sizeof(s->name), "%s", name);
	return start_sender(c, s, err);
}

bool bed_collect_ended(struct bed_collect *c, pid_t pid, int status)
{
	if (pid == c->collector) {
		c->collector = 0;
		return true;
	}
	for (size_t i = 0; i < c->n; i++)
		if (c->sender[i].pid == pid) {
			c->sender[i].pid = 0;
			c->sender[i].done = WIFEXITED(status) && !WEXITSTATUS(status);
			return true;
		}
	return false;
}

/* One of them: the collector, with its server, as often as all senders together. */
static void kill_one(struct bed_collect *c)
{
	pid_t pid = c->collector;

	if (c->n && sim_uniform(&c->random) < 0.5)
		pid = c->sender[sim_u64(&c->random) % c->n].pid;
	if (pid > 0) {
		kill(pid, SIGKILL);
		c->killed++;
	}
	next_kill(c);
}

int bed_collect_work(struct bed_collect *c, struct cvl_error *err)
{
	int rc = 0;

	if (c->opts.kills && now_s() >= c->kill_at)
		kill_one(c);
	if (!c->collector)
		rc = start_collector(c, err);
	for (size_t i = 0; i < c->n && !rc; i++)
		if (!c->sender[i].pid && !c->sender[i].done)
			rc = start_sender(c, &c->sender[i], err);
	return rc;
}

/*
 * A capture that was killed and started again is more than its sender knew of when it ended: each is started
 * once more.
 */
int bed_collect_end(struct bed_collect *c, unsigned *killed, struct cvl_error *err)
{
	const struct timespec tick = { .tv_nsec = 50000000 };
	const double until = now_s() + END_S;
	bool all = false;
	int rc = 0, status;

	c->opts.kills = false;
	*killed = c->killed;
	for (size_t i = 0; i < c->n; i++)
		c->sender[i].done = false;
	while (!all && !rc) {
		pid_t pid = waitpid(-1, &status, WNOHANG);

		if (pid > 0)
			bed_collect_ended(c, pid, status);
		rc = bed_collect_work(c, err);
		all = true;
		for (size_t i = 0; i < c->n; i++)
			all = all && c->sender[i].done && !c->sender[i].pid;
		if (now_s() > until)
			rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				      "not all was collected within %d s: see %s/collect.txt",
				      END_S, c->opts.folder);
		nanosleep(&tick, NULL);
	}
	if (c->collector > 0) {
		kill(c->collector, SIGTERM);
		while (waitpid(c->collector, &status, 0) < 0 && errno == EINTR)
			;
		c->collector = 0;
	}
	return rc;
}

void bed_collect_free(struct bed_collect *c)
{
	if (!c)
		return;
	if (c->collector > 0)
		kill(c->collector, SIGTERM);
	for (size_t i = 0; i < c->n; i++)
		if (c->sender[i].pid > 0)
			kill(c->sender[i].pid, SIGKILL);
	free(c->sender);
	free(c);
}
