/* SPDX-License-Identifier: MIT */
#include "lab/shell.h"

#include <string.h>

/* How long a line may take to be sent, and how often a silent shell is asked again. */
#define SEND_MS 2000
#define ASK_AGAIN_MS 500

/* Whether the prompt is the last thing that came, at the start of a line. Cuts it off. */
static bool at_prompt(struct shell *s)
{
	size_t p = strlen(s->prompt);
	const char *at = s->text + s->n - p;

	if (s->n < p || memcmp(at, s->prompt, p) ||
	    (at > s->text && at[-1] != '\n' && at[-1] != '\r'))
		return false;
	s->n -= p;
	s->text[s->n] = '\0';
	return true;
}

/*
 * Read on until the prompt. Returns 1, 0 at the deadline, or an error. @after: the text that must
 * come first, or "".
 */
static int read_on(struct shell *s, const char *after, int64_t deadline_ms, struct cvl_error *err)
{
	const char *name = s->channel->name;

	for (;;) {
		int got = channel_read(s->channel, s->text + s->n, SHELL_BYTES - s->n, deadline_ms,
				       err);

		if (got <= 0)
			return got;
		s->n += (size_t)got;
		s->text[s->n] = '\0';
		if ((!*after || memmem(s->text, s->n, after, strlen(after))) && at_prompt(s))
			return 1;
		if (s->n == SHELL_BYTES) {
			char seen[120];

			return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
					"%s: %d bytes and no prompt \"%s\": %s", name, SHELL_BYTES,
					s->prompt, lab_excerpt(seen, sizeof(seen), s->text, s->n));
		}
	}
}

static int no_prompt(const struct shell *s, const char *what, int64_t timeout_ms,
		     struct cvl_error *err)
{
	char seen[160];

	return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: no prompt \"%s\" within %g s %s; received: %s", s->channel->name,
			s->prompt, (double)timeout_ms / 1000, what,
			lab_excerpt(seen, sizeof(seen), s->text, s->n));
}

static int send_line(struct shell *s, const char *line, struct cvl_error *err)
{
	char text[1024];
	size_t n = strlen(line);
	int rc;

	if (n + 1 >= sizeof(text))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "a command of %zu characters", n);
	memcpy(text, line, n);
	text[n] = '\n';
	rc = channel_drain(s->channel, err);
	s->n = 0;
	s->text[0] = '\0';
	return rc ? rc : channel_write(s->channel, text, n + 1, lab_now_ms() + SEND_MS, err);
}

int shell_find(struct shell *s, int64_t timeout_ms, struct cvl_error *err)
{
	int64_t end = lab_now_ms() + timeout_ms;
	int rc = 0;

	do {
		int64_t again = lab_now_ms() + ASK_AGAIN_MS;

		rc = send_line(s, "", err);
		if (!rc)
			rc = read_on(s, "", again < end ? again : end, err);
	} while (!rc && lab_now_ms() < end);
	if (rc)
		return rc < 0 ? rc : 0;
	return no_prompt(s, "of being asked", timeout_ms, err);
}

/* A shell may echo the command. */
static void drop_echo(struct shell *s, const char *line)
{
	size_t n = strlen(line);

	if (s->n < n || memcmp(s->text, line, n))
		return;
	while (n < s->n && (s->text[n] == '\r' || s->text[n] == '\n'))
		n++;
	s->n -= n;
	memmove(s->text, s->text + n, s->n + 1);
}

int shell_ask(struct shell *s, const char *line, int64_t timeout_ms, struct cvl_error *err)
{
	int rc = send_line(s, line, err);

	if (!rc)
		rc = read_on(s, "", lab_now_ms() + timeout_ms, err);
	else
		return rc;
	if (rc < 0)
		return rc;
	if (!rc)
		return no_prompt(s, "of the command", timeout_ms, err);
	drop_echo(s, line);
	if (*s->boot_text && memmem(s->text, s->n, s->boot_text, strlen(s->boot_text)))
		return cvl_fail(err, CVL_E_MISMATCH, CVL_NO_OFFSET,
				"%s: the target was reset while it was at `%s`", s->channel->name,
				line);
	return 0;
}

int shell_reboot(struct shell *s, const char *command, int64_t timeout_ms, struct cvl_error *err)
{
	int rc = send_line(s, command, err);

	if (!rc)
		rc = read_on(s, s->boot_text, lab_now_ms() + timeout_ms, err);
	else
		return rc;
	if (rc < 0)
		return rc;
	return rc ? 0 : no_prompt(s, "of the reboot", timeout_ms, err);
}
