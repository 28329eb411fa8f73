/* SPDX-License-Identifier: MIT */
/* Selectors: parsing. select_resolve.c resolves them. */
#include <coeval/select.h>

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CUTS_MAX (sizeof(((struct cvl_selector *)0)->cut) / sizeof(uint16_t))

static const char *const whens[CVL_WHENS] = {
	[CVL_WHEN_PLAIN] = "",      [CVL_WHEN_RISE] = "rise", [CVL_WHEN_FALL] = "fall",
	[CVL_WHEN_EDGE] = "edge",   [CVL_WHEN_HIGH] = "high", [CVL_WHEN_LOW] = "low",
	[CVL_WHEN_BEGIN] = "begin", [CVL_WHEN_END] = "end",
};

static const char *const operators[] = {
	[CVL_EQ] = "=",  [CVL_NE] = "!=", [CVL_LT] = "<",
	[CVL_LE] = "<=", [CVL_GT] = ">",  [CVL_GE] = ">=",
};

#define OPERATORS (sizeof(operators) / sizeof(*operators))

const char *cvl_when_name(enum cvl_when when)
{
	return whens[when];
}

/* ---- reading ---- */

struct reader {
	struct cvl_selector *sel;
	const char *text; /* NUL-terminated */
	char *free;       /* end of the used part of sel->memory */
	struct cvl_error *err;
};

static int bad(const struct reader *r, const char *at, const char *what)
{
	return cvl_fail(r->err, CVL_E_SYNTAX, (uint64_t)(at - r->text), "'%.150s': %s", r->text,
			what);
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static char *past_blanks(char *at)
{
	while (blank(*at))
		at++;
	return at;
}

/* Trim trailing blanks of the text [@from, @end). */
static char *before_blanks(char *from, char *end)
{
	while (end > from && blank(end[-1]))
		end--;
	return end;
}

/* Position after the quote that closes the one at @at; NULL: unclosed. */
static char *past_quotes(char *at)
{
	for (at++; *at; at++) {
		if (*at == '"')
			return at + 1;
		at += *at == '\\' && at[1];
	}
	return NULL;
}

/* The first of @chars outside quotes; the end if there is none, NULL if quotes are not closed. */
static char *find_plain(char *at, const char *chars)
{
	while (at && *at && !strchr(chars, *at))
		at = *at == '"' ? past_quotes(at) : at + 1;
	return at;
}

/* Copy [@from, @end) without quotes and their escapes. */
static char *keep(struct reader *r, const char *from, const char *end)
{
	char *begin = r->free;
	bool quoted = false;

	for (; from < end; from++) {
		if (*from == '"') {
			quoted = !quoted;
			continue;
		}
		if (quoted && *from == '\\' && (from[1] == '"' || from[1] == '\\'))
			from++;
		*r->free++ = *from;
	}
	*r->free++ = '\0';
	return begin;
}

static bool number(const char *text, long double *out)
{
	bool hex = text[0] == '0' && (text[1] | 32) == 'x';
	char *end;

	if (!isdigit((unsigned char)text[0]) && !strchr("+-.", text[0]))
		return false;
	errno = 0;
	*out = hex ? (long double)strtoull(text, &end, 16) : strtold(text, &end);
	return end != text && !*end && !errno && isfinite(*out);
}

/* ---- conditions ---- */

static char *read_operator(char *at, enum cvl_compare *op)
{
	size_t n = strspn(at, "=!<>");

	for (unsigned i = 0; i < OPERATORS; i++)
		if (n == strlen(operators[i]) && !memcmp(at, operators[i], n)) {
			*op = (enum cvl_compare)i;
			return at + n;
		}
	return NULL;
}

/* FIELD=VALUE, up to @end. */
static int read_condition(struct reader *r, char *at, char *end, bool old)
{
	struct cvl_selector *sel = r->sel;
	struct cvl_condition *c = &sel->condition[sel->n_conditions];
	char *op = find_plain(at = past_blanks(at), "=!<>"), *value, *name_end;
	bool quoted;

	if (sel->n_conditions == CVL_CONDITIONS_MAX)
		return bad(r, at, "more than 8 conditions");
	if (!op || op >= end)
		return bad(r, at, "expected FIELD=VALUE, or with !=, <, <=, > or >=");
	name_end = before_blanks(at, op);
	c->field = keep(r, at, name_end);
	if (!*c->field)
		return bad(r, at, "missing name of a field");
	value = read_operator(op, &c->op);
	if (!value)
		return bad(r, op, "expected =, !=, <, <=, > or >=");
	value = past_blanks(value);
	end = before_blanks(value, end);
	if (end <= value)
		return bad(r, value, "missing value");
	quoted = *value == '"';
	if (memchr(value, '"', (size_t)(end - value)) && (!quoted || past_quotes(value) != end))
		return bad(r, value, "quote the whole value");
	if (old && !quoted && find_plain(value, " \t\n") < end)
		return bad(r, value, "join conditions with `and`; quote a value that has blanks");
	c->text = keep(r, value, end);
	c->is_number = !quoted && number(c->text, &c->number);
	if (!c->is_number && c->op > CVL_NE)
		return bad(r, value, "only numbers can be compared with <, <=, > or >=");
	sel->n_conditions++;
	return 0;
}

/* Conditions from @at to @end. With @old they are joined by `and`. */
static int read_conditions(struct reader *r, char *at, char *end, bool old)
{
	int rc = 0;

	while (!rc) {
		char *stop = at;

		if (old) {
			do {
				stop = find_plain(stop + (*stop != '\0'), " \t\n");
			} while (stop && stop < end &&
				 !(!strncmp(past_blanks(stop), "and", 3) &&
				   (blank(past_blanks(stop)[3]) || !past_blanks(stop)[3])));
		} else {
			stop = find_plain(at, ",}");
		}
		if (!stop || stop > end)
			return bad(r, at, "unclosed quotes");
		rc = read_condition(r, at, stop, old);
		if (rc || stop == end)
			break;
		at = old ? past_blanks(stop) + 3 : stop + 1;
	}
	return rc;
}

/* ---- names ---- */

/* A quote stands at the beginning of a part of a name or at its end. */
static bool at_edge(const char *from, const char *at, const char *end)
{
	return at == from || at == end || at[-1] == '.' || *at == '.';
}

/*
 * Copy [@from, @end) to sel->path, and note the dots that may end the node: those next to quotes if
 * there are quotes, else all outside them. In old spellings quotes only protect blanks.
 */
static int read_path(struct reader *r, const char *from, const char *end, bool old)
{
	struct cvl_selector *sel = r->sel;
	bool quoted = false, any = false, beside[CUTS_MAX];
	size_t n = 0;

	sel->path = r->free;
	for (const char *at = from; at < end; at++) {
		if (*at == '"') {
			if (!old && !at_edge(from, quoted ? at + 1 : at, end))
				return bad(r, at, "quote the whole name");
			quoted = !quoted;
			any = true;
			continue;
		}
		if (quoted && *at == '\\' && (at[1] == '"' || at[1] == '\\')) {
			at++;
		} else if (*at == '.' && (!quoted || old) && sel->n_cuts < CUTS_MAX &&
			   r->free > sel->path && at + 1 < end) {
			beside[sel->n_cuts] = at[-1] == '"' || at[1] == '"';
			sel->cut[sel->n_cuts++] = (uint16_t)(r->free - sel->path);
		}
		*r->free++ = *at;
	}
	*r->free++ = '\0';
	if (!*sel->path)
		return bad(r, from,
			   "missing name; a selector is NODE.LINE:rise or NODE.EVENT{FIELD=VALUE}");
	if (old)
		return 0;
	if (!any && sel->when) {
		sel->full = r->free;
		r->free = stpcpy(stpcpy(stpcpy(r->free, sel->path), ":"), whens[sel->when]) + 1;
	}
	if (!any)
		return 0;
	for (size_t i = 0; i < sel->n_cuts; i++)
		if (beside[i])
			sel->cut[n++] = sel->cut[i];
	sel->n_cuts = n;
	sel->must_cut = n > 0;
	return 0;
}

static bool find_when(const char *word, size_t n, enum cvl_when *when)
{
	for (unsigned i = CVL_WHEN_RISE; i < CVL_WHENS; i++)
		if (strlen(whens[i]) == n && !memcmp(whens[i], word, n)) {
			*when = (enum cvl_when)i;
			return true;
		}
	return false;
}

/* ---- the forms ---- */

/* Where " rises" or the like begins at the end, or NULL. */
static char *old_verb(char *from, char *end, enum cvl_when *when)
{
	static const struct {
		const char *words;
		enum cvl_when when;
	} verbs[] = {
		{ "rises", CVL_WHEN_RISE },   { "falls", CVL_WHEN_FALL },
		{ "changes", CVL_WHEN_EDGE }, { "is high", CVL_WHEN_HIGH },
		{ "is low", CVL_WHEN_LOW },
	};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		size_t n = strlen(verbs[i].words);

		if ((size_t)(end - from) > n + 1 && blank(end[-1 - (ptrdiff_t)n]) &&
		    !memcmp(end - n, verbs[i].words, n)) {
			*when = verbs[i].when;
			return end - n - 1;
		}
	}
	return NULL;
}

/* " where " outside quotes, or NULL. */
static char *old_where(char *from)
{
	for (char *at = from; (at = find_plain(at, " \t\n")) && *at; at++)
		if (!strncmp(past_blanks(at), "where", 5) && blank(past_blanks(at)[5]))
			return at;
	return NULL;
}

/* The last colon outside quotes. */
static char *last_colon(char *from)
{
	char *last = NULL;

	for (char *at = from; (at = find_plain(at, ":")) && *at; at++)
		last = at;
	return last;
}

static int read_old(struct reader *r, char *from, char *name_end, char *where, char *end)
{
	int rc = read_path(r, from, before_blanks(from, name_end), true);

	return rc || !where ? rc : read_conditions(r, where, end, *name_end != ':');
}

static int read_new(struct reader *r, char *from, char *brace, char *end)
{
	struct cvl_selector *sel = r->sel;
	char *name_end = before_blanks(from, brace), *colon = *brace ? NULL : last_colon(from),
	     *close;
	int rc;

	if (colon && find_when(colon + 1, (size_t)(end - colon - 1), &sel->when))
		name_end = before_blanks(from, colon);
	rc = read_path(r, from, name_end, false);
	if (rc || !*brace)
		return rc;
	close = find_plain(brace, "}");
	if (!close || close + 1 != end)
		return bad(r, close && *close ? close + 1 : brace,
			   "conditions must come last: EVENT{FIELD=VALUE,...}");
	return read_conditions(r, brace + 1, close, false);
}

static int read_forms(struct reader *r, char *from, char *end, bool *old)
{
	struct cvl_selector *sel = r->sel;
	char *brace = find_plain(from, "{"), *where, *verb, *colon;

	if (!brace)
		return bad(r, from, "unclosed quotes");
	for (char *at = from; (at = find_plain(at, ".{")) && *at == '.'; at++)
		if (at[1] == '.')
			return bad(r, at, "unexpected pair A..B; quote names that contain '..'");
	*old = true;
	where = old_where(from);
	if (where && (!*brace || where < brace))
		return read_old(r, from, where, past_blanks(where) + 5, end);
	verb = old_verb(from, end, &sel->when);
	if (verb)
		return read_old(r, from, verb, NULL, end);
	colon = *brace ? NULL : last_colon(from);
	if (colon && *find_plain(colon, "="))
		return read_old(r, from, colon, colon + 1, end);
	*old = false;
	if (!*brace && *find_plain(from, "="))
		return bad(r, find_plain(from, "="), "conditions need braces: EVENT{FIELD=VALUE}");
	return read_new(r, from, brace, end);
}

/* ---- the current spelling ---- */

static bool needs_quotes(const char *s, const char *special)
{
	return !*s || strpbrk(s, special) || blank(s[0]) || blank(s[strlen(s) - 1]);
}

static size_t put(char *text, size_t at, size_t size, const char *s, size_t n)
{
	for (size_t i = 0; i < n && at + 1 < size; i++)
		text[at++] = s[i];
	text[at < size ? at : size - 1] = '\0';
	return at;
}

static size_t put_quoted(char *text, size_t at, size_t size, const char *s, const char *special)
{
	if (!needs_quotes(s, special))
		return put(text, at, size, s, strlen(s));
	at = put(text, at, size, "\"", 1);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			at = put(text, at, size, "\\", 1);
		at = put(text, at, size, s, 1);
	}
	return put(text, at, size, "\"", 1);
}

size_t cvl_select_quote(char *text, size_t at, size_t size, const char *name)
{
	return put_quoted(text, at, size, name, ".:{}\"\\ \t\n=");
}

static void put_new(struct reader *r, size_t room)
{
	struct cvl_selector *sel = r->sel;
	size_t at = put(r->free, 0, room, sel->path, strlen(sel->path));

	if (sel->when)
		at = put(r->free, at, room, ":", 1);
	at = put(r->free, at, room, whens[sel->when], strlen(whens[sel->when]));
	for (size_t i = 0; i < sel->n_conditions; i++) {
		const struct cvl_condition *c = &sel->condition[i];

		at = put(r->free, at, room, i ? "," : "{", 1);
		at = put(r->free, at, room, c->field, strlen(c->field));
		at = put(r->free, at, room, operators[c->op], strlen(operators[c->op]));
		at = put_quoted(r->free, at, room, c->text, ",}\"\\ \t\n");
	}
	if (sel->n_conditions)
		at = put(r->free, at, room, "}", 1);
	sel->old = r->free;
	r->free += at + 1;
}

/* ---- one, and two ---- */

/* What is kept of a text: itself, its parts, the current spelling, and the node. */
static size_t memory_for(size_t n)
{
	return 9 * n + 64 * CVL_CONDITIONS_MAX;
}

int cvl_selector_parse(struct cvl_selector *sel, const char *text, size_t n, struct cvl_error *err)
{
	struct reader r = { .sel = sel, .err = err };
	char *from, *end, *copy;
	bool old = false;
	int rc;

	*sel = (struct cvl_selector){ 0 };
	if (n > CVL_SELECTOR_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_SELECTOR_MAX,
				"'%.60s...': longer than %d bytes", text, CVL_SELECTOR_MAX);
	sel->memory = calloc(1, memory_for(n));
	if (!sel->memory)
		return cvl_no_memory(err);
	copy = sel->memory;
	memcpy(copy, text, n);
	n = strlen(copy);
	r.text = copy;
	r.free = copy + n + 1;
	sel->text = from = past_blanks(copy);
	end = before_blanks(from, copy + n);
	*end = '\0';
	rc = read_forms(&r, from, end, &old);
	if (!rc && sel->when && sel->n_conditions)
		rc = bad(&r, copy, "a line has no fields");
	if (rc) {
		cvl_selector_free(sel);
		return rc;
	}
	if (old)
		put_new(&r, memory_for(n) - (size_t)(r.free - sel->memory) - n - 1);
	sel->node_room = r.free;
	return 0;
}

/* Where `..` stands outside quotes and braces; NULL: nowhere. */
static const char *find_dots(const char *text, size_t n)
{
	bool quoted = false, braces = false;

	for (size_t i = 0; i + 1 < n; i++) {
		if (text[i] == '\\' && quoted)
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted && (text[i] == '{' || text[i] == '}'))
			braces = text[i] == '{';
		else if (!quoted && !braces && text[i] == '.' && text[i + 1] == '.')
			return text + i;
	}
	return NULL;
}

int cvl_selector_pair_parse(struct cvl_selector pair[2], const char *text, size_t n,
			    struct cvl_error *err)
{
	const char *dots = find_dots(text, n);
	int rc;

	pair[0] = pair[1] = (struct cvl_selector){ 0 };
	if (!dots)
		return cvl_fail(err, CVL_E_SYNTAX, n,
				"'%.*s': expected a pair A..B, such as TX:rise..TX:fall",
				(int)(n < 150 ? n : 150), text);
	rc = cvl_selector_parse(&pair[0], text, (size_t)(dots - text), err);
	if (rc)
		return rc;
	rc = cvl_selector_parse(&pair[1], dots + 2, n - (size_t)(dots - text) - 2, err);
	if (rc)
		cvl_selector_free(&pair[0]);
	pair[0].pair = 1;
	pair[1].pair = 2;
	return rc;
}

void cvl_selector_free(struct cvl_selector *sel)
{
	free(sel->memory);
	*sel = (struct cvl_selector){ 0 };
}

void cvl_selector_tell_old(const struct cvl_selector *sel, const struct cvl_report *report)
{
	struct cvl_error note;

	if (!sel->old)
		return;
	cvl_fail(&note, CVL_OK, CVL_NO_OFFSET, "'%.150s' is now written %.200s", sel->text,
		 sel->old);
	cvl_tell(report, &note);
}
