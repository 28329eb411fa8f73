/* SPDX-License-Identifier: MIT */
/* Rules for pulses, as people write them. */
#include <coeval/sync.h>

#include <stdio.h>
#include <string.h>

/* Cut the last word off @text, after a colon; NULL: none. */
static char *last_word(char *text)
{
	char *at = strrchr(text, ':');

	if (at)
		*at++ = '\0';
	return at;
}

static bool is_edge(const char *text)
{
	return !strcmp(text, "rise") || !strcmp(text, "rising") || !strcmp(text, "fall") ||
	       !strcmp(text, "falling");
}

static bool read_rule(struct cvl_pulse_rule *r, char *text)
{
	char *word = last_word(text), *edge;

	*r = (struct cvl_pulse_rule){ .error_is_max = word && !strcmp(word, "max") };
	if (r->error_is_max)
		word = last_word(text);
	if (word && !strncmp(word, "+-", 2)) {
		if (cvl_duration_parse(word + 2, &r->error_ns) || r->error_ns <= 0)
			return false;
		word = last_word(text);
	} else if (r->error_is_max) {
		return false;
	}
	edge = word ? last_word(text) : NULL;
	if (!edge || !*text || strlen(text) >= sizeof(r->line) || !is_edge(edge) ||
	    cvl_duration_parse(word, &r->period_ns) || r->period_ns <= 0)
		return false;
	snprintf(r->line, sizeof(r->line), "%s", text);
	r->rising = edge[0] == 'r';
	return true;
}

int cvl_pulse_parse(struct cvl_pulse_rule *rule, const char *text, struct cvl_error *err)
{
	char copy[2 * sizeof(rule->line)];

	if (strlen(text) < sizeof(copy) && read_rule(rule, strcpy(copy, text)))
		return 0;
	return cvl_fail(
		err, CVL_E_USAGE, CVL_NO_OFFSET,
		"'%.100s' is no rule for pulses, such as PPS:rise:1s or PPS:fall:1s:+-300ns", text);
}
