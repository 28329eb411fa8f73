/* SPDX-License-Identifier: MIT */
#include "analysis/freq/device.h"

#include "core/config.h"
#include "core/text.h"

#include <coeval/time.h>

#include <string.h>

static bool take_rate(const char *s, void *out)
{
	uint64_t hz;

	if (cvl_rate_parse(s, &hz) || hz < 1000 || hz > UINT32_MAX)
		return false;
	*(uint32_t *)out = (uint32_t)hz;
	return true;
}

static bool take_thousandths(const char *s, double min, double max, uint32_t *out)
{
	double v;

	if (cvl_text_real(s, &v) || !(v >= min && v <= max))
		return false;
	*out = (uint32_t)(v * 1000 + 0.5);
	return true;
}

static bool take_volt(const char *s, void *out)
{
	return take_thousandths(s, 0.1, 10, out);
}

static bool take_milliwatt(const char *s, void *out)
{
	return take_thousandths(s, 0, 100000, out);
}

#define AT(owner, member) .offset = offsetof(struct owner, member), .must = true
#define NAME .min = 1, .max = DEVICE_NAME - 1, .is = config_is_line

static const struct config_key point_keys[] = {
	{ "frequency", CONFIG_OWN, AT(swo_point, hz), .take = take_rate,
	  .what = "a rate from 1 kHz to 4 GHz, such as 80MHz" },
	{ "volt", CONFIG_OWN, AT(swo_point, millivolt), .take = take_volt,
	  .what = "a number from 0.1 to 10" },
	{ "wait_states", CONFIG_UNSIGNED, AT(swo_point, wait_states), .max = 255 },
	{ "static_mw", CONFIG_OWN, AT(swo_point, static_uw), .take = take_milliwatt,
	  .what = "a number from 0 to 100000" },
	{ 0 },
};
static const struct config_shape point_shape = { .what = "a point",
						 .key = point_keys,
						 .size = sizeof(struct swo_point) };

static int end_policy(struct config *c, void *to)
{
	const struct device_policy *p = to;

	for (size_t i = 1; i < p->n; i++)
		if (p->point[i].hz >= p->point[i - 1].hz)
			return config_fail_in(
				c, &p->point[i], CVL_E_SYNTAX,
				"points must be listed from the highest frequency to the lowest");
	return 0;
}

static const struct config_key policy_keys[] = {
	{ "name", CONFIG_CHARS, AT(device_policy, name), NAME },
	{ "points", CONFIG_MAP, AT(device_policy, point), .shape = &point_shape,
	  .many = CONFIG_LIST, .inside = true, .length = offsetof(struct device_policy, n),
	  .least = 1, .most = DEVICE_POINTS },
	{ 0 },
};
static const struct config_shape policy_shape = { .what = "a policy",
						  .key = policy_keys,
						  .size = sizeof(struct device_policy),
						  .end = end_policy };

static int end_device(struct config *c, void *to)
{
	const struct device *d = to;

	for (size_t i = 0; i < d->n; i++)
		if (device_policy(d, d->policy[i].name) != &d->policy[i])
			return config_fail_in(c, &d->policy[i], CVL_E_SYNTAX,
					      "two policies have the same name");
	return 0;
}

static const struct config_key device_keys[] = {
	{ "name", CONFIG_CHARS, AT(device, name), NAME },
	{ "alpha_c", CONFIG_REAL, AT(device, alpha_c), .min = 1e-15, .max = 2e-7,
	  .what = "in farad, from 1e-15 to 2e-7, such as 3.9e-10" },
	{ "fixed_wait_states", CONFIG_UNSIGNED, AT(device, fixed_wait_states), .max = 255 },
	{ "policies", CONFIG_MAP, AT(device, policy), .shape = &policy_shape, .many = CONFIG_LIST,
	  .inside = true, .length = offsetof(struct device, n), .least = 1,
	  .most = DEVICE_POLICIES },
	{ 0 },
};
static const struct config_shape device_shape = {
	.what = "a device", .key = device_keys, .size = sizeof(struct device), .end = end_device
};

static const struct config_key root = { .type = CONFIG_MAP, .shape = &device_shape };

int device_parse(struct device *d, const char *text, size_t len, const char *name,
		 struct cvl_error *err)
{
	const struct config_source source = { .file = name, .root = &root, .to = d };

	*d = (struct device){ 0 };
	return config_parse(&source, text, len, err);
}

int device_load(struct device *d, const char *path, struct cvl_error *err)
{
	const struct config_source source = { .file = path, .root = &root, .to = d };

	*d = (struct device){ 0 };
	return config_load(&source, err);
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
