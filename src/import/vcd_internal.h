/* SPDX-License-Identifier: MIT */
/**
 * Shared by the halves of the VCD importer: words of the text, and the variables declared in the
 * header.
 */
#ifndef VCD_INTERNAL_H
#define VCD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/store.h>

#include "input.h"

/** A word between blanks; valid until the next one is read. */
struct vcd_word {
	const char *s;
	size_t n;
	uint64_t offset;
	bool ended; /* a blank follows; false: the input ends here, possibly inside the word */
};

struct vcd_words {
	struct cvl_input *in;
	const struct cvl_import_opts *opts;
	const char *bytes;
	size_t n;  /* bytes available */
	size_t at; /* bytes read */
};

/** Next word: 1, 0 at the end, or a negative code. */
int vcd_word(struct vcd_words *words, struct vcd_word *w, struct cvl_error *err);
bool vcd_word_is(const struct vcd_word *w, const char *text);
/** Offset of the first unread byte. */
uint64_t vcd_offset(const struct vcd_words *words);
/**
 * Next word of a section: 1, 0 at its $end, or a negative code (CVL_E_TRUNCATED if there is none).
 */
int vcd_section_word(struct vcd_words *words, struct vcd_word *w, struct cvl_error *err);
/** Skip up to the next $end; CVL_E_TRUNCATED if there is none. */
int vcd_skip_section(struct vcd_words *words, struct cvl_error *err);

enum vcd_kind {
	VCD_LINE,
	/*
	 * several bits, a number: a channel, or events with its value as text if too wide for a
	 * sample
	 */
	VCD_VECTOR,
	VCD_REAL,
	VCD_EVENT,
	VCD_STRING,
	VCD_GAP_MARK, /* 1 while nothing is known; value in `times` */
	VCD_LEFT_OUT, /* declared, but not selected or without room */
};

#define VCD_BITS 64 /* lowest bits of a vector that may be lines */
#define VCD_NO_LINE UINT8_MAX
/** Bits that a sample can hold exactly. */
#define VCD_SAMPLE_BITS 53

struct vcd_var {
	enum vcd_kind kind;
	unsigned first; /* its line, its channel, or its event class */
	unsigned width; /* bits */
	bool is_signed;
	bool bits_only; /* only bits of it were selected */
	uint8_t *line;  /* of a vector: the line of each of its lowest bits; NULL: none */
	char *id;
	size_t id_len;
	char *name; /* NULL once it is not needed */
	/* Its changes at the current time; kept here until the time advances. */
	uint64_t times;
	double real;
	char *text;
	/* Of a vector: the value stored last. */
	bool stored;
	double last;
	char *last_text;
};

struct vcd_header {
	uint64_t rate_hz;
	uint64_t ticks_per_unit; /* more than 1 if the timescale is longer than a second */
	struct vcd_var *var;
	size_t n_vars, max_vars;
	uint32_t *slot; /* hash table of ids: index of a variable plus 1, 0: free */
	size_t n_slots; /* a power of two, at least twice n_vars */
	char *line[CVL_LINES_MAX];
	size_t n_lines; /* up to CVL_LINES_MAX; further ones are only counted */
	const char *channel[CVL_CHANNELS_MAX]; /* names of the variables */
	size_t n_channels;
	bool has_marks;
};

/** Read up to and including $enddefinitions. @h must be zero, and be freed in any case. */
int vcd_header_read(struct vcd_header *h, struct vcd_words *words, struct cvl_error *err);
void vcd_header_free(struct vcd_header *h);
/** The variable with this id, or NULL. */
struct vcd_var *vcd_header_find(const struct vcd_header *h, const char *id, size_t n);

#endif
