/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <coeval/select.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_one(const struct cvl_selector *sel)
{
	struct cvl_selector again;
	struct cvl_error err;

	if (!*sel->path || strlen(sel->path) > CVL_SELECTOR_MAX || (sel->when && sel->n_conditions))
		abort();
	for (size_t i = 0; i < sel->n_cuts; i++)
		if (sel->path[sel->cut[i]] != '.' || (i && sel->cut[i] <= sel->cut[i - 1]))
			abort();
	for (size_t i = 0; i < sel->n_conditions; i++)
		if (!*sel->condition[i].field)
			abort();
	/* names with quotes or braces in them have no unquoted spelling */
	if (!sel->old || strpbrk(sel->text, "\"{}\\") || strlen(sel->old) > CVL_SELECTOR_MAX)
		return;
	if (cvl_selector_parse(&again, sel->old, strlen(sel->old), &err))
		return;
	if (!again.old && (again.when != sel->when || again.n_conditions != sel->n_conditions))
		abort();
	cvl_selector_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct cvl_selector sel, pair[2];
	struct cvl_error err = { 0 };
	const char *text = (const char *)data;
	int rc = cvl_selector_parse(&sel, text, n, &err);

	if (rc && (rc != (int)err.code || !err.text[0]))
		abort();
	if (!rc)
		check_one(&sel);
	cvl_selector_free(&sel);
	rc = cvl_selector_pair_parse(pair, text, n, &err);
	for (int i = 0; i < 2 && !rc; i++) {
		check_one(&pair[i]);
		cvl_selector_free(&pair[i]);
	}
	return 0;
}
