/* SPDX-License-Identifier: MIT */
/** What `coeval task freq` tells, as text and JSON. */
#ifndef CLI_TASK_FREQ_VIEW_H
#define CLI_TASK_FREQ_VIEW_H

#include <coeval/freq.h>
#include <coeval/out.h>

/** One set of tasks; the choices as far as there are any. */
void freq_text(struct cvl_out *o, const struct cvl_freq_result *r);
void freq_json(struct cvl_out *o, const struct cvl_freq_result *r);

/** Several; @r: any of them, for the names. */
void freq_tally_text(struct cvl_out *o, const struct cvl_freq_tally *t,
		     const struct cvl_freq_result *r);
void freq_tally_json(struct cvl_out *o, const struct cvl_freq_tally *t,
		     const struct cvl_freq_result *r);

#endif
