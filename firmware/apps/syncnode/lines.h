/* SPDX-License-Identifier: MIT */
/** Lines of text without a C library. What does not fit in a line is cut off. */
#ifndef COEVAL_SYNCNODE_LINES_H
#define COEVAL_SYNCNODE_LINES_H

#include <stdint.h>

#define LINES_BYTES 440

struct lines {
	char text[LINES_BYTES];
	unsigned n;
};

void lines_char(struct lines *l, char c);
void lines_text(struct lines *l, const char *s);
void lines_number(struct lines *l, int64_t v);

/** A blank unless the line is empty, @name, a blank, and the value. */
void lines_pair(struct lines *l, const char *name, int64_t value);
void lines_word(struct lines *l, const char *name, const char *value);

void lines_end(struct lines *l);

#endif
