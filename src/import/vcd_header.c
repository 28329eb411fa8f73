/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "vcd_internal.h"

#define PATH_MAX_BYTES 4096
#define DEPTH_MAX 256
#define VARS_MAX (1u << 20)
#define CLASSES_MAX 1024
#define INDEX_TEXT 16

/* Read the rest of a section without blanks into @out. */
static int section_text(struct vcd_words *words, char *out, size_t size, struct cvl_error *err)
{
	size_t len = 0;
	struct vcd_word w;
	int rc;

	out[0] = '\0';
	while ((rc = vcd_section_word(words, &w, err)) > 0) {
		if (w.n >= size - len)
			return cvl_fail(err, CVL_E_LIMIT, w.offset,
					"%s: name of more than %zu bytes",
					cvl_input_name(words->in), size - 1);
		memcpy(out + len, w.s, w.n);
		len += w.n;
		out[len] = '\0';
	}
	return rc;
}

static int read_timescale(struct vcd_header *h, struct vcd_words *words, struct cvl_error *err)
{
	static const struct {
		const char *name;
		uint64_t per_second;
	} units[] = {
		{ "s", 1 },           { "ms", 1000 },          { "us", 1000000 },
		{ "ns", 1000000000 }, { "ps", 1000000000000 }, { "fs", 1000000000000000 },
	};
	uint64_t at = vcd_offset(words), number = 0;
	char text[32], *unit = text;
	int rc = section_text(words, text, sizeof(text), err);

	if (rc)
		return rc;
	for (; *unit >= '0' && *unit <= '9' && number < 1000; unit++)
		number = number * 10 + (uint64_t)(*unit - '0');
	if (number == 1 || number == 10 || number == 100)
		for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
			if (strcmp(unit, units[i].name))
				continue;
			h->rate_hz = i ? units[i].per_second / number : 1;
			h->ticks_per_unit = i ? 1 : number;
			return 0;
		}
	return cvl_fail(err, CVL_E_SYNTAX, at, "%s: invalid timescale \"%s\"",
			cvl_input_name(words->in), text);
}

/* ---- ids ---- */

static size_t id_hash(const char *id, size_t n)
{
	uint64_t hash = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)id[i]) * 1099511628211u;
	return (size_t)(hash ^ hash >> 32);
}

/* Slot of @id, or the free one for it. */
static uint32_t *id_slot(const struct vcd_header *h, const char *id, size_t n)
{
	for (size_t at = id_hash(id, n);; at++) {
		uint32_t *slot = &h->slot[at & (h->n_slots - 1)];
		const struct vcd_var *var;

		if (!*slot)
			return slot;
		var = &h->var[*slot - 1];
		if (var->id_len == n && !memcmp(var->id, id, n))
			return slot;
	}
}

struct vcd_var *vcd_header_find(const struct vcd_header *h, const char *id, size_t n)
{
	uint32_t slot = h->n_slots ? *id_slot(h, id, n) : 0;

	return slot ? &h->var[slot - 1] : NULL;
}

static bool make_room(struct vcd_header *h)
{
	size_t max = h->max_vars ? h->max_vars * 2 : 64;
	struct vcd_var *var;
	uint32_t *slot;

	if (h->n_vars < h->max_vars)
		return true;
	var = realloc(h->var, max * sizeof(*var));
	if (!var)
		return false;
	h->var = var;
	slot = calloc(max * 2, sizeof(*slot));
	if (!slot)
		return false;
	free(h->slot);
	h->slot = slot;
	h->n_slots = max * 2;
	h->max_vars = max;
	for (size_t i = 0; i < h->n_vars; i++)
		*id_slot(h, var[i].id, var[i].id_len) = (uint32_t)i + 1;
	return true;
}

/* ---- variables ---- */

/* State while the header is read. */
struct declaring {
	struct vcd_header *h;
	struct vcd_words *words;
	char path[PATH_MAX_BYTES]; /* names of the open scopes, each followed by a '.' */
	size_t path_len;
	size_t outer[DEPTH_MAX]; /* path_len outside each open scope */
	size_t depth;
	bool timescale;
	bool ours;      /* written by our exporter, which marks gaps with a wire */
	uint64_t lines; /* of those selected, including those without room */
	size_t classes; /* of events */
	struct cvl_tally left_out, aliases;
};

static enum vcd_kind kind_of(const struct vcd_word *type)
{
	if (vcd_word_is(type, "real") || vcd_word_is(type, "realtime") ||
	    vcd_word_is(type, "shortreal"))
		return VCD_REAL;
	if (vcd_word_is(type, "event"))
		return VCD_EVENT;
	return vcd_word_is(type, "string") ? VCD_STRING : VCD_LINE;
}

/* Whether numbers of that type are signed. */
static bool has_sign(const struct vcd_word *type)
{
	static const char *const types[] = { "integer", "int", "shortint", "longint", "byte" };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (vcd_word_is(type, types[i]))
			return true;
	return false;
}

/* Where the range at the end of @ref ("[7:0]" or "[3]") starts, or NULL if there is none. */
static const char *parse_range(const char *ref, int *msb, int *lsb)
{
	const char *open = strrchr(ref, '[');
	int end = 0;

	if (!open || open == ref)
		return NULL;
	if (sscanf(open, "[%9d:%9d]%n", msb, lsb, &end) == 2 && end && !open[end])
		return open;
	end = 0;
	if (sscanf(open, "[%9d]%n", msb, &end) == 1 && end && !open[end]) {
		*lsb = *msb;
		return open;
	}
	return NULL;
}

/* Join both parts in a new string, with room for an index after them. */
static char *join(const char *path, size_t path_len, const char *ref, size_t ref_len)
{
	char *s = malloc(path_len + ref_len + INDEX_TEXT);

	if (!s)
		return NULL;
	memcpy(s, path, path_len);
	memcpy(s + path_len, ref, ref_len);
	s[path_len + ref_len] = '\0';
	return s;
}

static bool chosen(const struct declaring *d, const char *name)
{
	return !d->words->opts->lines || cvl_text_chosen(d->words->opts->lines, name);
}

/* Add a line, or count one more without room. Takes ownership of @name. */
static unsigned add_line(struct declaring *d, char *name)
{
	struct vcd_header *h = d->h;

	d->lines++;
	if (h->n_lines == CVL_LINES_MAX) {
		free(name);
		return VCD_NO_LINE;
	}
	h->line[h->n_lines] = name;
	return (unsigned)h->n_lines++;
}

static bool place_line(struct declaring *d, struct vcd_var *var, const char *ref)
{
	char *name = join(d->path, d->path_len, ref, strlen(ref));

	if (!name)
		return false;
	if (!chosen(d, name)) {
		free(name);
		var->kind = VCD_LEFT_OUT;
		return true;
	}
	var->kind = VCD_LINE;
	var->first = add_line(d, name);
	return true;
}

/* Bits of a vector that are selected by name also become lines. */
static bool choose_bits(struct declaring *d, struct vcd_var *var, const char *ref, size_t base,
			int lsb, int step)
{
	for (unsigned i = 0; d->words->opts->lines && i < var->width && i < VCD_BITS; i++) {
		char *name = join(d->path, d->path_len, ref, base);

		if (!name)
			return false;
		snprintf(name + strlen(name), INDEX_TEXT, "[%d]", lsb + step * (int)i);
		if (!chosen(d, name)) {
			free(name);
			continue;
		}
		if (!var->line) {
			var->line = malloc(VCD_BITS);
			if (!var->line) {
				free(name);
				return false;
			}
			memset(var->line, VCD_NO_LINE, VCD_BITS);
		}
		var->line[i] = (uint8_t)add_line(d, name);
	}
	return true;
}

/* Make it a channel of samples or a class of events; VCD_LEFT_OUT if there is no more room. */
static void place_record(struct declaring *d, struct vcd_var *var, bool is_channel, uint64_t offset)
{
	struct vcd_header *h = d->h;

	if (is_channel ? h->n_channels == CVL_CHANNELS_MAX : d->classes == CLASSES_MAX) {
		var->kind = VCD_LEFT_OUT;
		cvl_tally_add(&d->left_out, offset);
	} else if (is_channel) {
		var->first = (unsigned)h->n_channels;
		h->channel[h->n_channels++] = var->name;
	} else {
		d->classes++;
	}
}

/* The width decides: a range that does not fit it is part of the name. */
static bool place_vector(struct declaring *d, struct vcd_var *var, const char *ref, uint64_t offset)
{
	int msb = 0, lsb = 0;
	const char *range = parse_range(ref, &msb, &lsb);
	size_t base = range ? (size_t)(range - ref) : strlen(ref);

	if (range && (uint64_t)abs(msb - lsb) + 1 != var->width) {
		base = strlen(ref);
		msb = lsb = 0;
	}
	free(var->name);
	var->name = join(d->path, d->path_len, ref, base);
	if (!var->name || !choose_bits(d, var, ref, base, lsb, msb < lsb ? -1 : 1))
		return false;
	if (chosen(d, var->name)) {
		var->kind = VCD_VECTOR;
		place_record(d, var, var->width <= VCD_SAMPLE_BITS, offset);
	} else if (var->line) {
		var->kind = VCD_VECTOR;
		var->bits_only = true;
	} else {
		var->kind = VCD_LEFT_OUT;
	}
	return true;
}

static bool place(struct declaring *d, struct vcd_var *var, const char *ref, uint64_t offset)
{
	if (d->ours && var->kind == VCD_LINE && var->width == 1 && !strcmp(ref, "gap")) {
		var->kind = VCD_GAP_MARK;
		d->h->has_marks = true;
		return true;
	}
	if (var->kind == VCD_LINE && var->width > 1)
		return place_vector(d, var, ref, offset);
	if (var->kind == VCD_LINE && var->width)
		return place_line(d, var, ref);
	if (var->kind == VCD_LINE) {
		var->kind = VCD_LEFT_OUT;
		cvl_tally_add(&d->left_out, offset);
		return true;
	}
	var->name = join(d->path, d->path_len, ref, strlen(ref));
	if (!var->name)
		return false;
	place_record(d, var, var->kind == VCD_REAL, offset);
	return true;
}

static int parse_width(const struct vcd_word *w, unsigned *width)
{
	uint64_t n = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (w->s[i] < '0' || w->s[i] > '9')
			return CVL_E_SYNTAX;
		n = n * 10 + (uint64_t)(w->s[i] - '0');
		if (n > INT_MAX)
			return CVL_E_RANGE;
	}
	*width = (unsigned)n;
	return 0;
}

static int read_var(struct declaring *d, struct cvl_error *err)
{
	const char *name = cvl_input_name(d->words->in);
	struct vcd_header *h = d->h;
	struct vcd_var var = { 0 };
	uint32_t *slot;
	struct vcd_word w;
	char ref[PATH_MAX_BYTES];
	uint64_t offset;
	int rc;

	rc = vcd_section_word(d->words, &w, err);
	offset = w.offset;
	if (rc > 0) {
		var.kind = kind_of(&w);
		var.is_signed = has_sign(&w);
		rc = vcd_section_word(d->words, &w, err);
	}
	if (rc > 0) {
		rc = parse_width(&w, &var.width);
		if (rc)
			return cvl_fail(err, (enum cvl_code)rc, w.offset,
					"%s: invalid width \"%.*s\"", name,
					(int)(w.n < 20 ? w.n : 20), w.s);
		rc = vcd_section_word(d->words, &w, err);
	}
	if (rc < 0)
		return rc;
	if (!rc)
		return cvl_fail(err, CVL_E_SYNTAX, w.offset,
				"%s: a $var needs type, width, id and name", name);
	if (h->n_vars >= VARS_MAX)
		return cvl_fail(err, CVL_E_LIMIT, offset, "%s: more than %u variables", name,
				VARS_MAX);
	if (!make_room(h))
		goto no_memory;
	slot = id_slot(h, w.s, w.n);
	if (*slot) {
		struct vcd_var *known = &h->var[*slot - 1];

		if (known->kind != VCD_LEFT_OUT || var.kind != VCD_LINE || !d->words->opts->lines) {
			cvl_tally_add(&d->aliases, offset);
			return vcd_skip_section(d->words, err);
		}
		/* its other name was not selected; this one may be */
		known->kind = var.kind;
		rc = section_text(d->words, ref, sizeof(ref), err);
		return rc || place(d, known, ref, offset) ? rc : cvl_no_memory(err);
	}
	var.id = malloc(w.n);
	var.id_len = w.n;
	if (!var.id)
		goto no_memory;
	memcpy(var.id, w.s, w.n); /* not a string: damaged files have ids with a NUL in them */
	h->var[h->n_vars++] = var;
	*slot = (uint32_t)h->n_vars;
	rc = section_text(d->words, ref, sizeof(ref), err);
	if (rc)
		return rc;
	if (!ref[0])
		return cvl_fail(err, CVL_E_SYNTAX, offset, "%s: $var without a name", name);
	if (place(d, &h->var[h->n_vars - 1], ref, offset))
		return 0;
no_memory:
	return cvl_no_memory(err);
}

static int read_scope(struct declaring *d, struct cvl_error *err)
{
	uint64_t offset = vcd_offset(d->words);
	struct vcd_word w;
	size_t room;
	int rc = vcd_section_word(d->words, &w, err);

	if (rc < 0)
		return rc;
	/* the name, the '.' after it and the NUL */
	room = sizeof(d->path) - d->path_len;
	if (d->depth == DEPTH_MAX || room < 3)
		return cvl_fail(err, CVL_E_LIMIT, offset, "%s: scopes too deep",
				cvl_input_name(d->words->in));
	d->outer[d->depth++] = d->path_len;
	if (!rc)
		return 0;
	rc = section_text(d->words, d->path + d->path_len, room - 1, err);
	if (!rc && d->path[d->path_len]) {
		d->path_len += strlen(d->path + d->path_len);
		d->path[d->path_len++] = '.';
	}
	return rc;
}

static int read_version(struct declaring *d, struct cvl_error *err)
{
	struct vcd_word w;
	int rc = vcd_section_word(d->words, &w, err);

	if (rc <= 0)
		return rc;
	d->ours = vcd_word_is(&w, "coeval");
	return vcd_skip_section(d->words, err);
}

static int read_section(struct declaring *d, const struct vcd_word *w, struct cvl_error *err)
{
	if (vcd_word_is(w, "$var"))
		return read_var(d, err);
	if (vcd_word_is(w, "$version"))
		return read_version(d, err);
	if (vcd_word_is(w, "$scope"))
		return read_scope(d, err);
	if (vcd_word_is(w, "$upscope")) {
		if (!d->depth)
			return cvl_fail(err, CVL_E_SYNTAX, w->offset,
					"%s: $upscope outside of any scope",
					cvl_input_name(d->words->in));
		d->path_len = d->outer[--d->depth];
	} else if (vcd_word_is(w, "$timescale")) {
		d->timescale = true;
		return read_timescale(d->h, d->words, err);
	}
	return vcd_skip_section(d->words, err);
}

/* Report an anomaly, or fail if strict. */
static int odd(const struct declaring *d, const struct cvl_error *e, struct cvl_error *err)
{
	if (!d->words->opts->strict) {
		cvl_tell(d->words->opts->report, e);
		return 0;
	}
	if (err)
		*err = *e;
	return e->code;
}

/* An example of a glob: the first scope's lines, or that one line. */
static const char *example(char *line)
{
	char *dot = strrchr(line, '.');

	if (dot)
		strcpy(dot, dot[1] ? ".*" : "");
	return line;
}

static bool any_vector(const struct vcd_header *h)
{
	for (size_t i = 0; i < h->n_vars; i++)
		if (h->var[i].kind == VCD_VECTOR)
			return true;
	return false;
}

static int check(struct declaring *d, struct cvl_error *err)
{
	const char *name = cvl_input_name(d->words->in);
	struct cvl_error e;
	int rc = 0;

	if (!d->h->n_vars)
		return cvl_fail(err, CVL_E_MISSING, vcd_offset(d->words),
				"%s: no variables declared", name);
	if (!d->timescale) {
		d->h->rate_hz = 1000000000;
		d->h->ticks_per_unit = 1;
		cvl_fail(&e, CVL_OK, CVL_NO_OFFSET, "%s: no $timescale: ns assumed, as in GTKWave",
			 name);
		cvl_tell(d->words->opts->report, &e);
	}
	if (d->lines > CVL_LINES_MAX)
		return cvl_hint(
			err, CVL_HINT_LINES,
			cvl_fail(
				err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"%s: has %" PRIu64
				" digital lines%s, but a clock holds at most %d: select some of them, such as '%.60s'",
				name, d->lines, d->words->opts->lines ? " of those names" : "",
				CVL_LINES_MAX, example(d->h->line[0])));
	if (d->words->opts->lines && !d->h->n_lines && !any_vector(d->h))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"%s: unknown line or vector '%.100s'", name, d->words->opts->lines);
	if (!rc && d->left_out.n) {
		cvl_fail(
			&e, CVL_E_LIMIT, d->left_out.offset,
			"%s: %" PRIu64
			" variables ignored: a clock holds at most %d channels and %d event classes",
			name, d->left_out.n, CVL_CHANNELS_MAX, CLASSES_MAX);
		rc = odd(d, &e, err);
	}
	return rc;
}

static int read_sections(struct declaring *d, struct cvl_error *err)
{
	const char *name = cvl_input_name(d->words->in);
	bool first = true, last = false;
	struct vcd_word w;
	int rc;

	while (!last) {
		rc = vcd_word(d->words, &w, err);
		if (rc < 0)
			return rc;
		if (!rc)
			return cvl_fail(err, CVL_E_TRUNCATED, vcd_offset(d->words),
					"%s: the file ends before $enddefinitions", name);
		if (w.s[0] != '$')
			return cvl_fail(err, first ? CVL_E_MAGIC : CVL_E_SYNTAX, w.offset,
					"%s: expected a keyword, not \"%.*s\"", name,
					(int)(w.n < 20 ? w.n : 20), w.s);
		first = false;
		last = vcd_word_is(&w, "$enddefinitions");
		rc = read_section(d, &w, err);
		if (rc)
			return rc;
	}
	return 0;
}

int vcd_header_read(struct vcd_header *h, struct vcd_words *words, struct cvl_error *err)
{
	struct declaring d = { .h = h, .words = words };
	int rc = read_sections(&d, err);

	if (!rc)
		rc = check(&d, err);
	if (!rc)
		cvl_tally_tell(&d.aliases, words->opts, CVL_E_UNSUPPORTED,
			       cvl_input_name(words->in),
			       "duplicate names of variables; the first is kept");
	return rc;
}

void vcd_header_free(struct vcd_header *h)
{
	for (size_t i = 0; i < h->n_vars; i++) {
		free(h->var[i].id);
		free(h->var[i].name);
		free(h->var[i].text);
		free(h->var[i].last_text);
		free(h->var[i].line);
	}
	for (size_t i = 0; i < h->n_lines; i++)
		free(h->line[i]);
	free(h->var);
	free(h->slot);
}
