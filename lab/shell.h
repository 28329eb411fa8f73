/* SPDX-License-Identifier: MIT */
/**
 * A shell with a prompt at the other end of a channel. A command is sent as a line; everything up
 * to the next prompt is the answer. Input from before the command is discarded, so that a late
 * answer is never mistaken for another.
 */
#ifndef LAB_SHELL_H
#define LAB_SHELL_H

#include "lab/channel.h"

#define SHELL_BYTES 65536

struct shell {
	struct channel *channel;
	const char *prompt;    /* as it stands at the start of a line */
	const char *boot_text; /* its text after a reset, or "" */
	size_t n;
	char text[SHELL_BYTES + 1]; /* the answer, NUL-terminated, without the prompt */
};

/**
 * Get to a prompt: send an empty line until one comes. CVL_E_ENV with what was received instead.
 */
int shell_find(struct shell *s, int64_t timeout_ms, struct cvl_error *err);

/**
 * Send @line and wait for the prompt; the answer is in s->text. CVL_E_ENV if no prompt comes in
 * time or in SHELL_BYTES, CVL_E_MISMATCH if the target was reset meanwhile; errors of
 * channel_read().
 */
int shell_ask(struct shell *s, const char *line, int64_t timeout_ms, struct cvl_error *err);

/** Send @command, wait for the boot text, if there is one, and then the prompt. */
int shell_reboot(struct shell *s, const char *command, int64_t timeout_ms, struct cvl_error *err);

#endif
