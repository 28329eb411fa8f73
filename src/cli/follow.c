/* SPDX-License-Identifier: MIT */
#include "follow.h"

#include "cli.h"
#include "show.h"

#include <coeval/follow.h>

#define PATIENCE_MS 10000 /* after which the clocks that delay the output are reported */

/* New data, and whether there will be more. */
static int show_more(struct cvl_follow *f, struct show *show, int news, struct cvl_timeline **shown,
		     struct cvl_error *err)
{
	struct cvl_timeline *tl = cvl_follow_timeline(f);
	struct cvl_slice slice;
	int rc = 0;

	if (news == CVL_FOLLOW_NOTHING) {
		if (cvl_follow_waits_for(f))
			fprintf(stderr, "coeval: waiting for pulses or beacons that %s hears\n",
				cvl_follow_waits_for(f));
		return 0;
	}
	if (tl != *shown)
		rc = show_begin(show, tl, err);
	*shown = tl;
	while (!rc && !show_is_over(show) && (rc = cvl_timeline_next(tl, &slice, err)) > 0)
		rc = show_slice(show, &slice, err);
	return rc ? rc : show_flush(show, err);
}

int follow_session(const char *path, const struct cvl_sync_opts *opts, bool json,
		   struct cvl_error *err)
{
	const struct show_style style = { .bounds = true, .json = json };
	struct cvl_follow_opts follow = { .sync = *opts, .save = true };
	struct cvl_timeline *shown = NULL;
	struct problems problems;
	struct cvl_follow *f;
	struct show *show;
	int news = CVL_FOLLOW_NOTHING, rc;

	problems_init(&problems);
	follow.report = &problems.report;
	rc = cvl_follow_open(&f, path, &follow, err);
	if (rc)
		return rc;
	show = show_new(&style);
	if (!show)
		rc = cvl_no_memory(err);
	while (!rc && news != CVL_FOLLOW_ENDED && !show_is_over(show)) {
		news = cvl_follow_wait(f, PATIENCE_MS, err);
		rc = news < 0                 ? news :
		     news == CVL_FOLLOW_ENDED ? 0 :
						show_more(f, show, news, &shown, err);
	}
	show_free(show);
	cvl_follow_close(f);
	return rc;
}
