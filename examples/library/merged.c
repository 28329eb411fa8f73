/* SPDX-License-Identifier: MIT */
/*
 * The records of a session in the order of time, a line each: time and half-width of its bound in
 * ns, node, kind.
 *
 *   cc merged.c -o merged $(pkg-config --cflags --libs coeval)
 *   ./merged SESSION [FROM UNTIL]        (in ns)
 */
#include <coeval/timeline.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Problems that the library could live with. */
static void tell(void *ctx, const struct cvl_error *problem)
{
	(void)ctx;
	fprintf(stderr, "merged: warning: %s\n", problem->text);
}

static void print_slice(const struct cvl_timeline *tl, const struct cvl_slice *slice)
{
	const struct cvl_clock *clock = cvl_session_clock(cvl_timeline_session(tl), slice->clock);
	const struct cvl_batch *batch = slice->batch;

	for (size_t i = slice->begin; i < slice->end; i++) {
		int64_t bound = cvl_timeline_bound(tl, slice, i);

		if (batch->flags[i] & CVL_STATE)
			continue; /* restated levels: nothing happened */
		printf("%" PRId64 " ", slice->time[i].ns);
		if (bound == CVL_BOUND_UNKNOWN)
			printf("unknown ");
		else
			printf("%" PRId64 " ", bound);
		printf("%s %s\n", clock->node, cvl_kind_name((enum cvl_kind)batch->kind[i]));
	}
}

int main(int argc, char **argv)
{
	const struct cvl_report report = { tell, NULL };
	struct cvl_timeline_opts opts = { .report = &report };
	struct cvl_session *session = NULL;
	struct cvl_timeline *tl = NULL;
	struct cvl_block block;
	struct cvl_slice slice;
	struct cvl_error err;
	int rc;

	if (argc != 2 && argc != 4) {
		fprintf(stderr, "usage: merged SESSION [FROM UNTIL]\n");
		return 2;
	}
	if (argc == 4) {
		opts.has_from = opts.has_until = true;
		opts.from.ns = strtoll(argv[2], NULL, 10);
		opts.until.ns = strtoll(argv[3], NULL, 10);
	}
	rc = cvl_session_open(&session, argv[1], &report, &err);
	if (!rc)
		rc = cvl_timeline_open(&tl, session, &opts, &err);
	if (!rc)
		while ((rc = cvl_timeline_next(tl, &block, &err)) > 0)
			while (cvl_block_take(&block, &slice))
				print_slice(tl, &slice);
	if (rc)
		fprintf(stderr, "merged: %s\n", err.text);
	if (tl)
		cvl_timeline_close(tl);
	if (session)
		cvl_session_close(session);
	return rc ? cvl_exit_status(err.code) : 0;
}
