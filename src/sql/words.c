/* SPDX-License-Identifier: MIT */
/* Names and values as SQLite takes them. */
#ifdef HAVE_SQLITE

#include "sql/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool has(const struct words *w, const char *name)
{
	for (size_t i = 0; i < w->n; i++)
		if (!strcasecmp(w->word[i], name))
			return true;
	return false;
}

static const char *add(struct words *w, const char *name, bool clean)
{
	const size_t n = strlen(name);
	char *word = malloc(n + 24);

	if (!word || cvl_room(&w->word, w->n, &w->room, sizeof(*w->word))) {
		free(word);
		return NULL;
	}
	memcpy(word, name, n + 1);
	for (char *c = word; clean && *c; c++)
		if (!(*c >= '0' && *c <= '9') && !((*c | 32) >= 'a' && (*c | 32) <= 'z'))
			*c = '_';
	for (unsigned k = 2; has(w, word); k++)
		sprintf(word + n, "_%u", k);
	w->word[w->n++] = word;
	return word;
}

const char *words_add(struct words *w, const char *name)
{
	return add(w, name, false);
}

const char *words_add_table(struct words *w, const char *name)
{
	return add(w, name, true);
}

void words_free(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->word[i]);
	free(w->word);
	*w = (struct words){ 0 };
}

const char *sql_type(enum cvl_column_type type)
{
	switch (type) {
	case CVL_COLUMN_INT:
	case CVL_COLUMN_BOOL: return "INTEGER";
	case CVL_COLUMN_DOUBLE: return "REAL";
	case CVL_COLUMN_NAME:
	case CVL_COLUMN_TEXT: return "TEXT";
	case CVL_COLUMN_UINT: return "";
	case CVL_COLUMN_BYTES: break;
	}
	return "BLOB";
}

int sql_unsigned(char text[24], uint64_t v)
{
	return snprintf(text, 24, "%" PRIu64, v);
}

int sql_fail(sqlite3 *db, int rc, const char *what, struct cvl_error *err)
{
	enum cvl_code code = CVL_E_IO;

	switch (rc & 0xff) {
	case SQLITE_NOMEM: return cvl_no_memory(err);
	case SQLITE_FULL: code = CVL_E_FULL; break;
	case SQLITE_TOOBIG: code = CVL_E_LIMIT; break;
	case SQLITE_ERROR:
	case SQLITE_MISUSE: code = CVL_E_USAGE; break;
	default: break;
	}
	return cvl_fail(err, code, CVL_NO_OFFSET, "%s: %s", what,
			db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
}

#endif
