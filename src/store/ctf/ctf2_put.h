/* SPDX-License-Identifier: MIT */
/** Metadata of CTF 2 for what CTF 1.8 metadata declares: the streams stay as they are. */
#ifndef STORE_CTF_CTF2_PUT_H
#define STORE_CTF_CTF2_PUT_H

#include <coeval/ctf.h>
#include <coeval/out.h>

/**
 * Write the metadata of @trace, which was read from TSDL, to @o. What CTF 2 cannot say is left out: clocks of fields
 * other than those of packets and event headers.
 */
void ctf2_put(struct cvl_out *o, const struct cvl_trace *trace);

#endif
