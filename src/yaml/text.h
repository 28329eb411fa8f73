/* SPDX-License-Identifier: MIT */
/** How deep a YAML text is nested, before libyaml builds anything of it: its time grows with the square of the depth. */
#ifndef CORE_NESTING_H
#define CORE_NESTING_H

#include <stdbool.h>
#include <stddef.h>

/** Whether lists and mappings are nested deeper than @max. *@at: the byte where. What is no YAML is for libyaml to tell: false. */
bool cvl_yaml_deeper(const char *text, size_t n, unsigned max, size_t *at);

#endif
