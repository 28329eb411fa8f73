/* SPDX-License-Identifier: MIT */
/** The text of examples/worlds/nominal.yaml, put in by the build. */
#ifndef SIMBED_WORLD_TEXT_H
#define SIMBED_WORLD_TEXT_H

#include <stddef.h>

extern const unsigned char world_text[];
extern const size_t world_text_bytes;

#endif
