/* SPDX-License-Identifier: MIT */
/**
 * Description of a device whose frequency is to be chosen, from a YAML file (examples/devices/):
 * its settings under each policy of voltage scaling, and the energy of a cycle.
 */
#ifndef TASK_DEVICE_H
#define TASK_DEVICE_H

#include <coeval/error.h>

#include <stddef.h>

#include "swotrace/rules.h"

#define DEVICE_POINTS SWO_MODEL_POINTS
#define DEVICE_POLICIES 8
#define DEVICE_NAME 32

struct device_policy {
	char name[DEVICE_NAME];
	struct swo_point point[DEVICE_POINTS]; /* falling frequency */
	size_t n;                              /* at least 1 */
};

struct device {
	char name[DEVICE_NAME];
	double alpha_c;             /* F, mean over tasks */
	unsigned fixed_wait_states; /* without adaption */
	struct device_policy policy[DEVICE_POLICIES];
	size_t n; /* at least 1 */
};

/**
 * Read a device from @len bytes of YAML, called @name in messages. Returns 0; CVL_E_SYNTAX with the
 * byte offset of the error; CVL_E_LIMIT, CVL_E_NOMEM.
 */
int device_parse(struct device *d, const char *text, size_t len, const char *name,
		 struct cvl_error *err);
int device_load(struct device *d, const char *path, struct cvl_error *err);

/** The policy called @name, or the first if @name is NULL; NULL if unknown. */
const struct device_policy *device_policy(const struct device *d, const char *name);

/** The same for the rules: points into @policy. */
struct swo_device device_rules(const struct device *d, const struct device_policy *policy);

#endif
