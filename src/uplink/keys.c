/* SPDX-License-Identifier: MIT */
/* A folder of keys: who may speak to a server, and in whose name. */
#include <coeval/uplink.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <coeval/files.h>

#include "uplink/nkey.h"
#include "uplink/protocol.h"
#include "uplink/run.h"

#include <dirent.h>

#define COLLECTOR "collector"
#define DAYS "3650"

static int join(char out[CVL_PATH_MAX], const char *folder, const char *name, const char *end,
		struct cvl_error *err)
{
	char file[2 * UPLINK_NAME_MAX];

	snprintf(file, sizeof(file), "%s%s", name, end);
	return cvl_path_join(out, folder, file) ?
		       0 :
		       cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", folder);
}

/* Nobody else may read it from the first moment on. */
static int write_secret(const char *path, const char *text, struct cvl_error *err)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const size_t n = strlen(text);
	int rc = 0;

	if (fd < 0)
		return cvl_fail_errno(err, "create", path);
	if (write(fd, text, n) != (ssize_t)n || write(fd, "\n", 1) != 1 || fsync(fd))
		rc = cvl_fail_errno(err, "write", path);
	close(fd);
	return rc;
}

static int add_key(const char *folder, const char *name, struct cvl_error *err)
{
	char path[CVL_PATH_MAX], known[CVL_PATH_MAX], seed[NKEY_SEED_TEXT],
		public[NKEY_PUBLIC_TEXT];
	int rc = join(path, folder, name, ".nk", err);

	rc = rc ? rc : join(known, folder, name, ".pub", err);
	if (rc || cvl_is_file(known))
		return rc;
	if (!nkey_new(seed) || !nkey_public(seed, public))
		return cvl_fail_errno(err, "get random numbers", path);
	rc = write_secret(path, seed, err);
	explicit_bzero(seed, sizeof(seed));
	return rc ? rc : cvl_write_whole(known, public, strlen(public), err);
}

/* ---- the server's certificate ---- */

static int run_openssl(const char *const *argv, const char *folder, struct cvl_error *err)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return cvl_fail_errno(err, "start", "openssl");
	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		umask(077);
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		if (chdir(folder))
			_exit(126);
		execvp("openssl", (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"openssl is not installed, and makes the certificates; as root: apt-get install openssl");
	return WIFEXITED(status) && !WEXITSTATUS(status) ?
		       0 :
		       cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: openssl %s failed", folder,
				argv[1]);
}

static bool is_address(const char *host)
{
	return strspn(host, "0123456789.") == strlen(host) || strchr(host, ':');
}

/* An authority of its own, whose key is thrown away once it has signed: ca.pem is trusted for one server. */
static int make_certificate(const char *folder, const char *host, struct cvl_error *err)
{
	char path[CVL_PATH_MAX], own[256] = "", names[1024];
	const char *const authority[] = { "openssl",
					  "req",
					  "-x509",
					  "-newkey",
					  "ec",
					  "-pkeyopt",
					  "ec_paramgen_curve:P-256",
					  "-nodes",
					  "-days",
					  DAYS,
					  "-subj",
					  "/CN=Coeval collector's authority",
					  "-keyout",
					  "ca.key",
					  "-out",
					  "ca.pem",
					  "-addext",
					  "keyUsage=critical,keyCertSign",
					  NULL };
	const char *const request[] = { "openssl",    "req",        "-newkey",
					"ec",         "-pkeyopt",   "ec_paramgen_curve:P-256",
					"-nodes",     "-subj",      "/CN=nats-server",
					"-keyout",    "server.key", "-out",
					"server.csr", NULL };
	const char *const sign[] = {
		"openssl",    "x509",   "-req",     "-in",        "server.csr",
		"-CA",        "ca.pem", "-CAkey",   "ca.key",     "-CAcreateserial",
		"-days",      DAYS,     "-extfile", "server.ext", "-out",
		"server.pem", NULL
	};
	static const char *const leftovers[] = { "ca.key", "server.csr", "server.ext", "ca.srl" };
	int rc = join(path, folder, "server", ".pem", err);

	if (rc || cvl_is_file(path))
		return rc;
	gethostname(own, sizeof(own) - 1);
	snprintf(names, sizeof(names), "subjectAltName=DNS:localhost,IP:127.0.0.1%s%s%s%s\n",
		 host ? (is_address(host) ? ",IP:" : ",DNS:") : (*own ? ",DNS:" : ""),
		 host ? host : own, "", "");
	rc = join(path, folder, "server", ".ext", err);
	if (!rc)
		rc = cvl_write_soon(path, names, strlen(names), err);
	rc = rc ? rc : run_openssl(authority, folder, err);
	rc = rc ? rc : run_openssl(request, folder, err);
	rc = rc ? rc : run_openssl(sign, folder, err);
	for (size_t i = 0; i < sizeof(leftovers) / sizeof(*leftovers); i++)
		if (cvl_path_join(path, folder, leftovers[i]))
			unlink(path);
	return rc;
}

/* ---- the server's settings ---- */

/* By public keys alone: the secret ones may be on the nodes only. */
static int put_user(FILE *f, const char *folder, const char *name, const char *testbed,
		    struct cvl_error *err)
{
	const bool collector = !strcmp(name, COLLECTOR);
	char path[CVL_PATH_MAX], *public;
	size_t n;
	int rc = join(path, folder, name, ".pub", err);

	if (rc)
		return rc;
	public = cvl_read_whole(path, 4096, &n, err);
	if (!public)
		return err ? (int)err->code : CVL_E_IO;
	public[strcspn(public, " \t\r\n")] = '\0';
	if (strlen(public) != NKEY_PUBLIC_TEXT - 1 || *public != 'U' ||
	    strspn(public, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != strlen(public)) {
		free(public);
		return cvl_fail(err, CVL_E_SYNTAX, 0, "%s:0: not a user's public key", path);
	}
	fprintf(f, "\t\t# %s\n\t\t{ nkey: %s, permissions: {\n", name, public);
	if (collector)
		fprintf(f,
			"\t\t\tpublish: [\"$JS.API.>\", \"$JS.ACK.>\", \"$JS.FC.>\", \"cvl.%s.have.*\"]\n"
			"\t\t\tsubscribe: [\"_INBOX_collector.>\", \"cvl.%s.ask.*\", \"cvl.%s.live.*\"]\n",
			testbed, testbed, testbed);
	else
		fprintf(f,
			"\t\t\tpublish: [\"cvl.%s.*.pkt.%s.*\", \"cvl.%s.ask.%s\", \"cvl.%s.live.%s\"]\n"
			"\t\t\tsubscribe: [\"_INBOX_%s.>\", \"cvl.%s.have.%s\"]\n",
			testbed, name, testbed, name, testbed, name, name, testbed, name);
	fputs("\t\t} }\n", f);
	free(public);
	return 0;
}

static int is_node(const struct dirent *d)
{
	char name[UPLINK_NAME_MAX + 1];
	const char *dot = strrchr(d->d_name, '.');

	if (!dot || strcmp(dot, ".pub") != 0 || (size_t)(dot - d->d_name) > UPLINK_NAME_MAX)
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)(dot - d->d_name), d->d_name);
	return uplink_is_name(name) && strcmp(name, COLLECTOR) != 0;
}

static int write_settings(const char *folder, const char *testbed, struct cvl_error *err)
{
	char path[CVL_PATH_MAX], *text = NULL, *real = realpath(folder, NULL);
	struct dirent **list = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	int count = scandir(folder, &list, is_node, alphasort), rc = 0;

	if (!f || !real || count < 0)
		rc = cvl_fail_errno(err, "read", folder);
	if (!rc) {
		fprintf(f,
			"# Who may speak to the server. Made anew by Coeval whenever keys are added or revoked.\n"
			"tls {\n\tcert_file: \"%s/server.pem\"\n\tkey_file: \"%s/server.key\"\n\ttimeout: 5\n}\n"
			"authorization {\n\tusers = [\n",
			real, real);
		rc = put_user(f, folder, COLLECTOR, testbed, err);
	}
	for (int i = 0; i < count; i++) {
		*strrchr(list[i]->d_name, '.') = '\0';
		rc = rc ? rc : put_user(f, folder, list[i]->d_name, testbed, err);
		free(list[i]);
	}
	free(list);
	if (f)
		fputs("\t]\n}\n", f);
	if (f && fclose(f) && !rc)
		rc = cvl_no_memory(err);
	rc = rc ? rc : join(path, folder, "nats-server", ".conf", err);
	rc = rc ? rc : cvl_write_whole(path, text, n, err);
	free(text);
	free(real);
	return rc;
}

static int check_names(const char *const *names, size_t n, struct cvl_error *err)
{
	for (size_t i = 0; i < n; i++)
		if (!uplink_is_name(names[i]) || !strcmp(names[i], COLLECTOR))
			return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					"'%.80s' cannot name a node", names[i]);
	return 0;
}

int cvl_collect_keys(const char *folder, const struct cvl_collect_keys_opts *o,
		     struct cvl_error *err)
{
	const char *testbed = o->testbed ? o->testbed : RUN_TESTBED;
	char path[CVL_PATH_MAX];
	int rc = check_names(o->add, o->n_add, err);

	rc = rc ? rc : check_names(o->revoke, o->n_revoke, err);
	if (!rc && !uplink_is_name(testbed))
		rc = cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "'%.80s' cannot name a testbed",
			      testbed);
	if (!rc && mkdir(folder, 0700) && errno != EEXIST)
		rc = cvl_fail_errno(err, "make the directory", folder);
	rc = rc ? rc : make_certificate(folder, o->host, err);
	rc = rc ? rc : add_key(folder, COLLECTOR, err);
	for (size_t i = 0; i < o->n_add && !rc; i++)
		rc = add_key(folder, o->add[i], err);
	for (size_t i = 0; i < o->n_revoke && !rc; i++) {
		rc = join(path, folder, o->revoke[i], ".nk", err);
		if (!rc)
			unlink(path); /* it may be on the node alone */
		rc = rc ? rc : join(path, folder, o->revoke[i], ".pub", err);
		if (!rc && unlink(path))
			rc = errno == ENOENT ?
				     cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					      "%s: there is no node %s", folder, o->revoke[i]) :
				     cvl_fail_errno(err, "revoke", path);
	}
	return rc ? rc : write_settings(folder, testbed, err);
}
