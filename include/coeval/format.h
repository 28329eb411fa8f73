/* SPDX-License-Identifier: MIT */
/**
 * Importers and exporters: tables with one entry per format. docs/formats.md tells how to add one.
 */
#ifndef COEVAL_FORMAT_H
#define COEVAL_FORMAT_H

#include <coeval/api.h>
#include <coeval/error.h>
#include <coeval/option.h>
#include <coeval/session.h>

CVL_BEGIN_DECLS

struct cvl_input;

/** What the user stated about the input. Zero: not stated. */
struct cvl_import_opts {
	const char *node; /* name of node and clock; NULL: from the file's name */
	uint64_t rate_hz; /* of raw samples, or of the clock for CSV seconds */
	/* of the timestamps of a CTF trace that declares no clock; 0: 1 GHz */
	uint64_t clock_rate_hz;
	unsigned channels;  /* lines of raw samples */
	unsigned unit_size; /* bytes of a raw sample; 0: as few as hold the channels */
	const char
		*names; /* "a,b,c": names of the lines; NULL: D0, D1, ... or what the file says */
	/* "a*,b": globs of names or of their last parts: the lines to import; NULL: all */
	const char *lines;
	const char *beacons;          /* path of a sidecar CSV `tick,sender,seq`, or NULL */
	unsigned stream;              /* the ITM's, in TPIU frames; 0: 1 */
	unsigned prescaler;           /* of an ITM's local timestamps; 0: 1 */
	struct cvl_clock_facts facts; /* stated about every clock imported */
	const char *elf;              /* of a traced program: names for addresses; NULL: none */
	bool strict;                  /* fail on recoverable problems */
	bool link;                    /* link foreign traces instead of copying them */
	unsigned jobs;                /* of several files, at a time; 0: one for each processor */
	const struct cvl_report *report; /* receives recoverable problems; may be NULL */
	struct cvl_progress progress;    /* bytes */
};

struct cvl_importer {
	const char *name; /* as in --format */
	const char *what; /* one line for the help */
	/* those of struct cvl_import_opts that it supports, besides the common ones; or NULL */
	const struct cvl_option *options;
	/**
	 * How likely @head (the first @n bytes of the file called @path) is of this format: 0 no,
	 * up to 100 certain. NULL: only by --format.
	 */
	int (*probe)(const uint8_t *head, size_t n, const char *path);
	/**
	 * Read @in to its end into new clocks of @s. Constant memory. What was read before an error
	 * stays in the session, with a gap where it occurred.
	 */
	int (*import)(struct cvl_input *in, struct cvl_session *s,
		      const struct cvl_import_opts *opts, struct cvl_error *err);
	bool selects; /* supports opts->lines */
	bool in_turn; /* looks at the session's other clocks */
};

/** The table, ended by NULL. */
CVL_API extern const struct cvl_importer *const cvl_importers[];

/** Importer called @name, or NULL. */
CVL_API const struct cvl_importer *cvl_importer_find(const char *name);

/**
 * Import @path ("-": standard input; a directory: CTF) with the importer called @format (NULL:
 * probed). An input that seems to be in the session already is reported to opts->report as
 * CVL_E_MISMATCH, and imported again.
 */
CVL_API int cvl_import(struct cvl_session *s, const char *path, const char *format,
		       const struct cvl_import_opts *opts, struct cvl_error *err);

/**
 * Import the @n files or directories in @paths, in their order, several at a time: the session and
 * what is reported are the same as from cvl_import() of each until one fails. If it is interrupted,
 * files after the first that is not complete have to be imported again.
 */
CVL_API int cvl_import_all(struct cvl_session *s, const char *const *paths, size_t n,
			   const char *format, const struct cvl_import_opts *opts,
			   struct cvl_error *err);

/**
 * The same as cvl_import() from the @n bytes at @bytes, which must stay valid until it returns. @name is used as
 * the path: in messages, for the clock's name and origin, and if the format depends on a suffix.
 */
CVL_API int cvl_import_memory(struct cvl_session *s, const char *name, const void *bytes, size_t n,
			      const char *format, const struct cvl_import_opts *opts,
			      struct cvl_error *err);

/**
 * The same from the rest of the open file, pipe or socket @fd, which is not closed; its position
 * afterwards is unspecified.
 */
CVL_API int cvl_import_fd(struct cvl_session *s, const char *name, int fd, const char *format,
			  const struct cvl_import_opts *opts, struct cvl_error *err);

/** What to decode from a line of a captured clock. */
enum cvl_protocol {
	CVL_PROTOCOL_UART, /* serial text */
	CVL_PROTOCOL_SWO,  /* the trace of a Cortex-M */
};

struct cvl_decode {
	enum cvl_protocol protocol;
	char line[64];                 /* its name */
	uint64_t baud;                 /* bits per second; 0: found from its pulses */
	bool inverted;                 /* UART and NRZ idle low, Manchester idles high */
	unsigned data_bits, stop_bits; /* UART: 5 to 8, and 1 or 2; 0: 8 and 1 */
	char parity;                   /* UART: 'E' even, 'O' odd; else none */
	bool manchester;               /* SWO: else NRZ */
	bool tpiu;                     /* SWO: in TPIU frames, in which */
	unsigned stream;               /* this stream is the ITM's; 0: 1 */
	const char *elf;               /* SWO: path of the traced program, for names; or NULL */
};

/**
 * Read `LINE[:BAUD][:8N1][:inverted]` (UART: data bits, parity N, E or O, stop bits) or
 * `LINE[:BAUD][:manchester][:tpiu][:stream=N][:inverted]` (SWO) into @d, whose protocol is set.
 * CVL_E_USAGE says what is wrong.
 */
CVL_API int cvl_decode_parse(struct cvl_decode *d, const char *text, struct cvl_error *err);

/**
 * Whether clock @clock of @s, whose trace is ours, has a line called @line. False also if its trace
 * cannot be read.
 */
CVL_API bool cvl_decode_has(const struct cvl_session *s, size_t clock, const char *line);

/**
 * Read the stored edges of clock @clock of @s, decode a line, and store the result as another trace
 * of that clock, named after both. This works for every importer and driver, and can be repeated
 * with other settings: an earlier result for the line is replaced, unless it cannot be decoded now;
 * a failure leaves nothing. What cannot be decoded becomes gaps; a wrong rate is reported to
 * @report, with the likely one. CVL_E_MISSING: no such line; CVL_E_MISMATCH: nothing could be
 * decoded.
 */
CVL_API int cvl_decode(struct cvl_session *s, size_t clock, const struct cvl_decode *d,
		       const struct cvl_report *report, const struct cvl_progress *progress,
		       struct cvl_error *err);

/** Whether clock @clock of @s is the trace of an ITM, which has stimulus ports. */
CVL_API bool cvl_decode_has_ports(const struct cvl_session *s, size_t clock);

/**
 * Extract what a tracer (firmware/lib/tracer) wrote to stimulus port @port of the ITM traced in
 * clock @clock, as a trace with a clock of its own, NAME-portN. @metadata: path of the file that
 * the traced program's declarations print. What is not a packet, or is repeated, is left out and
 * reported to @report. CVL_E_MISMATCH: no packets of that program; CVL_E_USAGE: already decoded.
 */
CVL_API int cvl_decode_port(struct cvl_session *s, size_t clock, unsigned port,
			    const char *metadata, const struct cvl_report *report,
			    const struct cvl_progress *progress, struct cvl_error *err);

struct cvl_timeline;

struct cvl_exporter {
	const char *name;
	const char *what;
	const struct cvl_option *options; /* or NULL */
	const char *suffix;               /* of its files, with the dot; "" for a directory */
	/** Write all of @tl to @path (NULL or "-": standard output, if the format allows it). */
	int (*write)(struct cvl_timeline *tl, const char *path, struct cvl_error *err);
	/**
	 * The same with @value for the first of @options: of "table", that table alone
	 * (coeval/table.h); CVL_E_UNKNOWN_ID: there is no such table. Of "ctf-version": "1.8" or "2".
	 * NULL: there are no options.
	 */
	int (*write_as)(struct cvl_timeline *tl, const char *value, const char *path,
			struct cvl_error *err);
};

/** All of them, ended by NULL; and the one called @name, or NULL. */
CVL_API extern const struct cvl_exporter *const cvl_exporters[];
CVL_API const struct cvl_exporter *cvl_exporter_find(const char *name);

CVL_END_DECLS

#endif
