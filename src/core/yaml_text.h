/* SPDX-License-Identifier: MIT */
/** What readers of YAML share around libyaml. */
#ifndef YAML_TEXT_H
#define YAML_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yaml.h>

/**
 * Whether lists and mappings are nested deeper than @max. *@at: the byte where. What is no YAML is for libyaml to tell: false. To be asked
 * before libyaml builds anything of a text: its time grows with the square of the depth.
 */
bool yaml_deeper(const char *text, size_t n, unsigned max, size_t *at);

/** Text of a scalar without NUL in it; NULL if @n is NULL, or something else. */
const char *yaml_scalar(const yaml_node_t *n);

/** Byte of @text, of UTF-8 from byte @begin on, where character @mark is: libyaml's marks count characters. */
uint64_t yaml_byte(const char *text, size_t len, size_t begin, size_t mark);

#endif
