/* SPDX-License-Identifier: MIT */
#include "decodes.h"

#include <string.h>

static int add(const struct verb *verb, struct decodes *d, enum cvl_protocol protocol,
	       const char *text)
{
	struct cvl_error err;

	if (d->n == DECODES_MAX)
		return cli_usage(verb, "more than %d lines to decode", DECODES_MAX);
	d->one[d->n] = (struct cvl_decode){ .protocol = protocol };
	if (cvl_decode_parse(&d->one[d->n++], text, &err))
		return cli_usage(verb, "%s", err.text);
	return 0;
}

static int take_swo(const struct verb *verb, void *to, char *text)
{
	return add(verb, to, CVL_PROTOCOL_SWO, text);
}

static int take_uart(const struct verb *verb, void *to, char *text)
{
	return add(verb, to, CVL_PROTOCOL_UART, text);
}

const struct cli_option decodes_options[] = {
	{ "swo", 0, "LINE[:BAUD][:manchester][:tpiu][:stream=N][:inverted]", OPTION_LINE, 0,
	  "decode the trace of a Cortex-M on a line; BAUD is found if not given; may be repeated",
	  .take = take_swo },
	{ "uart", 0, "LINE[:BAUD][:8N1][:inverted]", OPTION_LINE, 0,
	  "decode serial text on a line; 7E1, 8O2: data bits, parity, stop bits; may be repeated",
	  .take = take_uart },
	{ "elf", 0, "FILE", OPTION_FILE, offsetof(struct decodes, elf),
	  "the traced program: names for addresses and exceptions" },
	{ 0 },
};

int decodes_run(struct decodes *d, struct cvl_session *s, size_t first, const char *clock,
		const struct cvl_report *report, struct cvl_error *err)
{
	size_t n = cvl_session_clocks(s);
	struct progress progress;

	progress_init(&progress, "decoding");
	for (size_t k = 0; k < d->n; k++) {
		struct cvl_decode *one = &d->one[k];
		bool found = false;

		one->elf = d->elf;
		for (size_t i = first; i < n; i++) {
			int rc;

			if ((clock && strcmp(cvl_session_clock(s, i)->name, clock) != 0) ||
			    !cvl_decode_has(s, i, one->line))
				continue;
			found = true;
			rc = cvl_decode(s, i, one, report,
					&(struct cvl_progress){ progress_show, &progress }, err);
			progress_clear(&progress);
			if (rc)
				return rc;
			d->made++;
		}
		if (!found)
			return cvl_fail(
				err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: no clock has a line %s; `coeval info %s` lists the lines",
				cvl_session_path(s), one->line, cvl_session_path(s));
	}
	return 0;
}
