/* SPDX-License-Identifier: MIT */
/**
 * The options of a synchronisation as stored in sync.json, so that it can be repeated: one function
 * each way (cvl_sync_recall() of coeval/sync.h reads them). For matching rules see rules_json.h.
 */
#ifndef SYNC_SETTINGS_H
#define SYNC_SETTINGS_H

#include <coeval/sync.h>

#include <jansson.h>

/** The pulse rules, a new list. */
json_t *settings_pulses(const struct cvl_sync_opts *opts);

/** The options other than rules (limits, reference) as given. A new object. */
json_t *settings_asked(const struct cvl_sync_opts *opts);

#endif
