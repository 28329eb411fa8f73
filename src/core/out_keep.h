/* SPDX-License-Identifier: MIT */
/** Output in parts: several threads write to memory, and one puts it together. */
#ifndef CORE_OUT_KEEP_H
#define CORE_OUT_KEEP_H

#include <coeval/out.h>

/** Keep what is written in memory; @plain: as text for people. Free o->kept at the end. */
void out_keep(struct cvl_out *o, bool plain);

/** Write all that @part keeps after what was written to @o, as it is, and empty @part. */
void out_join(struct cvl_out *o, struct cvl_out *part);

#endif
