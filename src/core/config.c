/* SPDX-License-Identifier: MIT */
/* Configuration text: one document, as a tree whose nodes know their position. */
#include "core/config_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include <coeval/files.h>

/* ---- memory ---- */

#define CHUNK 8192

struct config_memory {
	struct config_memory *next;
	size_t used, size;
	max_align_t bytes[];
};

void *config_alloc(struct config_memory **memory, size_t n)
{
	const size_t unit = sizeof(max_align_t);
	struct config_memory *m = *memory;
	void *p;

	n = (n + unit) / unit * unit; /* never zero */
	if (!m || m->size - m->used < n) {
		size_t size = n > CHUNK ? n : CHUNK;

		m = calloc(1, sizeof(*m) + size);
		if (!m)
			return NULL;
		*m = (struct config_memory){ .next = *memory, .size = size };
		*memory = m;
	}
	p = (char *)m->bytes + m->used;
	m->used += n;
	return p;
}

void config_free(struct config_memory **memory)
{
	while (*memory) {
		struct config_memory *next = (*memory)->next;

		free(*memory);
		*memory = next;
	}
}

/* ---- errors ---- */

static struct config_mark find_line(const struct config *c, size_t at)
{
	struct config_mark m = { 1, 1 };

	for (size_t i = 0; i < at && i < c->len; i++) {
		char b = c->text[i];

		if (b == '\n' || (b == '\r' && (i + 1 == c->len || c->text[i + 1] != '\n'))) {
			m.line++;
			m.column = 1;
		} else if (((unsigned char)b & 0xc0) != 0x80 && b != '\r') {
			m.column++;
		}
	}
	return m;
}

static int complain(const struct config *c, enum cvl_code code, size_t at, const char *fmt,
		    va_list ap)
{
	char text[CVL_ERROR_TEXT];
	const struct config_mark m = find_line(c, at);

	vsnprintf(text, sizeof(text), fmt, ap);
	return cvl_fail(c->err, code, at, "%s:%u:%u: %s", c->source->file, m.line, m.column, text);
}

int config_bad(const struct config *c, enum cvl_code code, size_t at, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = complain(c, code, at, fmt, ap);
	va_end(ap);
	return rc;
}

int config_no_memory(const struct config *c)
{
	return cvl_no_memory(c->err);
}

/* A value is recorded after its mapping, and a mapping after the enclosing one. */
static const struct config_node *node_of_field(const struct config *c, const void *field)
{
	const char *at = field;

	for (size_t i = c->n_places; i-- > 0;) {
		const struct config_place *p = &c->place[i];
		const char *begin = p->field;

		if (p->size ? at >= begin && at < begin + p->size : at == begin)
			return p->node;
	}
	return c->root;
}

static const struct config_node *node_of_entry(const struct config *c, const void *entry)
{
	for (size_t i = 0; i < c->n_places; i++)
		if (c->place[i].size && c->place[i].field == entry)
			return c->place[i].node;
	return c->root;
}

int config_fail(const struct config *c, const void *field, enum cvl_code code, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = complain(c, code, node_of_field(c, field)->at, fmt, ap);
	va_end(ap);
	return rc;
}

int config_fail_in(const struct config *c, const void *entry, enum cvl_code code, const char *fmt,
		   ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = complain(c, code, node_of_entry(c, entry)->at, fmt, ap);
	va_end(ap);
	return rc;
}

struct config_mark config_mark(const struct config *c, const void *field)
{
	return node_of_field(c, field)->mark;
}

struct config_mark config_mark_in(const struct config *c, const void *entry)
{
	return node_of_entry(c, entry)->mark;
}

void *config_user(const struct config *c)
{
	return c->source->user;
}

struct config_memory **config_memory(struct config *c)
{
	return c->source->memory;
}

/* ---- from events to a tree ---- */

struct anchor {
	const char *name;
	const struct config_node *node;
};

struct builder {
	struct config *c;
	yaml_parser_t parser;
	size_t begin;    /* text begins after a byte order mark */
	size_t at, mark; /* a byte and its index in characters, to continue counting from */
	struct anchor anchor[CONFIG_ANCHORS_MAX];
	size_t n_anchors;
};

/* libyaml counts characters. Marks mostly increase. */
static size_t byte_of(struct builder *b, size_t mark)
{
	const struct config *c = b->c;

	if (mark < b->mark) {
		b->mark = 0;
		b->at = b->begin;
	}
	for (; b->at < c->len && b->mark < mark; b->mark++) {
		b->at++;
		while (b->at < c->len && ((unsigned char)c->text[b->at] & 0xc0) == 0x80)
			b->at++;
	}
	return b->at;
}

static int next_event(struct builder *b, yaml_event_t *e)
{
	const yaml_parser_t *p = &b->parser;
	const char *problem, *hint = "";

	if (yaml_parser_parse(&b->parser, e))
		return 0;
	if (p->error == YAML_MEMORY_ERROR)
		return cvl_no_memory(b->c->err);
	problem = p->problem ? p->problem : "not YAML";
	if (p->context && (strstr(p->context, "alias") || strstr(p->context, "anchor")))
		hint = "; put quotes around what begins with * or &";
	return config_bad(b->c, CVL_E_SYNTAX,
			  p->error == YAML_READER_ERROR ? b->begin + p->problem_offset :
							  byte_of(b, p->problem_mark.index),
			  "%s%s", problem, hint);
}

static char *copy(struct builder *b, const yaml_char_t *text, size_t n)
{
	char *to = config_alloc(&b->c->scratch, n + 1);

	if (to && n)
		memcpy(to, text, n);
	return to;
}

static int add_anchor(struct builder *b, const yaml_char_t *name, const struct config_node *node)
{
	struct anchor *a = &b->anchor[b->n_anchors];

	if (!name)
		return 0;
	if (b->n_anchors == CONFIG_ANCHORS_MAX)
		return config_bad(b->c, CVL_E_LIMIT, node->at, "more than %d anchors",
				  CONFIG_ANCHORS_MAX);
	a->name = copy(b, name, strlen((const char *)name));
	a->node = node;
	b->n_anchors++;
	return a->name ? 0 : cvl_no_memory(b->c->err);
}

/* The target of an alias stays in its own list, too: copy its head. */
static int find_alias(struct builder *b, const char *name, struct config_node *node)
{
	for (size_t i = b->n_anchors; i-- > 0;)
		if (!strcmp(b->anchor[i].name, name)) {
			*node = *b->anchor[i].node;
			node->next = NULL;
			return 0;
		}
	return config_bad(
		b->c, CVL_E_SYNTAX, node->at,
		"alias of an unknown anchor '%.40s'; put quotes around what begins with * or &",
		name);
}

static int build(struct builder *b, const yaml_event_t *e, unsigned depth,
		 struct config_node **out);

/* An anchor is valid only after its node ends, so nothing can contain itself. */
static int build_children(struct builder *b, struct config_node *node, unsigned depth)
{
	const bool map = node->kind == NODE_MAP;
	struct config_node **last = &node->first;
	size_t n = 0;
	int rc;

	for (;; n++) {
		yaml_event_t e;
		bool end;

		rc = next_event(b, &e);
		if (rc)
			return rc;
		end = e.type == YAML_MAPPING_END_EVENT || e.type == YAML_SEQUENCE_END_EVENT;
		if (!end)
			rc = build(b, &e, depth + 1, last);
		yaml_event_delete(&e);
		if (rc || end)
			break;
		last = &(*last)->next;
	}
	node->n = map ? n / 2 : n;
	return rc;
}

static int build(struct builder *b, const yaml_event_t *e, unsigned depth, struct config_node **out)
{
	struct config *c = b->c;
	const size_t at = byte_of(b, e->start_mark.index);
	struct config_node *node = config_alloc(&c->scratch, sizeof(*node));
	const yaml_char_t *anchor = NULL;
	int rc = 0;

	if (!node)
		return cvl_no_memory(c->err);
	*out = node;
	node->at = at;
	node->mark = (struct config_mark){ (unsigned)e->start_mark.line + 1,
					   (unsigned)e->start_mark.column + 1 };
	if (depth > CONFIG_DEPTH_MAX)
		return config_bad(c, CVL_E_LIMIT, at, "nested deeper than %d", CONFIG_DEPTH_MAX);
	if (++c->n_nodes > CONFIG_NODES_MAX)
		return config_bad(c, CVL_E_LIMIT, at, "more than %d values", CONFIG_NODES_MAX);
	switch (e->type) {
	case YAML_ALIAS_EVENT: return find_alias(b, (const char *)e->data.alias.anchor, node);
	case YAML_SCALAR_EVENT:
		node->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
		if (!memchr(e->data.scalar.value, '\0', e->data.scalar.length)) {
			node->text = copy(b, e->data.scalar.value, e->data.scalar.length);
			rc = node->text ? 0 : cvl_no_memory(c->err);
		}
		anchor = e->data.scalar.anchor;
		break;
	case YAML_SEQUENCE_START_EVENT:
		node->kind = NODE_LIST;
		anchor = e->data.sequence_start.anchor;
		rc = build_children(b, node, depth);
		break;
	default:
		node->kind = NODE_MAP;
		anchor = e->data.mapping_start.anchor;
		rc = build_children(b, node, depth);
		break;
	}
	return rc ? rc : add_anchor(b, anchor, node);
}

static int build_documents(struct builder *b)
{
	unsigned documents = 0;
	bool end = false;
	int rc = 0;

	while (!rc && !end) {
		yaml_event_t e;

		rc = next_event(b, &e);
		if (rc)
			break;
		end = e.type == YAML_STREAM_END_EVENT;
		if (e.type == YAML_DOCUMENT_START_EVENT && ++documents > 1)
			rc = config_bad(b->c, CVL_E_SYNTAX, byte_of(b, e.start_mark.index),
					"more than one document; use a list for several of a kind");
		else if (e.type != YAML_STREAM_START_EVENT && e.type != YAML_DOCUMENT_START_EVENT &&
			 e.type != YAML_DOCUMENT_END_EVENT && !end)
			rc = build(b, &e, 0, &b->c->root);
		yaml_event_delete(&e);
	}
	return rc;
}

static int build_tree(struct config *c)
{
	struct builder b = { .c = c };
	int rc;

	if (c->len >= 3 && !memcmp(c->text, "\xef\xbb\xbf", 3))
		b.at = b.begin = 3;
	if (!yaml_parser_initialize(&b.parser))
		return cvl_no_memory(c->err);
	/* UTF-16 has other offsets, and is not used */
	yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&b.parser, (const unsigned char *)c->text + b.begin,
				     c->len - b.begin);
	rc = build_documents(&b);
	yaml_parser_delete(&b.parser);
	return rc;
}

int config_parse(const struct config_source *source, const char *text, size_t n,
		 struct cvl_error *err)
{
	struct cvl_error own;
	struct config c = { .source = source, .text = text, .len = n, .err = err ? err : &own };
	int rc;

	if (n > CONFIG_BYTES_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: longer than %u bytes",
				source->file, CONFIG_BYTES_MAX);
	rc = build_tree(&c);
	if (!rc)
		rc = config_read_root(&c);
	config_free(&c.scratch);
	free(c.place);
	return rc;
}

int config_load(const struct config_source *source, struct cvl_error *err)
{
	struct cvl_error own;
	size_t n;
	char *text = cvl_read_whole(source->file, CONFIG_BYTES_MAX, &n, err ? err : &own);
	int rc = text ? config_parse(source, text, n, err) : (int)(err ? err : &own)->code;

	free(text);
	return rc;
}
