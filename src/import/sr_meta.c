/* SPDX-License-Identifier: MIT */
#include "sr_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	struct sr_meta *meta;
	const char *text;
	const char *name;
	const struct cvl_import_opts *opts;
	bool ours; /* in the section of the first device */
};

static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " \t\r");
	for (n = strlen(s); n && strchr(" \t\r", s[n - 1]); n--)
		;
	s[n] = '\0';
	return s;
}

static int wrong(const struct parser *p, enum cvl_code code, const char *at, const char *what,
		 struct cvl_error *err)
{
	return cvl_fail(err, code, (uint64_t)(at - p->text), "%s: %s", p->name, what);
}

/* Parse all of @s as a decimal number. */
static int number(const char *s, uint64_t *out)
{
	char *end;

	if (*s < '0' || *s > '9')
		return -1;
	errno = 0;
	*out = strtoull(s, &end, 10);
	return *end || errno ? -1 : 0;
}

static int keep(char **to, const char *value, struct cvl_error *err)
{
	char *copy = strdup(value);

	if (!copy)
		return cvl_no_memory(err);
	free(*to);
	*to = copy;
	return 0;
}

static int section(struct parser *p, const char *line, struct cvl_error *err)
{
	struct cvl_error problem;

	p->ours = !strcmp(line, "[device 1]");
	if (p->ours || strncmp(line, "[device", 7))
		return 0;
	wrong(p, CVL_E_UNSUPPORTED, line, "second device ignored", &problem);
	if (p->opts->strict) {
		if (err)
			*err = problem;
		return problem.code;
	}
	cvl_tell(p->opts->report, &problem);
	return 0;
}

static int channel(struct parser *p, const char *key, const char *value, struct cvl_error *err)
{
	struct sr_meta *m = p->meta;
	const bool analog = key[0] == 'a';
	uint64_t n;

	/* Other keys may have the same prefix; those with a number are channels. */
	if (number(key + (analog ? 6 : 5), &n))
		return 0;
	if (!n)
		return wrong(p, CVL_E_RANGE, key, "channels are counted from 1", err);
	if (!analog) {
		if (n > CVL_LINES_MAX)
			return wrong(p, CVL_E_UNSUPPORTED, key, "more than 64 lines", err);
		if (n > m->n_probes)
			m->n_probes = (size_t)n;
		return keep(&m->probe[n - 1], value, err);
	}
	for (size_t i = 0; i < m->n_analog; i++)
		if (m->analog[i].number == n)
			return keep(&m->analog[i].name, value, err);
	if (m->n_analog == SR_ANALOG_MAX)
		return wrong(p, CVL_E_LIMIT, key, "more than 64 analog channels", err);
	m->analog[m->n_analog].number = n;
	return keep(&m->analog[m->n_analog++].name, value, err);
}

static int key_value(struct parser *p, const char *key, const char *value, struct cvl_error *err)
{
	struct sr_meta *m = p->meta;
	uint64_t n;

	if (!strcmp(key, "capturefile"))
		return keep(&m->capture, value, err);
	if (!strcmp(key, "samplerate")) {
		/* a rate given by the user overrides this */
		if (cvl_rate_parse(value, &m->rate_hz) && !p->opts->rate_hz)
			return wrong(p, CVL_E_SYNTAX, value, "invalid sampling rate", err);
		return 0;
	}
	if (!strcmp(key, "unitsize")) {
		if (number(value, &n))
			return wrong(p, CVL_E_SYNTAX, value, "invalid number of bytes", err);
		if (!n)
			return wrong(p, CVL_E_RANGE, value, "samples of 0 bytes", err);
		if (n > 8)
			return wrong(p, CVL_E_UNSUPPORTED, value, "samples of more than 8 bytes",
				     err);
		m->unit = (unsigned)n;
		return 0;
	}
	if (!strcmp(key, "total probes")) {
		if (number(value, &m->probes))
			return wrong(p, CVL_E_SYNTAX, value, "invalid number of probes", err);
		return 0;
	}
	if (!strncmp(key, "probe", 5) || !strncmp(key, "analog", 6))
		return channel(p, key, value, err);
	return 0;
}

int cvl_sr_meta_parse(struct sr_meta *meta, char *text, size_t n, const char *name,
		      const struct cvl_import_opts *opts, struct cvl_error *err)
{
	struct parser p = { .meta = meta, .text = text, .name = name, .opts = opts };
	const char *nul = memchr(text, '\0', n);
	char *next = text;

	memset(meta, 0, sizeof(*meta));
	if (nul)
		return wrong(&p, CVL_E_SYNTAX, nul, "NUL byte in text", err);
	while (next) {
		char *line = next, *equals;
		int rc = 0;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		line = trim(line);
		equals = strchr(line, '=');
		if (*line == '[') {
			rc = section(&p, line, err);
		} else if (*line && *line != '#' && *line != ';') {
			if (!equals)
				return wrong(&p, CVL_E_SYNTAX, line,
					     "neither `[section]` nor `key=value`", err);
			*equals = '\0';
			if (p.ours)
				rc = key_value(&p, trim(line), trim(equals + 1), err);
		}
		if (rc)
			return rc;
	}
	return 0;
}

void cvl_sr_meta_free(struct sr_meta *meta)
{
	free(meta->capture);
	for (size_t i = 0; i < CVL_LINES_MAX; i++)
		free(meta->probe[i]);
	for (size_t i = 0; i < meta->n_analog; i++)
		free(meta->analog[i].name);
}
