/* SPDX-License-Identifier: MIT */
/** Rows of SQL statements on standard output: in a box, as CSV, as JSON. */
#ifndef CLI_SQL_PRINT_H
#define CLI_SQL_PRINT_H

#include <coeval/out.h>
#include <coeval/sql.h>

enum sql_format { SQL_BOX, SQL_CSV, SQL_JSON };

struct sql_print {
	struct cvl_out *out;
	enum sql_format format;
	size_t columns, rows;
	char **name;
	/* of a box: cells as they are shown, and widths, until there are enough rows to know them */
	char **cell;
	size_t cells, cell_room, bytes;
	size_t *width;
	bool begun; /* the box is drawn so far */
};

struct cvl_sql_sink sql_print_sink(struct sql_print *p);
/** After a statement that failed. */
void sql_print_drop(struct sql_print *p);

#endif
