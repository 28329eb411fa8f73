/* SPDX-License-Identifier: MIT */
/*
 * A server's loop: commands on standard input; each answer ends with a line "ok" or "error ...".
 *
 *   open DIR            a session
 *   range FROM UNTIL    its records (ns): time, bound (CVL_BOUND_UNKNOWN if it is), node, kind
 *   follow DIR          those of a session that grows, as their times become final
 *   cancel              end the command that is at work
 */
#include <coeval/follow.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define LINE 4200

/* Read a line unless one is there; false at an empty one, and at the end. */
static bool next_line(char *line)
{
	if (!*line && fgets(line, LINE, stdin))
		line[strcspn(line, "\n")] = '\0';
	return *line;
}

/* Receives the progress of a call, and cancels it on the next command. */
static bool go_on(void *ahead, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	if (poll(&(struct pollfd){ .events = POLLIN }, 1, 0) > 0)
		next_line(ahead);
	return strcmp(ahead, "cancel") != 0;
}

static int print_rest(struct cvl_timeline *tl, struct cvl_error *err)
{
	struct cvl_block block;
	struct cvl_slice sl;
	int rc;

	while ((rc = cvl_timeline_next(tl, &block, err)) > 0)
		while (cvl_block_take(&block, &sl))
			for (size_t i = sl.begin; i < sl.end; i++)
				printf("%" PRId64 " %" PRId64 " %s %s\n", sl.time[i].ns,
				       cvl_timeline_bound(tl, &sl, i),
				       cvl_session_clock(cvl_timeline_session(tl), sl.clock)->node,
				       cvl_kind_name((enum cvl_kind)sl.batch->kind[i]));
	return rc;
}

static int follow(const char *path, char *ahead, struct cvl_error *err)
{
	struct cvl_follow *f;
	int rc = cvl_follow_open(&f, path, &(struct cvl_follow_opts){ 0 }, err);

	while (!rc && (rc = cvl_follow_wait(f, 200, err)) >= 0 && rc != CVL_FOLLOW_ENDED) {
		rc = rc == CVL_FOLLOW_NOTHING ? 0 : print_rest(cvl_follow_timeline(f), err);
		if (!go_on(ahead, 0, 0))
			cvl_follow_cancel(f);
	}
	cvl_follow_close(f);
	return rc < 0 ? rc : 0;
}

static int obey(const char *line, char *ahead, struct cvl_session **s, struct cvl_error *err)
{
	struct cvl_timeline_opts o = { true, true, .progress = { go_on, ahead } };
	struct cvl_timeline *tl;
	int rc;

	if (!strncmp(line, "follow ", 7))
		return follow(line + 7, ahead, err);
	if (!strncmp(line, "open ", 5))
		return cvl_session_close(*s), cvl_session_open(s, line + 5, NULL, err);
	if (!*s || sscanf(line, "range %" SCNd64 "%" SCNd64, &o.from.ns, &o.until.ns) != 2)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "no command, or no session");
	rc = cvl_timeline_open(&tl, *s, &o, err);
	rc = rc ? rc : print_rest(tl, err);
	cvl_timeline_close(tl);
	return rc;
}

int main(void)
{
	char line[LINE], ahead[LINE] = "";
	struct cvl_session *session = NULL;
	struct cvl_error err;

	setvbuf(stdin, NULL, _IONBF, 0); /* so that poll() sees what was not read yet */
	for (; next_line(ahead); fflush(stdout)) {
		strcpy(line, ahead);
		*ahead = '\0';
		if (strcmp(line, "cancel") != 0 && obey(line, ahead, &session, &err))
			printf("error %s: %s\n", cvl_code_name(err.code), err.text);
		else
			printf("ok\n");
	}
	cvl_session_close(session);
	return 0;
}
