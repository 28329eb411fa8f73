/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "output.h"
#include "view/ask.h"
#include "view/save.h"

#include <coeval/files.h>
#include <coeval/out.h>
#include <coeval/view.h>

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PICTURE_MAX (64u << 20)

extern char **environ;

struct request {
	uint64_t port;
	bool no_open, read_only;
	const char *png, *html, *select, *secret;
	struct view_ask ask;
	uint64_t width, height;
	int64_t from, until;
	bool has_from, has_until;
};

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "port", 'p', "PORT", OPTION_NUMBER, AT(port), "TCP port (default: a free one)", 1,
	  65535 },
	{ "no-open", 0, NULL, OPTION_FLAG, AT(no_open),
	  "print the address, but do not open a browser" },
	{ "from", 0, "TIME", OPTION_DURATION, AT(from),
	  "show the timeline from this time on (1.2, 250ms, 10us)",
	  OPTION_GIVEN(struct request, has_from) },
	{ "until", 0, "TIME", OPTION_DURATION, AT(until), "show it up to this time",
	  OPTION_GIVEN(struct request, has_until) },
	{ "select", 0, "CLOCK/ROW", OPTION_TEXT, AT(select),
	  "select the first edge or event of this row after --from" },
	{ "secret", 0, "FILE", OPTION_FILE, AT(secret),
	  "take the secret of the address from this file, for those who collect /metrics" },
	{ "read-only", 0, NULL, OPTION_FLAG, AT(read_only), "let nobody write notes" },
	VIEW_ASK_OPTIONS(struct request, ask),
	{ .kind = OPTION_HEADING, .what = "One file to send, and pictures" },
	{ "html", 0, "FILE", OPTION_FILE, AT(html),
	  "write the page with its data from --from to --until, at most 20 MB, and exit" },
	{ "png", 0, "FILE", OPTION_FILE, AT(png),
	  "write a picture of the page and exit; needs Chromium" },
	{ "width", 0, "N", OPTION_NUMBER, AT(width), "of the picture, in pixels (default: 1600)",
	  400, 10000 },
	{ "height", 0, "N", OPTION_NUMBER, AT(height), "(default: 900)", 200, 10000 },
	{ 0 },
};

/* Start @argv without its output. False: there is no such program. */
static bool start(char *const argv[], pid_t *pid)
{
	posix_spawn_file_actions_t quiet;
	bool started;

	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	started = !posix_spawnp(pid, argv[0], &quiet, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&quiet);
	return started;
}

/* Show @url in a browser, if there is a display. */
static void open_browser(char *url)
{
	char program[] = "xdg-open";
	char *const argv[] = { program, url, NULL };
	pid_t pid;

	if (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY"))
		start(argv, &pid);
}

/* Let a browser without a window make @folder/picture.png of @url. */
static int take_picture(const struct request *r, const char *folder, char *url,
			struct cvl_error *err)
{
	static const char *const names[] = { "chromium", "chromium-browser", "google-chrome" };
	char headless[] = "--headless", scroll[] = "--hide-scrollbars",
	     budget[] = "--virtual-time-budget=20000", sandbox[] = "--no-sandbox",
	     stages[] = "--run-all-compositor-stages-before-draw";
	char program[40], size[60], file[PATH_MAX], profile[PATH_MAX];
	char *argv[] = { program, headless, scroll, stages, budget, size,
			 file,    profile,  url,    NULL,   NULL };
	bool started = false;
	int status = 0;
	pid_t pid = 0;

	snprintf(profile, sizeof(profile), "--user-data-dir=%s", folder);
	snprintf(file, sizeof(file), "--screenshot=%s/picture.png", folder);
	snprintf(size, sizeof(size), "--window-size=%" PRIu64 ",%" PRIu64,
		 r->width ? r->width : 1600, r->height ? r->height : 900);
	if (!geteuid()) /* the browser refuses to run as root with its sandbox */
		argv[9] = sandbox;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !started; i++) {
		snprintf(program, sizeof(program), "%s", names[i]);
		started = start(argv, &pid);
	}
	if (!started)
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"pictures are made by Chromium, which is not installed; apt-get install chromium");
	waitpid(pid, &status, 0);
	return status ? cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				 "%s could not make the picture (status %d)", program, status) :
			0;
}

static int copy_picture(const char *folder, const char *path, struct cvl_error *err)
{
	char file[PATH_MAX], *bytes;
	struct cvl_out out;
	size_t n;
	int rc;

	snprintf(file, sizeof(file), "%s/picture.png", folder);
	bytes = cvl_read_whole(file, PICTURE_MAX, &n, err);
	if (!bytes)
		return (int)err->code;
	rc = cvl_out_open(&out, path, err);
	if (!rc) {
		cvl_out_bytes(&out, bytes, n);
		rc = cvl_out_close(&out, err);
	}
	free(bytes);
	return rc;
}

static int write_picture(const struct request *r, char *url, struct cvl_error *err)
{
	char folder[] = "/tmp/coeval-view-XXXXXX";
	struct output o;
	int rc;

	if (!mkdtemp(folder))
		return cvl_fail_errno(err, "make a directory", folder);
	rc = output_begin(&o, r->png, false, err);
	if (!rc) {
		rc = take_picture(r, folder, url, err);
		rc = rc ? rc : copy_picture(folder, output_path(&o), err);
		rc = output_end(&o, rc, err);
	}
	cvl_remove_tree(folder, NULL);
	return rc;
}

/* ---- one file ---- */

static int write_page(const struct request *r, struct cvl_session *session,
		      const struct cvl_view_opts *opts, struct cvl_error *err)
{
	const struct cvl_view_save_opts save = { .has_from = r->has_from,
						 .has_until = r->has_until,
						 .from = { r->from },
						 .until = { r->until },
						 .report = opts->report,
						 .progress = opts->progress,
						 .studies = opts->studies };
	struct cvl_view_saved saved;
	int rc = view_save(r->html, session, &save, &saved, err);

	progress_clear(opts->progress.ctx);
	if (!rc)
		view_save_tell(r->html, &saved);
	return rc;
}

#define URL_BYTES 1000
#define SELECT_BYTES 200
#define SECRET_BYTES 200
#define TRIM_S 2

static void end_signals(sigset_t *ends)
{
	sigemptyset(ends);
	sigaddset(ends, SIGINT);
	sigaddset(ends, SIGTERM);
	sigaddset(ends, SIGHUP);
}

static void address_of(char url[URL_BYTES], const struct request *r, const struct cvl_view *view)
{
	size_t n = (size_t)snprintf(url, URL_BYTES, "%s", cvl_view_address(view));

	if (r->has_from)
		n += (size_t)snprintf(url + n, URL_BYTES - n, "&from=%" PRId64, r->from);
	if (r->has_until)
		n += (size_t)snprintf(url + n, URL_BYTES - n, "&to=%" PRId64, r->until);
	if (r->png)
		n += (size_t)snprintf(url + n, URL_BYTES - n, "&still");
	if (r->select)
		n += (size_t)snprintf(url + n, URL_BYTES - n, "&select=");
	for (const char *c = r->select; c && *c; c++)
		n += (size_t)snprintf(url + n, URL_BYTES - n, "%%%02X", (unsigned char)*c);
}

/* What was needed for a while goes back to the system: a view may stay open for days. */
static void give_back(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

/* Until the user has seen enough. */
static void serve(const struct request *r, const sigset_t *ends, char *url)
{
	const struct timespec pause = { .tv_sec = TRIM_S };

	printf("%s\n", url);
	fflush(stdout);
	fprintf(stderr,
		"open this address in a browser on this machine; Ctrl-C ends it\n"
		"from another machine: ssh -L PORT:127.0.0.1:PORT THIS_MACHINE, and open it there\n");
	if (!r->no_open)
		open_browser(url);
	do
		give_back();
	while (sigtimedwait(ends, NULL, &pause) < 0);
}

/* @session, or what is in @folder. */
static int show(const struct request *r, struct cvl_session *session, const char *folder,
		const struct cvl_view_opts *opts, struct cvl_error *err)
{
	struct cvl_view *view;
	char url[URL_BYTES];
	sigset_t ends;
	int rc;

	/* before threads are made, which are to leave them to this one; a picture just ends */
	end_signals(&ends);
	if (!r->png)
		pthread_sigmask(SIG_BLOCK, &ends, NULL);
	rc = session ? cvl_view_open(&view, session, opts, err) :
		       cvl_view_open_folder(&view, folder, opts, err);
	progress_clear(opts->progress.ctx);
	if (rc)
		return rc;
	address_of(url, r, view);
	if (r->png)
		rc = write_picture(r, url, err);
	else
		serve(r, &ends, url);
	cvl_view_close(view);
	return rc;
}

/* A folder of sessions, and none itself. */
static bool is_folder(const char *path)
{
	char below[CVL_PATH_MAX];
	struct dirent *e;
	bool any = false;
	DIR *dir;

	if ((cvl_path_join(below, path, "session.json") && cvl_is_file(below)) ||
	    (cvl_path_join(below, path, "metadata") && cvl_is_file(below)))
		return false;
	dir = opendir(path);
	while (dir && !any && (e = readdir(dir))) {
		char file[CVL_PATH_MAX];

		any = *e->d_name != '.' && cvl_path_join(below, path, e->d_name) &&
		      cvl_path_join(file, below, "session.json") && cvl_is_file(file);
	}
	if (dir)
		closedir(dir);
	return any;
}

/* The first line of the file that is named. */
static int take_secret(const struct request *r, char secret[SECRET_BYTES],
		       struct cvl_view_opts *opts, struct cvl_error *err)
{
	size_t n;
	char *text;

	if (!r->secret)
		return 0;
	text = cvl_read_whole(r->secret, SECRET_BYTES, &n, err);
	if (!text)
		return (int)err->code;
	snprintf(secret, SECRET_BYTES, "%.*s", (int)strcspn(text, "\r\n"), text);
	free(text);
	opts->secret = secret;
	return 0;
}

/* Without this, what threads freed stays with the process: limits would grow with what was needed once. */
static void keep_little(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 1 << 18);
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
#endif
}

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { 0 };
	struct cvl_view_opts opts = { 0 };
	struct operands operands;
	struct cvl_session *session = NULL;
	struct problems problems;
	char secret[SECRET_BYTES];
	struct progress progress;
	struct cvl_error err;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	rc = view_ask_check(verb, &r.ask);
	if (rc >= 0)
		return rc;
	if (r.select && strlen(r.select) > SELECT_BYTES)
		return cli_usage(verb,
				 "--select takes a clock and a row of it, such as node1/SEND");
	keep_little();
	problems_init(&problems);
	progress_init(&progress, operands.v[0]);
	rc = view_ask_load(&r.ask, &opts.studies, &problems.report, &err);
	rc = rc ? rc : take_secret(&r, secret, &opts, &err);
	if (!rc && (r.png || r.html || !is_folder(operands.v[0])))
		rc = cvl_session_open(&session, operands.v[0], &problems.report, &err);
	if (rc) {
		view_ask_free(&r.ask);
		return cli_fail(&err);
	}
	opts.read_only = r.read_only;
	opts.port = (uint16_t)r.port;
	opts.report = &problems.report;
	opts.progress = (struct cvl_progress){ progress_show, &progress };
	rc = r.html ? write_page(&r, session, &opts, &err) :
		      show(&r, session, operands.v[0], &opts, &err);
	cvl_session_close(session);
	view_ask_free(&r.ask);
	return cli_end(rc, &err, &problems);
}

const struct verb verb_view = {
	.name = "view",
	.group = VERB_LOOK,
	.what = "look at a session in a browser, or at all in a folder, with how sure each time is",
	.operands = "SESSION|FOLDER",
	.options = options,
	.examples =
		"  coeval view s/\n"
		"  coeval view sessions/\n"
		"  coeval view s/ --port 8080 --no-open\n"
		"  coeval view s/ --from 1.2 --until 1.3 --html part.html\n"
		"  coeval view s/ --from 1.2 --until 1.3 --select node1/SEND --png picture.png\n",
	.run = run,
};
