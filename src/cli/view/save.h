/* SPDX-License-Identifier: MIT */
/** A page with its data, as a file. */
#ifndef CLI_VIEW_SAVE_H
#define CLI_VIEW_SAVE_H

#include <coeval/view.h>

/** Write @path once it is whole. As cvl_view_save(), or CVL_E_IO. */
int view_save(const char *path, struct cvl_session *session, const struct cvl_view_save_opts *opts,
	      struct cvl_view_saved *saved, struct cvl_error *err);

/** Say what was left out, if anything was. */
void view_save_tell(const char *path, const struct cvl_view_saved *saved);

#endif
