/* SPDX-License-Identifier: MIT */
/** page.html, as the build puts it into the program. */
#ifndef CLI_CALLS_PAGE_H
#define CLI_CALLS_PAGE_H

#include <stddef.h>

extern const unsigned char calls_page[];
extern const size_t calls_page_bytes;

#endif
