/* SPDX-License-Identifier: MIT */
#include "export/exporters.h"

#include <coeval/timeline.h>

#include <string.h>

const struct cvl_exporter *const cvl_exporters[] = {
	&cvl_export_vcd,
	&cvl_export_fst,
	&cvl_export_csv,
	&cvl_export_ctf,
	&cvl_export_perfetto,
	&cvl_export_grace,
	&cvl_export_flocklab,
	&cvl_export_ett,
	&cvl_export_parquet,
	&cvl_export_arrow,
	&cvl_export_sqlite,
	&cvl_export_null,
	NULL,
};

const struct cvl_exporter *cvl_exporter_find(const char *name)
{
	for (size_t i = 0; cvl_exporters[i]; i++)
		if (!strcmp(cvl_exporters[i]->name, name))
			return cvl_exporters[i];
	return NULL;
}

static int export_null(struct cvl_timeline *tl, const char *path, struct cvl_error *err)
{
	struct cvl_block block;
	int rc;

	(void)path;
	while ((rc = cvl_timeline_next(tl, &block, err)) > 0)
		;
	return rc;
}

const struct cvl_exporter cvl_export_null = {
	.name = "null",
	.what = "nothing: decode and merge everything, to check or to measure",
	.suffix = "",
	.write = export_null,
};
