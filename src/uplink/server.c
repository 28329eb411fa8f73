/* SPDX-License-Identifier: MIT */
#include "uplink/server.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <coeval/files.h>

#define LISTEN "127.0.0.1:4222"
#define START_MS 5000

struct server {
	char program[CVL_PATH_MAX], config[CVL_PATH_MAX], log[CVL_PATH_MAX], url[300];
	char host[200];
	int port;
	pid_t pid;
};

static bool find_program(char out[CVL_PATH_MAX])
{
	const char *path = getenv("PATH");

	/* Debian has it in a directory that users' PATH does not name */
	for (const char *at = path ? path : "", *rest = "/usr/sbin"; at;) {
		const size_t n = strcspn(at, ":");

		snprintf(out, CVL_PATH_MAX, "%.*s/nats-server", (int)n, at);
		if (n && !access(out, X_OK))
			return true;
		at = at[n] ? at + n + 1 : rest;
		if (at == rest)
			rest = NULL;
	}
	return false;
}

static bool is_loopback(const char *host)
{
	return !strcmp(host, "127.0.0.1") || !strcmp(host, "localhost") || !strcmp(host, "::1");
}

static int parse_listen(struct server *s, const char *listen, struct cvl_error *err)
{
	const char *colon = strrchr(listen, ':');
	char *end = NULL;
	long port = colon ? strtol(colon + 1, &end, 10) : 4222;
	const size_t n = colon ? (size_t)(colon - listen) : strlen(listen);

	if ((end && *end) || port < 1 || port > 65535 || !n || n >= sizeof(s->host))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"'%s' is no address to listen at; expected HOST:PORT", listen);
	memcpy(s->host, listen, n);
	s->port = (int)port;
	return 0;
}

static int write_config(const struct server *s, const struct server_opts *o, struct cvl_error *err)
{
	char path[CVL_PATH_MAX], *text = NULL, *users = NULL;
	size_t n = 0;
	FILE *f;
	int rc;

	if (o->keys) {
		if (!cvl_path_join(path, o->keys, "nats-server.conf"))
			return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long",
					o->keys);
		users = cvl_read_whole(path, 16 << 20, &n, err);
		if (!users)
			return err ? (int)err->code : CVL_E_IO;
	}
	f = open_memstream(&text, &n);
	if (!f) {
		free(users);
		return cvl_no_memory(err);
	}
	fprintf(f,
		"# Made anew whenever Coeval starts this server.\n"
		"server_name: coeval\n"
		"listen: \"%s:%d\"\n"
		"max_payload: 1MB\n"
		"jetstream {\n\tstore_dir: \"%s/jetstream\"\n\tmax_memory_store: 64MB\n"
		"\tmax_file_store: %" PRIu64 "\n}\n",
		s->host, s->port, o->folder, o->store_bytes);
	if (users) /* its own `include` takes no absolute path */
		fputs(users, f);
	rc = fclose(f) ? cvl_no_memory(err) : cvl_write_soon(s->config, text, n, err);
	free(users);
	free(text);
	return rc;
}

static int spawn(struct server *s, struct cvl_error *err)
{
	const pid_t parent = getpid();

	s->pid = fork();
	if (s->pid < 0)
		return cvl_fail_errno(err, "start", s->program);
	if (!s->pid) {
		int log = open(s->log, O_WRONLY | O_CREAT | O_APPEND, 0666);
		sigset_t none;

		/* in a group of its own, so that an interrupt from the terminal ends the collector first */
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(1);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (log >= 0) {
			dup2(log, STDOUT_FILENO);
			dup2(log, STDERR_FILENO);
		}
		execl(s->program, "nats-server", "-c", s->config, (char *)NULL);
		_exit(127);
	}
	return 0;
}

/* Whether it ended already: another one has its port, or it does not like its settings. */
static bool ended_soon(struct server *s)
{
	const struct timespec tick = { .tv_nsec = 20000000 };
	struct stat st;
	int status;
	off_t before = stat(s->log, &st) ? 0 : st.st_size;

	for (int ms = 0; ms < START_MS; ms += 20) {
		char *text, *at;
		size_t n;
		bool ready;

		nanosleep(&tick, NULL);
		if (waitpid(s->pid, &status, WNOHANG) == s->pid) {
			s->pid = 0;
			return true;
		}
		text = cvl_read_whole(s->log, 64 << 20, &n, NULL);
		at = text && (off_t)n > before ? text + before : NULL;
		ready = at && strstr(at, "Server is ready");
		free(text);
		if (ready)
			return false;
	}
	return false; /* slow: whoever connects waits for it */
}

int server_start(struct server **out, const struct server_opts *o, struct cvl_error *err)
{
	struct server *s = calloc(1, sizeof(*s));
	int rc = 0;

	*out = NULL;
	if (!s)
		return cvl_no_memory(err);
	rc = parse_listen(s, o->listen ? o->listen : LISTEN, err);
	if (!rc && !o->keys && !is_loopback(s->host))
		rc = cvl_hint(
			err, CVL_HINT_KEYS,
			cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				 "a server at %s without keys would take packets from everybody",
				 s->host));
	if (!rc && !find_program(s->program))
		rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
			      "nats-server is not installed; as root: apt-get install nats-server");
	if (!rc && mkdir(o->folder, 0777) && errno != EEXIST)
		rc = cvl_fail_errno(err, "make the directory", o->folder);
	if (!rc && (!cvl_path_join(s->config, o->folder, "nats-server.conf") ||
		    !cvl_path_join(s->log, o->folder, "nats-server.log")))
		rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", o->folder);
	snprintf(s->url, sizeof(s->url), "%s://%s:%d", o->keys ? "tls" : "nats",
		 !strcmp(s->host, "0.0.0.0") || !strcmp(s->host, "::") ? "localhost" : s->host,
		 s->port);
	if (!rc)
		rc = write_config(s, o, err);
	if (!rc) {
		unlink(s->log);
		rc = spawn(s, err);
	}
	if (!rc && ended_soon(s))
		rc = cvl_hint(err, CVL_HINT_LISTEN,
			      cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				       "nats-server did not start: see %s", s->log));
	if (rc)
		server_stop(s);
	else
		*out = s;
	return rc;
}

const char *server_url(const struct server *s)
{
	return s->url;
}

bool server_runs(struct server *s)
{
	int status;

	if (s->pid > 0 && waitpid(s->pid, &status, WNOHANG) != s->pid)
		return true;
	spawn(s, NULL);
	return false;
}

void server_stop(struct server *s)
{
	int status;

	if (!s)
		return;
	if (s->pid > 0) {
		kill(s->pid, SIGTERM);
		while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	free(s);
}
