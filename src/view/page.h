/* SPDX-License-Identifier: MIT */
/** The files of the page, as the build puts them into the library. */
#ifndef VIEW_PAGE_H
#define VIEW_PAGE_H

#include <stddef.h>

struct page_file {
	const char *url, *type;
	const unsigned char *bytes;
	const size_t *n;
};

/** URLs of the modules, those that use others after them; then NULL. */
extern const char *const page_modules[];

/** NULL: there is none. */
const struct page_file *page_find(const char *url);

extern const unsigned char view_html[], view_css[], view_main_js[], view_data_js[], view_draw_js[],
	view_lanes_js[], view_panel_js[], view_time_js[];
extern const size_t view_html_bytes, view_css_bytes, view_main_js_bytes, view_data_js_bytes,
	view_draw_js_bytes, view_lanes_js_bytes, view_panel_js_bytes, view_time_js_bytes;

#endif
