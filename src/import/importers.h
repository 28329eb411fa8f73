/* SPDX-License-Identifier: MIT */
/** The importers, for the table in import.c. */
#ifndef IMPORTERS_H
#define IMPORTERS_H

#include <coeval/format.h>

extern const struct cvl_importer cvl_import_raw;
extern const struct cvl_importer cvl_import_sr;
extern const struct cvl_importer cvl_import_vcd;
extern const struct cvl_importer cvl_import_csv;
extern const struct cvl_importer cvl_import_flocklab;
extern const struct cvl_importer cvl_import_flocklab_power;
extern const struct cvl_importer cvl_import_rld;
extern const struct cvl_importer cvl_import_ett;
extern const struct cvl_importer cvl_import_itm;
extern const struct cvl_importer cvl_import_tpiu;
extern const struct cvl_importer cvl_import_swo;
extern const struct cvl_importer cvl_import_ctf;

#endif
