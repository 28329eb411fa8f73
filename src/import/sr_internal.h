/* SPDX-License-Identifier: MIT */
/** What the metadata entry of a sigrok session says of its capture. */
#ifndef SR_INTERNAL_H
#define SR_INTERNAL_H

#include <coeval/format.h>

#define SR_ANALOG_MAX 64

struct sr_meta {
	char *capture;    /* name of the logic entry or prefix of its chunks; NULL: not said */
	unsigned unit;    /* bytes of a sample; 0: not said */
	uint64_t probes;  /* how many there are said to be */
	uint64_t rate_hz; /* 0: not said */
	char *probe[CVL_LINES_MAX]; /* names by bit; NULL: none */
	size_t n_probes;            /* highest one named */
	struct {
		uint64_t number; /* in the names of its entries */
		char *name;
	} analog[SR_ANALOG_MAX];
	size_t n_analog;
};

/**
 * Read @n bytes of @text, which are followed by a NUL and are cut into lines in place. Only the
 * first device counts. @name is of file and entry, for errors.
 */
int cvl_sr_meta_parse(struct sr_meta *meta, char *text, size_t n, const char *name,
		      const struct cvl_import_opts *opts, struct cvl_error *err);
void cvl_sr_meta_free(struct sr_meta *meta);

#endif
