/* SPDX-License-Identifier: MIT */
/**
 * Matching rules as stored in sync.json: the rules themselves, not the path they were read from, as
 * a file may change.
 */
#ifndef SYNC_RULES_JSON_H
#define SYNC_RULES_JSON_H

#include <jansson.h>

#include "sync/rules.h"

/** A new list of them. */
json_t *rules_json(const struct rule_set *rules);

/**
 * Add to @set the rules that @settings (of a struct cvl_sync; may be NULL) were made with.
 * CVL_E_SYNTAX if any cannot be read.
 */
int rules_recall(struct rule_set *set, const char *settings, struct cvl_error *err);

#endif
