/* SPDX-License-Identifier: MIT */
/** calls_page.html, as the build puts it into the library. */
#ifndef REPORT_CALLS_PAGE_H
#define REPORT_CALLS_PAGE_H

#include <stddef.h>

extern const unsigned char calls_page[];
extern const size_t calls_page_bytes;

#endif
