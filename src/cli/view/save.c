/* SPDX-License-Identifier: MIT */
#include "view/save.h"

#include "output.h"

#include <stdlib.h>

int view_save(const char *path, struct cvl_session *session, const struct cvl_view_save_opts *opts,
	      struct cvl_view_saved *saved, struct cvl_error *err)
{
	struct cvl_out *out;
	struct cvl_error late;
	struct output o;
	int rc = output_begin(&o, path, false, err);

	if (rc)
		return rc;
	out = malloc(sizeof(*out));
	rc = out ? cvl_out_open(out, output_path(&o), err) : cvl_no_memory(err);
	if (!rc) {
		rc = cvl_view_save(session, opts, out, saved, err);
		if (cvl_out_close(out, rc ? &late : err) && !rc)
			rc = CVL_E_IO;
	}
	free(out);
	return output_end(&o, rc, err);
}

void view_save_tell(const char *path, const struct cvl_view_saved *s)
{
	char length[CVL_TIME_TEXT];

	if (s->whole == s->streams && !s->rows)
		return;
	cvl_bound_text(length, s->cell_ns);
	fprintf(stderr, "%s: left out, to stay below 20 MB: ", path);
	if (s->whole < s->streams)
		fprintf(stderr, "single records of %zu of %zu streams, told in parts of %s",
			s->streams - s->whole, s->streams, length);
	fprintf(stderr, "%s; --from and --until choose a part of the time\n",
		s->rows ? " and details of calls" : "");
}
