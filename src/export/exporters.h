/* SPDX-License-Identifier: MIT */
/** The exporters, for the table in export.c. */
#ifndef EXPORTERS_H
#define EXPORTERS_H

#include <coeval/format.h>

extern const struct cvl_exporter cvl_export_vcd, cvl_export_csv, cvl_export_ctf, cvl_export_null;
extern const struct cvl_exporter cvl_export_grace, cvl_export_flocklab, cvl_export_perfetto;
extern const struct cvl_exporter cvl_export_ett, cvl_export_fst, cvl_export_parquet;
extern const struct cvl_exporter cvl_export_arrow, cvl_export_sqlite;

#endif
