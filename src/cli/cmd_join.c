/* SPDX-License-Identifier: MIT */
#include "contents.h"

#include <string.h>
#include <unistd.h>

struct request {
	const char *output;
	bool link;
	struct contents told;
};

#define AT(member) offsetof(struct request, member)

static const struct cli_option options[] = {
	{ "output", 'o', "SESSION", OPTION_DIR, AT(output),
	  "directory of the session, made or added to (default: session)" },
	{ "link", 0, NULL, OPTION_FLAG, AT(link), "point at the traces instead of copying them" },
	JSON_OPTION(AT(told.json)),
	{ 0 },
};

static int run(int argc, char **argv, const struct verb *verb)
{
	struct request r = { .output = "session", .told = { .what = "session" } };
	struct cvl_session *to, *from;
	struct operands operands;
	struct problems problems;
	struct cvl_error err;
	struct progress progress;
	int rc = options_read(verb, &r, argc, argv, &operands);

	if (rc >= 0)
		return rc;
	problems_init(&problems);
	rc = cvl_session_create(&to, r.output, &err);
	if (rc)
		return cli_fail(&err);
	r.told.first = cvl_session_clocks(to);
	r.told.n = (size_t)operands.n;
	for (int i = 0; i < operands.n && !rc; i++) {
		rc = cvl_session_open(&from, operands.v[i], &problems.report, &err);
		if (rc)
			break;
		progress_init(&progress, operands.v[i]);
		rc = cvl_session_join(to, from, r.link,
				      &(struct cvl_progress){ progress_show, &progress }, &err);
		progress_clear(&progress);
		cvl_session_close(from);
	}
	if (!rc)
		rc = contents_print(to, &r.told, &err);
	cvl_session_close(to);
	return cli_end(rc, &err, &problems);
}

const struct verb session_join = {
	.name = "session join",
	.what = "put the sessions of several observers into one",
	.operands = "SESSION...",
	.options = options,
	.notes =
		"Clock maps are not copied: run `coeval sync` to tie all clocks again. A session that is still being captured is refused; a clock whose name is taken gets a number.\n",
	.examples = "  coeval session join n01/ n02/ n03/ -o all/ && coeval sync all/\n",
	.run = run,
};
