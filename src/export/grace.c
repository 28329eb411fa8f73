/* SPDX-License-Identifier: MIT */
/*
 * The CSV of Grace (Harms et al., DCOSS 2022, III-F): timestamp,host,channel,state, in order of
 * time. Timestamps are whole ns from the timeline's zero; channels are numbered from 0. The initial
 * levels of each host are written first, so that readers need not guess them.
 */
#include "export/changes.h"
#include "export/exporters.h"

#include <coeval/out.h>

struct grace {
	struct cvl_out out;
	struct cvl_session *session;
};

/* Hosts are machine names, but ours may contain commas. */
static void put_host(struct cvl_out *o, const char *s)
{
	for (; *s; s++)
		cvl_out_char(o, (unsigned char)*s < 0x20 || *s == ',' || *s == '"' ? '_' : *s);
}

static bool put_row(void *ctx, const struct change *change)
{
	struct grace *g = ctx;

	cvl_out_i64(&g->out, change->time.ns);
	cvl_out_char(&g->out, ',');
	put_host(&g->out, cvl_session_clock(g->session, change->clock)->name);
	cvl_out_char(&g->out, ',');
	cvl_out_u64(&g->out, change->line);
	cvl_out_text(&g->out, change->level ? ",1\n" : ",0\n");
	return !g->out.error && !g->out.closed;
}

static int export_grace(struct cvl_timeline *tl, const char *path, struct cvl_error *err)
{
	struct grace g = { .session = cvl_timeline_session(tl) };
	const struct changes changes = { put_row, &g, "Grace's CSV" };
	int rc = cvl_out_open(&g.out, path, err);

	if (rc)
		return rc;
	cvl_out_text(&g.out, "timestamp,host,channel,state\n");
	rc = changes_read(&changes, tl, err);
	return rc < 0 ? (cvl_out_close(&g.out, NULL), rc) : cvl_out_close(&g.out, err);
}

const struct cvl_exporter cvl_export_grace = {
	.name = "grace",
	.what = "the CSV of Grace: timestamp,host,channel,state",
	.suffix = ".csv",
	.write = export_grace,
};
