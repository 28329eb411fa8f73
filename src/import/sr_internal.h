/* SPDX-License-Identifier: MIT */
/** The description of the capture in the metadata entry of a sigrok session. */
#ifndef SR_INTERNAL_H
#define SR_INTERNAL_H

#include <coeval/format.h>

#define SR_ANALOG_MAX 64

struct sr_meta {
	char *capture;    /* name of the logic entry or prefix of its chunks; NULL: not given */
	unsigned unit;    /* bytes per sample; 0: not given */
	uint64_t probes;  /* number of probes claimed */
	uint64_t rate_hz; /* 0: not given */
	char *probe[CVL_LINES_MAX]; /* names by bit; NULL: none */
	size_t n_probes;            /* highest one named */
	struct {
		uint64_t number; /* in the names of its entries */
		char *name;
	} analog[SR_ANALOG_MAX];
	size_t n_analog;
};

/**
 * Parse @n bytes of @text, followed by a NUL; splits it into lines in place. Only the first device
 * counts. @name: file and entry, for errors.
 */
int cvl_sr_meta_parse(struct sr_meta *meta, char *text, size_t n, const char *name,
		      const struct cvl_import_opts *opts, struct cvl_error *err);
void cvl_sr_meta_free(struct sr_meta *meta);

#endif
