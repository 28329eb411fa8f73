/* SPDX-License-Identifier: MIT */
/**
 * The radio's settings for a node that sends, from what firmware/lib/radio computes for all radios
 * of a site.
 */
#ifndef COEVAL_SYNCNODE_SETTINGS_H
#define COEVAL_SYNCNODE_SETTINGS_H

#include "radio.h"

#include "radio/cc1101_config.h"

#define SETTINGS_MAX (CC1101_REGS + 1)

/**
 * Fill @out, SETTINGS_MAX of room. GDO0 is high while a packet leaves, to be measured. Returns how
 * many.
 */
unsigned settings_from(struct radio_setting *out, const struct cc1101_config *config);

#endif
