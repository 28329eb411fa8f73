/* SPDX-License-Identifier: MIT */
/** User keys of NATS ("nkeys"): Ed25519, as text with a checksum (github.com/nats-io/nkeys). */
#ifndef UPLINK_NKEY_H
#define UPLINK_NKEY_H

#include <stdbool.h>

#define NKEY_SEED_TEXT 59   /* "SU...", and NUL */
#define NKEY_PUBLIC_TEXT 57 /* "U...", and NUL */

/** A new one. False: no random numbers are to be had. */
bool nkey_new(char seed[NKEY_SEED_TEXT]);

/** The public key of @seed; false if it is not a user's seed. */
bool nkey_public(const char *seed, char text[NKEY_PUBLIC_TEXT]);

#endif
