/* SPDX-License-Identifier: MIT */
/**
 * The options of a synchronisation as sync.json keeps them, so that it can be done again: one
 * function each way (cvl_sync_recall() of coeval/sync.h reads them). Matching rules are kept by
 * rules_json.h.
 */
#ifndef SYNC_SETTINGS_H
#define SYNC_SETTINGS_H

#include <coeval/sync.h>

#include <jansson.h>

/** The pulse rules, a new list. */
json_t *settings_pulses(const struct cvl_sync_opts *opts);

/** What was asked for beside rules: limits and a reference, as far as any were. A new object. */
json_t *settings_asked(const struct cvl_sync_opts *opts);

#endif
