/* SPDX-License-Identifier: MIT */
#include "view/page.h"

#include <string.h>

const char *const page_modules[] = { "/time.js", "/data.js", "/lanes.js", "/panel.js",
				     "/draw.js", "/main.js", NULL };

const struct page_file *page_find(const char *url)
{
	static const char script[] = "text/javascript; charset=utf-8";
	static const struct page_file files[] = {
		{ "/", "text/html; charset=utf-8", view_html, &view_html_bytes },
		{ "/view.css", "text/css; charset=utf-8", view_css, &view_css_bytes },
		{ "/main.js", script, view_main_js, &view_main_js_bytes },
		{ "/data.js", script, view_data_js, &view_data_js_bytes },
		{ "/draw.js", script, view_draw_js, &view_draw_js_bytes },
		{ "/lanes.js", script, view_lanes_js, &view_lanes_js_bytes },
		{ "/panel.js", script, view_panel_js, &view_panel_js_bytes },
		{ "/time.js", script, view_time_js, &view_time_js_bytes },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!strcmp(url, files[i].url))
			return &files[i];
	return NULL;
}
