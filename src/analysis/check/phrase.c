/* SPDX-License-Identifier: MIT */
/* One phrase: "[any|every] SELECTOR". */
#include <stdlib.h>
#include <string.h>

#include "analysis/check/check.h"

void check_phrase_free(struct check_phrase *p)
{
	cvl_selector_free(&p->sel);
	free(p->text);
	*p = (struct check_phrase){ 0 };
}

/* Skip @word and the blanks after it, or NULL. */
static const char *past_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(text, word, n) || !text[n] || !strchr(" \t\n", text[n]))
		return NULL;
	return text + n + strspn(text + n, " \t\n");
}

int check_phrase_parse(struct check_phrase *p, const char *text, struct cvl_error *err)
{
	const char *from = text + strspn(text, " \t\n"), *any = past_word(from, "any"),
		   *every = past_word(from, "every");
	int rc;

	*p = (struct check_phrase){ .text = strdup(text), .any = any != NULL };
	if (!p->text)
		return cvl_no_memory(err);
	from = any ? any : every ? every : from;
	rc = cvl_selector_parse(&p->sel, from, strlen(from), err);
	if (!rc && p->any && check_is_state(p))
		rc = cvl_fail(err, CVL_E_SYNTAX, CVL_NO_OFFSET,
			      "'%.150s': `any` takes events together, not states; leave it out",
			      text);
	return rc;
}
