/* SPDX-License-Identifier: MIT */
#include "lab/scpi.h"

#include <stdlib.h>
#include <string.h>

/* An error queue that never ends is not trusted. */
#define MAX_ERRORS 32

static int64_t deadline(const struct scpi *s)
{
	return lab_now_ms() + s->timeout_ms;
}

int scpi_send(struct scpi *s, const char *line, struct cvl_error *err)
{
	char text[1024];
	size_t n = strlen(line);

	if (n + 1 >= sizeof(text))
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "a command of %zu characters", n);
	memcpy(text, line, n);
	text[n] = '\n';
	return channel_write(s->channel, text, n + 1, deadline(s), err);
}

static int silent(const struct scpi *s, const char *line, const char *text, size_t n,
		  struct cvl_error *err)
{
	char seen[120];

	return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: no answer to `%s` within %g s; received: %s", s->channel->name, line,
			(double)s->timeout_ms / 1000, lab_excerpt(seen, sizeof(seen), text, n));
}

int scpi_ask(struct scpi *s, const char *line, char *text, size_t size, struct cvl_error *err)
{
	int rc = scpi_send(s, line, err);
	size_t n = 0;

	while (!rc) {
		int got = channel_read(s->channel, text + n, size - 1 - n, deadline(s), err);
		char *end;

		if (got < 0)
			return got;
		if (!got)
			return silent(s, line, text, n, err);
		end = memchr(text + n, '\n', (size_t)got);
		n += (size_t)got;
		if (end) {
			while (end > text && end[-1] == '\r')
				end--;
			*end = '\0';
			return 0;
		}
		if (n == size - 1)
			return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
					"%s: the answer to `%s` is longer than %zu bytes",
					s->channel->name, line, size - 1);
	}
	return rc;
}

int scpi_block_head(const void *bytes, size_t n, size_t *length)
{
	const unsigned char *b = bytes;
	unsigned digits;

	*length = 0;
	if (n && b[0] != '#')
		return CVL_E_SYNTAX;
	if (n < 2)
		return 0;
	if (b[1] < '0' || b[1] > '9')
		return CVL_E_SYNTAX;
	digits = b[1] - '0';
	if (!digits) {
		*length = SIZE_MAX;
		return 2;
	}
	for (unsigned i = 0; i < digits && 2 + i < n; i++) {
		/* some pad with blanks, as zeros */
		if ((b[2 + i] < '0' || b[2 + i] > '9') && b[2 + i] != ' ')
			return CVL_E_SYNTAX;
		*length = *length * 10 + (b[2 + i] == ' ' ? 0u : (unsigned)(b[2 + i] - '0'));
	}
	if (n < 2 + digits)
		return 0;
	return *length > SCPI_BLOCK ? CVL_E_LIMIT : (int)(2 + digits);
}

/* Read until @n bytes are at @bytes; *@have of them are there already. */
static int read_all(struct scpi *s, const char *line, unsigned char *bytes, size_t n, size_t *have,
		    struct cvl_error *err)
{
	while (*have < n) {
		int got = channel_read(s->channel, bytes + *have, n - *have, deadline(s), err);

		if (got < 0)
			return got;
		if (!got)
			return cvl_fail(err, CVL_E_TRUNCATED, *have,
					"%s: the answer to `%s` stops after %zu of %zu bytes",
					s->channel->name, line, *have, n);
		*have += (size_t)got;
	}
	return 0;
}

/* Read the head into @bytes of 16, which takes no more than the head needs. */
static int read_head(struct scpi *s, const char *line, unsigned char *bytes, size_t *have,
		     size_t *length, struct cvl_error *err)
{
	char seen[80];
	int head;

	for (;;) {
		int rc;

		head = scpi_block_head(bytes, *have, length);
		if (head > 0)
			return head;
		if (head == CVL_E_LIMIT)
			return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
					"%s: the answer to `%s` says it has %zu bytes",
					s->channel->name, line, *length);
		if (head || *have == 11)
			return cvl_fail(err, CVL_E_SYNTAX, 0,
					"%s: the answer to `%s` is not a block: %s",
					s->channel->name, line,
					lab_excerpt(seen, sizeof(seen), bytes, *have));
		rc = read_all(s, line, bytes, *have < 2 ? 2 : *have + 1, have, err);
		if (rc)
			return rc;
	}
}

/* A message of USBTMC is read whole, or its rest is lost: a block has one read for all of it. */
static int read_message(struct scpi *s, const char *line, size_t expect, unsigned char **bytes,
			size_t *n, struct cvl_error *err)
{
	size_t room = expect + 4096, have = 0, length;
	unsigned char *b = NULL;
	int head;

	for (;;) {
		unsigned char *more = realloc(b, room);
		int got;

		if (!more) {
			free(b);
			return cvl_no_memory(err);
		}
		b = more;
		got = channel_read(s->channel, b + have, room - have, deadline(s), err);
		if (got < 0) {
			free(b);
			return got;
		}
		have += (size_t)got;
		head = scpi_block_head(b, have, &length);
		if (head < 0 || !got)
			break;
		if (head && length == SIZE_MAX)
			length = expect;
		if (head && have >= (size_t)head + length) {
			memmove(b, b + head, length);
			*bytes = b;
			*n = length;
			return 0;
		}
		if (have == room || (head && room < (size_t)head + length))
			room = head ? (size_t)head + length + 64 : 2 * room;
	}
	free(b);
	return head < 0 ? cvl_fail(err, CVL_E_SYNTAX, 0, "%s: the answer to `%s` is not a block",
				   s->channel->name, line) :
			  cvl_fail(err, CVL_E_TRUNCATED, have,
				   "%s: the answer to `%s` stops after %zu bytes", s->channel->name,
				   line, have);
}

int scpi_ask_block(struct scpi *s, const char *line, size_t expect, unsigned char **bytes,
		   size_t *n, struct cvl_error *err)
{
	unsigned char head[16], end;
	size_t have = 0, length;
	int rc = scpi_send(s, line, err);

	*bytes = NULL;
	*n = 0;
	if (rc)
		return rc;
	if (s->channel->usbtmc)
		return read_message(s, line, expect, bytes, n, err);
	rc = read_head(s, line, head, &have, &length, err);
	if (rc < 0)
		return rc;
	if (length == SIZE_MAX && !expect)
		return cvl_fail(err, CVL_E_UNSUPPORTED, 0,
				"%s: the answer to `%s` is a block that does not say its length",
				s->channel->name, line);
	if (length == SIZE_MAX)
		length = expect;
	*bytes = malloc(length + 1);
	if (!*bytes)
		return cvl_no_memory(err);
	have = 0;
	rc = read_all(s, line, *bytes, length, &have, err);
	if (rc) {
		free(*bytes);
		*bytes = NULL;
		return rc;
	}
	*n = length;
	/* the line's end, which some leave out */
	channel_read(s->channel, &end, 1, lab_now_ms() + 50, NULL);
	return 0;
}

int scpi_error(const char *text, long *number)
{
	char *end;

	*number = strtol(text, &end, 10);
	return end == text || (*end && *end != ',') ? CVL_E_SYNTAX : 0;
}

int scpi_check(struct scpi *s, const char *after, struct cvl_error *err)
{
	char text[400], first[300] = "";

	if (!*s->error_query)
		return 0;
	for (int i = 0; i < MAX_ERRORS; i++) {
		long number;
		int rc = scpi_ask(s, s->error_query, text, sizeof(text), err);

		if (rc)
			return rc;
		if (scpi_error(text, &number))
			return cvl_fail(err, CVL_E_SYNTAX, CVL_NO_OFFSET,
					"%s: the answer to `%s` is not an error number: %.100s",
					s->channel->name, s->error_query, text);
		if (!number)
			break;
		if (!*first)
			memcpy(first, text, sizeof(first) - 1);
	}
	if (!*first)
		return 0;
	return cvl_fail(err, CVL_E_MISMATCH, CVL_NO_OFFSET,
			"%s: the instrument refuses `%s`: %.200s", s->channel->name, after, first);
}

int scpi_clear(struct scpi *s, struct cvl_error *err)
{
	struct cvl_error errors;
	int rc = channel_drain(s->channel, err);

	if (!rc)
		rc = scpi_send(s, "*CLS", err);
	if (!rc)
		rc = scpi_check(s, "*CLS", &errors);
	if (rc && rc != CVL_E_MISMATCH && err)
		*err = errors.text[0] ? errors : *err;
	return rc == CVL_E_MISMATCH ? 0 : rc;
}

/* One number at @text; *@end behind it, its unit, and blanks. */
static bool read_number(const char *text, double *value, const char **end)
{
	char *e;

	*value = strtod(text, &e);
	if (e == text)
		return false;
	e += strspn(e, " ");
	e += strspn(e, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
	e += strspn(e, " \r");
	*end = e;
	return true;
}

static int not_valid(double v)
{
	/* SCPI volume 1, 7.2.1.5: 9.91e37 stands for NaN, 9.9e37 for infinity */
	return !(v > -9.8e37 && v < 9.8e37);
}

int scpi_number(const char *text, double *value, const char *name, struct cvl_error *err)
{
	const char *end;

	if (!read_number(text, value, &end) || *end)
		return cvl_fail(err, CVL_E_SYNTAX, CVL_NO_OFFSET, "%s: '%.80s' is not a number",
				name, text);
	if (not_valid(*value))
		return cvl_fail(err, CVL_E_RANGE, CVL_NO_OFFSET,
				"%s: it says %.20s: it measured nothing", name, text);
	return 0;
}

int scpi_numbers(const char *text, double *value, size_t max, const char *name,
		 struct cvl_error *err)
{
	const char *at = text;
	size_t n = 0;

	for (;;) {
		const char *end;
		double v;

		if (!read_number(at, &v, &end) || (*end && *end != ',') || not_valid(v))
			return cvl_fail(err, CVL_E_SYNTAX, (uint64_t)(at - text),
					"%s: '%.40s' is not a reading", name, at);
		if (n == max)
			return cvl_fail(err, CVL_E_LIMIT, (uint64_t)(at - text),
					"%s: more than %zu readings", name, max);
		value[n++] = v;
		if (!*end)
			return (int)n;
		at = end + 1;
	}
}
