/* SPDX-License-Identifier: MIT */
/*
 * A loop of commands on standard input, as a server's: each is answered by lines, the last of which begins with "ok" or "error".
 *
 *   open DIR            a session
 *   range FROM UNTIL    its records from FROM to UNTIL (ns): time, bound in ns (-1: unknown), node, kind
 *   cancel              end the command that is at work
 *
 *   cc server.c -o server $(pkg-config --cflags --libs coeval)
 */
#include <coeval/timeline.h>

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

struct server {
	struct cvl_session *session;
	char line[4200]; /* of input */
	bool ahead;      /* it is yet to be obeyed */
};

static bool read_line(struct server *s)
{
	if (!fgets(s->line, sizeof(s->line), stdin))
		return false;
	s->line[strcspn(s->line, "\n")] = '\0';
	return true;
}

/* Is told how far a call is, and ends it when the next command says so. */
static bool go_on(void *ctx, uint64_t done, uint64_t total)
{
	struct server *s = ctx;

	(void)done, (void)total;
	if (!s->ahead && poll(&(struct pollfd){ .events = POLLIN }, 1, 0) > 0)
		s->ahead = read_line(s);
	return !s->ahead || strcmp(s->line, "cancel") != 0;
}

static int print_range(struct server *s, int64_t from, int64_t until, struct cvl_error *err)
{
	const struct cvl_timeline_opts opts = { .has_from = true,
						.has_until = true,
						.from = { from },
						.until = { until },
						.progress = { go_on, s } };
	struct cvl_timeline *tl;
	struct cvl_slice sl;
	int rc = cvl_timeline_open(&tl, s->session, &opts, err);

	if (rc)
		return rc;
	while ((rc = cvl_timeline_next(tl, &sl, err)) > 0)
		for (size_t i = sl.begin; i < sl.end; i++) {
			int64_t bound = cvl_timeline_bound(tl, &sl, i);

			printf("%" PRId64 " %" PRId64 " %s %s\n", sl.time[i].ns,
			       bound == CVL_BOUND_UNKNOWN ? -1 : bound,
			       cvl_session_clock(s->session, sl.clock)->node,
			       cvl_kind_name((enum cvl_kind)sl.batch->kind[i]));
		}
	cvl_timeline_close(tl);
	return rc;
}

static int obey(struct server *s, struct cvl_error *err)
{
	int64_t from, until;

	if (!strcmp(s->line, "cancel"))
		return 0;
	if (!strncmp(s->line, "open ", 5)) {
		cvl_session_close(s->session);
		return cvl_session_open(&s->session, s->line + 5, NULL, err);
	}
	if (s->session && sscanf(s->line, "range %" SCNd64 " %" SCNd64, &from, &until) == 2)
		return print_range(s, from, until, err);
	return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "unknown command, or no session");
}

int main(void)
{
	struct server s = { 0 };
	struct cvl_error err;

	setvbuf(stdin, NULL, _IONBF, 0); /* so that poll() sees what was not read yet */
	for (; s.ahead || read_line(&s); fflush(stdout)) {
		s.ahead = false;
		if (obey(&s, &err))
			printf("error %s: %s\n", cvl_code_name(err.code), err.text);
		else
			printf("ok\n");
	}
	cvl_session_close(s.session);
	return 0;
}
