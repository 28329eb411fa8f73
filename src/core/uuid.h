/* SPDX-License-Identifier: MIT */
/** Random (version 4) UUIDs, RFC 4122. */
#ifndef CORE_UUID_H
#define CORE_UUID_H

#include <stdbool.h>
#include <stdint.h>

#define CVL_UUID_TEXT 37

void cvl_uuid_random(uint8_t uuid[16]);
void cvl_uuid_text(const uint8_t uuid[16], char out[CVL_UUID_TEXT]);
/** Parse the UUID @text, with hyphens anywhere. */
bool cvl_uuid_parse(const char *text, uint8_t uuid[16]);

#endif
