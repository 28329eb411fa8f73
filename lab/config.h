/* SPDX-License-Identifier: MIT */
/**
 * The job of `coeval task bench`: a JSON or YAML file that names the target, the instruments
 * with their command sets, and the experiments. docs/task-bench.md documents the keys.
 */
#ifndef LAB_CONFIG_H
#define LAB_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include <coeval/error.h>

#include "lab/results.h"

struct lab_texts {
	const char **item;
	size_t n;
};
struct lab_flags {
	bool *item;
	size_t n;
};

/** Commands to the target; its answers are as in firmware/apps/taskbench/shell.h. */
struct lab_commands {
	const char *set, *trace, *ranges, *energy, *delay, *reboot;
};

struct lab_target {
	const char *port, *prompt, *boot_text;
	double baud, boot_timeout_s, answer_timeout_s;
	struct lab_commands commands;
	struct lab_texts reset_program; /* a program on the host that resets a hanging target */
};

enum lab_result {
	RESULT_CURRENT,  /* readings in A while the trigger line was high */
	RESULT_SECONDS,  /* one number: the time between two edges */
	RESULT_WAVEFORM, /* samples of a line: the time from its first edge to its last */
};

enum lab_format {
	FORMAT_TEXT,
	FORMAT_U8,
	FORMAT_F32,
	FORMAT_F32_SWAPPED,
	FORMAT_F64,
	FORMAT_F64_SWAPPED
};

struct lab_instrument {
	const char *name;
	const char *address, *identity, *error_query;
	double baud, timeout_s;
	enum lab_result result;
	enum lab_format format;
	double sample_hz; /* of current */
	/* share by which the time sampled may differ from the target's; 0: not checked */
	double window_tolerance;
	double chunk; /* readings fetched at once */
	double done_timeout_s;
	struct lab_texts setup, arm, stop; /* commands sent once, before and after each run */
	const char *done_query, *done_is;  /* sent until the answer matches; "": do not wait */
	const char *count_query;           /* how many readings there are */
	const char *fetch_query;
	const char *increment_query; /* of a waveform: seconds between two samples */
};

struct lab_workload {
	const char *name, *label; /* as the target and as the results call it */
	double iterations;        /* 0: as many as min_seconds take at the highest frequency */
	double arg;               /* -1: none */
};

struct lab_counter {
	const char *name; /* of the column */
	enum quantity quantity;
	struct lab_texts ranges; /* "HEX-HEX": first and last address, of a memory */
	char text[100];          /* all of them, in the target's format */
};

enum lab_kind { KIND_TRACE, KIND_ENERGY, KIND_DELAY };

struct lab_experiment {
	enum lab_kind kind;
	struct {
		struct lab_workload *item;
		size_t n;
	} workloads;
	struct {
		double *item;
		size_t n;
	} hz;
	struct lab_texts policies;
	struct lab_flags adaption, cache;
	struct {
		struct lab_counter *item;
		size_t n;
	} counters; /* of a trace */
	double repetitions, min_seconds, supply_volts;
	bool reboot;
	const char *instrument_name;
	const struct lab_instrument *instrument;
};

struct lab_config {
	const char *file;
	struct config_memory *memory; /* owns what was read */
	struct lab_target target;
	struct {
		struct lab_instrument *item;
		size_t n;
	} instruments;
	struct {
		struct lab_experiment *item;
		size_t n;
	} experiments;
	double retries;       /* of a run that failed */
	double give_up_after; /* failed runs in a row */
};

/** Read @file, whose name must outlive @c. lab_config_free() also after an error. */
int lab_config_load(struct lab_config *c, const char *file, struct cvl_error *err);

/** The same from @n bytes of @text. */
int lab_config_parse(struct lab_config *c, const char *text, size_t n, const char *file,
		     struct cvl_error *err);

void lab_config_free(struct lab_config *c);

#endif
