/* SPDX-License-Identifier: MIT */
#include "analysis/freq/device.h"

#include <coeval/files.h>
#include "core/text.h"
#include "core/yaml_load.h"

#include <coeval/time.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* libyaml searches its anchors one by one. */
#define FILE_MAX (1u << 14)

struct reader {
	yaml_document_t doc;
	const char *text, *name;
	size_t len;
	struct device *device;
	struct cvl_error *err;
};

static uint64_t byte_offset(const struct reader *r, size_t mark)
{
	return yaml_byte(r->text, r->len, 0, mark);
}

static int bad(const struct reader *r, const yaml_node_t *at, const char *what)
{
	uint64_t offset = byte_offset(r, at ? at->start_mark.index : 0);

	return cvl_fail(r->err, CVL_E_SYNTAX, offset, "%s:%llu: %s", r->name,
			(unsigned long long)offset, what);
}

/* ---- values ---- */

static bool read_name(const char *s, void *out)
{
	size_t n = strlen(s);

	if (!n || n >= DEVICE_NAME)
		return false;
	for (const char *p = s; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return false;
	memcpy(out, s, n + 1);
	return true;
}

static bool read_alpha_c(const char *s, void *out)
{
	double *v = out;

	return !cvl_text_real(s, v) && *v >= 1e-15 && *v <= 2e-7;
}

static bool read_states(const char *s, void *out)
{
	char *end;
	unsigned long v = strtoul(s, &end, 10);

	if (!*s || s[strspn(s, "0123456789")] || v > 255)
		return false;
	*(uint32_t *)out = (uint32_t)v;
	return true;
}

static bool read_rate(const char *s, void *out)
{
	uint64_t hz;

	if (cvl_rate_parse(s, &hz) || hz < 1000 || hz > UINT32_MAX)
		return false;
	*(uint32_t *)out = (uint32_t)hz;
	return true;
}

static bool read_volt(const char *s, void *out)
{
	double v;

	if (cvl_text_real(s, &v) || !(v >= 0.1 && v <= 10))
		return false;
	*(uint32_t *)out = (uint32_t)(v * 1000 + 0.5);
	return true;
}

static bool read_static(const char *s, void *out)
{
	double v;

	if (cvl_text_real(s, &v) || !(v >= 0 && v <= 100000))
		return false;
	*(uint32_t *)out = (uint32_t)(v * 1000 + 0.5);
	return true;
}

/* A key of a mapping: a scalar read into its field, or (without @read) a list that is read elsewhere. */
struct key {
	const char *name;
	bool (*read)(const char *s, void *out);
	size_t offset;
	const char *says;
};

static const struct key point_keys[] = {
	{ "frequency", read_rate, offsetof(struct swo_point, hz),
	  "`frequency` must be from 1 kHz to 4 GHz, such as 80MHz" },
	{ "volt", read_volt, offsetof(struct swo_point, millivolt),
	  "`volt` must be a number from 0.1 to 10" },
	{ "wait_states", read_states, offsetof(struct swo_point, wait_states),
	  "`wait_states` must be a whole number up to 255" },
	{ "static_mw", read_static, offsetof(struct swo_point, static_uw),
	  "`static_mw` must be a number from 0 to 100000" },
	{ 0 },
};

static const struct key policy_keys[] = {
	{ "name", read_name, offsetof(struct device_policy, name),
	  "`name` must be text of up to 31 bytes" },
	{ "points", NULL, 0,
	  "`points` must be a list of 1 to 8 settings, highest frequency first" },
	{ 0 },
};

static const struct key device_keys[] = {
	{ "name", read_name, offsetof(struct device, name),
	  "`name` must be text of up to 31 bytes" },
	{ "alpha_c", read_alpha_c, offsetof(struct device, alpha_c),
	  "`alpha_c` must be in farad, from 1e-15 to 2e-7, such as 3.9e-10" },
	{ "fixed_wait_states", read_states, offsetof(struct device, fixed_wait_states),
	  "`fixed_wait_states` must be a whole number up to 255" },
	{ "policies", NULL, 0, "`policies` must be a list of 1 to 8 policies" },
	{ 0 },
};

/* All keys must be there. @list: the node of the key without a scalar, if there is one. */
static int read_map(struct reader *r, const yaml_node_t *node, const struct key *keys,
		    const char *says, void *base, const yaml_node_t **list)
{
	unsigned seen = 0;

	if (node->type != YAML_MAPPING_NODE)
		return bad(r, node, says);
	for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top;
	     p++) {
		const yaml_node_t *name = yaml_document_get_node(&r->doc, p->key);
		const yaml_node_t *value = yaml_document_get_node(&r->doc, p->value);
		const char *word = yaml_scalar(name), *s = yaml_scalar(value);
		size_t k = 0;

		while (word && keys[k].name && strcmp(word, keys[k].name))
			k++;
		if (!word || !keys[k].name || seen >> k & 1)
			return bad(r, name, says);
		seen |= 1u << k;
		if (keys[k].read ? !s || !keys[k].read(s, (char *)base + keys[k].offset) :
				   value->type != YAML_SEQUENCE_NODE)
			return bad(r, value, keys[k].says);
		if (!keys[k].read)
			*list = value;
	}
	for (size_t k = 0; keys[k].name; k++)
		if (!(seen >> k & 1))
			return bad(r, node, says);
	return 0;
}

static int read_policy(struct reader *r, const yaml_node_t *node, struct device_policy *p)
{
	const yaml_node_t *points = NULL;
	int rc = read_map(r, node, policy_keys, "a policy has name and points, each once", p,
			  &points);

	if (rc)
		return rc;
	for (yaml_node_item_t *i = points->data.sequence.items.start;
	     i < points->data.sequence.items.top; i++) {
		const yaml_node_t *item = yaml_document_get_node(&r->doc, *i);

		if (p->n == DEVICE_POINTS)
			return bad(r, item, policy_keys[1].says);
		rc = read_map(r, item, point_keys,
			      "a point has frequency, volt, wait_states and static_mw, each once",
			      &p->point[p->n], NULL);
		if (rc)
			return rc;
		if (p->n && p->point[p->n].hz >= p->point[p->n - 1].hz)
			return bad(
				r, item,
				"points must be listed from the highest frequency to the lowest");
		p->n++;
	}
	return p->n ? 0 : bad(r, points, policy_keys[1].says);
}

static int read_device(void *reader)
{
	struct reader *r = reader;
	struct device *d = r->device;
	const yaml_node_t *root = yaml_document_get_root_node(&r->doc), *policies = NULL;
	const char *says = "a device has name, alpha_c, fixed_wait_states and policies, each once";
	int rc = root ? read_map(r, root, device_keys, says, d, &policies) : bad(r, NULL, says);

	if (rc)
		return rc;
	for (yaml_node_item_t *i = policies->data.sequence.items.start;
	     i < policies->data.sequence.items.top; i++) {
		const yaml_node_t *item = yaml_document_get_node(&r->doc, *i);

		if (d->n == DEVICE_POLICIES)
			return bad(r, item, device_keys[3].says);
		rc = read_policy(r, item, &d->policy[d->n]);
		if (rc)
			return rc;
		if (device_policy(d, d->policy[d->n].name))
			return bad(r, item, "two policies have the same name");
		d->n++;
	}
	return d->n ? 0 : bad(r, policies, device_keys[3].says);
}

static int broken(void *reader, const yaml_parser_t *parser)
{
	const struct reader *r = reader;
	uint64_t at;

	if (parser->error == YAML_MEMORY_ERROR)
		return cvl_no_memory(r->err);
	at = parser->error == YAML_READER_ERROR ? parser->problem_offset :
						  byte_offset(r, parser->problem_mark.index);
	return cvl_fail(r->err, CVL_E_SYNTAX, at, "%s:%llu: %s", r->name, (unsigned long long)at,
			parser->problem ? parser->problem : "not YAML");
}

static int more(void *reader, const yaml_node_t *root)
{
	return bad(reader, root, "more than one document; a file is one device");
}

int device_parse(struct device *d, const char *text, size_t len, const char *name,
		 struct cvl_error *err)
{
	struct reader r = { .text = text, .len = len, .name = name, .device = d, .err = err };
	const struct yaml_one how = { .doc = &r.doc,
				      .encoding = YAML_UTF8_ENCODING,
				      .read = read_device,
				      .broken = broken,
				      .more = more };

	*d = (struct device){ 0 };
	if (len > FILE_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"%s: longer than %u bytes, which no device is", name, FILE_MAX);
	return yaml_one_read(&how, &r, text, len, err);
}

int device_load(struct device *d, const char *path, struct cvl_error *err)
{
	struct cvl_error own;
	size_t n;
	char *text = cvl_read_whole(path, FILE_MAX, &n, err ? err : &own);
	int rc = text ? device_parse(d, text, n, path, err) : (int)(err ? err : &own)->code;

	free(text);
	return rc;
}

const struct device_policy *device_policy(const struct device *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (!name || !strcmp(d->policy[i].name, name))
			return &d->policy[i];
	return NULL;
}

struct swo_device device_rules(const struct device *d, const struct device_policy *policy)
{
	return (struct swo_device){
		.point = policy->point,
		.n = (uint32_t)policy->n,
		.alpha_c_ff = (uint32_t)(d->alpha_c * 1e15 + 0.5),
	};
}
